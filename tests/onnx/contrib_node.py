# SPDX-License-Identifier: Apache-2.0
"""One node of an operator that ONNX Runtime adds to ONNX, with arrays for its inputs, and the file of its model."""

import zlib

from one_node import Const, np, write_model

HALF, NEAR = 3e-3, 2e-5  # of the largest value
MICROSOFT = "com.microsoft::"


class Output:
    """What a model declares of an output: its type alone."""

    def __init__(self, code):
        self.dtype, self.shape = np.dtype(code), None


class Node:
    """outputs: type codes, None for absent ones; by_hand: a function of the node that gives the outputs, for operators that
    ONNX Runtime has no kernel of for a CPU; lengths: of samples, behind which
    positions of the outputs are not defined; compared: how many of the outputs are in the numbers; op: of com.microsoft, or "::Op" of the default domain."""

    def __init__(self, name, op, inputs, outputs=("f4",), within=NEAR, opset=17, by_hand=None, lengths=None, compared=None, **attributes):
        self.name, self.inputs, self.outputs, self.opset, self.within = name, inputs, outputs, opset, within
        self.op = op if "::" in op else MICROSOFT + op
        self.attributes, self.by_hand, self.lengths = attributes, by_hand, lengths
        self.compared = len(outputs) if compared is None else compared

    def save(self, path):
        """Writes the model; the arrays by name of graph input."""
        declared = [code and Output(code) for code in self.outputs]
        return write_model(path, self.opset, self.op.removeprefix("::"), self.inputs, self.attributes, declared)

    def arrays(self):
        """The inputs as arrays, or None."""
        return [value.array if isinstance(value, Const) else value for value in self.inputs]

    def defined(self, i, array):
        """Output i, with zeros where it is not defined."""
        if self.lengths is None:
            return array
        axis = 2 if i else 1
        ends = np.reshape(self.lengths, (-1, *[1] * (array.ndim - 1)))
        return np.where(np.arange(array.shape[axis]).reshape(-1, *[1] * (array.ndim - 1 - axis)) < ends, array, 0).astype(array.dtype)

    def digest(self):
        """A number of the node and its inputs: expected results belong to it."""
        text = repr((self.op, self.opset, self.outputs, sorted(self.attributes.items())))
        number = zlib.crc32(text.encode())
        for array in self.arrays():
            number = zlib.crc32(b"-" if array is None else array.dtype.str.encode() + repr(array.shape).encode() + array.tobytes(),
                                number)
        return number


def source(name):
    """Random numbers that belong to a name."""
    return np.random.RandomState(zlib.crc32(name.encode()))


def floats(rng, *shape, dtype="f4", low=-2.0, high=2.0):
    """Multiples of 1/256 in a range, which every type of floats holds."""
    return (low + rng.randint(0, int((high - low) * 256) + 1, shape) / 256).astype(dtype)
