"""NVIDIA's compiler of CUDA C++, NVRTC, where packages of Python bring it."""

from __future__ import annotations

import ctypes
import functools
import glob
import importlib.util
import os
import sys
from collections.abc import Iterator

# As host/cuda/nvrtc.c has them.
_NAMES = (
    ("nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll")
    if sys.platform == "win32"
    else ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2")
)
# In the folders of NVIDIA's wheels, and of an environment of conda's.
_PLACES = ("*/lib", "*/bin", "*/bin/x86_64")
_PREFIX_PLACES = ("lib", os.path.join("Library", "bin"))


@functools.cache
def load() -> None:
    """Loads each that the system's loader does not find by its name: the library opens it by name, and then has it."""
    for name in _NAMES:
        for file in (name, *_files(name)):
            try:
                ctypes.CDLL(file)
                break
            except OSError:  # there is none, or another will do; where none does, the library reports it
                continue


def _files(name: str) -> Iterator[str]:
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):  # of a module of that name that was put together by hand
        spec = None
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        for place in _PLACES:
            yield from sorted(glob.glob(os.path.join(glob.escape(folder), place, name)))
    for place in _PREFIX_PLACES:
        yield from glob.glob(os.path.join(glob.escape(sys.prefix), place, name))
