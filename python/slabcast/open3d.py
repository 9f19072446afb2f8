"""The interface of Open3D's RaycastingScene (0.19 and 0.20).

Where open3d is installed tensors go in and come out, as with Open3D's own; else arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._geometry import mesh_arrays
from ._library import InvalidArgument
from ._results import INVALID, MISS
from ._scene import Scene
from .rays import pinhole

try:
    from open3d.core import Tensor as _Tensor
except ImportError:
    _Tensor = None


class RaycastingScene:
    """A scene of triangle meshes.

    Meshes can be added at any time: the next cast lays the scene out again.

    Args:
        nthreads: most threads that build and cast; 0: as many as this process may use. Casts take nthreads too, as
            Open3D's do, and do not heed it.
        device: the processor, "CPU:0".
    """

    INVALID_ID = MISS

    def __init__(self, nthreads: int = 0, device: Any = None) -> None:
        if device is not None and not str(device).startswith("CPU"):
            raise InvalidArgument(f"device is {device}; what is taken is CPU:0")
        self._scene = Scene("cpu", threads=nthreads)
        self._corners: list[NDArray[Any]] = []  # of each mesh, (m, 3, 3), of its vertices' type

    def add_triangles(self, vertex_positions: Any = None, triangle_indices: Any = None, *, mesh: Any = None) -> int:
        """Adds a mesh, and returns its geometry id: (n, 3) float32 and (m, 3) uint32, or one
        TriangleMesh of open3d.t.geometry or, as Open3D's own does not take, of open3d.geometry."""
        if mesh is None and triangle_indices is None:
            mesh = vertex_positions
        if mesh is not None:
            vertices, indices = mesh_arrays(mesh)
            if vertices is mesh:
                raise InvalidArgument(f"mesh is a {type(mesh).__qualname__}; what is taken is a TriangleMesh")
        else:
            vertices = _require("vertex_positions", vertex_positions, np.float32, 3)
            indices = _require("triangle_indices", triangle_indices, np.uint32, 3)
        geometry = self._scene.add_mesh(vertices, indices)
        self._corners.append(_host(vertices)[_host(indices).astype(np.int64)].reshape(-1, 3, 3))
        return geometry

    def cast_rays(self, rays: Any, nthreads: int = 0) -> dict[str, Any]:
        """The first hit of each ray of (..., 6) float32, origin and direction. `t_hit` is (...) float32, in lengths of
        the direction, inf on a miss. `geometry_ids` and `primitive_ids` are (...) uint32, INVALID_ID on a miss.
        `primitive_uvs` is (..., 2) and `primitive_normals` (..., 3) float32."""
        hits = self._cast().closest(_rays(rays), edges="closed")
        uvs = np.empty((*hits.shape, 2), np.float32)
        uvs[..., 0], uvs[..., 1] = hits["u"], hits["v"]
        return {
            "t_hit": _out(hits["t"]),
            "geometry_ids": _out(_ids(hits["geometry"])),
            "primitive_ids": _out(_ids(hits["primitive"])),
            "primitive_uvs": _out(uvs),
            "primitive_normals": _out(hits["normal"]),
        }

    def test_occlusions(self, rays: Any, tnear: float = 0.0, tfar: float = np.inf, nthreads: int = 0) -> Any:
        """Whether each ray of (..., 6) hits anything from tnear to tfar, in lengths of its direction: (...) bool."""
        return _out(self._cast().any(_rays(rays, tnear, tfar), edges="closed"))

    def count_intersections(self, rays: Any, nthreads: int = 0) -> Any:
        """How many triangles each ray of (..., 6) crosses: (...) int32. Crossings of closed meshes count once each,
        through edges and vertices too."""
        return _out(self._cast().count(_rays(rays)).view(np.int32))

    def list_intersections(self, rays: Any, nthreads: int = 0) -> dict[str, Any]:
        """Every hit of rays of (..., 6), one ray's after the other's and sorted along it. `ray_splits` (rays + 1)
        and `ray_ids` (m) are uint32, and `t_hit` (m) is float32. `geometry_ids` and `primitive_ids` (m) are uint32, and
        `primitive_uvs` (m, 2) is float32."""
        offsets, hits = self._cast().all(_rays(rays))
        uvs = np.stack([hits["u"], hits["v"]], axis=-1)
        splits = offsets.astype(np.uint32)
        ids = np.repeat(np.arange(len(splits) - 1, dtype=np.uint32), np.diff(splits))
        return {
            "ray_splits": _out(splits),
            "ray_ids": _out(ids),
            "t_hit": _out(hits["t"]),
            "geometry_ids": _out(hits["geometry"]),
            "primitive_ids": _out(hits["primitive"]),
            "primitive_uvs": _out(uvs),
        }

    def compute_closest_points(self, query_points: Any, nthreads: int = 0) -> dict[str, Any]:
        """The closest point of the meshes to each of (..., 3) float32: points (..., 3) float32; geometry_ids and
        primitive_ids (...) uint32, INVALID_ID where there is no mesh; primitive_uvs (..., 2) and primitive_normals
        (..., 3) float32."""
        found = self._cast().closest_points(_require("query_points", query_points, np.float32, 3))
        uvs = np.empty((*found.shape, 2), np.float32)
        uvs[..., 0], uvs[..., 1] = found["u"], found["v"]
        return {
            "points": _out(found["point"]),
            "geometry_ids": _out(_ids(found["geometry"])),
            "primitive_ids": _out(_ids(found["primitive"])),
            "primitive_uvs": _out(uvs),
            "primitive_normals": _out(self._normals(found)),
        }

    def compute_distance(self, query_points: Any, nthreads: int = 0) -> Any:
        """How far the meshes are from each point of (..., 3): (...) float32, inf where there is none."""
        return _out(self._cast().closest_distance(_require("query_points", query_points, np.float32, 3)))

    def compute_signed_distance(self, query_points: Any, nthreads: int = 0, nsamples: int = 1) -> Any:
        """The same, below 0 inside of the meshes, as compute_occupancy has it."""
        _require_odd(nsamples)
        return _out(self._cast().signed_distance(_require("query_points", query_points, np.float32, 3)))

    def _normals(self, found: Any) -> NDArray[np.float32]:
        """Of the triangles that were found, at unit length; 0 where there is none."""
        normals = np.zeros((*found.shape, 3), np.float32)
        for geometry, corners in enumerate(self._corners):
            where = found["geometry"] == geometry
            a, b, c = np.moveaxis(corners[found["primitive"][where]].astype(np.float64), 1, 0)
            across = np.cross(b - a, c - a)
            length = np.linalg.norm(across, axis=-1, keepdims=True)
            normals[where] = np.divide(across, length, out=np.zeros_like(across), where=length > 0)
        return normals

    def compute_occupancy(self, query_points: Any, nthreads: int = 0, nsamples: int = 1) -> Any:
        """1 for each point of (..., 3) float32 inside any of the meshes, overlapping or not, else 0: (...) float32. The
        winding number decides, exactly where each mesh is closed and its faces face one way. So nsamples, an odd
        number, changes nothing."""
        _require_odd(nsamples)
        points = _require("query_points", query_points, np.float32, 3)
        return _out((self._cast().winding(points) != 0).astype(np.float32))

    @staticmethod
    def create_rays_pinhole(*arguments: Any, **named: Any) -> Any:
        """Rays of a pinhole camera through the centres of its pixels: (height_px, width_px, 6) float32.

        (intrinsic_matrix (3, 3), extrinsic_matrix (4, 4) from world to camera, width_px, height_px), or (fov_deg, the
        horizontal field of view, center, eye, up, width_px, height_px)."""
        if len(arguments) + len(named) == 4:
            return _out(_pinhole(*arguments, **named))
        return _out(_look_at(*arguments, **named))

    def _cast(self) -> Scene:
        self._scene.commit()  # which is nothing where no mesh was added
        return self._scene


def _host(value: Any) -> NDArray[Any]:
    """A tensor or anything else as an array."""
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def _require(name: str, value: Any, dtype: Any, columns: int) -> NDArray[Any]:
    """An array of (..., columns) and exactly this dtype, as Open3D requires."""
    array = _host(value)
    if array.dtype != dtype:
        raise InvalidArgument(f"{name} has dtype {array.dtype}; what is taken is {np.dtype(dtype)}")
    if array.ndim < 2 or array.shape[-1] != columns:
        raise InvalidArgument(f"{name} has shape {array.shape}; what is taken is (..., {columns})")
    return array


def _rays(value: Any, t_min: float = 0.0, t_max: float = np.inf) -> NDArray[np.float32]:
    given = _require("rays", value, np.float32, 6)
    rays = np.empty((*given.shape[:-1], 8), np.float32)
    rays[..., 0:3], rays[..., 3], rays[..., 4:7], rays[..., 7] = given[..., :3], t_min, given[..., 3:], t_max
    return rays


def _ids(ids: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Invalid rays hit nothing here."""
    return np.where(ids == INVALID, np.uint32(MISS), ids)


def _out(array: NDArray[Any]) -> Any:
    array = np.ascontiguousarray(array)
    return array if _Tensor is None else _Tensor.from_numpy(array)


def _require_odd(nsamples: int) -> None:
    if nsamples < 1 or nsamples % 2 == 0:
        raise InvalidArgument(f"nsamples is {nsamples}; what is taken are odd numbers")


def _pinhole(intrinsic_matrix: Any, extrinsic_matrix: Any, width_px: int, height_px: int) -> NDArray[np.float32]:
    intrinsic, extrinsic = (np.asarray(_host(m), np.float64) for m in (intrinsic_matrix, extrinsic_matrix))
    for name, matrix, shape in (("intrinsic", intrinsic, (3, 3)), ("extrinsic", extrinsic, (4, 4))):
        if matrix.shape != shape:
            raise InvalidArgument(f"{name}_matrix has shape {matrix.shape}; what is taken is {shape}")
    return pinhole(intrinsic, (width_px, height_px), extrinsics=extrinsic)[..., [0, 1, 2, 4, 5, 6]]


def _look_at(fov_deg: float, center: Any, eye: Any, up: Any, width_px: int, height_px: int) -> NDArray[np.float32]:
    target, origin, upward = (np.asarray(_host(v), np.float64).reshape(3) for v in (center, eye, up))
    forward = (target - origin) / np.linalg.norm(target - origin)
    right = np.cross(upward, forward)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(forward, right), forward])
    extrinsic = np.eye(4)
    extrinsic[:3, :3], extrinsic[:3, 3] = axes, -axes @ origin
    focal = 0.5 * width_px / np.tan(np.radians(fov_deg) / 2)
    return _pinhole([[focal, 0, width_px / 2], [0, focal, height_px / 2], [0, 0, 1]], extrinsic, width_px, height_px)
