# SPDX-License-Identifier: Apache-2.0
"""The same model, configs and options give the same bytes, whatever else is different: environment, locale, time zone,
folder, umask, addresses, threads, reports, the time, and what stands at the output's place."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks, command, run  # noqa: E402

EXAMPLES = SOURCE / "examples"
CONVERT = ["-i", "example.onnx", "--udo_config_paths", "ops.json"]


def copy_example(folder):
    folder.mkdir(parents=True)
    for name in ("example.onnx", "ops.json"):
        shutil.copy(EXAMPLES / name, folder)
    return folder


def converted(folder, *more, prefix=(), out="out.dlc", **settings):
    """The container's bytes; None when there is no container."""
    path = folder / out
    done = subprocess.run([*prefix, command("onnx-to-dlc"), *CONVERT, "-o", out, *map(str, more)], cwd=folder,
                          capture_output=True, check=False, **settings)
    data = path.read_bytes() if done.returncode == 0 else None
    path.unlink(missing_ok=True)
    return data


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        base = pathlib.Path(name)
        here = copy_example(base / "here")
        first = converted(here)
        checks.check("the example converts", first)

        def same(label, data):
            checks.check(f"the same bytes: {label}", data == first, "no container" if data is None else "others")

        environment = {"PATH": os.environ["PATH"]}
        for label, variables in (("no environment", {}), ("HOME is missing", {"HOME": "/nowhere"}),
                                 ("German", {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}), ("C", {"LC_ALL": "C"}),
                                 ("Turkish", {"LC_ALL": "tr_TR.UTF-8"}), ("Tokyo", {"TZ": "Asia/Tokyo"}),
                                 ("an epoch", {"SOURCE_DATE_EPOCH": "1"}), ("a terminal", {"TERM": "xterm", "COLUMNS": "40"}),
                                 ("memory is filled", {"MALLOC_PERTURB_": "165"})):
            same(label, converted(here, env={**environment, **variables}))
        same("another folder", converted(copy_example(base / "over" / "there")))
        for mask in (0o000, 0o077):
            same(f"umask {mask:o}", converted(here, preexec_fn=lambda mask=mask: os.umask(mask)))
        if shutil.which("setarch"):
            same("fixed addresses", converted(here, prefix=["setarch", "-R"]))
        else:
            checks.skip("fixed addresses", "no setarch")
        same("no standard input", converted(here, prefix=["sh", "-c", 'exec "$@" <&-', "sh"]))
        for threads in (0, 1, 2, 3, 7, 16):
            same(f"{threads} threads", converted(here, "--threads", threads))
        for option in (["--quiet"], ["--debug"], ["--json"], ["--dump_ir", "after=track_axes"], ["--depfile", "out.d"]):
            same(" ".join(option), converted(here, *option))
        for name in ("example.onnx", "ops.json"):
            os.utime(here / name, (1, 1))
        same("old files", converted(here))
        (here / "out.dlc").write_bytes(b"older")
        same("over an older file", converted(here))
        (here / "deep").mkdir()
        same("another output folder", converted(here, out="deep/out.dlc"))

        # What does shape the container: its name, and paths as they are given.
        checks.check("the graph's name is that of the file", converted(here, out="other.dlc") not in (None, first))
        run("onnx-to-dlc", "-i", here / "example.onnx", "--udo_config_paths", here / "ops.json", "-o", here / "out.dlc")
        checks.check("absolute paths are recorded", str(here).encode() in (here / "out.dlc").read_bytes())
        checks.check("relative ones are all that is", str(base).encode() not in first)
        for bad in ("-1", "17", "many", ""):
            done = run("onnx-to-dlc", *CONVERT, f"--threads={bad}", cwd=here)
            checks.equal(f"--threads={bad}: status", done.returncode, 2)
    checks.finish()


main()
