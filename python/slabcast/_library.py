"""The C library: its functions, and its statuses as exceptions.

slabcast.h is the reference: it has every declaration here under the same name.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import operator
import os
import sys
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, NoReturn

from ._structs import (
    Batch,
    BuildOptions,
    Camera,
    CastOptions,
    CheckReport,
    ContextOptions,
    CudaBatch,
    DeviceInfo,
    DoubleHits,
    Explanation,
    Explanation64,
    GeometryOptions,
    Mesh,
    PointOptions,
    PrimitiveId,
    Rays,
    Results,
    SceneStats,
    Source,
    Step,
)

QUERIES = ("closest", "distance", "any", "count", "all", "interval", "nearest")
POINT_QUERIES = ("closest_points", "closest_distance", "within", "winding", "signed_distance", "winding_number")
CULLS = ("none", "back", "front")
EDGES = ("half_open", "closed")
BUILDS = ("default", "flat", "fast", "high")
UPDATES = "auto", "refit", "rebuild"
LAYOUTS = ("default", "wide", "compressed")
TRAVERSALS = ("auto", "packets", "single", "interleaved", "sorted")
SHAPES = ("plane", "sphere", "box", "obb", "triangle")
DEVICE_TYPES = ("other", "cpu", "gpu")


class Error(RuntimeError):
    """A refusal or a failure of the library. There is a subclass for each of its statuses."""


class InvalidArgument(Error, ValueError):
    """An argument cannot be taken; the message names it, the index and the value."""


class InvalidState(Error):
    """A call out of order, such as after close(), in a forked process, or of an origin after the first commit."""


class Capacity(Error):
    """An output does not hold the result."""


class OutOfMemory(Error, MemoryError):
    """The host or the device has not enough memory."""


class NoDevice(Error):
    """No device matches."""


class Unsupported(Error):
    """The device cannot keep the contract."""


class BuildFailed(Error):
    """The device's compiler refused a kernel; the message has the build log."""


class DeviceFailed(Error):
    """A call of OpenCL or CUDA failed."""


class Cancelled(Error):
    """The progress function ended the cast."""


# By slab_status.
_EXCEPTIONS = (
    Error,
    InvalidArgument,
    InvalidState,
    Capacity,
    OutOfMemory,
    NoDevice,
    Unsupported,
    BuildFailed,
    DeviceFailed,
    Cancelled,
)


# By sys.platform: the file beside this one, and the library's name for the system's loader. The first two numbers of
# the version are the SONAME's, and make sure of the structs. Windows' loader knows none.
_FILES = {"darwin": ("libslabcast.dylib", "libslabcast.{}.{}.dylib"), "win32": ("slabcast.dll", "slabcast.dll")}


def _open() -> ctypes.CDLL:
    """The library beside this file, as in wheels; else, as in a distribution's package, the system's."""
    file, known = _FILES.get(sys.platform, ("libslabcast.so", "libslabcast.so.{}.{}"))
    beside = os.path.join(os.path.dirname(__file__), file)
    if os.path.exists(beside):
        return ctypes.CDLL(beside)
    try:
        known = known.format(*importlib.metadata.version("slabcast").split("."))
        return ctypes.CDLL(known)
    except importlib.metadata.PackageNotFoundError:
        raise ImportError(f"there is no {beside}, and slabcast is not installed") from None
    except OSError as error:
        raise ImportError(f"there is no {beside}, and the system has no {known}: {error}") from None


# Of functions that there are of each kind of rows, and for float32 and float64.
_KINDS, _TYPES = ("planes", "spheres", "boxes", "obbs"), ("", "64")
# ctypes releases the GIL while a function of it runs.
library = _open()
_mesh, _geometry, _cast = POINTER(Mesh), POINTER(GeometryOptions), POINTER(CastOptions)
_each = (c_void_p, c_void_p, c_size_t, c_void_p, _cast)
_points = (c_void_p, c_void_p, c_size_t, c_void_p, POINTER(PointOptions))
_update = (c_void_p, c_uint32, c_void_p, c_uint32)
_update_some = (c_void_p, c_uint32, c_uint32, c_void_p, c_uint32)
_told = (c_void_p, c_void_p, c_size_t, c_void_p)
_add = (c_void_p, c_void_p, c_uint32, _geometry, POINTER(c_uint32))
_add_instances = (c_void_p, *_add)
_told_steps = (c_void_p, c_size_t, POINTER(c_size_t))
_move_instances = (c_void_p, c_void_p, c_uint32, c_void_p, c_uint32)
_update_some_instances = (c_void_p, c_uint32, c_void_p, c_void_p, c_uint32)
for _name, _arguments in {
    "devices": (c_void_p, c_size_t, POINTER(c_size_t)),
    "context_create": (POINTER(ContextOptions), POINTER(c_void_p)),
    "context_create_cl": (c_void_p, c_void_p, c_void_p, POINTER(ContextOptions), POINTER(c_void_p)),
    "context_card": (c_void_p, POINTER(c_void_p), POINTER(c_int)),
    "context_device": (c_void_p, POINTER(DeviceInfo)),
    "context_devices": (c_void_p, c_void_p, c_size_t, POINTER(c_size_t)),
    "host_alloc": (c_void_p, c_size_t, POINTER(c_void_p)),
    "host_free": (c_void_p, c_void_p),
    "scene_create": (c_void_p, POINTER(c_void_p)),
    "scene_set_worlds": (c_void_p, c_uint32),
    "scene_origin": (c_void_p, c_void_p),
    **{f"scene_add_{kind}{type}": _add for kind in _KINDS for type in _TYPES},
    "scene_add_mesh": (c_void_p, _mesh, _geometry, POINTER(c_uint32)),
    **{f"scene_update_{kind}{type}": _update for kind in (*_KINDS, "instances") for type in _TYPES},
    "scene_update_mesh": (c_void_p, c_uint32, _mesh),
    **{f"scene_update_some_{kind}{type}": _update_some for kind in (*_KINDS, "vertices") for type in _TYPES},
    **{f"scene_add_instances{type}": _add_instances for type in _TYPES},
    **{f"scene_move_instances{type}": _move_instances for type in _TYPES},
    **{f"scene_update_some_instances{type}": _update_some_instances for type in _TYPES},
    "scene_enable": (c_void_p, c_uint32, c_int),
    "scene_remove": (c_void_p, c_uint32),
    "scene_commit": (c_void_p, POINTER(BuildOptions)),
    "scene_paths": _told,
    "scene_path_ids": _told,
    "scene_info": (c_void_p, POINTER(SceneStats)),
    "scene_pack": (c_void_p, c_void_p, c_size_t, POINTER(c_size_t)),
    "scene_unpack": (c_void_p, c_void_p, c_size_t, POINTER(c_void_p)),
    "closest": _each,
    "nearest": _each,
    "distance": _each,
    "any": _each,
    "count": _each,
    "interval_of": _each,
    "closest_points": _points,
    "closest_points64": _points,
    "closest_distances": _points,
    "closest_distances64": _points,
    "points_within": _points,
    "points_within64": _points,
    "winding": _points,
    "winding64": _points,
    "signed_distances": _points,
    "signed_distances64": _points,
    "winding_numbers": _points,
    "winding_numbers64": _points,
    "check_points": (c_void_p, c_int, *_points[1:], POINTER(CheckReport)),
    "check_points64": (c_void_p, c_int, *_points[1:], POINTER(CheckReport)),
    "check_cast": (c_void_p, c_int, POINTER(Source), POINTER(Results), _cast, POINTER(CheckReport)),
    "explain": (c_void_p, c_void_p, PrimitiveId, _cast, POINTER(Explanation), *_told_steps),
    "explain64": (c_void_p, c_void_p, PrimitiveId, _cast, POINTER(Explanation64), *_told_steps),
    "cast": (c_void_p, c_int, POINTER(Source), POINTER(Results), _cast),
    "rays_write": (c_void_p, POINTER(Rays), c_uint64, c_size_t, c_void_p),
    "beams": (c_void_p, c_void_p, c_size_t, c_void_p),
    "spun_poses": (c_void_p, c_size_t, c_void_p, c_size_t, c_void_p),
    "hemisphere": (c_uint32, c_int, c_void_p),
    "sun_directions": (c_void_p, c_void_p, c_size_t, c_void_p),
    "sky_patches": (c_uint32, c_void_p, c_void_p),
    "rays_from_doubles": (c_void_p, c_void_p, c_size_t, c_void_p, c_double, c_void_p),
    "floats_from_doubles": (c_void_p, c_size_t, c_size_t, c_size_t, c_void_p, c_size_t, c_void_p),
    "points_from_doubles": (POINTER(DoubleHits), c_size_t, c_void_p),
    "enqueue": (c_void_p, POINTER(Batch), c_void_p, c_uint32, c_void_p, POINTER(c_void_p)),
    "enqueue_cuda": (c_void_p, POINTER(CudaBatch), c_void_p),
    "context_objects": (c_void_p, POINTER(c_void_p), POINTER(c_void_p)),
    "program_create": (c_void_p, c_char_p, c_char_p, c_uint32, POINTER(c_void_p)),
    "program_kernel": (c_void_p, c_char_p, POINTER(c_void_p)),
    "program_function": (c_void_p, c_char_p, POINTER(c_void_p)),
    "scene_bind": (c_void_p, c_void_p, c_uint32, POINTER(c_uint32)),
    "scene_bind_cuda": (c_void_p, c_void_p, POINTER(c_void_p), POINTER(c_uint)),
    "scene_update_mesh_cuda": (c_void_p, c_uint32, _mesh, c_void_p),
    "scene_update_instances_cuda": (*_update, c_void_p),
    "scene_update_some_instances_cuda": (*_update_some_instances, c_void_p),
    "scene_move_instances_cuda": (*_move_instances, c_void_p),
}.items():
    _function = getattr(library, "slab_" + _name)
    _function.argtypes, _function.restype = _arguments, c_int
for _name in ("scene_destroy", "context_destroy", "program_destroy"):
    _function = getattr(library, "slab_" + _name)
    _function.argtypes, _function.restype = (c_void_p,), None
library.slab_step_text.argtypes, library.slab_step_text.restype = (POINTER(Step), c_char_p, c_size_t), c_size_t
_function = library.slab_camera_look_at
_function.argtypes, _function.restype = (c_void_p, c_void_p, c_void_p, c_float, c_float), Camera
_image, _tables = (POINTER(Camera), c_uint32, c_uint32), (c_void_p, c_uint32, c_void_p, c_uint32)
library.slab_rays_pinhole.argtypes = library.slab_rays_orthographic.argtypes = _image
library.slab_rays_fisheye.argtypes = (*_image, c_float)
for _name in ("beams", "directions", "pairs"):
    getattr(library, "slab_rays_" + _name).argtypes = _tables
for _name in ("pinhole", "orthographic", "fisheye", "beams", "directions", "pairs"):
    getattr(library, "slab_rays_" + _name).restype = Rays
library.slab_sky_patch_count.argtypes, library.slab_sky_patch_count.restype = (c_uint32,), c_uint32
library.slab_message.restype = c_char_p
library.slab_version.restype = c_char_p


def fail(status: int) -> NoReturn:
    """Raises the exception of a status with the message that the library left on this thread."""
    kind = _EXCEPTIONS[status] if status < len(_EXCEPTIONS) else Error
    raise kind(library.slab_message().decode(errors="replace"))


def must(status: int) -> None:
    """Raises where a call did not return SLAB_OK."""
    if status:
        fail(status)


def index_of(argument: str, name: Any, names: tuple[str, ...]) -> int:
    """The value of an enum of the library, by the name that its users give."""
    try:
        return names.index(name)
    except ValueError:
        raise InvalidArgument(f"{argument} is {name!r}, which is none of: {', '.join(names)}") from None


def word(argument: str, value: int) -> int:
    """A uint32 of the library, which ctypes would cut off."""
    try:
        value = operator.index(value)
    except TypeError:
        raise InvalidArgument(f"{argument} is {value!r}; what is taken is one whole number") from None
    if not 0 <= value <= 0xFFFFFFFF:
        raise InvalidArgument(f"{argument} is {value}, which is not within 0 to 2^32 - 1")
    return value


def flag(argument: str, value: Any) -> bool:
    """A truth value, of which "no" is none."""
    if isinstance(value, (bool, int)) or type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    raise InvalidArgument(f"{argument} is {value!r}; what is taken is True or False")


class Handle:
    """A context, scene or program of the library. It is destroyed with the last reference, so no call can lose it."""

    __slots__ = ("pointer", "_destroy", "__weakref__")

    def __init__(self, pointer: c_void_p, destroy: Callable[[int], None]) -> None:
        self.pointer = pointer.value or 0
        self._destroy = destroy

    def __del__(self) -> None:
        self._destroy(self.pointer)
