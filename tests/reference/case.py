# SPDX-License-Identifier: Apache-2.0
"""Cases whose numbers TensorFlow gives. A module of cases/ has a list of them:

    CASES = Cases()

    c = CASES.new("relu of a vector")
    x = c.input([5])                                # random numbers, always the same for the name of the case
    c.gives(c.node("Relu", [x]))

    c = CASES.new("relu of strings")
    c.node("Relu", [c.input([2], STRING)])
    c.refused("the message, or a part of it")
"""

import zlib

import numpy as np
from checks import SOURCE
from tf_bundle_writer import save_bundle
from tf_writer import Graph, Shape, meta_graph, save_saved_model

EXPECTED = SOURCE / "tests" / "reference" / "expected"
NEAR, NEAR_HALF = 1e-5, 2.0**-10


def random_numbers(source, shape, dtype, low, high):
    """Numbers between low and high, both included. Floats have 1024 steps between them, so that every library makes the same
    ones, and float16 has most of them, too."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return source.randint(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return source.randint(max(low, 0) if dtype.kind == "u" else low, high + 1, shape).astype(dtype)
    return np.asarray(low + (high - low) * source.randint(0, 1025, shape) / 1024).astype(dtype)


class Case(Graph):
    """A graph with inputs, and what is wanted of it: outputs, or a message."""

    def __init__(self, name):
        super().__init__()
        self.name = name
        self.source = np.random.RandomState(zlib.crc32(name.encode()))
        self.given = {}       # arrays by name of graph input
        self.variables = {}   # arrays by name of variable
        self.dims = {}        # what an input whose shape is open is fixed to
        self.fetched = []     # Values
        self.within = self.if_none = None
        self.message_part = None
        self.by_onednn = False  # TensorFlow has a kernel by oneDNN alone
        self.options = []     # more arguments of tensorflow-to-dlc

    def random(self, shape, dtype=np.float32, low=-2, high=2):
        return random_numbers(self.source, shape, dtype, low, high)

    def input(self, what, dtype=np.float32, low=-2, high=2, name=None, shape=None):
        """A graph input: what is an array of numbers for it, or dims of random ones between low and high. shape is what the
        graph says of its shape; else the array's."""
        values = what if isinstance(what, np.ndarray) else self.random(what, dtype, low, high)
        name = name or f"in{len(self.given)}"
        self.given[name] = values
        if shape is not None:
            self.dims[name] = values.shape
        return self.placeholder(name, values.dtype, values.shape if shape is None else shape)

    def random_const(self, shape, dtype=np.float32, low=-2, high=2, name=None):
        values = self.random(shape, dtype, low, high)
        return self.const(name, values) if name else self.const(values)

    def either(self, constant, what, dtype=np.float32, low=-2, high=2):
        """A constant or a graph input, for cases that come in both forms."""
        values = what if isinstance(what, np.ndarray) else self.random(what, dtype, low, high)
        return self.const(values) if constant else self.input(values)

    def variable(self, values, name=None):
        """A variable of the second kind, whose node is a handle: the model is a saved one, its checkpoint has the array."""
        name = name or f"variable{len(self.variables)}"
        self.variables[name] = values
        return self.node("VarHandleOp", [], name=name, dtype=values.dtype, shape=Shape(values.shape), shared_name=name)

    def save_model(self, folder):
        """Writes the model into the folder and returns its path."""
        if not self.variables:
            self.save(folder / "model.pb")
            return folder / "model.pb"
        save_saved_model(folder / "model", meta_graph(self))
        save_bundle(folder / "model" / "variables" / "variables", self.variables)
        return folder / "model"

    def gives(self, *values, within=None, if_none=None):
        """Outputs to compare. within: the largest difference as a part of the largest value, 0 for equal; NEAR unless said,
        NEAR_HALF for float16. Integers and booleans are always equal. if_none: outputs may be what an op finds, for which
        a container has more rows; what is in them where nothing is found."""
        self.fetched, self.within, self.if_none = list(values), within, if_none

    def refused(self, part):
        """The conversion ends with an error whose text has this part."""
        self.message_part = part

    def has_channels_first(self):
        return any(str(node.attributes.get("data_format", "")).startswith("NC") for node in self.nodes)

    def tolerance(self, dtype):
        if dtype.kind != "f":
            return 0
        return self.within if self.within is not None else NEAR_HALF if dtype.itemsize == 2 else NEAR

    def digest(self):
        """Changes with all that the expected numbers depend on."""
        crc = zlib.crc32(self.bytes())
        for name, values in (*self.given.items(), *self.variables.items()):
            crc = zlib.crc32(np.ascontiguousarray(values).tobytes(), zlib.crc32(name.encode(), crc))
        return zlib.crc32(" ".join(value.name for value in self.fetched).encode(), crc)

    def key(self, value):
        return f"{self.name}|{value.name}"


class Cases(list):
    """The cases of a family."""

    def new(self, name):
        if any(case.name == name for case in self):
            raise ValueError(f"two cases are called {name!r}")
        self.append(Case(name))
        return self[-1]


def families():
    return sorted(path.stem for path in (SOURCE / "tests" / "reference" / "cases").glob("*.py"))


def cases_of(family):
    cases = __import__(f"cases.{family}", fromlist=["CASES"]).CASES
    for case in cases:
        if bool(case.fetched) == bool(case.message_part):
            raise ValueError(f"case {case.name!r} says neither what it gives nor why it is refused, or both")
    return cases


def same(found, expected, within):
    """Equal, or within that part of the largest finite value; infinities and NaNs are where they must be."""
    if found.shape != expected.shape:
        return False
    if within == 0:
        return np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    largest = np.max(np.abs(expected[np.isfinite(expected)]), initial=0)
    return np.allclose(found, expected, rtol=0, atol=within * largest, equal_nan=True)


def difference(found, expected):
    """Where two arrays of one shape differ most, as text."""
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    with np.errstate(invalid="ignore"):
        away = np.abs(np.subtract(found, expected, dtype=np.float64))
    away[(found == expected) | (np.isnan(away) & np.isnan(expected) & np.isnan(found))] = 0
    place = np.unravel_index(np.argmax(np.nan_to_num(away, nan=np.inf)), found.shape)
    few = [np.array2string(array.reshape(-1)[:16], threshold=16) for array in (found, expected)]
    return (f"{np.count_nonzero(away)} of {away.size} differ, most at {[int(i) for i in place]}: found {found[place]!r}, "
            f"expected {expected[place]!r}\n  found    {few[0]}\n  expected {few[1]}")
