# SPDX-License-Identifier: Apache-2.0
"""Linear algebra on small matrices. Results of well-conditioned ones: TensorFlow's are not exact either."""

import numpy as np
from case import Cases

CASES = Cases()
F32, F64 = np.float32, np.float64
SHAPES = ([1, 1], [2, 2], [3, 3], [2, 4, 4], [2, 1, 5, 5], [8, 8])


def strong(c, dims, dtype=F32):
    """Random matrices whose diagonals, in the order of a permutation, outweigh the rest."""
    n = dims[-1]
    turned = np.roll(np.eye(n), 1, axis=0)
    return (c.random(dims, low=-1, high=1).astype(F64) + turned * (n + 1)).astype(dtype)


def symmetric(c, dims):
    x = c.random(dims, low=-1, high=1).astype(F64)
    return np.round((x + np.swapaxes(x, -1, -2)) * 64) / 64 + np.eye(dims[-1]) * 2 * (dims[-1] + 1)


# Elements that are zero where elimination without exchanges would divide by them.
HARD = {"a zero": [[0, 1], [1, 0]],
        "zeros on the diagonal": [[0, 2, 1], [1, 0, 3], [2, 1, 0]],
        "a singular minor": [[1, 2, 3], [2, 4, 1], [1, 1, 1]],
        "a small element": [[1e-12, 1], [1, 1]],
        "a singular minor below": [[2, 1, 1, 3], [4, 2, 2, 1], [2, 1, 3, 0], [0, 1, 1, 1]]}


def inverses():
    for dims in SHAPES:
        for constant in (False, True):
            c = CASES.new(f"the inverse of {dims}, {constant=}")
            c.gives(c.node("MatrixInverse", [c.either(constant, strong(c, dims))]))
    for name, values in HARD.items():
        x = np.array(values, F32)
        right = np.arange(2 * len(x), dtype=F32).reshape(-1, 2) - 2
        for op in ("MatrixInverse", "MatrixDeterminant"):
            c = CASES.new(f"{op} of {name}")
            c.gives(c.node(op, [c.input(x)]))
        c = CASES.new(f"MatrixSolve of {name}")
        c.gives(c.node("MatrixSolve", [c.input(x), c.input(right)]))
    c = CASES.new("the inverse of the transposed")
    c.gives(c.node("MatrixInverse", [c.input(strong(c, [2, 3, 3]))], adjoint=True))


def determinants():
    for dims in SHAPES:
        for constant in (False, True):
            c = CASES.new(f"the determinant of {dims}, {constant=}")
            c.gives(c.node("MatrixDeterminant", [c.either(constant, strong(c, dims))]))
    c = CASES.new("the determinant of singular matrices")
    c.gives(c.node("MatrixDeterminant", [c.input(np.array([[[1, 2], [2, 4]], [[0, 0], [0, 0]], [[0, 3], [0, 5]]], F32))]))


def logarithms():
    for dims in SHAPES:
        for constant in (False, True):
            c = CASES.new(f"the logarithm of the determinant of {dims}, {constant=}")
            sign, size = (y := c.node("LogMatrixDeterminant", [c.either(constant, strong(c, dims))])), y[1]
            c.gives(sign, size)
    for name, values in HARD.items():
        c = CASES.new(f"LogMatrixDeterminant of {name}")
        y = c.node("LogMatrixDeterminant", [c.input(np.array(values, F32))])
        c.gives(y, y[1])
    c = CASES.new("LogMatrixDeterminant of determinants beyond floats, and of a singular matrix")
    x = np.stack([np.eye(3) * 1e20, np.eye(3)[::-1] * 1e-20, np.ones([3, 3])]).astype(F32)
    y = c.node("LogMatrixDeterminant", [c.input(x)])
    c.gives(y, y[1])


def systems():
    for dims in SHAPES:
        for adjoint in (False, True):
            c = CASES.new(f"MatrixSolve of {dims}, {adjoint=}")
            c.gives(c.node("MatrixSolve", [c.input(strong(c, dims)), c.input([*dims[:-1], 3])], adjoint=adjoint))
            for lower in (False, True):
                c = CASES.new(f"MatrixTriangularSolve of {dims}, {adjoint=}, {lower=}")
                x = c.random(dims, low=-1, high=1) + np.eye(dims[-1], dtype=F32) * 3
                c.gives(c.node("MatrixTriangularSolve", [c.input(x), c.input([*dims[:-1], 2])], adjoint=adjoint, lower=lower))
    c = CASES.new("MatrixTriangularSolve as it is by default")
    c.gives(c.node("MatrixTriangularSolve", [c.input(np.array([[2, 9], [1, 4]], F32)), c.input([2, 1])]))


def roots():
    for dims in SHAPES:
        for constant in (False, True):
            c = CASES.new(f"Cholesky of {dims}, {constant=}")
            c.gives(c.node("Cholesky", [c.either(constant, symmetric(c, dims).astype(F32))]))
    c = CASES.new("Cholesky reads the lower half")
    c.gives(c.node("Cholesky", [c.input(np.array([[4, 99, 7], [2, 5, -3], [1, 2, 9]], F32))]))


def refused():
    for op in ("MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "Cholesky"):
        c = CASES.new(f"{op} of no square")
        c.node(op, [c.input([2, 3])])
        c.refused("is not made of square matrices of floats")
    c = CASES.new("MatrixInverse of many rows")
    c.node("MatrixInverse", [c.input(np.zeros([129, 129], F32))])
    c.refused("matrices of 129 rows are outside 1 to 128")
    c = CASES.new("MatrixSolve of other right sides")
    c.node("MatrixSolve", [c.input([2, 3, 3]), c.input([3, 1])])
    c.refused("the right sides [3,1] are not as many as the matrices [2,3,3]")
    c = CASES.new("MatrixSolve of no right sides")
    c.node("MatrixSolve", [c.input([3, 3]), c.const(np.zeros([3, 0], F32))])
    c.refused("the right sides have no columns")


inverses()
determinants()
logarithms()
systems()
roots()
refused()
