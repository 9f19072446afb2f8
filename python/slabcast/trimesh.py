"""The interfaces of trimesh's meshes for rays and for closest points: RayMeshIntersector, closest_point, and use() to
make them trimesh's own."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from ctypes import byref
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _structs
from ._library import InvalidArgument, library, must
from ._results import is_hit
from ._scene import Scene

Ids = NDArray[np.int64]
Locations = NDArray[np.float64]

# Points that are moved to a scene's coordinates at once: what the caches hold.
_BLOCK = 1 << 13
# Triangles that points are put on at once: some numbers of each point are float64.
_LOCATED = 1 << 16
# Of no axis or diagonal, for meshes that are not closed.
_ODD_DIRECTION = np.array([0.4371, 0.6128, 0.6584])
_ODD_DIRECTIONS = 8


class RayMeshIntersector:
    """Casts rays at a mesh of trimesh's, and follows its changes.

    Args:
        geometry: a trimesh.Trimesh.
        scale_to_box: casts in coordinates in which the mesh is about a hundred units large; by a power of two, which
            changes no digit. The mesh is moved to the origin in float64 either way.

    Origins and directions are (n, 3) and of any float; directions of any length. Of several hits in a row each counts
    once, also through edges and vertices of closed meshes. The first hit and intersects_any also see edges and vertices
    that a ray only touches.
    """

    def __init__(self, geometry: Any, scale_to_box: bool = True) -> None:
        self.mesh = geometry
        self._scale_to_box = scale_to_box
        self._cached: Optional[tuple[int, Scene, NDArray[np.float64], float]] = None

    def intersects_location(
        self, ray_origins: ArrayLike, ray_directions: ArrayLike, multiple_hits: bool = True, max_hits: int = 100
    ) -> tuple[Locations, Ids, Ids]:
        """Where rays hit the mesh: locations (m, 3) float64 on the triangles' planes, and for each the index of its ray
        (m,) and of its triangle (m,), sorted by the ray and along it."""
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
        """Which triangles rays hit: their indices (m,) and those of their rays (m,), sorted by the ray and along it;
        with return_locations also the locations (m, 3). multiple_hits: all hits, at most max_hits of a ray; else the
        first. With a max_hits below 1 none."""
        triangles, rays, locations = self._hits(ray_origins, ray_directions, multiple_hits, max_hits, return_locations)
        return (triangles, rays, locations) if return_locations else (triangles, rays)

    def intersects_first(self, ray_origins: ArrayLike, ray_directions: ArrayLike) -> Ids:
        """The index of the first triangle of each ray (n,), -1 where it hits none."""
        scene, _, rays = self._rays(ray_origins, ray_directions)
        first = scene.nearest(rays, edges="closed")["primitive"].view(np.int32).astype(np.int64)
        return np.maximum(first, -1, out=first)  # MISS and INVALID are -1 and -2

    def intersects_any(self, ray_origins: ArrayLike, ray_directions: ArrayLike) -> NDArray[np.bool_]:
        """Whether each ray hits the mesh: (n,) bool."""
        scene, _, rays = self._rays(ray_origins, ray_directions)
        return scene.any(rays, edges="closed")

    def contains_points(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Whether each point (n, 3) lies inside: (n,) bool. Exact for a closed mesh, whose parts may overlap where all
        faces face outward; where faces do not agree it is parity. For others: whether rays both ways cross it an odd
        number of times, in the first of a few directions in which the two agree."""
        array = _rows("points", points)
        scene, origin, scale = self._scene()
        local = _local(array, origin, scale)
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
        scene, origin, scale = self._scene()
        found = scene.closest_points(_local(_rows("points", points), origin, scale))
        return np.maximum(found["primitive"].view(np.int32).astype(np.int64), -1)

    def _hits(
        self, ray_origins: ArrayLike, ray_directions: ArrayLike, multiple_hits: bool, max_hits: int, located: bool
    ) -> tuple[Ids, Ids, Locations]:
        scene, scale, rays = self._rays(ray_origins, ray_directions)
        if max_hits < 1:  # none, as trimesh has it; to the library 0 is all
            rays, max_hits = rays[:0], 0
        hits: Any
        if multiple_hits:
            offsets, hits = scene.all(rays, max_hits=max_hits)
            index = np.repeat(np.arange(len(rays)), (offsets[1:] - offsets[:-1]).astype(np.int64))
            triangles, t = hits["primitive"].astype(np.int64), hits["t"]
        else:
            first = scene.nearest(rays, edges="closed")
            index = np.flatnonzero(is_hit(first))
            triangles, t = first["primitive"][index].astype(np.int64), first["t"][index]
        locations = np.empty((len(t) if located else 0, 3))
        if located:
            self._locate(ray_origins, ray_directions, scale, index, triangles, t, locations)
        return triangles, index, locations

    def _locate(
        self,
        ray_origins: ArrayLike,
        ray_directions: ArrayLike,
        scale: float,
        index: Ids,
        triangles: Ids,
        t: NDArray[np.float32],
        locations: Locations,
    ) -> None:
        """Points on the planes of the triangles as the mesh has them, in float64; face_normals may be anything."""
        origins, directions = _rows("ray_origins", ray_origins), _rows("ray_directions", ray_directions)
        vertices = np.ascontiguousarray(self.mesh.vertices, np.float64)
        faces = np.ascontiguousarray(self.mesh.faces, np.uint32)
        hits = _structs.DoubleHits(
            origins.ctypes.data,
            directions.ctypes.data,
            scale,
            vertices.ctypes.data,
            faces.ctypes.data,
            index.ctypes.data,
            triangles.ctypes.data,
            t.ctypes.data,
            t.strides[0],
        )
        must(library.slab_points_from_doubles(byref(hits), len(t), locations.ctypes.data))

    def _scene(self) -> tuple[Scene, NDArray[np.float64], float]:
        """The scene of the mesh as it is, its origin and the scale."""
        key = hash(self.mesh)
        if self._cached is None or self._cached[0] != key:
            vertices, faces = np.asarray(self.mesh.vertices, np.float64), np.asarray(self.mesh.faces)
            scale = 2.0 ** np.round(np.log2(100.0 / self.mesh.scale)) if self._scale_to_box else 1.0
            used = vertices[np.unique(faces)]
            used = used[np.isfinite(used).all(axis=1)]  # triangles that have another corner are left out
            origin = used.min(axis=0) if len(used) else np.zeros(3)
            scene = Scene("cpu")
            scene.add_mesh(_local(vertices, origin, scale), faces.reshape(-1, 3), skip_invalid=True)
            scene.commit()
            self._cached = key, scene, origin, scale
        return self._cached[1:]

    def _rays(self, ray_origins: ArrayLike, ray_directions: ArrayLike) -> tuple[Scene, float, NDArray[np.float32]]:
        """The scene, its scale, and rays in its coordinates. t is `scale` times that of the rays as given."""
        origins, directions = _rows("ray_origins", ray_origins), _rows("ray_directions", ray_directions)
        if origins.shape != directions.shape:
            raise InvalidArgument(f"ray_origins has shape {origins.shape} and ray_directions {directions.shape}")
        scene, origin, scale = self._scene()
        rays = np.empty((len(origins), 8), np.float32)
        given = origins.ctypes.data, directions.ctypes.data, len(rays)
        must(library.slab_rays_from_doubles(*given, origin.ctypes.data, scale, rays.ctypes.data))
        return scene, scale, rays

    # Scenes are laid out again where they come to.

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cached": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Of this class; and of embreex's, whose name is this one's after use()."""
        self.mesh, self._scale_to_box, self._cached = state["mesh"], state.get("_scale_to_box", True), None

    def __copy__(self) -> RayMeshIntersector:
        return RayMeshIntersector(self.mesh, self._scale_to_box)

    def __deepcopy__(self, memo: Any) -> RayMeshIntersector:
        return self.__copy__()


def _rows(name: str, value: ArrayLike) -> NDArray[np.float64]:
    array = np.ascontiguousarray(value, np.float64)
    if array.size == 0 and array.ndim < 2:
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] != 3:
        raise InvalidArgument(f"{name} has shape {array.shape}; what is taken is (n, 3)")
    return array


def _moved(
    points: NDArray[np.float64], origin: NDArray[np.float64], scale: float
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """(points - origin) * scale, in blocks that the caches hold, of whole arrays: NumPy is slow on rows of three."""
    shift = np.tile(origin, (min(len(points), _BLOCK), 1))
    for begin in range(0, len(points), _BLOCK):
        rows = slice(begin, begin + _BLOCK)
        moved = points[rows] - shift[: len(points) - begin]
        moved *= scale
        yield rows, moved


def _local(points: NDArray[np.float64], origin: NDArray[np.float64], scale: float) -> NDArray[np.float32]:
    """Points in a scene's coordinates, rounded once. What is beyond float32 becomes inf."""
    out = np.empty(points.shape, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for rows, moved in _moved(points, origin, scale):
            out[rows] = moved
    return out


def closest_point(mesh: Any, points: ArrayLike) -> tuple[Locations, NDArray[np.float64], Ids]:
    """As trimesh.proximity.closest_point: of each point (n, 3) the closest one of the mesh (n, 3), its distance (n,)
    and its triangle (n,), which is found in float32 about the mesh and told in float64. Where there is none, the point
    is NaN, the distance inf and the triangle -1."""
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
    instead of embreex's, which need not be installed. Meshes made from now on that ask for use_embree=False keep
    trimesh's own; so do those that asked for it before, where embreex is installed. Where it is not, what was pickled
    before keeps trimesh's own.

    trimesh.proximity asks closest_point() of this module too: ProximityQuery.on_surface, signed_distance, thickness
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
            scale_to_box = getattr(each, "_scale_to_box", True)
            mesh = each.mesh
            each.__dict__.clear()
            each.__class__ = RayMeshIntersector
            RayMeshIntersector.__init__(each, mesh, scale_to_box)
