# SPDX-License-Identifier: Apache-2.0
"""Random ONNX models with what they compute: each node is evaluated with NumPy while it is added, by ONNX's
definition.

    m = RandomModel(seed)
    m.save(path)
    m.inputs, m.outputs        # arrays by name

Numbers are computed as float64 and rounded to float32 after each node. A seed always gives the same model. Nodes whose
result would jump where a number changes a little (ArgMax, Greater) are added only where no number is near such a place.
Of rank 3 to 5, graph inputs and outputs have dims that differ in channels-first and channels-last order, so dims say how
one is stored."""

import random

import numpy as np
from onnx_writer import FLOAT, INT64, Model
from random_onnx_nodes import MOST_ELEMENTS, NODES

OPSET = 13
LARGEST = 100.0  # magnitude of a value; Tanh comes behind one that has more
TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64}


def channels_last(dims):
    """The dims, or axes, of a tensor that is stored with its channels last."""
    return [dims[0], *dims[2:], dims[1]]


def order_shows(dims):
    return not 3 <= len(dims) <= 5 or list(dims) != channels_last(dims)


class Value:
    def __init__(self, name, array):
        self.name, self.array = name, array
        self.shape, self.rank = array.shape, array.ndim
        self.reads = 0


class RandomModel:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.model = Model(OPSET)
        self.values, self.kinds, self.inputs, self.outputs = [], [], {}, {}
        self.count = 0
        for _ in range(self.random.choice((1, 1, 2, 3))):
            self.add_input()
        wanted = self.random.randint(2, 9)
        for _ in range(40 * wanted):
            self.add_some_node()
            if len(self.kinds) >= wanted and any(self.can_end(value) for value in self.values):
                break
        self.add_outputs()

    # ---- what nodes are made of ----

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def numbers(self, shape, low=-1.0, high=1.0):
        count = int(np.prod(shape, dtype=np.int64))
        return np.array([self.random.uniform(low, high) for _ in range(count)], np.float32).reshape(shape)

    def constant(self, array):
        """The name of a new constant."""
        array = np.asarray(array)
        name = self.name("c")
        self.model.tensor(name, TYPES[array.dtype], array.shape, raw=array.tobytes())
        return name

    def ints(self, *numbers):
        return self.constant(np.array(numbers, np.int64))

    def node(self, op_type, inputs, *arrays, **attributes):
        """Adds a node whose results are the arrays; inputs: values, or names."""
        names = [x if isinstance(x, str) else x.name for x in inputs]
        for x in inputs:
            if isinstance(x, Value):
                x.reads += 1
        results = [Value(self.name("t"), np.asarray(array)) for array in arrays]
        self.model.node(op_type, names, [result.name for result in results], self.name("n"), **attributes)
        self.kinds.append(op_type)
        return results[0] if len(results) == 1 else results

    # ---- the model ----

    def add_input(self):
        rank = self.random.choice((1, 2, 3, 3, 4, 4, 4, 4, 5))
        dims = [1]
        while len(dims) != rank or not order_shows(dims) or np.prod(dims) > MOST_ELEMENTS / 8:
            dims = [self.random.choice((1, 1, 2)), *(self.random.randint(1, 9) for _ in range(rank - 1))]
            dims = dims if rank > 1 else [self.random.randint(1, 9)]
        value = Value(self.name("x"), self.numbers(dims, -2, 2))
        self.inputs[value.name] = value.array
        self.model.input(value.name, FLOAT, dims)
        self.values.append(value)

    def add_some_node(self):
        """One of a random kind, on a random value; those that nothing reads yet are taken more often."""
        unread = [value for value in self.values if not value.reads]
        value = self.random.choice(unread if unread and self.random.random() < 0.7 else self.values)
        make = self.random.choice(NODES)
        if value.array.dtype != np.float32:
            return
        for result in make(self, value) or ():
            self.keep(result)

    def keep(self, value):
        if value.array.dtype == np.float64:
            value.array = value.array.astype(np.float32)
            if np.abs(value.array).max(initial=0) > LARGEST:
                value = self.node("Tanh", [value], np.tanh(value.array.astype(np.float64)).astype(np.float32))
        self.values.append(value)

    def can_end(self, value):
        return value.name not in self.inputs and order_shows(value.shape)

    def add_outputs(self):
        fit = [value for value in self.values if self.can_end(value)]
        ends = [value for value in fit if not value.reads or self.random.random() < 0.1] or fit[-1:]
        for value in ends:
            self.outputs[value.name] = value.array
            self.model.output(value.name, TYPES[value.array.dtype], value.shape)

    def save(self, path):
        self.model.save(path)
