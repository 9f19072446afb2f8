"""Lets Ctrl-C and the caller's progress function into a cast that runs with the GIL released."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Callable, Optional

from ._structs import Progress

# progress(rays_done, rays_total): a true value, or an exception, ends the cast.
ProgressFunction = Callable[[int, int], Any]


class Watch:
    """A progress callback of the library while it is entered.

    Python runs handlers of signals where its own code runs: here the callback, in whose first instruction nothing can
    be caught yet. So the handler of SIGINT is put off until the callback has begun, and its exception leaves by
    `with`."""

    def __init__(self, progress: Optional[ProgressFunction], total: int = 0) -> None:
        """total: rays, where the library casts them by several calls."""
        self._progress, self._total = progress, total
        self.done_before = 0  # the calls before this one
        self.callback = Progress(self._tell)
        self._handler: Any = None
        self._interrupt: Optional[tuple[int, Optional[FrameType]]] = None
        self._error: Optional[BaseException] = None

    def __enter__(self) -> Watch:
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self._put_off)
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        if self._error is not None:
            raise self._error
        self._interrupted()

    def _put_off(self, number: int, frame: Optional[FrameType]) -> None:
        self._interrupt = number, frame

    def _interrupted(self) -> None:
        if self._interrupt is not None:
            interrupt, self._interrupt = self._interrupt, None
            self._handler(*interrupt)

    def _tell(self, user: Optional[int], done: int, total: int) -> int:
        try:
            self._interrupted()
            if self._progress is None:
                return 0
            return int(bool(self._progress(self.done_before + done, self._total or total)))
        except BaseException as error:
            self._error = error
            return 1
