# SPDX-License-Identifier: Apache-2.0
"""examples/build-jobs with the real ninja: a folder of models is converted, and again only what a change concerns."""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks, command  # noqa: E402
from job_models import clamp_config, clamp_model, external_model, open_model, plain_model  # noqa: E402

NINJA = shutil.which("ninja")
CONFIGURE = SOURCE / "examples" / "build-jobs" / "configure.sh"
ALL = {"plain", "external", "nested dir/clamp", "open"}


class Farm:
    """A folder with models and what the example makes of it."""

    def __init__(self, checks, folder):
        self.checks, self.folder, self.models = checks, folder, folder / "models"
        (self.models / "nested dir").mkdir(parents=True)
        plain_model(self.models / "plain.onnx")
        external_model(self.models / "external.onnx", "external.weights")
        clamp_model(self.models / "nested dir" / "clamp.onnx")
        clamp_config(self.models / "nested dir" / "clamp.ops.json", 0.5)
        open_model(self.models / "open.onnx")
        (self.models / "open.args").write_text("-d x '1,3' --model_version 'of $HOME'\n")
        self.converter = folder / "the converter"
        self.converter.write_text(f'#!/bin/sh\nexec "{command("onnx-to-dlc")}" "$@"\n')
        self.converter.chmod(0o755)
        done = subprocess.run([CONFIGURE, "models", "out"], cwd=folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "ONNX_TO_DLC": str(self.converter)})
        checks.equal(f"configure {done.stderr}", done.returncode, 0)

    def ninja(self, *args):
        return subprocess.run([NINJA, *args], cwd=self.folder, capture_output=True, text=True, check=False)

    def makes(self, label, containers, *others):
        """ninja succeeds, converts these models, and runs these other steps; after that nothing is left to do."""
        done = self.ninja()
        self.checks.equal(f"{label}: status {done.stdout}", done.returncode, 0)
        found = set(re.findall(r"\] DLC '?out/(.*?)\.dlc'?$", done.stdout, re.MULTILINE))
        self.checks.equal(f"{label}: converted", found, set(containers))
        steps = set(re.findall(r"\] ([A-Z0-9]+) ", done.stdout)) - {"DLC"}
        self.checks.equal(f"{label}: other steps", steps, set(others))
        self.checks.check(f"{label}: then nothing", "no work to do" in self.ninja().stdout)

    def bytes_of(self, name):
        return (self.folder / "out" / f"{name}.dlc").read_bytes()


def changes(farm):
    checks, models = farm.checks, farm.models
    farm.makes("first", ALL, "SHA256")
    checks.check("options reach the converter", b"model-version=of $HOME" in farm.bytes_of("open"))
    before = {name: farm.bytes_of(name) for name in ALL}

    plain_model(models / "plain.onnx", "Sigmoid")
    farm.makes("model", {"plain"}, "SHA256")
    checks.check("model: other bytes", farm.bytes_of("plain") != before["plain"])

    weights = models / "external.weights"
    weights.write_bytes(struct.pack("<2f", 7, 8))
    farm.makes("external data", {"external"}, "SHA256")
    checks.check("external data: it is in there", struct.pack("<2f", 7, 8) in farm.bytes_of("external"))

    clamp_config(models / "nested dir" / "clamp.ops.json", 0.25)
    farm.makes("config", {"nested dir/clamp"}, "SHA256")

    os.utime(models / "plain.onnx")
    farm.makes("touched, the same bytes", {"plain"})  # no checksums: the container kept its time

    os.utime(farm.converter)
    farm.makes("converter", ALL)

    (models / "open.args").write_text("-d x 2,3\n")
    farm.makes("options", {"open"}, "CONFIGURE", "SHA256")

    (models / "open.args").unlink()
    checks.equal("a model that fails: status", farm.ninja().returncode, 1)
    checks.check("a model that fails: the older container stays", farm.bytes_of("open"))
    (models / "open.onnx").unlink()
    farm.makes("a model less", set(), "CONFIGURE", "SHA256")
    plain_model(models / "nested dir" / "new.onnx")
    farm.makes("a model more", {"nested dir/new"}, "CONFIGURE", "SHA256")
    (farm.folder / "out" / "plain.dlc").unlink()
    farm.makes("a container less", {"plain"}, "SHA256")


def same_bytes_as_by_hand(farm):
    """What the example makes is what the command makes."""
    made = farm.folder / "hand" / "external.dlc"
    made.parent.mkdir()
    subprocess.run([command("onnx-to-dlc"), "-q", "-i", "models/external.onnx", "-o", made], cwd=farm.folder, check=True)
    farm.checks.check("the same as by hand", made.read_bytes() == farm.bytes_of("external"))
    left = [path.name for path in (farm.folder / "out").rglob("*") if path.suffix in (".new", ".part", ".d")]
    farm.checks.equal("nothing is left over", left, [])


def interrupted(farm):
    """A failing model does not keep others from being converted."""
    (farm.models / "broken.onnx").write_bytes(b"no model")
    plain_model(farm.models / "another.onnx")
    done = farm.ninja("-k", "0")
    farm.checks.equal("broken: status", done.returncode, 1)
    farm.checks.check("broken: named", "broken.onnx: error: " in done.stdout, done.stdout)
    farm.checks.check("broken: no container", not (farm.folder / "out" / "broken.dlc").exists())
    farm.checks.check("broken: the others", (farm.folder / "out" / "another.dlc").exists())


def main():
    checks = Checks()
    if not NINJA:
        checks.skip("build jobs", "ninja is not installed")
        checks.finish()
    with tempfile.TemporaryDirectory() as name:
        farm = Farm(checks, pathlib.Path(name))
        for part in (changes, same_bytes_as_by_hand, interrupted):
            part(farm)
    checks.finish()


main()
