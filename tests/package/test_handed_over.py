# SPDX-License-Identifier: Apache-2.0
"""What packages get of a node: operands at the end that are absent, params in the registration's order, strings; and where
the cores that are registered are shown."""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import SDK, fill_in, generate, make, registration  # noqa: E402
from checks import Checks, run  # noqa: E402
from onnx_writer import FLOAT, STRING, Model  # noqa: E402

PARAMS = {"whole": -7, "rate": 0.5, "word": "abc", "yes": 1, "list": [1.5, 2.5]}


def floats(path):
    data = path.read_bytes()
    return struct.unpack(f"<{len(data) // 4}f", data)


def tensor(name, dtype="FLOAT_32", **more):
    return {"name": name, "data_type": dtype, **more}


def write_config(folder, package, ops):
    config = folder / f"{package}.json"
    config.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": package, "Operators": ops}}))
    return config


def convert(checks, folder, name, model, config):
    model.save(folder / f"{name}.onnx")
    done = run("onnx-to-dlc", "-i", folder / f"{name}.onnx", "--udo_config_paths", config, "-o", folder / f"{name}.dlc")
    checks.check(f"{name}: converts", done.returncode == 0, done.stderr)


def net_run(folder, name, library, *options):
    (folder / "x.raw").write_bytes(struct.pack("<4f", 1, 2, 3, 4))
    (folder / "list.txt").write_text("x:=x.raw\n")
    return run("net-run", "--container", f"{name}.dlc", "--input_list", "list.txt", "--output_dir", f"out-{name}",
               "--udo_package_path", library, *options, cwd=folder)


def counts_config(folder):
    scalars = [tensor("whole", "INT_32"), tensor("yes", "BOOL_8"), tensor("rate"), tensor("word", "STRING")]
    optional = {"optional": True}
    three = {"type": "Three", "inputs": [tensor("x"), tensor("a", **optional), tensor("b", **optional)], "core_types": ["CPU"],
             "outputs": [tensor("y", shape="same_as in0"), tensor("z", shape="same_as in0", **optional)],
             "scalar_params": scalars, "tensor_params": [tensor("list")]}
    gpu = {"type": "OnGpu", "inputs": [tensor("x")], "outputs": [tensor("y", shape="same_as in0")], "core_types": ["GPU"]}
    return write_config(folder, "Counts", [three, gpu])


def counts_model(params):
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [4])
    m.node("Three", ["x"], ["one"], name="first", domain="test", **params)
    m.node("Three", ["x", "x"], ["two", "more"], name="second", domain="test", **params)
    m.node("Three", ["x", "", "x"], ["gap"], name="third", domain="test", **params)
    for name in ("one", "two", "more", "gap"):
        m.output(name, FLOAT, [4])
    return m


def build_counts(checks, folder):
    done = subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Werror", "-I", SDK, "-I", SDK / "QNN", HERE / "kernels/counts.c",
                           "-o", folder / "libcounts.so"], check=False, capture_output=True, text=True)
    checks.check("counts: compiles", done.returncode == 0, done.stderr)


def counts(checks, folder):
    """Three inputs and two outputs, whatever the node has; SnpeUdo_validateOperation sees each param's value."""
    build_counts(checks, folder)
    config = counts_config(folder)
    convert(checks, folder, "counts", counts_model(PARAMS), config)
    for options in ((), ("--isolate",)):
        done = net_run(folder, "counts", "./libcounts.so", *options)
        checks.equal(f"counts {options}", (done.returncode, done.stderr), (0, ""))
        found = {name: floats(folder / f"out-counts/Result_0/{name}.raw") for name in ("one", "two", "more", "gap")}
        checks.equal(f"counts {options}: operands", found, {"one": (32, 1, 0, 4), "two": (32, 3, 0, 8), "more": (77, 0, 0, 0),
                                                            "gap": (32, 5, 0, 8)})
    for name, value, number in (("whole", -8, 116), ("yes", 0, 115), ("rate", 0.25, 114), ("word", "abd", 113),
                                ("list", [1.5, 2.0], 112)):
        convert(checks, folder, name, counts_model({**PARAMS, name: value}), config)
        done = net_run(folder, name, "./libcounts.so")
        checks.equal(f"{name} is refused", done.returncode, 1)
        words = f"libcounts.so: error: node 'first': SnpeUdo_validateOperation of op Three, package Counts, gives error {number}"
        checks.check(f"{name}: message", words in done.stderr, done.stderr)
    done = run("udo-check", config, "--udo_package_path", folder / "libcounts.so", "--json")
    stages = [found["message"] for op in json.loads(done.stdout)["kernels"] for found in op["findings"]]
    checks.check("udo-check asks, too", any("SnpeUdo_validateOperation gives error 11" in words for words in stages), stages)


def shown(checks, folder):
    """dlc-info knows the cores that libraries register, and no others."""
    build_counts(checks, folder)
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [4])
    m.node("Three", ["x"], ["t"], name="three", domain="test", **PARAMS)
    m.node("OnGpu", ["t"], ["u"], name="gpu", domain="test")
    m.node("Relu", ["u"], ["y"], name="relu")
    m.output("y", FLOAT, [4])
    convert(checks, folder, "shown", m, counts_config(folder))

    def column(*options):
        done = run("dlc-info", "-i", folder / "shown.dlc", "--save", folder / "shown.csv", *options)
        checks.equal(f"dlc-info {options}", (done.returncode, done.stderr), (0, ""))
        rows = [line.split("|") for line in done.stdout.splitlines() if line.startswith("| ")]
        cells = {row[2].strip(): row[7].strip() for row in rows if len(row) == 10 and row[1].strip().isdigit()}
        report = json.loads(run("dlc-info", "-i", folder / "shown.dlc", "--json", *options).stdout)
        nodes = {node["name"]: (node["runtimes"], node["executable"]) for node in report["graphs"][0]["nodes"]}
        return cells, nodes, done.stdout

    cells, nodes, text = column()
    checks.equal("without a package", cells, {"three": "-", "gpu": "-", "relu": "C"})
    checks.equal("without a package, JSON", nodes, {"three": ([], False), "gpu": ([], False), "relu": (["CPU"], True)})
    checks.check("without a package: key", "G:" not in text, text)
    cells, nodes, text = column("--udo_package_path", folder / "libcounts.so")
    checks.equal("with a package", cells, {"three": "D C", "gpu": "G", "relu": "C"})
    checks.equal("with a package, JSON", nodes, {"three": (["DSP", "CPU"], True), "gpu": (["GPU"], False),
                                                 "relu": (["CPU"], True)})
    checks.check("with a package: CSV", "D C" in (folder / "shown.csv").read_text())
    checks.check("with a package: key", "      G:a package has the op for the GPU\n" in text, text)
    done = run("dlc-info", "-i", folder / "shown.dlc", "--udo_package_path", f"{folder}/none.so,{folder}/shown.csv")
    checks.check("no such library", done.returncode == 1 and "none.so: error: there is no such library" in done.stderr and
                 "shown.csv: error: the library cannot be loaded" in done.stderr, done.stderr)
    done = run("dlc-info", "-i", folder / "shown.dlc", "--udo_package_path", "l.so", "--verify")
    checks.equal("nothing to add to", done.returncode, 2)


def strings(checks, folder):
    """Strings come as pointers to text; an output of them is refused."""
    body = """
    const char *const *words = static_cast<const char *const *>(operation->getInput(1)->data);
    float *y = getTensorDataRef<float>(operation->getOutput(0));
    for (uint32_t i = 0; i < numTensorSize(operation->getInput(1)); i++)
        y[i] = static_cast<float>(strlen(words[i])) + (words[i][0] == 'b' ? 0.5f : 0.0f);
    y[3] = static_cast<float>(operation->getInput(1)->dataType);
"""
    reads = {"type": "Reads", "inputs": [tensor("x"), tensor("words", "STRING", static=True)], "core_types": ["CPU"],
             "outputs": [tensor("y", shape="same_as in0")]}
    gives = {"type": "Gives", "inputs": [tensor("x")], "core_types": ["CPU"],
             "outputs": [tensor("y", "STRING", shape="same_as in0")]}
    takes = {**reads, "type": "Takes", "inputs": [tensor("x"), tensor("words", "STRING")]}
    config = write_config(folder, "Words", [reads, gives, takes])
    generate([config], folder)
    fill_in(folder / "Words", "Reads", body)
    done = make(folder / "Words", "cpu_x86")
    checks.check("strings: compiles", done.returncode == 0, done.stderr[-1500:])
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [4])
    m.tensor("w", STRING, [3], strings=["a", "bcd", ""])
    m.node("Reads", ["x", "w"], ["y"], name="reads", domain="test")
    m.output("y", FLOAT, [4])
    convert(checks, folder, "reads", m, config)
    done = net_run(folder, "reads", registration(folder / "Words"))
    if checks.equal("strings are read", (done.returncode, done.stderr), (0, "")):
        checks.equal("strings: numbers", floats(folder / "out-reads/Result_0/y.raw"), (1, 3.5, 0, 0x608))
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [4])
    m.node("Gives", ["x"], ["t"], name="gives", domain="test")
    m.value("t", STRING, [4])
    m.node("Takes", ["x", "t"], ["y"], name="takes", domain="test")
    m.output("y", FLOAT, [4])
    convert(checks, folder, "gives", m, config)
    done = net_run(folder, "gives", registration(folder / "Words"))
    words = "node 'gives': op Gives of package Words gives strings as output 0 ('t'), which packages cannot"
    checks.check("strings are not given", done.returncode == 1 and words in done.stderr and "ImplCpu.so" in done.stderr,
                 done.stderr)
    done = run("udo-check", config, "--udo_package_path", registration(folder / "Words"), "--json")
    found = {op["type"]: [f["code"] for f in op["findings"]] for op in json.loads(done.stdout)["kernels"]}
    checks.equal("strings cannot be made up", found.get("Reads"), ["kernel-untried"])


def main():
    checks = Checks()
    for test in (counts, shown, strings):
        with tempfile.TemporaryDirectory() as folder:
            test(checks, pathlib.Path(folder))
    checks.finish()


main()
