"""Queries of points, and how they are handed to the library."""

from __future__ import annotations

from ctypes import byref
from typing import TYPE_CHECKING, Any, Literal, Optional

import numpy as np
from numpy.typing import NDArray

from . import _structs
from ._arrays import DOUBLE, Space, double_array, float_array, is_wide, shaped
from ._host_memory import place_of
from ._library import POINT_QUERIES, Handle, InvalidArgument, index_of, library, must, word
from ._options import Array, is_of_rays, masks_of, worlds_of
from ._rays import no_space
from ._records import CLOSEST_POINT, CLOSEST_POINT64
from ._results import CheckReport, records
from ._values import FLOAT, host_array
from ._watch import ProgressFunction, Watch

if TYPE_CHECKING:
    from ._results import Records

PointQuery = Literal["closest_points", "closest_distance", "within", "winding", "signed_distance", "winding_number"]

# Each query's function, but for "64" at its end, and its results.
_FUNCTIONS = {
    "closest_points": ("slab_closest_points", CLOSEST_POINT),
    "closest_distance": ("slab_closest_distances", FLOAT),
    "within": ("slab_points_within", np.dtype("?")),
    "winding": ("slab_winding", np.dtype(np.int32)),
    "signed_distance": ("slab_signed_distances", FLOAT),
    "winding_number": ("slab_winding_numbers", FLOAT),
}


def point_array(points: Array, places: NDArray[np.float64], space: Space) -> NDArray[Any]:
    """Points (..., 3) in the type of the query: float64 where the scene takes it, else float32."""
    array = host_array("points", points, of_rays=True)
    if space.in_double and is_wide(array):
        array = double_array("points", array)
    else:
        array = float_array("points", points, places=(places,), of_rays=True)
    shaped("points", array, 3)
    return array


class Points:
    """Points with a radius, a mask and a world, of all or of each."""

    def __init__(
        self,
        points: Array,
        places: NDArray[np.float64],
        radius: Array,
        mask: Array,
        world: Array,
        progress: Optional[ProgressFunction],
        worlds: int,
        space: Space,
    ) -> None:
        """places: the range of the scene, (2, 3). worlds: how many it has."""
        self.array = point_array(points, places, space)
        self.shape = self.array.shape[:-1]
        self.size = self.array.size // 3
        self.given = points
        self._masks = masks_of(mask, self.shape)
        self._mask = 0 if is_of_rays(mask) else word("mask", mask)
        self._worlds = worlds_of(world, self.shape, worlds)
        self._radii = None if radius is None else _radii_of(radius, self.shape)
        self._progress = progress

    def call(self, function: Any, *before: Any, after: tuple[Any, ...] = ()) -> None:
        """Calls a function of the library with the options between other arguments. It can be interrupted."""
        with Watch(self._progress) as watch:
            native = _structs.PointOptions(
                mask=self._mask,
                masks=None if self._masks is None else self._masks.ctypes.data,
                radii=None if self._radii is None else self._radii.ctypes.data,
                worlds=None if self._worlds is None else self._worlds.ctypes.data,
                progress=watch.callback,
            )
            status = function(*before, byref(native), *after)
        must(status)


def _radii_of(radius: Array, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """One for each point."""
    radii = float_array("radius", radius)
    if np.isnan(radii).any() or (radii < 0).any():
        raise InvalidArgument(f"radius has {radii[~(radii >= 0)].flat[0]}; what is taken is 0 or more")
    try:
        return np.ascontiguousarray(np.broadcast_to(radii, shape))
    except ValueError:
        raise InvalidArgument(f"radius has shape {radii.shape}; what is taken for these points is {shape}") from None


def _function_of(query: str, points: Points) -> tuple[str, np.dtype[Any]]:
    """The library's function for points of this type, and the dtype of its results."""
    name, dtype = _FUNCTIONS[query]
    if points.array.dtype != DOUBLE:
        return name, dtype
    return name + "64", CLOSEST_POINT64 if query == "closest_points" else dtype


def ask(query: PointQuery, scene: Handle, points: Points, out: Optional[NDArray[Any]]) -> Records:
    name, dtype = _function_of(query, points)
    function = getattr(library, name)
    made: Any = _room(query, points, dtype) if out is None else place_of(out, points.shape, dtype, (points.given,))
    points.call(function, scene.pointer, points.array.ctypes.data, points.size, made.ctypes.data)
    return made  # type: ignore[no-any-return]


def _room(query: str, points: Points, dtype: np.dtype[Any]) -> NDArray[Any]:
    try:
        return np.empty(points.shape, dtype) if dtype.names is None else records(points.shape, dtype)
    except (MemoryError, ValueError):
        raise no_space(f"the results of {query}", points.size) from None


def check(query: PointQuery, scene: Handle, points: Points, results: Any) -> CheckReport:
    number, report = index_of("query", query, POINT_QUERIES), _structs.CheckReport()
    dtype = _function_of(query, points)[1]
    if getattr(results, "dtype", None) != dtype or results.shape != points.shape or not results.flags.c_contiguous:
        raise InvalidArgument(f"results is no array in C order of {points.shape} and {dtype}, as {query}() gives it")
    before = scene.pointer, number, points.array.ctypes.data, points.size, results.ctypes.data
    points.call(
        getattr(library, f"slab_check_points{'64' if points.array.dtype == DOUBLE else ''}"),
        *before,
        after=(byref(report),),
    )
    values = {name: getattr(report, name) for name in CheckReport._fields}
    return CheckReport(**{**values, "text": report.text.decode()})
