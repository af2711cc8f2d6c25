# SPDX-License-Identifier: Apache-2.0
"""Matrix products, and what is done to the diagonals of matrices."""

import numpy as np
from case import Cases

CASES = Cases()
F32, F16, I32, I8 = np.float32, np.float16, np.int32, np.int8


def swapped(dims, swap):
    return [*dims[:-2], dims[-1], dims[-2]] if swap else dims


def products():
    for transpose_a in (False, True):
        for transpose_b in (False, True):
            for constants in ("", "a", "b", "ab"):
                c = CASES.new(f"MatMul transposed {transpose_a} {transpose_b} of constants {constants}")
                a = c.either("a" in constants, swapped([2, 3], transpose_a))
                b = c.either("b" in constants, swapped([3, 4], transpose_b))
                c.gives(c.node("MatMul", [a, b], transpose_a=transpose_a, transpose_b=transpose_b))
    for dtype in (F16, np.float64, I32, np.int64):
        for constant in (False, True):
            c = CASES.new(f"MatMul of {np.dtype(dtype).name}{', constant' * constant}")
            c.gives(c.node("MatMul", [c.input([2, 3], dtype), c.either(constant, [3, 4], dtype)]), within=2e-3)
    c = CASES.new("MatMul that shares weights")
    x, w = c.input([2, 3]), c.random_const([3, 3])
    first = c.node("MatMul", [x, w])
    c.gives(c.node("MatMul", [first, w]), c.node("MatMul", [first, w], transpose_b=True))
    c = CASES.new("MatMul of an empty batch")
    c.gives(c.node("MatMul", [c.input([0, 3]), c.random_const([3, 4])]))
    c = CASES.new("MatMul that does not fit")
    c.node("MatMul", [c.input([2, 3]), c.random_const([4, 3])])
    c.refused("[2,3] and [4,3] cannot be multiplied")
    c = CASES.new("MatMul of vectors")
    c.node("MatMul", [c.input([3]), c.random_const([3])])
    c.refused("cannot be multiplied")


def fused():
    for ops in (["BiasAdd"], ["BiasAdd", "Relu"], ["BiasAdd", "Relu6"], ["BiasAdd", "Elu"], ["BiasAdd", "LeakyRelu"],
                ["BiasAdd", "Tanh"], ["BiasAdd", "Sigmoid"]):
        for constant in (True, False):
            c = CASES.new(f"_FusedMatMul {'+'.join(ops)}{', constant' * constant}")
            inputs = [c.input([2, 3]), c.either(constant, [3, 4]), c.either(constant, [4])]
            c.gives(c.node("_FusedMatMul", inputs, name="y", num_args=1, fused_ops=ops))
    c = CASES.new("_FusedMatMul with a slope")
    inputs = [c.input([2, 3]), c.random_const([3, 4]), c.random_const([4])]
    c.gives(c.node("_FusedMatMul", inputs, name="y", num_args=1, fused_ops=["BiasAdd", "LeakyRelu"], leakyrelu_alpha=0.3))
    c = CASES.new("_FusedMatMul with an unknown function")
    inputs = [c.input([2, 3]), c.random_const([3, 4]), c.random_const([4])]
    c.node("_FusedMatMul", inputs, name="y", num_args=1, fused_ops=["BiasAdd", "Cosine"])
    c.refused("Cosine in a fused operator is not supported")


def batches():
    for op, a, b in (("BatchMatMul", [2, 3, 4], [2, 4, 5]), ("BatchMatMulV2", [2, 3, 4], [2, 4, 5]),
                     ("BatchMatMulV2", [3, 4], [4, 5]), ("BatchMatMulV2", [2, 3, 4], [4, 5]),
                     ("BatchMatMulV2", [2, 1, 3, 4], [3, 4, 2]), ("BatchMatMulV3", [2, 1, 3, 4], [3, 4, 2])):
        for adj_x in (False, True):
            for adj_y in (False, True):
                for constant in (False, True):
                    c = CASES.new(f"{op} {a} {b} {adj_x} {adj_y}{', constant' * constant}")
                    x, y = c.input(swapped(a, adj_x)), c.either(constant, swapped(b, adj_y))
                    types = {"Ta": F32, "Tb": F32, "Tout": F32} if op.endswith("V3") else {}
                    c.gives(c.node(op, [x, y], adj_x=adj_x, adj_y=adj_y, **types))
    c = CASES.new("BatchMatMulV2 without attributes")
    c.gives(c.node("BatchMatMulV2", [c.input([2, 3, 4]), c.input([2, 4, 5])]))
    c = CASES.new("BatchMatMulV3 of bytes")
    c.gives(c.node("BatchMatMulV3", [c.input([2, 3], I8, low=-128, high=127), c.input([3, 2], I8, low=-128, high=127)],
                   Ta=I8, Tb=I8, Tout=I32))
    c = CASES.new("BatchMatMulV2 of a vector")
    c.node("BatchMatMulV2", [c.input([3]), c.input([3, 2])])
    c.refused("are not both matrices")


def einsums():
    for equation, *dims in (("ij,jk->ik", [2, 3], [3, 4]), ("bij,bjk->bik", [2, 3, 4], [2, 4, 5]), ("ij->ji", [2, 3]),
                            ("ij->", [2, 3]), ("ii->i", [3, 3]), ("abc,cd->abd", [2, 3, 4], [4, 5]),
                            ("BTNH,BFNH->BNFT", [1, 3, 2, 4], [1, 5, 2, 4]), ("BNFT,BTNH->BFNH", [1, 2, 5, 3], [1, 3, 2, 4]),
                            ("...ij,...jk->...ik", [2, 2, 3], [3, 4]), ("i,j->ij", [2], [3]), ("abc,abc->ab", [2, 3, 4], [2, 3, 4]),
                            ("i,i->", [3], [3])):
        for constant in (False, True):
            c = CASES.new(f"Einsum {equation}{', constant' * constant}")
            inputs = [c.input(dims[0])] + [c.either(constant, d) for d in dims[1:]]
            c.gives(c.node("Einsum", inputs, N=len(inputs), equation=equation))
    c = CASES.new("Einsum that makes a diagonal")
    c.node("Einsum", [c.input([3])], N=1, equation="i->ii")
    c.refused("the result has a label twice")


def diagonals():
    for dims in ([3], [2, 3]):
        for dtype in (F32, I32):
            for constant in (False, True):
                c = CASES.new(f"MatrixDiag of {dims} {np.dtype(dtype).name}{', constant' * constant}")
                c.gives(c.node("MatrixDiag", [c.either(constant, dims, dtype)]))
    for dims in ([3, 3], [2, 3, 4], [2, 4, 3]):
        c = CASES.new(f"MatrixDiagPart of {dims}")
        c.gives(c.node("MatrixDiagPart", [c.input(dims)]))
        c = CASES.new(f"MatrixSetDiag of {dims}")
        c.gives(c.node("MatrixSetDiag", [c.input(dims), c.input([*dims[:-2], min(dims[-2:])])]))
        for lower, upper in ((0, 0), (-1, 0), (0, -1), (1, 2), (-1, -1)):
            for dtype in (np.int32, np.int64):
                c = CASES.new(f"MatrixBandPart {lower} {upper} of {dims} by {np.dtype(dtype).name}")
                bounds = [c.const(np.array(n, dtype)) for n in (lower, upper)]
                c.gives(c.node("MatrixBandPart", [c.input(dims), *bounds]))


ALIGNMENTS = (None, "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def bands():
    for version in ("V2", "V3"):
        for k in (0, 1, -2, [0, 0], [-1, 1], [-2, -1], [1, 2], [-2, 3]):
            low, high = (k, k) if isinstance(k, int) else k
            for align in ALIGNMENTS if version == "V3" and low != high else (None,):
                attributes = {"align": align} if align else {}
                name = f"{version} {k} {align or ''}"
                rows, columns = 3, 4
                longest = min(rows + min(high, 0), columns - max(low, 0))
                band = [longest] if low == high else [high - low + 1, longest]
                c = CASES.new(f"MatrixDiagPart{version} {name}")
                inputs = [c.input([2, rows, columns]), c.const(np.array(k, I32)), c.const(np.array(7, F32))]
                c.gives(c.node(f"MatrixDiagPart{version}", inputs, **attributes))
                c = CASES.new(f"MatrixSetDiag{version} {name}")
                inputs = [c.input([2, rows, columns]), c.input([2, *band]), c.const(np.array(k, I32))]
                c.gives(c.node(f"MatrixSetDiag{version}", inputs, **attributes))
                for size in ((rows, columns), (-1, -1)):
                    c = CASES.new(f"MatrixDiag{version} {name} {size}")
                    inputs = [c.input([2, *band]), c.const(np.array(k, I32)), *(c.const(np.array(n, I32)) for n in size),
                              c.const(np.array(-3, F32))]
                    c.gives(c.node(f"MatrixDiag{version}", inputs, **attributes))
    c = CASES.new("MatrixDiagV3 of too few rows")
    inputs = [c.input([3]), *(c.const(np.array(n, I32)) for n in (0, 2, 3)), c.const(np.array(0, F32))]
    c.node("MatrixDiagV3", inputs)
    c.refused("diagonals 0 to 0 of 3 elements are not those of 2 rows and 3 columns")
    c = CASES.new("MatrixDiagPartV3 of a diagonal that there is not")
    c.node("MatrixDiagPartV3", [c.input([3, 3]), c.const(np.array(5, I32)), c.const(np.array(0, F32))])
    c.refused("matrices of 3 rows and 3 columns have no diagonals 5 to 5")


products()
fused()
batches()
einsums()
diagonals()
bands()
