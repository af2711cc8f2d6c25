# SPDX-License-Identifier: Apache-2.0
"""Kernels as users write them, or as generated with calls of the reference, in packages of published configs: models
that the configs are for run to the end, with the outputs that native operators give. Ops without a native operator
are computed anew."""

import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import HOST_LIBS, generate, make, registration, write_kernel  # noqa: E402
from checks import SHARED, Checks, command  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from onnx_writer import FLOAT, Model  # noqa: E402

try:
    import numpy as np
    from model_case import Case, case_of_arrays, convert, execute, result
except ImportError:
    np = None

KERNELS = HERE / "kernels"
CORPUS = SHARED / "corpus"
MIXTURE = """<OpDefCollection PackageName="MixtureCpu" Domain="test" Version="1.0"><OpDefList><OpDef>
<Name>Mixture</Name>
<Input><Name>a</Name><Mandatory>true</Mandatory><Datatype>FLOAT_32</Datatype><Shape><Rank>ND</Rank></Shape></Input>
<Input><Name>b</Name><Mandatory>true</Mandatory><Datatype>FLOAT_32</Datatype><Shape><Rank>ND</Rank></Shape></Input>
<Input><Name>bias</Name><Mandatory>false</Mandatory><Datatype>FLOAT_32</Datatype><Shape><Rank>1D</Rank></Shape>
<IsStaticTensor>true</IsStaticTensor></Input>
<Output><Name>mix</Name><Mandatory>true</Mandatory><Datatype>FLOAT_32</Datatype><Shape><Rank>ND</Rank></Shape></Output>
<Output><Name>totals</Name><Mandatory>false</Mandatory>
<Datatype>FLOAT_32</Datatype><Shape><Rank>1D</Rank></Shape></Output>
<Parameter><Name>gain</Name><Mandatory>false</Mandatory><Datatype>FLOAT_32</Datatype><Shape><Rank>SCALAR</Rank></Shape>
<Default>1.0</Default></Parameter>
<Parameter><Name>shift</Name><Mandatory>false</Mandatory><Datatype>INT_32</Datatype><Shape><Rank>SCALAR</Rank></Shape>
<Default>2</Default></Parameter>
<Parameter><Name>limit</Name><Mandatory>false</Mandatory>
<Datatype>FLOAT_32</Datatype><Shape><Rank>SCALAR</Rank></Shape></Parameter>
<Parameter><Name>mode</Name><Mandatory>true</Mandatory><Datatype>UINT_32</Datatype><Shape><Rank>SCALAR</Rank></Shape>
<Enumeration><Enum>SUM</Enum><Enum>PRODUCT</Enum><Enum>LARGEST</Enum></Enumeration></Parameter>
<Parameter><Name>sign</Name><Mandatory>false</Mandatory><Datatype>STRING</Datatype><Shape><Rank>SCALAR</Rank></Shape>
<Default>kept</Default></Parameter>
<Parameter><Name>parts</Name><Mandatory>true</Mandatory>
<Datatype>FLOAT_32</Datatype><Shape><Rank>1D</Rank></Shape></Parameter>
<SupportedBackend>CPU</SupportedBackend></OpDef></OpDefList></OpDefCollection>"""
FLAGS = "-O0 -Werror"
Way = collections.namedtuple("Way", "language reference", defaults=("cpp", False))  # in which packages are generated
REFERENCES = {"HardSigmoid", "MaxPool", "Softmax", "Relu", "Selu"}
CORPUS_CASES = (  # config, model, nodes by package and type
    ("ppocr-hardsigmoid/hardsigmoid.udo.json", "ppocr-cls", {("HardSigmoidUdoPackage", "HardSigmoid"): 9}),
    ("yunet-maxpool-nchw/maxpool.udo.json", "yunet", {("PoolUdoPackage", "MaxPool"): 4}),
    ("transformer-softmax-two-packages/ops.udo.json", "transformer-mlm",
     {("SoftmaxUdoPackage", "Softmax"): 2, ("ActivationUdoPackage", "Relu"): 2, ("ActivationUdoPackage", "Erf"): 0}))


def build(checks, label, config, ops, folder, way=Way()):
    """Registration libraries of the config's packages; ops: (package, type) that have a kernel or stay as generated."""
    done = generate([config], folder, "--language", way.language, *(["--reference"] if way.reference else []))
    packages = sorted({folder / package for package, _ in ops})
    for package, op in ops:
        if not way.reference and (KERNELS / f"{op}.{way.language}").exists():
            write_kernel(folder / package, KERNELS / f"{op}.{way.language}")
        if way.reference:
            checks.equal(f"{label}: {op} is not noted", f"op {op} of" not in done.stderr, op in REFERENCES)
    for package in packages:
        done = make(package, "cpu_x86", flags=FLAGS)
        checks.check(f"{label}: {package.name} compiles", done.returncode == 0, done.stderr[-1500:])
    return ["--udo_package_path", ",".join(str(registration(package)) for package in packages)]


def converted(checks, label, case, folder, config=None, options=()):
    folder.mkdir()
    done, dlc = convert(case, folder, config, options)
    checks.check(f"{label}: converts", done.returncode == 0, done.stderr[-600:])
    return dlc


def ran(checks, label, case, dlc, tensors=(), options=()):
    """The container that was executed, None where that failed."""
    done, container = execute(case, dlc, dlc.parent, tensors, options)
    return container if checks.equal(f"{label}: net-run", (done.returncode, done.stderr), (0, "")) else None


def near(found, expected):
    """Largest difference, as a part of what is larger than one."""
    return float(np.max(np.abs(found - expected) / np.maximum(np.abs(expected), 1)))


def against_native(checks, label, case, config, ops, folder, way=Way()):
    """All outputs of the graph with user-defined ops are those of the graph with native ones."""
    options = build(checks, label, config, ops, folder, way)
    with_udos = ran(checks, label, case, converted(checks, label, case, folder / "udo", config), options=options)
    plain = ran(checks, f"{label}, native", case, converted(checks, f"{label}, native", case, folder / "plain"))
    if not with_udos or not plain:
        return
    nodes = collections.Counter((op.package, op.type) for op in with_udos.ops if op.package != "qti.aisw")
    checks.equal(f"{label}: user-defined ops", dict(nodes), {op: count for op, count in ops.items() if count})
    checks.check(f"{label}: none natively", all(op.package == "qti.aisw" for op in plain.ops))
    for name in case.outputs:
        found, expected = result(folder / "udo", with_udos, name), result(folder / "plain", plain, name)
        checks.equal(f"{label}, {name}: dims", found.shape, expected.shape)
        error = near(found, expected)
        checks.check(f"{label}, {name}: numbers", error <= 1e-6 and np.ptp(expected) > 0, f"off by {error:.2e}")


def published(checks, folder, way):
    for config, model, ops in CORPUS_CASES:
        label = config.split("/")[0]
        case = case_of_arrays(CORPUS / "onnx" / "first" / model)
        against_native(checks, label, case, CORPUS / "udo-cases" / config, ops, folder / label, way)


def selu(checks, folder, way):
    """The published config, with a model of its op between native ones."""
    m = Model(opset=13)
    m.input("x", FLOAT, [2, 3, 4, 5])
    m.node("Neg", ["x"], ["less"])
    m.node("Selu", ["less"], ["selu"])
    m.node("Add", ["selu", "x"], ["y"])
    m.output("y", FLOAT, [2, 3, 4, 5])
    m.save(folder / "selu.onnx")
    x = np.linspace(-6, 6, 120, dtype=np.float32).reshape(2, 3, 4, 5)
    case = Case("selu", folder / "selu.onnx", {"x": x}, {"y": None})
    ops = {("SeluUdoPackage", "Selu"): 1}
    against_native(checks, "selu", case, CORPUS / "udo-configs" / "qidk__Selu.json", ops, folder / "made", way)


def repeated(checks, folder, way):
    """Nodes of one and of three inputs, for an op that takes any number of them."""
    m = Model(opset=13)
    m.input("x", FLOAT, [2, 5])
    m.input("z", FLOAT, [2, 5])
    m.node("Neg", ["z"], ["less"])
    m.node("Sum", ["x", "z", "x"], ["three"])
    m.node("Sum", ["less"], ["one"])
    for name in ("three", "one"):
        m.output(name, FLOAT, [2, 5])
    m.save(folder / "sum.onnx")
    op = {"type": "Sum", "inputs": [{"name": "x", "repeated": True}], "outputs": [{"name": "y"}], "core_types": ["CPU"]}
    config = folder / "sum.json"
    config.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Sums", "Operators": [op]}}))
    x, z = (np.linspace(first, 3, 10, dtype=np.float32).reshape(2, 5) for first in (-4, 1))
    case = Case("sum", folder / "sum.onnx", {"x": x, "z": z}, {"three": None, "one": None})
    against_native(checks, f"repeated, {way.language}", case, config, {("Sums", "Sum"): 2}, folder / "made", way)


def quant(checks, folder, way):
    """No native op is as Brevitas's: each node is computed anew from what goes into it."""
    source = CORPUS / "udo-cases" / "espcn-brevitas-quant"
    ops = {("BrevitasUdoPackage", "Quant"): 8}
    options = build(checks, "quant", source / "quant.udo.json", ops, folder)
    x = np.random.default_rng(7).uniform(0, 1, (1, 3, 128, 128)).astype(np.float32)
    case = Case("quant", source / "model.onnx", {"x.7": x}, {"79": None})
    dlc = converted(checks, "quant", case, folder / "udo", source / "quant.udo.json", ["--udo_promote_static"])
    nodes = [op for op in read_container(dlc).ops if op.type == "Quant"]
    data = read_container(dlc).tensors
    computed = [op.inputs[0] for op in nodes if data[op.inputs[0]].data is None]
    container = ran(checks, "quant", case, dlc, [*computed, *(op.outputs[0] for op in nodes), "79"], options)
    checks.equal("quant: nodes", (len(nodes), len(computed)), (8, 4))
    for op in nodes if container else []:
        x = data[op.inputs[0]].data
        x = (np.frombuffer(x, "f4").reshape(data[op.inputs[0]].dims) if x else
             result(folder / "udo", container, op.inputs[0]))
        scale, zero, bits = (np.frombuffer(data[name].data, "f4")[0] for name in op.inputs[1:])
        is_signed, narrow = op.params["signed"].value, op.params["narrow"].value
        least = -(2 ** (bits - 1)) + narrow if is_signed else 0
        most = 2 ** (bits - 1) - 1 if is_signed else 2 ** bits - 1 - narrow
        steps = np.clip(np.rint(x / scale + zero), least, most)
        error = near(result(folder / "udo", container, op.outputs[0]), (steps - zero) * scale)
        checks.check(f"quant, {op.name}", error <= 1e-6 and len(np.unique(steps)) > 2, f"off by {error:.2e}")


def mixed(a, b, bias, combine, parts, gain=1.0, shift=2):
    values = gain * combine(np.float32(parts[0]) * a.astype("f8"), np.float32(parts[1]) * b)
    return values + (0 if bias is None else shift * bias)


def mixture(checks, folder, way):
    """Several inputs and outputs, of which some are left out; params of all kinds, given, by default and left out."""
    config = folder / "mixture.xml"
    config.write_text(MIXTURE)
    random = np.random.default_rng(11)
    a, b, bias = (random.uniform(-2, 2, dims).astype(np.float32) for dims in ((3, 4), (3, 4), (4,)))
    m = Model(opset=13, domains=["test"])
    m.input("a", FLOAT, [3, 4])
    m.input("b", FLOAT, [3, 4])
    m.tensor("bias", FLOAT, [4], bias.tolist())
    m.node("Mixture", ["a", "b", "bias"], ["first", "totals"], domain="test", mode="SUM", parts=[0.5, -1.5], gain=2.0,
           shift=3)
    m.node("Mixture", ["first", "b"], ["second"], domain="test", mode="PRODUCT", parts=[1.0, 0.5], sign="absolute",
           limit=1.5)
    m.node("Mixture", ["second", "a", "bias"], ["third", "last"], domain="test", mode=2, parts=[1.0, 1.0])
    for name, dims in (("first", [3, 4]), ("totals", [3]), ("second", [3, 4]), ("third", [3, 4]), ("last", [3])):
        m.output(name, FLOAT, dims)
    m.save(folder / "mixture.onnx")
    case = Case("mixture", folder / "mixture.onnx", {"a": a, "b": b}, {})
    options = build(checks, "mixture", config, {("MixtureCpu", "Mixture"): 3}, folder, way)
    dlc = converted(checks, "mixture", case, folder / "udo", config)
    container = ran(checks, "mixture", case, dlc, options=options)
    first = mixed(a, b, bias, np.add, (0.5, -1.5), 2.0, 3)
    second = np.minimum(np.abs(mixed(first, b, None, np.multiply, (1, 0.5))), 1.5)
    third = mixed(second, a, bias, np.maximum, (1, 1))
    expected = {"first": first, "totals": first.sum(1), "second": second, "third": third, "last": third.sum(1)}
    for name, values in expected.items() if container else ():
        error = near(result(folder / "udo", container, name), values)
        checks.check(f"mixture, {way.language}, {name}", error <= 2e-6 and np.ptp(values) > 0, f"off by {error:.2e}")
    leaks(checks, case, folder, options, way.language)


def lost(case, folder, options):
    """(status, what valgrind says) of loading, running and unloading, in which nothing may be lost."""
    done = execute(case, folder / "udo" / "model.dlc", folder / "udo", options=options)[0]
    arguments = ["valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite,indirect,possible",
                 "--errors-for-leak-kinds=definite,indirect,possible", "--error-exitcode=9", *done.args]
    found = subprocess.run(arguments, capture_output=True, text=True, check=False)
    return found.returncode, found.stderr


def leaks(checks, case, folder, options, language):
    """Nothing of a package stays behind; a kernel that loses memory shows that it would be seen."""
    if not shutil.which("valgrind") or b"__asan_init" in pathlib.Path(command("net-run")).read_bytes():
        checks.skip("leaks", "valgrind is not installed, or the build has a sanitizer of its own")
        return
    checks.equal("leaks: none", lost(case, folder, options), (0, ""))
    source = folder / f"MixtureCpu/jni/src/CPU/src/ops/Mixture.{language}"
    finalize = "finalize(const CustomOp *operation)\n{" if language == "cpp" else "finalize(CustomOp *op)\n{"
    source.write_text(source.read_text().replace(finalize, f"{finalize}\n    if (!malloc(4321))\n"
                                                 "        return QNN_OP_PACKAGE_ERROR_GENERAL;"))
    make(folder / "MixtureCpu", "cpu_x86", flags=FLAGS)
    status, said = lost(case, folder, options)
    of_all = "12,963 bytes in 3 blocks are definitely lost"
    checks.check("leaks: one for each node", status == 9 and of_all in said, said)


def without_cpu(checks, folder, way):
    """The remaining case is described for the HTP alone: its package has no place for a kernel that runs here."""
    source = CORPUS / "udo-cases" / "input-pack"
    generate([source / "input_pack.xml"], folder, "--language", way.language)
    done = make(folder / "qhci", "cpu_x86")
    checks.check("input-pack: no kernel", done.returncode != 0 and "package qhci has no op for the CPU" in done.stderr,
                 done.stderr)
    checks.check("input-pack: no library", not (folder / "qhci" / HOST_LIBS / "libUdoqhciImplCpu.so").exists())


def main():
    checks = Checks()
    if np is None:
        checks.skip("kernels", "python3-numpy is not installed")
        checks.finish()
    if not CORPUS.is_dir():
        checks.skip("kernels of published configs", f"{CORPUS} is not there")
    cpp, c, cpp_calls, c_calls = Way(), Way("c"), Way("cpp", True), Way("c", True)
    tests = [(mixture, cpp), (mixture, c), (repeated, cpp), (repeated, c)]
    if CORPUS.is_dir():
        tests += [(published, cpp), (published, c_calls), (selu, cpp), (selu, cpp_calls), (selu, c_calls), (quant, cpp),
                  (without_cpu, cpp)]
    for test, way in tests:
        with tempfile.TemporaryDirectory() as folder:
            test(checks, pathlib.Path(folder), way)
    checks.finish()


main()
