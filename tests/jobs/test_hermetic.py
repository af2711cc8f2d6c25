"""A conversion touches nothing but what it is given: it reads its inputs (and the system's libraries), writes into the
output's folder, starts no program, and opens no connection."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks, command  # noqa: E402

try:
    import numpy as np
    from tf_bundle_writer import save_bundle
    from tf_writer import Graph, Shape, meta_graph, save_saved_model, signature
except ImportError as error:
    if error.name != "numpy":
        raise
    np = None

STRACE = shutil.which("strace")
CALL = re.compile(r"^\d+\s+(\w+)\((.*)$")
PATH = re.compile(r'"((?:[^"\\]|\\.)*)"')
# The dynamic linker, the number of processors, a sanitizer's look at itself.
SYSTEM = re.compile(r"/(lib|lib64|usr/lib|usr/local/lib|etc/ld\.so|sys/devices/system/cpu|sys/fs/cgroup|proc/(self|\d+|sys|cpuinfo|"
                    r"stat|meminfo)\b)|/$")
READ_CALLS = {"access", "faccessat", "faccessat2", "stat", "lstat", "newfstatat", "statx", "readlink", "readlinkat",
              "getcwd", "statfs"}
OPEN_CALLS = {"open", "openat", "openat2"}
WRITE_CALLS = {"link", "linkat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "chmod",
               "fchmodat", "symlink", "symlinkat", "truncate", "utimensat", "chown", "fchownat", "mknodat", "creat"}


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def onnx_model(folder):
    """(command, model, the files that it is made of)"""
    shutil.copy(SOURCE / "examples" / "example.onnx", folder)
    return "onnx-to-dlc", "example.onnx", ["example.onnx"]


def saved_model(folder):
    """A UDO that reads a variable."""
    g = Graph()
    x = g.placeholder("x", np.float32, [1, 4])
    v = g.node("VariableV2", [], name="v", dtype=np.float32, shape=Shape([4]))
    y = g.node("Relu", [g.node("SoftClamp", [x, g.node("Identity", [v])], mode="smooth", sharpness=4.0, axes=[1])], name="y")
    sign = signature({"x": (x, [1, 4])}, {"y": (y, [1, 4])})
    save_saved_model(folder / "net", meta_graph(g, {"serving_default": sign}))
    (folder / "net" / "variables").mkdir()
    save_bundle(folder / "net" / "variables" / "variables", {"v": np.ones(4, np.float32)})
    parts = ["saved_model.pb", "variables", "variables/variables.index", "variables/variables.data-00000-of-00001"]
    return "tensorflow-to-dlc", "net", ["net", *(f"net/{part}" for part in parts)]


def lay_out(base, write_model):
    """Folders for inputs, the output, and those where programs like to leave something."""
    for name in ("in", "out", "home", "tmp", "cwd"):
        (base / name).mkdir()
    name, model, files = write_model(base / "in")
    config = (SOURCE / "examples" / "ops.json").read_text()
    (base / "in" / "ops.json").write_text(config.replace('"domain": "com.example",', ""))
    (base / "in" / "rights.txt").write_text("all rights")
    args = [command(name), "-i", f"../in/{model}", "--udo_config_paths", "../in/ops.json", "--copyright_file",
            "../in/rights.txt", "-o", "../out/example.dlc", "--depfile", "../out/example.d"]
    environment = {**os.environ, "HOME": str(base / "home"), "TMPDIR": str(base / "tmp"), "XDG_CACHE_HOME": str(base / "home"),
                   "ASAN_OPTIONS": "detect_leaks=0"}  # which needs to be alone in tracing the process
    return args, environment, {f"in/{file}" for file in (*files, "ops.json", "rights.txt")}


def trees(checks, base, args, environment, _):
    before = tree(base)
    done = subprocess.run(args, cwd=base / "cwd", env=environment, capture_output=True, text=True, check=False)
    checks.equal(f"status {done.stderr}", done.returncode, 0)
    after = tree(base)
    checks.equal("new files", sorted(set(after) - set(before)), ["out/example.d", "out/example.dlc"])
    checks.equal("changed files", [name for name in before if after.get(name) != before[name]], [])


class Trace:
    def __init__(self, checks, base):
        self.checks, self.base, self.reads, self.writes, self.programs = checks, base, set(), set(), 0

    def place(self, path):
        """A path as the test's folders see it; None for the system's."""
        full = os.path.normpath(self.base / "cwd" / path)
        if full.startswith(str(self.base) + "/"):
            return os.path.relpath(full, self.base)
        return None if SYSTEM.match(path) else path

    def call(self, name, rest):
        found = PATH.findall(rest)
        if name.startswith("readlink"):  # what it gives is quoted, too
            found = found[:1]
        paths = [self.place(path) for path in found if path]
        paths = [path for path in paths if path]
        if name == "execve":
            self.programs += 1
        elif name in OPEN_CALLS:
            writing = re.search(r"O_(WRONLY|RDWR|CREAT|TMPFILE|TRUNC|APPEND)", rest)
            (self.writes if writing else self.reads).update(paths)
        elif name in WRITE_CALLS:
            self.writes.update(paths)
        elif name in READ_CALLS:
            self.reads.update(paths)
        elif name in ("clone", "clone3"):
            self.checks.check("clone makes a thread", "CLONE_THREAD" in rest, rest)
        elif name != "exit_group":
            self.checks.check(f"{name} is a call that is known", False, rest)


def traced(checks, base, args, environment, files):
    log = base.parent / (base.name + ".trace")
    done = subprocess.run([STRACE, "-f", "-o", log, "-e", "trace=%file,%network,%process", "-e", "signal=none", *args],
                          cwd=base / "cwd", env=environment, capture_output=True, text=True, check=False)
    if not log.exists() or "execve" not in log.read_text() or "PTRACE" in done.stderr:
        checks.skip("traced", f"strace cannot trace here: {done.stderr.strip()}")
        return
    trace = Trace(checks, base)
    for line in log.read_text().splitlines():
        match = CALL.match(line)
        if match and match[1] not in ("wait4", "exit", "arch_prctl"):
            trace.call(match[1], match[2])
    log.unlink()
    checks.equal("traced: status", done.returncode, 0)
    checks.equal("programs that were started", trace.programs, 1)
    checks.equal("written to", trace.writes, {"out", "out/example.dlc", "out/example.d"})
    found = trace.reads - trace.writes
    checks.check("read", found <= files and {name for name in files if (base / name).is_file()} <= found, found)


def main():
    checks = Checks()
    for write_model in (onnx_model, saved_model):
        if write_model is saved_model and np is None:
            checks.skip("TensorFlow models", "python3-numpy is not there")
            continue
        for part in (trees, traced):
            with tempfile.TemporaryDirectory() as name:
                base = pathlib.Path(name).resolve() / "base"
                base.mkdir()
                if part is traced and not STRACE:
                    checks.skip("traced", "strace is not installed")
                    continue
                part(checks, base, *lay_out(base, write_model))
    checks.finish()


main()
