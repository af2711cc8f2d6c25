# SPDX-License-Identifier: Apache-2.0
"""Statuses as exceptions, and diagnostics."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any, Sequence

from ._library import lib, text

SEVERITIES = ("note", "warning", "error")
_TEXTS = ("code", "message", "file", "pointer", "node", "attribute", "hint", "excerpt")


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """What the library has to say about a place: str() is the text that commands print, without colours."""

    severity: str  # "note", "warning" or "error"
    code: str  # stable: "udo-duplicate-type"
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    pointer: str | None = None  # a JSON pointer into the file
    node: str | None = None
    attribute: str | None = None
    offset: int | None = None  # bytes
    hint: str | None = None
    excerpt: str | None = None  # the line of the file
    formatted: str = dataclasses.field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        return self.formatted

    def as_dict(self) -> dict[str, Any]:
        """The parts that are known."""
        return {f.name: value for f in dataclasses.fields(self) if f.name != "formatted"
                for value in [getattr(self, f.name)] if value is not None}


def _format(diag):
    size = lib.odlc_diag_format(diag, 0, None, None, 0)
    buffer = ctypes.create_string_buffer(size + 1)
    lib.odlc_diag_format(diag, 0, None, buffer, size + 1)
    return text(buffer.value).rstrip("\n")


def diagnostics(function, handle) -> list[Diagnostic]:
    """Copies of an object's diagnostics."""
    count = ctypes.c_size_t()
    first = function(handle, ctypes.byref(count))
    found = []
    for i in range(count.value):
        d = first[i]
        found.append(Diagnostic(severity=SEVERITIES[d.severity], line=d.line or None, column=d.column or None,
                                offset=d.offset if d.has_offset else None, formatted=_format(ctypes.byref(d)),
                                **{name: text(getattr(d, name)) for name in _TEXTS}))
    return found


class Error(Exception):
    """A call that failed. `diagnostics` has all that the library said, errors and what came before them."""

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()):
        super().__init__(message)
        self.diagnostics = list(diagnostics)


class UsageError(Error, ValueError):
    """An argument or option makes no sense."""


class IOFailedError(Error, OSError):
    """The operating system refused: open, read, write, rename."""

    def __str__(self) -> str:
        return Exception.__str__(self)


class InvalidError(Error, ValueError):
    """Bytes or a description that break their own format's rules."""


class UnsupportedError(Error):
    """Valid, but not something OpenDLC can do."""


class LimitError(Error):
    """Larger than a documented limit."""


class InternalError(Error):
    """A defect of OpenDLC."""


class StoppedError(Error):
    """A progress function asked for it."""


NOMEM, STOPPED = 6, 8
_CLASSES = {1: UsageError, 2: IOFailedError, 3: InvalidError, 4: UnsupportedError, 5: LimitError, 7: InternalError,
            STOPPED: StoppedError}


def check(status: int, found: Sequence[Diagnostic]) -> None:
    """Raises what the status says; `found` are the diagnostics since the call began."""
    if status == 0:
        return
    if status == NOMEM:
        raise MemoryError("memory ran out")
    errors = [d for d in found if d.severity == "error"]
    message = "\n".join(map(str, errors)) or text(lib.odlc_status_name(status))
    raise _CLASSES.get(status, Error)(message, found)
