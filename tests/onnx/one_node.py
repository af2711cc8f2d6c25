# SPDX-License-Identifier: Apache-2.0
"""One ONNX node as a model that is converted and executed, or refused, and models of several. NumPy says what must come
out."""

import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "corpus")]
import dlc_tools  # noqa: E402
from checks import case_chosen  # noqa: E402
from onnx_writer import (BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32,  # noqa: E402
                         UINT64, Model, tensor)

try:
    import numpy as np
    from model_case import Case, as_stored, convert, execute, result
except ImportError:
    np = Case = as_stored = convert = execute = result = None

CODES = {"f4": FLOAT, "u1": UINT8, "i1": INT8, "u2": UINT16, "i2": INT16, "u4": UINT32, "i4": INT32, "u8": UINT64,
         "i8": INT64, "b1": BOOL, "f2": FLOAT16, "f8": DOUBLE}


INT4, UINT4 = 22, 21


class Const:
    """An input that the model knows."""

    def __init__(self, values, dtype="i8"):
        self.array = np.array(values, dtype)

    def stored(self):
        """Element type and bytes."""
        return code_of(self.array), self.array.tobytes()


class Const4(Const):
    """Integers of four bits, two in a byte."""

    def stored(self):
        flat = np.append(self.array.ravel(), np.zeros(self.array.size % 2, self.array.dtype)).astype("u1") & 15
        return INT4 if self.array.dtype.kind == "i" else UINT4, (flat[::2] | flat[1::2] << 4).tobytes()


def code_of(array):
    return CODES[array.dtype.str[1:]]


def onnx_tensor(array, name=""):
    return tensor(name, code_of(array), array.shape, raw=array.tobytes())


def write_model(path, opset, op, inputs, attributes, output_types):
    """op: "Op", "domain::Op" or "domain@version::Op"; inputs: arrays (graph inputs), Const or None; an output of type None is absent; returns the
    arrays by name of graph input."""
    domain, _, op = op.rpartition("::")
    domain, _, version = domain.partition("@")
    model, names, given = Model(opset=opset), [], {}
    if domain:
        model.opsets.append((domain, int(version or 1)))
    for i, value in enumerate(inputs):
        name = f"in{i}"
        if value is None:
            name = ""
        elif isinstance(value, Const):
            code, raw = value.stored()
            model.tensor(name, code, value.array.shape, raw=raw)
        else:
            model.input(name, code_of(value), value.shape)
            given[name] = value
        names.append(name)
    outputs = [f"out{i}" if array is not None else "" for i, array in enumerate(output_types)]
    attributes = {key: onnx_tensor(v) if isinstance(v, np.ndarray) else v for key, v in attributes.items()}
    model.node(op, names, outputs, name="node", domain=domain, **attributes)
    for name, array in zip(outputs, output_types):
        if name:
            model.output(name, code_of(array), array.shape)
    model.save(path)
    return given


def same(found, expected, within=0):
    """Equal, or within that part of the largest finite value; infinities and NaNs are where they must be."""
    if found.shape != expected.shape:
        return False
    if within == 0:
        return np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")
    largest = np.max(np.abs(expected[np.isfinite(expected)]), initial=0)
    return np.allclose(found, expected, rtol=0, atol=within * largest, equal_nan=True)


def gives(checks, op, opset, /, inputs, expected, within=0, **attributes):
    """The node gives the expected array, or list of arrays, None for outputs that are absent. ODLC_CASES chooses by "Op-opset {attributes} [constants]"."""
    expected = expected if isinstance(expected, list) else [expected]
    name = f"{op}-{opset} {attributes} {[i.array.tolist() for i in inputs if isinstance(i, Const)]}"
    if not case_chosen(name):
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        given = write_model(folder / "model.onnx", opset, op, inputs, attributes, expected)
        outputs = {f"out{i}": array for i, array in enumerate(expected) if array is not None}
        case = Case(name, folder / "model.onnx", given, outputs)
        done, dlc = convert(case, folder)
        if not checks.check(f"convert {name}", done.returncode == 0, done.stderr):
            return
        checks.equal(f"others read {name}", dlc_tools.refusal_of_some(dlc), None)
        done, container = execute(case, dlc, folder)
        if not checks.check(f"execute {name}", done.returncode == 0, done.stderr):
            return
        for output, array in case.outputs.items():
            if not checks.check(f"{name} has {output}", output in container.tensors):
                continue
            stored = as_stored(array, container.tensors[output])
            if checks.check(f"dims of {name}", stored is not None, container.tensors[output].dims):
                found = result(folder, container, output)
                checks.check(f"{name} {output}", same(found, stored, within), f"found {found.tolist()}")


def refuses(checks, message, op, opset, inputs, n_outputs=1, **attributes):
    if not case_chosen(f"{op}-{opset} {attributes}"):
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        outputs = [np.zeros((1,), "f4")] * n_outputs
        write_model(folder / "model.onnx", opset, op, inputs, attributes, outputs)
        done, _ = convert(Case(op, folder / "model.onnx", {}, {}), folder)
        checks.check(f"{op} is refused", done.returncode == 1, done.returncode)
        checks.check(f"reason why {op} is refused", message in done.stderr, f"{message!r} not in {done.stderr!r}")


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
