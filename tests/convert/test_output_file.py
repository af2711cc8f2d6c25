# SPDX-License-Identifier: Apache-2.0
"""The container as a file: it is complete or it is not there, an older one outlives failures, and the same input gives
the same bytes."""

import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

from conversion import Workshop, chain, onnx, op_types, scaling, start_converter, udo
from checks import Checks, command, patient
from dlc_reader import read_container


def default_name(w):
    for name, expected in (("net.onnx", "net.dlc"), ("net.v2.onnx", "net.v2.dlc"), ("net", "net.dlc"),
                           ("folder.v1/net", "folder.v1/net.dlc"), ("a b.onnx", "a b.dlc")):
        folder = w.folder / f"default-{name.replace('/', '_')}"
        (folder / name).parent.mkdir(parents=True)
        chain("Relu").save(folder / name)
        done = w.converter("-i", name, cwd=folder)
        w.checks.equal(f"default name of {name}: {done.stderr}", done.returncode, 0)
        made = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        w.checks.equal(f"default name of {name}", made, sorted([name, expected]))
        w.checks.check(f"default name of {name}: named", expected in done.stderr, done.stderr)
        w.accepted(f"default name of {name}", folder / expected)


def model_is_safe(w):
    """The model itself is never the output, under whatever name."""
    model = w.save(chain("Relu"), "safe.dlc")
    before = model.read_bytes()
    os.symlink(model, w.folder / "link.dlc")
    for label, args in (("default name", []), ("-o", ["-o", model]), ("link", ["-o", w.folder / "link.dlc"]),
                        ("another spelling", ["-o", f"{w.folder}/./safe.dlc"])):
        done = w.converter("-i", model, *args)
        w.checks.equal(f"output is the model, {label}", done.returncode, 2)
        w.checks.check(f"output is the model, {label}: words", "is the model itself" in done.stderr, done.stderr)
        w.checks.check(f"output is the model, {label}: unharmed", model.read_bytes() == before)
    config = w.config(udo("Thing"))
    done = w.converter("-i", w.save(chain("Thing")), "-udo", config, "-o", config)
    w.checks.equal("output is the config", done.returncode, 2)
    w.checks.check("output is the config: unharmed", config.read_text().startswith("{"))
    w.checks.check("output is the config: words", "a file that the conversion reads" in done.stderr, done.stderr)


def entries(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def failures_leave_nothing(w):
    folder = w.folder / "failures"
    folder.mkdir()
    config = folder / "ops.json"
    config.write_text('{"UdoPackage_0": ')
    broken = folder / "broken.onnx"
    broken.write_bytes(b"\x0a\xff\xff\xff")
    (folder / "empty.onnx").write_bytes(b"")
    chain("Strange").save(folder / "strange.onnx")
    chain("Relu", dims=["N"]).save(folder / "open.onnx")
    for name in ("strange", "broken", "empty", "open", "missing"):
        out = folder / "out.dlc"
        before = entries(folder)
        done = w.converter("-i", folder / f"{name}.onnx", "-o", out)
        w.checks.equal(f"{name}: status", done.returncode, 1)
        w.checks.check(f"{name}: an error", "error:" in done.stderr and f"{name}.onnx" in done.stderr, done.stderr)
        w.checks.check(f"{name}: nothing new", entries(folder) == before)
        out.write_bytes(b"older container")
        done = w.converter("-i", folder / f"{name}.onnx", "-o", out)
        w.checks.equal(f"{name}: status beside an older one", done.returncode, 1)
        w.checks.equal(f"{name}: the older one", out.read_bytes(), b"older container")
        out.unlink()
    done = w.converter("-i", folder / "strange.onnx", "-udo", config, "-o", folder / "out.dlc")
    w.checks.check("bad config", done.returncode == 1 and not (folder / "out.dlc").exists(), done.stderr)
    done = w.converter("-i", folder / "strange.onnx", "-udo", folder / "none.json", "-o", folder / "out.dlc")
    w.checks.check("no config", done.returncode == 1 and "none.json" in done.stderr, done.stderr)


def bad_places(w):
    model = w.save(chain("Relu"))
    done = w.converter("-i", model, "-o", w.folder)
    w.checks.equal("output is a folder: status", done.returncode, 1)
    w.checks.check("output is a folder", "not a regular file" in done.stderr, done.stderr)
    done = w.converter("-i", model, "-o", w.folder / "nowhere" / "out.dlc")
    w.checks.equal("no such folder: status", done.returncode, 1)
    w.checks.check("no such folder", "No such file" in done.stderr, done.stderr)
    done = w.converter("-i", w.folder, "-o", w.folder / "out.dlc")
    w.checks.equal("model is a folder: status", done.returncode, 1)
    w.checks.check("model is a folder", "not a regular file" in done.stderr, done.stderr)
    done = w.converter("-i", model, "-o", w.folder / "kept.dlc", "--depfile", w.folder / "nowhere" / "d")
    w.checks.equal("no folder for the depfile: status", done.returncode, 1)
    pipe = w.folder / "pipe"
    os.mkfifo(pipe)
    done = w.converter("-i", model, "-o", pipe, timeout=patient(30))
    w.checks.equal("output is a pipe: status", done.returncode, 1)
    w.checks.check("output is a pipe: it stays", stat.S_ISFIFO(pipe.stat().st_mode))


def read_only(w):
    folder = w.folder / "sealed"
    folder.mkdir()
    model = w.save(chain("Relu"))
    (folder / "old.dlc").write_bytes(b"older")
    folder.chmod(0o555)
    try:
        # Whoever may write anyway (root) is made somebody else.
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        if prefix and not shutil.which("setpriv"):
            w.checks.skip("read-only folder", "no setpriv to become another user with")
            return
        w.folder.chmod(0o755)
        done = subprocess.run([*prefix, command("onnx-to-dlc"), "-i", model, "-o", folder / "new.dlc"],
                              capture_output=True, text=True, check=False)
        w.checks.equal("read-only folder: status", done.returncode, 1)
        w.checks.check("read-only folder: reason", "Permission denied" in done.stderr, done.stderr)
        w.checks.equal("read-only folder: content", [p.name for p in folder.iterdir()], ["old.dlc"])
    finally:
        folder.chmod(0o755)


def large_model(path, megabytes):
    """Matrices that keep the converter busy for a moment."""
    side = 1024
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [1, side])
    values = ["x", *(f"t{i}" for i in range(megabytes // 4))]
    for source, target in zip(values, values[1:]):
        m.tensor(f"{target}.w", onnx.FLOAT, [side, side], raw=bytes(4 * side * side))
        m.node("MatMul", [source, f"{target}.w"], [target])
    m.output(values[-1], onnx.FLOAT, [1, side])
    m.save(path)


def is_container(path):
    read_container(path, data=False)
    return True


def interrupt(w, model, number, delay, older):
    """Sends a signal to a conversion; true when it ended the conversion. Above an older file, a process that is killed
    in the instant between naming the new file and renaming it cannot clean up: only SIGKILL may leave that name."""
    out, label = model.with_suffix(".dlc"), f"{number.name} after {delay:.3f} s"
    out.unlink(missing_ok=True)
    if older:
        out.write_bytes(b"older container")
    running = start_converter("-i", model, "-o", out)
    time.sleep(delay)
    running.send_signal(number)
    status = running.wait()
    found = {path.name for path in model.parent.iterdir()}
    expected = {model.name, out.name} if older or out.exists() else {model.name}
    if older and number == signal.SIGKILL:
        found -= {name for name in found if name.endswith(".part")}
    w.checks.equal(f"{label}: files", found, expected)
    untouched = older and out.read_bytes() == b"older container"
    w.checks.check(f"{label}: the output is complete or untouched", untouched or not out.exists() or is_container(out))
    return status != 0


def interruptions(w):
    folder = w.folder / "killed"
    folder.mkdir()
    model = folder / "large.onnx"
    large_model(model, 64)
    began = time.monotonic()
    w.checks.equal("large model", start_converter("-i", model).wait(), 0)
    duration = time.monotonic() - began
    for older in (False, True):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            parts = (0.1, 0.4, 0.6, 0.8, 0.9, 1.0)
            interrupted = sum(interrupt(w, model, number, part * duration, older) for part in parts)
            delay = 0.1 * duration  # another process may have slowed the first run: then all came too late
            while not interrupted:
                delay /= 2
                interrupted += interrupt(w, model, number, delay, older)
    for path in folder.iterdir():
        path.unlink()


def custom_model():
    m = onnx.Model(domains=["test"])
    m.input("x", onnx.FLOAT, [1, 2, 4, 4])
    scaling(m, "x", "a")
    m.node("Thing", ["a"], ["b"], domain="test", alpha=1.5)
    scaling(m, "b", "y")
    m.output("y", onnx.FLOAT, [1, 2, 4, 4])
    return m


def same_bytes(w):
    one, two = w.folder / "place1", w.folder / "place2"
    results = []
    for folder in (one, one, two, two / "deep" / "er"):
        folder.mkdir(parents=True, exist_ok=True)
        custom_model().save(folder / "net.onnx")
        op = udo("Thing", "NCHW", scalar_params=[{"name": "alpha", "data_type": "FLOAT_32"}])
        shop = Workshop(w.checks, folder)
        shop.config(op)
        time.sleep(0.01)
        done = w.converter("-i", "net.onnx", "-udo", "ops.json", cwd=folder)
        w.checks.equal(f"in {folder.name}: {done.stderr}", done.returncode, 0)
        results.append((folder / "net.dlc").read_bytes())
    w.checks.check("the same bytes everywhere", len(set(results)) == 1)
    elsewhere = {**os.environ, "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    done = w.converter("-i", "net.onnx", "-udo", "ops.json", cwd=one, env=elsewhere)
    w.checks.check("the same bytes in another time zone", (one / "net.dlc").read_bytes() == results[0], done.stderr)
    done = w.converter("-i", "net.onnx", "-udo", "ops.json", "-o", two / "net.dlc", cwd=one)
    w.checks.check("the same bytes elsewhere", (two / "net.dlc").read_bytes() == results[0], done.stderr)
    w.accepted("same bytes", one / "net.dlc")
    container = read_container(one / "net.dlc")
    w.checks.equal("same bytes: ops", op_types(container), ["Conv2d", "Transpose", "Thing", "Transpose", "Conv2d"])


def replaces(w):
    """A link keeps pointing, or is replaced by the file; either way the name leads to the container."""
    out = w.folder / "replaced.dlc"
    out.write_bytes(b"older")
    model = w.save(chain("Relu"))
    w.checks.equal("replaces", w.converter("-i", model, "-o", out).returncode, 0)
    w.accepted("replaces", out)
    mask = os.umask(0)
    os.umask(mask)
    w.checks.equal("permissions are a new file's", stat.S_IMODE(out.stat().st_mode), 0o666 & ~mask)
    os.symlink(pathlib.Path("replaced.dlc"), w.folder / "dangling.dlc")
    w.checks.equal("through a link", w.converter("-i", model, "-o", w.folder / "dangling.dlc").returncode, 0)
    w.accepted("through a link", w.folder / "dangling.dlc")


def main():
    checks = Checks()
    parts = (default_name, model_is_safe, failures_leave_nothing, bad_places, read_only, interruptions, same_bytes,
             replaces)
    with tempfile.TemporaryDirectory() as folder:
        w = Workshop(checks, folder)
        for part in parts:
            if len(sys.argv) < 2 or part.__name__ in sys.argv[1:]:
                part(w)
    checks.finish()


main()
