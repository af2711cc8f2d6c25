# SPDX-License-Identifier: Apache-2.0
"""Executing containers."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Iterable, Mapping, Optional, Sequence, Union

import numpy as np

from ._inspect import dtype_of
from ._library import WORK_FN, lib, listed, names, raw, text
from ._owned import Closable, Handle, Source, array_at, open_source
from ._progress import Progress, Watch, counts

Inputs = Union[Mapping[str, Any], np.ndarray, Sequence[Any]]


def io_dict(io: Any) -> dict[str, Any]:
    return {"name": text(io.name), "dtype": text(io.dtype), "shape": tuple(io.dims[i] for i in range(io.rank)),
            "needed": bool(io.needed)}


def by_name(inputs: Inputs, known: list[dict[str, Any]]) -> Mapping[str, Any]:
    """One array is that of the only input."""
    if isinstance(inputs, Mapping):
        return inputs
    if len(known) != 1:
        raise ValueError(f"the graph has {len(known)} inputs: give a dict of arrays by name")
    return {known[0]["name"]: inputs}


def set_input(obj: Any, index: int, io: dict[str, Any], value: Any, set_floats: Any, set_native: Any, native: bool) -> int:
    """Gives an input, of that shape, to a function of the library, which copies it; gives the status."""
    own = dtype_of(io["dtype"])
    array = np.asarray(value)
    if tuple(array.shape) != io["shape"]:
        raise ValueError(f"input {io['name']!r} has shape {io['shape']}, not {tuple(array.shape)}")
    fixed = "Fxp" in io["dtype"]
    if native and array.dtype != own:
        raise TypeError(f"input {io['name']!r} takes elements of {own} when they are native, not {array.dtype}")
    as_own = native or (not fixed and own.kind in "iub" and array.dtype == own) or (own == np.float16 == array.dtype)
    if not as_own and array.dtype.kind in "iu" and array.dtype.itemsize > 2 and np.any(array != array.astype(np.float32)):
        if fixed or own.kind not in "iu" or np.any(array != array.astype(own)):
            raise ValueError(f"input {io['name']!r}: float32 does not have all of these integers")
        array, as_own = array.astype(own), True
    array = np.ascontiguousarray(array, own if as_own else np.float32)
    if as_own:
        return set_native(obj, index, array.ctypes.data, array.nbytes)
    return set_floats(obj, index, array.ctypes.data, array.size)


class Run(Closable):
    """A container that is executed, as often as it is called.

        with opendlc.Run("digits.dlc") as run:
            scores = run({"image": image})["scores"]

    source: a path or bytes. What is computed: the graph's outputs, the tensors of `outputs`, those that the nodes of
    `nodes` give, or with `everything` all that nodes compute. backends: who executes, "cpu", "reference", "gpu", …, in
    the order in which they are asked. packages: registration libraries of op packages. isolate: executes in a process
    of its own, and ends what takes longer than so many seconds (0: nothing).

    progress(done, total), of the constructor and of a call, counts bytes of the container, then steps that are prepared,
    and steps that are executed. What stops them: a result that is True (StoppedError), an exception, Ctrl-C; a call can be repeated then."""

    _diags = lib.odlc_run_diags

    def __init__(self, source: Source, *, outputs: Optional[Iterable[str]] = None, nodes: Optional[Iterable[str]] = None,
                 everything: bool = False, backends: Optional[Iterable[str]] = None, threads: int = 1,
                 packages: Iterable[Union[str, "os.PathLike[str]"]] = (), isolate: Optional[int] = None,
                 progress: Optional[Progress] = None):
        if sum((outputs is not None, nodes is not None, everything)) > 1:
            raise ValueError("outputs, nodes and everything exclude each other")
        super().__init__(Handle(lib.odlc_run_new(), lib.odlc_run_free))
        handle = self.handle
        self._check(self._watched(progress, lambda: open_source(handle, source, lib.odlc_run_open, lib.odlc_run_open_bytes)))
        if backends is not None:
            self._check(lib.odlc_run_set_backends(handle.address, *names(backends)))
        self._check(lib.odlc_run_set_threads(handle.address, threads))
        if isolate is not None:
            self._check(lib.odlc_run_isolate(handle.address, isolate))
        for package in packages:
            self._check(lib.odlc_run_add_op_package(handle.address, raw(package), None))
        self._check(self._watched(progress, lambda: self._want(outputs, nodes, everything)))
        self._inputs = [io_dict(io) for io in listed(lib.odlc_run_inputs, handle.address)]
        self._results = [io_dict(io) for io in listed(lib.odlc_run_results, handle.address)]

    def _want(self, outputs: Any, nodes: Any, everything: bool) -> int:
        address = self.handle.address
        if everything:
            return lib.odlc_run_want_all(address)
        if outputs is not None:
            return lib.odlc_run_want(address, *names(outputs))
        return lib.odlc_run_want_outputs(address) if nodes is None else lib.odlc_run_want_nodes(address, *names(nodes))

    def _watched(self, progress: Optional[Progress], call: Any) -> int:
        with Watch(WORK_FN, progress, counts) as watch:
            lib.odlc_run_set_progress(self.handle.address, watch.callback, None)
            try:
                return call()
            finally:
                lib.odlc_run_set_progress(self.handle.address, WORK_FN(), None)

    @staticmethod
    def backends() -> list[str]:
        """Those that this library has."""
        found, all_names = [], lib.odlc_backend_names()
        while all_names[len(found)]:
            found.append(text(all_names[len(found)]))
        return found

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """name, dtype, shape, needed (whether the results depend on it) of each input of the graph."""
        return [dict(io) for io in self._inputs]

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """The results, in the order of the choice."""
        return [dict(io) for io in self._results]

    def __call__(self, inputs: Inputs, *, native: bool = False, copy: bool = True,
                 progress: Optional[Progress] = None) -> dict[str, np.ndarray]:
        """Executes once. inputs: arrays by name, or one for the only input. Numbers are converted as the input's type
        asks: quantized for fixed-point inputs; what an integer input cannot hold exactly is an error.

        Results are float32 for float and fixed-point tensors (which are dequantized), and of their own type for
        others. native: inputs and results are elements of the tensors' own types. copy=False: results of their own
        type are read-only arrays of the library's memory, which the next call overwrites."""
        address = self.handle.address
        for name, value in by_name(inputs, self._inputs).items():
            index = ctypes.c_size_t()
            self._check(lib.odlc_run_find_input(address, raw(name), ctypes.byref(index)))
            io = self._inputs[index.value]
            self._check(set_input(address, index.value, io, value, lib.odlc_run_set_floats, lib.odlc_run_set_native, native))
        self._check(self._watched(progress, lambda: lib.odlc_run_execute(address)))
        return {io["name"]: self._result(i, io, native, copy) for i, io in enumerate(self._results)}

    def _result(self, index: int, io: dict[str, Any], native: bool, copy: bool) -> np.ndarray:
        own = dtype_of(io["dtype"])
        if not native and (own.kind == "f" or "Fxp" in io["dtype"]) and (copy or own != np.float32):
            out = np.empty(io["shape"], np.float32)
            self._check(lib.odlc_run_get_floats(self.handle.address, index, out.ctypes.data, out.size))
            return out
        size = int(np.prod(io["shape"], dtype=np.int64)) * own.itemsize
        shown = array_at(self.handle, lib.odlc_run_native(self.handle.address, index), size, own, io["shape"])
        return shown.copy() if copy else shown

    def steps(self) -> list[dict[str, Any]]:
        """A row for each step of the last call: node, op, backend, nodes (0: a copy), nanoseconds."""
        return [{"node": text(s.node), "op": text(s.op), "backend": text(s.backend), "nodes": s.n_nodes,
                 "nanoseconds": s.nanoseconds} for s in listed(lib.odlc_run_steps, self.handle.address)]


def run(source: Source, inputs: Inputs, *, native: bool = False, **options: Any) -> dict[str, np.ndarray]:
    """Executes a container once: Run(source, **options)(inputs)."""
    with Run(source, **options) as opened:
        return opened(inputs, native=native)
