"""Kernels of the user's by OpenCL, launched by pyopencl on its arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ctypes import byref, c_uint32, c_void_p
from typing import TYPE_CHECKING, Any, Optional

from ._kernels import Entered, refuse_of_host, refuse_of_no_width, require_count, told
from ._library import Handle, InvalidArgument, library, must

if TYPE_CHECKING:
    from ._scene import Scene


def _pyopencl() -> Any:
    try:
        import pyopencl
    except ImportError as error:
        raise ImportError(
            f"kernels of your own are launched by pyopencl: pip install slabcast[opencl] ({error})"
        ) from None
    return pyopencl


class ClLauncher:
    """It remembers the last launch on each queue. Until these have ended, nothing that a kernel is bound to may be let
    go."""

    def __init__(self) -> None:
        self.cl = _pyopencl()
        self._last: dict[int, tuple[Any, Any]] = {}  # by queue, which is held: another may get its address

    def open(self, scene: Scene) -> None:
        context, device = c_void_p(), c_void_p()
        must(library.slab_context_objects(scene._context.pointer, byref(context), byref(device)))
        self.context = self.cl.Context.from_int_ptr(context.value, retain=True)
        self.objects = context.value, device.value

    def find(self, program: Handle, name: str) -> ClKernel:
        kernel = c_void_p()
        must(library.slab_program_kernel(program.pointer, name.encode(), byref(kernel)))
        return ClKernel(self, self.cl.Kernel.from_int_ptr(kernel.value, retain=False), name)

    def add(self, queue: Any, done: Any) -> None:
        before = self._last.get(queue.int_ptr)
        if before is not None and queue.properties & self.cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
            done = self.cl.enqueue_marker(queue, [before[1], done])
        self._last[queue.int_ptr] = queue, done

    def wait(self) -> None:
        last = list(self._last.values())
        self._last.clear()
        for _, done in last:
            try:
                done.wait()
            except self.cl.Error:  # it has ended too; the caller of the launch has the event
                pass


class ClKernel:
    def __init__(self, launcher: ClLauncher, kernel: Any, name: str) -> None:
        self._launcher, self._kernel, self._name, self._first = launcher, kernel, name, 0

    def bind(self, scene: Handle, context: Handle) -> None:
        count = c_uint32()
        must(library.slab_scene_bind(scene.pointer, self._kernel.int_ptr, 0, byref(count)))
        self._first = count.value

    def launch(
        self,
        entered: Entered,
        queue: Any,
        global_size: Sequence[int],
        arguments: tuple[Any, ...],
        local_size: Optional[Sequence[int]],
        wait_for: Iterable[Any],
    ) -> Any:
        cl = self._launcher.cl
        if not isinstance(queue, cl.CommandQueue):
            raise InvalidArgument(f"queue is a {type(queue).__name__}; what is taken is a pyopencl.CommandQueue")
        if (queue.context.int_ptr, queue.device.int_ptr) != self._launcher.objects:
            raise InvalidArgument("queue is of another context or device of OpenCL than the scene")
        values = [self._value(i, argument) for i, argument in enumerate(arguments)]
        arrays = [argument for argument in arguments if _is_array(argument)]
        if local_size is None and queue.device.type & cl.device_type.CPU:
            local_size = _small_group(global_size)
        waits = [*wait_for, *(event for array in arrays for event in array.events)]
        with entered():
            self._set(values)
            done = cl.enqueue_nd_range_kernel(
                queue, self._kernel, global_size, local_size, wait_for=waits or None, allow_empty_ndrange=True
            )
            self._launcher.add(queue, done)
        for array in arrays:
            array.add_event(done)
        return done

    def _set(self, values: list[Any]) -> None:
        require_count(self._name, self._kernel.num_args - self._first, len(values))
        for i, value in enumerate(values):
            try:
                self._kernel.set_arg(self._first + i, value)
            except (self._launcher.cl.Error, TypeError) as error:
                raise InvalidArgument(f"{told(i, self._name)} is {value!r}, which is not taken: {error}") from None

    def _value(self, i: int, argument: Any) -> Any:
        """An argument as pyopencl takes it."""
        name = told(i, self._name)
        if _is_array(argument):
            if argument.offset or not argument.flags.forc:
                raise InvalidArgument(f"{name} is a part of an array; a kernel takes the whole, or a copy()")
            argument = argument.base_data
        refuse_of_host(name, argument, "pyopencl.array.to_device(queue, it)")
        refuse_of_no_width(name, argument)
        if isinstance(argument, self._launcher.cl.MemoryObject) and argument.context != self._launcher.context:
            raise InvalidArgument(f"{name} is of another context of OpenCL than the scene")
        return argument


def _small_group(global_size: Sequence[int]) -> tuple[int, ...]:
    """PoCL's own choice has up to 4096 work-items, and what they keep of their rays overflows a thread's stack."""
    first = max(divisor for divisor in range(1, 65) if global_size[0] % divisor == 0)
    return (first, *(1 for _ in global_size[1:]))


def _is_array(argument: Any) -> bool:
    """Whether it is an array of pyopencl."""
    return type(argument).__module__ == "pyopencl.array"
