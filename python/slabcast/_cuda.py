"""NVIDIA's driver, as far as arrays on a card and kernels of the user's need it: order between streams, memory,
copies, launches.

The library casts, and has loaded and begun the driver before anything here is called. Names and numbers are the
interface's. Everything belongs to a card's context, which is current within `with card:`.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any, Callable, Optional

from ._library import DeviceFailed, Handle, OutOfMemory, library, must

_INVALID_VALUE, _OUT_OF_MEMORY, _NOT_READY = 1, 2, 600
_DISABLE_TIMING = 2
_DEVICE_ORDINAL = 9
_DEVICE_MEMORY = 2


class _Rows(ctypes.Structure):
    """CUDA_MEMCPY2D."""

    _fields_ = [
        (f"{end}{name}", kind)
        for end in ("src", "dst")
        for name, kind in (
            ("XInBytes", c_size_t),
            ("Y", c_size_t),
            ("MemoryType", c_int),
            ("Host", c_void_p),
            ("Device", c_uint64),
            ("Array", c_void_p),
            ("Pitch", c_size_t),
        )
    ] + [("WidthInBytes", c_size_t), ("Height", c_size_t)]


_driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
for _name, _arguments in {
    "cuCtxPushCurrent_v2": (c_void_p,),
    "cuCtxPopCurrent_v2": (POINTER(c_void_p),),
    "cuEventCreate": (POINTER(c_void_p), c_uint),
    "cuEventRecord": (c_void_p, c_void_p),
    "cuEventQuery": (c_void_p,),
    "cuEventSynchronize": (c_void_p,),
    "cuEventDestroy_v2": (c_void_p,),
    "cuStreamWaitEvent": (c_void_p, c_void_p, c_uint),
    "cuStreamSynchronize": (c_void_p,),
    "cuStreamGetCtx": (c_void_p, POINTER(c_void_p)),
    "cuLaunchKernel": (c_void_p, *(c_uint,) * 7, c_void_p, POINTER(c_void_p), c_void_p),
    "cuMemAlloc_v2": (POINTER(c_uint64), c_size_t),
    "cuMemFree_v2": (c_uint64,),
    "cuMemcpyHtoDAsync_v2": (c_uint64, c_void_p, c_size_t, c_void_p),
    "cuMemcpyDtoHAsync_v2": (c_void_p, c_uint64, c_size_t, c_void_p),
    "cuMemsetD32Async": (c_uint64, c_uint, c_size_t, c_void_p),
    "cuMemcpy2DAsync_v2": (POINTER(_Rows), c_void_p),
    "cuPointerGetAttribute": (c_void_p, c_int, c_uint64),
    "cuGetErrorName": (c_int, POINTER(c_char_p)),
}.items():
    _function = getattr(_driver, _name)
    _function.argtypes, _function.restype = _arguments, c_int


def _failure(name: str, code: int) -> Exception:
    told = c_char_p()
    _driver.cuGetErrorName(code, byref(told))
    kind = OutOfMemory if code == _OUT_OF_MEMORY else DeviceFailed
    return kind(f"{name} failed with {(told.value or b'error').decode()} ({code})")


def _call(name: str, *arguments: Any) -> None:
    code = getattr(_driver, name)(*arguments)
    if code:
        raise _failure(name, code)


class Card:
    """The card of a slab_context, which it keeps."""

    def __init__(self, of: Handle) -> None:
        context, number = c_void_p(), c_int()
        must(library.slab_context_card(of.pointer, byref(context), byref(number)))
        self.number, self._context, self.of, self.process = number.value, context, of, os.getpid()
        self.context = context.value or 0

    def __enter__(self) -> None:
        _call("cuCtxPushCurrent_v2", self._context)

    def __exit__(self, *error: Any) -> None:
        _driver.cuCtxPopCurrent_v2(byref(c_void_p()))


class _Owned:
    """A handle that goes back to the driver with the last reference. A forked process does not own it, and the end of a
    process takes it by itself."""

    def __init__(self, card: Card, handle: Any, release: Callable[[Any], int]) -> None:
        self.card, self.handle, self._release = card, handle, release

    def __del__(self, getpid: Any = os.getpid, is_finalizing: Any = sys.is_finalizing) -> None:
        if self.card.process == getpid() and not is_finalizing():
            with self.card:
                self._release(self.handle)


class Event(_Owned):
    """A point on a stream, once it is recorded there."""

    def record(self, stream: int) -> Event:
        """Puts it behind what is on a stream now. Where that fails, the stream has come to its end instead."""
        with self.card:
            code = _driver.cuEventRecord(self.handle, stream)
            if code:
                _driver.cuStreamSynchronize(stream)
                raise _failure("cuEventRecord", code)
        return self

    def is_over(self) -> bool:
        with self.card:
            code = _driver.cuEventQuery(self.handle)
        if code not in (0, _NOT_READY):
            raise _failure("cuEventQuery", code)
        return bool(code == 0)

    def wait(self) -> None:
        with self.card:
            _call("cuEventSynchronize", self.handle)

    def before(self, stream: int) -> None:
        """Lets what comes on a stream wait for it. The host does not."""
        with self.card:
            _call("cuStreamWaitEvent", stream, self.handle, 0)


def new_event(card: Card) -> Event:
    handle = c_void_p()
    with card:
        _call("cuEventCreate", byref(handle), _DISABLE_TIMING)
    return Event(card, handle, _driver.cuEventDestroy_v2)


class Memory(_Owned):
    """Bytes of a card. Their release waits for all work that reads them, on any stream."""

    @property
    def address(self) -> int:
        return self.handle.value  # type: ignore[no-any-return]


def allocate(card: Card, size: int) -> Memory:
    address = c_uint64()
    with card:
        _call("cuMemAlloc_v2", byref(address), size)
    return Memory(card, address, _driver.cuMemFree_v2)


def card_at(card: Card, address: int) -> int:
    """The number of the card that memory lies on; -1: it is not memory of a card."""
    number = c_int()
    with card:
        code = _driver.cuPointerGetAttribute(byref(number), _DEVICE_ORDINAL, address)
    return -1 if code else number.value


def upload(card: Card, to: int, array: Any, stream: int) -> None:
    """Copies an array of NumPy to a card. It may be changed when this returns."""
    with card:
        _call("cuMemcpyHtoDAsync_v2", to, array.ctypes.data, array.nbytes, stream)


def download(card: Card, array: Any, at: int, stream: int) -> None:
    """Copies from a card to an array of NumPy, after what is on the stream, and waits."""
    with card:
        _call("cuMemcpyDtoHAsync_v2", array.ctypes.data, at, array.nbytes, stream)
        _call("cuStreamSynchronize", stream)


def pack(card: Card, to: tuple[int, int], at: tuple[int, int], size: int, count: int, stream: int) -> None:
    """Copies rows of some bytes, and does not wait. to, at: where they begin, and how many bytes they are apart."""
    rows = _Rows(
        srcMemoryType=_DEVICE_MEMORY,
        srcDevice=at[0],
        srcPitch=at[1],
        dstMemoryType=_DEVICE_MEMORY,
        dstDevice=to[0],
        dstPitch=to[1],
        WidthInBytes=size,
        Height=count,
    )
    with card:
        _call("cuMemcpy2DAsync_v2", byref(rows), stream)


def fill(card: Card, to: int, word: int, count: int, stream: int) -> None:
    """Writes a word so many times, and does not wait."""
    with card:
        _call("cuMemsetD32Async", to, word, count, stream)


def context_of(card: Card, stream: int) -> int:
    """The context that a stream is of."""
    context = c_void_p()
    with card:
        _call("cuStreamGetCtx", stream, byref(context))
    return context.value or 0


def parameter_sizes(card: Card, function: int) -> Optional[list[int]]:
    """How many bytes each parameter of a kernel has; None: the driver is of a CUDA before 12.4, without this call."""
    ask: Any = getattr(_driver, "cuFuncGetParamInfo", None)
    if ask is None:
        return None
    sizes: list[int] = []
    offset, size, code = c_size_t(), c_size_t(), 0
    with card:
        while code == 0:
            code = ask(c_void_p(function), c_size_t(len(sizes)), byref(offset), byref(size))
            sizes += [size.value] * (code == 0)
    if code != _INVALID_VALUE:  # which comes after the last
        raise _failure("cuFuncGetParamInfo", code)
    return sizes


def launch(card: Card, function: int, shape: tuple[int, ...], stream: int, parameters: Any) -> None:
    """Enqueues a kernel. shape: blocks along x, y and z, and threads of a block. parameters: the addresses of values,
    which may go when this returns."""
    with card:
        _call("cuLaunchKernel", function, *shape, 0, stream, parameters, None)
