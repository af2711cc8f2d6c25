# SPDX-License-Identifier: Apache-2.0
"""What docs/build-jobs.md shows works: its files are written, its commands are run, and the build systems convert what has
changed and nothing else. Programs that are not installed are skipped."""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks, command, run  # noqa: E402
from job_models import clamp_config, clamp_model, external_model, plain_model  # noqa: E402

GUIDE = SOURCE / "docs" / "build-jobs.md"
BLOCK = re.compile(r"(?:File `([^`]+)`:\n\n)?```(\w+)\n(.*?)```\n", re.DOTALL)
NAMES = ["clamp", "external", "plain"]
WRAPPER = '#!/bin/sh\necho "$*" >>"$CALLS"\nexec "{converter}" "$@"\n'


class Section:
    """A section of the guide in a folder of its own: its files, its commands, and a converter that notes its calls."""

    def __init__(self, checks, folder, title, text):
        self.checks, self.title, self.folder = checks, title, folder / re.sub(r"\W", "-", title)
        self.folder.mkdir()
        self.models = self.folder / "models"
        self.models.mkdir()
        plain_model(self.models / "plain.onnx")
        external_model(self.models / "external.onnx", "external.weights")
        clamp_model(self.models / "clamp.onnx")
        clamp_config(self.models / "clamp.ops.json", 0.5)
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "onnx-to-dlc").write_text(WRAPPER.format(converter=command("onnx-to-dlc")))
        (tools / "onnx-to-dlc").chmod(0o755)
        self.calls = self.folder / "calls"
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "CALLS": str(self.calls)}
        self.commands, self.files = [], []
        for name, kind, content in BLOCK.findall(text):
            if name:
                (self.folder / name).parent.mkdir(exist_ok=True)
                (self.folder / name).write_text(content)
                self.files.append(name)
            else:
                checks.equal(f"{title}: a block without a file name is for the shell", kind, "sh")
                self.commands.append(content)

    def run(self, label, script, **variables):
        done = subprocess.run(["sh", "-eu", "-c", script], cwd=self.folder, env={**self.environment, **variables},
                              capture_output=True, text=True, check=False)
        self.checks.equal(f"{self.title}, {label}: status {done.stdout}{done.stderr}", done.returncode, 0)
        return done.stdout

    def converted(self):
        """The models that were converted since the last time, in order of names."""
        calls = self.calls.read_text() if self.calls.exists() else ""
        self.calls.unlink(missing_ok=True)
        return sorted(re.findall(r"-i \S*?(\w+)\.onnx", calls))

    def rebuilds(self, label, script, containers, **variables):
        """The script converts all models; again, none; and after a change only what it concerns."""
        self.run(label, script, **variables)
        self.checks.equal(f"{self.title}, {label}: first", self.converted(), NAMES)
        for name in NAMES:
            self.checks.equal(f"{self.title}, {label}: {name}",
                              run("dlc-info", "-i", self.folder / containers / f"{name}.dlc").returncode, 0)
        self.run(label, script, **variables)
        self.checks.equal(f"{self.title}, {label}: nothing changed", self.converted(), [])
        weights = struct.pack("<2f", 17, 18)
        (self.models / "external.weights").write_bytes(weights)
        self.run(label, script, **variables)
        self.checks.equal(f"{self.title}, {label}: external data changed", self.converted(), ["external"])
        data = (self.folder / containers / "external.dlc").read_bytes()
        self.checks.check(f"{self.title}, {label}: it is in there", weights in data)
        clamp_config(self.models / "clamp.ops.json", 0.25)
        self.run(label, script, **variables)
        self.checks.equal(f"{self.title}, {label}: config changed", self.converted(), ["clamp"])
        (self.models / "external.weights").write_bytes(struct.pack("<2f", 1, 2))


def has(section, program):
    if shutil.which(program):
        return True
    section.checks.skip(section.title, f"{program} is not installed")
    return False


def ninja(section):
    if has(section, "ninja"):
        section.rebuilds("ninja", section.commands[0], "out")


def make(section):
    if has(section, "make"):
        section.rebuilds("make", section.commands[0], "out")


def cmake(section):
    if not has(section, "cmake"):
        return
    for generator, program in (("Ninja", "ninja"), ("Unix Makefiles", "make")):
        if has(section, program):
            shutil.rmtree(section.folder / "out", ignore_errors=True)
            section.rebuilds(generator, section.commands[0], "out", GENERATOR=generator)


def bazel(section):
    program = os.environ.get("ODLC_BAZEL") or shutil.which("bazel")
    if not program:
        section.checks.skip(section.title, "bazel is not installed")
        return
    for name in ("WORKSPACE", "MODULE.bazel", "BUILD.bazel"):
        (section.folder / name).touch()
    shutil.copy(command("onnx-to-dlc"), section.folder / "tools" / "onnx-to-dlc")
    by_hand = section.folder / "by-hand"
    by_hand.mkdir()
    start = f"'{program}' --output_user_root='{section.folder}.root' "
    build = f"{start} build //models:all --disk_cache='{section.folder}.cache' 2>&1"
    section.run("build", build)
    out = section.folder / "bazel-bin" / "models"
    for name, options in (("plain", ""), ("external", ""), ("clamp", "--udo_config_paths models/clamp.ops.json")):
        section.run("by hand", f"tools/onnx-to-dlc -q -i models/{name}.onnx {options} -o by-hand/{name}.dlc")
        section.checks.check(f"Bazel: {name} has the bytes of a conversion by hand",
                             (out / f"{name}.dlc").read_bytes() == (by_hand / f"{name}.dlc").read_bytes())
    (section.models / "external.weights").write_bytes(struct.pack("<2f", 17, 18))
    section.run("build", build)
    section.checks.check("Bazel: external data changed", struct.pack("<2f", 17, 18) in (out / "external.dlc").read_bytes())
    section.run("clean", f"{start} clean 2>&1")
    section.checks.check("Bazel: the cache has them", "cache hit" in section.run("build", build))
    section.run("shutdown", f"{start} shutdown 2>&1")
    section.run("remove", f"chmod -R u+w '{section.folder}.root'; rm -rf '{section.folder}.root'")


def caches(section):
    for label, change, expected in (("first", None, ["external"]), ("again", None, []),
                                    ("external data", lambda: (section.models / "external.weights").write_bytes(bytes(8)),
                                     ["external"]),
                                    ("the old data", lambda: external_model(section.models / "external.onnx",
                                                                            "external.weights"), [])):
        if change:
            change()
        (section.folder / "out" / "external.dlc").unlink(missing_ok=True)
        section.run(label, section.commands[0], DLC_CACHE=str(section.folder / "cache"))
        section.checks.equal(f"cache, {label}: converted", section.converted(), expected)
        made = (section.folder / "out" / "external.dlc").read_bytes()
        data = (section.models / "external.weights").read_bytes()
        section.checks.check(f"cache, {label}: the container", data in made)
    section.checks.equal("cache: entries", len(list((section.folder / "cache").iterdir())), 2)


def fleets(section):
    """All shares of a job are converted, each model once; a task that is started again has nothing to do."""
    section.run("list", section.commands[0])
    section.checks.equal("fleet: list", (section.folder / "models.txt").read_text().split(),
                         [f"models/{name}.onnx" for name in NAMES])
    slurm = (section.folder / "convert.slurm").read_text()
    first, last = map(int, re.search(r"--array=(\d+)-(\d+)", slurm).groups())
    section.checks.equal("Slurm: the array begins at 0", first, 0)
    tasks = {"Slurm": (last + 1, "sh convert.slurm", "SLURM_ARRAY_TASK_ID", {"SLURM_ARRAY_TASK_COUNT": str(last + 1)})}
    try:
        import yaml
        job = yaml.safe_load((section.folder / "convert-job.yaml").read_text())["spec"]
        section.checks.equal("Kubernetes: completions", (job["completionMode"], job["parallelism"]),
                             ("Indexed", job["completions"]))
        words = job["template"]["spec"]["containers"][0]["command"]
        section.checks.check("Kubernetes: the share", words[2].endswith(f" {job['completions']}"), words)
        tasks["Kubernetes"] = (job["completions"], f"{words[0]} {words[1]} '{words[2]}'", "JOB_COMPLETION_INDEX", {})
    except ImportError:
        section.checks.skip("Kubernetes", "Python has no module yaml")
    for label, (count, script, index, variables) in tasks.items():
        shutil.rmtree(section.folder / "containers", ignore_errors=True)
        for expected in (NAMES, []):
            for task in range(count):
                section.run(f"{label}, task {task}", script, **{index: str(task)}, **variables)
            section.checks.equal(f"{label}: converted", section.converted(), expected)
        section.checks.equal(f"{label}: containers", sorted(path.stem for path in (section.folder / "containers").iterdir()),
                             NAMES)
    (section.models / "plain.onnx").write_bytes(b"broken")
    (section.folder / "containers" / "plain.dlc").unlink()
    codes = [subprocess.run(["sh", "./convert-share.sh", str(task), "3"], cwd=section.folder, env=section.environment,
                            capture_output=True, check=False).returncode for task in range(3)]
    section.checks.equal("fleet: a model that fails is told", sorted(codes), [0, 0, 1])


def array_tasks(section):
    """{label: (number of tasks, what each runs, the variable with its number, other variables)}"""
    last = int(re.search(r"--array=0-(\d+)", (section.folder / "calibrate.slurm").read_text()).group(1))
    tasks = {"Slurm": (last + 1, ["sh", "calibrate.slurm"], "SLURM_ARRAY_TASK_ID", {"SLURM_ARRAY_TASK_COUNT": str(last + 1)})}
    try:
        import yaml
        job = yaml.safe_load((section.folder / "calibrate-job.yaml").read_text())["spec"]
        words = job["template"]["spec"]["containers"][0]["command"]
        section.checks.check("Kubernetes: parts", f"/{job['completions']}\"" in words[2], words)
        tasks["Kubernetes"] = (job["completions"], words, "JOB_COMPLETION_INDEX", {})
    except ImportError:
        section.checks.skip("Kubernetes", "Python has no module yaml")
    return tasks


def quantizations(section):
    """Parts that are observed by themselves give the bytes of a single run."""
    (section.folder / "tools" / "dlc-quantize").symlink_to(command("dlc-quantize"))
    section.run("convert", "onnx-to-dlc -q -i models/plain.onnx -o net.dlc")
    for i in range(23):
        (section.folder / f"in{i}.raw").write_bytes(struct.pack("<2f", i / 7, -i / 3))
    (section.folder / "inputs.txt").write_text("".join(f"in{i}.raw\n" for i in range(23)))
    options = re.search(r"^options = (.*)$", (section.folder / "calibrate.ninja").read_text(), re.MULTILINE).group(1)
    section.run("whole", f"dlc-quantize --input_dlc net.dlc --input_list inputs.txt {options} --output_dlc whole.dlc")
    whole = (section.folder / "whole.dlc").read_bytes()
    for label, (count, words, index, variables) in array_tasks(section).items():
        shutil.rmtree(section.folder / "statistics", ignore_errors=True)
        for task in range(count):
            environment = {**section.environment, **variables, index: str(task)}
            for again in range(2):
                done = subprocess.run(words, cwd=section.folder, env=environment, capture_output=True, text=True, check=False)
                section.checks.equal(f"{label}: task {task}, {again}", (done.returncode, done.stderr), (0, ""))
        section.run(f"{label}, merge", "sh merge.sh")
        section.checks.check(f"{label}: bytes", (section.folder / "net_quantized.dlc").read_bytes() == whole)
        (section.folder / "net_quantized.dlc").unlink()
    if has(section, "ninja"):
        section.run("ninja", "ninja -f calibrate.ninja")
        section.checks.check("ninja: bytes", (section.folder / "net_ninja.dlc").read_bytes() == whole)
        section.checks.check("ninja: then nothing", "no work" in section.run("ninja again", "ninja -f calibrate.ninja"))


SECTIONS = {"Ninja": ninja, "Make": make, "CMake": cmake, "Bazel": bazel, "Caches": caches, "Fleets": fleets,
            "Quantizations": quantizations}


def main():
    checks = Checks()
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", GUIDE.read_text(), re.MULTILINE | re.DOTALL))
    with_blocks = [title for title, text in sections.items() if "```" in text]
    checks.equal("sections with something to run", with_blocks, list(SECTIONS))
    with tempfile.TemporaryDirectory() as folder:
        for title, part in SECTIONS.items():
            if len(sys.argv) < 2 or title in sys.argv[1:]:
                part(Section(checks, pathlib.Path(folder), title, sections[title]))
    checks.finish()


main()
