# SPDX-License-Identifier: Apache-2.0
"""Looking into containers."""

from __future__ import annotations

import ctypes
import json
from typing import Any, Iterator, Optional, Union

import numpy as np

from . import _structs as c
from ._errors import Diagnostic, check
from ._library import WORK_FN, lib, listed, raw, taken_text, text
from ._owned import Closable, Handle, Source, array_at, as_buffer, open_source
from ._progress import Progress, Watch, counts

# Elements as they lie in a container. Fixed-point ones are integers; those of four bits take a byte each.
_DTYPES = {
    "Bool_8": "?", "Int_4": "i1", "Int_8": "i1", "Int_16": "<i2", "Int_32": "<i4", "Int_64": "<i8", "uInt_4": "u1",
    "uInt_8": "u1", "uInt_16": "<u2", "uInt_32": "<u4", "uInt_64": "<u8", "Float_16": "<f2", "Float_32": "<f4",
    "Float_64": "<f8", "sFxp_4": "i1", "sFxp_8": "i1", "sFxp_16": "<i2", "sFxp_32": "<i4", "uFxp_4": "u1", "uFxp_8": "u1",
    "uFxp_16": "<u2", "uFxp_32": "<u4",
}
_BOOL, _INT, _UINT, _FLOAT, _STRING, _TENSOR, _NESTED = range(7)
_CLASS_STRING = 5
_RUNTIMES = (("CPU", 1), ("GPU", 2), ("DSP", 4))


def reported(function: Any, *arguments: Any) -> str:
    """A text that a function of the library makes."""
    status, report = taken_text(function, *arguments)
    check(status, [])
    return report


def dtype_of(name: str) -> np.dtype:
    """NumPy's type of elements of that type of the container: dtype_of("uFxp_8") is uint8."""
    try:
        return np.dtype(_DTYPES[name])
    except KeyError:
        raise TypeError(f"NumPy has no type for elements of {name}") from None


class _Part:
    """A structure in the memory of a container, which the owner keeps."""

    def __init__(self, owner: Handle, struct: Any):
        self._owner, self._struct = owner, struct

    @property
    def name(self) -> str:
        return text(self._struct.name)


class _Numbered(_Part):
    """A part with an id."""

    @property
    def id(self) -> int:
        return self._struct.id


class Tensor(_Numbered):
    """A tensor of a container."""

    def __repr__(self) -> str:
        return f"<opendlc.Tensor {self.name!r} {self.dtype} {list(self.shape)} {self.kind}>"

    @property
    def kind(self) -> str:
        """APP_WRITE (graph input), APP_READ (graph output), NATIVE, STATIC, NULL, or UNKNOWN."""
        return text(self._struct.kind)

    @property
    def dtype(self) -> str:
        """The container's name of it: "Float_32", "uFxp_8"."""
        return text(self._struct.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._struct.dims[i] for i in range(self._struct.rank))

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._struct.count

    @property
    def encodings(self) -> list[dict[str, Any]]:
        """bitwidth, min, max, scale, offset of each: real = (q + offset) * scale. Empty: it is not quantized."""
        return [{name: getattr(e, name) for name in ("bitwidth", "min", "max", "scale", "offset")}
                for e in (self._struct.encodings[i] for i in range(self._struct.n_encodings))]

    @property
    def encoding_axis(self) -> Optional[int]:
        """The axis along which encodings run; None: there is one for the whole tensor, or none."""
        return self._struct.encoding_axis if self._struct.encoding_axis >= 0 else None

    @property
    def has_data(self) -> bool:
        """Whether the container holds its elements."""
        return bool(lib.odlc_tensor_readable(ctypes.byref(self._struct)))

    def array(self) -> np.ndarray:
        """The elements as they are stored (fixed-point ones as integers): a read-only array that shows the container's
        memory, and stays when the container is closed. Of strings it is a copy, of Python's str."""
        t = self._struct
        if not self.has_data:
            raise ValueError(f"the container holds no elements of {self.name}")
        if t.element == _CLASS_STRING:
            strings = [text(lib.odlc_tensor_string(ctypes.byref(t), i)) for i in range(t.count)]
            return np.array(strings, object).reshape(self.shape)
        dtype = dtype_of(self.dtype)
        if t.data_size == t.count * dtype.itemsize:
            return array_at(self._owner, t.data, t.data_size, dtype, self.shape)
        return self._doubles(lib.odlc_tensor_doubles).astype(dtype)  # two in a byte, or one that stands for all

    def reals(self) -> np.ndarray:
        """The reals that the elements stand for, as float64, a copy: those of fixed-point types by their encodings."""
        if not self.has_data or self._struct.element == _CLASS_STRING:
            raise ValueError(f"the container holds no numbers of {self.name}")
        return self._doubles(lib.odlc_tensor_reals)

    def _doubles(self, function: Any) -> np.ndarray:
        out = np.empty(self.shape)
        function(ctypes.byref(self._struct), 0, self.size, out.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
        return out

    def as_dict(self) -> dict[str, Any]:
        """A row of Graph.tensors_table."""
        return {"name": self.name, "id": self.id, "kind": self.kind, "dtype": self.dtype, "shape": self.shape,
                "size": self.size, "bytes": self._struct.data_size, "encodings": len(self.encodings)}


class Op(_Numbered):
    """An op of a graph (a layer, in version 3)."""

    def __repr__(self) -> str:
        return f"<opendlc.Op {self.name!r} {self.type}>"

    @property
    def type(self) -> str:
        return text(self._struct.type)

    @property
    def package(self) -> Optional[str]:
        """"qti.aisw" for native ops; None: the container does not say."""
        return text(self._struct.package)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one inference."""
        return self._struct.macs

    @property
    def parameters(self) -> int:
        """Elements of weights and biases."""
        return self._struct.parameters

    @property
    def executable(self) -> bool:
        """Whether opendlc.Run can execute it without a package."""
        return bool(self._struct.executable)

    def _operands(self, operands: Any, count: int) -> list[Optional[Tensor]]:
        return [Tensor(self._owner, operands[i].tensor.contents) if operands[i].tensor else None for i in range(count)]

    @property
    def inputs(self) -> list[Optional[Tensor]]:
        """None: an optional one that is left out, or one that the graph does not describe."""
        return self._operands(self._struct.inputs, self._struct.n_inputs)

    @property
    def outputs(self) -> list[Optional[Tensor]]:
        return self._operands(self._struct.outputs, self._struct.n_outputs)

    @property
    def params(self) -> list[Tensor]:
        """Version 3: the layer's own weights and bias."""
        return [Tensor(self._owner, self._struct.params[i]) for i in range(self._struct.n_params)]

    def _value(self, a: Any) -> Any:
        if a.kind == _NESTED:
            return {text(a.nested[i].name): self._value(a.nested[i]) for i in range(a.n_nested)}
        if a.kind == _TENSOR:
            return Tensor(self._owner, a.tensor.contents).array()
        return {_BOOL: lambda: bool(a.i), _INT: lambda: a.i, _UINT: lambda: a.i & (2**64 - 1), _FLOAT: lambda: a.f,
                _STRING: lambda: text(a.s)}[a.kind]()

    @property
    def attributes(self) -> dict[str, Any]:
        """Numbers, texts, arrays (which show the container's memory) and, in version 3, nested dicts, by name."""
        return {text(a.name): self._value(a) for a in (self._struct.attributes[i] for i in range(self._struct.n_attributes))}

    def as_dict(self) -> dict[str, Any]:
        """A row of Graph.ops_table."""
        operands = (("inputs", self._struct.inputs, self._struct.n_inputs),
                    ("outputs", self._struct.outputs, self._struct.n_outputs))
        row = {"id": self.id, "name": self.name, "type": self.type, "package": self.package, "macs": self.macs,
               "parameters": self.parameters, "executable": self.executable,
               "runtimes": [name for name, bit in _RUNTIMES if self._struct.runtimes & bit]}
        return {**row, **{key: [text(first[i].name) for i in range(count)] for key, first, count in operands}}


class Graph(_Part):
    """A graph of a container."""

    def __repr__(self) -> str:
        return f"<opendlc.Graph {self.name!r} of {len(self)} ops>"

    def __len__(self) -> int:
        return self._struct.n_ops

    def __iter__(self) -> Iterator[Op]:
        return iter(self.ops)

    @property
    def macs(self) -> int:
        return self._struct.macs

    @property
    def parameters(self) -> int:
        return self._struct.parameters

    @property
    def ops(self) -> list[Op]:
        """In stored order."""
        return [Op(self._owner, self._struct.ops[i]) for i in range(self._struct.n_ops)]

    @property
    def tensors(self) -> list[Tensor]:
        return [Tensor(self._owner, self._struct.tensors[i]) for i in range(self._struct.n_tensors)]

    @property
    def inputs(self) -> list[Tensor]:
        return [Tensor(self._owner, self._struct.inputs[i].contents) for i in range(self._struct.n_inputs)]

    @property
    def outputs(self) -> list[Tensor]:
        return [Tensor(self._owner, self._struct.outputs[i].contents) for i in range(self._struct.n_outputs)]

    def _find(self, function: Any, name: str, what: str) -> Any:
        found = function(self._owner.address, ctypes.byref(self._struct), raw(name))
        if not found:
            raise KeyError(f"graph {self.name!r} has no {what} {name!r}")
        return found.contents

    def tensor(self, name: str) -> Tensor:
        """By its name; of TensorFlow's "node:0" also by "node". KeyError: there is none."""
        return Tensor(self._owner, self._find(lib.odlc_container_find_tensor, name, "tensor"))

    def op(self, name: str) -> Op:
        """By its name. KeyError: there is none."""
        return Op(self._owner, self._find(lib.odlc_container_find_op, name, "op"))

    def ops_table(self) -> list[dict[str, Any]]:
        """A row for each op, as pandas.DataFrame takes them: id, name, type, package, macs, parameters, executable,
        runtimes, inputs, outputs."""
        return [op.as_dict() for op in self.ops]

    def tensors_table(self) -> list[dict[str, Any]]:
        """A row for each tensor: name, id, kind, dtype, shape, size, bytes, encodings (their number)."""
        return [tensor.as_dict() for tensor in self.tensors]


class Container(Closable):
    """A container of any version, from a path or from bytes, which stay where they are.

        with opendlc.Container("model.dlc") as container:
            weights = container.graph().tensor("conv.weight").array()
    """

    _diags = lib.odlc_container_diags

    def __init__(self, source: Source):
        super().__init__(Handle(lib.odlc_container_new(), lib.odlc_container_free))
        self._check(open_source(self.handle, source, lib.odlc_container_open, lib.odlc_container_open_bytes))

    def __repr__(self) -> str:
        return "<opendlc.Container, closed>" if self._handle is None else f"<opendlc.Container {self.path!r}>"

    @property
    def path(self) -> str:
        return text(self._summary.path)

    @property
    def _summary(self) -> Any:
        return lib.odlc_container_summary(self.handle.address).contents

    @property
    def version(self) -> tuple[int, int]:
        """Of the model stream: (4, 0)."""
        return self._summary.major, self._summary.minor

    @property
    def metadata(self) -> dict[str, str]:
        s = self._summary
        return {text(s.metadata[i].key): text(s.metadata[i].value) for i in range(s.n_metadata)}

    @property
    def graphs(self) -> list[Graph]:
        return [Graph(self.handle, g) for g in listed(lib.odlc_container_graphs, self.handle.address)]

    def graph(self, name: Optional[str] = None) -> Graph:
        """By its name, or the only one. KeyError: there is none, or there are several."""
        found = lib.odlc_container_find_graph(self.handle.address, raw(name))
        if not found:
            raise KeyError(f"there is no graph {name!r}" if name else f"there are {len(self.graphs)} graphs: name one")
        return Graph(self.handle, found.contents)

    def _watched(self, progress: Optional[Progress], call: Any) -> Any:
        address = self.handle.address
        with Watch(WORK_FN, progress, counts) as watch:
            lib.odlc_container_set_progress(address, watch.callback, None)
            try:
                return call(address)
            finally:
                lib.odlc_container_set_progress(address, WORK_FN(), None)
                self._seen = len(self.diagnostics) if watch.ended else self._seen

    def verify(self, *, progress: Optional[Progress] = None) -> list[Diagnostic]:
        """Looks for all faults, for which the whole file is read, and gives them; empty: there are none. progress(done,
        total) counts bytes."""
        before = len(self.diagnostics)
        status = self._watched(progress, lib.odlc_container_verify)
        found = self.diagnostics[before:]
        self._seen = before + len(found)
        if status not in (0, 3):  # findings are ODLC_ERR_INVALID
            check(status, found)
        return [d for d in found if d.severity == "error"]

    def report(self) -> dict[str, Any]:
        """The report of `dlc-info --json` (docs/dlc-info-json.md)."""
        return json.loads(reported(lib.odlc_container_json, self.handle.address, None))

    def text(self, *, nodes: Optional[str] = None, all_encodings: bool = False, memory: bool = False, compact: bool = False,
             width: int = 0) -> str:
        """The report of `dlc-info`. nodes: only those whose names match the shell pattern; all_encodings: those of every
        channel; memory: what an inference needs; compact: a line for each node; width: characters of a line that tables
        are fitted to (0: as wide as they are)."""
        options = c.ReportOptions(ctypes.sizeof(c.ReportOptions), raw(nodes), 0, all_encodings, memory, compact, width, 0)
        return reported(lib.odlc_container_text, self.handle.address, ctypes.byref(options))

    def csv(self, *, nodes: Optional[str] = None, all_encodings: bool = False) -> str:
        """The table of nodes that `dlc-info --save` writes: CSV, with lines that end in CR LF."""
        options = c.ReportOptions(ctypes.sizeof(c.ReportOptions), raw(nodes), 0, all_encodings, 0, 0, 0, 0)
        return reported(lib.odlc_container_csv, self.handle.address, ctypes.byref(options))

    def tensor_report(self, name: str) -> dict[str, Any]:
        """One tensor in detail, as `dlc-info --tensor NAME --json` has it: its type, who writes and reads it, statistics of
        all values. InvalidError: no graph has a tensor of the name."""
        return json.loads(self._of_tensor(lib.odlc_container_tensor_json, name))

    def tensor_text(self, name: str, *, width: int = 0) -> str:
        """The same as text; width as for text()."""
        options = c.ReportOptions(ctypes.sizeof(c.ReportOptions), None, 0, 0, 0, 0, width, 0)
        return self._of_tensor(lib.odlc_container_tensor_text, name, ctypes.byref(options))

    def _of_tensor(self, function: Any, name: str, *options: Any) -> str:
        status, report = taken_text(function, self.handle.address, raw(name), *options)
        self._check(status)
        return report

    def findings_report(self) -> dict[str, Any]:
        """What opening and, where it was called, verify() found, as `dlc-info --verify --json` has it."""
        return json.loads(reported(lib.odlc_container_findings_json, self.handle.address))

    def findings_text(self) -> str:
        """The same as text."""
        return reported(lib.odlc_container_findings_text, self.handle.address, None)

    def page(self, *, graph: Optional[str] = None, before: Optional[Source | Container] = None,
             report: Optional[Source] = None, explanation: Optional[Source] = None,
             progress: Optional[Progress] = None) -> str:
        """The page of `dlc-viewer`, one HTML file that needs no network; write it as UTF-8. graph: that is shown first.
        before: a container that it is compared with; report: a report of `dlc-quantize`, path or bytes of JSON, by which
        ops are coloured; explanation: one of `net-run`, which takes the place of the graph. progress(done, total) counts
        bytes of constants."""
        kept = as_container(before) if before is not None else None
        files = [None if source is None else as_buffer(source) for source in (report, explanation)]
        options = c.PageOptions(ctypes.sizeof(c.PageOptions), raw(graph), kept.handle.address if kept else None,
                                *(None if file is None else ctypes.pointer(file.struct) for file in files))
        status, page = self._watched(progress, lambda address: taken_text(lib.odlc_container_page, address,
                                                                          ctypes.byref(options)))
        self._check(status)
        return page


def as_container(source: Union[Container, Source]) -> Container:
    return source if isinstance(source, Container) else Container(source)
