"""Arrays on cards for tests, on the stand-in for NVIDIA's driver, whose memory the host can see. Some packages speak
one protocol alone, others look like torch, CuPy and JAX."""

import ctypes
import types
from contextlib import contextmanager

import numpy as np
import pytest

import slabcast
from slabcast import _dlpack

LEGACY, PER_THREAD = 1, 2
NOT_READY = 600


def require_standin():
    """Skips a module where no stand-in is."""
    if not any(device.platform == "CUDA" and device.name == "no card" for device in slabcast.devices()):
        pytest.skip("no stand-in for NVIDIA's driver; tests/python.sh runs this with it", allow_module_level=True)


class Driver:
    """libcuda.so.1, with the primary context of each card."""

    def __init__(self, cards):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.contexts = []
        for card in range(cards):
            context = ctypes.c_void_p()
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), card)
            self.contexts.append(context)

    def close(self):
        for card in range(len(self.contexts)):
            self.call("cuDevicePrimaryCtxRelease_v2", card)

    def call(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        assert code == 0, f"{name} returned {code}"

    @contextmanager
    def current(self, card):
        self.call("cuCtxPushCurrent_v2", self.contexts[card])
        try:
            yield
        finally:
            self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def stream(self, card=0):
        stream = ctypes.c_void_p()
        with self.current(card):
            self.call("cuStreamCreate", ctypes.byref(stream), 1)
        return stream.value

    def end_stream(self, stream, card=0):
        with self.current(card):
            self.call("cuStreamDestroy_v2", ctypes.c_void_p(stream))

    def order(self, first, then, card):
        """Later work on the stream `then` waits for the work on `first`."""
        event = ctypes.c_void_p()
        with self.current(card):
            self.call("cuEventCreate", ctypes.byref(event), 2)
            self.call("cuEventRecord", event, ctypes.c_void_p(first))
            self.call("cuStreamWaitEvent", ctypes.c_void_p(then), event, 0)
            self.events.append((event, card))

    events = []

    def end_events(self):
        while self.events:
            event, card = self.events.pop()
            with self.current(card):
                self.call("cuEventDestroy_v2", event)

    def finish(self, stream, card=0):
        with self.current(card):
            self.call("cuStreamSynchronize", ctypes.c_void_p(stream))

    def copy(self, to, at, size, stream, card=0):
        with self.current(card):
            pointers = ctypes.c_uint64(to), ctypes.c_uint64(at)
            self.call("cuMemcpyDtoDAsync_v2", *pointers, ctypes.c_size_t(size), ctypes.c_void_p(stream))


class Memory:
    """Bytes of a card, which the host sees as `array`. They are freed at once and written over, as by a pool that gives
    them to somebody else."""

    def __init__(self, driver, array, card=0):
        self.driver, self.card = driver, card
        at = ctypes.c_uint64()
        with driver.current(card):
            driver.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(max(array.nbytes, 1)))
        self.address, self.size = at.value, array.nbytes
        bytes_of = (ctypes.c_char * max(array.nbytes, 1)).from_address(at.value)
        self.array = np.frombuffer(bytes_of, array.dtype, array.size).reshape(array.shape)
        self.array[...] = array

    def __del__(self):
        if self.size:
            self.array.reshape(-1).view(np.uint8)[...] = 0xEE
        with self.driver.current(self.card):
            # The stand-in waits here for all that is in flight, as cuMemFree does: the bytes are lost before.
            self.driver.call("cuMemFree_v2", ctypes.c_uint64(self.address))


class _Array:
    """An array that its package writes on a stream, from bytes that are ready."""

    def __init__(self, driver, array, card=0, stream=LEGACY, late=False):
        self.card, self.stream, self.driver = card, stream, driver
        self.shape, self.dtype = array.shape, array.dtype
        self.memory = Memory(
            driver, np.full_like(array, np.nan if array.dtype.kind == "f" else 0) if late else array, card
        )
        self.source = Memory(driver, array, card) if late else None
        if late:
            driver.copy(self.memory.address, self.source.address, array.nbytes, stream, card)

    address = property(lambda self: self.memory.address)


class ByDLPack(_Array):
    """version: of the protocol. told: attributes that it reports wrongly."""

    device_type, version, told = 2, 1, {}

    def __dlpack_device__(self):
        return (self.device_type, self.card)

    def __dlpack__(self, **named):
        if self.version < 1 and "max_version" in named:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        stream = named["stream"]
        assert stream is None or stream in (-1, 1, 2) or stream > 2
        if stream != -1 and (stream or LEGACY) != self.stream:
            self.driver.order(self.stream, stream or LEGACY, self.card)
        place = {"address": self.address, "shape": self.shape, "strides": None, "dtype": self.dtype.name}
        place = _dlpack.Place(**{**place, **self.told, "card": self.card, "keep": self})
        return _dlpack.give(place, self.device_type, self.version >= 1)


class ByOldDLPack(ByDLPack):
    version = 0


class Managed(ByDLPack):
    device_type = 13


_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))


class Taken(ByDLPack):
    """Somebody has taken its capsule, and is done with it."""

    def __dlpack__(self, **named):
        capsule = super().__dlpack__(**named)
        before = set(_dlpack._given)
        assert _dlpack.read(capsule) is not None
        _set_name(capsule, b"used_dltensor_versioned")
        for address in before:
            _dlpack._release(address)
        return capsule


class ByInterface(_Array):
    told, version, is_read_only = {}, 3, False

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, self.is_read_only),
            "version": self.version,
            **({"stream": self.stream} if self.version >= 3 else {}),
            **self.told,
        }


class ReadOnly(ByInterface):
    is_read_only = True


class WithoutStream(ByInterface):
    """It is ready, and its protocol reports that."""

    version = 2


def of(array, **told):
    """An array that reports some attributes wrongly."""
    array.told = told
    return array


# ---- packages ----


class Tensor:
    """An array of a package that makes its own: a view of a card's memory."""

    def __init__(self, package, memory, array):
        self.package, self.memory, self.array, self.card = package, memory, array, memory.card

    shape = property(lambda self: self.array.shape)

    def __getitem__(self, index):
        return type(self)(self.package, self.memory, self.array[index])

    def __setitem__(self, index, value):
        """Their kernel, on their stream. It reads and writes memory of the host here, and so it waits for itself."""
        self.package.driver.finish(self.package.now(self.card), self.card)
        self.array[index] = value.array if isinstance(value, Tensor) else value

    def __lt__(self, other):
        self.package.driver.finish(self.package.now(self.card), self.card)
        return type(self)(self.package, self.memory, self.array < other)

    def __gt__(self, other):
        self.package.driver.finish(self.package.now(self.card), self.card)
        other = other.array if isinstance(other, Tensor) else other
        return type(self)(self.package, self.memory, self.array > other)

    def copy(self):
        self.package.driver.finish(self.package.now(self.card), self.card)
        return self.package.tensor(self.array, self.card, late=True)

    def __mul__(self, other):
        return self.package.tensor(self.array * other, self.card)

    def get(self):
        self.package.driver.finish(self.package.now(self.card), self.card)
        return self.array.copy()

    def view(self, dtype):
        return type(self)(self.package, self.memory, self.array.view(dtype))

    def __dlpack_device__(self):
        return (2, self.card)

    def export(self, is_versioned):
        strides = tuple(s // self.array.itemsize for s in self.array.strides)
        address = self.array.__array_interface__["data"][0]
        place = _dlpack.Place(address, self.shape, strides, self.array.dtype.name, self.card, self)
        return _dlpack.give(place, 2, is_versioned)


class _Package(types.ModuleType):
    def __init__(self, name, driver):
        super().__init__(name)
        self.driver, self.card, self.streams, self.made, self.others = driver, 0, {}, [], []

    def stream(self, card=None):
        """A stream of the package's, which is current within it."""
        made = self.driver.stream(self.card if card is None else card)
        self.others.append(made)
        return self.on_stream(made, self.card if card is None else card)

    def synchronize(self, card):
        for stream in self.others:
            self.driver.finish(stream, card)

    def close(self):
        while self.others:
            self.driver.end_stream(self.others.pop(), self.card)

    def now(self, card):
        return self.streams.get(card, LEGACY)

    @contextmanager
    def on(self, card):
        before, self.card = self.card, card
        try:
            yield
        finally:
            self.card = before

    @contextmanager
    def on_stream(self, stream, card=0):
        before = self.now(card)
        self.streams[card] = stream
        try:
            yield
        finally:
            self.streams[card] = before

    def tensor(self, array, card=0, late=False):
        """late: written by the package's stream, when that comes to it."""
        memory = Memory(self.driver, np.zeros_like(array) if late else array, card)
        if late:
            memory.source = Memory(self.driver, array, card)
            self.driver.copy(memory.address, memory.source.address, array.nbytes, self.now(card), card)
        return self.kind(self, memory, memory.array)


class _TorchTensor(Tensor):
    """With what torch 2.10 refuses, as its own __dlpack__ does."""

    dtype = property(lambda self: "torch." + self.array.dtype.name)
    device = property(lambda self: types.SimpleNamespace(type="cuda", index=self.card))
    requires_grad = False

    clone, numpy = Tensor.copy, Tensor.get

    def cpu(self):
        return self

    def record_stream(self, stream):
        self.package.recorded.append((self, stream.cuda_stream))

    def __dlpack__(self, *, stream=-1, max_version=None, dl_device=None, copy=None):
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if self.card != self.package.card:
            raise BufferError("Can't export tensors on a different CUDA device index.")
        if stream is not None and type(stream) is not int:
            raise TypeError("stream must be ``int`` or ``none``")
        if stream == 2:
            raise BufferError("per-thread default stream is not supported.")
        assert stream != 0, "unsupported stream on CUDA: 0."
        if stream != -1 and (stream or LEGACY) != self.package.now(self.card):
            self.package.driver.order(self.package.now(self.card), stream or LEGACY, self.card)
        return self.export(max_version is not None and max_version[0] >= 1)


class TorchLike(_Package):
    float32, int32, uint32, bool = np.dtype("f4"), np.dtype("i4"), None, np.dtype("?")
    Tensor = kind = _TorchTensor

    def __init__(self, driver):
        super().__init__("torch", driver)
        self.recorded = []
        self.cuda = types.SimpleNamespace(
            current_stream=lambda device: types.SimpleNamespace(
                cuda_stream=0 if self.now(device.index) == LEGACY else self.now(device.index)
            ),
            device=self.on,
            Stream=self.stream,
            stream=lambda stream: stream,
            synchronize=self.synchronize,
        )

    def as_tensor(self, array, device):
        return self.tensor(array, int(device.split(":")[1]))

    def empty(self, shape, *, dtype, device):
        made = self.tensor(np.full(shape, 0, dtype), int(device.split(":")[1]))
        self.made.append(made.card)
        return made


class _CuPyArray(Tensor):
    dtype = property(lambda self: self.array.dtype)
    device = property(lambda self: _Device(self.package, self.card))

    def __dlpack__(self, stream=None, **named):
        if stream not in (-1, self.package.now(self.card)):
            self.package.driver.order(self.package.now(self.card), stream or LEGACY, self.card)
        return self.export(named.get("max_version", (0, 8))[0] >= 1)


class _Device:
    """It is the current one by use(), or within it."""

    def __init__(self, package, card):
        self.package, self.card, self.before = package, card, []

    def use(self):
        self.package.card = self.card

    def synchronize(self):
        self.package.synchronize(self.card)

    def __enter__(self):
        self.before.append(self.package.card)
        self.use()

    def __exit__(self, *error):
        self.package.card = self.before.pop()


class CuPyLike(_Package):
    ndarray = kind = _CuPyArray

    def __init__(self, driver):
        super().__init__("cupy", driver)
        self.asarray = self.tensor
        self.cuda = types.SimpleNamespace(
            Device=lambda card: _Device(self, card),
            Stream=lambda non_blocking: self.stream(),
            get_current_stream=lambda: types.SimpleNamespace(
                ptr=0 if self.now(self.card) == LEGACY else self.now(self.card)
            ),
        )

    def empty(self, shape, dtype):
        self.made.append(self.card)
        return self.tensor(np.full(shape, 0, dtype), self.card)


class _JaxArray(Tensor):
    """Its memory is written by a stream of its own, and it is never written to."""

    dtype = property(lambda self: self.array.dtype)

    def __setitem__(self, index, value):
        raise TypeError("JAX arrays are immutable")

    def __array__(self, dtype=None, copy=None):
        return self.get()

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.package.driver.order(self.package.own, stream, self.card)
        return self.export(max_version is not None and max_version[0] >= 1)


class JaxLike(_Package):
    Array = kind = _JaxArray

    def __init__(self, driver, own):
        super().__init__("jax", driver)
        self.own = own
        self.dlpack = types.SimpleNamespace(from_dlpack=self._from_dlpack)
        self.lax = types.SimpleNamespace(bitcast_convert_type=lambda array, dtype: array.view(dtype))
        self.numpy = types.SimpleNamespace(
            copy=_JaxArray.copy,
            uint32=np.uint32,
            float32=np.float32,
            asarray=lambda value, dtype: value if isinstance(value, Tensor) else self.tensor(np.asarray(value, dtype)),
            broadcast_to=lambda a, shape: _JaxArray(self, a.memory, np.broadcast_to(a.array, shape)),
            concatenate=lambda arrays, axis: self.tensor(np.concatenate([a.array for a in arrays], axis)),
        )

    def devices(self, kind):
        return [0, 1]

    def device_put(self, array, device):
        return self.tensor(array, device)

    def block_until_ready(self, results):
        self.driver.finish(self.own)

    def now(self, card):
        return self.own

    def _from_dlpack(self, array):
        """It waits by its own stream, and takes the capsule."""
        place = _dlpack.read(array.__dlpack__(stream=self.own, max_version=(1, 0)))
        assert place.is_c_contiguous and array.__dlpack_device__()[0] == 2
        self.made.append(place.card)
        size = int(np.prod(place.shape)) * np.dtype(place.dtype).itemsize
        seen = np.frombuffer((ctypes.c_char * size).from_address(place.address), place.dtype).reshape(place.shape)
        return _JaxArray(self, types.SimpleNamespace(card=place.card, keep=place.keep), seen)
