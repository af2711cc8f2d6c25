# SPDX-License-Identifier: Apache-2.0
"""The commands with the stack that docs/limits.md says: the deepest models and configs within the limits."""

import json
import pathlib
import re
import resource
import sys
import tempfile

from limit_converter import Converter  # the first: it finds the others
from checks import SOURCE, Checks, command, run
from onnx_writer import BOOL, FLOAT, INT64, Model
import test_configs as configs
import test_models as models
import test_onnx_nodes as nodes
import test_tensorflow_graphs as graphs


def documented():
    """Bytes of stack, by the page."""
    return int(re.search(r"(\d+) KiB of stack", (SOURCE / "docs" / "limits.md").read_text())[1]) << 10


def is_sanitized():
    return b"__asan_init" in pathlib.Path(command("onnx-to-dlc")).read_bytes()


def loops(levels):
    """A Loop of one trip in the body of a Loop: three levels of messages each."""
    def body(level):
        m = Model()
        m.input(f"i{level}", INT64, [])
        m.input(f"c{level}", BOOL, [])
        m.input(f"v{level}", FLOAT, None)
        m.node("Identity", [f"c{level}"], [f"d{level}"])
        if level:
            m.node("Loop", ["n", "", f"v{level}"], [f"w{level}"], body=body(level - 1))
        else:
            m.node("Neg", ["v0"], ["w0"])
        m.output(f"d{level}", BOOL, None)
        return models.ended(m, f"w{level}")

    m = models.with_input()
    m.tensor("n", INT64, [], [1])
    m.node("Loop", ["n", "", "x"], ["y"], body=body(levels - 2))
    return models.ended(m)


def deepest(checks, folder):
    c = Converter(checks, folder, "onnx-to-dlc", "model.onnx")
    c.passes("branches", models.nested(32))
    c.passes("loops", loops(32))
    c.passes("functions", nodes.calls_within(64))
    c.passes("functions, by several threads", nodes.calls_within(64), "--threads", "4")
    if graphs.np:
        t = Converter(checks, folder, "tensorflow-to-dlc", "model.pb")
        for what, make in (("loops", graphs.loops_within), ("branches", graphs.branches_within)):
            t.passes(f"TensorFlow's {what}", make(64), "--out_node", "y")
        t.passes("TensorFlow's functions as attributes", graphs.functions_as_attributes(32), "--out_node", "y")
    else:
        checks.skip("TensorFlow's graphs", "python3-numpy is not there")
    r = configs.Reader(checks, folder)
    r.takes("64 levels", configs.config(configs.operator(notes=json.loads("[" * 60 + "]" * 60))))
    done = c.convert(nodes.calls_within(64))
    checks.equal("status of the container", done.returncode, 0)
    (folder / "x.raw").write_bytes(bytes(4))
    (folder / "list.txt").write_text(f"x:={folder / 'x.raw'}\n")
    for name, *args in (("dlc-info", "-i", c.dlc), ("dlc-info", "-i", c.dlc, "--json"),
                        ("dlc-diff", "-i1", c.dlc, "-i2", c.dlc), ("dlc-viewer", "-i", c.dlc, "-s", folder / "v.html"),
                        ("net-run", "--container", c.dlc, "--input_list", folder / "list.txt", "--output_dir", folder)):
        done = run(name, *args)
        checks.check(f"{name} {args[-1]}", done.returncode == 0, f"{done.returncode} {done.stderr[-300:]}")


def main():
    checks = Checks()
    if is_sanitized():
        checks.skip("stack", "sanitizers make frames larger")
        checks.finish()
    size = int(sys.argv[1]) << 10 if len(sys.argv) > 1 else documented()
    resource.setrlimit(resource.RLIMIT_STACK, (size, resource.getrlimit(resource.RLIMIT_STACK)[1]))  # of the commands
    with tempfile.TemporaryDirectory() as temporary:
        deepest(checks, pathlib.Path(temporary))
    checks.finish()


main()
