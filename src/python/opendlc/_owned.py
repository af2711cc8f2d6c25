# SPDX-License-Identifier: Apache-2.0
"""Who owns what: objects of the library, the bytes that they read, and the arrays that show their memory."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Union

import numpy as np

from . import _structs as c
from ._errors import check, diagnostics
from ._library import raw

Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, np.ndarray]


class Handle:
    """An object of the library, freed with the last reference to it. What it borrows is kept as long."""

    def __init__(self, address: int | None, free: Any):
        if not address:
            raise MemoryError("memory ran out")
        self.address, self._free, self.kept = ctypes.c_void_p(address), free, []

    def __del__(self) -> None:
        if getattr(self, "_free", None):
            self._free(self.address)


class Buffer:
    """Bytes in memory under a name; the object that has them stays as it is meanwhile (bytearrays cannot be resized)."""

    def __init__(self, name: Any, data: Any):
        # A view holds the buffer: of the memory itself, and of one that is read-only as well.
        self.array = np.frombuffer(memoryview(data).cast("B"), np.uint8) if len(memoryview(data)) else np.zeros(0, np.uint8)
        self.struct = c.Bytes(raw(name), self.array.ctypes.data, self.array.size)


def is_bytes(source: Any) -> bool:
    return isinstance(source, (bytes, bytearray, memoryview, np.ndarray))


def as_buffer(source: Source) -> Buffer:
    """A file, or bytes, in memory."""
    if is_bytes(source):
        return Buffer("file in memory", source)
    with open(source, "rb") as file:
        return Buffer(source, file.read())


def open_source(handle: Handle, source: Source, open_path: Any, open_bytes: Any, *more: Any) -> int:
    """Opens a path, or bytes, which the handle keeps then; gives the status."""
    if not is_bytes(source):
        return open_path(handle.address, raw(source), *more)
    buffer = Buffer("container in memory", source)
    handle.kept.append(buffer)
    return open_bytes(handle.address, ctypes.byref(buffer.struct), *more)


def array_at(owner: Any, address: int, size: int, dtype: Any, shape: Any) -> np.ndarray:
    """A read-only array of memory at an address, which keeps its owner."""
    if size == 0:
        return np.zeros(shape, dtype)
    memory = (ctypes.c_char * size).from_address(address)
    memory.owner = owner
    array = np.ndarray(shape, dtype, buffer=memory)
    array.flags.writeable = False
    return array


class Closable:
    """An object with a handle, which close() lets go: what shows its memory keeps that."""

    _diags: Any

    def __init__(self, handle: Handle):
        self._handle: Handle | None = handle
        self._seen = 0

    @property
    def handle(self) -> Handle:
        if self._handle is None:
            raise ValueError(f"the {type(self).__name__} is closed")
        return self._handle

    def close(self) -> None:
        """Lets the object go. Arrays that show its memory stay as they are. A second call does nothing."""
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def diagnostics(self) -> list:
        """All that the library said so far, oldest first."""
        return diagnostics(self._diags, self.handle.address)

    def _check(self, status: int) -> None:
        if status:
            found = diagnostics(self._diags, self.handle.address)
            new, self._seen = found[self._seen:], len(found)
            check(status, new)
