# SPDX-License-Identifier: Apache-2.0
"""A folder in which models are converted and executed, as a user does it."""

import json
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import dlc_tools  # noqa: E402
import onnx_writer as onnx  # noqa: E402
from checks import command  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from prestarted import run  # noqa: E402

FORMATS = {"FLOAT_32": "f", "FLOAT_16": "e", "INT_32": "i", "INT_64": "q", "UINT_8": "B", "UINT_32": "I",
           "BOOL_8": "?"}


class Workshop:
    """Counts its checks into `checks`; every container that it makes is shown to unzip and flatc, too."""

    command, suffix = "onnx-to-dlc", ".onnx"

    def __init__(self, checks, folder):
        self.checks, self.folder, self.runs = checks, pathlib.Path(folder), 0

    def save(self, model, name="m"):
        """The path of the model's file; a path is taken as it is."""
        if isinstance(model, pathlib.Path):
            return model
        path = self.folder / (name if "." in name else name + self.suffix)
        model.save(path)
        return path

    def config(self, *operators, name="ops.json", package="P"):
        path = self.folder / name
        path.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": package, "Operators": operators}}))
        return path

    def converter(self, *args, **more):
        return run(self.command, *args, **more)

    def convert(self, label, model, *args):
        """(container, messages); the container is None when the conversion failed, which counts."""
        self.runs += 1
        out = self.folder / f"{self.runs}.dlc"
        done = self.converter("-i", self.save(model, str(self.runs)), "-o", out, *args)
        if not self.checks.equal(f"{label}: status {done.stderr}", done.returncode, 0):
            return None, done.stderr
        self.accepted(label, out)
        container = read_container(out)
        container.path = out
        return container, done.stderr

    def accepted(self, label, path):
        """Programs of others can read the container."""
        if dlc_tools.UNZIP:
            self.checks.equal(f"{label}: unzip -t", dlc_tools.unzip_accepts(path), None)
        if dlc_tools.FLATC:
            self.checks.equal(f"{label}: flatc", dlc_tools.flatc_decodes(path), None)

    def fails(self, label, status, words, model, *args):
        """The conversion ends with that status, says these words, and makes no file."""
        self.runs += 1
        out = self.folder / f"{self.runs}.dlc"
        done = self.converter("-i", self.save(model, str(self.runs)), "-o", out, *args)
        self.checks.equal(f"{label}: status", done.returncode, status)
        for word in words:
            self.checks.check(f"{label}: says {word!r}", word in done.stderr, done.stderr)
        self.checks.check(f"{label}: no container", not out.exists())
        return done.stderr

    def execute(self, label, container, **inputs):
        """{output: list of values} of an inference; inputs are lists, in the container's own order and types."""
        files = []
        for i, (name, values) in enumerate(inputs.items()):
            path = self.folder / f"input{i}.raw"
            path.write_bytes(struct.pack(f"<{len(values)}{FORMATS[container.tensors[name].dtype]}", *values))
            files.append(f"{name}:={path}")
        (self.folder / "list.txt").write_text(" ".join(files) + "\n")
        out = self.folder / f"results{self.runs}"
        done = run("net-run", "--container", container.path, "--input_list", self.folder / "list.txt", "--output_dir",
                   out, "--use_native_input_files", "--use_native_output_files")
        if not self.checks.equal(f"{label}: execution {done.stderr}", done.returncode, 0):
            return {}
        results = {}
        for path in (out / "Result_0").rglob("*.raw"):
            name = str(path.relative_to(out / "Result_0").with_suffix(""))  # names of tensors may have slashes
            form = FORMATS[container.tensors[name].dtype]
            data = path.read_bytes()
            results[name] = list(struct.unpack(f"<{len(data) // struct.calcsize(form)}{form}", data))
        return results

    def gives(self, label, model, inputs, outputs, *args):
        """The model converts, and an inference gives exactly these outputs."""
        container, _ = self.convert(label, model, *args)
        if container:
            self.checks.equal(f"{label}: results", self.execute(label, container, **inputs), outputs)
        return container


def value_of(param):
    """(type, value or list of values) of a param, or of static data."""
    tensor = getattr(param, "tensor", param)
    if tensor is None:
        return param.dtype, param.value
    if tensor.dtype == "STRING":
        return tensor.dtype, [text.decode() for text in tensor.data.split(b"\0")[:-1]]
    code = FORMATS[tensor.dtype]
    count = len(tensor.data) // struct.calcsize(code)
    return tensor.dtype, list(struct.unpack(f"<{count}{code}", tensor.data))


def params_of(op):
    """{name: (type, value or list of values)} of the op's params in the file's order, without the package's name; supplemental
    ones have a * behind their names."""
    return {name + "*" * (op.params[name].usage == 2): value_of(op.params[name]) for name in op.param_order
            if name != "packageName"}


def start_converter(*args):
    """The command, running."""
    return subprocess.Popen([command("onnx-to-dlc"), *map(str, args)], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def udo(op_type, layout=None, inputs=1, **more):
    """The definition of an op whose output is like its first input."""
    tensor = {"data_type": "FLOAT_32", **({"tensor_layout": layout} if layout else {})}
    return {"type": op_type, "inputs": [tensor] * inputs, "outputs": [{**tensor, "shape": "same_as in0"}],
            "core_types": ["CPU"], **more}


def chain(*op_types, dims=(1, 2), domain="", opset=13):
    """x -> op -> ... -> y; the values between are t0, t1, ..."""
    m = onnx.Model(opset=opset, domains=[domain] if domain else [])
    values = ["x", *(f"t{i}" for i in range(len(op_types) - 1)), "y"]
    m.input("x", onnx.FLOAT, dims)
    for op_type, source, target in zip(op_types, values, values[1:]):
        m.node(op_type, [source], [target], name=f"{target}_node", domain=domain)
    m.output("y", onnx.FLOAT, dims)
    return m


def scaling(m, source, target, factor=2.0, channels=2):
    """A 1x1 convolution that multiplies every value by the factor."""
    weights = [factor if i == k else 0.0 for i in range(channels) for k in range(channels)]
    m.tensor(f"{target}.w", onnx.FLOAT, [channels, channels, 1, 1], weights)
    m.node("Conv", [source, f"{target}.w"], [target], name=f"{target}_node", kernel_shape=[1, 1])


def scaled(dims=(1, 2, 1, 3)):
    """x -> convolution by 2 -> y."""
    m = onnx.Model()
    m.input("x", onnx.FLOAT, dims)
    scaling(m, "x", "y")
    m.output("y", onnx.FLOAT, dims)
    return m


def op_types(container):
    return [op.type for op in container.ops]
