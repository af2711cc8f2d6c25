# SPDX-License-Identifier: Apache-2.0
"""XML definitions that replace native ops after the translation: the node keeps inputs, outputs and the params that the
definition names, and gets its package; everything else stays as it is."""

import math
import os
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_writer as onnx  # noqa: E402
from checks import Checks  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from prestarted import run  # noqa: E402


def tensor(kind, name, more="", mandatory="true", layout="NHWC", data_type="FLOAT_32"):
    return (f"<{kind}><Name>{name}</Name><Mandatory>{mandatory}</Mandatory><Datatype>{data_type}</Datatype><Shape>"
            f"<Rank>ND</Rank><Layout>{layout}</Layout></Shape>{more}</{kind}>")


def param(name, data_type, rank, more="", mandatory="true"):
    return (f"<Parameter><Name>{name}</Name><Mandatory>{mandatory}</Mandatory><Datatype>{data_type}</Datatype><Shape>"
            f"<Rank>{rank}</Rank></Shape>{more}</Parameter>")


def opdef(name, content, translated="true"):
    return (f"<OpDef><Name>{name}</Name>{content}<UseDefaultTranslation>{translated}</UseDefaultTranslation>"
            f"<SupportedBackend>HTP</SupportedBackend></OpDef>")


STATIC = "<IsStaticTensor>true</IsStaticTensor>"
CONV = opdef("Conv2d", tensor("Input", "in[0]") + tensor("Input", "in[1]", STATIC) +
             tensor("Input", "in[2]", STATIC, mandatory="false") + tensor("Output", "out[0]") +
             param("stride", "UINT_32", "1D") + param("pad_amount", "UINT_32", "2D") +
             param("extra", "FLOAT_32", "SCALAR", "<Default>1.5</Default>", mandatory="false"))
SOFTMAX = opdef("Softmax", tensor("Input", "in[0]") + tensor("Output", "out[0]") + param("axis", "UINT_32", "SCALAR"))


def convert(folder, *defs):
    config, out = (os.path.join(folder, name) for name in ("ops.xml", "m.dlc"))
    with open(config, "w", encoding="utf-8") as f:
        f.write(f'<OpDefCollection PackageName="NativePackage"><OpDefList>{"".join(defs)}</OpDefList></OpDefCollection>')
    return run("onnx-to-dlc", "-i", os.path.join(folder, "m.onnx"), "-opc", config, "-o", out), out


def write_model(folder):
    m = onnx.Model(opset=13)
    m.input("x", onnx.FLOAT, [1, 3, 8, 10])
    m.tensor("w", onnx.FLOAT, [4, 3, 3, 3], [i / 100 for i in range(108)])
    m.node("Conv", ["x", "w"], ["c"], name="conv", strides=[2, 1], pads=[1, 0, 1, 0])
    m.node("Softmax", ["c"], ["y"], name="softmax", axis=1)
    m.output("y", onnx.FLOAT, [1, 4, 4, 8])
    m.save(os.path.join(folder, "m.onnx"))


def unsigned(param_of):
    data = param_of.tensor.data
    return list(struct.unpack(f"<{len(data) // 4}I", data))


def check_replaced(checks, folder):
    done, out = convert(folder, CONV, SOFTMAX)
    if not checks.check("converts", done.returncode == 0, done.stderr):
        return
    container = read_container(out)
    conv = next(op for op in container.ops if op.type == "Conv2d")
    softmax = next(op for op in container.ops if op.type == "Softmax")
    checks.equal("packages", [conv.package, softmax.package], ["NativePackage"] * 2)
    checks.equal("no other op", len(container.ops), 2)
    checks.equal("strides", unsigned(conv.params["stride"]), [2, 1])
    checks.equal("pads", unsigned(conv.params["pad_amount"]), [1, 1, 0, 0])
    checks.equal("default", conv.params["extra"].value, 1.5)
    checks.equal("types", [conv.params["stride"].dtype, conv.params["extra"].dtype], ["UINT_32", "FLOAT_32"])
    checks.check("dilation is not named", "dilation" not in conv.params, sorted(conv.params))
    checks.check("and that is said", "param 'dilation' of native 'Conv2d' is not named" in done.stderr, done.stderr)
    checks.equal("axis as the native op has it", softmax.params["axis"].value, 3)
    weights = container.tensors[conv.inputs[1]]
    checks.equal("weights", (weights.dims, weights.kind), ([3, 3, 3, 4], "STATIC"))
    checks.equal("a weight", struct.unpack_from("<f", weights.data, 4 * 1)[0], struct.unpack("<f", struct.pack("<f", 0.27))[0])
    checks.equal("elements", len(weights.data), 4 * math.prod(weights.dims))


def check_refused(checks, folder):
    for label, definition, message in (
            ("missing param", opdef("Softmax", tensor("Input", "x") + tensor("Output", "y") +
                                    param("gamma", "FLOAT_32", "SCALAR")), "no attribute 'gamma'"),
            ("too few inputs", opdef("Conv2d", tensor("Input", "x") + tensor("Output", "y")),
             "but the definition of 'Conv2d' lists 1"),
            ("a layout", opdef("Softmax", tensor("Input", "x", layout="NCHW") + tensor("Output", "y")),
             "declared NCHW, but after the translation it has its channels last"),
            ("a static input", opdef("Softmax", tensor("Input", "x", STATIC) + tensor("Output", "y")),
             "is static, but the model computes it"),
            ("types of data", opdef("Conv2d", tensor("Input", "x") + tensor("Input", "w", data_type="FLOAT_16") +
                                    tensor("Input", "b", mandatory="false") + tensor("Output", "y")),
             "declared FLOAT_16, but its data is FLOAT_32"),
            ("twice", SOFTMAX + SOFTMAX.replace("UINT_32", "INT_32"), "second, different definition of 'Softmax'")):
        done, _ = convert(folder, definition)
        checks.check(f"{label}: refused", done.returncode == 1 and message in done.stderr, done.stderr)
    done, _ = convert(folder, opdef("Relu", tensor("Input", "x") + tensor("Output", "y")))
    checks.check("unused: a warning", done.returncode == 0 and "'Relu' matches no native op" in done.stderr, done.stderr)


def check_both(checks, folder):
    """A definition of the model's operator and one of the native op do not meet: the first has its nodes already."""
    done, out = convert(folder, SOFTMAX, opdef("Softmax", tensor("Input", "x") + tensor("Output", "y") +
                                               param("axis", "INT_32", "SCALAR"), translated="false"))
    if checks.check("both: converts", done.returncode == 0, done.stderr):
        softmax = next(op for op in read_container(out).ops if op.type == "Softmax")
        checks.equal("both: the model's axis", (softmax.params["axis"].dtype, softmax.params["axis"].value), ("INT_32", 1))


def check_products(checks, folder):
    """A product is stored transposed where the definition has params that say so, and transposed where it has none."""
    m = onnx.Model(opset=13)
    m.input("x", onnx.FLOAT, [4, 3])
    m.input("z", onnx.FLOAT, [3, 5])
    m.node("MatMul", ["x", "z"], ["p"], name="first")
    m.node("Transpose", ["p"], ["t"], name="turn", perm=[1, 0])
    m.node("MatMul", ["t", "x"], ["y"], name="second")
    m.output("y", onnx.FLOAT, [5, 3])
    m.save(os.path.join(folder, "m.onnx"))
    product = tensor("Input", "a") + tensor("Input", "b") + tensor("Output", "y")
    flags = "".join(param(f"transpose_in{i}", "BOOL_8", "SCALAR") for i in range(2))
    for label, definition, types in (("with params", product + flags, ["MatMul", "MatMul"]), ("without", product, ["MatMul", "Transpose", "MatMul"])):
        done, out = convert(folder, opdef("MatMul", definition))
        if checks.check(f"products {label}: converts", done.returncode == 0, done.stderr):
            ops = read_container(out).ops
            checks.equal(f"products {label}: ops", [op.type for op in ops], types)
            given = {name: p.value for name, p in ops[0].params.items() if name.startswith("transpose")}
            checks.equal(f"products {label}: flags", given, {"transpose_in0": 1, "transpose_in1": 1} if label == "with params" else {})


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        write_model(folder)
        check_replaced(checks, folder)
        check_refused(checks, folder)
        check_both(checks, folder)
        check_products(checks, folder)
    checks.finish()


main()
