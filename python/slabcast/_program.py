"""Kernels of the user's that trace rays: built by the library for a scene, launched by pyopencl or by CUDA's driver."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_void_p
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Optional, Union

from . import _card, _library
from ._kernels import Launcher
from ._library import Handle, InvalidArgument, InvalidState, Unsupported, index_of, library, must

if TYPE_CHECKING:
    from ._scene import Scene

KernelQuery = Literal["closest", "distance", "any", "count", "all", "interval", "nearest"]


def _launcher_of(scene: Scene) -> Launcher:
    if _card.is_there(scene):
        from ._kernels_cuda import CudaLauncher

        return CudaLauncher()
    from ._kernels_cl import ClLauncher

    return ClLauncher()


def _bits(queries: Union[str, Iterable[str]]) -> int:
    asked = {queries} if isinstance(queries, str) else set(queries)
    return sum(1 << index_of("queries", one, _library.QUERIES) for one in asked)


def _create(scene: Scene, source: str, queries: int, options: Optional[str]) -> c_void_p:
    if not isinstance(source, str):
        raise InvalidArgument(f"source is a {type(source).__name__}; what is taken is a text in OpenCL C or CUDA C++")
    program, committed = c_void_p(), scene._committed()
    given = None if options is None else options.encode()
    try:
        must(library.slab_program_create(committed.pointer, source.encode(), given, queries, byref(program)))
    except Unsupported as error:
        if _card.is_there(scene):
            raise
        raise Unsupported(
            f'{error}. Kernels of your own need one: Scene("cuda") is on a card, and Scene(queue), with a queue of '
            "pyopencl, on its device"
        ) from None
    return program


class Program:
    """Kernels in OpenCL C, or for a card by CUDA in CUDA C++, that trace rays. Scene.program makes it.

    It holds its scene. As a context manager it is closed at the end."""

    def __init__(
        self, scene: Scene, source: str, queries: Union[KernelQuery, Iterable[KernelQuery]], options: Optional[str]
    ) -> None:
        launcher, process = _launcher_of(scene), os.getpid()
        program = _create(scene, source, _bits(queries), options)

        def end(pointer: int) -> None:
            try:
                if os.getpid() == process:
                    launcher.wait()
            finally:
                library.slab_program_destroy(pointer)

        self._built: Optional[Handle] = Handle(program, end)
        self._scene, self._launcher, self._process = scene, launcher, process
        self._lock = threading.RLock()  # of arguments and launches
        launcher.open(scene)

    @property
    def context(self) -> Any:
        """The pyopencl.Context of the scene, for queues and buffers. By CUDA the address of its CUcontext, which is the
        card's primary one."""
        return self._launcher.context

    def kernel(self, name: str, scene: Optional[Scene] = None) -> Kernel:
        """A kernel by its name, bound to a scene as Kernel.bind does. Each call makes another one."""
        return Kernel(self, name, scene)

    def close(self) -> None:
        """Frees the program, as soon as what it has launched has ended. Calls after that, of its kernels too, raise
        InvalidState."""
        self._built = None
        if os.getpid() == self._process:
            self._launcher.wait()

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
        if os.getpid() != self._process:
            raise InvalidState("the program is of the process that this one was forked from: make it anew")
        with self._lock:
            yield built


class Kernel:
    """A kernel of a program, bound to a scene. Program.kernel makes it. It keeps its program."""

    def __init__(self, program: Program, name: str, scene: Optional[Scene]) -> None:
        with program._entered() as built:
            self._kernel = program._launcher.find(built, name)
        self._program = program
        self.bind(scene)

    def bind(self, scene: Optional[Scene] = None) -> None:
        """Sets the parameters of SLAB_SCENE_PARAMETERS, which are the kernel's first, to the scene as a cast would see
        it now: waiting changes are committed. Until it is bound again it keeps to that scene, also after later commits.
        All work that the program has launched has ended by then.

        Args:
            scene: one of the same queue or device, with the same threads, traversal and layout. It must be like the
                scene that the program was built for; if it is not, the error says how they differ. None: that one.
        """
        program = self._program
        bound = scene or program._scene
        committed = bound._committed()
        with program._entered():
            program._launcher.wait()
            self._kernel.bind(committed, bound._context)

    def __call__(
        self,
        queue: Any,
        global_size: Sequence[int],
        *arguments: Any,
        local_size: Optional[Sequence[int]] = None,
        wait_for: Optional[Iterable[Any]] = None,
    ) -> Any:
        """Launches the kernel and does not wait. Returns its pyopencl.Event; by CUDA an event with wait() and
        is_over().

        Args:
            queue: a pyopencl.CommandQueue of the scene's context and device. By CUDA None, which is the stream that the
                first array's package works on, as with casts; or a stream of torch or CuPy, or its handle.
            global_size: work-items in each dimension, which CUDA calls threads. No others run.
            arguments: for the parameters after the scene's. Arrays and buffers of pyopencl, numbers of NumPy with the
                parameter's width, such as np.float32(2), structs, pyopencl.LocalMemory. Arrays are waited for, and
                have the event of the launch. By CUDA arrays on the card of torch, CuPy and others, in C order, and
                results of casts: CardArray, and CardRecords, which are their rows. Each is waited for, and what comes
                on its own stream later waits for the launch.
            local_size: work-items of a group, which CUDA calls a block. None: on processors at most 64; on a card by
                CUDA at most 128 that divide the first size; else as many as the driver likes.
            wait_for: events of pyopencl that come first; by CUDA, of launches.
        """
        entered = self._program._entered
        return self._kernel.launch(entered, queue, global_size, arguments, local_size, wait_for or ())
