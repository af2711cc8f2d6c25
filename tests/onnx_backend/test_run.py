# SPDX-License-Identifier: Apache-2.0
"""The runner of the backend cases on cases made here: each outcome is told from the others, and the totals are right."""

import os
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import onnx_writer as onnx  # noqa: E402
from checks import Checks  # noqa: E402
from onnx_writer import BOOL, FLOAT, INT64, Message, Model  # noqa: E402

try:
    import numpy as np
    from onnx_reader import Array, tensor_of, value_of
    from try_case import difference, reason_of
except ImportError:
    np = None

X = [-1.0, 0.5, 2.0, -3.0, 4.0, -0.25]
RELU = [0.0, 0.5, 2.0, 0.0, 4.0, 0.0]
BFLOAT16, UINT4, INT4, INT2, FLOAT8E4M3FN, FLOAT8E5M2 = 16, 21, 22, 26, 17, 19


def write_case(folder, op, inputs, sets, output=FLOAT, dims=(2, 3), **attributes):
    """inputs: (type, dims) each; sets: data sets as (input tensors, output tensor)."""
    model = Model(opset=18)
    names = [f"in{i}" for i in range(len(inputs))]
    for name, (data_type, shape) in zip(names, inputs):
        model.input(name, data_type, shape)
    model.node(op, names, ["out"], **attributes)
    model.output("out", output, list(dims))
    folder.mkdir(parents=True)
    model.save(folder / "model.onnx")
    for number, (values, expected) in enumerate(sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for i, value in enumerate(values):
            (data / f"input_{i}.pb").write_bytes(b"".join(value.parts))
        (data / "output_0.pb").write_bytes(b"".join(expected.parts))


def floats(values, dims=(2, 3)):
    return onnx.tensor("", FLOAT, dims, values)


def write_cases(folder):
    image = [(FLOAT, [2, 3])]
    shape = onnx.tensor("", INT64, [2], [3, 2])
    nan = [float("nan")] + RELU[1:]
    write_case(folder / "node" / "test_relu", "Relu", image, [([floats(X)], floats(RELU))])
    write_case(folder / "node" / "test_relu_second_set", "Relu", image,
               [([floats(X)], floats(RELU)), ([floats(RELU)], floats(X))])
    write_case(folder / "node" / "test_relu_value", "Relu", image, [([floats(X)], floats([0.0, 0.625] + RELU[2:]))])
    write_case(folder / "node" / "test_relu_nan", "Relu", image, [([floats(X)], floats(nan))])
    write_case(folder / "node" / "test_relu_dims", "Relu", image, [([floats(X)], floats(RELU, (3, 2)))])
    write_case(folder / "simple" / "test_relu_type", "Relu", image,
               [([floats(X)], onnx.tensor("", BOOL, [2, 3], [value > 0 for value in RELU]))])
    write_case(folder / "node" / "test_reshape", "Reshape", image + [(INT64, [2])], [([floats(X), shape], floats(X, (3, 2)))],
               dims=(3, 2))
    write_case(folder / "pytorch-operator" / "test_nonsense", "Nonsense", image, [([floats(X)], floats(X))])


def run_on(folder, *patterns):
    env = {**os.environ, "ODLC_LONG": "1", "ODLC_CASES": ""}
    done = subprocess.run([sys.executable, HERE / "run.py", "--cases", folder, *patterns], capture_output=True, text=True,
                          check=False, env=env)
    return done.returncode, done.stdout


def test_outcomes(checks, folder):
    write_cases(folder)
    status, output = run_on(folder)
    lines = output.splitlines()
    checks.equal("status when cases are wrong", status, 1)
    checks.equal("totals", lines[-1], "2 passed, 5 failed, 1 skipped")
    checks.equal("outcomes", lines[-2], "matched 2, refused 1, WRONG 5, CRASHED 0")
    for line in ("WRONG test_relu_second_set: out: 3 of 6 elements differ, by up to 3",
                 "WRONG test_relu_value: out: 1 of 6 elements differ, by up to 0.125",
                 "WRONG test_relu_nan: out: 1 of 6 elements differ, by up to 0",
                 "WRONG test_relu_dims: out has dims [2, 3], expected [3, 2]",
                 "WRONG test_relu_type: out is FLOAT_32, expected bool",
                 "    1  unsupported-op: op Nonsense is not supported"):
        checks.check(f"line {line!r}", line in lines, output)
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.startswith("Re")}
    checks.equal("rows of operators", rows, {"Relu": ["1", "-", "5", "-"], "Reshape": ["1", "-", "-", "-"]})
    checks.equal("a pattern", run_on(folder, "test_resh*")[0], 0)
    checks.check("a pattern that nothing matches", run_on(folder, "nothing")[0] not in (0, 77))


def array(values, dtype="float32"):
    return Array(np.array(values, {"bfloat16": "float32"}.get(dtype, dtype)), dtype)


def test_difference(checks):
    def same(found, expected):
        return difference(found, expected) is None

    f4 = np.float32
    checks.check("within 1e-3", same(f4([1000.9, -1]), array([1000, -1])))
    checks.check("not within 1e-3", not same(f4([1001.1, -1]), array([1000, -1])))
    checks.check("near zero", not same(f4([2e-7]), array([0])))
    checks.check("infinities", same(f4([np.inf, -np.inf]), array([np.inf, -np.inf])))
    checks.check("an infinity's sign", not same(f4([np.inf]), array([-np.inf])))
    checks.check("a double that no float can hold", same(f4([np.inf]), array([1e300], "float64")))
    checks.check("two steps of bfloat16", same(f4([1.015]), array([1.0], "bfloat16")))
    checks.check("int64 as int32", same(np.int32([-5]), array([-5], "int64")))
    checks.check("int64 beyond int32", not same(np.int32([1]), array([1 + 2**32], "int64")))
    checks.check("uint64 is not negative", not same(np.int32([-1]), array([2**64 - 1], "uint64")))
    checks.check("integers are exact", not same(np.int32([2**30 + 1]), array([2**30], "int32")))


def test_values(checks):
    def read(data_type, dims, raw):
        return tensor_of(b"".join(onnx.tensor("", data_type, dims, raw=raw).parts)).array.tolist()

    checks.equal("bfloat16", read(BFLOAT16, [2], struct.pack("<2H", 0x3FC0, 0xC000)), [1.5, -2.0])
    checks.equal("uint4", read(UINT4, [3], b"\x21\x0F"), [1, 2, 15])
    checks.equal("int4", read(INT4, [3], b"\x2F\x08"), [-1, 2, -8])
    checks.equal("int2", read(INT2, [5], b"\xE4\x03"), [0, 1, -2, -1, -1])
    checks.equal("float8e4m3fn", read(FLOAT8E4M3FN, [4], b"\x38\x01\x7E\x88"), [1.0, 2.0**-9, 448.0, -(2.0**-6)])
    checks.equal("float8e5m2", read(FLOAT8E5M2, [3], b"\x3C\x7C\xFB"), [1.0, float("inf"), -57344.0])
    text = tensor_of(b"".join(onnx.tensor("", onnx.STRING, [2], strings=["a", "bc"]).parts))
    checks.equal("strings", text.array.tolist(), [b"a", b"bc"])
    tensor = onnx.tensor("", INT64, [1], [7])
    sequence = Message().integer(2, 1).message(3, tensor).message(3, tensor)
    items = value_of(b"".join(sequence.parts), {4: b""})
    checks.equal("a sequence", [item.array.tolist() for item in items], [[7], [7]])
    checks.equal("an optional without a value", value_of(b"", {9: b""}), None)


def test_reasons(checks):
    def reason(message):
        return reason_of({"code": "c", "message": message, "file": "/tmp/m.onnx"})

    checks.equal("nodes", reason("op If (domain ai.onnx, version 20) is not supported; 2 nodes: If_1, If_2"),
                 "c: op If is not supported")
    checks.equal("another domain", reason("op A (domain b, version 2) is not supported; 1 node: A_1"),
                 "c: op A (domain b) is not supported")
    checks.equal("a path", reason("/tmp/m.onnx is odd"), "c: the model is odd")
    checks.equal("a value's name", reason("value 'x 1' has the type t"), "c: value has the type t")


def main():
    checks = Checks()
    if np is None:
        checks.skip("the runner of backend cases", "python3-numpy is not there")
        checks.finish()
    with tempfile.TemporaryDirectory() as temporary:
        test_outcomes(checks, pathlib.Path(temporary) / "cases")
    test_difference(checks)
    test_values(checks)
    test_reasons(checks)
    checks.finish()


main()
