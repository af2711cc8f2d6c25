# SPDX-License-Identifier: Apache-2.0
"""The walk-through of docs/udo-tutorial.md: its commands are run one after another, and print what it shows; the results are
those that NumPy computes of the model's weights."""

import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from checks import SKIPPED, SOURCE, Checks  # noqa: E402
from session import BLOCK, environment, printed, same, shell_commands  # noqa: E402

try:
    import numpy as np
    from soft_clamp import computed, floats
except ImportError:
    print("skipped: python3-numpy is not there")
    sys.exit(SKIPPED)


def steps():
    """(commands, what they print in all) of each block of commands."""
    found = []
    for kind, block in BLOCK.findall((SOURCE / "docs" / "udo-tutorial.md").read_text()):
        if kind == "sh":
            found.append([shell_commands(block), ""])
        else:
            found[-1][1] = block.rstrip("\n")
    return found


def comparable(text):
    """Times are those of the machine."""
    return re.sub(r"[0-9.e+]+ microseconds", "# microseconds", text)


def walk_through(checks, folder):
    work, n_commands = folder / "work", 0
    work.mkdir()
    env = environment(folder)
    for commands, expected in steps():
        said = []
        for command in commands:
            status, text = printed(command, work, env)
            line = command.splitlines()[0]
            checks.check(f"{line}: succeeds", status == 0, text)
            said += [text] * bool(text)
            n_commands += 1
        found = "\n".join(said)
        checks.check(f"{line}: prints", same(comparable(found), comparable(expected)), f"{found}\nand not\n{expected}")
    checks.check("there are commands", n_commands > 25, n_commands)
    return work


def results(checks, work):
    """Independent of the text: the files that the commands leave."""
    operands = work / "example.dlc", work / "image.raw"
    clamped, smooth = computed(*operands, np.tanh)
    _, cheap = computed(*operands, lambda v: v / np.sqrt(1 + v * v))
    checks.check("the kernels differ", np.abs(smooth - cheap).max() > 1e-3)
    for path, expected in (("smooth/Result_0/scores.raw", smooth), ("inside/Result_0/clamped.raw", clamped),
                           ("cheap/Result_0/scores.raw", cheap)):
        found = floats((work / path).read_bytes(), *expected.shape)
        checks.check(path, np.abs(found - expected).max() < 1e-6, f"{found.ravel()[:8]} and not {expected.ravel()[:8]}")


def main():
    checks = Checks()
    if not shutil.which("make") or not (shutil.which("clang++") or shutil.which("c++")):
        checks.skip("the walk-through", "make or a C++ compiler is not installed")
        checks.finish()
    with tempfile.TemporaryDirectory() as folder:
        results(checks, walk_through(checks, pathlib.Path(folder)))
    checks.finish()


main()
