"""The interface of backends for kernels of the user's, and the refusals of arguments that all share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Callable, Optional, Protocol

import numpy as np

from ._library import Handle, InvalidArgument

if TYPE_CHECKING:
    from ._scene import Scene

Entered = Callable[[], AbstractContextManager[Handle]]  # within it the program is this thread's, and stays


class Bindable(Protocol):
    """A kernel of a program. One thread at a time is in bind(), with the program."""

    def bind(self, scene: Handle, context: Handle) -> None:
        """context: the scene's."""

    def launch(
        self,
        entered: Entered,
        queue: Any,
        global_size: Sequence[int],
        arguments: tuple[Any, ...],
        local_size: Optional[Sequence[int]],
        wait_for: Iterable[Any],
    ) -> Any:
        """The event of the launch."""


class Launcher(Protocol):
    """A program's way to its kernels."""

    context: Any

    def open(self, scene: Scene) -> None:
        """Is called once, with the scene that the program was built for."""

    def find(self, program: Handle, name: str) -> Bindable: ...

    def wait(self) -> None:
        """Waits until all that was launched has ended."""


def told(i: int, kernel: str) -> str:
    """An argument, as messages call it."""
    return f"argument {i} of {kernel}"


def require_count(kernel: str, takes: int, given: int) -> None:
    if given != takes:
        raise InvalidArgument(f"{kernel} takes {takes} arguments after the scene's; {given} are given")


def refuse_of_no_width(name: str, argument: Any) -> None:
    if isinstance(argument, (int, float)) and not isinstance(argument, np.generic):
        raise InvalidArgument(f"{name} is {argument!r}, of no width: such as np.float32({argument!r}) has")


def refuse_of_host(name: str, argument: Any, way: str) -> None:
    if isinstance(argument, np.ndarray) and argument.ndim:
        raise InvalidArgument(f"{name} lies on the host: {way} takes it there")
