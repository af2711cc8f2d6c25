# SPDX-License-Identifier: Apache-2.0
"""The ONNX project's backend cases: finding them in a folder, reading their values, naming the operator they are about.

A folder holds node/, simple/, pytorch-operator/, pytorch-converted/ (each: CASE/model.onnx with
CASE/test_data_set_<n>/{input,output}_<i>.pb), and light/ (NAME.onnx with NAME_output_0.pb)."""

import re

import numpy as np
from checks import SOURCE
from onnx_reader import Array, graph_inputs, graph_of, graph_operators, graph_outputs, tensor_of, value_of

FOLDERS = ("node", "simple", "pytorch-operator", "pytorch-converted")
ROW = re.compile(r'^ONNX_[A-Z]+\("[^"]*", "([^"]+)"')


class DataSet:
    """Values by name of graph input and output; files: where an input's value is, for --freeze_input."""

    def __init__(self, inputs, outputs, files):
        self.inputs, self.outputs, self.files = inputs, outputs, files


class Case:
    """A model; graph inputs and outputs as onnx_reader.Typed; data sets are read when they are asked for."""

    def __init__(self, name, model):
        self.name, self.model = name, model
        graph = graph_of(model)
        self.inputs, self.outputs = graph_inputs(graph), graph_outputs(graph)
        self.operators = set(graph_operators(graph)) - {"Constant"}

    def data_sets(self):
        folders = self.model.parent.glob("test_data_set_*")
        for folder in sorted(folders, key=lambda path: int(path.name.rsplit("_", 1)[1])):
            files = {value.name: folder / f"input_{i}.pb" for i, value in enumerate(self.inputs)}
            inputs = {value.name: value_of(files[value.name].read_bytes(), value.type) for value in self.inputs}
            outputs = {value.name: value_of((folder / f"output_{i}.pb").read_bytes(), value.type)
                       for i, value in enumerate(self.outputs) if value.name}
            yield DataSet(inputs, outputs, files)


class LightCase(Case):
    """A whole network. Its input is by that suite's convention 0/n, 1/n, ..."""

    def __init__(self, model):
        super().__init__(model.stem, model)
        self.operators = {"whole networks"}

    def data_sets(self):
        image, = self.inputs
        n = np.prod(image.dims)
        values = (np.arange(n).reshape(image.dims) / n).astype(np.float32)
        expected = tensor_of(self.model.with_name(self.name + "_output_0.pb").read_bytes())
        yield DataSet({image.name: Array(values, "float32")}, {self.outputs[0].name: expected}, {})


def cases_of(folder):
    """All cases of a folder."""
    models = [model for kind in FOLDERS for model in sorted((folder / kind).glob("*/model.onnx"))]
    light = sorted((folder / "light").glob("*.onnx"))
    return [Case(model.parent.name, model) for model in models] + [LightCase(model) for model in light]


def plain(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


class Operators:
    """Names the operator that a case is about: the only one that its model has, or, of a model that spells an operator
    out in others, the one that the case's name begins with."""

    def __init__(self, cases):
        tables = (SOURCE / "converters" / "onnx").rglob("*.def")
        names = {match.group(1) for table in tables for match in map(ROW.match, table.read_text().splitlines()) if match}
        names |= {operator for case in cases if len(case.operators) == 1 for operator in case.operators}
        self.by_prefix = {plain(name): name for name in names}

    def of(self, case):
        if len(case.operators) == 1:
            return next(iter(case.operators))
        name = plain(case.name.replace("test_", "", 1))
        prefixes = [name[:end] for end in range(len(name), 0, -1)]
        return next((self.by_prefix[prefix] for prefix in prefixes if prefix in self.by_prefix), "several")
