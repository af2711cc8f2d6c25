# SPDX-License-Identifier: Apache-2.0
"""Conversions."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Mapping, Optional, Union

from ._errors import Diagnostic, check, diagnostics
from ._inspect import Container
from ._library import PROGRESS_FN, lib, listed, raw, text
from ._options import Options
from ._owned import Handle, Source, array_at, is_bytes
from ._progress import Progress, Watch

_FRAMEWORKS = {"onnx": 1, "tensorflow": 2}
_STATUSES = ("native", "udo", "unsupported")


def _framework_of(model: Any) -> str:
    name = os.fsdecode(model)
    if name.endswith(".onnx"):
        return "onnx"
    if name.endswith((".pb", ".pbtxt", ".meta")) or os.path.isdir(name):
        return "tensorflow"
    raise ValueError(f"{name}: the name does not say what made the model: give framework='onnx' or 'tensorflow'")


class Conversion:
    """What a conversion made, and what it has to say of it."""

    def __init__(self, handle: Handle, output: Optional[str]):
        self._handle, self.output = handle, output  #: the container's path; None: it is in memory, or there is none

    @property
    def container(self) -> Optional[memoryview]:
        """The bytes of a container in memory, without a copy; None: it is a file, or a dry run made none."""
        size = ctypes.c_size_t()
        address = lib.odlc_conversion_container(self._handle.address, ctypes.byref(size))
        return memoryview(array_at(self._handle, address, size.value, "u1", (size.value,))) if address else None

    def open(self) -> Container:
        """The container, to look into."""
        made = self.container if self.output is None else self.output
        if made is None:
            raise ValueError("a dry run makes no container")
        return Container(made)

    @property
    def summary(self) -> dict[str, int]:
        """model_nodes, ops, udo_ops, permutes_inserted, static_bytes."""
        s = lib.odlc_conversion_summary(self._handle.address)
        return {name: getattr(s, name) for name, _ in s._fields_}

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """Warnings and notes (and errors of a dry run), in the order in which they were found."""
        return diagnostics(lib.odlc_conversion_diags, self._handle.address)

    def ops_table(self) -> list[dict[str, Any]]:
        """A row for every node of the model: node, op_type, domain, version, status ("native", "udo", "unsupported")."""
        return [{"node": text(r.node), "op_type": text(r.op_type), "domain": text(r.domain), "version": r.version,
                 "status": _STATUSES[r.status], "package": text(r.package)}
                for r in listed(lib.odlc_conversion_ops, self._handle.address)]

    @property
    def inputs(self) -> list[str]:
        """The files that were read."""
        return [text(name) for name in listed(lib.odlc_conversion_inputs, self._handle.address)]

    @property
    def udo_stub(self) -> Optional[str]:
        """After a dry run: a UDO config to start from for ops that are not supported; None: all are."""
        return text(lib.odlc_conversion_udo_stub(self._handle.address))


def _read_progress(_user: Any, told: Any) -> tuple:
    p = told.contents
    return text(lib.odlc_stage_name(p.stage)), p.done, p.total


def convert(model: Source, output: Union[str, "os.PathLike[str]", None] = None, *, framework: Optional[str] = None,
            name: Optional[str] = None, progress: Optional[Progress] = None, buffers: Optional[Mapping[str, Any]] = None,
            **options: Any) -> Conversion:
    """Converts a model to a container.

    model: a path, or bytes of an ONNX model or of a frozen graph. framework: "onnx" or "tensorflow"; a path's ending
    tells it. output: the container's path; without one it stays in memory (Conversion.container).
    name: of a model in memory, which the graph is called by ("model.onnx").
    buffers: more files in memory, by the names that options call them. options: the members of
    opendlc/convert_options.def by their names, which docs/python.md lists: input_dims={"data": [1, 3, 224, 224]},
    udo_configs=["ops.json"], out_names=["scores"], io_layout="model", dry_run=True.

    progress(stage, done, total) is called in short intervals. What stops it: a result that is True (StoppedError), an
    exception, Ctrl-C. Nothing is left behind then. Errors are exceptions of class Error with `diagnostics`; a dry run
    that finds some raises them, too."""
    if framework is None and is_bytes(model):
        raise ValueError("bytes do not say what made the model: give framework='onnx' or 'tensorflow'")
    framework = framework or _framework_of(model)
    if framework not in _FRAMEWORKS:
        raise ValueError(f"framework: 'onnx' or 'tensorflow', not {framework!r}")
    o = Options("convert", options)
    for key, data in (buffers or {}).items():
        o.add_buffer(key, data)
    if is_bytes(model):
        name = name or ("model.onnx" if framework == "onnx" else "model.pb")
        o.add_buffer(name, model)
        o.set("input", name)
    else:
        o.set("input", model)
    if output is not None:
        o.set("output", output)
    elif not options.get("dry_run"):
        o.set("in_memory", True)
    address = ctypes.c_void_p()
    with Watch(PROGRESS_FN, progress, _read_progress) as watch:
        o.set_pointer("progress", watch.callback)
        status = lib.odlc_convert(_FRAMEWORKS[framework], o.address, ctypes.byref(address))
    handle = Handle(address.value, lib.odlc_conversion_free)
    handle.kept.append(o)
    check(status, diagnostics(lib.odlc_conversion_diags, handle.address))
    return Conversion(handle, None if output is None else os.fsdecode(raw(output)))
