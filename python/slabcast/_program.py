"""Kernels of the user's that trace rays: built by the library for a scene, launched by pyopencl."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_uint32, c_void_p
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Optional, Union

import numpy as np

from . import _library
from ._library import Handle, InvalidArgument, InvalidState, Unsupported, index_of, library, must

if TYPE_CHECKING:
    from ._scene import Scene

KernelQuery = Literal["closest", "distance", "any", "count", "all", "interval", "nearest"]


def _pyopencl() -> Any:
    try:
        import pyopencl
    except ImportError as error:
        raise ImportError(
            f"kernels of your own are launched by pyopencl: pip install slabcast[opencl] ({error})"
        ) from None
    return pyopencl


class _Flights:
    """The last launch on each queue. Until these have ended, nothing that a kernel is bound to may be let go."""

    def __init__(self, cl: Any) -> None:
        self._cl, self._process = cl, os.getpid()
        self._last: dict[int, tuple[Any, Any]] = {}  # by queue, which is held: another may get its address

    def add(self, queue: Any, done: Any) -> None:
        before = self._last.get(queue.int_ptr)
        if before is not None and queue.properties & self._cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
            done = self._cl.enqueue_marker(queue, [before[1], done])
        self._last[queue.int_ptr] = queue, done

    def are_inherited(self) -> bool:
        return os.getpid() != self._process

    def wait(self) -> None:
        last = [] if self.are_inherited() else list(self._last.values())
        self._last.clear()
        for _, done in last:
            try:
                done.wait()
            except self._cl.Error:  # it has ended too; the one who launched it has the event
                pass


def _bits(queries: Union[str, Iterable[str]]) -> int:
    asked = {queries} if isinstance(queries, str) else set(queries)
    return sum(1 << index_of("queries", one, _library.QUERIES) for one in asked)


def _create(scene: Scene, source: str, queries: int, options: Optional[str]) -> c_void_p:
    if not isinstance(source, str):
        raise InvalidArgument(f"source is a {type(source).__name__}; what is taken is a text in OpenCL C")
    program, committed = c_void_p(), scene._committed()
    given = None if options is None else options.encode()
    try:
        must(library.slab_program_create(committed.pointer, source.encode(), given, queries, byref(program)))
    except Unsupported as error:
        raise Unsupported(
            f"{error}. Kernels of your own need one: Scene(queue), with a queue of pyopencl, stands on its device. On "
            "cards of NVIDIA's they are there by OpenCL alone"
        ) from None
    return program


class Program:
    """Kernels in OpenCL C that trace rays. Scene.program makes it, and says how.

    It holds its scene. As a context manager it is closed at the end."""

    def __init__(
        self, scene: Scene, source: str, queries: Union[KernelQuery, Iterable[KernelQuery]], options: Optional[str]
    ) -> None:
        self._cl = _pyopencl()
        program, flights = _create(scene, source, _bits(queries), options), _Flights(self._cl)

        def end(pointer: int) -> None:
            flights.wait()
            library.slab_program_destroy(pointer)

        self._built: Optional[Handle] = Handle(program, end)
        self._scene, self._flights = scene, flights
        self._lock = threading.RLock()  # of arguments and launches
        context, device = c_void_p(), c_void_p()
        must(library.slab_context_objects(scene._context.pointer, byref(context), byref(device)))
        self._context = self._cl.Context.from_int_ptr(context.value, retain=True)
        self._objects = context.value, device.value

    @property
    def context(self) -> Any:
        """The pyopencl.Context of the scene, for queues and buffers."""
        return self._context

    def kernel(self, name: str, scene: Optional[Scene] = None) -> Kernel:
        """A kernel by its name, bound to a scene as Kernel.bind does. Each call makes another one."""
        return Kernel(self, name, scene)

    def close(self) -> None:
        """Frees the program, as soon as what it has launched has ended. Calls after that, of its kernels too, raise
        InvalidState."""
        self._built = None

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    @contextmanager
    def _entered(self) -> Iterator[Handle]:
        """The program of the library, for one thread at a time. It is not freed meanwhile."""
        built = self._built
        if built is None:
            raise InvalidState("the program is closed")
        if self._flights.are_inherited():
            raise InvalidState("the program is of the process that this one was forked from: make it anew")
        with self._lock:
            yield built


class Kernel:
    """A kernel of a program, bound to a scene. Program.kernel makes it. It keeps its program."""

    def __init__(self, program: Program, name: str, scene: Optional[Scene]) -> None:
        kernel = c_void_p()
        with program._entered() as built:
            must(library.slab_program_kernel(built.pointer, name.encode(), byref(kernel)))
        self._kernel = program._cl.Kernel.from_int_ptr(kernel.value, retain=False)
        self._program, self._name = program, name
        self.bind(scene)

    def bind(self, scene: Optional[Scene] = None) -> None:
        """Sets the parameters of SLAB_SCENE_PARAMETERS, which are the kernel's first, to the scene as a cast would see
        it now: what waits is committed. It keeps to that, whatever is committed later, until it is bound again. What
        the program has launched has ended by then.

        Args:
            scene: one of the same queue or device, with the same threads, traversal and layout, that is like the one
                that the program was built for; if it is not, the error says in what. None: that one.
        """
        program, count = self._program, c_uint32()
        committed = (scene or program._scene)._committed()
        with program._entered():
            program._flights.wait()
            must(library.slab_scene_bind(committed.pointer, self._kernel.int_ptr, 0, byref(count)))
            self._first = count.value

    def __call__(
        self,
        queue: Any,
        global_size: Sequence[int],
        *arguments: Any,
        local_size: Optional[Sequence[int]] = None,
        wait_for: Optional[Iterable[Any]] = None,
    ) -> Any:
        """Launches the kernel and does not wait. Returns its pyopencl.Event.

        Args:
            queue: a pyopencl.CommandQueue of the scene's context and device.
            global_size: work-items in each dimension.
            arguments: for the parameters after the scene's. Arrays and buffers of pyopencl, numbers of NumPy with the
                parameter's width, such as np.float32(2), structs, pyopencl.LocalMemory. Arrays are waited for, and
                have the event of the launch.
            local_size: work-items of a group; None: on processors at most 64, else as many as the driver likes.
            wait_for: events of pyopencl that come first.
        """
        program, cl = self._program, self._program._cl
        if (queue.context.int_ptr, queue.device.int_ptr) != program._objects:
            raise InvalidArgument("queue is of another context or device of OpenCL than the scene")
        values = [self._value(i, argument) for i, argument in enumerate(arguments)]
        arrays = [argument for argument in arguments if _is_array(argument)]
        if local_size is None and queue.device.type & cl.device_type.CPU:
            local_size = _small_group(global_size)
        waits = [*(wait_for or ()), *(event for array in arrays for event in array.events)]
        with program._entered():
            self._set(values)
            done = cl.enqueue_nd_range_kernel(
                queue, self._kernel, global_size, local_size, wait_for=waits or None, allow_empty_ndrange=True
            )
            program._flights.add(queue, done)
        for array in arrays:
            array.add_event(done)
        return done

    def _set(self, values: list[Any]) -> None:
        takes = self._kernel.num_args - self._first
        if len(values) != takes:
            raise InvalidArgument(f"{self._name} takes {takes} arguments after the scene's; {len(values)} are given")
        for i, value in enumerate(values):
            try:
                self._kernel.set_arg(self._first + i, value)
            except (self._program._cl.Error, TypeError) as error:
                raise InvalidArgument(f"{self._told(i)} is {value!r}, which is not taken: {error}") from None

    def _told(self, i: int) -> str:
        return f"argument {i} of {self._name}"

    def _value(self, i: int, argument: Any) -> Any:
        """An argument as pyopencl takes it."""
        if _is_array(argument):
            if argument.offset or not argument.flags.forc:
                raise InvalidArgument(f"{self._told(i)} is a part of an array; a kernel takes the whole, or a copy()")
            argument = argument.base_data
        elif isinstance(argument, np.ndarray) and argument.ndim:
            raise InvalidArgument(
                f"{self._told(i)} lies on the host: pyopencl.array.to_device(queue, it) takes it there"
            )
        elif isinstance(argument, (int, float)) and not isinstance(argument, np.generic):
            raise InvalidArgument(f"{self._told(i)} is {argument!r}, of no width: such as np.float32({argument!r}) has")
        if isinstance(argument, self._program._cl.MemoryObject) and argument.context != self._program.context:
            raise InvalidArgument(f"{self._told(i)} is of another context of OpenCL than the scene")
        return argument


def _small_group(global_size: Sequence[int]) -> tuple[int, ...]:
    """PoCL's own choice has up to 4096 work-items, and what they keep of their rays overflows a thread's stack."""
    first = max(divisor for divisor in range(1, 65) if global_size[0] % divisor == 0)
    return (first, *(1 for _ in global_size[1:]))


def _is_array(argument: Any) -> bool:
    """Whether it is an array of pyopencl."""
    return type(argument).__module__ == "pyopencl.array"
