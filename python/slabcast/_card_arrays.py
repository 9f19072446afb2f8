"""Arrays on a card: those that come, by DLPack or __cuda_array_interface__, and those that are made here."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np
from numpy.typing import NDArray

from . import _dlpack
from ._arrays import WORD
from ._dlpack import Place
from ._library import InvalidArgument

if TYPE_CHECKING:
    from ._cuda import Card, Event, Memory

_CAPSULE = "PyCapsule"
_LEGACY, _PER_THREAD = 1, 2  # CUDA's default streams, as handles


def is_on_card(*values: Any) -> bool:
    """Whether some of the values are arrays on a card by CUDA, or capsules of such."""
    for value in values:  # anything longer slows a call with one ray
        if value is not None and type(value) is not np.ndarray and _lies_there(value):
            return True
    return False


def _lies_there(value: Any) -> bool:
    if not has_dlpack(value):
        return type(value).__name__ == _CAPSULE or hasattr(value, "__cuda_array_interface__")
    try:
        return device_of(value)[0] in (_dlpack.CUDA, _dlpack.CUDA_MANAGED)
    except Exception:  # of a device that DLPack does not know: code for arrays of the host refuses it by name
        return False


def has_dlpack(value: Any) -> bool:
    return hasattr(type(value), "__dlpack_device__")


def device_of(value: Any) -> tuple[int, int]:
    """The kind and the number of an array's device, as DLPack has them."""
    kind, number = value.__dlpack_device__()
    return int(getattr(kind, "value", kind)), int(number)  # Open3D's is an enum's


# ---- arrays of this package ----


class Block:
    """Memory of a result, the stream that writes it, and the end of that."""

    def __init__(self, card: Card, memory: Optional[Memory], stream: int) -> None:
        self.card, self.memory, self.stream = card, memory, stream
        self.ready: Optional[Event] = None  # once it is enqueued


class CardArray:
    """An array on a card, as a cast returns it whose rays are of a package that has no results for it.

    Every package takes it by __dlpack__ or __cuda_array_interface__, without a copy, and in order. With __dlpack__ its
    stream waits for the cast; the other protocol gives it the cast's stream. get() makes an array of NumPy.
    """

    def __init__(
        self,
        block: Block,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        offset: int = 0,
        strides: Optional[tuple[int, ...]] = None,
    ) -> None:
        """offset: in bytes. strides: in elements; None: C order."""
        self._block, self._offset, self._strides = block, offset, strides
        self.shape, self.dtype = shape, dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array of no dimension has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<slabcast.CardArray, {self.dtype}, {self.shape}, on cuda:{self._block.card.number}>"

    @property
    def _address(self) -> int:
        return self._block.memory.address + self._offset if self._block.memory is not None else 0

    def as_words(self) -> CardArray:
        """The same bits as uint32."""
        return CardArray(self._block, self.shape, WORD, self._offset, self._strides)

    def wrote(self, ready: Event) -> None:
        """Gives it the end of the cast whose result it is."""
        self._block.ready = ready

    def column(self, begin: int, width: int, dtype: np.dtype[Any]) -> CardArray:
        """Some columns, of the last axis; width 0: one, without that axis."""
        *lengths, columns = self.shape
        steps = [columns] * len(lengths)
        for axis in range(len(lengths) - 2, -1, -1):
            steps[axis] = steps[axis + 1] * lengths[axis + 1]
        tail = (width,) if width else ()
        strides = (*steps, *((1,) if width else ()))
        return CardArray(self._block, (*lengths, *tail), dtype, self._offset + 4 * begin, strides)

    def get(self) -> NDArray[Any]:
        """A copy for the host, once the cast has ended."""
        from . import _cuda

        out = np.empty(self.shape, self.dtype)
        if not out.size:
            return out
        strides = self._strides or tuple(s // out.itemsize for s in out.strides)
        span = 1 + sum((n - 1) * s for n, s in zip(self.shape, strides))
        raw = np.empty(span, self.dtype)
        _cuda.download(self._block.card, raw, self._address, self._after(_LEGACY))
        out[...] = np.lib.stride_tricks.as_strided(raw, self.shape, [s * out.itemsize for s in strides])
        return out

    def _after(self, stream: int) -> int:
        """A stream, on which what comes is after the cast. The thread's stream may be another thread's now."""
        is_casts = stream == self._block.stream != _PER_THREAD
        if self._block.ready is not None and not is_casts:
            self._block.ready.before(stream)
        return stream

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_dlpack.CUDA, self._block.card.number)

    def __dlpack__(
        self,
        *,
        stream: Optional[int] = None,
        max_version: Optional[tuple[int, int]] = None,
        dl_device: Optional[tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """A capsule. stream: the taker's, which waits for the cast; None: CUDA's default one, which is 1; 2: the
        thread's; -1: no stream waits."""
        if dl_device is not None and (int(dl_device[0]), int(dl_device[1])) != self.__dlpack_device__():
            raise BufferError(f"the array lies on cuda:{self._block.card.number}: get() copies it to the host")
        if copy:
            raise BufferError("the array is not copied: copy what takes it")
        if stream is not None and (isinstance(stream, bool) or not isinstance(stream, int)):
            raise TypeError(f"stream is {stream!r}; what is taken is a whole number or None")
        if stream == 0 or (stream is not None and stream < -1):
            raise BufferError(f"stream is {stream}: 1 is CUDA's default stream, 2 the thread's, -1 none")
        if stream != -1:
            self._after(stream or _LEGACY)
        place = Place(self._address, self.shape, self._strides, self.dtype.name, self._block.card.number, self._block)
        return _dlpack.give(place, _dlpack.CUDA, max_version is not None and max_version[0] >= 1)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        strides = self._strides
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self._address, False),
            "strides": None if strides is None else tuple(s * self.dtype.itemsize for s in strides),
            "stream": self._block.stream,
            "version": 3,
        }


class CardRecords:
    """Results that have fields, on a card: each field is an array of the package that the rays are of.

    hits.t is hits["t"], and so on. They are columns of `rows`, (..., 8) float32 for closest() and all(), (..., 3) for
    nearest() and (..., 4) for interval(). Ids are the same bits as words: uint32, of torch int32, so that MISS is -1
    there and INVALID -2. get() makes an array of NumPy.
    """

    def __init__(
        self, rows: Any, dtype: np.dtype[Any], words: Callable[[Any], Any], host: Callable[[Any], NDArray[Any]]
    ) -> None:
        self.rows, self.dtype, self._words, self._host = rows, dtype, words, host

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.rows.shape[:-1])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("results of one ray have no length")
        return self.shape[0]

    def __repr__(self) -> str:
        names = ", ".join(self.dtype.names or ())
        return f"<slabcast.CardRecords, {names}, {self.shape}, of {type(self.rows).__module__}>"

    def __getitem__(self, name: str) -> Any:
        field = self.dtype.fields.get(name) if isinstance(name, str) and self.dtype.fields is not None else None
        if field is None:
            raise KeyError(f"{name!r}, which is none of {', '.join(self.dtype.names or ())}; rows takes indices")
        rows = self.rows if field[0].base.kind == "f" else self._words(self.rows)
        begin, width = field[1] // 4, field[0].shape[0] if field[0].shape else 0
        if isinstance(rows, CardArray):
            return rows.column(begin, width, field[0].base)
        return rows[..., begin : begin + width] if width else rows[..., begin]

    def __getattr__(self, name: str) -> Any:
        if name in (self.__dict__.get("dtype", np.dtype("f4")).names or ()):
            return self[name]
        raise AttributeError(f"results have no {name!r}")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("results on a card are not iterated; get() copies them to the host")

    def get(self) -> NDArray[Any]:
        """A copy for the host, an array of records, once the cast has ended."""
        return self._host(self.rows).view(self.dtype).reshape(self.shape)


def is_hit_there(results: Any) -> Any:
    """slabcast.is_hit of results on a card: there, where their package compares, else on the host."""
    if isinstance(results, tuple):
        offsets = _comparable(results[0])
        return offsets[1:] > offsets[:-1]
    if isinstance(results, CardRecords):
        results = results[results.dtype.names[0]] if results.dtype.names else None  # t, or enter: inf where none is hit
    array = _comparable(results)
    kind = str(array.dtype)
    return array < np.inf if "float" in kind else array if "bool" in kind else array > 0


def _comparable(array: Any) -> Any:
    return array.get() if isinstance(array, CardArray) else array


# ---- arrays that come ----


def see(name: str, value: Any, card: Card, stream: int) -> Place:
    """Where an array lies. Work that comes later on the stream may read it then."""
    if type(value).__name__ == _CAPSULE:
        raise InvalidArgument(f"{name} is a capsule of DLPack; give the array that made it")
    if not is_on_card(value):
        raise InvalidArgument(f"{name} is a {type(value).__name__} on the host, beside others on cuda:{card.number}")
    number = card_of(value, card)
    if number < 0:
        raise _freed(name, _told_address(value))
    if number != card.number:
        raise InvalidArgument(
            f"{name} lies on cuda:{number}, and the scene on cuda:{card.number}: bring it there, or make a "
            f'Scene("cuda:{number}")'
        )
    if has_dlpack(value):
        return _by_dlpack(name, value, card, stream)
    return _by_interface(name, value, card, stream)


def _freed(name: str, address: int) -> InvalidArgument:
    return InvalidArgument(f"{name}: {address:#x} is not memory of a card; it may have been freed")


def card_number(value: Any) -> Optional[int]:
    """The number of the card that an array names."""
    return device_of(value)[1] if has_dlpack(value) else None


def card_of(value: Any, card: Card) -> int:
    """The number of the card that an array lies on; -1: it is not memory of one. card: one whose driver is called."""
    from . import _cuda

    if has_dlpack(value):
        return device_of(value)[1]
    if 0 in value.__cuda_array_interface__["shape"]:
        return card.number
    return _cuda.card_at(card, _told_address(value))


def _told_address(value: Any) -> int:
    return int(value.__cuda_array_interface__["data"][0] or 0)


def _by_dlpack(name: str, value: Any, card: Card, stream: int) -> Place:
    from . import _cuda

    try:
        try:
            capsule = value.__dlpack__(stream=stream, max_version=(1, 0))
        except TypeError:  # from before version 1
            capsule = value.__dlpack__(stream=stream)
    except Exception as error:  # each package has its own: a tensor that wants gradients, or was deleted
        raise InvalidArgument(f"{name}: {error}") from None
    place = _dlpack.read(capsule)
    if place is None:
        raise InvalidArgument(
            f"{name} gave a capsule of DLPack that somebody has taken, or none: give an array, which makes a new one"
        )
    if 0 not in place.shape and _cuda.card_at(card, place.address) < 0:
        raise _freed(name, place.address)
    return place


def _by_interface(name: str, value: Any, card: Card, stream: int) -> Place:
    from . import _cuda

    told = value.__cuda_array_interface__
    if told.get("mask") is not None:
        raise InvalidArgument(f"{name} is masked; on a card such arrays are not taken")
    dtype, shape, strides = np.dtype(told["typestr"]), tuple(told["shape"]), told.get("strides")
    theirs = stream_of(name, value)
    if theirs not in (None, stream):
        _cuda.new_event(card).record(theirs).before(stream)
    if strides is not None:
        strides = tuple(s // dtype.itemsize if s % dtype.itemsize == 0 else 0 for s in strides)
    return Place(_told_address(value), shape, strides, dtype.name if dtype.isnative else dtype.str, card.number, value)


def stream_of(name: str, value: Any) -> Any:
    """The stream that writes an array, by its protocol; None: it names none."""
    told = getattr(value, "__cuda_array_interface__", {})
    stream = told.get("stream") if told.get("version", 0) >= 3 else None
    if stream is not None and (not isinstance(stream, int) or stream < 1):
        raise InvalidArgument(
            f"{name} tells stream {stream!r} by __cuda_array_interface__: 1 is CUDA's default stream, 2 the thread's, "
            "None says that it is ready"
        )
    return stream
