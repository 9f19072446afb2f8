"""The results of casts: dtypes and tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from ._card_arrays import CardRecords, is_hit_there, is_on_card
from ._library import InvalidArgument
from ._records import CLOSEST_POINT, CLOSEST_POINT64, HIT, HIT64, INTERVAL, INTERVAL64, PATH, SHORT_HIT, SHORT_HIT64

if TYPE_CHECKING:
    Records = np.recarray[Any, np.dtype[Any]]

MISS = 0xFFFFFFFF
"""primitive and geometry of a ray that hits nothing."""
INVALID = 0xFFFFFFFE
"""primitive and geometry of an invalid ray."""


class Hits(NamedTuple):
    """Every hit of n rays. Hits of ray i are hits[offsets[i]:offsets[i + 1]], sorted by (t, geometry, primitive)."""

    offsets: NDArray[np.uint64]
    """(n + 1,)"""
    hits: Records
    """(offsets[n],) of HIT, or of HIT64 where rays are cast in double"""


_RECORDS = {
    dtype: np.dtype((np.record, dtype))
    for dtype in (HIT, SHORT_HIT, INTERVAL, HIT64, SHORT_HIT64, INTERVAL64, CLOSEST_POINT, CLOSEST_POINT64, PATH)
}


def records(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Records:
    """Space for results whose fields are attributes as well. Its dtype equals the given one."""
    return np.ndarray.__new__(np.recarray, shape, _RECORDS[dtype])


def is_hit(results: Any) -> Union[NDArray[np.bool_], np.bool_]:
    """Which rays hit something, by the results of any cast: neither those that hit nothing nor invalid ones.

    results: those of closest(), nearest(), interval(), distance(), any(), count(), all() or a query of points, or a
    part of them. For the pair of all() it has a value for each ray. It is True for a distance below inf and for a count
    above 0."""
    if isinstance(results, CardRecords) or is_on_card(results[0] if isinstance(results, Hits) else results):
        return is_hit_there(results)  # type: ignore[no-any-return]
    if isinstance(results, Hits):
        offsets = _of_host(results.offsets)
        return offsets[1:] > offsets[:-1]
    array = _of_host(results)
    fields = array.dtype.names
    if fields is not None and "geometry" in fields:
        return np.asarray(array["geometry"]) < INVALID
    if array.dtype.kind == "f":
        return array < np.inf
    if fields is None and array.dtype.kind in "bui":
        if array.dtype.kind != "b" and (array >= INVALID).any():
            raise InvalidArgument("results holds ids of hits, not counts; is_hit takes the hits")
        return array > 0
    raise InvalidArgument(f"results has dtype {array.dtype}; is_hit takes what a cast returned")


def _of_host(array: Any) -> NDArray[Any]:
    """An array, from a device of pyopencl where it lies there."""
    is_host = isinstance(array, (np.ndarray, np.generic)) or not hasattr(array, "get")
    return np.asarray(array if is_host else array.get())


class CheckReport(NamedTuple):
    """The findings of check()."""

    rays: int
    """Rays compared."""
    mismatches: int
    """Rays whose result differs in any bit from the CPU reference's."""
    oracle_rays: int
    """Rays that the oracle checked, which are all or, in large batches, some that are evenly spread."""
    oracle_wrong: int
    """Rays whose result the oracle proves wrong."""
    oracle_undecided: int
    """Rays that the oracle cannot decide within its error bound."""
    first: int
    """The first ray that disagrees, where one does."""
    text: str
    """Names its ray, primitive, field and both bit patterns; "" where no ray disagrees."""


class SceneInfo(NamedTuple):
    """The contents of a scene and the memory that they take."""

    geometries: int
    """How many were added."""
    planes: int
    """Of all geometries, as added."""
    spheres: int
    """Of all geometries, as added."""
    boxes: int
    """Of all geometries, as added."""
    obbs: int
    """Of all geometries, as added."""
    triangles: int
    """Of all geometries, as added."""
    lower: tuple[float, float, float]
    """Union of all finite bounds; lower > upper where there are none."""
    upper: tuple[float, float, float]
    """Its other end."""
    host_bytes: int
    """Memory of the host."""
    device_bytes: int
    """Memory of all devices together."""
    tree_depth: int
    """Levels of the BVH, 0 where every primitive is tested."""
    sah_cost: float
    """Expected work of a ray, by the surface area heuristic."""
    node_occupancy: float
    """Used share of the BVH's places for children."""
    block_occupancy: float
    """Used share of the BVH's places for primitives."""
    build_seconds: float
    """Seconds that building and laying out took."""
    origin: tuple[float, float, float]
    """Where the scene's float32 coordinates count from. Coordinates in this tuple count from 0."""
