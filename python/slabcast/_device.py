"""Devices, and the library's contexts on them."""

from __future__ import annotations

import os
import threading
import weakref
from ctypes import byref, c_size_t, c_void_p
from typing import Any, Callable, NamedTuple

from . import _library, _structs
from ._arrays import warn
from ._library import Handle, InvalidArgument, NoDevice, index_of, library, must, word

_SCALAR = "one primitive at a time: rays take 8 to 38 times as long as with vector kernels"


class ScalarWarning(UserWarning):
    """The processor has no vector kernels here, for it is too old, or the package was built without them."""


class Device(NamedTuple):
    """A device as its driver describes it."""

    name: str
    """Of the device."""
    vendor: str
    """The maker of the device."""
    driver: str
    """The driver's version."""
    version: str
    """Of OpenCL; of the processor, the instruction set in use."""
    platform: str
    """The driver, by name."""
    type: str
    """"cpu", "gpu" or "other"."""
    compute_units: int
    """Units that work at the same time; of a CPU its logical cores."""
    clock_mhz: int
    """As the driver reports it; 0 where it does not."""
    memory_bytes: int
    """Global memory."""
    allocation_bytes: int
    """The largest single buffer."""
    lane_width: int
    """Primitives that one work-item tests at once."""
    denormals: bool
    """Keeps subnormal numbers."""
    rounds_to_nearest: bool
    """Devices that do not are refused."""
    exact_divide: bool
    """Division and square root are correctly rounded; else they are emulated, with the same answers."""

    @property
    def is_scalar(self) -> bool:
        """Whether it is the processor without vector kernels."""
        return self.lane_width == 1 and self.platform == "Slabcast processor"

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self))
        return f"Device({fields})" + f" # {_SCALAR}" * self.is_scalar


def device_of(info: _structs.DeviceInfo) -> Device:
    texts = (getattr(info, name).decode(errors="replace") for name in Device._fields[:5])
    numbers = (getattr(info, name) for name in Device._fields[6:11])
    flags = (bool(getattr(info, name)) for name in Device._fields[11:])
    return Device(*texts, _library.DEVICE_TYPES[info.type], *numbers, *flags)  # type: ignore[call-arg]


def _listed(call: Callable[[Any, int, Any], int]) -> list[Device]:
    """The devices that a function of the library writes to a list, a capacity and a count."""
    count = c_size_t()
    must(call(None, 0, byref(count)))
    infos = (_structs.DeviceInfo * count.value)()
    must(call(infos, count.value, byref(count)))
    return [device_of(info) for info in infos[: count.value]]


def devices() -> list[Device]:
    """The devices, in the order in which Scene(device=index) counts them: the processor first, then NVIDIA's cards by
    their own driver, then OpenCL's."""
    return _listed(library.slab_devices)


def warn_where_scalar() -> None:
    """Warns where the processor tests one primitive at a time. OpenCL is not opened for that."""
    if "native" not in os.environ.get("SLABCAST_BACKENDS", "native"):
        return
    try:
        context, info = open_context("cpu", 0, "auto", "default"), _structs.DeviceInfo()
        must(library.slab_context_device(context.pointer, byref(info)))
    except _library.Error:  # the cast reports it
        return
    if device_of(info).is_scalar:
        warn(
            ScalarWarning,
            "slabcast",
            f"it tests {_SCALAR}. A wheel has them; a build asks for clang 14 or later, or the wheel ziglang; "
            "x86-64 processors need AVX2",
        )


# Scenes on the same devices, by the same options, are in one context, so that one can be a model of the other. The
# keys are what devices are called by, and the devices. A forked process has its own.
_contexts: weakref.WeakValueDictionary[tuple[object, ...], Handle] = weakref.WeakValueDictionary()
_contexts_lock = threading.Lock()


def _begin_child() -> None:
    """Another thread of the parent may have held the lock, and is not here to release it."""
    global _contexts_lock
    _contexts_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)


def _shared(made: Handle, options: tuple[object, ...]) -> Handle:
    """The context that is there already on the same devices, under any of their names; else the new one."""
    own = _listed(lambda *place: library.slab_context_devices(made.pointer, *place))
    known = _contexts.setdefault((tuple(own), *options), made)
    if known is made:
        return made
    # Two devices with equal names and platforms are not taken for one.
    looks = [(device.name, device.platform) for device in devices()]
    return known if all(looks.count((device.name, device.platform)) == 1 for device in own) else made


def _create(native: _structs.ContextOptions) -> Handle:
    context = c_void_p()
    try:
        must(library.slab_context_create(byref(native), byref(context)))
    except NoDevice as error:
        known = ", ".join(f"{i}: {device.name} ({device.platform})" for i, device in enumerate(devices()))
        raise NoDevice(f"{error}. The devices are {known}") from None
    return Handle(context, library.slab_context_destroy)


def _create_on(objects: tuple[int, int, int], native: _structs.ContextOptions) -> Handle:
    """On an OpenCL context, a device and a queue."""
    context = c_void_p()
    must(library.slab_context_create_cl(*objects, byref(native), byref(context)))
    return Handle(context, library.slab_context_destroy)


def _kept(key: tuple[object, ...], create: Callable[[], Handle]) -> Handle:
    """The context that is there under a key, or else a new one."""
    with _contexts_lock:
        known = _contexts.get(key)
        if known is None:
            known = _contexts[key] = create()
        return known


def open_context(device: Any, threads: int, traversal: str, layout: str) -> Handle:
    """A context on a device, as Scene describes the arguments."""
    native = _structs.ContextOptions(
        traversal=index_of("traversal", traversal, _library.TRAVERSALS),
        layout=index_of("layout", layout, _library.LAYOUTS),
        threads=word("threads", threads),
    )
    options = os.getpid(), threads, traversal, layout
    if type(device).__module__ == "torch":  # a torch.device: "cuda:1", "cpu"
        device = str(device)
    if device is None or isinstance(device, (str, int)):
        called = None if device is None else str(device)
        native.device = None if called is None else called.encode()
        return _kept((called, *options), lambda: _shared(_create(native), options))
    if hasattr(device, "int_ptr") and hasattr(device, "context"):
        objects = device.context.int_ptr, device.device.int_ptr, device.int_ptr
        return _kept((objects, *options), lambda: _create_on(objects, native))
    raise InvalidArgument(f"device is {device!r}; what is taken is a name, an index or a queue of pyopencl")
