# SPDX-License-Identifier: Apache-2.0
"""The walk-through of docs/tutorial-inception-udo.md: its commands are run one after another, and print what it shows."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SKIPPED, SOURCE, Checks  # noqa: E402
from session import BLOCK, console_commands, environment, printed, same  # noqa: E402

try:
    import numpy as np
except ImportError:
    print("skipped: python3-numpy is not there")
    sys.exit(SKIPPED)


def walk_through(checks, folder):
    work, n_commands = folder / "work", 0
    work.mkdir()
    env = environment(folder)
    for kind, block in BLOCK.findall((SOURCE / "docs" / "tutorial-inception-udo.md").read_text()):
        if kind == "json":
            (work / "softmax.json").write_text(block)
            continue
        for command, lines in console_commands(block):
            _, found = printed(command, work, env)
            checks.check(command, same(found, "\n".join(lines)), f"prints\n{found}\nand not\n" + "\n".join(lines))
            n_commands += 1
    checks.check("there are commands", n_commands > 10, n_commands)
    return work


def probabilities(checks, work):
    """What the UDO takes gives by a Softmax what the native op gives."""
    logits = np.fromfile(work / "udo/Result_0/InceptionV3/Logits/SpatialSqueeze:0.raw", np.float32).astype(np.float64)
    native = np.fromfile(work / "native/Result_0/InceptionV3/Predictions/Reshape_1:0.raw", np.float32)
    checks.equal("classes", (logits.size, native.size), (1001, 1001))
    powers = np.exp(logits - logits.max())
    expected = powers / powers.sum()
    checks.check("probabilities", np.abs(native - expected).max() <= 1e-6 * expected.max())
    checks.check("they differ", np.ptp(expected) > 1e-4)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        probabilities(checks, walk_through(checks, pathlib.Path(temporary)))
    checks.finish()


main()
