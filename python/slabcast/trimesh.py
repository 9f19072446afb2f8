"""The interfaces of trimesh's meshes for rays and for closest points: RayMeshIntersector, closest_point, and use() to
make them trimesh's own."""

from __future__ import annotations

import gc
import math
import sys
from ctypes import byref
from typing import Any, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _structs
from ._arrays import range_of
from ._library import InvalidArgument, library, must
from ._results import is_hit
from ._scene import Scene

Ids = NDArray[np.int64]
Locations = NDArray[np.float64]

# Rows that are moved to a scene's coordinates at once: as many as the caches hold.
_BLOCK = 1 << 13
# The largest size of meshes in the coordinates of their scenes, so that no product of float32 leaves its range.
_SIZE = 128.0
# Rays that begin within so many sizes of a mesh are rounded to float32, which moves them by 1e-6 of it at most.
_NEAR = 16.0
# Triangles that points are put on at once: some numbers of each point are float64.
_LOCATED = 1 << 16
# Of no axis or diagonal, for meshes that are not closed.
_ODD_DIRECTION = np.array([0.4371, 0.6128, 0.6584])
_ODD_DIRECTIONS = 8


class _Place(NamedTuple):
    """A scene of a mesh, in whose coordinates x is (x - origin) * scale: about the mesh, and of one size."""

    scene: Scene
    origin: NDArray[np.float64]
    scale: float

    def moved(self, rows: Locations, dtype: Any) -> NDArray[Any]:
        """Rows in the scene's coordinates, in blocks of whole arrays: NumPy is slow on rows of three. Values beyond
        the type become inf."""
        out = np.empty(rows.shape, dtype)
        shift = np.tile(self.origin, (min(len(rows), _BLOCK), 1))
        with np.errstate(over="ignore", invalid="ignore"):
            for begin in range(0, len(rows), _BLOCK):
                block = rows[begin : begin + _BLOCK] - shift[: len(rows) - begin]
                block *= self.scale
                out[begin : begin + _BLOCK] = block
        return out

    def is_near(self, origins: Locations) -> bool:
        """Whether float32 has digits enough for rays from here. Those that are not finite are invalid in any case."""
        with np.errstate(over="ignore"):
            reach = np.abs(range_of(origins) - self.origin).max()
        return bool(reach * self.scale <= _NEAR * _SIZE)


def _place_of(mesh: Any) -> _Place:
    """Of a mesh that touches 0 the origin is 0, so that what fits into float32 keeps all digits. Else it is near the
    middle."""
    vertices, faces = np.asarray(mesh.vertices, np.float64), np.asarray(mesh.faces).reshape(-1, 3)
    used = vertices[np.unique(faces)]
    used = used[np.isfinite(used).all(axis=1)]  # triangles that have another corner are left out
    lower, upper = (range_of(used) if len(used) else np.zeros((2, 3))) / 2
    size = math.ldexp(2.0, min(max(math.frexp((upper - lower).max())[1], -1000), 1000))
    place = _Place(Scene("cpu"), np.round((lower + upper) / size) * size, _SIZE / size)
    place.scene.add_mesh(place.moved(vertices, np.float32), faces, skip_invalid=True)
    place.scene.commit()
    return place


class RayMeshIntersector:
    """Casts rays at a mesh of trimesh's, and follows its changes.

    Args:
        geometry: a trimesh.Trimesh.
        scale_to_box: changes nothing. Casts are always in coordinates about the mesh, in which it is about a hundred
            units large, by a power of two, which changes no digit.

    Origins and directions are (n, 3) and of any float; directions of any length. Rays are cast in float64 where one of
    them begins more than 16 sizes of the mesh away from it. Of several hits in a row each counts
    once, also through edges and vertices of closed meshes. The first hit and intersects_any also see edges and vertices
    that a ray only touches.
    """

    def __init__(self, geometry: Any, scale_to_box: bool = True) -> None:
        self.mesh = geometry
        self._cached: Optional[tuple[int, _Place]] = None

    def intersects_location(
        self, ray_origins: ArrayLike, ray_directions: ArrayLike, multiple_hits: bool = True, max_hits: int = 100
    ) -> tuple[Locations, Ids, Ids]:
        """Hits of the mesh, sorted by the ray and along it. Locations (m, 3) float64 are on the triangles' planes; for
        each there is the index of its ray (m,) and of its triangle (m,)."""
        triangles, rays, locations = self._hits(ray_origins, ray_directions, multiple_hits, max_hits, True)
        return locations, rays, triangles

    def intersects_id(
        self,
        ray_origins: ArrayLike,
        ray_directions: ArrayLike,
        multiple_hits: bool = True,
        max_hits: int = 100,
        return_locations: bool = False,
    ) -> Union[tuple[Ids, Ids], tuple[Ids, Ids, Locations]]:
        """Triangles that rays hit: their indices (m,) and those of their rays (m,), sorted by the ray and along it.
        With return_locations there are also the locations (m, 3). multiple_hits: all hits, at most max_hits per ray;
        else the first. With a max_hits below 1 none."""
        triangles, rays, locations = self._hits(ray_origins, ray_directions, multiple_hits, max_hits, return_locations)
        return (triangles, rays, locations) if return_locations else (triangles, rays)

    def intersects_first(self, ray_origins: ArrayLike, ray_directions: ArrayLike) -> Ids:
        """The index of the first triangle of each ray (n,), -1 where it hits none."""
        found = self._cast("nearest", *_rays(ray_origins, ray_directions), edges="closed")
        return _first(found["primitive"])

    def intersects_any(self, ray_origins: ArrayLike, ray_directions: ArrayLike) -> NDArray[np.bool_]:
        """Whether each ray hits the mesh: (n,) bool."""
        return self._cast("any", *_rays(ray_origins, ray_directions), edges="closed")  # type: ignore[no-any-return]

    def contains_points(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Whether each point (n, 3) lies inside: (n,) bool. Exact for a closed mesh, whose parts may overlap where all
        faces face outward; where faces do not agree it is parity. For others: whether rays both ways cross it an odd
        number of times, in the first of a few directions in which the two agree."""
        array = _rows("points", points)
        place = self._place()
        scene, local = place.scene, place.moved(array, np.float32)
        if self.mesh.is_watertight and not any(scene.skipped):
            return scene.contains(local, mode="union" if self.mesh.is_winding_consistent else "parity")
        inside, unsure = np.zeros(len(local), np.bool_), np.arange(len(local))
        if len(self.mesh.faces):
            lower, upper = scene.info.lower, scene.info.upper
            unsure = np.flatnonzero(((local >= lower) & (local <= upper)).all(axis=1))
        random = np.random.default_rng(0)
        way = _ODD_DIRECTION
        for _ in range(_ODD_DIRECTIONS):
            if len(unsure) == 0:
                break
            ways = np.array([way, -way], np.float32)[:, None]
            counts = scene.count(local[unsure], ways)
            odd = counts & 1
            inside[unsure] = odd.all(axis=0)
            unsure = unsure[(odd[0] != odd[1]) & counts.all(axis=0)]  # what misses one way is outside
            way = random.normal(size=3)
        return inside

    def closest_triangles(self, points: ArrayLike) -> Ids:
        """The triangle that is closest to each point (n, 3): (n,), -1 where the mesh is empty or a point is not finite.
        Of equally close ones the lowest."""
        array = _rows("points", points)
        place = self._place()
        found = place.scene.closest_points(place.moved(array, np.float32))
        return _first(found["primitive"])

    def _hits(
        self, ray_origins: ArrayLike, ray_directions: ArrayLike, multiple_hits: bool, max_hits: int, located: bool
    ) -> tuple[Ids, Ids, Locations]:
        origins, directions = _rays(ray_origins, ray_directions)
        if max_hits < 1:  # none, as trimesh has it; to the library 0 is all
            origins, directions, max_hits = origins[:0], directions[:0], 0
        if multiple_hits:
            offsets, hits = self._cast("all", origins, directions, max_hits=max_hits)
            index = np.repeat(np.arange(len(origins)), (offsets[1:] - offsets[:-1]).astype(np.int64))
            triangles, t = hits["primitive"].astype(np.int64), hits["t"]
        else:
            hits = self._cast("nearest", origins, directions, edges="closed")
            index = np.flatnonzero(is_hit(hits))
            triangles, t = hits["primitive"][index].astype(np.int64), hits["t"][index]
        locations = np.empty((0, 3))
        if located:
            locations = self._locate(origins, directions, index, triangles, t)
        return triangles, index, locations

    def _cast(self, query: str, origins: Locations, directions: Locations, **options: Any) -> Any:
        """A cast in the scene's coordinates, in which t is as well. Of rays from afar t is float64, in lengths of their
        ways."""
        place = self._place()
        cast = getattr(place.scene, query)
        if not place.is_near(origins):
            return cast(place.moved(origins, np.float64), _ways(directions), double=True, **options)
        rays = np.empty((len(origins), 8), np.float32)
        given = origins.ctypes.data, directions.ctypes.data, len(rays), place.origin.ctypes.data, place.scale
        must(library.slab_rays_from_doubles(*given, rays.ctypes.data))
        return cast(rays, **options)

    def _locate(
        self, origins: Locations, directions: Locations, index: Ids, triangles: Ids, t: NDArray[Any]
    ) -> Locations:
        """Points on the planes of the triangles as the mesh has them, in float64; face_normals may be anything."""
        is_double = t.dtype == np.float64  # of rays from afar, whose directions were cast by their largest component
        directions = _ways(directions) if is_double else directions
        vertices = np.ascontiguousarray(self.mesh.vertices, np.float64)
        faces = np.ascontiguousarray(self.mesh.faces, np.uint32)
        hits = _structs.DoubleHits(
            origins.ctypes.data,
            directions.ctypes.data,
            self._place().scale,
            vertices.ctypes.data,
            faces.ctypes.data,
            index.ctypes.data,
            triangles.ctypes.data,
            None if is_double else t.ctypes.data,
            t.strides[0],
            t.ctypes.data if is_double else None,
        )
        locations = np.empty((len(t), 3))
        must(library.slab_points_from_doubles(byref(hits), len(t), locations.ctypes.data))
        return locations

    def _place(self) -> _Place:
        """The place of the mesh as it is now."""
        key = hash(self.mesh)
        if self._cached is None or self._cached[0] != key:
            self._cached = key, _place_of(self.mesh)
        return self._cached[1]

    # Scenes are laid out again where they come to.

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cached": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Of this class; and of embreex's, whose name is this one's after use()."""
        self.mesh, self._cached = state["mesh"], None

    def __copy__(self) -> RayMeshIntersector:
        return RayMeshIntersector(self.mesh)

    def __deepcopy__(self, memo: Any) -> RayMeshIntersector:
        return self.__copy__()


def _rows(name: str, value: ArrayLike) -> NDArray[np.float64]:
    array = np.ascontiguousarray(value, np.float64)
    if array.size == 0 and array.ndim < 2:
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] != 3:
        raise InvalidArgument(f"{name} has shape {array.shape}; what is taken is (n, 3)")
    return array


def _rays(ray_origins: ArrayLike, ray_directions: ArrayLike) -> tuple[Locations, Locations]:
    origins, directions = _rows("ray_origins", ray_origins), _rows("ray_directions", ray_directions)
    if origins.shape != directions.shape:
        raise InvalidArgument(f"ray_origins has shape {origins.shape} and ray_directions {directions.shape}")
    return origins, directions


def _first(primitives: NDArray[np.uint32]) -> Ids:
    """Triangles, where MISS and INVALID are -1 and -2 as int32: -1."""
    return np.maximum(primitives.view(np.int32), np.int32(-1)).astype(np.int64)


def _ways(directions: Locations) -> Locations:
    """Directions by their largest component, since the library's may not have any length."""
    with np.errstate(invalid="ignore"):
        return directions / np.abs(directions).max(axis=1, keepdims=True, initial=0.0)  # type: ignore[no-any-return]


def closest_point(mesh: Any, points: ArrayLike) -> tuple[Locations, NDArray[np.float64], Ids]:
    """As trimesh.proximity.closest_point: for each point (n, 3) the closest one of the mesh (n, 3), its distance (n,)
    and its triangle (n,). It is found in float32 about the mesh, and returned in float64. Where there is none, the
    point is NaN, the distance inf and the triangle -1."""
    from trimesh.triangles import closest_point as located_on

    given = _rows("points", points)
    rays = mesh.ray if isinstance(mesh.ray, RayMeshIntersector) else RayMeshIntersector(mesh)
    triangles = rays.closest_triangles(given)
    closest, distance = np.full(given.shape, np.nan), np.full(len(given), np.inf)
    found = np.flatnonzero(triangles >= 0)
    for begin in range(0, len(found), _LOCATED):
        some = found[begin : begin + _LOCATED]
        closest[some] = located_on(mesh.triangles[triangles[some]], given[some])
        distance[some] = np.linalg.norm(closest[some] - given[some], axis=1)
    return closest, distance, triangles


def use() -> None:
    """Makes this the ray interface of every trimesh, of those that exist and of those that are made from now on,
    instead of embreex's, which need not be installed. Meshes made from now on with use_embree=False keep trimesh's own;
    so do those made with it before, where embreex is installed. Where it is not, meshes that were pickled before keep
    trimesh's own.

    trimesh.proximity calls closest_point() of this module too: ProximityQuery.on_surface, signed_distance, thickness
    and max_tangent_sphere, without rtree."""
    import trimesh
    import trimesh.proximity

    if trimesh.ray.has_embree:
        former = trimesh.ray.ray_pyembree.RayMeshIntersector
        trimesh.ray.ray_pyembree.RayMeshIntersector = RayMeshIntersector
    else:
        former = trimesh.ray.ray_triangle.RayMeshIntersector
        trimesh.ray.ray_pyembree = sys.modules["trimesh.ray.ray_pyembree"] = sys.modules[__name__]
        trimesh.ray.has_embree = True
    trimesh.proximity.closest_point = closest_point
    if former is not RayMeshIntersector:
        _take_over(former)


def _take_over(former: Any) -> None:
    """Makes the intersectors that meshes have by now, and that others may hold as well, intersectors of this class.
    Only the collector of garbage knows them all."""
    each: Any
    for each in gc.get_objects():
        if type(each) is former and hasattr(each, "mesh"):
            mesh = each.mesh
            each.__dict__.clear()
            each.__class__ = RayMeshIntersector
            RayMeshIntersector.__init__(each, mesh)
