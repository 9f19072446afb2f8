"""Sets of rays: slab_rays, its tables, and the parts of one."""

from __future__ import annotations

import math
from ctypes import addressof, byref
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _cameras, _structs
from ._arrays import double_array, float_array, shaped
from ._cameras import Size, pixels_of
from ._device import open_context
from ._geometry import transform_rows
from ._library import InvalidArgument, library, must
from ._options import Array
from ._rays import no_space
from ._values import FLOAT, at, host_array

if TYPE_CHECKING:
    from ._scene import Scene

Shape = tuple[int, ...]

KINDS = ("pinhole", "orthographic", "fisheye", "beams", "directions", "pairs")
_MOST_PIXELS = 1 << 24  # of a side
_MOST_ROWS, _MOST_COLUMNS = (1 << 32) - 1, 1 << 31
_UNIT = 1e-3  # by which the length of a normal may differ from 1


class RaySet:
    """Rays that a formula makes: those of a camera, a sensor's beams from each of its poses, from points into
    directions, from points to points. Every cast takes such a set in place of rays, and the answers have the bits of a
    cast of array(). But no array is stored, and none goes over a bus.

    A set comes from look_at(), overview(), pinhole(), orthographic(), fisheye(), beams(), directions() or pairs();
    slabcast.tables makes tables for them. Rays begin at t_min = 0 and have no end, but those of pairs end at t_max = 1;
    with_range() gives others. The rays are in rows: of a camera the rows of its image, else a row for each pose or
    point. Results have the set's shape.

    Sets do not change. Tables that are float32 in C order are read where they lie, by each cast: they may be changed
    between casts. Tables on a card, of torch, CuPy and others, are copied to the host once.

    len(rays) is the length of the first axis, and rays[begin:end] is the set of some of it: for results that memory
    does not hold all at once. numpy.asarray(rays) is rays.array(). A set can be pickled and copied.
    """

    __slots__ = ("_native", "_tables", "_row_shape", "_column_shape", "_begin")
    _native: _structs.Rays
    _tables: tuple[Any, ...]  # which the struct points to: of rows, normals, of columns
    _row_shape: Shape
    _column_shape: Shape
    _begin: int  # the first ray of the struct's that is the set's

    def __init__(self) -> None:
        raise TypeError(f"a RaySet is made by RaySet.look_at, overview, {', '.join(KINDS)}")

    # ---- cameras ----

    @classmethod
    def look_at(
        cls, eye: Array, target: Array, up: Array = (0, 1, 0), fov: float = 40.0, size: Size = (640, 480)
    ) -> RaySet:
        """A camera that looks from eye to target: (height, width). The rays are those of slabcast.rays.look_at().

        Args:
            eye: (3,).
            target: (3,).
            up: (3,), what is up in the image.
            fov: the vertical field of view in degrees, above 0 and below 180.
            size: width and height in pixels, each at most 2^24.
        """
        return cls._of_camera(library.slab_rays_pinhole, _cameras.look_at(eye, target, up, fov, size), size)

    @classmethod
    def overview(cls, scene: Scene, up: Array = (0, 1, 0), fov: float = 40.0, size: Size = (640, 480)) -> RaySet:
        """A camera that sees a whole scene: (height, width). The rays are those of slabcast.rays.overview().

        Args:
            scene: it is committed; primitives without bounds, such as planes, do not count.
            up: (3,), what is up in the image.
            fov: the vertical field of view in degrees, above 0 and below 180.
            size: width and height in pixels, each at most 2^24.
        """
        return cls._of_camera(library.slab_rays_pinhole, _cameras.overview(scene, up, fov, size), size)

    @classmethod
    def pinhole(
        cls, intrinsics: Array, size: Size = (640, 480), *, pose: Array = None, extrinsics: Array = None
    ) -> RaySet:
        """A calibrated camera, x to the right, y down and z ahead: (height, width). t of a hit is its depth. The rays
        are those of slabcast.rays.pinhole() but for rounding: these here are computed in float32.

        Args:
            intrinsics: (3, 3), the matrix K of focal lengths and principal point. Pixel (x, y) has its centre at
                (x + 0.5, y + 0.5).
            size: width and height in pixels, each at most 2^24.
            pose: (4, 4) from the camera's coordinates to the scene's; None: the two are the same.
            extrinsics: (4, 4) from the scene's coordinates to the camera's, instead of pose.
        """
        width, height = pixels_of(size)
        origin, from_pixels = _cameras.calibrated(intrinsics, pose, extrinsics)
        across, along = 0.5 * width * from_pixels[:, 0], -0.5 * height * from_pixels[:, 1]
        camera = _cameras.camera_of(origin, across - along + from_pixels[:, 2], across, along)
        return cls._of_camera(library.slab_rays_pinhole, camera, size)

    @classmethod
    def orthographic(
        cls, eye: Array, target: Array, up: Array = (0, 1, 0), height: float = 1.0, size: Size = (640, 480)
    ) -> RaySet:
        """Parallel rays, through the centres of the pixels of an image: (height, width) in pixels. They begin in the
        image's plane, and their directions have length 1.

        Args:
            eye: (3,), the centre of the image.
            target: (3,), towards which the rays lead.
            up: (3,), what is up in the image.
            height: how high the image is, in the scene's units.
            size: width and height in pixels, each at most 2^24.
        """
        (columns, rows), high = pixels_of(size), _number("height", height)
        if not 0 < high < np.inf:
            raise InvalidArgument(f"height is {height}; what is taken is above 0")
        camera = _cameras.along_axes(eye, target, up, 0.5 * high * columns / rows, 0.5 * high)
        return cls._of_camera(library.slab_rays_orthographic, camera, size)

    @classmethod
    def fisheye(
        cls, eye: Array, target: Array, up: Array = (0, 1, 0), fov: float = 180.0, size: Size = (640, 480)
    ) -> RaySet:
        """An equidistant fisheye lens: (height, width). The angle from the view is proportional to the distance from
        the image's centre. Pixels outside of its circle, which touches the shorter sides, hit nothing. Directions have
        length 1 but for 5e-6, up to 180 degrees 1e-7.

        Args:
            eye: (3,).
            target: (3,).
            up: (3,), what is up in the image.
            fov: the whole angle of the circle in degrees, above 0 and at most 360.
            size: width and height in pixels, each at most 2^24.
        """
        angle = _number("fov", fov)
        if not 0 < angle <= 360:
            raise InvalidArgument(f"fov is {fov}; what is taken is above 0 and up to 360 degrees")
        return cls._of_camera(library.slab_rays_fisheye, _cameras.along_axes(eye, target, up, 1, 1), size, angle)

    # ---- tables ----

    @classmethod
    def beams(cls, poses: Array, beams: Array) -> RaySet:
        """A sensor's beams from each of its poses: shape (poses..., beams...). Spinning sensors have a pose for each
        firing: tables.spun_poses() makes them.

        Args:
            poses: (..., 3, 4) or (..., 4, 4) affine maps from the sensor's space to the scene's.
            beams: (..., 6), origin and direction in the sensor's space: tables.beams() makes them of angles.
        """
        frames, table = transform_rows(poses, "poses"), _table("beams", beams, 6)
        make = library.slab_rays_beams
        return cls._of_tables(make, (frames, None, table), frames.shape[:-2], table.shape[:-1])

    @classmethod
    def directions(cls, points: Array, directions: Array, normals: Array = None) -> RaySet:
        """From each point into each direction, as for skies and suns: shape (points..., directions...).

        Args:
            points: (..., 3).
            directions: (..., 3), of any length but 0: tables.hemisphere(), tables.sky_patches() and
                tables.sun_directions() make some.
            normals: (..., 3), unit vectors that are broadcast to the points: directions are then in the frame of
                their point's normal, z along it. None: they are the scene's.
        """
        starts, table = _table("points", points, 3), _table("directions", directions, 3)
        upward = None if normals is None else _normals_of(normals, starts.shape)
        make = library.slab_rays_directions
        return cls._of_tables(make, (starts, upward, table), starts.shape[:-1], table.shape[:-1])

    @classmethod
    def pairs(cls, origins: Array, targets: Array) -> RaySet:
        """The segment from each origin to each target: shape (origins..., targets...). t is the fraction of the way.

        Args:
            origins: (..., 3).
            targets: (..., 3). Where a target is its origin, the ray is an invalid one.
        """
        starts, ends = _table("origins", origins, 3), _table("targets", targets, 3)
        return cls._of_tables(library.slab_rays_pairs, (starts, None, ends), starts.shape[:-1], ends.shape[:-1])

    # ---- what it is ----

    @property
    def shape(self) -> Shape:
        """How many rays there are: the shape of results."""
        return (*self._row_shape, *self._column_shape)

    @property
    def row_shape(self) -> Shape:
        """The part of the shape that rows have: the shape of sums."""
        return self._row_shape

    @property
    def column_shape(self) -> Shape:
        """The part of the shape that is within a row: the shape of weights."""
        return self._column_shape

    @property
    def size(self) -> int:
        """The number of rays."""
        return math.prod(self.shape)

    @property
    def t_min(self) -> float:
        """Where every ray begins, in lengths of its direction."""
        return float(self._native.t_min)

    @property
    def t_max(self) -> float:
        """Where every ray ends, in lengths of its direction."""
        return float(self._native.t_max)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a set of one ray has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<slabcast.RaySet, {KINDS[self._native.kind]}, {self.shape}>"

    # ---- others of it ----

    def with_range(self, t_min: float = 0.0, t_max: float = math.inf) -> RaySet:
        """The same rays with another range, in lengths of the direction.

        Args:
            t_min: where every ray begins; it may be -inf.
            t_max: where it ends; it may be inf.
        """
        native = type(self._native).from_buffer_copy(self._native)
        native.t_min, native.t_max = (_number(*each) for each in (("t_min", t_min), ("t_max", t_max)))
        return self._made(native, self._tables, self._row_shape, self._column_shape, self._begin)

    def moved(self, offset: Array) -> RaySet:
        """The same rays, moved. The set's own numbers are float32. So make a camera or a sensor far from zero at
        (0, 0, 0), and give its place as the offset: it keeps its digits.

        Args:
            offset: (3,) in float64. It is added to that of the set.
        """
        array = double_array("offset", host_array("offset", offset))
        if array.shape != (3,) or not np.isfinite(array).all():
            raise InvalidArgument(f"offset is {array.tolist()}; what is taken are three finite numbers")
        native = type(self._native).from_buffer_copy(self._native)
        for k in range(3):
            native.offset[k] += array[k]
        return self._made(native, self._tables, self._row_shape, self._column_shape, self._begin)

    def __getitem__(self, rows: slice) -> RaySet:
        """Some rows, or the rows of a part of the first axis."""
        if not isinstance(rows, slice) or not self._row_shape:
            raise TypeError(f"a RaySet of rows {self._row_shape} takes slices of their first axis, not {rows!r}")
        begin, end, step = rows.indices(self._row_shape[0])
        if step != 1:
            raise InvalidArgument(f"rays[{begin}:{end}:{step}]; what is taken are slices without a step")
        each = math.prod(self.shape[1:])
        shape = (max(end - begin, 0), *self._row_shape[1:])
        return self._made(self._native, self._tables, shape, self._column_shape, self._begin + begin * each)

    # ---- the rays ----

    def array(self, scene: Optional[Scene] = None) -> NDArray[np.float32]:
        """The rays as an array, (..., 8) float32.

        Args:
            scene: its first device makes them; None: the processor does. The bits are the same.
        """
        try:
            rays = np.empty((*self.shape, 8), FLOAT)
        except (MemoryError, ValueError):
            raise no_space("the array", self.size) from None
        if scene is not None:
            scene._open()
        context = open_context("cpu", 0, "auto", "default") if scene is None else scene._context
        if self.size:
            to = self._begin, self.size, rays.ctypes.data
            must(library.slab_rays_write(context.pointer, byref(self._native), *to))
        return rays

    def __array__(self, dtype: Optional[DTypeLike] = None, copy: Optional[bool] = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a RaySet has no array that could be given without a copy")
        return self.array().astype(FLOAT if dtype is None else dtype, copy=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (bytes(self._native), self._tables, self._row_shape, self._column_shape, self._begin)

    # ---- how it is made ----

    @classmethod
    def _made(cls, native: Any, tables: tuple[Any, ...], rows: Shape, columns: Shape, begin: int = 0) -> RaySet:
        made = object.__new__(cls)
        made._native, made._tables, made._begin = native, tables, begin
        made._row_shape, made._column_shape = rows, columns
        return made

    @classmethod
    def _of_camera(cls, make: Any, camera: _structs.Camera, size: Size, *angle: float) -> RaySet:
        width, height = pixels_of(size)
        if max(width, height) > _MOST_PIXELS:
            raise InvalidArgument(f"size is {size!r}; what is taken is up to 2^24 pixels either way")
        return cls._made(make(byref(camera), width, height, *angle), (), (height,), (width,))

    @classmethod
    def _of_tables(cls, make: Any, tables: tuple[Any, ...], rows: Shape, columns: Shape) -> RaySet:
        counts = math.prod(rows), math.prod(columns)
        for name, count, most in zip(("rows", "columns"), counts, (_MOST_ROWS, _MOST_COLUMNS)):
            if count > most:
                raise InvalidArgument(f"the set has {count:,} {name}; what is taken is up to {most:,}")
        of_rows, _, of_columns = tables
        native = make(of_rows.ctypes.data, counts[0], of_columns.ctypes.data, counts[1])
        return cls._made(_pointing(native, tables), tables, rows, columns)


def source_of(rays: Union[RaySet, NDArray[Any]]) -> _structs.Source:
    """Rays of either kind, as slab_cast takes them. They are to be kept meanwhile."""
    if isinstance(rays, RaySet):
        return _structs.Source(None, addressof(rays._native), rays._begin, rays.size)
    if rays.dtype == FLOAT:
        return _structs.Source(rays.ctypes.data, None, 0, rays.size // 8)
    return _structs.Source(None, None, 0, rays.size // 8, rays.ctypes.data)


def _pointing(native: Any, tables: tuple[Any, ...]) -> Any:
    """The struct, with the places of its tables."""
    for name, table in zip(("of_rows", "normals", "of_columns"), tables):
        setattr(native, name, None if table is None else table.ctypes.data)
    return native


def _remade(packed: bytes, tables: tuple[Any, ...], rows: Shape, columns: Shape, begin: int) -> RaySet:
    """The set that was pickled."""
    return RaySet._made(_pointing(_structs.Rays.from_buffer_copy(packed), tables), tables, rows, columns, begin)


def _number(name: str, value: Any) -> float:
    """A number that float32 holds and that is one."""
    array = float_array(name, value)
    if array.ndim:
        raise InvalidArgument(f"{name} has shape {array.shape}; what is taken is one number")
    if np.isnan(array):
        raise InvalidArgument(f"{name} is nan; what is taken are numbers")
    return float(array)


def _table(name: str, value: Array, width: int) -> NDArray[np.float32]:
    if type(value).__module__ == "pyopencl.array":
        value = value.get()
    array = float_array(name, value, places=(), of_rays=True)
    shaped(name, array, width)
    return array


def _normals_of(normals: Array, shape: Shape) -> NDArray[np.float32]:
    """Unit vectors of the shape of the points."""
    table = _table("normals", normals, 3)
    lengths = np.sqrt(np.einsum("...i,...i->...", table, table, dtype=np.float64))
    wrong = np.abs(lengths - 1) > _UNIT
    if wrong.any():
        first = tuple(np.argwhere(wrong)[0])
        raise InvalidArgument(f"normals{at(first)} has length {lengths[first]:.6g}; what is taken are unit vectors")
    try:
        return np.ascontiguousarray(np.broadcast_to(table, shape))
    except ValueError:
        raise InvalidArgument(f"normals has shape {table.shape}; what is taken for these points is {shape}") from None
