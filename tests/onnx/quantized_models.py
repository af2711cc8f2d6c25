"""Models that quantize, what ONNX's arithmetic makes of numbers, and the comparison of the two."""

import pathlib
import tempfile

from one_node import Case, as_stored, convert, execute, np, result
import dlc_tools
from onnx_writer import FLOAT, UINT8


def f4(values):
    return np.array(values, "f4")


def quantized(x, scale, zero, dtype):
    """In float32, ties to even, saturated."""
    q = np.round((x / scale).astype(x.dtype)).astype("f8") + np.asarray(zero, "f8")
    return np.clip(q, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)


def spread(rng, *shape, low=-20.0, high=20.0):
    return rng.uniform(low, high, shape).astype("f4")


def run_model(checks, name, model, inputs, expected, options=(), step=0.0):
    """Converts and executes; the container, for more questions. Results are within `step`."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        model.save(folder / "model.onnx")
        done, dlc = convert(Case(name, folder / "model.onnx", inputs, expected), folder, options=options)
        if not checks.check(f"convert {name}", done.returncode == 0, done.stderr):
            return None
        checks.equal(f"others read {name}", dlc_tools.refusal(dlc), None)
        done, container = execute(Case(name, None, inputs, expected), dlc, folder)
        if not checks.check(f"execute {name}", done.returncode == 0, done.stderr):
            return None
        for output, array in expected.items():
            found = result(folder, container, output)
            stored = as_stored(array, container.tensors[output])
            worst = np.max(np.abs(found.astype("f8") - stored), initial=0)
            same = np.array_equal(found, stored, equal_nan=True) if step == 0 else worst <= step * 1.001
            checks.check(f"{name}: {output}", same, f"found {found.tolist()}, expected {stored.tolist()}")
        return container


def pair(m, x, scale, zero, number):
    """x quantized and dequantized, with constants of its own; the name of the result."""
    m.tensor(f"scale{number}", FLOAT, [], [scale])
    m.tensor(f"zero{number}", UINT8, [], [zero])
    m.node("QuantizeLinear", [x, f"scale{number}", f"zero{number}"], [f"q{number}"])
    m.node("DequantizeLinear", [f"q{number}", f"scale{number}", f"zero{number}"], [f"d{number}"])
    return f"d{number}"


def back_and_forth(x, scale, zero):
    return (quantized(x, f4(scale), zero, "u1").astype("f4") - zero) * f4(scale)
