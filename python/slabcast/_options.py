"""What casts take by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Optional, Protocol, TypedDict, Union

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._arrays import FLOAT, word_array
from ._library import InvalidArgument, flag, index_of, word
from ._watch import ProgressFunction

Build = Literal["default", "flat", "fast", "high"]
Traversal = Literal["auto", "packets", "single", "interleaved", "sorted"]
Layout = Literal["default", "wide", "compressed"]
Update = Literal["auto", "refit", "rebuild"]
Query = Literal["closest", "distance", "any", "count", "all", "interval", "nearest"]


class _HasArray(Protocol):
    def __array__(self, *args: Any, **named: Any) -> Any: ...


class _HasDLPack(Protocol):
    def __dlpack__(self, *args: Any, **named: Any) -> Any: ...


# Rows of numbers, such as vertices.
Rows = Union[NDArray[Any], _HasArray, _HasDLPack, Sequence[float], Sequence[Sequence[float]]]
# Anything that is an array of numbers, or can be made one: NumPy's and those of DLPack, lists, numbers. None: no array.
Array = Any


class Options(TypedDict, total=False):
    """What every cast takes by name.

    Attributes:
        mask: geometries whose mask has no bit in common are not seen; 0: all bits.
        skip: (..., 2) uint32, or hits: the primitive and geometry, a plane or triangle, that each ray does not see.
        cull: "none", "back" or "front": crossings of such faces are dropped. It does not apply to interval.
        face_forward: True turns normals against the ray.
        edges: "half_open", the default: on a closed mesh each crossing counts once. "closed": a ray that touches an
            edge or a vertex of a triangle hits it; at a shared one it hits every triangle there.
        progress: progress(rays_done, rays_total), called while rays are cast. A true value ends the cast with
            Cancelled, and an exception ends it as well.
    """

    mask: int
    skip: Array
    cull: Literal["none", "back", "front"]
    face_forward: bool
    edges: Literal["half_open", "closed"]
    progress: Optional[ProgressFunction]


def plain_options(options: Options) -> dict[str, int]:
    """The options that are numbers to the library."""
    for name in options:
        if name not in Options.__annotations__:
            raise TypeError(f"a cast takes no {name!r}; by name it takes {', '.join(Options.__annotations__)}")
    return {
        "mask": word("mask", options.get("mask", 0)),
        "cull": index_of("cull", options.get("cull", "none"), _library.CULLS),
        "face_forward": flag("face_forward", options.get("face_forward", False)),
        "edges": index_of("edges", options.get("edges", "half_open"), _library.EDGES),
    }


def skips_of(skip: Array, shape: tuple[int, ...]) -> NDArray[np.uint32]:
    """The option `skip` for rays of this shape."""
    if getattr(skip, "dtype", FLOAT).names is not None:
        skip = np.stack([skip["primitive"], skip["geometry"]], axis=-1)
    array = word_array("skip", skip)
    if array.shape != (*shape, 2):
        raise InvalidArgument(f"skip has shape {array.shape}; what is taken for these rays is {(*shape, 2)}")
    return array
