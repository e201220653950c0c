"""Started by path, as `python .../_child READ WRITE WORLD FOLDER`; makes packages of the two folders and serves."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys


def package(name: str, folder: str) -> None:
    """Make `folder` importable as the package `name`, and what else lies beside it not."""
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    reading, writing, world, folder = sys.argv[1:]
    package("worldaudit_child", here)
    importlib.import_module("worldaudit_child.server").serve(int(reading), int(writing), world, folder, package)
