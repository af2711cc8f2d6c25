# SPDX-License-Identifier: Apache-2.0
"""net-run on the GPU: --use_gpu, --config_file with all its keys and mistakes, --perf_hint, and no device."""

import json
import os
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import schema  # noqa: E402
from checks import SHARED, SOURCE, Checks, run  # noqa: E402

CONTAINER = SHARED / "corpus" / "dlc" / "add2_float.v2.dlc"
ALL_KEYS = {"graph_names": [], "precision_mode": "hybrid", "disable_memory_optimizations": True,
            "disable_node_optimizations": True, "disable_queue_recording": True, "perf_hint": "low", "priority": "normal",
            "weight_sharing": True}


class Bench:
    def __init__(self, checks, folder):
        self.checks, self.folder = checks, folder
        (folder / "x.raw").write_bytes(struct.pack("<f", 40.0))
        (folder / "list.txt").write_text(f"{folder / 'x.raw'}\n")
        shown = run("dlc-info", "-i", CONTAINER, "--json")
        self.graph = json.loads(shown.stdout)["graphs"][0]["name"] if shown.returncode == 0 else ""

    def config(self, content, name="gpu.json"):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def run(self, *args):
        return run("net-run", "--container", CONTAINER, "--input_list", self.folder / "list.txt",
                   "--output_dir", self.folder / "out", *args)

    def computes(self, name, *args, says=()):
        result = self.folder / "out" / "Result_0" / "Identity.raw"
        result.unlink(missing_ok=True)
        done = self.run(*args)
        self.checks.equal(f"{name}: status", done.returncode, 0)
        self.checks.equal(f"{name}: value", struct.unpack("<f", result.read_bytes()) if result.exists() else None, (42.0,))
        for word in says:
            self.checks.check(f"{name} says '{word}'", word in done.stderr, done.stderr)
        self.checks.check(f"{name} says no more", says or not done.stderr, done.stderr)
        return done

    def fails(self, name, status, words, *args):
        done = self.run(*args)
        self.checks.equal(f"{name}: status", done.returncode, status)
        for word in words:
            self.checks.check(f"{name} says '{word}'", word in done.stderr, done.stderr)


def selections(b):
    done = b.computes("use_gpu", "--use_gpu", "--explain")
    b.checks.check("the GPU executes", "gpu " in done.stdout, done.stdout)
    b.computes("backend gpu", "--backend", "gpu", "--perf_hint", "normal")
    b.fails("two choices", 2, ["--use_gpu and --backend"], "--use_gpu", "--backend", "cpu")
    b.fails("two choices", 2, ["--use_gpu_fp16 and --backend"], "--use_gpu_fp16", "--backend", "cpu")
    b.fails("no hint", 2, ["'fast' is none", "high, normal or low"], "--use_gpu", "--perf_hint", "fast")
    b.fails("no priority", 2, ["'first' is none", "high, normal or low"], "--use_gpu", "--priority_hint", "first")
    # PoCL has no priorities: one note, where one is asked for.
    b.computes("normal priority", "--use_gpu", "--priority_hint", "normal")
    for name, more in (("option", ["--priority_hint", "high"]),
                       ("file", ["--config_file", b.config({"priority": "low"})])):
        done = b.computes(f"priority by {name}", "--use_gpu", *more, "--iterations", "2",
                          says=["note: the priority has no effect", "cl_khr_priority_hints"])
        b.checks.equal(f"priority by {name}: one note", done.stderr.count("note"), 1)
    b.computes("the option comes before the file", "--use_gpu", "--priority_hint", "normal", "--config_file",
               b.config({"priority": "low"}))
    b.computes("a priority without the GPU", "--priority_hint", "high", says=["--priority_hint has no effect"])
    b.fails("a hint without the GPU", 2, ["--perf_hint is for the GPU", "--use_gpu"], "--perf_hint", "low")


def half_precision(b):
    """--use_gpu_fp16 keeps inner tensors in float16: other digits of a network, and not many of them."""
    digits = SOURCE / "examples" / "digits"
    container = b.folder / "digits.dlc"
    b.checks.equal("digits: status", run("onnx-to-dlc", "-i", digits / "digits.onnx", "-o", container).returncode, 0)
    (b.folder / "digits.txt").write_text(f"{digits / 'digit.raw'}\n")
    scores = {}
    for name, *more in (("float32", "--use_gpu"), ("float16", "--use_gpu_fp16"),
                        ("option", "--use_gpu_fp16", "--config_file",
                         b.config({"graph_names": ["digits"], "precision_mode": "fp32"}))):
        done = run("net-run", "--container", container, "--input_list", b.folder / "digits.txt", "--output_dir",
                   b.folder / "out", *more)
        b.checks.equal(f"{name}: status", done.returncode, 0)
        # PoCL has no arithmetic in half, and neither has NVIDIA's driver: one note, where that is asked for.
        b.checks.equal(f"{name}: notes", [words in done.stderr for words in ("note: ", "computed as float32")],
                       2 * ["fp16" in more[0]])
        scores[name] = struct.unpack("<10f", (b.folder / "out" / "Result_0" / "scores.raw").read_bytes())
    largest = max(map(abs, scores["float32"]))
    apart = max(abs(a - b) for a, b in zip(scores["float32"], scores["float16"])) / largest
    b.checks.check("float16 is near, and not the same", 1e-5 < apart < 1e-2, apart)
    b.checks.equal("the option comes before the file", scores["option"], scores["float16"])


def files(b):
    kept = b.folder / "kernels"
    kept.mkdir()
    keys = ALL_KEYS | {"graph_names": [b.graph], "kernel_repo_path": str(kept)}
    options = b.config(keys)
    b.computes("all keys", "--use_gpu", "--config_file", options)
    b.checks.equal("kernels are kept", [p.name for p in kept.iterdir()], ["gpukernelcache.opendlc"])
    (kept / "gpukernelcache.opendlc").unlink()
    (b.folder / "list.txt").write_text(f"{b.folder / 'x.raw'}\n{b.folder / 'absent.raw'}\n")
    b.fails("an inference without its file", 1, ["absent.raw"], "--use_gpu", "--config_file", options)
    (b.folder / "list.txt").write_text(f"{b.folder / 'x.raw'}\n")
    b.checks.equal("kernels are kept all the same", [p.name for p in kept.iterdir()], ["gpukernelcache.opendlc"])
    outer = b.config({"backend_extensions": {"shared_library_path": "libGpuNetRunExtensions.so",
                                             "config_file_path": str(options)}}, "outer.json")
    b.computes("a file that names another", "--use_gpu", "--config_file", outer)
    b.computes("no keys", "--use_gpu", "--config_file", b.config({}))
    b.computes("weights of their own", "--use_gpu", "--config_file", b.config({"weight_sharing": False}),
               says=["warning", "share the weights"])
    b.computes("unknown key", "--use_gpu", "--config_file", b.config({"perf_hnt": "low"}),
               says=["warning", "unknown key 'perf_hnt'", "did you mean 'perf_hint'?"])
    b.computes("missing folder", "--use_gpu", "--config_file", b.config({"kernel_repo_path": str(b.folder / "no")}),
               says=["warning", "kernels are not kept"])
    b.computes("a folder of the system", "--use_gpu", "--config_file", b.config({"kernel_repo_path": "/proc"}),
               says=["warning", "kernels are not kept"])


def mistakes(b):
    for key in ("precision_mode", "disable_memory_optimizations", "disable_node_optimizations",
                "disable_queue_recording"):
        b.fails(f"{key} without graphs", 1, [f"'{key}' is an option of graphs, and needs 'graph_names'", "gpu.json:1:2"],
                "--use_gpu", "--config_file", b.config({key: ALL_KEYS[key]}))
    b.fails("another graph", 2, ["there is no graph 'other'", f"there is a graph '{b.graph}'", "gpu.json:1:"],
            "--use_gpu", "--config_file", b.config({"graph_names": [b.graph, "other"]}))
    for key, value, words in (("graph_names", "net", "must be an array"), ("graph_names", [], "must be an array"),
                              ("graph_names", [1], "must be a string"), ("precision_mode", "fp8", "cannot be 'fp8'"),
                              ("precision_mode", "", "is empty"), ("precision_mode", 16, "must be a string"),
                              ("perf_hint", True, "must be a string"), ("perf_hint", "burst", "cannot be 'burst'"), ("priority", "first", "cannot be 'first'"),
                              ("kernel_repo_path", 1, "must be a string"), ("weight_sharing", 1, "must be true or false"),
                              ("disable_queue_recording", "yes", "must be true or false")):
        b.fails(f"{key} {value}", 1, [words, f"'{key}'" if key != "graph_names" else "name", "gpu.json:1:"],
                "--use_gpu", "--config_file", b.config({"graph_names": [b.graph], key: value}))
    b.fails("no JSON", 1, ["gpu.json:1"], "--use_gpu", "--config_file", b.config("{"))
    b.fails("no object", 1, ["must be an object"], "--use_gpu", "--config_file", b.config("[]"))
    b.fails("no file", 1, ["nowhere.json"], "--use_gpu", "--config_file", b.folder / "nowhere.json")
    b.fails("no inner path", 1, ["'config_file_path' is missing"], "--use_gpu", "--config_file",
            b.config({"backend_extensions": {}}))
    inner = b.config({"backend_extensions": {"config_file_path": "x"}}, "inner.json")
    b.fails("a circle", 1, ["names no other"], "--use_gpu", "--config_file",
            b.config({"backend_extensions": {"config_file_path": str(inner)}}))


def caches(b):
    """Options and keys of context caches and of tuning; what they do, test_gpu_cache and test_gpu_tuning show."""
    kept, tuned = b.folder / "net.cache", b.folder / "tuned"
    tuned.mkdir()
    b.computes("a context cache", "--use_gpu", "--context_cache", kept)
    written = kept.read_bytes()
    b.computes("a start from it", "--use_gpu", "--context_cache", kept, "--perf_hint", "low")
    b.checks.check("it stays as it is", kept.read_bytes() == written)
    b.computes("it is made anew", "--use_gpu", "--context_cache", kept, "--rebuild_context_cache", "--perf_hint", "low")
    b.checks.check("with other options in it", kept.read_bytes() != written)
    kept.write_bytes(written[:1000])
    b.computes("a damaged one", "--use_gpu", "--context_cache", kept, says=["warning", "is damaged", "is replaced"])
    b.computes("its successor", "--use_gpu", "--context_cache", kept)
    b.fails("a cache without the GPU", 2, ["--context_cache is for the GPU"], "--context_cache", kept)
    b.fails("no cache to rebuild", 2, ["no context cache is named"], "--use_gpu", "--rebuild_context_cache")
    done = b.computes("tuning", "--use_gpu", "--enable_tuning_mode", "--performance_cache_dir", tuned)
    for words in ("usual us  tuned us", "all that was tuned: ", "s of 60.0 s: ", "0 left for lack of time"):
        b.checks.check(f"the report has '{words}'", words in done.stdout, done.stdout)
    rules = json.loads((SOURCE / "docs" / "gpu-performance.schema.json").read_text())
    files = list(tuned.iterdir())
    b.checks.equal("one file is kept", [(p.name[:15], p.suffix) for p in files], [("gpuperformance.", ".json")])
    b.checks.equal("its schema", schema.check(json.loads(files[0].read_text()), rules), [])
    keys = {"enable_tuning_mode": True, "performance_cache_dir": str(tuned), "tuning_budget_ms": 5000}
    done = b.computes("keys", "--use_gpu", "--config_file", b.config(keys))
    b.checks.check("nothing is measured again", "s of 5.0 s: 0 choices measured" in done.stdout, done.stdout)
    b.computes("a missing folder", "--use_gpu", "--performance_cache_dir", b.folder / "no", says=["no such folder"])
    b.fails("nothing to invalidate", 1, ["needs 'performance_cache_dir'"], "--use_gpu", "--config_file",
            b.config({"invalidate_performance_cache": True}))
    for budget in (0, -1, 1.5, 1e99, "1000"):
        b.fails(f"a budget of {budget}", 1, ["'tuning_budget_ms' must be a whole number"], "--use_gpu", "--config_file",
                b.config({"tuning_budget_ms": budget}))


def profile(b):
    """Kernels have times of their own, in all three reports; without a device's kernels nothing is said of them."""
    rules = json.loads((SOURCE / "docs" / "net-run-profile.schema.json").read_text())
    done = b.computes("profile", "--use_gpu", "--profile", "--profile_json", b.folder / "p.json", "--trace",
                      b.folder / "t.json", "--iterations", "3")
    report = json.loads((b.folder / "p.json").read_text())
    b.checks.equal("profile: schema", schema.check(report, rules), [])
    steps = [step for step in report["steps"] if "kernels" in step]
    kernels = [kernel for step in steps for kernel in step["kernels"]]
    b.checks.check("steps of the GPU have kernels", kernels and all(s["backend"] == "gpu" and s["nodes"] for s in steps))
    for step in steps:
        total = sum(kernel["milliseconds"] for kernel in step["kernels"])
        b.checks.check("times of kernels are positive and add up",
                       total > 0 and abs(total - step["device_milliseconds"]) < 1e-9 + 1e-6 * total, step)
    for words in ("device ms", "calls  Kernel", "all kernels", *(kernel["kernel"] for kernel in kernels)):
        b.checks.check(f"the table has '{words}'", words in done.stdout, done.stdout)
    events = json.loads((b.folder / "t.json").read_text())["traceEvents"]
    on_device = [event for event in events if event["pid"] == 2]
    b.checks.equal("each kernel of each execution is traced", sorted(event["name"] for event in on_device),
                   sorted(3 * [kernel["kernel"] for kernel in kernels]))
    first, last = min(e["ts"] for e in events), max(e["ts"] + e["dur"] for e in events if e["pid"] == 1)
    b.checks.check("kernels run during the executions",
                   all(first - 1000 <= event["ts"] <= last + 1000 for event in on_device), events)
    done = b.computes("profile of the host", "--profile", "--profile_json", b.folder / "p.json")
    report = json.loads((b.folder / "p.json").read_text())
    b.checks.equal("profile of the host: schema", schema.check(report, rules), [])
    b.checks.check("no kernels", "Kernel" not in done.stdout and not any("kernels" in s for s in report["steps"]))


def no_device(b):
    os.environ["OCL_ICD_VENDORS"] = str(b.folder / "none")
    b.fails("no device", 1, ["backend gpu needs an OpenCL device, and there is none", "clinfo"], "--use_gpu")
    b.fails("another graph, before a device is asked for", 2, ["there is no graph 'other'"], "--use_gpu", "--config_file",
            b.config({"graph_names": ["other"]}))
    b.computes("no device, and none wanted")
    del os.environ["OCL_ICD_VENDORS"]


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        b = Bench(checks, pathlib.Path(name))
        selections(b)
        half_precision(b)
        files(b)
        mistakes(b)
        caches(b)
        profile(b)
        no_device(b)
    checks.finish()


main()
