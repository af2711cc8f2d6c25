# SPDX-License-Identifier: Apache-2.0
"""Standard streams that are closed, full, or read by nobody. What is asked for must arrive, or the status says so; the
container is right whatever becomes of the words about it."""

import os
import resource
import signal
import subprocess
import tempfile

from scene import ARGUMENTS, SIDE, Checks, Scene, onnx, patient, run, sanitized

CLOSED, FULL, NOBODY = ">&-", "/dev/full", "a pipe that nobody reads"
EXPECTED = {CLOSED: 1, FULL: 1, NOBODY: -signal.SIGPIPE}


def with_streams(scene, command, args, streams, **more):
    """{0: CLOSED, …} says what is wrong with which stream."""
    ends = []

    def opened(number, kind):
        if kind == FULL:
            ends.append(os.open(FULL, os.O_RDWR))
        elif kind == NOBODY:
            reader, writer = os.pipe()
            os.close(reader)
            ends.append(writer)
        else:
            return subprocess.DEVNULL if number == 0 else subprocess.PIPE
        return ends[-1]

    files = {name: opened(number, streams.get(number)) for number, name in enumerate(("stdin", "stdout", "stderr"))}

    def close():
        for number, kind in streams.items():
            if kind == CLOSED:
                os.close(number)

    done = run(scene.inputs, command, *args, capture_output=False, **files, preexec_fn=close, timeout=patient(60), **more)
    for end in ends:
        os.close(end)
    return done


def conversions(scene):
    kinds = (None, CLOSED, FULL, NOBODY)
    for streams in ({0: a, 1: b, 2: c} for a in (None, CLOSED) for b in kinds for c in kinds):
        label = f"converter with {streams}"
        for older in (False, True):
            scene.set_older(older)
            done = with_streams(scene, "onnx-to-dlc", ARGUMENTS, streams)
            scene.checks.equal(f"{label}: status", done.returncode, 0)
            scene.check_folder(label, True, older)
            scene.set_older(older)
            done = with_streams(scene, "onnx-to-dlc", ["-i", "ops.json", "-o", "out.dlc"], streams)
            scene.checks.equal(f"{label}: status of a failure", done.returncode, 1)
            scene.check_folder(label, False, older)


def numbers(scene):
    """With so few inputs, the output would get the number of a standard stream, and the summary would go into it."""
    m = onnx.Model()
    m.input("x", onnx.FLOAT, [1, SIDE])
    m.node("Relu", ["x"], ["y"])
    m.output("y", onnx.FLOAT, [1, SIDE])
    m.save(scene.inputs / "relu.onnx")
    found = []
    for closed in ((), (1,), (2,), (1, 2), (0, 1, 2)):
        done = with_streams(scene, "onnx-to-dlc", ["-i", "relu.onnx"], dict.fromkeys(closed, CLOSED))
        scene.checks.equal(f"streams {closed} are closed: status", done.returncode, 0)
        found.append((scene.inputs / "relu.dlc").read_bytes())
        (scene.inputs / "relu.dlc").unlink()
        scene.checks.check(f"streams {closed} are closed: the same bytes", found[-1] == found[0], len(found[-1]))


def reports(scene):
    """Commands whose report goes to standard output."""
    container = scene.inputs / "net.dlc"
    container.write_bytes(scene.container)
    (scene.inputs / "x.raw").write_bytes(bytes(4 * SIDE))
    (scene.inputs / "list.txt").write_text("x:=x.raw\n")
    run(scene.inputs, "onnx-to-dlc", "-i", "relu.onnx")
    dry = ["-i", "model.onnx", "-udo", "ops.json"]
    for command, args in (("dlc-info", ["-i", "net.dlc"]), ("dlc-info", ["-i", "net.dlc", "--json"]),
                          ("dlc-info", ["-i", "net.dlc", "--verify"]), ("dlc-viewer", ["-i", "net.dlc"]),
                          ("dlc-viewer", ["-i", "net.dlc", "--dot"]), ("udo-check", ["ops.json"]),
                          ("dlc-diff", ["-i1", "net.dlc", "-i2", "net.dlc"]),
                          ("dlc-diff", ["-i1", "net.dlc", "-i2", "relu.dlc"]), ("onnx-to-dlc", [*dry, "--dry_run"]),
                          ("net-run", ["--container", "relu.dlc", "--input_list", "list.txt"]),
                          *((name, [option]) for option in ("--help", "--version", "--completion=bash")
                            for name in ("onnx-to-dlc", "dlc-info", "dlc-viewer", "dlc-diff", "net-run", "udo-check"))):
        trouble = 2 if command == "dlc-diff" else 1
        for kind, expected in EXPECTED.items():
            label = f"{command} {' '.join(args)}, {kind}"
            expected = trouble if expected == 1 or command == "onnx-to-dlc" else expected
            done = with_streams(scene, command, args, {1: kind})
            scene.checks.equal(f"{label}: status", done.returncode, expected)
            if expected > 0:
                scene.checks.equal(f"{label}: one error {done.stderr}", done.stderr.count("error"), 1)
            done = with_streams(scene, command, args, {1: kind, 2: FULL}, restore_signals=False)
            scene.checks.equal(f"{label}: status without words and SIGPIPE", done.returncode, trouble)
    scene.checks.check("the container is as before", container.read_bytes() == scene.container)


# ---- other things that run out ----

def few_descriptors(scene):
    failed = 0
    for number in range(3, 20):
        for older in (False, True):
            label = f"{number} descriptors"
            scene.set_older(older)
            done = scene.convert(preexec_fn=lambda n=number: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
            if done.returncode == 127:
                continue  # not even the program's libraries could be opened
            scene.checks.check(f"{label}: status", done.returncode in (0, 1), f"{done.returncode} {done.stderr}")
            if done.returncode == 1:
                scene.checks.check(f"{label}: reason", "Too many open files" in done.stderr, done.stderr)
            failed += done.returncode
            scene.check_folder(label, done.returncode == 0, older)
    scene.checks.check("some were too few", failed > 2, failed)


def little_memory(scene):
    if sanitized():
        scene.checks.skip("little memory", "AddressSanitizer reserves more")
        return
    megabyte, statuses = 1 << 20, []

    def limited(size, *command):
        return run(scene.inputs, *command, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))

    least = next(size for size in range(2 * megabyte, 200 * megabyte, megabyte // 4)
                 if limited(size, "onnx-to-dlc", "--version").returncode == 0)
    for size in range(least, least + 24 * megabyte, megabyte // 3):
        label = f"{size} bytes of memory"
        scene.set_older(True)
        done = limited(size, "onnx-to-dlc", *ARGUMENTS)
        statuses.append(done.returncode)
        scene.checks.check(f"{label}: status", done.returncode in (0, 1), f"{done.returncode} {done.stderr}")
        if done.returncode == 1:
            scene.checks.check(f"{label}: reason", "emory" in done.stderr, done.stderr)
        scene.check_folder(label, done.returncode == 0, True)
    scene.checks.check("memory was too little, then enough", statuses[0] == 1 and statuses[-1] == 0, statuses)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(checks, folder)
        conversions(scene)
        few_descriptors(scene)
        little_memory(scene)
        numbers(scene)
        reports(scene)
    checks.finish()


main()
