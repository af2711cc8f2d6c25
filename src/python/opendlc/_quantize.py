# SPDX-License-Identifier: Apache-2.0
"""Quantizing containers."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Union

from ._errors import Diagnostic
from ._inspect import Container
from ._library import WORK_FN, lib, listed, raw
from ._options import Options
from ._owned import Closable, Handle, Source, array_at, open_source
from ._progress import Progress, Watch, counts
from ._run import Inputs, by_name, io_dict, set_input


class Quantized:
    """What a quantization made."""

    def __init__(self, handle: Handle, output: Optional[str], container: Optional[memoryview], found: list[Diagnostic]):
        self._handle = handle
        self.output = output  #: the container's path; None: it is in memory
        self.container = container  #: its bytes, without a copy; None: it is a file
        self.diagnostics = found  #: warnings and notes

    def open(self) -> Container:
        """The container, to look into."""
        return Container(self.output if self.container is None else self.container)


class _Quantizer(Closable):
    _diags = lib.odlc_quantizer_diags

    def __init__(self, source: Source, options: Options, callback: Any):
        super().__init__(Handle(lib.odlc_quantizer_new(), lib.odlc_quantizer_free))
        self.handle.kept += [options, callback]
        lib.odlc_quantizer_set_progress(self.handle.address, callback, None)
        self._check(open_source(self.handle, source, lib.odlc_quantizer_open, lib.odlc_quantizer_open_bytes, options.address))
        self.inputs = [io_dict(io) for io in listed(lib.odlc_quantizer_inputs, self.handle.address)]

    def next(self) -> bool:
        observes = ctypes.c_int()
        self._check(lib.odlc_quantizer_next(self.handle.address, ctypes.byref(observes)))
        return bool(observes.value)

    def observe(self, given: Inputs, native: bool) -> None:
        address, places = self.handle.address, {io["name"]: i for i, io in enumerate(self.inputs)}
        for name, value in by_name(given, self.inputs).items():
            if name not in places:
                raise ValueError(f"the graph has no input {name!r}: {', '.join(map(repr, places))}")
            self._check(set_input(address, places[name], self.inputs[places[name]], value, lib.odlc_quantizer_set_floats,
                                  lib.odlc_quantizer_set_native, native))
        self._check(lib.odlc_quantizer_observe(address))


def _passes(inputs: Any) -> Iterator[Iterable[Inputs]]:
    """The same inputs for each pass."""
    while True:
        again = inputs() if callable(inputs) else inputs
        yield again
        if not callable(inputs) and iter(again) is again:
            raise ValueError("inputs: another pass over them is needed: give a list, or a function that begins anew")


def quantize(source: Source, output: Union[str, "os.PathLike[str]", None] = None, *,
             inputs: Union[Iterable[Inputs], Callable[[], Iterable[Inputs]], None] = None, native: bool = False,
             command: Optional[str] = None, progress: Optional[Progress] = None,
             buffers: Optional[Mapping[str, Any]] = None, **options: Any) -> Quantized:
    """Makes a container of floats one of fixed-point tensors.

    source: a path or bytes. output: a path; without one the result stays in memory. inputs: what ranges are observed
    on, a list of what Run takes (dicts of arrays by name, or arrays for the only input), or a function that gives an
    iterator over them; round_weights and correct_biases go over them more than once. native: elements of the inputs'
    own types. command: kept in the container's metadata. options: the members of opendlc/quantize_options.def by their
    names (docs/python.md): act_bits=16, per_channel=True, act_calibrator="sqnr", overrides="encodings.json".

    progress(done, total) counts constants, steps or bytes, one piece of work after the other. What stops it: a result
    that is True (StoppedError), an exception, Ctrl-C."""
    o = Options("quantize", options)
    for name, data in (buffers or {}).items():
        o.add_buffer(name, data)
    with Watch(WORK_FN, progress, counts) as watch, _Quantizer(source, o, watch.callback) as q:
        passes = _passes(inputs)
        while q.next():
            if inputs is None:
                raise ValueError("ranges are unknown: give inputs to observe them with (or float_fallback=True)")
            for given in next(passes):
                q.observe(given, native)
        made, path, handle = None, None, q.handle
        if output is not None:
            path = os.fsdecode(raw(output))
            q._check(lib.odlc_quantizer_write(handle.address, raw(output), raw(command)))
        else:
            address, size = ctypes.c_void_p(), ctypes.c_size_t()
            q._check(lib.odlc_quantizer_write_bytes(handle.address, raw(command), ctypes.byref(address), ctypes.byref(size)))
            made = memoryview(array_at(handle, address.value, size.value, "u1", (size.value,)))
        return Quantized(handle, path, made, q.diagnostics)
