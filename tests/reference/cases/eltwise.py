# SPDX-License-Identifier: Apache-2.0
"""Operators that work element by element, and their integers, halves and special values."""

import numpy as np
from case import Cases
from tf_writer import STRING

CASES = Cases()
F32, F16, F64, I32, I64, U8, I8, BOOL = (np.float32, np.float16, np.float64, np.int32, np.int64, np.uint8, np.int8, np.bool_)
INF, NAN = np.inf, np.nan


def label(dtype):
    return np.dtype(dtype).name


def both(name):
    """The case with a graph input, and the one that is computed at conversion."""
    for constant in (False, True):
        yield CASES.new(f"{name}, constant" if constant else name), constant


def unary(op, values, dtype=F32, within=None, **attributes):
    for c, constant in both(f"{op} {label(dtype)} {len(values)}"):
        c.gives(c.node(op, [c.either(constant, np.array(values, dtype))], **attributes), within=within)


def binary(op, dtype, x, y, within=None, name="", **attributes):
    for c, constant in both(f"{op} {label(dtype)}{name}"):
        a, b = c.either(constant, np.array(x, dtype)), c.either(constant, np.array(y, dtype))
        c.gives(c.node(op, [a, b], **attributes), within=within)


LINE = np.linspace(-3, 3, 25)
SPECIAL = [0, -0.0, 1, -1, INF, -INF, NAN]


def functions():
    for op in ("Abs", "Neg", "Sign", "Square", "Floor", "Ceil", "Rint", "Round"):
        unary(op, [*LINE, 0.5, 1.5, 2.5, -0.5, -1.5, *SPECIAL], within=0)
        if op != "Rint":
            unary(op, [*LINE, 0.5, -2.5], F16, within=0)
    for op in ("Abs", "Neg", "Sign", "Square"):
        unary(op, [-7, -1, 0, 2, 46341], I32)
        unary(op, [-7, -1, 0, 2, 40000], I64)
    for op in ("Exp", "Expm1", "Sin", "Cos", "Tan", "Tanh", "Sinh", "Cosh", "Asinh", "Atan", "Erf", "Erfc", "Sigmoid"):
        unary(op, LINE)
        unary(op, LINE[::4], F16, within=2e-3)
    for op in ("Exp", "Expm1", "Tanh", "Atan", "Erf", "Erfc", "Sigmoid"):
        unary(op, SPECIAL)
    for op in ("Sqrt", "Rsqrt", "Log", "Log1p", "Reciprocal", "Inv"):
        unary(op, np.linspace(0.1, 5, 21))
        unary(op, SPECIAL)
    unary("Acosh", np.linspace(1, 8, 9))
    for op in ("Asin", "Acos", "Atanh"):
        unary(op, np.linspace(-0.9, 0.9, 13))
    for op in ("IsNan", "IsInf", "IsFinite"):
        unary(op, [*SPECIAL, 3.5])
        unary(op, [*SPECIAL, 3.5], F16)
    unary("LogicalNot", [True, False], BOOL)
    unary("Exp", LINE, F64)


def small_results():
    """What a difference would lose."""
    tiny = np.array([1e-7, -1e-7, 3e-6, 1e-20, 0])
    for op in ("Expm1", "Log1p"):
        for c, constant in both(f"{op} of small numbers"):
            c.gives(c.node(op, [c.either(constant, tiny.astype(F32))]), within=2e-7)
    for c, constant in both("Erfc of large numbers"):
        c.gives(c.node("Erfc", [c.either(constant, np.array([4, 5.5, 8], F32))]), within=1e-5)


def arithmetic():
    x, y = np.array([7, -7, 5, -5, 0, 2, 1]), np.array([3, 3, -3, -3, 2, 7, -1])
    for op in ("Add", "AddV2", "Sub", "Mul", "Div", "FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Maximum",
               "Minimum", "SquaredDifference", "Mod"):
        binary(op, I32, x, y)
        if op not in ("TruncateMod", "Mod"):
            binary(op, I64, x, y)
    for op in ("Add", "AddV2", "Sub", "Mul", "RealDiv", "Div", "FloorDiv", "FloorMod", "Mod", "TruncateDiv", "TruncateMod",
               "Maximum", "Minimum", "SquaredDifference", "DivNoNan", "MulNoNan"):
        binary(op, F32, x / 2, y / 4)
        binary(op, F32, [1, 1, 0.3, 2.7], [0.1, -0.1, 0.1, 0.3], name=" near integers", within=1e-6)
    for op in ("Add", "AddV2", "Sub", "Mul", "RealDiv", "FloorDiv", "Maximum", "Minimum", "SquaredDifference"):
        binary(op, F16, x / 2, y / 4)
    for op in ("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum", "FloorDiv", "FloorMod", "TruncateDiv"):
        binary(op, U8, [200, 3, 250, 9], [100, 5, 7, 2])
    binary("Add", I32, [2**31 - 1, -(2**31)], [1, -1], name=" that wraps")
    binary("Mul", I32, [2**16, 12345], [2**16, 678910], name=" that wraps")
    binary("Sub", I8, [-128, 100], [1, -100], name=" that wraps")
    for op in ("DivNoNan", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py"):
        binary(op, F32, [0, 1, INF, NAN, 0, 2], [0, 0, 0, 0, INF, 3], name=" of special values")
    for op in ("Xdivy", "Xlogy", "Xlog1py"):
        binary(op, F32, [1, 2, 0, -1.5], [0.5, 3, 4, 1])
    for op in ("Maximum", "Minimum"):
        binary(op, F32, [1, NAN, INF], [2, 0, -INF], name=" of special values")


def powers():
    binary("Pow", F32, [2, 3, 0.5, 4, -2, 0], [3, 0, 2, 0.5, 3, 2])
    binary("Pow", F16, [2, 3, 0.5, 4], [3, 0, 2, 0.5])
    binary("Pow", I32, [2, -3, 7, 0, 3], [10, 3, 0, 0, 25], within=0)
    c = CASES.new("Pow with a negative integer")
    c.node("Pow", [c.input([2], I32), c.const(np.array([1, -2], I32))])
    c.refused("the exponent -2 of an integer is negative")


def angles():
    y = [0, 0, -0.0, -0.0, 1, -1, 1, -1, 2, -2, 0.3, INF, -INF, INF, 1, NAN]
    x = [1, -1, 1, -1, 0, 0, -0.0, -1, 5, -5, -0.2, INF, -INF, 2, INF, 1]
    binary("Atan2", F32, y, x)


def broadcasting():
    for op in ("Add", "AddV2", "Mul", "Maximum", "Less", "Equal", "FloorMod"):
        for a, b in (([2, 3], []), ([2, 3], [3]), ([2, 1, 4], [3, 1]), ([], [2]), ([1, 4, 4, 3], [3]), ([0, 3], [3])):
            c = CASES.new(f"{op} of {a} and {b}")
            c.gives(c.node(op, [c.input(a, low=1), c.input(b, low=1)]))
    c = CASES.new("AddN of three")
    c.gives(c.node("AddN", [c.input([2, 3]), c.random_const([2, 3]), c.input([2, 3])], N=3))
    c = CASES.new("AddN of one")
    c.gives(c.node("AddN", [c.input([2, 3])], N=1))


def comparisons():
    x, y = [1, 2, 3, -1], [2, 2, 2, -1]
    for op in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"):
        for dtype in (F32, F16, I32, I64):
            binary(op, dtype, x, y)
        binary(op, F32, [NAN, 1, INF, NAN], [1, NAN, INF, NAN], name=" of special values")
    for op in ("Equal", "NotEqual", "LogicalAnd", "LogicalOr"):
        binary(op, BOOL, [False, False, True, True], [False, True, False, True])
    for op in ("Equal", "NotEqual"):
        for c, constant in both(f"{op} of shapes that do not fit"):
            x, y = c.either(constant, [2]), c.either(constant, [3])
            c.gives(c.node(op, [x, y], incompatible_shape_error=False))
        c = CASES.new(f"{op} without an error of shapes that fit")
        c.gives(c.node(op, [c.input([2, 3], I32), c.input([3], I32)], incompatible_shape_error=False))
    c = CASES.new("Equal of shapes that must fit")
    c.node("Equal", [c.input([2]), c.input([3])])
    c.refused("do not broadcast")
    binary("ApproximateEqual", F32, [1, 1, 1], [1, 1.000001, 1.1])
    binary("ApproximateEqual", F32, [1, 1, 1], [1, 1.2, 1.7], name=" within a half", tolerance=0.5)
    binary("ApproximateEqual", F32, [0.5, 1, 1, -1], [1, 1.5, 1.75, -1.5], name=" at a half", tolerance=0.5)


def integer_zeros():
    for op in ("FloorDiv", "FloorMod", "Div"):
        c = CASES.new(f"{op} by zero")
        c.node(op, [c.input([2], I32), c.const(np.array([3, 0], I32))])
        c.refused("element 1 of the divisor is the integer 0")


def selections():
    values = np.array([[1, 2, 3], [4, 5, 6]])
    for op, dims in (("Select", []), ("Select", [2]), ("Select", [2, 3]), ("SelectV2", []), ("SelectV2", [3]),
                     ("SelectV2", [2, 1])):
        for dtype in (F32, I32, I64, BOOL):
            for c, constant in both(f"{op} by {dims} of {label(dtype)}"):
                condition = c.either(constant, dims, BOOL)
                yes, no = c.either(constant, values.astype(dtype)), c.either(constant, (values * 0).astype(dtype))
                c.gives(c.node(op, [condition, yes, no]))
    c = CASES.new("SelectV2 of shapes that broadcast")
    c.gives(c.node("SelectV2", [c.input([2, 1], BOOL), c.input([3]), c.input([4, 1, 1])]))
    c = CASES.new("Select of a condition that does not fit")
    c.node("Select", [c.input([3], BOOL), c.input([2, 3]), c.input([2, 3])])
    c.refused("does not fit the values")


def clips():
    for dtype in (F32, F16, I32):
        for c, constant in both(f"ClipByValue {label(dtype)}"):
            x = c.either(constant, [3, 4], dtype, low=-5, high=5)
            c.gives(c.node("ClipByValue", [x, c.const(np.array(-2, dtype)), c.const(np.array(3, dtype))]), within=0)
    c = CASES.new("ClipByValue by tensors")
    c.gives(c.node("ClipByValue", [c.input([3, 4]), c.input(np.zeros([3, 4], F32) - 1), c.input([3, 4], low=0)]), within=0)


def bits():
    x, y = [0b1100, -1, 255, -128, 7], [0b1010, 12345, 15, 127, 0]
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        for dtype in (I32, np.int16, I64):
            binary(op, dtype, x, y)
        binary(op, U8, [200, 15, 255], [100, 240, 1])
    for dtype in (I32, I8, I64):
        unary("Invert", [0, -1, 5, 127], dtype)
    unary("Invert", [0, 200, 255], U8)
    for op in ("LeftShift", "RightShift"):
        binary(op, I32, [1, -5, 1000, 3, 7], [3, 1, 40, -1, 0])
        binary(op, U8, [1, 200, 255], [3, 1, 9])
        binary(op, I8, [1, -100, 127], [3, 1, 9])


def casts():
    numbers = [-2.7, -0.5, 0, 0.5, 1, 2.7, 100.2]
    for source, target in ((F32, I32), (F32, I64), (F32, F16), (F32, BOOL), (F32, F64), (F16, F32), (F16, I32), (I32, F32),
                           (I64, I32), (I32, BOOL), (BOOL, F32), (BOOL, I32), (I32, I8), (I32, U8), (U8, F32), (F32, I8)):
        for c, constant in both(f"Cast from {label(source)} to {label(target)}"):
            x = c.either(constant, np.array(numbers).astype(source))
            c.gives(c.node("Cast", [x], SrcT=source, DstT=target), within=0)
    c = CASES.new("Cast to fewer bits wraps")
    c.gives(c.node("Cast", [c.input(np.array([300, -200, 128], I32))], SrcT=I32, DstT=I8))
    c = CASES.new("Cast that cuts digits off")
    c.node("Cast", [c.input([3])], SrcT=F32, DstT=F16, Truncate=True)
    c.refused("by cutting digits off, not by rounding")
    c = CASES.new("Cast of whole numbers with Truncate")
    c.gives(c.node("Cast", [c.input([3])], SrcT=F32, DstT=I32, Truncate=True))
    c = CASES.new("Cast to strings")
    c.node("Cast", [c.input([3])], SrcT=F32, DstT=STRING)
    c.refused("float32 cannot be cast to string")


def bit_casts():
    for c, constant in both("Bitcast of int8 to uint8"):
        c.gives(c.node("Bitcast", [c.either(constant, np.array([-1, 5, -128], I8))], T=I8, type=U8))
    for c, constant in both("Bitcast of int32 to uint32"):
        c.gives(c.node("Bitcast", [c.either(constant, np.array([-1, 5], I32))], T=I32, type=np.uint32))
    for target, values in ((I32, np.array([1.5, -2], F32)), (U8, np.array([1.5, -2], F32)),
                           (F32, np.array([[0, 0, 128, 63], [0, 0, 0, 192]], U8)), (U8, np.array(7, I32))):
        c = CASES.new(f"Bitcast of constants {values.shape} of {label(values.dtype)} to {label(target)}")
        c.gives(c.node("Bitcast", [c.const(values)], T=values.dtype, type=target), within=0)
    c = CASES.new("Bitcast of floats that are computed")
    c.node("Bitcast", [c.input([3])], T=F32, type=I32)
    c.refused("no op of the container gives the bits of a float")
    c = CASES.new("Bitcast that cuts computed elements")
    c.node("Bitcast", [c.input([3])], T=F32, type=U8)
    c.refused("no op of the container cuts elements")


def bessels():
    """On both sides of 8, where the polynomial changes."""
    values = np.concatenate([np.linspace(-21, 21, 85), [8.0, 7.999999, 8.000001, -8, 1e-6, -1e-20, 80, -60]]).astype(F32)
    for op in ("BesselI0", "BesselI0e", "BesselI1", "BesselI1e"):
        for low, high in ((0, 1), (1, 10), (10, 30), (30, 90)):
            unary(op, values[(np.abs(values) >= low) & (np.abs(values) < high)], within=1e-6)
        c = CASES.new(f"{op} of special values")
        c.gives(c.node(op, [c.input(np.array([0, -0.0, NAN] + [INF, -INF, 1e30] * op.endswith("e"), F32))]))
        c = CASES.new(f"{op} of halves")
        c.gives(c.node(op, [c.input(np.array([0.5, 3, -1.5, 9], np.float16))]))


def gammas():
    """Of numbers around the zeros and poles, near and far; whole numbers are exact in the reflection."""
    values = np.concatenate([np.arange(-6, 6, 0.15625), [1, 2, 1.4616321, 0.01, -0.01, 7, 33, 170.5, 1e4]]).astype(F32)
    for op in ("Lgamma", "Digamma"):
        finite = values if op == "Lgamma" else values[(values > 0) | (values != np.floor(values))]
        unary(op, finite)
        c = CASES.new(f"{op} of special values")
        c.gives(c.node(op, [c.input(np.array([0, -1, -7, INF, NAN] + [-INF] * (op == "Lgamma"), F32))]))
        c = CASES.new(f"{op} of large numbers")
        c.gives(c.node(op, [c.input(np.array([1e6, 1e12, 3e20, 1e30], F32))]))
        c = CASES.new(f"{op} near its zeros")
        c.gives(c.node(op, [c.input(np.array([1.4375, 1.5, 1.03125] if op == "Digamma" else [0.96875, 1.03125, 1.96875, 2.03125], F32))]))
        c = CASES.new(f"{op} of halves")
        c.gives(c.node(op, [c.input(np.array([0.5, 3, -1.5, 9], np.float16))], T=np.float16))


def others():
    for dtype in (F32, F64, I32):
        for c, constant in both(f"Bucketize {label(dtype)}"):
            x = c.either(constant, np.array([[-5, 10000], [150, 10], [5, 100]], dtype))
            c.gives(c.node("Bucketize", [x], boundaries=[0.0, 10.0, 100.0]))
    for op in ("LowerBound", "UpperBound"):
        for dtype in (F32, I32, I64, F16):
            for c, constant in both(f"{op} {label(dtype)}"):
                row = c.either(constant, np.array([[1, 2, 2, 5, 9], [-3, -3, 0, 7, 7]], dtype))
                at = c.either(constant, np.array([[2, 0, 9, 10, 3, 5], [-3, -4, 8, 7, 0, 1]], dtype))
                c.gives(c.node(op, [row, at], out_type=I64 if dtype == I32 else I32))
        c = CASES.new(f"{op} of special values")
        c.gives(c.node(op, [c.input(np.array([[-INF, 0, 1, INF]], F32)), c.input(np.array([[NAN, -INF, INF, 0]], F32))]))
        c = CASES.new(f"{op} in nothing")
        c.gives(c.node(op, [c.const(np.zeros([2, 0], F32)), c.input([2, 3])]))
        c = CASES.new(f"{op} of other rows")
        c.node(op, [c.input([2, 3]), c.input([3, 3])])
        c.refused("[2,3] and [3,3] are not the rows of two matrices")
    for dims in ([3], [2, 3], [2, 4, 3]):
        for c, constant in both(f"Cross of {dims}"):
            c.gives(c.node("Cross", [c.either(constant, dims), c.either(constant, dims)]))
    c = CASES.new("Cross of four elements")
    c.node("Cross", [c.input([4]), c.input([4])])
    c.refused("are not vectors of three elements")


functions()
small_results()
arithmetic()
powers()
angles()
broadcasting()
comparisons()
integer_zeros()
selections()
clips()
bits()
casts()
bit_casts()
bessels()
gammas()
others()
