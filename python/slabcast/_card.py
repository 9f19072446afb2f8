"""Casts on arrays on a card, where they lie and on their own stream: slab_enqueue_cuda. The host waits for nothing."""

from __future__ import annotations

import atexit
import math
import os
import threading
from ctypes import byref
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, NoReturn, Optional

import numpy as np
from numpy.typing import NDArray

from . import _library, _structs
from ._arrays import WORD, fit_indices, float_array, tell_copy
from ._card_arrays import CardArray, CardRecords, card_number, card_of, is_on_card, see
from ._card_packages import Package, package_of
from ._dlpack import Place
from ._library import Handle, InvalidArgument, index_of, library, must, word
from ._options import NOT_HITS, Options, entries_of, plain_options, world_of
from ._records import HIT, SHORT_HIT
from ._results import Hits
from ._values import FLOAT

if TYPE_CHECKING:
    from ._cuda import Card, Event
    from ._life import Life

Change = Callable[[int], int]  # of the library's scene

# ---- casts in flight ----


class _Flight(NamedTuple):
    """A cast, or a launch of the user's, that may not have ended, and what it reads."""

    end: Event
    of: object
    """A scene, or what has launched kernels."""
    keep: tuple[Any, ...]


_flights: list[_Flight] = []
_parents: list[_Flight] = []  # of a forked process
_lock = threading.Lock()


def fly(card: Card, stream: int, of: object, keep: tuple[Any, ...], call: Callable[[], None]) -> Event:
    """Enqueues something on a stream. Returns its end, until which what it reads is kept."""
    from . import _cuda

    end = _cuda.new_event(card)
    call()
    end.record(stream)
    with _lock:
        _flights.append(_Flight(end, of, keep))
    return end


def land(of: object = None) -> None:
    """Frees the arrays of flights that have ended. With a scene: waits for its casts, as before a commit."""
    global _flights
    for flight in _flights if of is not None else ():
        if flight.of is of:
            flight.end.wait()
    with _lock:
        told = [(flight, flight.end.is_over()) for flight in _flights]
        _flights = [flight for flight, is_over in told if not is_over]
    # The others are freed with `told`, without the lock: they may keep objects of anybody's.


def _begin_child() -> None:
    """A forked process has no part in its parent's casts, and must not end what they keep."""
    global _flights, _lock, _parents
    _parents, _flights, _lock = _flights, [], threading.Lock()


def _end() -> None:
    """At the end of a process, while packages can still take their arrays back."""
    for flight in _flights:
        flight.end.wait()
    land()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)


# ---- casts ----


class _Work:
    """The card and the stream of some work, and the package of its arrays."""

    def __init__(self, owner: Life, name: str, value: Any) -> None:
        """owner: a scene on a card. value: an array there, which has all else."""
        from . import _cuda

        self.owner, self.cuda, self.card, self.package = owner, _cuda, _cuda.Card(owner._context), package_of(value)
        self.stream = self.package.stream(name, value)

    def see(self, name: str, value: Any) -> Place:
        """Where an array lies, for the stream to read or write."""
        waits = not (self.package.casts_on_own and self._is_own(value))
        return see(name, value, self.card, self.stream if waits else -1)

    def see_here(self, name: str, value: Any) -> Optional[Place]:
        """The same, where it lies on this card."""
        if not is_on_card(value) or card_of(value, self.card) != self.card.number:
            return None
        with self.package.within(self.card):
            return self.see(name, value)

    def _is_own(self, value: Any) -> bool:
        return type(package_of(value)) is type(self.package)


class _Cast(_Work):
    """A cast of one launch or several."""

    def __init__(self, owner: Life, scene: Handle, name: str, value: Any) -> None:
        _require_card(owner, name, value)
        super().__init__(owner, name, value)
        self.scene = scene
        self.keep: list[Any] = []  # what is read, until that has ended

    def rows(self, name: str, value: Any, dtypes: tuple[str, ...], width: int = 0) -> Place:
        """Where an array lies that is read as it is. width: of its last axis; 0: any."""
        place, package = self.see(name, value), package_of(value)
        _require_dtype(name, place, dtypes, package)
        if width and place.shape[-1:] != (width,):
            hint = ": origins take directions beside them" if (name, place.shape[-1:]) == ("rays", (3,)) else ""
            raise InvalidArgument(f"{name} has shape {place.shape}; what is taken is (..., {width}){hint}")
        if not place.is_c_contiguous:
            raise InvalidArgument(
                f"{name} has strides {place.strides}, and on a card nothing is copied: give {package.in_order(name)}"
            )
        if not (self._is_own(value) and package.keeps(value)):
            self.keep.append(place.keep)
        return place

    def rays(self, rays: Any, directions: Any, t_min: Any, t_max: Any) -> Place:
        if directions is None:
            if t_min is not None or t_max is not None:
                raise InvalidArgument("t_min and t_max go with origins and directions; rays of (..., 8) have their own")
            return self.rows("rays", rays, ("float32",), 8)
        return self.rows("rays", self._joined(rays, directions, t_min, t_max), ("float32",), 8)

    def _joined(self, origins: Any, directions: Any, t_min: Any, t_max: Any) -> Any:
        given = (
            ("origins", origins, 3),
            ("t_min", 0.0 if t_min is None else t_min, 0),
            ("directions", directions, 3),
            ("t_max", np.inf if t_max is None else t_max, 0),
        )
        parts = tuple((name, self._part(name, value, width), width) for name, value, width in given)
        shapes = [tuple(value.shape)[: -1 if width else None] for _, value, width in parts if type(value) is not float]
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            told = ", ".join(f"{name} {tuple(getattr(value, 'shape', ()))}" for name, value, _ in parts)
            raise InvalidArgument(f"shapes that do not fit each other: {told}") from None
        size = 32 * math.prod(shape)
        tell_copy("origins and directions", size, "they are joined on the card; one array of (..., 8) is not copied")
        return self.package.joined(self.card, shape, parts, self.stream)

    def _part(self, name: str, value: Any, width: int) -> Any:
        """An array of the package, or a number."""
        if not width and not is_on_card(value) and np.ndim(value) == 0:
            return float(float_array(name, value))
        place, package = self.see(name, value), package_of(value)
        if not self._is_own(value):
            raise InvalidArgument(f"{name} is a {type(value).__module__} array, beside others of another package")
        _require_dtype(name, place, ("float32",), package)
        if width and place.shape[-1:] != (width,):
            raise InvalidArgument(f"{name} has shape {place.shape}; what is taken is (..., {width})")
        return value

    def entries(self, options: Options, shape: tuple[int, ...]) -> dict[str, Optional[int]]:
        """Where the options lie that have an entry for each ray, by their names in the library."""
        given = entries_of(options)
        takes = {"skip": self._skips, "masks": self._masks, "after": self._after, "worlds": self._worlds}
        return {name: None if value is None else takes[name](value, shape) for name, value in given.items()}

    def _skips(self, skip: Any, shape: tuple[int, ...]) -> int:
        if isinstance(skip, CardRecords):
            return self._packed("skip", skip, shape, (skip.dtype.itemsize - 8, 8))
        return self._each("skip", self.rows("skip", skip, ("uint32", "int32"), 2), (*shape, 2))

    def _masks(self, masks: Any, shape: tuple[int, ...]) -> int:
        return self._each("mask", self.rows("mask", masks, ("uint32", "int32")), shape)

    def _worlds(self, worlds: Any, shape: tuple[int, ...]) -> int:
        if not isinstance(worlds, int):
            return self._each("world", self.rows("world", worlds, ("uint32", "int32")), shape)
        world = world_of(worlds, self.owner._worlds_seen)
        self.keep.append(self.empty(shape, WORD))
        filled, count = self.see("world", self.keep[-1]).address, math.prod(shape)
        if count:
            self.cuda.fill(self.card, filled, world, count, self.stream)
        return filled

    def _after(self, hits: Any, shape: tuple[int, ...]) -> int:
        if not isinstance(hits, CardRecords):
            return self._each("after", self.rows("after", hits, ("float32", "uint32", "int32"), 3), (*shape, 3))
        if "t" not in (hits.dtype.names or ()):
            raise InvalidArgument(NOT_HITS)
        if hits.dtype == SHORT_HIT:
            return self._each("after", self.rows("after", hits.rows, ("float32",), 3), (*shape, 3))
        return self._packed("after", hits, shape, (0, 4), (hits.dtype.itemsize - 8, 8))

    def _each(self, name: str, place: Place, wanted: tuple[int, ...]) -> int:
        if place.shape != wanted:
            raise InvalidArgument(f"{name} has shape {place.shape}; what is taken for these rays is {wanted}")
        return place.address

    def _packed(self, name: str, hits: CardRecords, shape: tuple[int, ...], *parts: tuple[int, int]) -> int:
        """Hits of a former cast. Some parts of each are put side by side on the card: t is the first field of each
        kind, and the ids are the last two. A part: its begin and its size, in bytes."""
        if hits.shape != shape:
            raise InvalidArgument(f"{name} has shape {hits.shape}; what is taken for these rays is {shape} of hits")
        apart, width, to = hits.dtype.itemsize, sum(size for _, size in parts), 0
        place, count = self.rows(name, hits.rows, ("float32",), apart // 4), math.prod(shape)
        self.keep.append(self.empty((*shape, width // 4), WORD))
        packed = self.see(name, self.keep[-1]).address
        for begin, size in parts if count else ():
            ends = (packed + to, width), (place.address + begin, apart)
            self.cuda.pack(self.card, *ends, size, count, self.stream)
            to += size
        return packed

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        return self.package.empty(self.card, shape, dtype, self.stream)

    def enqueue(self, query: str, rays: Place, results: Any, options: dict[str, int], **places: Optional[int]) -> None:
        count = math.prod(rays.shape[:-1])
        to = self.see("results", results)
        number = index_of("query", query, _library.QUERIES)
        batch = _structs.CudaBatch(number, count, rays.address, to.address, **options, **places)
        if not count or 0 in to.shape:
            return
        land()
        with self.owner._lock:  # a commit waits for the casts in the list, and this is one then
            call = lambda: must(library.slab_enqueue_cuda(self.scene.pointer, byref(batch), self.stream))
            end = fly(self.card, self.stream, self.scene, tuple(self.keep), call)
            self.owner._await_casts = land
        if isinstance(results, CardArray):
            results.wrote(end)

    def result(self, array: Any, dtype: np.dtype[Any]) -> Any:
        given = self.package.result(array)
        if dtype.names is None:
            return given
        card = self.card  # and not the scene
        return CardRecords(given, dtype, self.package.words, lambda rows: _to_host(card, rows, FLOAT))


def is_there(owner: Life) -> bool:
    """Whether a scene is on a card by CUDA."""
    return library.slab_context_card(owner._context.pointer, None, None) == 0  # type: ignore[no-any-return]


def _require_card(owner: Life, name: str, value: Any) -> None:
    if is_there(owner):
        return
    info = _structs.DeviceInfo()
    must(library.slab_context_device(owner._context.pointer, byref(info)))
    number = card_number(value)
    raise InvalidArgument(
        f'{name} lies on a card, and the scene on "{info.name.decode(errors="replace")}": a '
        f'Scene("cuda{"" if number is None else f":{number}"}") casts it there, and '
        f"{package_of(value).on_host(name)} copies it"
    )


def _require_dtype(name: str, place: Place, dtypes: tuple[str, ...], package: Package) -> None:
    if place.dtype not in dtypes:
        way = package.as_float(name) if dtypes == ("float32",) else f"give {' or '.join(dtypes)}"
        raise InvalidArgument(f"{name} has dtype {place.dtype}, and on a card nothing is converted: {way}")


def _to_host(card: Card, array: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A copy of an array in C order, once what is on its stream has ended."""
    from . import _cuda

    if isinstance(array, CardArray):
        return array.get()
    package = package_of(array)
    with package.within(card):
        stream = package.stream("results", array)
        place = see("results", array, card, -1 if package.casts_on_own else stream)
        out = np.empty(place.shape, dtype)
        if out.size:
            _cuda.download(card, out, place.address, stream)
    return out


def cast(
    owner: Life, scene: Handle, query: str, given: tuple[Any, Any, Any, Any], dtype: np.dtype[Any], options: Options
) -> Any:
    """One result per ray. given: rays, directions, t_min and t_max."""
    plain = _plain(options)
    launch = _Cast(owner, scene, *_first(given))
    with launch.package.within(launch.card):
        rays = launch.rays(*given)
        shape = rays.shape[:-1]
        columns = dtype.itemsize // 4 if dtype.names else 0
        results = launch.empty((*shape, columns), FLOAT) if columns else launch.empty(shape, dtype)
        launch.enqueue(query, rays, results, plain, **launch.entries(options, shape))
        return launch.result(results, dtype)


def list_hits(owner: Life, scene: Handle, given: tuple[Any, Any, Any, Any], options: Options, max_hits: int) -> Hits:
    """All hits, or the first max_hits of each ray. It waits for their number."""
    plain = _plain(options)
    launch = _Cast(owner, scene, *_first(given))
    with launch.package.within(launch.card), owner._lock:  # nobody commits between the two casts
        rays = launch.rays(*given)
        shape = rays.shape[:-1]
        places = launch.entries(options, shape)
        counts = launch.empty(shape, WORD)
        launch.enqueue("count", rays, counts, plain, **places)
        sums = _sums(_to_host(launch.card, counts, WORD), max_hits)
        offsets = launch.empty(sums.shape, WORD)
        where = launch.see("offsets", offsets)
        launch.cuda.upload(launch.card, where.address, sums, launch.stream)
        hits = launch.empty((int(sums[-1]), HIT.itemsize // 4), FLOAT)
        options_of_all = {**plain, "max_hits": max_hits}
        launch.enqueue("all", rays, hits, options_of_all, offsets=where.address, **places)
        return Hits(launch.package.result(offsets), launch.result(hits, HIT))


def _sums(counts: NDArray[Any], max_hits: int) -> NDArray[np.uint32]:
    """Where the hits of each ray begin, and the end."""
    flat = counts.reshape(-1)
    sums = np.zeros(flat.size + 1, np.uint64)
    np.cumsum(np.minimum(flat, max_hits) if max_hits else flat, dtype=np.uint64, out=sums[1:])
    if sums[-1] >= 2**31:  # 64 GiB; and int32, which torch has for words, ends there
        raise InvalidArgument(
            f"rays have {sums[-1]:,} hits together; on a card fewer than 2^31 are listed: cast some at a time"
        )
    return sums.astype(WORD)


def _first(given: tuple[Any, Any, Any, Any]) -> tuple[str, Any]:
    """The first array of a cast that lies on a card, and its name."""
    names = ("rays" if given[1] is None else "origins", "directions", "t_min", "t_max")
    return next((name, value) for name, value in zip(names, given) if is_on_card(value))


def refuse(call: str, given: tuple[Any, Any, Any, Any]) -> NoReturn:
    """Raises, with the way out in the message, for a call that takes rays of the host alone."""
    name, value = _first(given)
    raise InvalidArgument(f"{call} takes rays of the host, or a RaySet: {package_of(value).on_host(name)} copies them")


def _plain(options: Options) -> dict[str, int]:
    """The options that are numbers."""
    if options.get("progress") is not None:
        raise InvalidArgument("progress is not told of rays on a card: the cast is one launch, and nobody waits for it")
    return plain_options(options)


# ---- updates ----


def mesh_update(owner: Life, geometry: int, vertices: Any, indices: Any, triangles: int) -> Optional[Change]:
    """The call that updates a mesh by arrays on the scene's card, as they lie. None: they are not there, or not as the
    library reads them, and come by the host. triangles: of the geometry."""
    if not is_there(owner):
        return None
    work = _Work(owner, "vertices", vertices)
    corners = work.see_here("vertices", vertices)
    apart = _rows_apart(corners, "float32")
    words = None if indices is None else work.see_here("indices", indices)
    if corners is None or not apart or (indices is not None and _rows_apart(words, "uint32", "int32") != 3):
        return None

    def update(scene: int) -> int:
        faces = (None, triangles) if words is None else (words.address, words.shape[0])
        mesh = _structs.Mesh(corners.address, 4 * apart, corners.shape[0], *faces)
        return library.slab_scene_update_mesh_cuda(scene, geometry, byref(mesh), work.stream)  # type: ignore[no-any-return]

    return update


def _rows_apart(place: Optional[Place], *dtypes: str) -> int:
    """How many words the rows of (n, 3) are apart; 0: they are none that the library reads."""
    if place is None or place.dtype not in dtypes or len(place.shape) != 2 or place.shape[1] != 3:
        return 0
    step, inner = place.strides or (3, 1)
    return step if inner == 1 and step >= 3 else 0


def instances_update(owner: Life, ids: NDArray[np.uint32], transforms: Any, indices: Any) -> Optional[Change]:
    """The call that moves instances by (..., 3, 4) on the scene's card: all of one id or of many, or those of one at
    indices that lie there too. None as in mesh_update."""
    if not is_there(owner):
        return None
    work = _Work(owner, "transforms", transforms)
    place = work.see_here("transforms", transforms)
    if place is None or place.dtype != "float32" or place.shape[-2:] != (3, 4) or not place.is_c_contiguous:
        return None
    given = place.address, word("the number of transforms", math.prod(place.shape[:-2])), work.stream
    if indices is not None:
        return _some_instances_update(work, int(ids), indices, given)

    def update(scene: int) -> int:
        if ids.ndim == 0:
            return library.slab_scene_update_instances_cuda(scene, int(ids), *given)  # type: ignore[no-any-return]
        many = ids.ctypes.data, word("the number of geometries", ids.size)
        return library.slab_scene_move_instances_cuda(scene, *many, *given)  # type: ignore[no-any-return]

    return update


def _some_instances_update(work: _Work, geometry: int, indices: Any, given: tuple[int, int, int]) -> Optional[Change]:
    place = work.see_here("indices", indices) if is_on_card(indices) else None
    if place is None or place.dtype not in ("uint32", "int32") or not place.is_c_contiguous:
        return None
    fit_indices(math.prod(place.shape), given[1])
    call = library.slab_scene_update_some_instances_cuda
    return lambda scene: call(scene, geometry, place.address, *given)
