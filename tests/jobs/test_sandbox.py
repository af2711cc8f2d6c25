# SPDX-License-Identifier: Apache-2.0
"""Commands work in the sandboxes of examples/sandbox, where there is nothing but what they are given: with the same results,
and what a sandbox is for is refused in it."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from checks import SOURCE, Checks, command  # noqa: E402
from confined import lay_out, surroundings, tree  # noqa: E402

SANDBOX = SOURCE / "examples" / "sandbox"


class Place:
    """Folders in and out, and how commands are confined to them; filter is a file for bubblewrap, or None."""

    def __init__(self, base, filter_file):
        self.base = base
        self.environment = {**surroundings(base), **({"SECCOMP": str(filter_file)} if filter_file else {})}

    def run(self, *words):
        confine = [SANDBOX / "confine.sh", self.base / "in", self.base / "out"]
        return subprocess.run([*confine, *words], cwd=self.base / "cwd", env=self.environment, capture_output=True, text=True,
                              check=False)


def try_commands(checks, label, place, runs, expected):
    inputs = tree(place.base / "in")
    for run in runs:
        done = place.run(*run.words())
        checks.equal(f"{label}, {run.label}: status {done.stderr}", done.returncode, run.status)
    checks.equal(f"{label}: inputs are as before", tree(place.base / "in") == inputs, True)
    made = tree(place.base / "out")
    checks.equal(f"{label}: files that were made", set(made), set(expected))
    checks.equal(f"{label}: files that differ", [name for name in expected if made.get(name) != expected[name]], [])


def try_refusals(checks, label, place, filtered):
    """The walls are there: a shell in the place of a command runs into them."""
    def refused(what, script):
        done = place.run("sh", "-c", script)
        checks.check(f"{label}: {what} is refused", done.returncode != 0, done.stdout)
        return done

    if not filtered:  # a shell starts programs
        done = place.run("sh", "-c", "echo text >../out/shell && cat ../out/shell; rm ../out/shell")
        checks.equal(f"{label}: a shell can write outputs", done.stdout, "text\n")
        refused("removing an input", "rm ../in/x.raw")
        done = place.run("sed", "-n", "s/:.*//p", "/proc/net/dev")
        checks.equal(f"{label}: networks", done.stdout.split(), ["lo"])
    refused("writing beside an input", "echo text >../in/shell")
    refused("reading other folders", f"read line <{place.base}/home/secret")
    refused("reading the system's settings", "read line </etc/passwd")
    checks.check(f"{label}: nothing was written", not (place.base / "in" / "shell").exists())
    if filtered and shutil.which("perl"):
        for what, code in (("a connection", "use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0) or exit 1"),
                           ("a process", "fork() // exit 1")):
            checks.equal(f"{label}: {what} is refused", place.run("perl", "-e", code).returncode, 1)


def is_sanitized():
    """Sanitizers' own system calls are not on the list."""
    return b"__asan_init" in pathlib.Path(command("onnx-to-dlc")).read_bytes()


def make_filter(checks, folder):
    """None where there is none, which is said."""
    path = folder / "filter"
    with open(path, "wb") as out:
        done = subprocess.run(["/usr/bin/python3", SANDBOX / "seccomp-filter.py", SANDBOX / "seccomp.json"], stdout=out,
                              stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode == 0 and not is_sanitized():
        return path
    if done.returncode:
        checks.check("the filter can be made", "No module named 'seccomp'" in done.stderr, done.stderr)
    checks.skip("system calls", "python3-seccomp is not there" if done.returncode else "sanitizers make calls of their own")
    return None


def without_sandbox(checks, base):
    """What the commands make in the open."""
    for run in lay_out(checks, base):
        subprocess.run(run.words(), cwd=base / "cwd", env=surroundings(base), capture_output=True, check=False)
    return tree(base / "out")


def main():
    checks = Checks()
    bwrap = shutil.which("bwrap")
    works = bwrap and subprocess.run([bwrap, "--ro-bind", "/", "/", "--unshare-all", "--unshare-user", "true"],
                                     capture_output=True, text=True, check=False)
    if not bwrap or works.returncode:
        checks.skip("sandboxes", f"bubblewrap cannot be used here: {works.stderr.strip() if bwrap else 'it is not installed'}")
        checks.finish()
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name).resolve()
        expected = without_sandbox(checks, top / "open")
        for label, filter_file in (("bubblewrap", None), ("with a filter", make_filter(checks, top))):
            if label == "with a filter" and not filter_file:
                continue
            base = top / label.replace(" ", "-")
            runs = lay_out(checks, base)
            (base / "home" / "secret").write_text("secret\n")
            os.chmod(base / "home" / "secret", 0o644)
            place = Place(base, filter_file)
            try_commands(checks, label, place, runs, expected)
            try_refusals(checks, label, place, filter_file is not None)
    checks.finish()


main()
