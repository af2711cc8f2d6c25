# SPDX-License-Identifier: Apache-2.0
"""dlc-info and net-run on a container with user-defined ops, converted here: x → Relu → Warp (UDO) → Relu → y."""

import json
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import Checks, run  # noqa: E402
from onnx_writer import FLOAT, Model  # noqa: E402

CONFIG = {
    "UdoPackage_0": {
        "UDO_PACKAGE_NAME": "WarpPackage",
        "Operators": [{
            "type": "Warp",
            "inputs": [{"name": "x", "per_core_data_types": {"CPU": "FLOAT_32", "DSP": "UINT_8"}},
                       {"name": "grid", "data_type": "FLOAT_32", "static": True}],
            "outputs": [{"name": "y", "data_type": "FLOAT_32", "shape": "same_as in0"}],
            "scalar_params": [{"name": "mode", "data_type": "STRING"}, {"name": "alpha", "data_type": "FLOAT_32"},
                              {"name": "steps", "data_type": "INT_32"}],
            "tensor_params": [{"name": "window", "data_type": "INT_32"}, {"name": "table", "data_type": "FLOAT_32"}],
            "core_types": ["CPU", "DSP"],
        }],
    },
}


def convert(checks, folder):
    """The path of the container."""
    model = Model(opset=13)
    model.input("x", FLOAT, [2, 3])
    model.tensor("grid", FLOAT, [2, 2], [1, 2, 3, 4])
    model.node("Relu", ["x"], ["/before/Relu_output"])
    model.node("Warp", ["/before/Relu_output", "grid"], ["warped"], name="warp 1", mode="bilinear", alpha=0.2, steps=3,
               window=[2, -2], table=[float(i) / 4 for i in range(100)])
    model.node("Relu", ["warped"], ["y"])
    model.output("y", FLOAT, [2, 3])
    model.save(folder / "model.onnx")
    (folder / "ops.json").write_text(json.dumps(CONFIG))
    done = run("onnx-to-dlc", "-i", folder / "model.onnx", "-udo", folder / "ops.json", "-o", folder / "model.dlc")
    checks.equal("conversion", done.returncode, 0)
    return folder / "model.dlc"


def info(checks, container):
    graph = json.loads(run("dlc-info", "-i", container, "--json").stdout)["graphs"][0]
    node = next(n for n in graph["nodes"] if n["type"] == "Warp")
    checks.equal("package", node["package"], "WarpPackage")
    checks.equal("executable", [n["executable"] for n in graph["nodes"]], [True, False, True])
    attributes = {a["name"]: a for a in node["attributes"]}
    checks.equal("string param", (attributes["mode"]["value"], attributes["mode"]["supplemental"]), ("bilinear", False))
    checks.check("float param", abs(attributes["alpha"]["value"] - 0.2) < 1e-7)
    checks.equal("int param", (attributes["steps"]["value"], attributes["steps"]["dtype"]), (3, "Int_32"))
    checks.equal("tensor param", (attributes["window"]["dims"], attributes["window"]["values"]), ([2], [2, -2]))
    checks.equal("long tensor param", attributes["table"]["values"], [i / 4 for i in range(100)])
    supplemental = {a["name"]: a["value"] for a in node["attributes"] if a["supplemental"]}
    checks.check("cores", any("CPU" in value and "DSP" in value for value in supplemental.values()), supplemental)
    grid = next(t for t in graph["tensors"] if t["name"] == "grid")
    checks.equal("static input", (grid["kind"], grid["values"]), ("STATIC", [1, 2, 3, 4]))
    text = run("dlc-info", "-i", container).stdout
    for words in ("packageName: WarpPackage", "mode: bilinear (String)", "alpha: 0.2 (Float_32)", "steps: 3 (Int_32)",
                  "window: [2, -2] (Int_32 [2])",
                  "table: [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, ...] (100 values) (Float_32 [100])"):
        checks.check(f"text has '{words}'", f" {words} " in text)
    for value in supplemental.values():
        checks.check(f"text has '{value}'", value in text)


def execution(checks, container, folder):
    (folder / "x.raw").write_bytes(struct.pack("<6f", 1, -2, 3, -4, 5, -6))
    (folder / "list.txt").write_text(f"x:={folder / 'x.raw'}\n")

    def execute(*args):
        return run("net-run", "--container", container, "--input_list", folder / "list.txt", "--output_dir",
                   folder / "out", *args)

    for args in ([], ["--debug"]):
        done = execute(*args)
        checks.equal(f"UDO {args}", done.returncode, 1)
        for words in ("node 'warp 1'", "package WarpPackage, which implements op Warp, is not loaded", "--set_output_tensors"):
            checks.check(f"UDO {args} says '{words}'", words in done.stderr, done.stderr)
        checks.check(f"UDO {args} writes nothing", not (folder / "out").exists())
    done = execute("--set_output_tensors", "/before/Relu_output")
    checks.equal("before the UDO", (done.returncode, done.stderr), (0, ""))
    result = (folder / "out" / "Result_0" / "before" / "Relu_output.raw").read_bytes()
    checks.equal("values before the UDO", struct.unpack("<6f", result), (1, 0, 3, 0, 5, 0))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        container = convert(checks, folder)
        if container.exists():
            info(checks, container)
            execution(checks, container, folder)
    checks.finish()


main()
