"""What casts return: dtypes of results, and tuples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MISS = 0xFFFFFFFF
"""primitive and geometry of a ray that hits nothing."""
INVALID = 0xFFFFFFFE
"""primitive and geometry of an invalid ray."""


class Hits(NamedTuple):
    """Every hit of n rays. Those of ray i are hits[offsets[i]:offsets[i + 1]], sorted by (t, geometry, primitive)."""

    offsets: NDArray[np.uint64]
    """(n + 1,)"""
    hits: NDArray[np.void]
    """(offsets[n],) of HIT"""


class CheckReport(NamedTuple):
    """What check() found."""

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
    """What a scene holds and takes."""

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
