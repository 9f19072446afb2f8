"""The options of casts, which are given by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Optional, Protocol, TypedDict, Union

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._arrays import word_array
from ._card_arrays import is_on_card
from ._library import InvalidArgument, flag, index_of, word
from ._records import SHORT_HIT
from ._values import at, fields_of
from ._watch import ProgressFunction

Build = Literal["default", "flat", "fast", "high"]
Traversal = Literal["auto", "packets", "single", "interleaved", "sorted"]
Layout = Literal["default", "wide", "compressed"]
Update = Literal["auto", "refit", "rebuild"]
Query = Literal["closest", "distance", "any", "count", "all", "interval", "nearest"]


NOT_HITS = "after has no t, primitive and geometry; what is taken are hits, as nearest() gives them"


class _HasArray(Protocol):
    def __array__(self, *args: Any, **named: Any) -> Any: ...


class _HasDLPack(Protocol):
    def __dlpack__(self, *args: Any, **named: Any) -> Any: ...


class _HasVertices(Protocol):
    @property
    def vertices(self) -> Any: ...


class _HasVertex(Protocol):
    @property
    def vertex(self) -> Any: ...


class _HasPoints(Protocol):
    @property
    def points(self) -> Any: ...


# Meshes of trimesh and Open3D, of Open3D's tensors, and of PyVista.
Mesh = Union[_HasVertices, _HasVertex, _HasPoints]
# Rows of numbers, such as vertices.
Rows = Union[NDArray[Any], _HasArray, _HasDLPack, Sequence[float], Sequence[Sequence[float]]]
# Anything that is an array of numbers, or can be made one: NumPy's and those of DLPack, lists, numbers. None: no array.
Array = Any


class Options(TypedDict, total=False):
    """The options of every cast, which are given by name.

    Attributes:
        mask: geometries whose mask has no bit in common are not seen; 0: all bits. Or an array of uint32, a mask for
            each ray, which is broadcast to the rays; there 0 sees nothing.
        world: the world that the rays are in, 1 to Scene.worlds; 0: in none, they see what belongs to all. Or an array
            of whole numbers, a world for each ray, which is broadcast to the rays.
        after: hits of a former cast, closest or nearest ones, or any array with their t, primitive and geometry. It is
            broadcast to the rays; each ray is given the hits that follow its own. Nothing follows a miss. It does not
            go with interval. Beside rays on a card, or of pyopencl, arrays of mask, world, after and skip lie there as
            well, an entry for each ray.
        skip: the plane or triangle that each ray does not see: hits of a former cast, or (..., 2) uint32 of primitive
            and geometry. They are broadcast to the rays: one for all, or `hits[:, None]` for (n, k) rays. In a scene of
            one geometry also primitives alone, an id per ray. disable() hides a whole geometry, and so does `mask`.
        cull: "none", "back" or "front": crossings of such faces are dropped. It does not apply to interval.
        face_forward: True turns normals against the ray.
        edges: "half_open", the default: on a closed mesh each crossing counts once. "closed": a ray that touches an
            edge or a vertex of a triangle hits it; at a shared one it hits every triangle there.
        progress: progress(rays_done, rays_total), called while rays are cast. A true value ends the cast with
            Cancelled, and an exception ends it as well.
        out: an array of NumPy that takes the results and is returned, of their shape and dtype (slabcast.HIT and so
            on). It may be one of slabcast.empty(), and may be used again. all(), check() and explain() take none.
        double: True casts rays of the host in float64, and the results are of HIT64, SHORT_HIT64, INTERVAL64 and
            float64. False rounds them to float32. None, the default, is True where the scene has an origin that is not
            0 and the rays are float64, or what NumPy makes float64 beside float32; else False.
    """

    mask: Union[int, Array]
    world: Union[int, Array]
    skip: Array
    after: Array
    cull: Literal["none", "back", "front"]
    face_forward: bool
    edges: Literal["half_open", "closed"]
    progress: Optional[ProgressFunction]
    out: NDArray[Any]
    double: Optional[bool]


def plain_options(options: Options) -> dict[str, int]:
    """The options that are numbers to the library."""
    for name in options:
        if name not in Options.__annotations__:
            raise TypeError(f"a cast takes no {name!r}; by name it takes {', '.join(Options.__annotations__)}")
    if options.get("out") is not None:
        raise InvalidArgument("out is taken by casts of arrays of the host with one result a ray, and not here")
    if options.get("double"):
        raise InvalidArgument("double is taken by casts of arrays of the host, and not here")
    return {
        "mask": 0 if is_of_rays(options.get("mask", 0)) else word("mask", options.get("mask", 0)),
        "cull": index_of("cull", options.get("cull", "none"), _library.CULLS),
        "face_forward": flag("face_forward", options.get("face_forward", False)),
        "edges": index_of("edges", options.get("edges", "half_open"), _library.EDGES),
    }


def is_of_rays(value: Array) -> bool:
    """Whether the option `mask` or `world` is an array, an entry for each ray."""
    if isinstance(value, (int, str)):
        return False
    return hasattr(value, "__len__") or getattr(value, "shape", ()) != () or is_on_card(value)


def entries_of(options: Options) -> dict[str, Any]:
    """The options that have an entry for each ray, as they came, by their names in the library; None: not given. One
    world for all of them is an int."""
    mask, world = options.get("mask", 0), options.get("world", 0)
    return {
        "skip": options.get("skip"),
        "masks": mask if is_of_rays(mask) else None,
        "after": options.get("after"),
        "worlds": world if is_of_rays(world) else word("world", world) or None,
    }


def masks_of(mask: Array, shape: tuple[int, ...]) -> Optional[NDArray[np.uint32]]:
    """The option `mask` where it is one for each ray of this shape; else None."""
    return _spread("mask", word_array("mask", mask), shape) if is_of_rays(mask) else None


def worlds_of(world: Array, shape: tuple[int, ...], count: int) -> Optional[NDArray[np.uint32]]:
    """The option `world` for rays of this shape, in a scene of so many worlds; None: all are in none."""
    if not is_of_rays(world):
        one = world_of(world, count)
        return np.full(shape, one, np.uint32) if one else None
    return _spread("world", refuse_worlds(word_array("world", world), count), shape)


def refuse_worlds(worlds: NDArray[np.uint32], count: int) -> NDArray[np.uint32]:
    """The array, whose worlds a scene of so many must have."""
    wrong = worlds > count
    if wrong.any():
        first = tuple(np.argwhere(wrong)[0])
        raise InvalidArgument(f"world{at(first)} is {worlds[first]}, {_worlds_in(count)}")
    return worlds


def world_of(world: Array, count: int) -> int:
    """One world of a scene that has so many."""
    one = word("world", world)
    if one > count:
        raise InvalidArgument(f"world is {one}, {_worlds_in(count)}")
    return one


def _worlds_in(count: int) -> str:
    return f"and the scene has {f'worlds 1 to {count}' if count else 'no worlds'}"


def after_of(after: Array, shape: tuple[int, ...], is_double: bool) -> Optional[NDArray[Any]]:
    """The option `after` for rays of this shape, as SHORT_HIT. Hits of rays in double are not ordered by t itself."""
    if after is None:
        return None
    fields = fields_of(after)
    if fields is None or not {"t", "primitive", "geometry"} <= set(fields):
        raise InvalidArgument(NOT_HITS)
    if ("order" in fields) != is_double:
        told = "double, and after are hits of rays in float32" if is_double else "float32, and after are hits in double"
        raise InvalidArgument(f"the rays are cast in {told}; what is taken are hits of the same rays")
    made = np.empty(np.shape(after), SHORT_HIT)
    for name, of in (("t", "order" if is_double else "t"), ("primitive", "primitive"), ("geometry", "geometry")):
        made[name] = after[of]
    return _spread("after", made, shape)


def _spread(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """One entry for each ray."""
    try:
        return np.ascontiguousarray(np.broadcast_to(array, shape))
    except ValueError:
        raise InvalidArgument(f"{name} has shape {array.shape}; what is taken for these rays is {shape}") from None


def skips_of(skip: Array, shape: tuple[int, ...], only: Optional[int]) -> NDArray[np.uint32]:
    """The option `skip` for rays of this shape, in a scene whose one geometry is `only`; None: it has several."""
    if fields_of(skip) is not None:
        array = np.stack([skip["primitive"], skip["geometry"]], axis=-1).astype(np.uint32, copy=False)
    else:
        array = word_array("skip", skip)
        if array.shape == shape != (0, 2):
            array = _pairs_of(array, only)
    if array.shape == (*shape, 2):
        return np.ascontiguousarray(array)
    try:
        return np.ascontiguousarray(np.broadcast_to(array, (*shape, 2)))
    except ValueError:
        raise InvalidArgument(
            f"skip has shape {array.shape}; what is taken for these rays is {(*shape, 2)}, or {shape} of primitives"
        ) from None


def _pairs_of(primitives: NDArray[np.uint32], only: Optional[int]) -> NDArray[np.uint32]:
    """Primitives alone, with their geometry."""
    if primitives.shape[-1:] == (2,) and set(primitives.shape[:-1]) <= {1, 2}:
        raise InvalidArgument(
            f"skip of shape {primitives.shape} may be primitives alone or a primitive and geometry; for these rays, "
            f"give {(*primitives.shape, 2)}"
        )
    if only is None:
        raise InvalidArgument(
            "skip has primitives alone, and the scene has not one geometry; give their geometries too"
        )
    return np.stack([primitives, np.full_like(primitives, only)], axis=-1)
