"""Kernels of the user's by CUDA, launched by NVIDIA's driver on arrays on a card, where they lie and on their own
stream. The host waits for nothing."""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Iterable, Sequence
from ctypes import byref, c_uint, c_void_p
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np

from . import _card, _nvrtc
from ._card_arrays import CardArray, CardRecords, is_on_card, see
from ._card_packages import package_of
from ._kernels import Entered, refuse_of_host, refuse_of_no_width, require_count, told
from ._library import Handle, InvalidArgument, InvalidState, library, must

if TYPE_CHECKING:
    from ._cuda import Event
    from ._scene import Scene

SCENE_PARAMETERS_MOST = 10  # of slabcast_cuda.h
_POINTER = 8  # bytes of a parameter
_GROUP = 128  # most work-items of a group where the user names none: more of them may lack registers
_GROUP_MOST = 1024  # that a card takes
_DEFAULT_STREAM, _PER_THREAD_STREAM = 1, 2
# A driver that reports no sizes reads as many bytes, and as many parameters, as the kernel has.
_SPARE_BYTES, _SPARE_PARAMETERS = 4096, 64


class CudaLauncher:
    def __init__(self) -> None:
        _nvrtc.load()
        # By function, who has bound it: the driver has one of each name.
        self.bound: dict[int, object] = {}

    def open(self, scene: Scene) -> None:
        from . import _cuda

        self.card = _cuda.Card(scene._context)
        self.context = self.card.context

    def find(self, program: Handle, name: str) -> CudaKernel:
        function = c_void_p()
        try:
            must(library.slab_program_function(program.pointer, name.encode(), byref(function)))
        except InvalidArgument as error:
            raise InvalidArgument(f'{error}; extern "C" keeps a name as it is written') from None
        return CudaKernel(self, function.value or 0, name)

    def wait(self) -> None:
        _card.land(self)


class _Given(NamedTuple):
    """An array among the arguments."""

    address: int
    stream: int
    """Its own."""
    keep: Any
    array: Any


class CudaKernel:
    def __init__(self, launcher: CudaLauncher, function: int, name: str) -> None:
        from . import _cuda

        self._launcher, self._function, self._name, self._cuda = launcher, function, name, _cuda
        self._sizes = _cuda.parameter_sizes(launcher.card, function)
        self._scene: list[int] = []  # addresses of the first parameters
        self._turn = object()

    def bind(self, scene: Handle, context: Handle) -> None:
        if context is not self._launcher.card.of:
            raise InvalidArgument(
                "scene is of another context than the program's: it has another card, threads or traversal"
            )
        parameters, count = (c_void_p * SCENE_PARAMETERS_MOST)(), c_uint()
        must(library.slab_scene_bind_cuda(scene.pointer, self._function, parameters, byref(count)))
        first = (self._sizes or ())[: count.value]
        if self._sizes is not None and (len(first) < count.value or first[0] <= _POINTER or {*first[1:]} != {_POINTER}):
            raise InvalidArgument(f"the first parameters of {self._name} are not SLAB_SCENE_PARAMETERS")
        self._scene = [address or 0 for address in parameters[: count.value]]
        self._launcher.bound[self._function] = self._turn

    def launch(
        self,
        entered: Entered,
        queue: Any,
        global_size: Sequence[int],
        arguments: tuple[Any, ...],
        local_size: Optional[Sequence[int]],
        wait_for: Iterable[Any],
    ) -> Event:
        blocks, threads = _shape_of(global_size, local_size)
        _card.land()
        with entered() as program:
            if self._launcher.bound.get(self._function) is not self._turn:
                raise InvalidState(
                    f"another kernel {self._name} of the program has been bound since: by CUDA one of a name is, and "
                    "this is again after bind()"
                )
            stream = self._stream(queue, arguments)
            values, given = self._values(arguments, stream)
            if queue is None:  # arrays of another card have been reported by now
                self._require_context(stream)
            for event in self._events(wait_for):
                event.before(stream)
            call = lambda: self._run(blocks, threads, stream, values)
            keep = program, *(array.keep for array in given)
            end = _card.fly(self._launcher.card, stream, self._launcher, keep, call)
        for array in given:
            if isinstance(array.array, CardArray):
                array.array.wrote(end)
            if array.stream != stream:
                end.before(array.stream)
        return end

    def _run(self, blocks: tuple[int, ...], threads: tuple[int, ...], stream: int, values: list[bytes]) -> None:
        if 0 in blocks:
            return
        if self._sizes is None:
            values = [*(value + bytes(_SPARE_BYTES) for value in values), *[bytes(_SPARE_BYTES)] * _SPARE_PARAMETERS]
        kept = [ctypes.create_string_buffer(value, len(value)) for value in values]
        addresses = [*self._scene, *map(ctypes.addressof, kept)]
        parameters = (c_void_p * len(addresses))(*addresses)
        self._cuda.launch(self._launcher.card, self._function, (*blocks, *threads), stream, parameters)

    # ---- where it runs ----

    def _stream(self, queue: Any, arguments: tuple[Any, ...]) -> int:
        """The stream that is given, else that of the first array."""
        stream = _handle_of(queue)
        if stream is not None:
            self._require_context(stream)
            return stream
        for i, argument in enumerate(arguments):
            if is_on_card(_rows(argument)):
                return package_of(_rows(argument)).stream(told(i, self._name), _rows(argument))
        return _DEFAULT_STREAM

    def _require_context(self, stream: int) -> None:
        if stream > _PER_THREAD_STREAM and self._cuda.context_of(self._launcher.card, stream) != self._launcher.context:
            raise InvalidArgument("queue, or the arrays' stream, is of another card or context of CUDA than the scene")

    def _events(self, wait_for: Iterable[Any]) -> list[Event]:
        events = list(wait_for)
        for i, event in enumerate(events):
            if not isinstance(event, self._cuda.Event):
                raise InvalidArgument(
                    f"wait_for[{i}] is a {type(event).__name__}; by CUDA what is taken are events of launches"
                )
        return events

    # ---- arguments ----

    def _values(self, arguments: tuple[Any, ...], stream: int) -> tuple[list[bytes], list[_Given]]:
        """Their bytes, and the arrays among them."""
        if self._sizes is not None:
            require_count(self._name, len(self._sizes) - len(self._scene), len(arguments))
        values, given = [], []
        for i, argument in enumerate(arguments):
            name, rows = told(i, self._name), _rows(argument)
            if is_on_card(rows):
                given.append(self._given(name, rows, stream))
                values.append(np.uint64(given[-1].address).tobytes())
            else:
                values.append(_bytes_of(name, argument))
            self._require_size(i, argument, len(values[-1]))
        return values, given

    def _given(self, name: str, array: Any, stream: int) -> _Given:
        """An array, for the stream to read or write."""
        package = package_of(array)
        with package.within(self._launcher.card):
            own = package.stream(name, array)
            waits = not (package.casts_on_own and own == stream)
            place = see(name, array, self._launcher.card, stream if waits else -1)
        if not place.is_c_contiguous:
            raise InvalidArgument(
                f"{name} has strides {place.strides}, and a kernel sees none: give {package.in_order('it')}"
            )
        return _Given(place.address, own, place.keep, array)

    def _require_size(self, i: int, argument: Any, size: int) -> None:
        if self._sizes is not None and size != self._sizes[len(self._scene) + i]:
            raise InvalidArgument(
                f"{told(i, self._name)} is {argument!r}, which is not taken: it has {size} bytes, and the parameter "
                f"{self._sizes[len(self._scene) + i]}"
            )


def _rows(argument: Any) -> Any:
    """The array that results with fields are in; else what is given."""
    return argument.rows if isinstance(argument, CardRecords) else argument


def _bytes_of(name: str, argument: Any) -> bytes:
    """A number or a struct."""
    refuse_of_host(name, argument, "cupy.asarray(it), or torch.as_tensor(it, device=...),")
    refuse_of_no_width(name, argument)
    if argument is None:
        return bytes(_POINTER)
    if isinstance(argument, (np.generic, np.ndarray)) and argument.dtype.isnative and not argument.dtype.hasobject:
        return argument.tobytes()
    if isinstance(argument, (ctypes.Structure, ctypes.Union, ctypes._SimpleCData)):
        return bytes(argument)
    raise InvalidArgument(
        f"{name} is {argument!r}, which is not taken: it is no array on a card, number of NumPy or struct"
    )


def _handle_of(queue: Any) -> Optional[int]:
    """The stream of a package, or its handle; None: the user named none."""
    if queue is None:
        return None
    if hasattr(queue, "__cuda_stream__"):  # of CUDA's own packages: a version, and the handle
        queue = queue.__cuda_stream__()[1]
    for name in ("cuda_stream", "ptr"):  # of torch, and of CuPy
        queue = getattr(queue, name, queue)
    if isinstance(queue, bool) or not isinstance(queue, int) or queue < 0:
        raise InvalidArgument(
            f"queue is {queue!r}; by CUDA what is taken is a stream of torch or CuPy, its handle, or None, for the "
            "stream of the arrays"
        )
    return queue or _DEFAULT_STREAM


# ---- sizes ----


def _lengths(name: str, size: Any, least: int) -> tuple[int, ...]:
    try:
        lengths = tuple(operator.index(n) for n in size)
    except TypeError:
        lengths = ()
    if not 1 <= len(lengths) <= 3 or min(lengths) < least:
        raise InvalidArgument(f"{name} is {size!r}; what is taken are 1 to 3 whole numbers from {least} on")
    return lengths


def _shape_of(global_size: Any, local_size: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Blocks along x, y and z, and threads of a block."""
    whole = _lengths("global_size", global_size, 0)
    group = _group_of(whole) if local_size is None else _lengths("local_size", local_size, 1)
    if len(group) != len(whole) or math.prod(group) > _GROUP_MOST:
        raise InvalidArgument(
            f"local_size is {local_size!r}; for {global_size!r} it has {len(whole)} numbers, of a product up to "
            f"{_GROUP_MOST}"
        )
    blocks = tuple(-(-n // by) for n, by in zip(whole, group))
    if any(n % by for n, by in zip(whole, group)):
        rounded = tuple(n * by for n, by in zip(blocks, group))
        raise InvalidArgument(
            f"global_size is {whole}, no multiple of local_size {group}: give {rounded}, and let the kernel return "
            "where it is beyond"
        )
    if any(n > most for n, most in zip(blocks, (0x7FFFFFFF, 0xFFFF, 0xFFFF))):
        raise InvalidArgument(f"global_size is {whole}: by {group} a group that is more than a card takes at once")
    fill = (1,) * (3 - len(whole))
    return (*blocks, *fill), (*group, *fill)


def _group_of(whole: tuple[int, ...]) -> tuple[int, ...]:
    """A group that divides the first length, and leaves as few threads of its warps of 32 idle as may be."""
    divisors = (n for n in range(1, _GROUP + 1) if whole[0] % n == 0)
    first = max(divisors, key=lambda n: (n / (-(-n // 32) * 32), n))
    return (first, *(1 for _ in whole[1:]))
