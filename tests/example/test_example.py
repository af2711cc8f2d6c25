# SPDX-License-Identifier: Apache-2.0
"""The example of README, end to end: converted, read by a reader of its own, executed up to its UDO and, with the package of
its UDO, to the end, and compared with a naive computation; converted twice, the same bytes; README's commands, one by one."""

import filecmp
import math
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import dlc_tools  # noqa: E402
from checks import SOURCE, Checks, run  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from session import console_commands, environment, printed, same  # noqa: E402

EXAMPLES = SOURCE / "examples"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SIZE, OUT, CHANNELS_IN, CHANNELS_OUT = 16, 8, 3, 8


def floats(data):
    return struct.unpack(f"<{len(data) // 4}f", data)


def naive_features(image, weight, bias):
    """Relu(Conv 3x3, stride 2, padding 1), image and result channels-last, weight as the container has it: HWIO."""
    out = []
    for y in range(OUT):
        for x in range(OUT):
            for o in range(CHANNELS_OUT):
                total = bias[o]
                for ky in range(3):
                    for kx in range(3):
                        iy, ix = 2 * y + ky - 1, 2 * x + kx - 1
                        if 0 <= iy < SIZE and 0 <= ix < SIZE:
                            for i in range(CHANNELS_IN):
                                w = weight[((ky * 3 + kx) * CHANNELS_IN + i) * CHANNELS_OUT + o]
                                total += image[(iy * SIZE + ix) * CHANNELS_IN + i] * w
                out.append(max(total, 0.0))
    return out


def check_files(checks, folder):
    """The files in examples/ are what their generator writes."""
    subprocess.run([sys.executable, EXAMPLES / "make_example.py", folder], check=True)
    for name in ("example.onnx", "image.raw", "inputs.txt"):
        checks.check(f"examples/{name} is generated", filecmp.cmp(EXAMPLES / name, folder / name, shallow=False))


def convert(checks, label, out, *more):
    done = run("onnx-to-dlc", "-i", "example.onnx", "--udo_config_paths", "ops.json", "-o", out, *more, cwd=EXAMPLES)
    if not checks.check(f"{label}: converts", done.returncode == 0, done.stderr):
        checks.finish()
    for tool, accepts in ((dlc_tools.UNZIP, dlc_tools.unzip_accepts), (dlc_tools.FLATC, dlc_tools.flatc_decodes)):
        if tool:
            checks.equal(f"{label}: {pathlib.Path(tool).name}", accepts(out), None)
        else:
            checks.skip(f"{label}: {accepts.__name__}", "the tool is not installed")
    return read_container(out)


def check_container(checks, label, c):
    checks.equal(f"{label}: entries", c.entries, ["dlc.metadata", "model", "model.params"])
    expected = ["Conv2d", "Neuron", "SoftClamp", "Pool", "Reshape", "FullyConnected", "Softmax"]
    checks.equal(f"{label}: ops", [op.type for op in c.ops], expected)
    udo = next(op for op in c.ops if op.type == "SoftClamp")
    checks.equal(f"{label}: package", udo.package, "ExampleOps")
    checks.equal(f"{label}: sharpness", (udo.params["sharpness"].dtype, udo.params["sharpness"].value), ("FLOAT_32", 4.0))
    checks.equal(f"{label}: mode", udo.params["mode"].value, "smooth")
    checks.equal(f"{label}: axes", udo.params["axes"].tensor.data, struct.pack("<2i", 2, 3))
    limit = c.tensors[udo.inputs[1]]
    checks.equal(f"{label}: limit", (limit.kind, limit.dims), ("STATIC", [1, 1, 1, 8]))
    checks.equal(f"{label}: limit's data", floats(limit.data), tuple(0.5 + 0.25 * i for i in range(8)))


def check_run(checks, container, dlc, folder):
    arguments = ["--container", dlc, "--input_list", "inputs.txt", "--output_dir", folder / "run"]
    done = run("net-run", *arguments, "--set_output_tensors", "features", cwd=EXAMPLES)
    if not checks.check("net-run computes what comes before the UDO", done.returncode == 0, done.stderr):
        return
    found = floats((folder / "run" / "Result_0" / "features.raw").read_bytes())
    conv = container.ops[0]
    weight, bias = (floats(container.tensors[name].data) for name in conv.inputs[1:3])
    expected = naive_features(floats((EXAMPLES / "image.raw").read_bytes()), weight, bias)
    checks.equal("number of features", len(found), len(expected))
    worst = max(abs(a - b) for a, b in zip(found, expected))
    checks.check("features", worst < 1e-5 * max(expected), f"largest difference {worst}")
    done = run("net-run", *arguments, cwd=EXAMPLES)
    checks.equal("net-run cannot run the UDO: status", done.returncode, 1)
    for word in ("SoftClamp", "ExampleOps"):
        checks.check(f"net-run names {word}", word in done.stderr, done.stderr)


def naive_scores(container):
    """Softmax(W * mean(limit * tanh(4 * features)) + b)."""
    def data(name):
        return floats(container.tensors[name].data)

    conv, fc = container.ops[0], next(op for op in container.ops if op.type == "FullyConnected")
    features = naive_features(floats((EXAMPLES / "image.raw").read_bytes()), *map(data, conv.inputs[1:3]))
    pooled = [sum((0.5 + 0.25 * c) * math.tanh(4 * x) for x in features[c::CHANNELS_OUT]) / (OUT * OUT)
              for c in range(CHANNELS_OUT)]
    weight, bias = map(data, fc.inputs[1:3])
    logits = [b + sum(weight[i * CHANNELS_OUT + c] * pooled[c] for c in range(CHANNELS_OUT)) for i, b in enumerate(bias)]
    total = sum(map(math.exp, logits))
    return [math.exp(logit) / total for logit in logits]


def readme_sessions():
    """(folder, [(command, lines that it prints)]) of the sessions that README shows; each begins by changing to its folder."""
    for _, block in FENCED.findall((SOURCE / "README.md").read_text()):
        if block.startswith("$ "):
            (change, _), *commands = console_commands(block)
            yield change.removeprefix("cd "), commands


def check_readme(checks, container, folder):
    """README's commands print what README says, and its scores are those of the naive computation."""
    if not shutil.which("make") or not (shutil.which("clang++") or shutil.which("c++")):
        checks.skip("README's commands", "make or a C++ compiler is not installed")
        return
    place = folder / "readme" / "examples"
    shutil.copytree(EXAMPLES, place, ignore=shutil.ignore_patterns("*.dlc", "ExampleOps", "output", "__pycache__"))
    env = environment(folder)
    folders = []
    for name, commands in readme_sessions():
        folders.append(name)
        for command, lines in commands:
            found, expected = printed(command, place.parent / name, env)[1], "\n".join(lines)
            checks.check(f"README: {command}", same(found, expected), f"{found}\nand not\n{expected}")
    checks.equal("README's sessions", folders, ["examples/digits", "examples"])
    scores, expected = floats((place / "output/Result_0/scores.raw").read_bytes()), naive_scores(container)
    checks.check("README: scores", len(scores) == 5 and all(abs(a - b) < 1e-6 for a, b in zip(scores, expected)),
                 f"{scores} instead of {expected}")
    written = [float(line) for line in (EXAMPLES / "example-scores.txt").read_text().split()]
    checks.check("example-scores.txt", len(written) == 5 and all(abs(a - b) < 1e-7 for a, b in zip(written, expected)), written)
    check_near(checks, place / "digits" / "output" / "Result_0" / "scores.raw", folder, env)


def check_near(checks, found, folder, env):
    """near.py sees numbers that differ, and others than were asked for."""
    numbers = (EXAMPLES / "digits" / "digit-onnxruntime.txt").read_text().split()
    for label, lines in (("one number differs", [*numbers[:9], str(float(numbers[9]) + 1e-3)]), ("one is missing", numbers[:9])):
        (folder / "expected.txt").write_text("\n".join(lines))
        status, text = printed(f"python3 {EXAMPLES / 'near.py'} {found} {folder / 'expected.txt'}", folder, env)
        checks.check(f"near.py: {label}", status == 1 and "near.py: " in text, text)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        check_files(checks, folder)
        container = convert(checks, "NR64", folder / "a.dlc")
        check_container(checks, "NR64", container)
        check_container(checks, "NETP", convert(checks, "NETP", folder / "n.dlc", "--params_format", "netp"))
        (folder / "again").mkdir()
        convert(checks, "again", folder / "again" / "a.dlc")
        same = filecmp.cmp(folder / "a.dlc", folder / "again" / "a.dlc", shallow=False)
        checks.check("the same bytes twice", same)
        check_run(checks, container, folder / "a.dlc", folder)
        check_readme(checks, container, folder)
    checks.finish()


main()
