# SPDX-License-Identifier: Apache-2.0
"""Structs of options, whose members the library names itself: a newer one has more."""

from __future__ import annotations

import ctypes
import difflib
from ctypes import c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any, Mapping

import numpy as np

from . import _structs as c
from ._library import lib, names, raw, text
from ._owned import Buffer

INT, INT64, SIZE, DOUBLE, TEXT, LIST, PAIRS, BUFFERS, POINTER = range(9)


def _pair_value(value: Any) -> str:
    """Dimensions may be a list: [1, 3, 224, 224]."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return ",".join(str(int(v)) for v in value) or "[]"
    return value if isinstance(value, (str, bytes)) or hasattr(value, "__fspath__") else str(value)


class Options:
    """A struct of options, with the defaults and what it is given. Whatever its pointers lead to is kept here."""

    def __init__(self, what: str, given: Mapping[str, Any]):
        count, size = c_size_t(), c_size_t()
        first = getattr(lib, f"odlc_{what}_members")(ctypes.byref(count), ctypes.byref(size))
        self.members = {text(first[i].name): first[i] for i in range(count.value)}
        # Aligned as any member needs.
        self._memory = (c_int64 * (size.value // 8))()
        self.address = ctypes.addressof(self._memory)
        self.kept: list = [self._memory]
        self.buffers: list[Buffer] = []
        getattr(lib, f"odlc_{what}_defaults")(self.address, size)
        for name, value in given.items():
            if value is not None:
                self.set(name, value)

    def names(self) -> list[str]:
        """Those that a caller can give."""
        return [name for name, member in self.members.items() if member.kind not in (SIZE, POINTER)]

    def _at(self, name: str, kind: Any) -> Any:
        return kind.from_address(self.address + self.members[name].offset)

    def _set_array(self, name: str, array: Any, count: int) -> None:
        self.kept.append(array)
        self._at(name, c_void_p).value = ctypes.addressof(array) if count else None
        self._at(f"n_{name}", c_size_t).value = count

    def set(self, name: str, value: Any) -> None:
        member = self.members.get(name)
        if member is None or member.kind in (SIZE, POINTER):
            near = difflib.get_close_matches(name, self.names(), 1)
            raise TypeError(f"there is no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        if member.kind in (INT, INT64):
            number = int(value)
            bits = 31 if member.kind == INT else 63
            if isinstance(value, (str, bytes)) or number != value or not -2**bits <= number < 2**bits:
                raise ValueError(f"{name}: {value!r} is not an integer of {bits + 1} bits")
            self._at(name, c_int if member.kind == INT else c_int64).value = number
        elif member.kind == DOUBLE:
            self._at(name, c_double).value = value
        elif member.kind == TEXT:
            encoded = raw(value)
            self.kept.append(encoded)
            self._at(name, c_char_p).value = encoded
        elif member.kind == LIST:
            self._set_array(name, *names(value))
        elif member.kind == PAIRS:
            pairs = [(raw(key), raw(_pair_value(v))) for key, v in (value.items() if hasattr(value, "items") else value)]
            self._set_array(name, (c.NameValue * len(pairs))(*pairs), len(pairs))
        else:
            for key, data in value.items():
                self.add_buffer(key, data)

    def add_buffer(self, name: Any, data: Any) -> None:
        """Bytes that stand for a file of that name."""
        self.buffers.append(Buffer(name, data))
        self._set_array("buffers", (c.Bytes * len(self.buffers))(*(b.struct for b in self.buffers)), len(self.buffers))

    def set_pointer(self, name: str, function: Any) -> None:
        self.kept.append(function)
        self._at(name, c_void_p).value = ctypes.cast(function, c_void_p).value
