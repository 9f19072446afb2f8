"""Arguments as the arrays that the library takes: float32, float64 and uint32, in C order, refused by name, index and
value."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple, NoReturn, Optional

import numpy as np
from numpy.typing import NDArray

from ._library import InvalidArgument, library, must
from ._values import FLOAT, at, host_array

DOUBLE = np.dtype("f8")
WORD = np.dtype("u4")

# A part is a name, values and a width: the length of the values' last axis, or 0 where they make one column.
Parts = tuple[tuple[str, Any, int], ...]

_FLOAT_MAX = float(np.finfo(FLOAT).max)
# Parts that are places: rounding moves them. Of other parts it changes a direction or a size by a share
# that nothing shows.
PLACES = frozenset(["origins", "targets", "rays", "points", "vertices", "lower", "upper", "centers", "poses"])
# Parts that are sizes.
SIZES = frozenset(["radii", "half_sizes"])
# From this loss on there is a warning: a share of the extent of the scene or array. Coordinates lose it that are 16
# times as far from the origin as the extent, by EPSILON, half of float32's.
LOSS, EPSILON = 1e-6, 2.0**-24
# Numbers that are looked at or rounded at a time.
PIECE = 1 << 16
# Rows that are compared as one.
_ABREAST = 256
# From this size on a copy causes a warning: bytes.
LARGE_COPY = 1 << 28


class PrecisionWarning(UserWarning):
    """Places were rounded to float32 by a share of the scene's extent that shows. Each line of code warns once."""


class CopyWarning(UserWarning):
    """A large array was copied, since the library cannot read it as it lies. Each line of code warns once."""


_told: set[tuple[object, ...]] = set()  # warnings that were given, and where


def _outside() -> tuple[int, FrameType]:
    """The caller that is outside this package, and how many levels up it is."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    return level - 1, frame


def _is_told_once(kind: type[Warning]) -> bool:
    """Whether the filters of warnings show one of this kind once a line of code. Its text differs from call to call, by
    which Python would take it for another one."""
    for action, message, category, module, line in warnings.filters:
        if message is None and module is None and not line and issubclass(kind, category):
            return action in ("default", "module", "once", "ignore")
    return True


def is_told(kind: type[Warning], name: str) -> bool:
    """Whether this line of the caller's was warned of this argument before, and once is enough."""
    _, frame = _outside()
    return (kind, name, frame.f_code.co_filename, frame.f_lineno) in _told and _is_told_once(kind)


def warn(kind: type[Warning], name: str, text: str) -> None:
    """Warns of an argument at the line of the caller that is outside this package, once each such line."""
    level, frame = _outside()
    place = kind, name, frame.f_code.co_filename, frame.f_lineno
    if place in _told and _is_told_once(kind):
        return
    _told.add(place)
    warnings.warn(f"{name}: {text}", kind, stacklevel=level + 1)


def tell_copy(name: str, size: int, why: str) -> None:
    if size >= LARGE_COPY:
        warn(CopyWarning, name, f"{size:,} bytes are copied, since {why}")


def why_copied(array: NDArray[Any], taken: np.dtype[Any] = FLOAT) -> str:
    return f"it is not {taken} in C order but {array.dtype}, strides {array.strides}"


def is_wide(array: Any) -> bool:
    """Whether numbers are of more digits than float32's, by their type: as NumPy promotes the two. Plain numbers are
    not."""
    return type(array) is not float and np.result_type(array.dtype, FLOAT) != FLOAT


def pieces(array: NDArray[Any]) -> Iterator[slice]:
    """Slices of the first axis, each of a size that caches hold."""
    step = max(1, PIECE * max(len(array), 1) // max(array.size, 1))
    return (slice(begin, begin + step) for begin in range(0, len(array), step))


def round_into(out: NDArray[np.float32], array: NDArray[Any]) -> float:
    """Rounds numbers of (..., k) to floats of the same shape, whose rows lie evenly. Returns how far that has moved one
    of the first three of a row at most; inf where one of the row is beyond float32."""
    if array.dtype == DOUBLE and array.flags.aligned and array.size:
        rows, to = array.reshape(-1, array.shape[-1]), out.reshape(-1, array.shape[-1])
        if rows.strides[0] >= 0 and rows.strides[1] == 8 and np.may_share_memory(rows, array):
            moved = np.empty(rows.shape[1])
            lies = rows.ctypes.data, rows.strides[0], *rows.shape, to.ctypes.data, to.strides[0]
            must(library.slab_floats_from_doubles(*lies, moved.ctypes.data))
            return np.inf if np.isinf(moved).any() else float(moved[:3].max())
    return max((_round_piece(out[piece], array[piece]) for piece in pieces(array)), default=0.0)


def _round_piece(out: NDArray[np.float32], array: NDArray[Any]) -> float:
    with np.errstate(all="ignore"):
        out[...] = array
        moved = np.abs(np.subtract(out, array, dtype=np.float64))
    if array.dtype.kind == "f" and (np.isinf(out) & ~np.isinf(array)).any():
        return np.inf
    moved[~np.isfinite(moved)] = 0.0
    return float(moved[..., :3].max(initial=0.0))


def refuse_beyond(name: str, array: NDArray[Any]) -> NoReturn:
    """Names the first number that float32 does not hold."""
    with np.errstate(over="ignore"):
        first = next(
            (int(where[0][0]) + piece.start, *map(int, where[0][1:]))
            for piece in pieces(array)
            if len(where := np.argwhere(np.isinf(array[piece].astype(FLOAT)) & ~np.isinf(array[piece])))
        )
    raise InvalidArgument(f"{name}{at(first)} is {array[first]}, which is beyond float32")


def rounded(name: str, array: NDArray[Any]) -> tuple[NDArray[np.float32], float]:
    """An array as float32 in C order, and the result of round_into. Refuses values beyond float32."""
    kept = np.empty(array.shape, FLOAT)
    if array.ndim == 0:
        with np.errstate(over="ignore"):
            kept[...] = array
        if np.isinf(kept) and not np.isinf(array):
            raise InvalidArgument(f"{name} is {array}, which is beyond float32")
        return kept, 0.0
    moved = round_into(kept[:, None], array[:, None]) if array.ndim == 1 else round_into(kept, array)
    if moved == np.inf:
        refuse_beyond(name, array)
    return kept, moved


def _of_like_ends(rows: NDArray[Any]) -> NDArray[Any]:
    """A few rows with the least and the greatest coordinates of many: NumPy is slow on short rows, and these go many
    abreast. NaN stays."""
    many = len(rows) // _ABREAST * _ABREAST
    if many <= 2 * _ABREAST or not rows.flags.c_contiguous:
        return rows
    long = rows[:many].reshape(-1, _ABREAST * rows.shape[1])
    ends = [f(long, axis=0).reshape(_ABREAST, -1) for f in (np.min, np.max)]
    return np.concatenate([*ends, rows[many:]])


def range_of(array: NDArray[Any]) -> NDArray[np.float64]:
    """The least and the greatest finite coordinates, (2, 3), of (..., 3); inf and -inf where there are none."""
    found = np.array([[np.inf] * 3, [-np.inf] * 3])
    rows = array.reshape(-1, array.shape[-1])[:, :3]
    for piece in (slice(None),)[: len(rows)] if rows.flags.c_contiguous else pieces(rows):
        part = rows[piece]
        few = _of_like_ends(part)
        ends: Any = [[f(few[:, axis]) for axis in range(few.shape[1])] for f in (np.min, np.max)]
        if not np.isfinite(ends).all():
            known = np.isfinite(part)
            ends = np.min(part, 0, initial=np.inf, where=known), np.max(part, 0, initial=-np.inf, where=known)
        found[0], found[1] = np.minimum(found[0], ends[0]), np.maximum(found[1], ends[1])
    return found


def size_of(*ranges: Any) -> float:
    """The longest side of the union of ranges."""
    lower, upper = np.min([r[0] for r in ranges], axis=0), np.max([r[1] for r in ranges], axis=0)
    sides = upper - lower
    return float(np.max(sides, where=np.isfinite(sides), initial=0.0))


def worst_loss(array: NDArray[Any]) -> tuple[float, tuple[Any, ...]]:
    """How far rounding moves a finite number at most, and its index."""
    most: float = 0.0
    where: tuple[Any, ...] = (0,) * array.ndim
    for piece in pieces(array):
        part = array[piece]
        with np.errstate(all="ignore"):
            moved = np.abs(np.subtract(part.astype(FLOAT), part, dtype=np.float64))
        moved[~np.isfinite(moved)] = 0.0
        worst = int(np.argmax(moved)) if moved.size else 0
        if moved.size and moved.flat[worst] > most:
            index = np.unravel_index(worst, moved.shape)
            most, where = float(moved.flat[worst]), (int(index[0]) + piece.start, *index[1:])
    return most, where


def are_far(*ranges: Any, extent: float = 0.0) -> bool:
    """Whether what lies in these ranges, and is at least so long, is so far from the origin that rounding shows."""
    size = max(size_of(*ranges), extent)
    return size > 0 and EPSILON * _reach_of(*ranges) > LOSS * size


def _reach_of(*ranges: Any) -> float:
    """How far from the origin they go."""
    return max(float(np.abs(r[np.isfinite(r)]).max(initial=0.0)) for r in ranges)


def places_of(parts: Parts, arrays: list[Any]) -> dict[str, Any]:
    """The parts that are places, by their names."""
    given = zip(parts, arrays)
    return {name: array[..., :3] for (name, _, width), array in given if width >= 3 and name in PLACES}


def tell_far(places: dict[str, Any], origin: tuple[float, float, float]) -> None:
    """Warns of places in float64 for which the origin of their scene is of no use: they are nearly as far from there as
    from 0."""
    for name, array in places.items():
        given = range_of(array)
        ends = given - origin
        if are_far(ends) and _reach_of(ends) * LOSS > _reach_of(given) * EPSILON:
            most, size = EPSILON * _reach_of(ends), size_of(ends)
            warn(
                PrecisionWarning,
                name,
                f"rounding to float32 moves it by up to {most:.2g}, {most / size:.1g} of its extent ({size:.4g}): it "
                f"is far from the scene's origin, {origin}. A scene takes one near it before its first commit: "
                "Scene(origin=...)",
            )


def tell_losses(
    parts: Parts, arrays: list[Any], moved: Sequence[float], *around: Any, has_origin: bool = False
) -> None:
    """Warns of places of parts that rounding has moved visibly, by a share of the extent. around: its ranges, beside
    those of the places. These alone rule out most losses. has_origin: an origin of the scene would help."""
    limit = LOSS * size_of(*around) if around else 0.0
    places = [k for k, (name, _, width) in enumerate(parts) if width >= 3 and name in PLACES]
    lost = [k for k in places if moved[k] > limit and not is_told(PrecisionWarning, parts[k][0])]
    if lost:
        ranges = [range_of(arrays[k]) for k in places]
        for k in lost:
            _tell_loss(parts[k][0], arrays[k][..., :3], has_origin, *ranges, *around)


def _tell_loss(name: str, array: NDArray[Any], has_origin: bool, *ranges: Any) -> None:
    size = size_of(*ranges)
    if not are_far(*ranges):
        return
    most, where = worst_loss(array)
    if most > LOSS * size:
        way = ", or give the scene an origin near them before its first commit: Scene(origin=...)" if has_origin else ""
        warn(
            PrecisionWarning,
            name,
            f"rounding to float32 moves it by up to {most:.2g}, {most / size:.1g} of the extent of what is looked at "
            f"({size:.4g}): {name}{at(where)} is {array[where]}. These coordinates are far from the origin: subtract "
            f"one point from all of them, in float64, before they come here{way} (docs/recipes.md, Far from the "
            "origin)",
        )


def _lies_well(array: NDArray[Any], dtype: np.dtype[Any], apart: bool) -> bool:
    """Whether the library reads an array as it lies. apart: rows of three may have gaps between them."""
    if array.dtype != dtype or not array.flags.aligned:
        return False
    size = dtype.itemsize
    return array.flags.c_contiguous or (
        apart and array.ndim == 2 and array.strides[1] == size and array.strides[0] >= 3 * size
    )


def float_array(
    name: str, value: Any, apart: bool = False, places: Optional[tuple[Any, ...]] = None, of_rays: bool = False
) -> NDArray[np.float32]:
    """A value as float32 in C order. Such an array is not copied. With `apart`, as for vertices, rows of three with
    gaps between them are not copied either. places: the first three of each row are places, beside others in these
    ranges."""
    array = host_array(name, value, of_rays)
    if _lies_well(array, FLOAT, apart):
        return array
    tell_copy(name, 4 * array.size, why_copied(array))
    kept, moved = rounded(name, array)
    if places is not None and array.ndim:
        tell_losses(((name, value, 3),), [array], [moved], *places)
    return kept


def double_array(name: str, array: NDArray[Any], apart: bool = False) -> NDArray[np.float64]:
    """An array as float64 in C order, which is not copied where float_array() would not."""
    if _lies_well(array, DOUBLE, apart):
        return array
    tell_copy(name, 8 * array.size, why_copied(array, DOUBLE))
    with np.errstate(over="ignore"):
        return array.astype(DOUBLE, order="C")


def word_array(name: str, value: Any) -> NDArray[np.uint32]:
    """A value as uint32 in C order. Numbers that are none are refused."""
    array = host_array(name, value)
    if array.dtype == WORD and array.flags.aligned and array.flags.c_contiguous:
        return array
    if array.dtype.kind == "f" and array.size > 0:
        raise InvalidArgument(f"{name} has dtype {array.dtype}; what is taken are whole numbers")
    if array.dtype.kind == "i" or array.dtype.itemsize > 4:
        wrong = (array < 0) | (array > 0xFFFFFFFF)
        if wrong.any():
            where = np.unravel_index(np.argmax(wrong), wrong.shape)
            raise InvalidArgument(f"{name}{at(where)} is {array[where]}, which is not within 0 to 2^32 - 1")
    tell_copy(name, 4 * array.size, f"it is not uint32 in C order but {array.dtype}, strides {array.strides}")
    return array.astype(WORD, order="C")


def fit_indices(indices: int, transforms: int) -> None:
    """Refuses indices of instances that are not one for each transform."""
    if indices != transforms:
        raise InvalidArgument(f"{transforms} transforms for {indices} indices")


def shaped(name: str, array: NDArray[Any], *tail: int) -> None:
    """Refuses an array whose shape is not (..., *tail)."""
    if array.shape[max(0, array.ndim - len(tail)) :] != tail:
        wanted = ", ".join(["...", *map(str, tail)])
        raise InvalidArgument(f"{name} has shape {array.shape}; what is taken is ({wanted})")


def arrays_of(*parts: tuple[str, Any, int], of_rays: bool = False) -> list[Any]:
    """The arrays of parts, and plain numbers as they are. A part is a name, values and a width: the length of the
    values' last axis, or 0 where they have none and make one column."""
    arrays: list[Any] = []
    for name, value, width in parts:
        if type(value) is float and not width and not _FLOAT_MAX < abs(value) < np.inf:
            arrays.append(value)
            continue
        array = host_array(name, value, of_rays)
        if width:
            shaped(name, array, width)
        arrays.append(array)
    return arrays


def common_shape(parts: Parts, arrays: list[Any]) -> tuple[int, ...]:
    """The shape that the leading shapes of parts are broadcast to."""
    shapes = [
        array.shape[:-1] if width else array.shape
        for (_, _, width), array in zip(parts, arrays)
        if type(array) is not float
    ]
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]  # type: ignore[no-any-return]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        told = ", ".join(f"{name} {np.shape(value)}" for name, value, _ in parts)
        raise InvalidArgument(f"shapes that do not fit each other: {told}") from None


def narrow(parts: Parts, arrays: list[Any], but: tuple[int, ...] = ()) -> tuple[list[Any], list[float]]:
    """The arrays of parts as float32, before they are broadcast, and how far each was moved. Parts of the leading shape
    `but` are left as they are: they are rounded where parts are put together."""
    kept, moved = list(arrays), [0.0] * len(arrays)
    for k, array in enumerate(arrays):
        if type(array) is float or array.dtype == FLOAT:
            continue
        name, _, width = parts[k]
        if not but or (array.shape[:-1] if width else array.shape) != but:
            kept[k], moved[k] = rounded(name, array)
    return kept, moved


def columns(parts: Parts, arrays: list[Any], out: NDArray[Any]) -> list[float]:
    """Writes parts side by side, broadcast, into an array in C order. Into float32 others are rounded, and are not
    broadcast: returns round_into's result for each."""
    begin, moved = 0, [0.0] * len(parts)
    for k, ((_, _, width), array) in enumerate(zip(parts, arrays)):
        to = out[..., begin : begin + (width or 1)]
        if type(array) is float or array.dtype == FLOAT or out.dtype == DOUBLE:
            with np.errstate(over="ignore"):
                (to if width else to[..., 0])[...] = array
        else:
            moved[k] = round_into(to, array if width else array[..., None])
        begin += width or 1
    return moved


class Space(NamedTuple):
    """Whether a scene takes float64 as it is."""

    in_double: Optional[bool]
    """None: it is not decided, and is by the first places that rounding would move by a share that shows."""
    origin: Optional[tuple[float, float, float]]
    """None: it is not known yet."""


FLOATS = Space(False, None)


def joined(*parts: tuple[str, Any, int], space: Space = FLOATS) -> NDArray[Any]:
    """Columns side by side, of parts as in arrays_of, as float32; or float64 where a scene takes it so. The leading
    shapes are broadcast."""
    given = arrays_of(*parts)
    if space.in_double and any(map(is_wide, given)):
        return _joined_doubles(parts, given, space)
    arrays, moved = narrow(parts, given)
    if space.in_double is None and _wants_double(parts, given, moved):
        return _joined_doubles(parts, given, space)
    tell_losses(parts, given, moved, has_origin=True)
    return _put_together(parts, arrays, FLOAT)


def _joined_doubles(parts: Parts, given: list[Any], space: Space) -> NDArray[Any]:
    if space.origin is not None:
        tell_far(places_of(parts, given), space.origin)
    return _put_together(parts, given, DOUBLE)


def _wants_double(parts: Parts, given: list[Any], moved: Sequence[float]) -> bool:
    """Parts without places, such as planes, go by the scene's origin, whichever that will be."""
    places = places_of(parts, given)
    if not places:
        return any(map(is_wide, given))
    return any(moved) and are_far(*map(range_of, places.values()), extent=_largest_size(parts, given))


def _largest_size(parts: Parts, given: list[Any]) -> float:
    """How long the largest of some solids with places and sizes is: a lone one has no other extent."""
    sizes = [np.abs(array[np.isfinite(array)]) for (name, *_), array in zip(parts, given) if name in SIZES]
    return 2.0 * float(max((size.max(initial=0.0) for size in sizes), default=0.0))


def _put_together(parts: Parts, arrays: list[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    out = np.empty((*common_shape(parts, arrays), sum(max(width, 1) for _, _, width in parts)), dtype)
    names = " and ".join(name for name, _, width in parts if width) or parts[0][0]
    tell_copy(names, out.nbytes, "they are joined; one array that has all is not copied")
    columns(parts, arrays, out)
    return out
