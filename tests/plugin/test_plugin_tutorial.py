# SPDX-License-Identifier: Apache-2.0
"""The session of docs/plugins.md, command by command, with the files of examples; and that a package runs as it is generated."""

import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from checks import SOURCE, Checks, run  # noqa: E402
from session import BLOCK, console_commands, environment, printed, same  # noqa: E402

EXAMPLES = SOURCE / "examples"
LIBRARY = "ClampOpsHtp/build/x86_64-linux-clang/libQnnClampOpsHtp.so:ClampOpsHtpInterfaceProvider"


def unedited(checks, folder):
    """As generated the kernel leaves zeros, which the rest of the network makes equal scores of."""
    done = run("onnx-to-dlc", "-i", "example.onnx", "--udo_config_paths", "ops.xml", cwd=folder)
    checks.check("unedited: converts", done.returncode == 0, done.stderr)
    done = run("net-run", "--container", "example.dlc", "--input_list", "inputs.txt", "--op_packages", LIBRARY, "--explain", cwd=folder)
    checks.check("unedited: runs", done.returncode == 0 and "cost 1000" in done.stdout, done.stdout + done.stderr)


def main():
    checks = Checks()
    if not (shutil.which("g++") or shutil.which("clang++")) or not shutil.which("make"):
        checks.skip("the session", "there is no C++ compiler, or no make")
        checks.finish()
    text = (SOURCE / "docs/plugins.md").read_text()
    commands = [one for kind, block in BLOCK.findall(text) if kind == "console" for one in console_commands(block)]
    checks.check("the guide has commands", len(commands) >= 10, len(commands))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        env = environment(folder)
        for file in ("example.onnx", "image.raw", "inputs.txt", "plugin/ops.xml", "plugin/SoftClamp.cpp"):
            shutil.copy(EXAMPLES / file, folder)
        for number, (command, expected) in enumerate(commands):
            status, found = printed(command, folder, env)
            checks.check(command[:60], status == 0 and same(found, "\n".join(expected).rstrip("\n")), found)
            if number == 1:
                unedited(checks, folder)
    checks.finish()


main()
