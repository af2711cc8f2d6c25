# SPDX-License-Identifier: Apache-2.0
"""Pairs of quantizing operators in models, and what ONNX's arithmetic makes of numbers."""

from one_node import np
from onnx_writer import FLOAT, UINT8


def f4(values):
    return np.array(values, "f4")


def quantized(x, scale, zero, dtype):
    """In float32, ties to even, saturated."""
    q = np.round((x / scale).astype(x.dtype)).astype("f8") + np.asarray(zero, "f8")
    return np.clip(q, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)


def spread(rng, *shape, low=-20.0, high=20.0):
    return rng.uniform(low, high, shape).astype("f4")


def pair(m, x, scale, zero, number):
    """x quantized and dequantized, with constants of its own; the name of the result."""
    m.tensor(f"scale{number}", FLOAT, [], [scale])
    m.tensor(f"zero{number}", UINT8, [], [zero])
    m.node("QuantizeLinear", [x, f"scale{number}", f"zero{number}"], [f"q{number}"])
    m.node("DequantizeLinear", [f"q{number}", f"scale{number}", f"zero{number}"], [f"d{number}"])
    return f"d{number}"


def back_and_forth(x, scale, zero):
    return (quantized(x, f4(scale), zero, "u1").astype("f4") - zero) * f4(scale)
