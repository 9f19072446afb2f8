"""Memory of the host that devices copy from and to directly: slab_host_alloc."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref, c_void_p
from typing import Any, Union

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._device import open_context
from ._library import Handle, InvalidArgument, library, must
from ._values import FLOAT

_Shape = Union[int, Sequence[int]]


class _Memory:
    """Bytes under arrays, which are given back with the last of them."""

    def __init__(self, context: Handle, size: int) -> None:
        memory = c_void_p()
        must(library.slab_host_alloc(context.pointer, size, byref(memory)))
        self._context, self._memory = context, memory
        self.__array_interface__ = {"data": (memory.value, False), "shape": (size,), "typestr": "|u1", "version": 3}

    def __del__(self) -> None:
        if hasattr(self, "_memory"):
            library.slab_host_free(self._context.pointer, self._memory)


def empty(shape: _Shape, dtype: DTypeLike = np.float32, *, device: Any = None) -> NDArray[Any]:
    """An array in memory that a device copies from and to directly, with any values in it. It is pinned memory where
    the device copies and the system has some, else memory like any other. Casts take such an array as `out`.

    Such memory is scarce, and takes longer to get than to fill: keep it from cast to cast.

    Args:
        shape: of the array.
        dtype: of its elements, such as slabcast.HIT; Python's objects are refused.
        device: as Scene takes it.
    """
    kind = np.dtype(dtype)
    if kind.hasobject:
        raise InvalidArgument(f"dtype is {kind}, whose elements are objects; what is taken is numbers and records")
    try:
        layout = np.broadcast_to(np.empty((), kind), shape)  # it checks the shape, and takes no memory
    except (TypeError, ValueError):
        raise InvalidArgument(f"shape is {shape!r}; what is taken is one length or several, none below 0") from None
    size = layout.size * kind.itemsize
    memory = _Memory(open_context(device, 0, "auto", "default"), size)
    return np.asarray(memory)[:size].view(kind).reshape(layout.shape) if size else np.empty(layout.shape, kind)


def empty_rays(shape: _Shape, *, device: Any = None) -> NDArray[np.float32]:
    """Space for rays, (..., 8) float32, as empty() gives it.

    Args:
        shape: how many rays, or the shape before the last axis.
        device: as Scene takes it.
    """
    lengths = shape if isinstance(shape, Sequence) else (shape,)
    return empty((*lengths, 8), FLOAT, device=device)


def place_of(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any], read: tuple[Any, ...]) -> NDArray[Any]:
    """The caller's array for results, which must be as they are. read: the arrays that are read while it is written."""
    hint = f"what is taken is an array of NumPy, {shape} of {dtype}, in C order, that can be written"
    if not isinstance(out, np.ndarray):
        raise InvalidArgument(f"out is {type(out).__name__}; {hint}")
    if out.shape != shape or out.dtype != dtype:
        raise InvalidArgument(f"out is {out.shape} of {out.dtype}; {hint}")
    if not (out.flags.c_contiguous and out.flags.writeable and out.flags.aligned):
        raise InvalidArgument(f"out has strides {out.strides} and flags {_flags_of(out)}; {hint}")
    if any(isinstance(array, np.ndarray) and np.may_share_memory(out, array) for array in read):
        raise InvalidArgument("out and the rays share memory, and rays are read while results are written")
    return out


def _flags_of(array: NDArray[Any]) -> str:
    names = {"c_contiguous": "not in C order", "writeable": "read-only", "aligned": "not aligned"}
    return ", ".join(text for name, text in names.items() if not getattr(array.flags, name))
