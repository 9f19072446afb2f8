"""Slabcast: massive batches of rays against meshes, boxes, spheres and planes.

::

    import numpy as np, slabcast

    scene = slabcast.Scene()
    scene.add_mesh(vertices, triangles)              # (n, 3) float32 and (m, 3) uint32
    hits = scene.closest(origins, directions)        # of any leading shape
    points = origins + hits.t[..., None] * directions
    struck = slabcast.is_hit(hits)                   # neither misses nor invalid rays

It runs on the processor, and on OpenCL devices where there are any. Answers are the same, bit by bit, on each. On a
closed mesh each crossing counts exactly once, through edges and vertices too. slabcast.trimesh and slabcast.open3d have
the interfaces of those packages."""

from . import rays, tables
from ._arrays import CopyWarning, PrecisionWarning
from ._card_arrays import CardArray, CardRecords
from ._device import Device, ScalarWarning, devices, warn_where_scalar
from ._explain import Explanation, Step
from ._host_memory import empty, empty_rays
from ._library import (
    BuildFailed,
    Cancelled,
    Capacity,
    DeviceFailed,
    Error,
    InvalidArgument,
    InvalidState,
    NoDevice,
    OutOfMemory,
    Unsupported,
    library,
)
from ._options import Options
from ._program import Kernel, Program
from ._records import CLOSEST_POINT, CLOSEST_POINT64, HIT, HIT64, INTERVAL, INTERVAL64, PATH, SHORT_HIT, SHORT_HIT64
from ._results import INVALID, MISS, CheckReport, Hits, SceneInfo, is_hit
from ._scene import Scene
from ._sets import RaySet
from ._sums import Sums

__version__: str = library.slab_version().decode()

warn_where_scalar()

__all__ = [
    "CLOSEST_POINT",
    "CLOSEST_POINT64",
    "HIT",
    "HIT64",
    "INTERVAL",
    "INTERVAL64",
    "INVALID",
    "MISS",
    "PATH",
    "SHORT_HIT",
    "SHORT_HIT64",
    "BuildFailed",
    "Cancelled",
    "Capacity",
    "CardArray",
    "CardRecords",
    "Options",
    "CheckReport",
    "CopyWarning",
    "Device",
    "DeviceFailed",
    "Error",
    "Explanation",
    "Hits",
    "InvalidArgument",
    "InvalidState",
    "Kernel",
    "NoDevice",
    "OutOfMemory",
    "PrecisionWarning",
    "Program",
    "RaySet",
    "ScalarWarning",
    "Scene",
    "SceneInfo",
    "Step",
    "Sums",
    "Unsupported",
    "devices",
    "empty",
    "empty_rays",
    "is_hit",
    "rays",
    "tables",
]
