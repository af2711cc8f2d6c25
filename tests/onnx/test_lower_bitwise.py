# SPDX-License-Identifier: Apache-2.0
"""ONNX operators on the bits of integers, each as a model of one node that is converted and executed; NumPy says what
must come out."""

from one_node import Const, gives, np, refuses
from checks import Checks

SIGNED, UNSIGNED = ("i1", "i2", "i4", "i8"), ("u1", "u2", "u4", "u8")


def some_words(dtype, *shape):
    """The ends of the type's range and what is between; of 64-bit types those that 32 bits hold."""
    info = np.iinfo(dtype if dtype[1] != "8" else dtype[0] + "4")
    corners = [info.min, info.max, info.min + 1, info.max - 1, 0, 1, 2, 77, info.max // 3, info.max // 2 + 1]
    order = np.arange(np.prod(shape)) * 7 % len(corners)
    return np.array(corners, "u8" if dtype[0] == "u" else "i8")[order].astype(dtype).reshape(shape)


def test_combinations(checks):
    for dtype in (*SIGNED, *UNSIGNED):
        x, y = some_words(dtype, 2, 5, 3), some_words(dtype, 5, 1)[::-1]
        y = np.ascontiguousarray(y)
        gives(checks, "BitwiseAnd", 18, [x, y], x & y)
        gives(checks, "BitwiseOr", 18, [Const(y, dtype), x], x | y)
        gives(checks, "BitwiseXor", 18, [x, y], x ^ y)
        gives(checks, "BitwiseXor", 18, [Const(x, dtype), Const(y, dtype)], x ^ y)
        if dtype != "u8":
            gives(checks, "BitwiseNot", 18, [x], ~x)
        gives(checks, "BitwiseAnd", 18, [x, Const(7, dtype)], x & np.array(7, dtype))
        gives(checks, "BitwiseAnd", 18, [Const([1], dtype), x], x & np.array(1, dtype))
    deep = some_words("i2", 1, 2, 1, 2, 1, 3, 1, 2)
    gives(checks, "BitwiseOr", 18, [deep, np.array([5, -9], "i2")], deep | np.array([5, -9], "i2"))
    word, mask = np.array([2**40 + 5, 6]), 2**40 + 7
    gives(checks, "BitwiseAnd", 18, [Const(word), Const(mask - 2**40)], word & 7)
    refuses(checks, "has more than 32 bits", "BitwiseAnd", 18, [np.array([1, 2]), Const(mask)])
    refuses(checks, "fix it with --freeze_input in0=FILE", "BitwiseNot", 18, [np.array([1], "u8")])
    refuses(checks, "operands of type float32", "BitwiseOr", 18, [np.ones(2, "f4"), np.ones(2, "f4")])


def shifted(x, by, left):
    """In Python's integers, which have no width."""
    bits, found = x.dtype.itemsize * 8, []
    x, by = np.broadcast_arrays(x, by)
    for value, count in zip(x.ravel().tolist(), by.ravel().tolist()):
        if count < 0 or count >= bits:
            value = -1 if value < 0 and not left else 0
        else:
            value = value << count if left else value >> count
        value %= 1 << bits
        found.append(value - (1 << bits) if x.dtype.kind == "i" and value >> (bits - 1) else value)
    return np.array(found, "u8" if x.dtype.kind == "u" else "i8").astype(x.dtype).reshape(x.shape)


def test_shifts(checks):
    for dtype in (*SIGNED, *UNSIGNED):
        bits = min(int(dtype[1]) * 8, 32)
        x = some_words(dtype, 2, 5, 1)
        counts = [0, 1, 2, bits - 2, bits - 1, bits, bits + 3, *([-1, -bits] if dtype[0] == "i" else [])]
        by = np.array(counts, dtype)
        gives(checks, "BitShift", 28, [x, by], shifted(x, by, False), direction="RIGHT")
        gives(checks, "BitShift", 28, [x, Const(by, dtype)], shifted(x, by, False), direction="RIGHT")
        if dtype[1] != "8":
            gives(checks, "BitShift", 28, [x, by], shifted(x, by, True), direction="LEFT")
            gives(checks, "BitShift", 11, [x, Const(by, dtype)], shifted(x, by, True), direction="LEFT")
    wide, by = np.array([2**20 + 1, -3]), np.array([10, 4])
    gives(checks, "BitShift", 28, [wide, by], wide << by, direction="LEFT")
    large = np.array([2**63, 2**40 + 2**9], "u8")
    gives(checks, "BitShift", 28, [Const(large, "u8"), Const([40, 9], "u8")], np.array([2**23, 2**31 + 1], "u8"),
          direction="RIGHT")
    gives(checks, "BitShift", 28, [np.array(5, "u1"), np.array(2, "u1")], np.array(20, "u1"), direction="LEFT")
    refuses(checks, 'direction "UP" is not known', "BitShift", 28, [wide, by], direction="UP")


def test_casts(checks):
    codes = {"u1": 2, "i1": 3, "u2": 4, "i2": 5, "i4": 6, "b1": 9, "u4": 12, "f4": 1, "f8": 11}
    for one, other in (("u1", "i1"), ("u2", "i2"), ("u4", "i4")):
        for source, to in ((one, other), (other, one)):
            x = some_words(source, 3, 4)
            gives(checks, "BitCast", 26, [x], x.view(to), to=codes[to])
    gives(checks, "BitCast", 26, [np.array([True, False])], np.array([1, 0], "u1"), to=codes["u1"])
    gives(checks, "BitCast", 26, [np.array([1, 0], "u1")], np.array([True, False]), to=codes["b1"])
    x = np.array([[1.5, -0.0], [np.inf, 3e-40]], "f4")
    gives(checks, "BitCast", 26, [Const(x, "f4")], x.view("i4"), to=codes["i4"])
    gives(checks, "BitCast", 26, [Const(x.view("i4"), "i4")], x, to=codes["f4"])
    refuses(checks, "--freeze_input in0=FILE", "BitCast", 26, [x], to=codes["i4"])
    refuses(checks, "float32 and float64 differ in size", "BitCast", 26, [x], to=codes["f8"])


def main():
    checks = Checks()
    if np is None:
        checks.skip("bitwise operators", "python3-numpy is not there")
        checks.finish()
    for test in (test_combinations, test_shifts, test_casts):
        test(checks)
    checks.finish()


main()
