# SPDX-License-Identifier: Apache-2.0
"""dlc-info --verify: nothing is found in real containers, and every planted corruption is."""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import plant  # noqa: E402
import schema  # noqa: E402
from checks import SHARED, SOURCE, Checks, run  # noqa: E402

CONTAINERS = SHARED / "corpus" / "dlc"


def verify(checks, name, path):
    """The findings of both forms; they must be the same."""
    text = run("dlc-info", "-i", path, "--verify")
    done = run("dlc-info", "-i", path, "--verify", "--json")
    checks.equal(f"{name}: both statuses", (text.returncode, text.stderr), (done.returncode, done.stderr))
    report = json.loads(done.stdout)
    checks.equal(f"{name}: schema", schema.faults(report), [])
    errors = [f for f in report["findings"] if f["severity"] == "error"]
    checks.equal(f"{name}: intact", report["intact"], not errors)
    checks.equal(f"{name}: status", done.returncode, 1 if errors else 0)
    for finding in errors:
        checks.check(f"{name}: text has the finding", finding["message"] in text.stdout, text.stdout)
    last = text.stdout.splitlines()[-1]
    wanted = f"{len(errors)} finding" if errors else "nothing found"
    checks.check(f"{name}: last line", wanted in last, last)
    return errors


def planted(checks, folder):
    checks.check("at least 20 kinds", len(plant.KINDS) >= 20)
    for kind, (container, words, _) in plant.KINDS.items():
        path = folder / f"{kind}.dlc"
        plant.plant(kind, CONTAINERS / container, path)
        errors = verify(checks, kind, path)
        checks.check(f"{kind}: found", any(words in e["message"] for e in errors), [e["message"] for e in errors])


def repacked(checks, folder):
    """The way in which corruptions are planted is no finding itself."""
    plant.KINDS["nothing"] = (None, None, lambda entries: None)
    for container in (plant.FLOAT, plant.QUANTIZED, plant.V41, plant.V3):
        path = folder / container
        plant.plant("nothing", CONTAINERS / container, path)
        checks.equal(f"{container} repacked", verify(checks, f"{container} repacked", path), [])
    del plant.KINDS["nothing"]


def checksums(checks, folder):
    """What could not be checked is said, and the constants of version 3 are counted."""
    path = CONTAINERS / plant.V41
    lines = run("dlc-info", "-i", path, "--verify").stdout.splitlines()
    # all of model.params.bin, of which the elements are the first half
    checks.check("no checksums", f"{path}: no checksums in this file: 262144 bytes of weights were not checked" in lines,
                 lines)
    report = json.loads(run("dlc-info", "-i", path, "--verify", "--json").stdout)
    checks.equal("no checksums JSON", (report["constants"], report["unchecked"]), (131072, 262144))
    plant.KINDS["nothing"] = (None, None, lambda entries: None)
    plant.plant("nothing", path, folder / "with-crcs.dlc")
    del plant.KINDS["nothing"]
    lines = run("dlc-info", "-i", folder / "with-crcs.dlc", "--verify").stdout
    checks.check("with checksums", "checksum" not in lines, lines)
    without = bytearray((folder / "with-crcs.dlc").read_bytes())
    plant.remove_crc(without, b"model.params.bin")
    (folder / "with-some.dlc").write_bytes(without)
    lines = run("dlc-info", "-i", folder / "with-some.dlc", "--verify").stdout
    checks.check("with some checksums", "no checksum of entry model.params.bin: its 262144 bytes were not checked" in lines,
                 lines)
    # Convolution [3,3,1,28] with bias, dense layers [128,13*13*28] and [10,128] with biases, in float32
    count = 3 * 3 * 28 + 28 + 13 * 13 * 28 * 128 + 128 + 128 * 10 + 10
    done = run("dlc-info", "-i", CONTAINERS / plant.V3, "--verify")
    checks.check("constants of version 3", f"{4 * count} bytes of constants)" in done.stdout, done.stdout)


def other_files(checks, folder):
    garbage = folder / "garbage.dlc"
    garbage.write_bytes(bytes(range(256)) * 8)
    checks.equal("garbage", len(verify(checks, "garbage", garbage)), 1)
    done = run("dlc-info", "-i", folder / "missing.dlc", "--verify")
    checks.equal("a missing file is no finding", (done.returncode, done.stdout), (1, ""))
    checks.check("a missing file is an error", "cannot open" in done.stderr, done.stderr)
    done = run("dlc-info", "-i", garbage, "--verify", "--tensor", "x")
    checks.equal("--verify with --tensor", done.returncode, 2)
    for name in ("netp.dlc", "nr64.dlc"):
        checks.equal(f"our own {name}", verify(checks, name, SOURCE / "testdata" / name), [])


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        other_files(checks, folder)
        if CONTAINERS.is_dir():
            for path in sorted(CONTAINERS.glob("*.dlc")):
                checks.equal(f"{path.name}", verify(checks, path.name, path), [])
            checksums(checks, folder)
            repacked(checks, folder)
            planted(checks, folder)
        else:
            checks.skip("real containers", f"{CONTAINERS} is not there")
    checks.finish()


main()
