# SPDX-License-Identifier: Apache-2.0
"""What differs between two containers."""

from __future__ import annotations

import ctypes
import json
from typing import Any, Iterable, Optional, Union

from . import _structs as c
from ._errors import check
from ._inspect import Container, as_container, reported
from ._library import WORK_FN, lib, listed, text
from ._owned import Handle, Source
from ._progress import Progress, Watch, counts


def _categories() -> list[str]:
    names, i = [], 0
    while name := lib.odlc_diff_category_name(i):
        names.append(text(name))
        i += 1
    return names


def _statistics(s: Any) -> dict[str, Any]:
    found = {"elements": s.elements, "differing": s.differing}
    if s.has_stored:
        found["differing_as_stored"] = s.stored
    if s.numbers:
        found.update(not_finite=s.special, max_absolute=s.max_absolute, max_relative=s.max_relative, cosine=s.cosine,
                     largest_at=s.worst, largest_first=s.worst_values[0], largest_second=s.worst_values[1])
    return found


class Diff:
    """What differs between two containers. It is true when anything does."""

    def __init__(self, handle: Handle):
        self._handle = handle

    def __bool__(self) -> bool:
        return not self.same

    @property
    def same(self) -> bool:
        """Whether nothing that was compared differs."""
        return bool(lib.odlc_diff_same(self._handle.address))

    @property
    def differences(self) -> list[dict[str, Any]]:
        """A row for each: graph, layer, category, subject, same, first, second (as text; None: absent), and of elements
        statistics."""
        names = _categories()
        return [{"graph": text(d.graph), "layer": text(d.layer), "category": names[d.category], "subject": text(d.subject),
                 "same": bool(d.same), "first": text(d.values[0]), "second": text(d.values[1]),
                 "statistics": _statistics(d.statistics.contents) if d.statistics else None}
                for d in listed(lib.odlc_diff_list, self._handle.address)]

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """Of each category: how many comparisons there were, and how many of them found a difference."""
        found = {}
        for i, name in enumerate(_categories()):
            numbers = ctypes.c_uint64(), ctypes.c_uint64()
            lib.odlc_diff_count(self._handle.address, i, *map(ctypes.byref, numbers))
            found[name] = tuple(n.value for n in numbers)
        return found

    @property
    def notes(self) -> list[str]:
        """What was not compared."""
        return [text(note) for note in listed(lib.odlc_diff_notes, self._handle.address)]

    def report(self) -> dict[str, Any]:
        """The report of `dlc-diff --json` (docs/dlc-diff-json.md)."""
        return json.loads(reported(lib.odlc_diff_json, self._handle.address))

    def text(self, *, width: int = 0) -> str:
        """The report of `dlc-diff`; width: characters of a line that tables are fitted to (0: as wide as they are)."""
        options = c.ReportOptions(ctypes.sizeof(c.ReportOptions), width=width)
        return reported(lib.odlc_diff_text, self._handle.address, ctypes.byref(options))

    def csv(self) -> str:
        """What `dlc-diff --save` writes: CSV, with lines that end in CR LF."""
        return reported(lib.odlc_diff_csv, self._handle.address)


def diff(first: Union[Container, Source], second: Union[Container, Source], *, categories: Optional[Iterable[str]] = None,
         by_id: bool = False, hits: bool = False, progress: Optional[Progress] = None) -> Diff:
    """Compares two containers, paths or bytes.

    categories: what is compared, all without: metadata, copyrights, layers, parameters, outputs, dimensions, types,
    encodings, weights. by_id: layers and tensors are paired by their ids, not by names. hits: what is the same is
    listed, too. progress(done, total) counts bytes of the first one's constants."""
    known, bits = _categories(), 0
    for name in categories or ():
        if name not in known:
            raise ValueError(f"there is no category {name!r}: {', '.join(known)}")
        bits |= 1 << known.index(name)
    containers = as_container(first), as_container(second)
    address = ctypes.c_void_p()
    with Watch(WORK_FN, progress, counts) as watch:
        options = c.DiffOptions(ctypes.sizeof(c.DiffOptions), bits, by_id, hits, watch.callback)
        status = lib.odlc_diff_new(containers[0].handle.address, containers[1].handle.address, ctypes.byref(options),
                                   ctypes.byref(address))
    check(status, [])
    handle = Handle(address.value, lib.odlc_diff_free)
    handle.kept = [one.handle for one in containers]
    return Diff(handle)
