"""Geometry as its users have it, as the rows that the library takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import Space, are_far, double_array, float_array, is_wide, joined, range_of, rounded, shaped
from ._library import InvalidArgument
from ._options import Array
from ._values import host_array


def box_rows(lower: Array, upper: Array, space: Space) -> NDArray[Any]:
    """Boxes of (..., 6). Corners of (..., 2) make rectangles, which no z bounds."""
    corners = [host_array("lower", lower), host_array("upper", upper)]
    if not all(corner.shape[-1:] == (2,) for corner in corners):
        return joined(("lower", lower, 3), ("upper", upper, 3), space=space)
    return joined(("lower", lower, 2), ("z", -np.inf, 0), ("upper", upper, 2), ("z", np.inf, 0), space=space)


def sphere_rows(centers: Array, radii: Array, space: Space) -> NDArray[Any]:
    return joined(("centers", centers, 3), ("radii", radii, 0), space=space)


def plane_rows(normals: Array, offsets: Array, space: Space) -> NDArray[Any]:
    """An offset is a coordinate, and keeps its digits also where it is a plain number."""
    far = np.float64(offsets) if type(offsets) is float else offsets
    return joined(("normals", normals, 3), ("offsets", far, 0), space=space)


def obb_rows(
    centers: Array, half_sizes: Array, axes: Array, rotation: Array, poses: Array, space: Space
) -> NDArray[Any]:
    """Oriented boxes of (..., 15), whose axes are given in one of three ways."""
    given = [name for name, value in (("axes", axes), ("rotation", rotation), ("poses", poses)) if value is not None]
    if len(given) != 1:
        told = " and ".join(given) or "none"
        raise InvalidArgument(f"oriented boxes take one of axes, rotation and poses; {told} of them was given")
    if half_sizes is None or (centers is None) != (poses is not None):
        raise InvalidArgument("oriented boxes take centers, unless poses have them, and half_sizes")
    if poses is not None:
        matrices = _transforms("poses", poses)
        centers, frames = matrices[..., 3], matrices[..., :3].swapaxes(-1, -2)
    elif rotation is not None:
        frames = _frames("rotation", rotation).swapaxes(-1, -2)
    else:
        frames = _frames("axes", axes)
    flat = frames.reshape(*frames.shape[:-2], 9)
    place = "centers" if poses is None else "poses"
    return joined((place, centers, 3), ("half_sizes", half_sizes, 3), (given[0], flat, 9), space=space)


def _frames(name: str, value: Array) -> NDArray[Any]:
    array = host_array(name, value)
    shaped(name, array, 3, 3)
    return array


def transform_rows(transforms: Array, name: str = "transforms") -> NDArray[np.float32]:
    """(..., 3, 4) of float32."""
    return float_array(name, _transforms(name, transforms))


def place_rows(transforms: Array, space: Space, extent: float, is_model_far: bool) -> NDArray[Any]:
    """Transforms of instances, (..., 3, 4) of float32, or of float64 where the scene takes it so. `extent`: that of
    their models. `is_model_far`: a model has an origin of its own, which float32 does not move without loss."""
    array = _transforms("transforms", transforms)
    if is_model_far or (space.in_double and is_wide(array)):
        return double_array("transforms", array)
    if space.in_double is None and is_wide(array):
        _, moved = rounded("transforms", array[..., 3])
        if moved and are_far(range_of(array[..., 3]), extent=extent):
            return double_array("transforms", array)
    return float_array("transforms", array)


def _transforms(name: str, transforms: Array) -> NDArray[Any]:
    """(..., 3, 4): without the last row of (4, 4), which must be 0, 0, 0, 1."""
    array = host_array(name, transforms)
    if array.ndim >= 2 and array.shape[-2:] == (4, 4):
        wrong = np.argwhere(np.any(array[..., 3, :] != [0, 0, 0, 1], axis=-1).reshape(-1))
        if wrong.size:
            at = int(wrong[0, 0])
            row = array.reshape(-1, 4, 4)[at, 3].tolist()
            raise InvalidArgument(f"{name}: the last row of transform {at} is {row}, not [0, 0, 0, 1]")
        array = array[..., :3, :]
    shaped(name, array, 3, 4)
    return array


def mesh_arrays(mesh: Any) -> tuple[Array, Array]:
    """Vertices and indices of a mesh of trimesh, Open3D or PyVista, which need not be installed: they are known by
    their attributes. Anything else is vertices."""
    if isinstance(mesh, np.ndarray) or hasattr(mesh, "__dlpack__"):
        return mesh, None
    if hasattr(mesh, "graph") and hasattr(mesh, "to_mesh"):  # a scene of trimesh's, as files of many parts become
        mesh = mesh.to_mesh()
    for has, of in _KINDS:
        if all(hasattr(mesh, name) for name in has):
            return of(mesh)
    return mesh, None


def _of_tensors(mesh: Any) -> tuple[Array, Array]:
    """An empty mesh lacks both."""
    empty = np.empty((0, 3), np.uint32)
    vertices = mesh.vertex["positions"] if "positions" in mesh.vertex else empty
    return vertices, mesh.triangle["indices"] if "indices" in mesh.triangle else empty


def _of_polygons(mesh: Any) -> tuple[Array, Array]:
    """PyVista's faces are in one row, each after the number of its corners."""
    row = np.asarray(mesh.faces)
    faces = row.reshape(-1, 4) if len(row) % 4 == 0 else row[:0].reshape(0, 4)
    if len(row) != faces.size or (faces[:, 0] != 3).any():
        at, begin = 0, 0
        while row[begin] == 3:
            at, begin = at + 1, begin + 4
        raise InvalidArgument(
            f"mesh: face {at} has {row[begin]} corners; what is taken are triangles: mesh.triangulate()"
        )
    return mesh.points, faces[:, 1:]


# The attributes that a class of meshes has and others have not, and what it holds: trimesh's; Open3D's, which have the
# arrays as such or as tensors; PyVista's.
_KINDS = (
    (("vertices", "faces"), lambda mesh: (np.asarray(mesh.vertices), np.asarray(mesh.faces))),
    (("vertices", "triangles"), lambda mesh: (np.asarray(mesh.vertices), np.asarray(mesh.triangles))),
    (("vertex", "triangle"), _of_tensors),
    (("points", "faces"), _of_polygons),
)
