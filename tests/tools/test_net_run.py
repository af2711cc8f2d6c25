# SPDX-License-Identifier: Apache-2.0
"""net-run on containers that the vendor's tools wrote."""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SHARED, Checks, run  # noqa: E402
from dlc_reader import read_container  # noqa: E402

CONTAINERS = SHARED / "corpus" / "dlc"


class Bench:
    """A folder with input files and lists, and net-run in it."""

    def __init__(self, checks, folder):
        self.checks, self.folder, self.runs = checks, folder, 0

    def file(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def floats(self, name, *values):
        return self.file(name, struct.pack(f"<{len(values)}f", *values))

    def list(self, *lines):
        return self.file("list.txt", "".join(f"{line}\n" for line in lines).encode())

    def run(self, container, *args):
        """(completed process, folder of results)"""
        self.runs += 1
        out = self.folder / f"out{self.runs}"
        return run("net-run", "--container", CONTAINERS / container, "--input_list", self.folder / "list.txt",
                   "--output_dir", out, *args), out

    def fails(self, name, status, words, container, *args):
        done, out = self.run(container, *args)
        self.checks.equal(f"{name} status", done.returncode, status)
        for word in words:
            self.checks.check(f"{name} says '{word}'", word in done.stderr, done.stderr)
        self.checks.check(f"{name} writes nothing", not list(out.rglob("*.raw")))


def read_floats(path):
    return numpy.frombuffer(path.read_bytes(), dtype="<f4")


def add2_float(b):
    x, y = b.floats("x.raw", 40.0), b.floats("y.raw", -2.5)
    b.list(x, f"input:={y}", "")
    done, out = b.run("add2_float.v2.dlc")
    b.checks.equal("add2 status", (done.returncode, done.stderr), (0, ""))
    b.checks.equal("add2 first", read_floats(out / "Result_0" / "Identity.raw").tolist(), [42.0])
    b.checks.equal("add2 second", read_floats(out / "Result_1" / "Identity.raw").tolist(), [-0.5])
    b.checks.equal("add2 files", len(list(out.rglob("*.raw"))), 2)
    b.list("%add/y Identity", x)
    done, out = b.run("add2_float.v2.dlc", "--use_native_output_files", "--use_native_input_files")
    b.checks.equal("a slash makes a folder", read_floats(out / "Result_0" / "add" / "y.raw").tolist(), [2.0])
    b.checks.equal("native float", read_floats(out / "Result_0" / "Identity.raw").tolist(), [42.0])


def add2_uint8(b):
    b.list(b.floats("x.raw", 1.0))
    done, out = b.run("add2_uint8.v2.dlc")
    b.checks.equal("uint8 status", (done.returncode, done.stderr), (0, ""))
    result = read_floats(out / "Result_0" / "Identity.raw")
    b.checks.check("uint8 sum", abs(result[0] - 3) < 0.05, result)
    done, out = b.run("add2_uint8.v2.dlc", "--use_native_output_files")
    b.checks.equal("uint8 native size", (out / "Result_0" / "Identity.raw").stat().st_size, 1)


def zipformer_reference(container, ids):
    """The decoder by numpy from the container's weights, written down without its op list: an embedding of the ids (those below 0
    give zeros), a convolution of kernel 2 in 128 groups of 4 channels, Relu, and a dense layer."""
    def weights(name):
        tensor = container.tensors[name]
        return numpy.frombuffer(tensor.data, dtype="<f4").reshape(tensor.dims).astype(numpy.float64)

    table, kernel = weights("decoder.embedding.weight"), weights("decoder.conv.weight")
    dense, bias = weights("decoder_proj.weight_permute"), weights("decoder_proj.bias")
    embedded = numpy.stack([table[max(i, 0)] * (i >= 0) for i in ids])  # [2,512]
    hidden = numpy.zeros(512)
    for channel in range(512):
        first = channel // 4 * 4
        hidden[channel] = sum(embedded[t, first + c] * kernel[0, t, c, channel] for t in range(2) for c in range(4))
    return dense @ numpy.maximum(hidden, 0) + bias


def zipformer(b):
    container = read_container(CONTAINERS / "zipformer-decoder.v4.0.dlc")
    for ids in ((3, 17), (499, 0), (-1, 250)):
        expected = zipformer_reference(container, ids)
        b.list(b.file("y.raw", struct.pack("<2i", *ids)))
        done, out = b.run("zipformer-decoder.v4.0.dlc", "--use_native_input_files")
        b.checks.equal(f"zipformer {ids} status", (done.returncode, done.stderr), (0, ""))
        found = read_floats(out / "Result_0" / "decoder_out.raw")
        error = numpy.abs(found - expected).max()
        b.checks.check(f"zipformer {ids}", error <= 1e-5 * numpy.abs(expected).max(), error)
        b.list(b.floats("y.raw", *ids))
        done, out = b.run("zipformer-decoder.v4.0.dlc")
        b.checks.check(f"zipformer {ids} from floats", (read_floats(out / "Result_0" / "decoder_out.raw") == found).all())


def zipformer_inside(b):
    b.list(b.floats("y.raw", 5, 6))
    done, out = b.run("zipformer-decoder.v4.0.dlc", "--debug")
    b.checks.equal("debug status", (done.returncode, done.stderr), (0, ""))
    b.checks.equal("debug writes every computed tensor", len(list(out.rglob("*.raw"))), 15)
    clip = read_floats(out / "Result_0" / "decoder" / "Clip_output_0.raw")
    b.checks.equal("debug values", clip.tolist(), [5, 6])
    done, out = b.run("zipformer-decoder.v4.0.dlc", "--set_output_tensors",
                      "/decoder/GreaterOrEqual_output_0,/decoder/Clip_output_0", "--use_native_output_files")
    files = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*.raw")}
    b.checks.equal("chosen tensors", files, {"Result_0/decoder/GreaterOrEqual_output_0.raw": b"\1\1",
                                             "Result_0/decoder/Clip_output_0.raw": struct.pack("<2i", 5, 6)})
    b.list("#/decoder/embedding/Gather", b.folder / "y.raw")
    done, out = b.run("zipformer-decoder.v4.0.dlc", "--profile", "--iterations", "3")
    b.checks.check("outputs of a node", (out / "Result_0" / "decoder" / "embedding" / "Gather_output_0.raw").exists())
    b.checks.check("profile", "/decoder/embedding/Gather" in done.stdout and "of 2 steps" in done.stdout, done.stdout)


def backends(b):
    b.list(b.floats("y.raw", 5, 6))
    done, out = b.run("zipformer-decoder.v4.0.dlc", "--backend", "reference", "--threads", "2", "--explain",
                      "--set_output_tensors", "/decoder/Clip_output_0")
    lines = [line.split() for line in done.stdout.splitlines()]
    b.checks.equal("explain names backend, op and node", lines[:2],
                   [["Backend", "Op", "Node"], ["reference", "ReluMinMax", "/decoder/Clip"]])
    clip = read_floats(out / "Result_0" / "decoder" / "Clip_output_0.raw")
    b.checks.equal("values of the named backend", clip.tolist(), [5, 6])
    name = "zipformer-decoder.v4.0.dlc"
    b.fails("unknown backends", 2, ["backend 'referenc' is not in this build", "did you mean 'reference'?",
                                    "backend 'tpu' is not"], name, "--backend", "referenc,tpu")
    b.fails("a backend twice", 2, ["backend 'reference' is named twice"], name, "--backend", "reference,reference")
    b.fails("no backend", 2, ["no backend is named"], name, "--backend", ",")
    b.fails("no threads", 2, ["--threads"], name, "--threads", "0")


def several_jobs(b):
    """Each line's results are its own, however many lines are computed at the same time."""
    name, ids = "zipformer-decoder.v4.0.dlc", [(i, (7 * i) % 50) for i in range(12)]
    b.list(*(b.floats(f"y{i}.raw", *pair) for i, pair in enumerate(ids)))
    done, one = b.run(name, "--jobs", "1", "--threads", "1")
    b.checks.equal("one job", (done.returncode, done.stderr), (0, ""))
    expected = [(one / f"Result_{i}" / "decoder_out.raw").read_bytes() for i in range(12)]
    b.checks.equal("lines differ", len(set(expected)), 12)
    for jobs in ("3", "20"):
        done, out = b.run(name, "--jobs", jobs, "--trace", b.folder / "trace.json", "--profile_json", b.folder / "p.json")
        b.checks.equal(f"{jobs} jobs", (done.returncode, done.stderr), (0, ""))
        b.checks.check(f"{jobs} jobs count", done.stdout.startswith("12 inferences executed"), done.stdout)
        found = [(out / f"Result_{i}" / "decoder_out.raw").read_bytes() for i in range(12)]
        b.checks.check(f"{jobs} jobs give the results of one", found == expected)
        events = json.loads((b.folder / "trace.json").read_text())["traceEvents"]
        profile = json.loads((b.folder / "p.json").read_text())
        b.checks.equal(f"{jobs} jobs: each inference is traced", {event["args"]["inference"] for event in events},
                       set(range(12)))
        b.checks.equal(f"{jobs} jobs: each step is traced", len(events), 12 * len(profile["steps"]))
        b.checks.equal(f"{jobs} jobs: executions", (profile["executions"], profile["jobs"]), (12, int(jobs)))
        total = sum(step["milliseconds"] for step in profile["steps"])
        b.checks.check(f"{jobs} jobs: shares", abs(sum(step["share"] for step in profile["steps"]) - 1) < 1e-9 and
                       abs(total - profile["milliseconds"]) <= 1e-9 * total, profile)
    bad = [b.folder / "y0.raw", b.folder / "y1.raw", b.folder / "none-a.raw", b.folder / "none-b.raw"]
    b.list(*bad)
    done, out = b.run(name, "--jobs", "4")
    b.checks.equal("the first line that fails is told", (done.returncode, "none-a" in done.stderr, "none-b" in done.stderr),
                   (1, True, False))
    b.fails("no jobs", 2, ["--jobs"], name, "--jobs", "0")
    b.fails("isolated jobs", 2, ["--jobs", "--isolate"], name, "--jobs", "2", "--isolate")


def waiting(b):
    """Where threads wait for each other, net-run starts itself anew once, with an environment that says how."""
    name = "zipformer-decoder.v4.0.dlc"
    b.list(b.floats("y.raw", 5, 6))
    if "cpu" not in b.run(name, "--explain")[0].stdout:
        b.checks.skip("threads that wait", "this build has no backend with threads")
        return
    plain = {key: value for key, value in os.environ.items() if key not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    arguments = ["--container", CONTAINERS / name, "--input_list", b.folder / "list.txt", "--output_dir", b.folder / "out"]
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    for case, more, options, starts, spins in (
            ("two threads of a busy machine", {}, ["--threads", "2"], 2, "'1000'"), ("one thread", {}, ["--threads", "1"], 1, None),
            ("jobs", {}, ["--jobs", "2"], 1, None), ("the reference", {}, ["--backend", "reference"], 1, None),
            ("a policy", {"OMP_WAIT_POLICY": "active"}, ["--threads", "2"], 1, None),
            ("a count", {"GOMP_SPINCOUNT": "77"}, ["--threads", "2"], 1, "'77'")):
        done = run("net-run", *arguments, *options, env={**plain, **more, "OMP_DISPLAY_ENV": "VERBOSE"})
        shown = [line.split("=")[1].strip() for line in done.stderr.splitlines() if "GOMP_SPINCOUNT" in line]
        b.checks.equal(f"{case}: status and starts", (done.returncode, len(shown)), (0, starts))
        b.checks.check(f"{case}: turns of a thread that waits", spins in (None, *shown[-1:]), shown)
    for other in others:
        other.kill()
        other.wait()
    done = run("net-run", *arguments, "--threads", "64", env={**plain, "OMP_DISPLAY_ENV": "VERBOSE"})
    b.checks.check("more threads than processors", "GOMP_SPINCOUNT = '1000'" in done.stderr, done.stderr)
    done = run("net-run", *arguments, "--threads", "2", env={**plain, "OMP_DISPLAY_ENV": "VERBOSE"})
    b.checks.check("two threads of any machine", re.search("GOMP_SPINCOUNT = '1000(00)?'", done.stderr), done.stderr)
    done = run("net-run", *arguments, "--profile_json", b.folder / "p.json", env=plain)
    profile = json.loads((b.folder / "p.json").read_text())
    b.checks.equal("threads by default", (done.returncode, profile["threads"]), (0, len(os.sched_getaffinity(0))))


def comparison(b):
    name, x = "zipformer-decoder.v4.0.dlc", b.floats("y.raw", 5, 6)
    b.list(x)
    done, out = b.run(name, "--compare", "reference")
    b.checks.equal("compare status", (done.returncode, done.stderr), (0, ""))
    b.checks.check("compare looks at each tensor", done.stdout.startswith("inference 0: 16 tensors "), done.stdout)
    b.checks.check("compare writes results", (out / "Result_0" / "decoder_out.raw").exists())
    done, out = b.run(name, "--backend", "reference", "--compare", "reference", "--compare_tolerance", "0")
    b.checks.check("compare with itself", "16 tensors are equal" in done.stdout and done.returncode == 0, done.stdout)
    explained, _ = b.run(name, "--explain")
    if "cpu " in explained.stdout:
        done, out = b.run(name, "--compare", "reference", "--compare_tolerance", "0")
        b.checks.equal("differences are an error", done.returncode, 1)
        b.checks.check("the first difference has its place",
                       "first /decoder/conv/Conv_intermediate of node /decoder/conv/Conv_2d (Conv2d): element" in
                       done.stdout, done.stdout)
        b.checks.check("differences are counted", "1 inference differs from what reference" in done.stderr, done.stderr)
    b.fails("a tolerance", 2, ["'much' is no tolerance"], name, "--compare", "reference", "--compare_tolerance", "much")
    b.fails("an unknown judge", 2, ["backend 'referee' is not in this build"], name, "--compare", "referee")
    b.fails("comparison and jobs", 2, ["--jobs", "--compare"], name, "--compare", "reference", "--jobs", "2")


def halves_of(path):
    """The first half of model.params.bin as float16. (Its CRC is 0, which zipfile would refuse.)"""
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo("model.params.bin")
    raw = path.read_bytes()
    at = entry.header_offset + 30 + sum(struct.unpack_from("<2H", raw, entry.header_offset + 26))
    return numpy.frombuffer(raw, dtype="<f2", count=entry.file_size // 4, offset=at)


def halves(b):
    """A Float_16 constant in the room of a Float_32 one: its elements are at the start. Every command says it once. (The
    second half of these elements is no weights in this file, so what MatMul gives is not looked at.)"""
    path = CONTAINERS / "block_32_quantized.v4.1.dlc"
    expected = halves_of(path)
    b.list(b.file("lhs.raw", bytes(4 * 128 * 256)))
    done, out = b.run(path.name, "--set_output_tensors", "rhs")
    b.checks.check("halves", numpy.array_equal(read_floats(out / "Result_0" / "rhs.raw"), expected.astype("<f4")))
    first, second = "tensor rhs has 262144 bytes of data where Float_16 [1,1,256,256] takes 131072", "is not used"
    for name, command in (("net-run", done), ("dlc-info", run("dlc-info", "-i", path)),
                          ("dlc-diff", run("dlc-diff", "-i1", path, "-i2", CONTAINERS / "add2_float.v2.dlc")),
                          ("dlc-viewer", run("dlc-viewer", "-i", path, "-s", b.folder / "view.html"))):
        b.checks.equal(f"{name} says it", (command.stderr.count(first), command.stderr.count(second)), (1, 1))
    b.checks.equal("net-run status", done.returncode, 0)


def blanks(b):
    """Names and paths with blanks, quotes and backslashes."""
    for name in ("my x.raw", "it's.raw", "a\\b.raw", '"q".raw', "tab\t.raw", "x:=y.raw"):
        b.floats(name, 40.0)
    folder = b.folder
    for line in (f'"{folder}/my x.raw"', f"'{folder}/my x.raw'", f"input:='{folder}/my x.raw'", f"\"input\":={folder}/my\\ x.raw",
                 f"{folder}/it's.raw", f"{folder}/a\\b.raw", f"'{folder}/a\\b.raw'", f'"{folder}/a\\\\b.raw"',
                 f"'{folder}/\"q\".raw'", f'"{folder}/\\"q\\".raw"', f"{folder}/tab\\\t.raw", f"'input':={folder}/x:=y.raw",
                 f"'{folder}/x:=y.raw'"):
        b.list(line)
        done, out = b.run("add2_float.v2.dlc")
        b.checks.equal(f"{line}: status", (done.returncode, done.stderr), (0, ""))
        found = list(out.rglob("*.raw"))
        b.checks.equal(f"{line}: value", [read_floats(path).tolist() for path in found], [[42.0]])
    b.list("%'Identity'", f"'{folder}/my x.raw'")
    b.checks.equal("a quoted name is chosen", b.run("add2_float.v2.dlc")[0].returncode, 0)
    add = "add2_float.v2.dlc"
    b.list(f"'{folder}/my x.raw")
    b.fails("open quote", 2, ["list.txt:1", "a quote is not closed in", "ends at the next one like it"], add)
    b.list(f"{folder}/my x.raw")
    b.fails("blank without quotes", 2, ["which input is this for?", "quote a path that has blanks"], add)


def processors(b):
    """Options for processors of devices are taken, and one note says who executes."""
    b.list(b.floats("x.raw", 40.0))
    done, out = b.run("add2_float.v2.dlc", "--use_dsp", "--platform_options", "unsignedPD:ON", "--perf_profile=burst",
                      "--use_aip", "--debug")
    b.checks.equal("processors: status", done.returncode, 0)
    b.checks.equal("processors: one note", done.stderr,
                   "net-run: note: option --use_dsp has no effect: the host executes the graph, whatever processor is asked for\n")
    b.checks.equal("processors: value", read_floats(out / "Result_0" / "Identity.raw").tolist(), [42.0])


def mistakes(b):
    add, zipformer_name = "add2_float.v2.dlc", "zipformer-decoder.v4.0.dlc"
    x = b.floats("x.raw", 1.0)
    b.list(b.file("short.raw", b"abc"))
    b.fails("short file", 1, ["short.raw", "takes 4 bytes of float32", "(Float_32, [1])", "has 3"], add)
    b.list(b.file("ids.raw", struct.pack("<2i", 3, 17)))
    b.fails("native data as floats", 1, ["not a value of type Int_32"], zipformer_name)
    b.list(b.floats("half.raw", 1.5, 2))
    b.fails("fraction for an integer", 1, ["value 0 of the input is 1.5"], zipformer_name)
    b.list(f"inputt:={x}")
    b.fails("unknown input", 2, ["no input 'inputt'", "did you mean 'input'?"], add)
    b.list(b.folder / "nowhere.raw")
    b.fails("missing file", 1, ["nowhere.raw", "cannot open"], add)
    b.list(f"{x} {x}")
    b.fails("two files without names", 2, ["list.txt:1", "name:=path"], add)
    b.list("input:=")
    b.fails("no path", 2, ["list.txt:1"], add)
    b.list("")
    b.fails("empty list", 2, ["names no inputs"], add)
    b.list(x, "%Identity")
    b.fails("late choice", 2, ["list.txt:2"], add)
    b.file("list.txt", b"\0\0\x80\x3f")
    b.fails("raw data as list", 2, ["not text"], add)
    b.list(x)
    b.fails("unknown tensor", 2, ["no tensor 'Identty'", "did you mean 'Identity'?"], add, "--set_output_tensors", "Identty")
    b.fails("two choices", 2, ["several ways"], add, "--debug", "--set_output_tensors", "Identity")
    b.fails("udo library", 1, ["lib.so: error: the library cannot be loaded"], add, "--udo_package_path", "lib.so")
    b.fails("iterations", 2, ["--iterations takes an integer"], add, "--iterations", "0")
    b.fails("version 3", 1, ["version 3"], "selu-udo.v3.dlc")
    b.file("out_is_a_file", b"")
    done = run("net-run", "--container", CONTAINERS / add, "--input_list", b.folder / "list.txt", "--output_dir",
               b.folder / "out_is_a_file")
    b.checks.equal("output folder is a file", done.returncode, 1)


def main():
    checks = Checks()
    checks.equal("no arguments", run("net-run").returncode, 2)
    if not CONTAINERS.is_dir():
        checks.skip("real containers", f"{CONTAINERS} is not there")
        checks.finish()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(checks, pathlib.Path(name))
        for part in (add2_float, add2_uint8, zipformer, zipformer_inside, halves, backends, several_jobs,
                     waiting, comparison, blanks, processors, mistakes):
            part(bench)
    checks.finish()


main()
