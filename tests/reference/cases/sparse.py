# SPDX-License-Identifier: Apache-2.0
"""Products of sparse matrices, and counts of numbers."""

import numpy as np
from case import Cases

CASES = Cases()
F32, F64, I32, I64 = np.float32, np.float64, np.int32, np.int64
NONE = np.zeros([0], F32)


def sparse(c, at, values, shape, constant=(True, True)):
    return [c.either(constant[0], np.array(at, I64).reshape(-1, 2)), c.either(constant[1], np.array(values)), c.const(np.array(shape, I64))]


def product(c, matrix, b, **attributes):
    c.gives(c.node("SparseTensorDenseMatMul", [*matrix, b], **attributes))


def products():
    at, values = [[0, 1], [0, 3], [2, 0]], np.array([2, -1.5, 0.25], F32)
    for adjoint_a in (False, True):
        for adjoint_b in (False, True):
            c = CASES.new(f"SparseTensorDenseMatMul {adjoint_a=} {adjoint_b=}")
            b = [3 if adjoint_a else 4, 2]
            product(c, sparse(c, at, values, [3, 4]), c.input(b[::-1] if adjoint_b else b), adjoint_a=adjoint_a, adjoint_b=adjoint_b)
    c = CASES.new("SparseTensorDenseMatMul of constants")
    product(c, sparse(c, at, values, [3, 4]), c.random_const([4, 2]))
    c = CASES.new("SparseTensorDenseMatMul of values that are computed")
    product(c, sparse(c, at, values, [3, 4], (True, False)), c.input([4, 2]))
    c = CASES.new("SparseTensorDenseMatMul of places that are computed")
    product(c, sparse(c, at, values, [3, 4], (False, False)), c.input([4, 2]))
    c = CASES.new("SparseTensorDenseMatMul of a place that is listed twice, and of places in any order")
    product(c, sparse(c, [[2, 1], [0, 0], [2, 1]], np.array([1, 2, 4], F32), [3, 2]), c.input([2, 3]))
    c = CASES.new("SparseTensorDenseMatMul of no elements")
    product(c, sparse(c, [], NONE, [2, 3]), c.input([3, 2]))
    c = CASES.new("SparseTensorDenseMatMul of doubles")
    product(c, sparse(c, at, values.astype(F64), [3, 4]), c.input([4, 2], F64), T=F64)


def counts():
    for dims in ([7], [3, 5]):
        for weighted in (False, True):
            for binary in (False, True):
                for constant in (False, True):
                    c = CASES.new(f"DenseBincount of {dims}, {weighted=}, {binary=}, {constant=}")
                    x = c.either(constant, dims, I32, low=0, high=6)
                    weights = c.either(constant, dims) if weighted and not binary else c.const(NONE)
                    c.gives(c.node("DenseBincount", [x, c.const(np.array(5, I32)), weights], binary_output=binary))
    for dtype in (I32, I64, F64):
        c = CASES.new(f"DenseBincount with weights of {dtype.__name__}")
        x = [c.input([6], I64, low=0, high=3), c.const(np.array(4, I64)), c.input([6], dtype)]
        c.gives(c.node("DenseBincount", x, Tidx=I64, T=dtype))
    for least, most in ((6, 6), (7, 6)):
        for turned in (False, True):
            c = CASES.new(f"DenseBincount of a size between {least} and {most}, {turned=}")
            x = c.input([2, 4], I32, low=0, high=5)
            size = c.node("AddV2", [c.node("Max", [x, c.const(np.array([0, 1], I32))]), c.const(np.array(1, I32))])
            size = c.node("Maximum", [size, c.const(np.array(least, I32))][::-1 if turned else 1])
            size = c.node("Minimum", [size, c.const(np.array(most, I32))][::-1 if turned else 1])
            c.gives(c.node("DenseBincount", [x, size, c.const(NONE)], binary_output=True))
    c = CASES.new("DenseBincount of a size between 2 and 6")
    x = c.input([2, 4], I32, name="numbers")
    size = c.node("Maximum", [c.node("Max", [x, c.const(np.array([0, 1], I32))]), c.const(np.array(2, I32))])
    c.node("DenseBincount", [x, c.node("Minimum", [size, c.const(np.array(6, I32))]), c.const(NONE)])
    c.refused("input 1 (size) is not a constant")
    c = CASES.new("DenseBincount of nothing")
    c.gives(c.node("DenseBincount", [c.const(np.zeros([2, 0], I32)), c.const(np.array(3, I32)), c.const(NONE)]))
    c = CASES.new("DenseBincount of weights that are infinite or none")
    x = c.input(np.array([0, 1, 2, 3, 2], I32))
    c.gives(c.node("DenseBincount", [x, c.const(np.array(3, I32)), c.input(np.array([1, np.inf, 2, np.nan, 3], F32))]))
    for dims in ([7], [2, 3], []):
        for weighted in (False, True):
            c = CASES.new(f"Bincount of {dims}, {weighted=}")
            weights = c.input(dims) if weighted else c.const(NONE)
            c.gives(c.node("Bincount", [c.input(dims, I32, low=0, high=5), c.const(np.array(4, I32)), weights]))


def refused():
    c = CASES.new("SparseTensorDenseMatMul of a computed shape")
    c.node("SparseTensorDenseMatMul", [*sparse(c, [[0, 0]], [F32(1)], [2, 2])[:2], c.input(np.array([2, 2], I64)), c.input([2, 2])])
    c.refused("input 2 (a_shape) is not a constant")
    c = CASES.new("SparseTensorDenseMatMul of a place outside")
    c.node("SparseTensorDenseMatMul", [*sparse(c, [[0, 2]], [F32(1)], [2, 2]), c.input([2, 2])])
    c.refused("outside")
    c = CASES.new("SparseTensorDenseMatMul of matrices that do not fit")
    c.node("SparseTensorDenseMatMul", [*sparse(c, [[0, 1]], [F32(1)], [2, 3]), c.input([2, 2])])
    c.refused("a matrix [2,3] cannot be multiplied with [2,2]")
    c = CASES.new("SparseTensorDenseMatMul of more values than places")
    c.node("SparseTensorDenseMatMul", [*sparse(c, [[0, 1]], np.ones(2, F32), [2, 3]), c.input([3, 2])])
    c.refused("indices [1,2] and values [2] are not those of a matrix [2,3]")
    c = CASES.new("DenseBincount of a computed size")
    c.node("DenseBincount", [c.input([3], I32), c.input(np.array(4, I32)), c.const(NONE)])
    c.refused("input 1 (size) is not a constant")
    c = CASES.new("DenseBincount of a negative size")
    c.node("DenseBincount", [c.input([3], I32), c.const(np.array(-1, I32)), c.const(NONE)])
    c.refused("size is -1")
    c = CASES.new("DenseBincount of other weights")
    c.node("DenseBincount", [c.input([3], I32), c.const(np.array(4, I32)), c.input([2])])
    c.refused("the weights are [2] for numbers [3]")
    c = CASES.new("DenseBincount of three axes")
    c.node("DenseBincount", [c.input([3, 1, 1], I32), c.const(np.array(4, I32)), c.const(NONE)])
    c.refused("the input [3,1,1] has more than two axes")


products()
counts()
refused()
