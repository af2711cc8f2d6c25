# SPDX-License-Identifier: Apache-2.0
"""Progress functions as callbacks of C, and what ends a long call."""

from __future__ import annotations

import signal
import threading
from typing import Any, Callable, Optional

Progress = Callable[..., Any]


class Watch:
    """A long call, as a context. The library calls `callback` in short intervals. A progress function that returns True
    ends the call by StoppedError; an exception of it, or Ctrl-C, ends it, too, and is raised behind it."""

    def __init__(self, kind: Any, progress: Optional[Progress], read: Callable[..., tuple]):
        self._progress, self._read = progress, read
        self._error: Optional[BaseException] = None
        self._interrupts, self._before = [], None
        self.callback = kind(self._told)

    def _told(self, *told: Any) -> int:
        if self.ended:
            return 1
        if self._progress is None:
            return 0
        try:
            return 1 if self._progress(*self._read(*told)) is True else 0
        except BaseException as error:  # raised when the call has returned
            self._error = error
            return 1

    def _interrupted(self, number: int, frame: Any) -> None:
        # A handler that raised would do so on the way into the callback, where ctypes forgets exceptions.
        self._interrupts.append((number, frame))

    @property
    def ended(self) -> bool:
        """Whether an exception is to be raised."""
        return self._error is not None or bool(self._interrupts)

    def __enter__(self) -> "Watch":
        handler = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(handler):
            self._before = handler
            signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        if self._interrupts:
            self._before(*self._interrupts.pop())


def counts(_user: Any, done: int, total: int) -> tuple:
    """What odlc_work_fn tells a progress function."""
    return done, total
