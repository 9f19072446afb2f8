"""Scenes: geometry in, rays in, hits out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import POINTER, addressof, byref, c_char, c_size_t, c_uint32, c_uint64, cast
from typing import TYPE_CHECKING, Any, Callable, Literal, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _card, _library, _structs, _sums
from ._arrays import (
    DOUBLE,
    WORD,
    Space,
    are_far,
    double_array,
    fit_indices,
    float_array,
    is_wide,
    range_of,
    rounded,
    shaped,
    size_of,
    tell_copy,
    tell_far,
    tell_losses,
    why_copied,
    word_array,
)
from ._card_arrays import is_on_card
from ._device import Device, device_of
from ._explain import Explanation, explanation_of
from ._geometry import box_rows, mesh_arrays, obb_rows, place_rows, plane_rows, sphere_rows
from ._host_memory import place_of
from ._library import Handle, InvalidArgument, InvalidState, flag, index_of, library, must, word
from ._life import Life, placing
from ._options import (
    Array,
    Build,
    Layout,
    Mesh,
    Options,
    Query,
    Rows,
    Traversal,
    after_of,
    is_of_rays,
    masks_of,
    plain_options,
    refuse_worlds,
    skips_of,
    world_of,
    worlds_of,
)
from ._points import PointQuery, Points, ask, check, point_array
from ._program import KernelQuery, Program
from ._rays import Rays, no_space
from ._records import HIT, HIT64, INTERVAL, INTERVAL64, PATH, SHORT_HIT, SHORT_HIT64
from ._results import INVALID, CheckReport, Hits, SceneInfo, records
from ._sets import RaySet, source_of
from ._sums import Sums
from ._values import FLOAT, at, fields_of, host_array
from ._watch import ProgressFunction, Watch

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._results import Records

_RESULTS = {
    "closest": (library.slab_closest, HIT),
    "nearest": (library.slab_nearest, SHORT_HIT),
    "distance": (library.slab_distance, FLOAT),
    "any": (library.slab_any, np.dtype("?")),
    "count": (library.slab_count, WORD),
    "interval": (library.slab_interval_of, INTERVAL),
}
# Of rays in double, where they differ.
_DOUBLES = {"closest": HIT64, "nearest": SHORT_HIT64, "distance": DOUBLE, "interval": INTERVAL64, "all": HIT64}
_SLAB_CAPACITY = 3
# Casts of more rays can be interrupted; fewer end before anyone can. Checks always can.
_QUICK = 4096
# Places at which contains() tests at most whether a mesh is closed: a thirtieth of the time of 100,000 points.
_LINES = 4096
# Hits that all() makes space for at first, at most: memory that is not written takes no space.
_SPACE = 1 << 25


def _address(array: Any) -> int:
    """The address of an array. ctypes finds it in a third of NumPy's time, which matters to a call with one ray. NumPy
    finds it where the array is read-only, empty or has gaps."""
    try:
        return addressof(c_char.from_buffer(array))
    except (TypeError, ValueError):
        return int(array.ctypes.data)


class Scene(Life):
    """Geometry, and casts on it.

    The first cast, or commit(), lays the scene out on its device. After that geometries can be added, updated,
    disabled, enabled and removed: the next cast commits what has changed, as the last commit() did. Several threads may
    cast on one scene at once, and while another one changes it: the GIL is free while rays are cast. Answers are the
    same, bit by bit, on every device, by every build, after every way to a scene and in any order of rays.

    A scene can be pickled and copied, which commits it. As a context manager it is closed at the end. A forked child
    opens its parent's scene anew at its first use there, with all changes, as if it had been pickled.

    Args:
        device: None takes a GPU if there is one, else the processor. An index of devices(), "cpu", "gpu", "cuda:1" (a
            card as NVIDIA's driver counts them), or part of the name of a device or platform. Several of these with
            commas between, or "all". Or a torch.device, or a command queue of pyopencl, so that arrays of pyopencl are
            cast where they lie.
        build: "default", "fast" (built twice as fast, for scenes that change), "high" or "flat" (no BVH). "high" takes
            1.5 to 4 times the time to build; rays take 0.9 to 1 of theirs.
        threads: most threads of the host; 0: as many as this process may use.
        traversal: "auto", "packets", "single", "interleaved" or "sorted".
        layout: "default", "wide" or "compressed". Like device, build and traversal it changes no answer.
        auto_commit: False: casts after the first see changes after the next commit() alone, for several changes that
            belong together while other threads cast.
        origin: (3,), where the scene's float32 coordinates count from; see Scene.origin.

    Casts take rays of (..., 8) float32: origin, t_min, direction, t_max. Or origins and directions of (..., 3), with
    t_min (default 0) and t_max (default inf), which are broadcast against each other. A ray is origin + t * direction
    with t_min <= t <= t_max; t is in lengths of the direction. Results have the leading shape. float32 in C order is
    read where it lies. Where the scene has an origin that is not 0, for geometry far from 0, float64 is cast as it is,
    and t is float64. Elsewhere it is rounded, with a PrecisionWarning where that shows. Many rays that are not read
    where they lie are put together block by block, in constant memory. Arrays of DLPack are read in place on the CPU.
    Masked numbers, and those that pandas lacks, make invalid rays. Options lists what every cast takes by name. A
    RaySet in place of rays is a formula of them: they are made where they are cast.

    Rays may lie on a card of NVIDIA's, as arrays of PyTorch, CuPy, JAX or anything with __dlpack__ or
    __cuda_array_interface__. A scene on that card casts them where they lie, on their own stream, and nobody waits: see
    "Arrays on a card" in the reference. Meshes and instances move from there too; other geometry is copied to the host.

    Results that have fields have them as attributes too: hits.t is hits["t"]. A ray that hits nothing has t = inf and
    primitive = geometry = MISS. An invalid ray (a NaN, an infinite origin, a direction of length zero) has INVALID
    instead of MISS. is_hit(hits) is true for rays that hit something.
    """

    _hits_per_ray = 8.0  # that all() makes space for; it grows

    def __init__(
        self,
        device: Any = None,
        build: Build = "default",
        *,
        threads: int = 0,
        traversal: Traversal = "auto",
        layout: Layout = "default",
        auto_commit: bool = True,
        origin: Array = None,
    ) -> None:
        options = {"device": device, "build": build, "threads": threads, "traversal": traversal, "layout": layout}
        super().__init__({**options, "auto_commit": auto_commit})
        if origin is not None:
            self.origin = origin

    # ---- the origin ----

    @property
    def origin(self) -> Optional[tuple[float, float, float]]:
        """Where the scene's float32 coordinates count from, in float64; None: it is not known yet.

        It makes coordinates far from 0 exact, such as those of maps: a scene of 16 km keeps millimetres anywhere. It is
        given before the first commit, or that commit takes the middle of all geometry that was added in float64. Such
        geometry is some 16 times as far from 0 as it is long: rounding to float32 would move it by a visible share of
        its extent. All float64 that is added after it counts too; with an origin given all float64 does. Else it is 0.

        Where it is not 0, float64 is taken as it is: geometry is rounded once, as it counts from the origin, and rays
        have results in float64 (the option double). All coordinates are those of the world, also in float32; only rays
        and geometry on a card count from the origin. An origin of (0, 0, 0) has all float64 rounded."""
        return self._space.origin

    @origin.setter
    def origin(self, origin: Array) -> None:
        array = double_array("origin", host_array("origin", origin))
        if array.shape != (3,):
            raise InvalidArgument(f"origin has shape {array.shape}; what is taken is (3,)")
        with self._lock:
            must(library.slab_scene_origin(self._open().pointer, _address(array)))
            x, y, z = map(float, array)
            self._space = Space(any((x, y, z)), (x, y, z))

    def _note_double(self, is_double: bool) -> None:
        """Once something is float64 all that follows is."""
        with self._lock:
            if is_double and self._space.origin is None:
                self._space = Space(True, None)

    # ---- worlds ----

    def set_worlds(self, n: int) -> None:
        """Declares how many worlds the scene has: copies of a place, such as the environments of a simulation. Each has
        geometries of its own, over geometries that belong to all.

        Worlds are numbered from 1. The option `world` says which one a geometry or an instance belongs to, and which
        one each ray or point is in. A ray of a world sees the geometries of that world and those that belong to all. It
        has the answer of a scene that holds these alone; ids are the whole scene's. A ray in no world, 0, sees the
        geometries that belong to all. A model has no worlds.

        Args:
            n: the number, at most 2^20. A smaller number than before is refused where something belongs to a world that
                would be gone.
        """
        n = word("n", n)
        with self._lock:
            self._change(lambda scene: library.slab_scene_set_worlds(scene, n), "declared")
            self._worlds = n

    @property
    def worlds(self) -> int:
        """How many worlds the scene has."""
        return self._worlds

    # ---- geometry ----

    def add_mesh(
        self,
        vertices: Union[Rows, Mesh],
        indices: Optional[Rows] = None,
        *,
        mask: int = 0,
        world: int = 0,
        skip_invalid: bool = False,
    ) -> int:
        """Adds triangles, and returns the id of the geometry.

        Args:
            vertices: (n, 3) float32; or float64, which Scene.origin is about. Or, alone, a mesh of trimesh, Open3D or
                PyVista, all of whose faces are triangles.
            indices: (m, 3) of whole numbers below n; None: vertices 3i .. 3i + 2 make triangle i.
            mask: rays whose mask has a bit in common see the geometry; 0: all bits.
            world: the world that the geometry belongs to, 1 to Scene.worlds; 0: to all of them.
            skip_invalid: drops triangles that would be refused, by which ids do not change.
        """
        mesh, kept = _mesh(vertices, indices, self._space)
        with _naming_vertices(kept[0]):
            added = self._add(
                mesh.triangle_count,
                mask,
                world,
                skip_invalid,
                lambda scene, options, geometry: library.slab_scene_add_mesh(scene, byref(mesh), options, geometry),
            )
        self._note_double(kept[0].dtype == DOUBLE)
        return added

    def add_boxes(self, lower: Array, upper: Array, *, mask: int = 0, world: int = 0) -> int:
        """Adds axis-aligned boxes with corners (..., 3) and (..., 3), which may be infinite. Corners of (..., 2) and
        (..., 2) make rectangles, boxes that no z bounds. Inverted and NaN boxes are never hit. Returns the id of the
        geometry."""
        return self._add_rows("boxes", box_rows(lower, upper, self._space), mask, world, False)

    def add_spheres(
        self, centers: Array, radii: Array, *, mask: int = 0, world: int = 0, skip_invalid: bool = False
    ) -> int:
        """Adds spheres with centers (..., 3) and radii (...). Returns the id of the geometry."""
        return self._add_rows("spheres", sphere_rows(centers, radii, self._space), mask, world, skip_invalid)

    def add_planes(
        self, normals: Array, offsets: Array, *, mask: int = 0, world: int = 0, skip_invalid: bool = False
    ) -> int:
        """Adds planes, the points x with normal . x = offset: normals (..., 3), of any length, and offsets (...).
        Returns the id of the geometry."""
        return self._add_rows("planes", plane_rows(normals, offsets, self._space), mask, world, skip_invalid)

    def add_obbs(
        self,
        centers: Array = None,
        half_sizes: Array = None,
        axes: Array = None,
        *,
        rotation: Array = None,
        poses: Array = None,
        mask: int = 0,
        world: int = 0,
        skip_invalid: bool = False,
    ) -> int:
        """Adds oriented boxes, and returns the id of the geometry.

        Axes are given in one of three ways, and are orthonormal within 1e-5; boxes with others are refused by index.

        Args:
            centers: (..., 3); none with poses.
            half_sizes: (..., 3): half the length, width and height.
            axes: (..., 3, 3) whose rows are the boxes' axes. These are rotation matrices transposed.
            rotation: (..., 3, 3) matrices from a box's own coordinates to the scene's, such as SciPy's and Open3D's:
                their columns are the boxes' axes.
            poses: (..., 4, 4) or (..., 3, 4) rigid matrices, whose last column is the center, such as trimesh's.
            mask: rays whose mask has a bit in common see the geometry; 0: all bits.
            world: the world that the geometry belongs to, 1 to Scene.worlds; 0: to all of them.
            skip_invalid: drops boxes that would be refused, by which ids do not change.
        """
        rows = obb_rows(centers, half_sizes, axes, rotation, poses, self._space)
        return self._add_rows("obbs", rows, mask, world, skip_invalid)

    def add_instances(self, model: Scene, transforms: Array, *, mask: int = 0, world: Array = 0) -> int:
        """Places a model n times, and returns the id of the first geometry of the first instance.

        A hit on instance i and geometry g of the model has the geometry id + i * (geometries of the model) + g.

        Args:
            model: another scene on the same device, under any of its names, with the same threads, traversal and
                layout. It is committed now, and gets no more geometries. It can still be updated, which this scene's
                next commit sees; a scene that was pickled, copied or forked has models of its own. It may have
                instances itself, on at most four levels.
            transforms: (..., 3, 4) or (..., 4, 4) affine maps from the model's space to this one's, such as NumPy's and
                trimesh's: they are multiplied with column vectors. The last row of (4, 4) is 0, 0, 0, 1.
            mask: rays whose mask has a bit in common see the instances; 0: all bits. Masks of the model's geometries
                apply too.
            world: the world that the instances belong to, 1 to Scene.worlds; 0: to all of them. Or an array, a world
                for each instance.
        """
        if not isinstance(model, Scene):
            raise InvalidArgument(f"model is {model!r}, not a slabcast.Scene")
        model._commit()  # which may take long
        array = self._places(transforms, [model])
        n = word("the number of transforms", array.size // 12)
        worlds = _worlds_of_instances(world, array.shape[:-2])
        function = getattr(library, f"slab_scene_add_instances{_type_of(array)}")
        with placing:
            stamp = model._commit_models()
            with model._lock:
                placed = model._commit_own(stamp)
                first = self._add(
                    n,
                    mask,
                    0 if worlds is not None else world,
                    False,
                    lambda scene, options, geometry: function(
                        scene, placed.pointer, _address(array), n, options, geometry
                    ),
                    self._instances,
                    worlds,
                )
                self._hold(first, model)
        self._note_double(array.dtype == DOUBLE)
        return first

    def _places(self, transforms: Array, models: Iterable[Life]) -> NDArray[Any]:
        """Transforms of instances of these models, in the type that the scene takes."""
        known = [model for model in models if model._space.origin is not None and model._scene is not None]
        extent = 0.0
        if self._space.in_double is None:
            extent = max((size_of(_range(model._scene)) for model in known if model._scene), default=0.0)
        return place_rows(transforms, self._space, extent, any(model._space.in_double for model in known))

    def _add_rows(self, kind: str, array: NDArray[Any], mask: int, world: int, skip_invalid: bool) -> int:
        n = _rows(array)
        function = getattr(library, f"slab_scene_add_{kind}{_type_of(array)}")
        added = self._add(
            n,
            mask,
            world,
            skip_invalid,
            lambda scene, options, geometry: function(scene, _address(array), n, options, geometry),
        )
        self._note_double(kind != "planes" and array.dtype == DOUBLE)
        return added

    def _add(
        self,
        n: int,
        mask: int,
        world: int,
        skip_invalid: bool,
        call: Callable[[int, Any, Any], int],
        counts: Optional[dict[int, int]] = None,
        worlds: Optional[NDArray[np.uint32]] = None,
    ) -> int:
        geometry, skipped = c_uint32(), c_uint32()
        options = _structs.GeometryOptions(
            word("mask", mask), flag("skip_invalid", skip_invalid), cast(byref(skipped), POINTER(c_uint32))
        )
        with self._lock:
            if worlds is None:
                options.world = world_of(world, self._worlds)
            else:
                options.worlds = _address(refuse_worlds(worlds, self._worlds))
            must(call(self._open().pointer, byref(options), byref(geometry)))
            self._changed("added")
            self._skipped.append(skipped.value)
            (self._counts if counts is None else counts)[geometry.value] = n
        return geometry.value

    # ---- changes ----

    def update_mesh(
        self, geometry: int, vertices: Array, indices: Array = None, *, first: Optional[int] = None
    ) -> None:
        """Replaces the triangles of a geometry by as many others, or moves some of its vertices.

        Args:
            geometry: the id that add_mesh returned.
            vertices: (n, 3) float32; or a mesh, as in add_mesh.
            indices: as in add_mesh; None keeps those that the geometry has, which is the fastest update and needs as
                many vertices as there were.
            first: moves the vertices from this number on alone, as in update_boxes. Triangles keep their indices; a
                mesh without indices has three vertices a triangle. Vertices of triangles are refused where they are
                invalid, also with skip_invalid.
        """
        geometry = word("geometry", geometry)
        if first is not None:
            return self._update_vertices(geometry, vertices, indices, first)
        if indices is None and geometry not in self._counts:
            raise InvalidArgument(f"geometry {geometry} is none of the scene's: it has {sorted(self._counts)}")
        triangles = self._counts.get(geometry, 0)
        there = _card.mesh_update(self, geometry, vertices, indices, triangles) if is_on_card(vertices) else None
        if there is not None:
            return self._change(there, "updated")
        mesh, kept = _mesh(vertices, indices, self._space, triangles)
        with _naming_vertices(kept[0]):
            self._change(lambda scene: library.slab_scene_update_mesh(scene, geometry, byref(mesh)), "updated")
        self._note_double(kept[0].dtype == DOUBLE)

    def update_boxes(self, geometry: int, lower: Array, upper: Array, *, first: Optional[int] = None) -> None:
        """Replaces the boxes of a geometry by as many others; first: those from this number on alone, as many as are
        given. On the processor, without instances and worlds, a commit after which nothing else has changed then takes
        time for the few that have moved."""
        self._update_rows("boxes", geometry, box_rows(lower, upper, self._space), first)

    def update_spheres(self, geometry: int, centers: Array, radii: Array, *, first: Optional[int] = None) -> None:
        """Replaces the spheres of a geometry by as many others; first: as in update_boxes."""
        self._update_rows("spheres", geometry, sphere_rows(centers, radii, self._space), first)

    def update_planes(self, geometry: int, normals: Array, offsets: Array, *, first: Optional[int] = None) -> None:
        """Replaces the planes of a geometry by as many others; first: as in update_boxes."""
        self._update_rows("planes", geometry, plane_rows(normals, offsets, self._space), first)

    def update_obbs(
        self,
        geometry: int,
        centers: Array = None,
        half_sizes: Array = None,
        axes: Array = None,
        *,
        rotation: Array = None,
        poses: Array = None,
        first: Optional[int] = None,
    ) -> None:
        """Replaces the oriented boxes of a geometry by as many others, given as in add_obbs; first: as in
        update_boxes."""
        rows = obb_rows(centers, half_sizes, axes, rotation, poses, self._space)
        self._update_rows("obbs", geometry, rows, first)

    def update_instances(self, geometry: Array, transforms: Array, indices: Array = None) -> None:
        """Moves instances.

        Args:
            geometry: the id that one add_instances returned; or several such ids, (k,), each of them once.
            transforms: as in add_instances, of all instances that these placed, in the order of the ids. Where an id or
                a transform is refused, no instance is moved.
            indices: (n,), which instances of one geometry the n transforms are of; None: all. Of an index that is there
                twice the last transform counts. With worlds a commit then takes time for those that have moved alone.

        Arrays on the scene's card are read there, indices beside transforms; other arrays on a card come by the host.
        """
        ids = word_array("geometry", geometry if indices is None else word("geometry", geometry))
        there = _card.instances_update(self, ids, transforms, indices) if is_on_card(transforms) else None
        if there is not None:
            return self._change(there, "updated")
        if indices is not None:
            return self._update_some_instances(int(ids), transforms, word_array("indices", indices))
        array = self._places(transforms, self._models.values())
        n = word("the number of transforms", array.size // 12)
        if ids.ndim == 0:
            return self._move("update", array, (int(ids), _address(array), n))
        self._move("move", array, (_address(ids), word("the number of geometries", ids.size), _address(array), n))

    def _update_some_instances(self, geometry: int, transforms: Array, indices: NDArray[np.uint32]) -> None:
        array = self._places(transforms, self._models.values())
        n = word("the number of transforms", array.size // 12)
        fit_indices(indices.size, n)
        self._move("update_some", array, (geometry, _address(indices), _address(array), n))

    def _move(self, how: str, array: NDArray[Any], given: tuple[Any, ...]) -> None:
        function = getattr(library, f"slab_scene_{how}_instances{_type_of(array)}")
        self._change(lambda scene: function(scene, *given), "updated")
        self._note_double(array.dtype == DOUBLE)

    def _only_geometry(self) -> Optional[int]:
        """The id of the scene's geometry, where it has but one."""
        return next(iter(self._counts)) if len(self._counts) == 1 and not self._instances else None

    def enable(self, geometry: int) -> None:
        """Lets rays see a geometry again that was disabled."""
        self._change(lambda scene: library.slab_scene_enable(scene, word("geometry", geometry), 1), "enabled")

    def disable(self, geometry: int) -> None:
        """Hides a geometry from all rays, with any mask."""
        self._change(lambda scene: library.slab_scene_enable(scene, word("geometry", geometry), 0), "disabled")

    def remove(self, geometry: int) -> None:
        """Removes a geometry for ever. Its id is not used again, and others keep theirs."""
        geometry = word("geometry", geometry)
        self._change(lambda scene: library.slab_scene_remove(scene, geometry), "removed")
        for held in (self._models, self._counts, self._instances):
            held.pop(geometry, None)

    def _update_rows(self, kind: str, geometry: int, array: NDArray[Any], first: Optional[int]) -> None:
        n, of = _rows(array), kind + _type_of(array)
        geometry = word("geometry", geometry)
        if first is None:
            function = getattr(library, f"slab_scene_update_{of}")
            self._change(lambda scene: function(scene, geometry, _address(array), n), "updated")
        else:
            some, begin = getattr(library, f"slab_scene_update_some_{of}"), word("first", first)
            self._change(lambda scene: some(scene, geometry, begin, _address(array), n), "updated")
        self._note_double(kind != "planes" and array.dtype == DOUBLE)

    def _update_vertices(self, geometry: int, vertices: Array, indices: Array, first: int) -> None:
        if indices is not None:
            raise InvalidArgument("indices are given with first: triangles keep theirs where some vertices move")
        self._update_rows("vertices", geometry, _vertices(vertices, self._space, False), first)

    @property
    def skipped(self) -> tuple[int, ...]:
        """For each geometry how many primitives skip_invalid dropped."""
        return tuple(self._skipped)

    # ---- casts ----

    def closest(
        self, rays: Array, directions: Array = None, t_min: Array = None, t_max: Array = None, **named: Unpack[Options]
    ) -> Records:
        """The first hit of each ray: (...) of HIT, or HIT64, with t, the unit normal, u, v, primitive and geometry. The
        weights of a triangle's second and third vertex are u and v; for a box u is the face."""
        return self._cast("closest", rays, directions, t_min, t_max, named)

    def nearest(
        self, rays: Array, directions: Array = None, t_min: Array = None, t_max: Array = None, **named: Unpack[Options]
    ) -> Records:
        """The first hit of each ray in short: (...) of SHORT_HIT, with t, primitive and geometry of closest()."""
        return self._cast("nearest", rays, directions, t_min, t_max, named)

    def distance(
        self, rays: Array, directions: Array = None, t_min: Array = None, t_max: Array = None, **named: Unpack[Options]
    ) -> NDArray[Any]:
        """t of the first hit of each ray: (...) float32, or float64, in lengths of the direction; inf where nothing is
        hit."""
        return self._cast("distance", rays, directions, t_min, t_max, named)

    def any(
        self, rays: Array, directions: Array = None, t_min: Array = None, t_max: Array = None, **named: Unpack[Options]
    ) -> NDArray[np.bool_]:
        """Whether each ray hits anything: (...) bool."""
        return self._cast("any", rays, directions, t_min, t_max, named)

    def count(
        self, rays: Array, directions: Array = None, t_min: Array = None, t_max: Array = None, **named: Unpack[Options]
    ) -> NDArray[np.uint32]:
        """How many primitives each ray hits: (...) uint32."""
        return self._cast("count", rays, directions, t_min, t_max, named)

    def interval(
        self, rays: Array, directions: Array = None, t_min: Array = None, t_max: Array = None, **named: Unpack[Options]
    ) -> Records:
        """The part of each ray inside the first solid: (...) of INTERVAL, with enter and leave, clipped to the ray's
        range, primitive and geometry. A miss has enter = inf and leave = -inf."""
        return self._cast("interval", rays, directions, t_min, t_max, named)

    def all(
        self,
        rays: Array,
        directions: Array = None,
        t_min: Array = None,
        t_max: Array = None,
        max_hits: int = 0,
        **named: Unpack[Options],
    ) -> Hits:
        """Every hit of the rays, or the first max_hits of each: offsets, and hits of HIT in one dimension, for every
        leading shape."""
        scene = self._committed()
        if _is_opencl(rays):
            return self._enqueue("all", scene, rays, directions, t_min, t_max, named, max_hits)  # type: ignore[no-any-return]
        if is_on_card(rays, directions):
            limit = word("max_hits", max_hits)
            return _card.list_hits(self, scene, (rays, directions, t_min, t_max), named, limit)
        given = self._given(scene, rays, directions, t_min, t_max, named)
        n = given.size
        each = min(self._hits_per_ray, word("max_hits", max_hits) or np.inf)
        space = min(int(n * each) + 64, max(_SPACE, n))
        status, required, listed = self._list(scene, given, space, named, max_hits)
        while status == _SLAB_CAPACITY:  # once, unless another thread commits more meanwhile
            self._hits_per_ray = max(self._hits_per_ray, 1.125 * required / n)
            status, required, listed = self._list(scene, given, required, named, max_hits)
        must(status)
        listed.hits.resize(required, refcheck=False)
        return listed

    def _list(
        self, scene: Handle, given: Union[Rays, RaySet], space: int, options: Options, max_hits: int
    ) -> tuple[int, int, Hits]:
        """Lists hits where there is space for them: the status, how many there are, and the offsets and hits."""
        try:
            offsets, hits = np.zeros(given.size + 1, np.uint64), records((space,), HIT64 if _is_double(given) else HIT)
        except (MemoryError, ValueError):
            raise no_space(f"{space:,} hits", given.size) from None
        results = _structs.Results(_address(hits), 0, offsets.ctypes.data_as(POINTER(c_uint64)), space)
        status = self._cast_any(scene, "all", given, results, options, max_hits)
        return status, results.required, Hits(offsets, hits)

    def _cast_any(
        self,
        scene: Handle,
        query: str,
        given: Union[Rays, RaySet],
        results: _structs.Results,
        options: Options,
        max_hits: int = 0,
    ) -> int:
        """The status of slab_cast. Sets without rays, which it refuses, have no results."""
        source = source_of(given if isinstance(given, RaySet) else given.array())
        pointers = scene.pointer, index_of("query", query, _library.QUERIES), byref(source), byref(results)
        call = lambda native: library.slab_cast(*pointers, native) if source.n else 0
        return self._call(options, given.shape, call, max_hits, is_double=_is_double(given))

    # ---- sums over rows of rays ----

    def sums(
        self,
        rays: Array,
        directions: Array = None,
        t_min: Array = None,
        t_max: Array = None,
        *,
        query: _sums.SumQuery = "distance",
        weights: Array = None,
        **named: Unpack[Options],
    ) -> Sums:
        """Sums over rows of rays, made where the rays are cast: no single ray's result is stored, nor goes over a bus.
        The rows of a RaySet are its own, those of arrays (..., n, 8) the n rays of the last axis: Sums of (...).

        Args:
            rays: as casts take them, on the host.
            directions: likewise, as t_min and t_max.
            query: "distance"; "any" is faster, and has no least and mean.
            weights: one for each ray of a row, RaySet.column_shape or (n,), such as solid angles: none below 0, all
                together at most 2^31, rounded to multiples of 2^-32. None: each is 1. They count in open and blocked;
                mean is the hits' own.
        """
        index_of("query", query, _sums.QUERIES)
        return _sums.sums(*self._rows("sums", rays, directions, t_min, t_max, named), query, weights)

    def histogram(
        self,
        rays: Array,
        directions: Array = None,
        t_min: Array = None,
        t_max: Array = None,
        *,
        bins: int,
        range: Sequence[float],
        **named: Unpack[Options],
    ) -> NDArray[np.uint32]:
        """How many rays of each row hit first at a t of each bin: (..., bins) uint32, over the rows that sums() has.
        The bins are equal parts of range: bin i has the t with floor((t - range[0]) * scale) = i, computed in float32,
        where scale is bins / (range[1] - range[0]). Other t, and misses, count in no bin.

        Args:
            rays: as casts take them, on the host.
            directions: likewise, as t_min and t_max.
            bins: how many, 1 to 4096.
            range: where the first bin begins and the last ends, in lengths of the direction.
        """
        return _sums.histogram(*self._rows("histogram", rays, directions, t_min, t_max, named), bins, range)

    def sees(
        self,
        rays: Array,
        directions: Array = None,
        t_min: Array = None,
        t_max: Array = None,
        *,
        packed: bool = False,
        **named: Unpack[Options],
    ) -> NDArray[Any]:
        """Which rays hit nothing, and are valid: (...) bool, of the rays' shape. Of RaySet.pairs() these are the points
        that see each other. The device sends one bit per ray.

        Args:
            rays: as casts take them, on the host.
            directions: likewise, as t_min and t_max.
            packed: True gives the bits as they come, for each row (n + 31) // 32 uint32: ray c of a row is bit c % 32
                of word c // 32.
        """
        return _sums.sees(*self._rows("sees", rays, directions, t_min, t_max, named), flag("packed", packed))

    def _rows(
        self, call: str, rays: Array, directions: Array, t_min: Array, t_max: Array, options: Options
    ) -> tuple[_sums.Rows, _sums.Cast]:
        """Rows of rays, and the function that casts them."""
        scene = self._committed()
        if _is_opencl(rays):
            raise InvalidArgument(f"{call} takes rays of the host: rays.get() copies them")
        if is_on_card(rays, directions):
            _card.refuse(call, (rays, directions, t_min, t_max))
        given = self._given(scene, rays, directions, t_min, t_max, options)
        return _sums.Rows(given), lambda query, results: must(self._cast_any(scene, query, given, results, options))

    def closest_points(
        self,
        points: Array,
        *,
        radius: Array = None,
        mask: Array = 0,
        world: Array = 0,
        progress: Optional[ProgressFunction] = None,
        out: Optional[NDArray[Any]] = None,
    ) -> Records:
        """The closest point of the scene's surfaces to each point: (...) of CLOSEST_POINT for points of (..., 3).

        `distance` and `point` are its distance and place. The weights of a triangle's second and third vertex are u and
        v; for a box u is the face. `feature` is 0 on a face, 1 on an edge, 2 at a vertex. Where nothing is found the
        distance is inf and the geometry MISS, for a NaN or infinite point INVALID. Inside of a solid the distance is
        that to its surface. Triangles without area are found as well. Answers have the same bits on every device.

        Args:
            points: (..., 3). float64 is taken as it is where the scene's origin is not 0, and results are of
                CLOSEST_POINT64, with places in float64; elsewhere it is rounded.
            radius: farther surfaces are not found; None: no limit. One number, or an array that is broadcast to (...).
            mask: geometries whose mask has no bit in common are not seen; 0: all bits. Or a mask for each point.
            world: the world that the points are in, as of casts; or a world for each point.
            progress: progress(points_done, points_total), as of casts.
            out: an array of NumPy that takes the results and is returned.
        """
        return self._ask("closest_points", points, radius, mask, world, progress, out)  # type: ignore[no-any-return]

    def closest_distance(
        self,
        points: Array,
        *,
        radius: Array = None,
        mask: Array = 0,
        world: Array = 0,
        progress: Optional[ProgressFunction] = None,
        out: Optional[NDArray[Any]] = None,
    ) -> NDArray[np.float32]:
        """The distance of the closest point of closest_points(): (...) float32, inf where nothing is found. For rays
        there is distance()."""
        return self._ask("closest_distance", points, radius, mask, world, progress, out)  # type: ignore[no-any-return]

    def within(
        self,
        points: Array,
        radius: Array,
        *,
        mask: Array = 0,
        world: Array = 0,
        progress: Optional[ProgressFunction] = None,
        out: Optional[NDArray[Any]] = None,
    ) -> NDArray[np.bool_]:
        """Whether some surface is within the radius of each point: (...) bool. One at exactly that distance is."""
        return self._ask("within", points, radius, mask, world, progress, out)  # type: ignore[no-any-return]

    def winding(
        self,
        points: Array,
        *,
        mask: Array = 0,
        world: Array = 0,
        progress: Optional[ProgressFunction] = None,
        out: Optional[NDArray[Any]] = None,
    ) -> NDArray[np.int32]:
        """How often surfaces surround each point: (...) int32 for points of (..., 3).

        A mesh that is closed and faces outward counts 1 inside and 0 outside, and each solid that holds the point 1, so
        overlaps add up. A mesh that faces inward counts -1. Instances count as their models do. Signs are exact: of
        closed meshes the answer is right for every point that is not on a surface. A point on one has the answer of a
        point beside it, against z. An open mesh counts the crossings of a ray along z. Planes count nothing, and a NaN
        or infinite point is outside.

        Args:
            points: (..., 3).
            mask: geometries whose mask has no bit in common are not seen; 0: all bits. Or a mask for each point.
            world: the world that the points are in, as of casts; or a world for each point.
            progress: progress(points_done, points_total), as of casts.
            out: an array of NumPy that takes the results and is returned.
        """
        return self._ask("winding", points, None, mask, world, progress, out)  # type: ignore[no-any-return]

    def winding_number(
        self,
        points: Array,
        *,
        mask: Array = 0,
        world: Array = 0,
        progress: Optional[ProgressFunction] = None,
        out: Optional[NDArray[Any]] = None,
    ) -> NDArray[np.float32]:
        """Generalized winding numbers, also of meshes that are open or broken: (...) float32.

        It is winding() where every mesh is closed. Else each edge at which a mesh ends adds a term, and the number is
        near 1 inside, near 0 outside, and a fraction by a hole. `> 0.5` is the usual test for inside. Its error is at
        most 1e-5, except right beside such an edge. The first call after a commit looks for those edges. Instances of
        open meshes are refused."""
        return self._ask("winding_number", points, None, mask, world, progress, out)  # type: ignore[no-any-return]

    def signed_distance(
        self,
        points: Array,
        *,
        radius: Array = None,
        mask: Array = 0,
        world: Array = 0,
        progress: Optional[ProgressFunction] = None,
        out: Optional[NDArray[Any]] = None,
    ) -> NDArray[np.float32]:
        """closest_distance(), and negative where winding() is not 0, which is inside of meshes or of solids: (...)
        float32. Beyond the radius it is inf outside and -inf inside. Each point is queried twice, and progress counts
        both."""
        return self._ask("signed_distance", points, radius, mask, world, progress, out)  # type: ignore[no-any-return]

    def check_points(
        self,
        query: PointQuery,
        points: Array,
        results: Any,
        *,
        radius: Array = None,
        mask: Array = 0,
        world: Array = 0,
        progress: Optional[ProgressFunction] = None,
    ) -> CheckReport:
        """Compares results of points, of the query "closest_points", "closest_distance", "within", "winding",
        "signed_distance" or "winding_number", as check() does those of rays."""
        scene = self._committed()
        return check(query, scene, self._points(scene, points, radius, mask, world, progress), results)

    def _points(
        self,
        scene: Handle,
        points: Array,
        radius: Array,
        mask: Array,
        world: Array,
        progress: Optional[ProgressFunction],
    ) -> Points:
        return Points(points, _range(scene), radius, mask, world, progress, self._worlds_seen, self._space)

    def _ask(
        self,
        query: PointQuery,
        points: Array,
        radius: Array,
        mask: Array,
        world: Array,
        progress: Optional[ProgressFunction],
        out: Optional[NDArray[Any]],
    ) -> Any:
        scene = self._committed()
        return ask(query, scene, self._points(scene, points, radius, mask, world, progress), out)

    def contains(
        self, points: Array, *, mode: Literal["union", "parity"] = "union", mask: int = 0, world: Array = 0
    ) -> NDArray[np.bool_]:
        """Whether each point lies inside: (...) bool for points of (..., 3).

        "union": where winding() is not 0, which is inside of any part, whether parts overlap or not. "parity": where it
        is odd, so that a part within another is a hole. Meshes, which must be closed, solids and instances go together.
        Faces of one mesh face one way; where they do not, parity is right. Points on a surface of a mesh may be either.
        Nothing lies inside where there is nothing: an empty scene or mesh, or none that the mask sees.

        To find an open mesh, contains() moves points down to below all geometry, and computes their winding numbers
        there. These are 0 where meshes are closed ("parity" takes any even number); else InvalidState names the point.
        It moves every point, or of more than 4,096 at most so many. For each model of instances it takes 4,096 points
        below the model. A hole that lies above none of these stays unseen, and changes the answer of few points or of
        none."""
        if mode not in ("union", "parity"):
            raise InvalidArgument(f"mode is {mode!r}, and is one of 'union', 'parity'")
        scene = self._committed()
        array = point_array(points, _range(scene), self._space)
        worlds = worlds_of(world, array.shape[:-1], self._worlds_seen)
        self._refuse_open(array.astype(FLOAT, copy=False), mode, mask, worlds)
        for model in set(self._models.values()):
            assert isinstance(model, Scene)
            model._refuse_open(None, mode, 0)
        return _holds(self.winding(array, mask=mask, world=0 if worlds is None else worlds), mode)

    def _refuse_open(
        self, points: Optional[NDArray[np.float32]], mode: str, mask: int, worlds: Optional[NDArray[np.uint32]] = None
    ) -> None:
        """Refuses triangles that are no closed mesh, as far as winding numbers below some of the points show. None:
        those of a model, below places all over its bounds."""
        info = _stats(self._committed())
        lowest = FLOAT.type(_ends_of(info)[0, 2])
        if not info.triangles or not np.isfinite(lowest):
            return
        flat = _lines_through(info) if points is None else points.reshape(-1, 3)
        step = max(1, -(-len(flat) // _LINES))
        below = flat[::step].copy()
        below[:, 2] = np.nextafter(lowest, FLOAT.type(-np.inf))
        world: Any = 0 if worlds is None else worlds.reshape(-1)[::step]
        windings = self.winding(below, mask=mask, world=world)
        bad = np.flatnonzero(_holds(windings, mode))
        if len(bad):  # an endless box holds points below all that ends
            point = np.array([0, 0, 1], FLOAT), 0.0, 0.0
            here = 0 if worlds is None else world[bad]
            bad = bad[self.interval(below[bad], *point, mask=mask, world=here)["geometry"] >= INVALID]
        if len(bad):
            x, y, z = below[bad[0]]
            whose, told = "of an instance ", f"({x:g}, {y:g})"
            if points is not None:
                place = at(np.unravel_index(bad[0] * step, points.shape[:-1])) if points.ndim > 1 else ""
                whose, told = "", f"points{place}"
            fault = "open, or some of its faces are turned" if mode == "union" else "open"
            turned = "; where faces are turned, mode='parity' is right" if mode == "union" else ""
            raise InvalidState(
                f"contains: the mesh {whose}is {fault}: on the line along z through {told}, below the mesh, the "
                f"winding number is {windings[bad[0]]}. Close it{turned}; or take winding_number() > 0.5; "
                "or let slabcast.trimesh.RayMeshIntersector(mesh).contains_points vote"
            )

    def check(
        self,
        query: Query,
        rays: Array,
        results: Any,
        directions: Array = None,
        t_min: Array = None,
        t_max: Array = None,
        max_hits: int = 0,
        **named: Unpack[Options],
    ) -> CheckReport:
        """Compares results of a cast, under the options of that cast, with two references. These are the CPU reference
        (brute force, bit by bit) and the oracle (independent formulas). query: the name of the cast, such as "closest".
        results: its results. Differences are reported and raise nothing. It takes long: every ray is tested with every
        primitive. Ctrl-C and `progress` end it, as they end a cast."""
        scene = self._committed()
        number = index_of("query", query, _library.QUERIES)
        given = self._given(scene, rays, directions, t_min, t_max, named)
        array, report = given.array(), _structs.CheckReport()
        doubles, n = _is_double(given), array.size // 8
        types = _DOUBLES if doubles else {}
        to = _structs.Results()
        if query == "all":
            offsets, hits = results
            _is_result("offsets", offsets, np.dtype("u8"), (n + 1,))
            if offsets[0] or (offsets[1:] < offsets[:-1]).any():
                raise InvalidArgument("offsets do not grow from 0")
            _is_result("hits", hits, types.get(query, HIT), (int(offsets[-1]),))
            to.offsets, to.capacity = cast(_address(offsets), POINTER(c_uint64)), int(offsets[-1])
        else:
            hits = results
            _is_result("results", hits, types.get(query, _RESULTS[query][1]), array.shape[:-1])
        to.memory = _address(hits)
        source = _structs.Source(n=n)
        setattr(source, "rays64" if doubles else "rays", _address(array))
        given_to = scene.pointer, number, byref(source), byref(to)
        check = lambda native: library.slab_check_cast(*given_to, native, byref(report))  # noqa: E731
        must(self._call(named, array.shape[:-1], check, max_hits, 0))
        values = {name: getattr(report, name) for name in CheckReport._fields}
        return CheckReport(**{**values, "text": report.text.decode()})

    def explain(
        self,
        ray: Array,
        hit: Any = None,
        directions: Array = None,
        t_min: Array = None,
        t_max: Array = None,
        **named: Unpack[Options],
    ) -> Explanation:
        """Explains step by step how one ray meets one primitive; print() shows it. The numbers are the kernels' own,
        and the answer is that of a cast, bit by bit.

        ray: (8,), or an origin of (3,) with `directions` of (3,). hit: the primitive, as a result of closest(),
        nearest(), interval() or all(), or as (primitive, geometry). None: the first hit of the ray."""
        scene = self._committed()
        given = self._given(scene, ray, directions, t_min, t_max, named)
        array, doubles = given.array(), _is_double(given)
        if array.size != 8:
            raise InvalidArgument(f"explain takes one ray; these are {array.size // 8}")
        array = array.reshape(8)
        if hit is None:
            as_given: Options = {**named, "double": doubles}
            hit = self.closest(array, **as_given)
            if hit["primitive"] >= INVALID:
                raise InvalidArgument("the ray hits nothing; name the primitive that it is held against, as `hit`")
        place = _primitive_of(hit)
        found = _structs.Explanation64() if doubles else _structs.Explanation()
        function, count = library.slab_explain64 if doubles else library.slab_explain, c_size_t()

        def call(options: Any, steps: Any) -> int:
            pointers = _address(array), place, options, byref(found), steps, count, byref(count)
            return function(scene.pointer, *pointers)  # type: ignore[no-any-return]

        plain: Options = {**named, "progress": None}
        must(self._call(plain, (), lambda native: call(native, None), is_double=doubles))
        steps = (_structs.Step * count.value)()
        must(self._call(plain, (), lambda native: call(native, steps), is_double=doubles))
        return explanation_of(found, place.primitive, place.geometry, list(steps))

    def program(
        self, source: str, queries: Union[KernelQuery, Iterable[KernelQuery]] = ("any",), options: Optional[str] = None
    ) -> Program:
        """Builds kernels of your own, that trace rays in this scene. On a device of OpenCL, Scene(queue) with a queue
        of pyopencl, pyopencl launches them. On a card by CUDA, Scene("cuda"), they take arrays of torch, CuPy and
        others, as casts do. The answers have the bits of a cast of the same rays.

        Args:
            source: OpenCL C 1.2, or by CUDA CUDA C++, which includes <slabcast_device.h>; no such file is needed. The
                first parameters of each kernel are SLAB_SCENE_PARAMETERS. In CUDA C++ it is extern "C".
            queries: the casts whose functions, such as slab_trace_any, the kernels call: one name or several. "all" is
                for slab_trace_next. Each takes its time to build.
            options: of the compiler, but none that change the arithmetic.

        BuildFailed has the compiler's log, with the lines of `source`. CUDA C++ is compiled by NVIDIA's NVRTC, of a
        toolkit or of the wheel that torch and CuPy bring. Where there is none, and on the processor, it raises
        Unsupported.
        """
        return Program(self, source, queries, options)

    def _cast(
        self, query: str, rays: Array, directions: Array, t_min: Array, t_max: Array, options: Options
    ) -> Records:
        scene = self._committed()
        parts = rays, directions, t_min, t_max
        if isinstance(rays, RaySet):
            return self._cast_set(query, scene, _alone(*parts), options)
        if _is_opencl(rays):
            return self._enqueue(query, scene, rays, directions, t_min, t_max, options)  # type: ignore[no-any-return]
        if is_on_card(rays, directions):
            return _card.cast(self, scene, query, parts, _RESULTS[query][1], options)  # type: ignore[no-any-return]
        given = Rays(*parts, lambda: _range(scene), self._double_of(options))
        function: Callable[..., int]
        function, dtype = _RESULTS[query]
        if given.is_double:
            function, dtype = _cast_doubles(query), _DOUBLES.get(query, dtype)
        place = options.pop("out", None)
        out: Any = _room(query, given, dtype) if place is None else place_of(place, given.shape, dtype, parts)
        if given.is_in_blocks and self._cast_blocks(scene, function, given, out, options):
            return out  # type: ignore[no-any-return]
        array = given.array()
        call = lambda native: function(scene.pointer, _address(array), given.size, _address(out), native)
        must(self._call(options, given.shape, call, is_double=given.is_double))
        return out  # type: ignore[no-any-return]

    def _double_of(self, options: Options) -> Optional[bool]:
        """The argument `double` of Rays, by the option that is taken out."""
        double = options.pop("double", None)
        if double is None:
            return None if self._space.in_double else False
        return flag("double", double)

    def _given(
        self, scene: Handle, rays: Array, directions: Array, t_min: Array, t_max: Array, options: Options
    ) -> Union[Rays, RaySet]:
        """The arguments of a cast, as rays of one kind or the other."""
        if isinstance(rays, RaySet):
            return _alone(rays, directions, t_min, t_max)
        return Rays(rays, directions, t_min, t_max, lambda: _range(scene), self._double_of(options))

    def _cast_set(self, query: str, scene: Handle, rays: RaySet, options: Options) -> Records:
        dtype, place = _RESULTS[query][1], options.pop("out", None)
        out: Any = _room(query, rays, dtype) if place is None else place_of(place, rays.shape, dtype, rays._tables)
        must(self._cast_any(scene, query, rays, _structs.Results(_address(out)), options))
        return out  # type: ignore[no-any-return]

    def _cast_blocks(self, scene: Handle, function: Any, rays: Rays, out: NDArray[Any], options: Options) -> bool:
        """Casts rays block by block, each put together in the same memory. False where another thread committed
        meanwhile: then the blocks may have seen different scenes."""
        turn, status = self._turns, 0
        native = _structs.CastOptions(**plain_options(options))
        entries = self._entries(options, rays.shape, rays.is_double)
        with Watch(options.get("progress"), rays.size) as watch:
            native.progress = watch.callback
            for begin, block in rays.blocks():
                watch.done_before = begin
                for name, array in entries.items():
                    setattr(native, name, _address(array) + array.nbytes // rays.size * begin)
                to = _address(out) + out.itemsize * begin
                status = function(scene.pointer, _address(block), len(block), to, byref(native))
                if status:
                    break
        must(status)
        return turn == self._turns and turn % 2 == 0

    def _enqueue(
        self,
        query: str,
        scene: Handle,
        rays: Any,
        directions: Array,
        t_min: Array,
        t_max: Array,
        options: Options,
        max_hits: int = 0,
    ) -> Any:
        """A cast on arrays of pyopencl."""
        from . import _opencl

        if not (directions is None and t_min is None and t_max is None and options.get("progress") is None):
            raise InvalidArgument("with rays of pyopencl, (..., 8), there are no directions, t_min, t_max and progress")
        plain = plain_options(options)
        if not is_of_rays(options.get("world", 0)):
            world_of(options.get("world", 0), self._worlds_seen)
        if query == "all":
            return _opencl.list_hits(scene, rays, options, plain, word("max_hits", max_hits))
        return _opencl.cast(scene, query, rays, _RESULTS[query][1], options, plain)

    def _entries(self, options: Options, shape: tuple[int, ...], is_double: bool) -> dict[str, NDArray[Any]]:
        """Options with an entry for each ray, by their names in the library."""
        skip = options.get("skip")
        entries = {
            "skip": None if skip is None else skips_of(skip, shape, self._only_geometry()),
            "masks": masks_of(options.get("mask", 0), shape),
            "after": after_of(options.get("after"), shape, is_double),
            "worlds": worlds_of(options.get("world", 0), shape, self._worlds_seen),
        }
        return {name: array for name, array in entries.items() if array is not None}

    def _call(
        self,
        options: Options,
        shape: tuple[int, ...],
        call: Callable[[Any], int],
        max_hits: int = 0,
        quick: int = _QUICK,
        is_double: bool = False,
    ) -> int:
        """The status of a call on rays of a shape, with the library's form of the options. It can be interrupted from
        `quick` rays on."""
        is_quick = math.prod(shape) <= quick
        if is_quick and not options and not max_hits:
            return call(None)
        native = _structs.CastOptions(**plain_options(options), max_hits=word("max_hits", max_hits))
        progress, entries = options.get("progress"), self._entries(options, shape, is_double)
        for name, array in entries.items():
            setattr(native, name, _address(array))
        if is_quick and progress is None:
            return call(byref(native))
        with Watch(progress) as watch:
            native.progress = watch.callback
            return call(byref(native))

    # ---- what there is ----

    @property
    def device(self) -> Device:
        """The scene's device; of several the first."""
        info = _structs.DeviceInfo()
        must(library.slab_context_device(self._context.pointer, byref(info)))
        return device_of(info)

    @property
    def info(self) -> SceneInfo:
        """The contents of the scene and the memory that they take. Changes that wait are committed for that, as for a
        cast."""
        stats = _stats(self._committed())
        values = {name: getattr(stats, name) for name in SceneInfo._fields}
        lower, upper = (tuple(end) for end in _ends_of(stats).tolist())
        return SceneInfo(**{**values, "lower": lower, "upper": upper, "origin": tuple(stats.origin)})

    def paths(self, hits: Array) -> Records:
        """Returns in which instances hits lie: (...) of PATH for hits of (...), or for the ids of their geometries.

        levels is how many instances are in each other there, 0 for the scene's own geometry. For each of them, the
        scene's own first, instances is the id that add_instances returned, and index is the number of the instance
        among these. `geometry` is the id in the last model. A ray that hits nothing has geometry MISS or INVALID and no
        levels."""
        words = word_array("hits", hits) if fields_of(hits) is None else np.array(hits["geometry"], WORD, order="C")
        out = records(words.shape, PATH)
        must(library.slab_scene_paths(self._committed().pointer, _address(words), words.size, _address(out)))
        return out

    def path_ids(self, paths: NDArray[np.void]) -> NDArray[np.uint32]:
        """The reverse of paths(): the ids that geometries have in this scene, (...) uint32 for (...) of PATH."""
        if getattr(paths, "dtype", None) != PATH:
            raise InvalidArgument(f"paths is {type(paths).__name__}, not an array of PATH")
        told = np.ascontiguousarray(paths).reshape(np.shape(paths))
        out = np.empty(told.shape, WORD)
        must(library.slab_scene_path_ids(self._committed().pointer, _address(told), told.size, _address(out)))
        return out

    def __repr__(self) -> str:
        if self._scene is None:
            return "<slabcast.Scene, closed>"
        held = f"{len(self._counts)} geometries"
        if self._instances:
            held += f", {sum(self._instances.values())} instances"
        if self._worlds:
            held += f", {self._worlds} worlds"
        return f"<slabcast.Scene, {held}, {self._what_waits()}, on {self.device.name}>"

    def _repr_png_(self) -> Optional[bytes]:
        """The scene as notebooks show it: z is up, each geometry has a colour. Nothing where it is closed or empty."""
        if self._scene is None or not (self._counts or self._instances):
            return None
        from ._picture import picture_of

        return picture_of(self)


@contextmanager
def _naming_vertices(corners: NDArray[Any]) -> Iterator[None]:
    """Adds to a refusal, which names the triangle, the first vertex that is none."""
    try:
        yield
    except InvalidArgument as error:
        wrong = np.argwhere(~(np.abs(corners) <= 2.0**60)) if "vertex is" in str(error) else corners[:0]
        if not len(wrong):
            raise
        first = tuple(wrong[0])
        raise InvalidArgument(f"{error}: vertices{at(first)} is {corners[first]}") from None


def _vertices(vertices: Array, space: Space, apart: bool = True) -> NDArray[Any]:
    """As float32, or as float64 where a scene takes it so. apart: rows may have gaps between them."""
    parts, array = (("vertices", vertices, 3),), host_array("vertices", vertices)
    shaped("vertices", array, 3)
    if space.in_double and is_wide(array):
        if space.origin is not None:
            tell_far({"vertices": array}, space.origin)
        return double_array("vertices", array, apart=apart)
    if not is_wide(array):
        return float_array("vertices", array, apart=apart)
    tell_copy("vertices", 4 * array.size, why_copied(array))
    kept, moved = rounded("vertices", array)
    if space.in_double is None and moved and are_far(range_of(array)):
        return double_array("vertices", array, apart=apart)
    tell_losses(parts, [array], [moved], has_origin=True)
    return kept


def _mesh(vertices: Array, indices: Array, space: Space, triangles: int = 0) -> tuple[_structs.Mesh, tuple[Any, ...]]:
    """A mesh, and the arrays that it points to. triangles: of a geometry that keeps its indices."""
    if indices is None:
        vertices, indices = mesh_arrays(vertices)
    corners = _vertices(vertices, space)
    corners = corners if corners.ndim == 2 else corners.reshape(-1, 3)
    words = None
    if indices is not None:
        words = word_array("indices", indices)
        if words.size or words.ndim != 1:
            shaped("indices", words, 3)
        triangles = words.size // 3
    elif triangles == 0:
        if len(corners) % 3:
            raise InvalidArgument(f"vertices has {len(corners)} rows, which make no whole triangles")
        triangles = len(corners) // 3
    is_double = corners.dtype == DOUBLE
    mesh = _structs.Mesh(
        None if is_double else _address(corners),
        corners.strides[0] if len(corners) else 0,
        word("the number of vertices", len(corners)),
        None if words is None else _address(words),
        word("the number of triangles", triangles),
        _address(corners) if is_double else None,
    )
    return mesh, (corners, words)


def _worlds_of_instances(world: Array, shape: tuple[int, ...]) -> Optional[NDArray[np.uint32]]:
    """A world for each of the instances, whose transforms have this leading shape; None: one for all."""
    if not is_of_rays(world):
        return None
    worlds = word_array("world", world)
    if worlds.shape != shape:
        raise InvalidArgument(f"world has shape {worlds.shape}; what is taken for these transforms is {shape}")
    return worlds


def _type_of(array: NDArray[Any]) -> str:
    """The end of names of functions that take such rows."""
    return "64" if array.dtype == DOUBLE else ""


def _rows(array: NDArray[Any]) -> int:
    return word("the number of primitives", array.size // array.shape[-1])


def _stats(scene: Handle) -> _structs.SceneStats:
    stats = _structs.SceneStats()
    must(library.slab_scene_info(scene.pointer, byref(stats)))
    return stats


def _is_double(given: Union[Rays, RaySet]) -> bool:
    return isinstance(given, Rays) and given.is_double


def _cast_doubles(query: str) -> Callable[..., int]:
    """A cast of rays in float64, as the library's functions for float32 are called."""
    number = index_of("query", query, _library.QUERIES)

    def cast_them(scene: int, rays: int, n: int, results: int, options: Any) -> int:
        source, to = _structs.Source(n=n, rays64=rays), _structs.Results(results)
        return library.slab_cast(scene, number, byref(source), byref(to), options) if n else 0

    return cast_them


def _alone(rays: RaySet, directions: Array, t_min: Array, t_max: Array) -> RaySet:
    if not (directions is t_min is t_max is None):
        raise InvalidArgument("beside a RaySet there are no directions, t_min and t_max: with_range() gives it a range")
    return rays


def _room(query: str, given: Union[Rays, RaySet], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array for the results of a cast."""
    try:
        return np.empty(given.shape, dtype) if dtype.names is None else records(given.shape, dtype)
    except (MemoryError, ValueError):
        raise no_space(f"the results of {query}", given.size) from None


def _range(scene: Handle) -> NDArray[np.float64]:
    """The scene's bounds (2, 3)."""
    return _ends_of(_stats(scene))


def _ends_of(stats: _structs.SceneStats) -> NDArray[np.float64]:
    ends: NDArray[np.float64] = np.array([stats.lower, stats.upper], DOUBLE)
    ends += stats.origin
    return ends


def _primitive_of(hit: Any) -> _structs.PrimitiveId:
    """The primitive that a hit, or (primitive, geometry), names."""
    if fields_of(hit) is not None:
        hit = hit["primitive"], hit["geometry"]
    words = word_array("hit", hit)
    if words.shape != (2,):
        raise InvalidArgument(f"hit has shape {words.shape}; it is one hit, or (primitive, geometry)")
    return _structs.PrimitiveId(int(words[0]), int(words[1]))


def _is_result(name: str, array: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    if (
        not isinstance(array, np.ndarray)
        or array.dtype != dtype
        or array.shape != shape
        or not array.flags.c_contiguous
    ):
        raise InvalidArgument(f"{name} is not the result of that cast: an array in C order of {shape} and {dtype}")


def _holds(windings: NDArray[np.int32], mode: str) -> NDArray[np.bool_]:
    return (windings & 1).astype(np.bool_) if mode == "parity" else windings != 0


def _lines_through(info: _structs.SceneStats) -> NDArray[np.float32]:
    """Points of lines along z, _LINES of them, evenly over the bounds."""
    side = int(_LINES**0.5)
    steps = (np.arange(side, dtype=np.float64) + 0.5) / side
    lower, upper = _ends_of(info)
    x, y = (lower[k] + (upper[k] - lower[k]) * steps for k in (0, 1))
    return np.stack([*(v.ravel() for v in np.meshgrid(x, y)), np.zeros(_LINES)], axis=-1).astype(FLOAT)


def _is_opencl(rays: Any) -> bool:
    """Whether rays are an array of pyopencl."""
    return type(rays) is not np.ndarray and type(rays).__module__ == "pyopencl.array"
