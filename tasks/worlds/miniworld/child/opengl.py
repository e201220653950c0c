"""MiniWorld and OpenGL loaded, and what makes MiniWorld faster and leaves its pixels as they are."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .errors import StageFailed

PACKAGES = "libgl1 libglu1-mesa libegl1 libgl1-mesa-dri libfontconfig1 libfreetype6"


@functools.cache
def load_opengl() -> None:
    """Once a process. Raises StageFailed where MiniWorld cannot draw here."""
    try:
        import pyglet

        pyglet.options["headless"] = True
        pyglet.options["debug_gl"] = False  # asks for errors after every call; the engine asks once a frame
    except Exception as error:  # pyglet raises anything from ImportError to its own NoSuchDisplayException
        raise StageFailed(
            f"MiniWorld cannot draw on this machine: {type(error).__name__}: {error}. On Debian or Ubuntu: "
            f"apt-get install {PACKAGES}. `worldaudit doctor` says what is missing."
        ) from error
    _decode_textures_quickly()
    _look_textures_up_once()
    _share_the_context()
    _leave_depth_alone()


def _decode_textures_quickly() -> None:
    """Let Pillow decode MiniWorld's textures: pyglet reorders their channels by a regular expression, a second each."""
    import pyglet
    from PIL import Image

    def load(path: str) -> Any:
        with Image.open(path) as picture:
            pixels = np.asarray(picture.convert("RGBA"))[::-1]
        height, width = pixels.shape[:2]
        return pyglet.image.ImageData(width, height, "RGBA", pixels.tobytes(), width * 4)

    pyglet.image.load = load


class _Remembered(dict[str, Any]):
    """Keeps what `get` falls back on."""

    get = dict.setdefault


def _look_textures_up_once() -> None:
    """Let MiniWorld keep the paths of a texture that it finds, rather than look for them at every wall it builds."""
    from miniworld.opengl import Texture

    Texture.tex_paths = _Remembered()


def _share_the_context() -> None:
    """Let all environments draw in one OpenGL context and one frame buffer: with a context of its own, making an
    environment takes 45 ms longer, as long as twenty frames."""
    import pyglet
    from miniworld import miniworld

    miniworld.FrameBuffer = functools.cache(miniworld.FrameBuffer)
    pyglet.window.Window = functools.cache(pyglet.window.Window)


def _leave_depth_alone() -> None:
    """Keep MiniWorld from copying the depth buffer with each frame, an eighth of the cost of one that nobody reads."""
    from miniworld import opengl
    from pyglet.gl import GL_DEPTH_BUFFER_BIT, glBlitFramebuffer

    def blit(*arguments: Any) -> None:
        if arguments[8] != GL_DEPTH_BUFFER_BIT:
            glBlitFramebuffer(*arguments)

    opengl.glBlitFramebuffer = blit
