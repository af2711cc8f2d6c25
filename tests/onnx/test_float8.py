# SPDX-License-Identifier: Apache-2.0
"""Round trips through float8 inside of a graph: what comes out is the nearest of the type's values, which are counted up here."""

import functools

from one_node import np, run_model
from checks import Checks
from onnx_writer import BOOL, FLOAT, Model

# code of the type: bits of the exponent, its bias, whether there are infinities, whether -0 is the only NaN
TYPES = {17: (4, 7, False, False), 18: (4, 8, False, True), 19: (5, 15, True, False), 20: (5, 16, False, True)}


@functools.lru_cache
def magnitudes(code):
    """All finite values that are not below 0, in the order of their bits."""
    exponent_bits, bias, infinities, only_nan = TYPES[code]
    fraction_bits = 7 - exponent_bits
    values = []
    for bits in range(128):
        exponent, fraction = bits >> fraction_bits, (bits & ((1 << fraction_bits) - 1)) / (1 << fraction_bits)
        values.append(fraction * 2.0 ** (1 - bias) if exponent == 0 else (1 + fraction) * 2.0 ** (exponent - bias))
    if infinities:
        return values[:128 - (1 << fraction_bits)]
    return values if only_nan else values[:127]


def rounded(x, code, saturates):
    """The nearest value, the one with even bits of two; the next after the largest is the one that there would be."""
    _, _, infinities, only_nan = TYPES[code]
    values = np.array(magnitudes(code))
    after = values[-1] + (values[-1] - values[-2])
    if np.isnan(x):
        return np.nan
    size = min(abs(float(x)), after)
    distances = np.abs(np.append(values, after) - size)
    nearest = min(np.flatnonzero(distances == distances.min()), key=lambda bits: bits % 2)
    if nearest == len(values):
        y = values[-1] if saturates else np.inf if infinities else np.nan
    else:
        y = values[nearest]
    y = np.copysign(y, x)
    return 0.0 if y == 0 and only_nan else y


def numbers(code):
    """Edges, each value, the middles between neighbours and what is next to them, and some more."""
    values = np.array(magnitudes(code))
    middles = (values[1:] + values[:-1]) / 2
    end = values[-1] + (values[-1] - values[-2]) / 2
    rng = np.random.default_rng(code)
    far = rng.standard_normal(200) * np.exp2(rng.integers(-24, 24, 200))
    all_ = np.concatenate([[0, np.nan, np.inf, 1e9, 1e-30, end], values, middles, far]).astype("f4")
    near = np.concatenate([np.nextafter(middles.astype("f4"), f) for f in (np.float32(0), np.float32(np.inf))])
    beyond = np.nextafter(np.float32(end), np.array([0, np.inf], "f4"))
    return np.concatenate([all_, -all_, near, beyond]).astype("f4")


def model(kind, code, saturates, count, known):
    m = Model(opset=19, ir_version=10)
    m.input("x", FLOAT, [count])
    m.tensor("zero", code, [], raw=b"\0")
    m.tensor("scale", FLOAT, [], [0.25])
    if kind == "known":
        m.tensor("known", FLOAT, [count], raw=known.tobytes())
        m.tensor("always", BOOL, [count], raw=b"\1" * count)
        m.node("Cast", ["known"], ["low"], to=code, saturate=saturates)
        m.node("Cast", ["low"], ["wide"], to=FLOAT)
        m.node("Where", ["always", "wide", "x"], ["y"])
    elif kind == "QuantizeLinear":
        m.node(kind, ["x", "scale", "zero"], ["low"], saturate=saturates)
        m.node("DequantizeLinear", ["low", "scale", "zero"], ["y"])
    else:
        like = {"to": code} if kind == "Cast" else {}
        m.node(kind, ["x", "zero"][:2 - (kind == "Cast")], ["low"], saturate=saturates, **like)
        m.node("Cast", ["low"], ["y"], to=FLOAT)
    m.output("y", FLOAT, [count])
    return m


def test_round_trips(checks):
    for code in TYPES:
        x = numbers(code)
        for saturates in (1, 0):
            expected = np.array([rounded(v, code, saturates) for v in x], "f4")
            for kind in ("Cast", "CastLike", "QuantizeLinear", "known"):
                factor = np.float32(0.25 if kind == "QuantizeLinear" else 1)
                run_model(checks, f"{kind} to type {code}, saturate {saturates}", model(kind, code, saturates, len(x), x),
                          {"x": x * factor}, {"y": expected * factor})


def main():
    checks = Checks()
    if np is None:
        checks.skip("all cases", "numpy is not installed")
    else:
        test_round_trips(checks)
    checks.finish()


main()
