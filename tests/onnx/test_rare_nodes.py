# SPDX-License-Identifier: Apache-2.0
"""Nodes that are rare and right: each as a model that is converted and executed, with numbers by hand."""

from one_node import Const, gives, np
from checks import Checks

if np is None:
    without = Checks()
    without.skip("rare nodes", "python3-numpy is not there")
    without.finish()


def row(*values, dtype="f4"):
    return np.array(values, dtype)


def windows_of_padding_alone(checks):
    """A dilated window may step over the whole input: its maximum is the least number of the type."""
    around = {"kernel_shape": [2], "dilations": [3], "pads": [2, 2]}
    for dtype, least in (("f4", np.finfo("f4").min), ("f2", np.finfo("f2").min), ("i1", -128), ("u1", 0)):
        gives(checks, "MaxPool", 12, [row(5, 7, dtype=dtype).reshape(1, 1, 2)],
              row(7, least, 5, dtype=dtype).reshape(1, 1, 3), **around)


def zero_points(checks):
    gives(checks, "DequantizeLinear", 13, [row(5, 7, dtype="i4"), Const(0.5, "f4"), Const(1, "i4")], row(2, 3))


def masks(checks):
    """And with constants that are not all the same low bits."""
    for mask in ([3, 5], [3, 3], [4, 4]):
        gives(checks, "BitwiseAnd", 18, [row(6, 13, dtype="u1"), Const(mask, "u1")],
              row(*(a & b for a, b in zip((6, 13), mask)), dtype="u1"))


def no_grams(checks):
    """The pool has words of two, but words of one are asked for."""
    gives(checks, "TfIdfVectorizer", 9, [row(2, 3, 2, dtype="i8")], row(0, 0), mode="TF", min_gram_length=1,
          max_gram_length=1, max_skip_count=0, ngram_counts=[0, 0], ngram_indexes=[0, 1], pool_int64s=[2, 3, 3, 2])


def main():
    checks = Checks()
    for test in (windows_of_padding_alone, zero_points, masks, no_grams):
        test(checks)
    checks.finish()


main()
