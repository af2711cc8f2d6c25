"""The walk-through of docs/tutorial-inception-udo.md: its commands are run one after another, and print what it shows."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, SKIPPED, SOURCE, Checks  # noqa: E402

try:
    import numpy as np
except ImportError:
    print("skipped: python3-numpy is not there")
    sys.exit(SKIPPED)

BLOCK = re.compile(r"^```(console|json)\n(.*?)^```$", re.M | re.S)
FRACTION = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")
NEAR = 1e-5


def commands_of(block):
    """[(command, lines that it prints)]"""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def same(found, expected):
    """Equal lines, but for the last digits of fractions, which depend on the processor's mathematical functions."""
    if FRACTION.sub("#", found).split() != FRACTION.sub("#", expected).split():
        return False
    pairs = zip(FRACTION.findall(found), FRACTION.findall(expected))
    return all(abs(float(a) - float(b)) <= NEAR * max(1e-3, abs(float(b))) for a, b in pairs)


def environment(folder):
    """The built commands, and as python3 the one that runs this."""
    binaries = folder / "bin"
    binaries.mkdir()
    (binaries / "python3").symlink_to(sys.executable)
    path = os.pathsep.join(map(str, (binaries, BUILD / "converters", BUILD / "src" / "tools")))
    return {**os.environ, "PATH": path + os.pathsep + os.environ["PATH"], "OPENDLC": str(SOURCE)}


def walk_through(checks, folder):
    work, n_commands = folder / "work", 0
    work.mkdir()
    env = environment(folder)
    for kind, block in BLOCK.findall((SOURCE / "docs" / "tutorial-inception-udo.md").read_text()):
        if kind == "json":
            (work / "softmax.json").write_text(block)
            continue
        for command, lines in commands_of(block):
            done = subprocess.run(["sh", "-c", command], cwd=work, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, check=False)
            printed = done.stdout.rstrip("\n")
            checks.check(command, same(printed, "\n".join(lines)), f"prints\n{printed}\nand not\n" + "\n".join(lines))
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
