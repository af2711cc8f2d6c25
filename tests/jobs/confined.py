# SPDX-License-Identifier: Apache-2.0
"""Each command with every kind of file that it reads and writes: what must work in a confined place."""

import os
import pathlib
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "jobs")]
import job_models  # noqa: E402
from checks import SOURCE, command  # noqa: E402

try:
    import numpy as np
    from tf_bundle_writer import save_bundle
    from tf_writer import Graph, Shape, meta_graph, save_saved_model, signature
except ImportError as error:
    if error.name != "numpy":
        raise
    np = None

FOLDERS = ("in", "out", "home", "tmp", "cwd")


class Run:
    """A command line, run in cwd; paths of what it reads and makes are those from the base."""

    def __init__(self, label, name, args, reads, makes, status=0):
        self.label, self.name, self.args, self.status = label, name, args.split(), status
        self.reads = {f"in/{part}" for part in reads.split()}
        self.makes = {f"out/{part}" for part in makes.split()}

    def words(self):
        return [command(self.name), *self.args]


RUNS = [
    Run("ONNX", "onnx-to-dlc", "-i ../in/example.onnx --udo_config_paths ../in/ops.json --copyright_file ../in/rights.txt "
        "-o ../out/example.dlc --depfile ../out/example.d", "example.onnx ops.json rights.txt", "example.dlc example.d"),
    Run("external data", "onnx-to-dlc", "-i ../in/external.onnx -o ../out/external.dlc --threads 2", "external.onnx w.bin",
        "external.dlc"),
    Run("frozen input", "onnx-to-dlc", "-i ../in/external.onnx --freeze_input x=../in/x.raw -o ../out/frozen.dlc",
        "external.onnx w.bin x.raw", "frozen.dlc"),
    Run("configs", "udo-check", "../in/ops.json --model ../in/example.onnx", "ops.json example.onnx", ""),
    Run("another form", "udo-check", "../in/ops.json --convert xml -o ../out/ops.xml", "ops.json", "ops.xml"),
    Run("report", "dlc-info", "-i ../in/a.dlc -s ../out/a.csv", "a.dlc", "a.csv"),
    Run("whole file", "dlc-info", "-i ../in/a.dlc --verify", "a.dlc", ""),
    Run("tensor", "dlc-info", "-i ../in/a.dlc --tensor c --dump ../out/c.npy", "a.dlc", "c.npy"),
    Run("difference", "dlc-diff", "-i1 ../in/a.dlc -i2 ../in/b.dlc -s ../out/d.csv", "a.dlc b.dlc", "d.csv", status=1),
    Run("page", "dlc-viewer", "-i ../in/a.dlc -s ../out/a.html", "a.dlc", "a.html"),
    Run("drawing", "dlc-viewer", "-i ../in/a.dlc --dot -s ../out/a.dot", "a.dlc", "a.dot"),
    Run("execution", "net-run", "--container ../in/a.dlc --input_list ../in/list.txt --output_dir ../out/run",
        "a.dlc list.txt x.raw", "run/Result_0/y.raw"),
]
SAVED_MODEL = Run("saved model", "tensorflow-to-dlc", "-i ../in/net --udo_config_paths ../in/tf_ops.json -o ../out/net.dlc",
                  "tf_ops.json net net/saved_model.pb net/variables/variables.index "
                  "net/variables/variables.data-00000-of-00001", "net.dlc")


def saved_model(folder):
    """A UDO that reads a variable."""
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4])
    v = g.node("VariableV2", [], name="v", dtype=np.float32, shape=Shape([4]))
    y = g.node("Relu", [g.node("SoftClamp", [x, g.node("Identity", [v])], mode="smooth", sharpness=4.0, axes=[1])], name="y")
    sign = signature({"x": (x, [1, 4])}, {"y": (y, [1, 4])})
    save_saved_model(folder, meta_graph(g, {"serving_default": sign}))
    (folder / "variables").mkdir()
    save_bundle(folder / "variables" / "variables", {"v": np.ones(4, np.float32)})


def lay_out(checks, base):
    """Makes folders for inputs, outputs, and those where programs like to leave something. Gives the runs."""
    for name in FOLDERS:
        (base / name).mkdir(parents=True)
    inputs = base / "in"
    shutil.copy(SOURCE / "examples" / "example.onnx", inputs)
    shutil.copy(SOURCE / "examples" / "ops.json", inputs)
    (inputs / "tf_ops.json").write_text((inputs / "ops.json").read_text().replace('"domain": "com.example",', ""))
    (inputs / "rights.txt").write_text("all rights")
    (inputs / "x.raw").write_bytes(bytes(8))
    (inputs / "list.txt").write_text("x:=../in/x.raw\n")
    job_models.external_model(inputs / "external.onnx", "w.bin")
    job_models.plain_model(inputs / "plain.onnx")
    for model, container in (("external", "a"), ("plain", "b")):
        subprocess.run([command("onnx-to-dlc"), "--quiet", "-i", f"{model}.onnx", "-o", f"{container}.dlc"], cwd=inputs, check=True)
    if np is None:
        checks.skip("TensorFlow models", "python3-numpy is not there")
        return RUNS
    saved_model(inputs / "net")
    return [*RUNS, SAVED_MODEL]


def surroundings(base):
    """Environment in which everything that is not given would be found below base."""
    return {**os.environ, "HOME": str(base / "home"), "TMPDIR": str(base / "tmp"), "XDG_CACHE_HOME": str(base / "home"),
            "ASAN_OPTIONS": "detect_leaks=0"}  # which needs to be alone in tracing the process


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
