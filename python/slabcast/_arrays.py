"""Arguments as the arrays that the library takes: float32 and uint32, in C order, refused by name, index and value."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._library import InvalidArgument

FLOAT = np.dtype("f4")
WORD = np.dtype("u4")

_FLOAT_MAX = float(np.finfo(FLOAT).max)
# Copies from here on are told: bytes.
LARGE_COPY = 1 << 28
# Where a device of DLPack's lets the host read: kDLCPU, kDLCUDAHost, kDLROCMHost.
_HOST_DEVICES = (1, 3, 11)


class PrecisionWarning(UserWarning):
    """Numbers were rounded to float32."""


class CopyWarning(UserWarning):
    """A large array was copied, since the library cannot read it as it lies."""


def warn(kind: type[Warning], text: str) -> None:
    """Warns at the line of the caller that is outside this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, kind, stacklevel=level)


def at(index: tuple[Any, ...]) -> str:
    """An index as one writes it, such as "[3, 1]"; "" for that of a scalar."""
    return "[" + ", ".join(str(int(i)) for i in index) + "]" if index else ""


def host_array(name: str, value: Any) -> NDArray[Any]:
    """Any array of numbers as a NumPy array: without a copy where the host can read it."""
    if type(value) is not np.ndarray:
        value = _imported(name, value)
    if value.dtype.kind not in "fiu":
        raise InvalidArgument(f"{name} has dtype {value.dtype}; what is taken are real numbers")
    return value  # type: ignore[no-any-return]


def _imported(name: str, value: Any) -> NDArray[Any]:
    try:
        if not hasattr(value, "__dlpack_device__") or isinstance(value, np.ndarray):
            return np.asarray(value)
        device = int(value.__dlpack_device__()[0])
        if device in _HOST_DEVICES:
            return np.from_dlpack(value)
    except (ValueError, BufferError) as error:  # a ragged list; a tensor that wants gradients
        raise InvalidArgument(f"{name}: {error}") from None
    copy = getattr(value, "cpu", None) or getattr(value, "get", None)  # torch; CuPy
    if copy is None:
        raise InvalidArgument(f"{name} lies on device {device} of DLPack, which the host cannot read")
    return np.asarray(copy())


def tell_copy(name: str, size: int, why: str) -> None:
    if size >= LARGE_COPY:
        warn(CopyWarning, f"{name}: {size:,} bytes are copied, since {why}")


def tell_loss(name: str, value: Any, array: NDArray[Any], kept: NDArray[Any]) -> None:
    """Holds `kept`, the float32 made of an argument's array, against it. Refuses what is beyond float32, and warns
    where an array of another dtype was rounded; Python's own numbers have no precision that anyone chose."""
    if not hasattr(value, "dtype") and not np.isinf(kept).any():
        return
    with np.errstate(all="ignore"):
        lost = (kept != array) & (array == array)
        if not lost.any():
            return
        change = np.where(lost, np.abs(np.subtract(kept, array, dtype=np.float64)), 0.0)
    worst = np.unravel_index(np.argmax(change), change.shape)
    told = f"{name}{at(worst)} is {array[worst]}"
    if np.isinf(kept[worst]):
        raise InvalidArgument(f"{told}, which is beyond float32")
    if hasattr(value, "dtype"):
        warn(PrecisionWarning, f"{name}: {array.dtype} is rounded to float32, by up to {change[worst]:.2g}: {told}")


def float_array(name: str, value: Any, apart: bool = False) -> NDArray[np.float32]:
    """A value as float32 in C order. Such an array is not copied; with `apart` not where only its rows of three lie
    apart either, as vertices may."""
    array = host_array(name, value)
    if array.dtype == FLOAT and array.flags.aligned:
        if array.flags.c_contiguous or (apart and array.ndim == 2 and array.strides[1] == 4 and array.strides[0] >= 12):
            return array
    tell_copy(name, 4 * array.size, f"it is not float32 in C order but {array.dtype}, strides {array.strides}")
    with np.errstate(over="ignore"):
        kept = array.astype(FLOAT, order="C")
    if array.dtype != FLOAT:
        tell_loss(name, value, array, kept)
    return kept


def word_array(name: str, value: Any) -> NDArray[np.uint32]:
    """A value as uint32 in C order. Numbers that are none are refused."""
    array = host_array(name, value)
    if array.dtype == WORD and array.flags.aligned and array.flags.c_contiguous:
        return array
    if array.dtype.kind == "f" and array.size > 0:
        raise InvalidArgument(f"{name} has dtype {array.dtype}; what is taken are whole numbers")
    if array.dtype.kind == "i" or array.dtype.itemsize > 4:
        wrong = (array < 0) | (array > 0xFFFFFFFF)
        if wrong.any():
            where = np.unravel_index(np.argmax(wrong), wrong.shape)
            raise InvalidArgument(f"{name}{at(where)} is {array[where]}, which is not within 0 to 2^32 - 1")
    tell_copy(name, 4 * array.size, f"it is not uint32 in C order but {array.dtype}, strides {array.strides}")
    return array.astype(WORD, order="C")


def shaped(name: str, array: NDArray[Any], *tail: int) -> None:
    """Refuses an array whose shape is not (..., *tail)."""
    if array.shape[max(0, array.ndim - len(tail)) :] != tail:
        wanted = ", ".join(["...", *map(str, tail)])
        raise InvalidArgument(f"{name} has shape {array.shape}; what is taken is ({wanted})")


def joined(*parts: tuple[str, Any, int]) -> NDArray[np.float32]:
    """Columns side by side, as float32. A part is a name, values and a width: the length of the values' last axis, or 0
    where they have none and make one column. The leading shapes are broadcast."""
    arrays: list[Any] = []
    shapes: list[tuple[int, ...]] = []
    for name, value, width in parts:
        if type(value) is float and not width and not _FLOAT_MAX < abs(value) < np.inf:
            arrays.append(value)
            continue
        array = host_array(name, value)
        if width:
            shaped(name, array, width)
        arrays.append(array)
        shapes.append(array.shape[:-1] if width else array.shape)
    out = np.empty((*_common(parts, shapes), sum(max(width, 1) for _, _, width in parts)), FLOAT)
    tell_copy(parts[0][0], out.nbytes, "they are joined; one array that has all is not copied")
    begin = 0
    for (name, value, width), array in zip(parts, arrays):
        kept = out[..., begin : begin + width] if width else out[..., begin]
        begin += width or 1
        if type(array) is float or array.dtype == FLOAT:
            kept[...] = array
            continue
        with np.errstate(over="ignore"):
            kept[...] = array
        tell_loss(name, value, np.broadcast_to(array, kept.shape), kept)
    return out


def _common(parts: tuple[tuple[str, Any, int], ...], shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    """What shapes are broadcast to."""
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        told = ", ".join(f"{name} {np.shape(value)}" for name, value, _ in parts)
        raise InvalidArgument(f"shapes that do not fit each other: {told}") from None
