#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What users of such commands are used to: files as plain arguments, "-", what a file of another kind is, quiet and talkative
runs, the spellings of existing scripts, and JSON for programs, which its schema describes."""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_writer as onnx  # noqa: E402
from checks import SOURCE, Checks, command, run  # noqa: E402

# Every command: what it does with a file that it cannot read, and with one that it can.
CONFIG = str(SOURCE / "examples" / "ops.json")
USES = {
    "dlc-info": ((lambda file: [file]), "m.dlc"),
    "dlc-diff": ((lambda file: [file, "m.dlc"]), "m.dlc"),
    "dlc-viewer": ((lambda file: [file, "-s", "page.html"]), "m.dlc"),
    "dlc-quantize": ((lambda file: [file, "every.dlc", "--input_list", "list.txt"]), "m.dlc"),
    "net-run": ((lambda file: [file, "list.txt", "--output_dir", "every"]), "m.dlc"),
    "udo-check": ((lambda file: [file]), CONFIG),
    "udo-package-generator": ((lambda file: ["-p", file, "-o", "packages"]), CONFIG),
    "qnn-op-package-generator": ((lambda file: ["-p", file, "-o", "packages"]), "ops.xml"),
    "onnx-to-dlc": ((lambda file: [file, "every.dlc"]), "m.onnx"),
    "tensorflow-to-dlc": ((lambda file: [file, "every.dlc", "--out_node", "x"]), None),
}
COST = re.compile(r"^[\w-]+: note: took \d+\.\d\d s, \d+\.\d\d s of processors, and (\d+\.\d) MB of memory at most$", re.MULTILINE)
WITHOUT_COST = {"onnx-to-dlc", "tensorflow-to-dlc", "udo-package-generator", "qnn-op-package-generator"}  # -v is --debug

VALUES = [1.0, -2.0, 3.0, -4.0]
RELU = struct.pack("<4f", 1, 0, 3, 0)
NO_EFFECT = (["--use_dsp"], ["--use_aip"], ["--use_cpu"], ["--platform_options", "unsignedPD:ON"], ["--perf_profile", "burst"],
             ["--profiling_level", "basic"], ["--runtime_order", "dsp,cpu"], ["--userbuffer_float"], ["--userbuffer_tf8"],
             ["--userbuffer_tfN", "16"], ["--userbuffer_auto"], ["--enable_init_cache"], ["--storage_dir", "kept"],
             ["--enable_cpu_fallback"], ["--priority_hint", "low"])
GRAPH_DEF = b"\x0a\x10\x0a\x01x\x12\x0bPlaceholder"
# (first bytes, what the hint says)
KINDS = ((GRAPH_DEF, "a TensorFlow model: tensorflow-to-dlc"), (b"\x08\x01\x12\x04\x0a\x02\x0a\x00", "a saved model of TensorFlow"),
         (b"\x7fELF\x02\x01\x01", "a program or library"), (b"\x1c\x00\x00\x00TFL3", "a TensorFlow Lite model"),
         (b"\x89HDF\r\n\x1a\n", "a Keras model"), (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
         (b"\x1f\x8b\x08", "a compressed file"), (b"<!DOCTYPE html>", "a web page"), (b"<?xml version", "an XML file"),
         (b"{\n", "a JSON file"), (b"\x93NUMPY\x01\x00", "a NumPy array"),
         (b"PK\x03\x04" + bytes(22) + b"\x10\x00\x00\x00archive/data.pkl", "a PyTorch model"),
         (b"PK\x03\x04" + bytes(22) + b"\x05\x00\x00\x00model", "a DLC container: dlc-info"))


def relu(*names):
    m = onnx.Model(opset=13)
    m.input("x", onnx.FLOAT, [1, 4])
    last = "x"
    for name in names:
        m.node("Relu", [last], [name], name=f"node_{name}")
        last = name
    m.output(last, onnx.FLOAT, [1, 4])
    return m


def begin(folder):
    relu("y").save(folder / "m.onnx")
    relu("a", "y").save(folder / "two.onnx")
    odd = onnx.Model(opset=13)
    odd.input("x", onnx.FLOAT, [1, 4])
    odd.node("Strange", ["x"], ["y"], name="odd", alpha=0.5)
    odd.output("y", onnx.FLOAT, [1, 4])
    odd.save(folder / "odd.onnx")
    (folder / "x.raw").write_bytes(struct.pack("<4f", *VALUES))
    (folder / "list.txt").write_text("x.raw\n")


def plain_arguments(checks, folder):
    for label, args, name in (("model", ["m.onnx"], "m.dlc"), ("both", ["m.onnx", "b.dlc"], "b.dlc"),
                              ("options between", ["m.onnx", "-q", "--io_layout", "model", "c.dlc"], "c.dlc"),
                              ("input by name", ["d.dlc", "-i", "m.onnx"], "d.dlc"),
                              ("behind --", ["-q", "--", "m.onnx", "e.dlc"], "e.dlc"),
                              ("a word that is no value", ["--debug", "m.onnx", "f.dlc"], "f.dlc")):
        done = run("onnx-to-dlc", *args, cwd=folder)
        checks.equal(f"plain: {label}", (done.returncode, (folder / name).exists()), (0, True))
    done = run("onnx-to-dlc", "--dry_run", "m.onnx", cwd=folder)
    checks.equal("plain: behind --dry_run", (done.returncode, done.stdout.splitlines()[-1]),
                 (0, "1 ops: 1 native, 0 UDO, 0 unsupported"))
    checks.check("dlc-info FILE", "DLC info of: m.dlc" in run("dlc-info", "m.dlc", cwd=folder).stdout)
    checks.equal("dlc-diff A B", run("dlc-diff", "m.dlc", "m.dlc", cwd=folder).returncode, 0)
    checks.check("dlc-viewer FILE", "<html" in run("dlc-viewer", "m.dlc", "-s", "-", cwd=folder).stdout)
    done = run("net-run", "m.dlc", "list.txt", "--output_dir", "out", cwd=folder)
    checks.equal(f"net-run CONTAINER LIST {done.stderr}", (folder / "out" / "Result_0" / "y.raw").read_bytes(), RELU)
    done = run("dlc-quantize", "m.dlc", "q.dlc", "--input_list", "list.txt", cwd=folder)
    checks.equal(f"dlc-quantize IN OUT {done.stderr}", (done.returncode, (folder / "q.dlc").exists()), (0, True))
    done = run("dlc-info", "m.dlc", "b.dlc", cwd=folder)
    checks.equal("too many", (done.returncode, "unexpected argument 'b.dlc'" in done.stderr), (2, True))


def streams(checks, folder):
    for name, args in (("onnx-to-dlc", ["m.onnx", "-o", "-"]), ("onnx-to-dlc", ["-"]), ("onnx-to-dlc", ["m.onnx", "-"]),
                       ("dlc-info", ["-"]), ("dlc-info", ["m.dlc", "-s", "-"]), ("net-run", ["m.dlc", "list.txt", "--output_dir", "-"]),
                       ("dlc-quantize", ["m.dlc", "-o", "-", "--input_list", "list.txt"])):
        done = run(name, *args, cwd=folder)
        checks.equal(f"- refused: {name} {args}", (done.returncode, done.stdout), (2, ""))
        checks.check(f"- refused: {name} {args}: reason", "standard input and output cannot be used here" in done.stderr, done.stderr)
    checks.check("no file of that name", not (folder / "-").exists())
    profile = run("net-run", "m.dlc", "list.txt", "-q", "--output_dir", "out", "--profile_json", "-", cwd=folder)
    for label, args in (("net-run", ["net-run", "m.dlc", "-", "--output_dir", "streamed"]),
                        ("dlc-quantize", ["dlc-quantize", "m.dlc", "streamed.dlc", "--input_list", "-", "--report", "streamed.json"])):
        done = run(*args, cwd=folder, input=(folder / "list.txt").read_text())
        checks.equal(f"a list on standard input: {label} {done.stderr}", done.returncode, 0)
    checks.equal("a list on standard input: results", (folder / "streamed" / "Result_0" / "y.raw").read_bytes(), RELU)
    for label, args in (("net-run", ["net-run", "m.dlc", "-"]), ("dlc-quantize", ["dlc-quantize", "m.dlc", "no.dlc", "--input_list", "-"])):
        done = run(*args, cwd=folder, input="\na b\n")
        checks.equal(f"a list on standard input: a place: {label}",
                     (done.returncode, done.stderr.splitlines()[0]), (2, "standard input:2: error: which input is this for? 'a'"))
    checks.equal("a profile on standard output", [step["node"] for step in json.loads(profile.stdout)["steps"]], ["node_y"])


def kinds(checks, folder):
    for content, words in KINDS:
        (folder / "some.bin").write_bytes(content + bytes(64))
        done = run("onnx-to-dlc", "some.bin", "-o", "never.dlc", cwd=folder)
        checks.equal(f"{words}: status", (done.returncode, (folder / "never.dlc").exists()), (1, False))
        checks.check(f"onnx-to-dlc: {words}", f"this is {words}" in done.stderr or words in done.stderr, done.stderr)
    done = run("tensorflow-to-dlc", "m.onnx", cwd=folder)
    checks.check("tensorflow-to-dlc of an ONNX model", "this is an ONNX model: onnx-to-dlc converts it" in done.stderr, done.stderr)
    for name in ("dlc-info", "dlc-viewer"):
        done = run(name, "m.onnx", *(["-s", "-"] if name == "dlc-viewer" else []), cwd=folder)
        checks.check(f"{name} of an ONNX model", "this is an ONNX model: onnx-to-dlc converts it" in done.stderr, done.stderr)


def quiet(checks, folder):
    for name, args in (("onnx-to-dlc", ["m.onnx", "--strict"]), ("net-run", ["m.dlc", "list.txt", "--use_dsp", "--output_dir", "out"]),
                       ("dlc-quantize", ["m.dlc", "q.dlc", "--input_list", "list.txt", "--enable_htp"])):
        loud, still = run(name, *args, cwd=folder), run(name, *args, "-q", cwd=folder)
        checks.equal(f"{name} -q", (loud.returncode, still.returncode, still.stdout, still.stderr), (0, 0, "", ""))
        checks.check(f"{name} talks otherwise", loud.stderr, loud.stdout)
    done = run("onnx-to-dlc", "odd.onnx", "-q", cwd=folder)
    checks.check("errors are told in any case", "op Strange" in done.stderr, done.stderr)
    spoken, debug = (run("onnx-to-dlc", "two.onnx", option, cwd=folder).stderr for option in ("-v", "--debug"))
    checks.equal("-v is --debug", spoken, debug)
    checks.equal("--verbose", run("onnx-to-dlc", "two.onnx", "--verbose", cwd=folder).stderr, debug)


def spellings(checks, folder):
    for words in NO_EFFECT:
        done = run("net-run", "m.dlc", "list.txt", *words, "--output_dir", "spelt", cwd=folder)
        checks.equal(f"net-run {words}", (done.returncode, done.stderr.count(f"option {words[0]} has no effect")), (0, 1))
        checks.equal(f"net-run {words}: result", (folder / "spelt" / "Result_0" / "y.raw").read_bytes(), RELU)
    run("onnx-to-dlc", "two.onnx", "two.dlc", cwd=folder)
    done = run("net-run", "two.dlc", "list.txt", "--set_output_layers", "node_a", "--output_dir", "layer", cwd=folder)
    checks.equal(f"--set_output_layers {done.stderr}", sorted(os.listdir(folder / "layer" / "Result_0")), ["a.raw"])
    done = run("net-run", "two.dlc", "list.txt", "--set_output_layers", "node_a", "--set_output_tensors", "y", cwd=folder)
    checks.equal("layers and tensors", (done.returncode, "chosen in several ways" in done.stderr), (2, True))
    done = run("net-run", "m.dlc", "list.txt", "--duration", "1", "--profile_json", "p.json", "--output_dir", "long", cwd=folder)
    profile = json.loads((folder / "p.json").read_text())
    checks.check(f"--duration {done.stderr}", profile["executions"] > 1, profile)
    checks.equal("--duration: result", (folder / "long" / "Result_0" / "y.raw").read_bytes(), RELU)
    for words in (["--dry_run", "info"], ["--dry_run", "debug"]):
        done = run("onnx-to-dlc", "m.onnx", "-o", "dry.dlc", *words, cwd=folder)
        checks.equal(f"{words}", (done.returncode, "1 ops: 1 native" in done.stdout, (folder / "dry.dlc").exists()), (0, True, False))
    done = run("onnx-to-dlc", "m.onnx", "gru.dlc", "--expand_gru_op_structure", cwd=folder)
    checks.equal("--expand_gru_op_structure", (done.returncode, done.stderr.count("has no effect")), (0, 1))
    done = run("onnx-to-dlc", "two.onnx", "cut.dlc", "--source_model_input_shape", "x", "1,4", "--source_model_input_datatype", "x",
               "float32", "--source_model_input_layout", "x", "NF", "--out_tensor_node", "a", cwd=folder)
    checks.equal(f"names of newer tools {done.stderr}", run("dlc-info", "cut.dlc", "--tensor", "a", cwd=folder).returncode, 0)
    checks.equal("--out_tensor_node cuts", run("dlc-info", "cut.dlc", "--tensor", "y", cwd=folder).returncode, 1 if done.returncode == 0 else None)


def npy(array_type, shape, content):
    head = f"{{'descr': '{array_type}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + content


def arrays(checks, folder):
    m = onnx.Model(opset=13)
    m.input("x", onnx.FLOAT, [1, 4])
    m.input("n", onnx.INT32, [2])
    m.node("Relu", ["x"], ["y"])
    m.node("Identity", ["n"], ["k"])
    m.output("y", onnx.FLOAT, [1, 4])
    m.output("k", onnx.INT32, [2])
    m.save(folder / "arrays.onnx")
    run("onnx-to-dlc", "arrays.onnx", "arrays.dlc", cwd=folder)
    large = [2 ** 24 + 1, -5]  # which float32 does not hold
    (folder / "x.npy").write_bytes(npy("<f8", "(1, 4)", struct.pack("<4d", *VALUES)))
    (folder / "n.npy").write_bytes(npy("<i8", "(2,)", struct.pack("<2q", *large)))
    (folder / "arrays.txt").write_text("x:=x.npy n:=n.npy\n")
    done = run("net-run", "arrays.dlc", "arrays.txt", "--npy", "--use_native_output_files", "--output_dir", "npy", cwd=folder)
    checks.equal(f"arrays {done.stderr}", sorted(os.listdir(folder / "npy" / "Result_0")), ["k.npy", "y.npy"])
    checks.equal("floats from doubles", (folder / "npy" / "Result_0" / "y.npy").read_bytes(), npy("<f4", "(1, 4)", RELU))
    checks.equal("integers are exact", (folder / "npy" / "Result_0" / "k.npy").read_bytes(),
                 npy("<i4", "(2,)", struct.pack("<2i", *large)))
    for label, name, content, words in (
            ("other dimensions", "x.npy", npy("<f4", "(4,)", bytes(16)), "tensor 'x' is [1,4], and the array [4]"),
            ("too large", "n.npy", npy("<i8", "(2,)", struct.pack("<2q", 1, 2 ** 31)), "Int_32, which does not hold element 1"),
            ("cut off", "n.npy", npy("<i8", "(2,)", b""), "n.npy")):
        kept = (folder / name).read_bytes()
        (folder / name).write_bytes(content)
        done = run("net-run", "arrays.dlc", "arrays.txt", "--output_dir", "bad", cwd=folder)
        checks.equal(f"{label}: status", done.returncode, 1)
        checks.check(f"{label}: {words}", words in done.stderr, done.stderr)
        (folder / name).write_bytes(kept)
    m = onnx.Model(opset=13)
    m.input("x", onnx.FLOAT, [1, 2, 3, 4])
    m.node("GlobalAveragePool", ["x"], ["y"])
    m.output("y", onnx.FLOAT, [1, 2, 1, 1])
    m.save(folder / "planes.onnx")
    run("onnx-to-dlc", "planes.onnx", "planes.dlc", cwd=folder)
    (folder / "planes.npy").write_bytes(npy("<f4", "(1, 2, 3, 4)", bytes(4 * 24)))
    (folder / "planes.txt").write_text("planes.npy\n")
    done = run("net-run", "planes.dlc", "planes.txt", "--output_dir", "bad", cwd=folder)
    checks.equal("axes of the model: status", done.returncode, 1)
    checks.check("axes of the model: the hint", "numpy.transpose(array, (0, 2, 3, 1))" in done.stderr, done.stderr)


def expected_files(checks, folder):
    """The errors are those of hand: the file has 3.5 for a 3."""
    wanted = folder / "wanted" / "Result_0"
    wanted.mkdir(parents=True)
    (wanted / "y.raw").write_bytes(RELU)
    done = run("net-run", "m.dlc", "list.txt", "--compare", "wanted", "--output_dir", "out", cwd=folder)
    checks.equal(f"equal {done.stderr}", (done.returncode, "exact" in done.stdout), (0, True))
    (folder / "wanted" / "y.npy").write_bytes(npy("<f4", "(1, 4)", struct.pack("<4f", 1, 0, 3.5, 0)))
    (wanted / "y.raw").unlink()
    args = ("net-run", "m.dlc", "list.txt", "--compare", "wanted", "--compare_json", "c.json", "--output_dir", "out")
    done = run(*args, cwd=folder)
    checks.equal("apart", (done.returncode, "1 result differs from what wanted holds" in done.stderr), (1, True))
    checks.check("apart: the table", "0.5" in done.stdout and " y" in done.stdout, done.stdout)
    (tensor,) = json.loads((folder / "c.json").read_text())["tensors"]
    checks.equal("apart: JSON", (tensor["tensor"], tensor["values"], tensor["error"]["max_error"]), ("y", 4, 0.5))
    checks.equal("within the tolerance", run(*args, "--compare_tolerance", "0.2", cwd=folder).returncode, 0)
    (folder / "wanted" / "y.npy").unlink()
    done = run(*args, cwd=folder)
    checks.equal("no file", (done.returncode, "nothing says what the result 'y' of inference 0 should be" in done.stderr), (1, True))
    (wanted / "y.raw").write_bytes(RELU + bytes(4))
    done = run(*args, cwd=folder)
    checks.equal("another size", (done.returncode, "16 bytes of float32, and the file has 20" in done.stderr), (1, True))


def json_reports(checks, folder):
    try:
        import jsonschema
    except ImportError:
        checks.skip("JSON against its schema: python3-jsonschema is not there")
        return
    schema = json.loads((SOURCE / "docs" / "conversion.schema.json").read_text())
    for label, args, status, counts in (("conversion", ["m.onnx", "j.dlc"], 0, [1, 0, 0]), ("dry run", ["m.onnx", "--dry_run"], 0, [1, 0, 0]),
                                        ("unsupported", ["odd.onnx", "--dry_run"], 1, [0, 0, 1])):
        done = run("onnx-to-dlc", *args, "--json", cwd=folder)
        checks.equal(f"{label}: status", done.returncode, status)
        report = json.loads(done.stdout)
        errors = [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(report)]
        checks.equal(f"{label}: against the schema", errors, [])
        checks.equal(f"{label}: counts", list(report["model_ops"].values()), counts)
        checks.equal(f"{label}: converts", report["converts"], status == 0)
    checks.equal("an op", report["ops"], [{"status": "unsupported", "domain": "", "op_type": "Strange", "version": 13, "node": "odd",
                                           "package": None}])
    done = run("onnx-to-dlc", "odd.onnx", "--json", cwd=folder)
    checks.equal("a conversion that fails has no summary", (done.returncode, done.stdout), (1, ""))


def unreadable(checks, folder):
    """Each command says in a line or two what is wrong with a file, and ends with the status of trouble."""
    (folder / "empty").write_bytes(b"")
    (folder / "folder").mkdir()
    words = {"missing": "cannot open: No such file or directory", "folder": "folder: error: ", "empty": "empty", "m.dlc": "this is a DLC container: ",
             "m.onnx": "this is an ONNX model: "}
    for name, (args, good) in USES.items():
        trouble = 2 if name == "dlc-diff" else 1
        for file, said in words.items():
            if file == good or (file == "m.dlc" and good == "m.dlc"):
                continue
            done = run(name, *args(file), cwd=folder)
            checks.equal(f"{name} {file}: status", done.returncode, trouble)
            checks.check(f"{name} {file}: {said}", said in done.stderr and done.stderr.count(": error: ") == 1, done.stderr)
        done = run(name, *args("-"), cwd=folder)
        checks.equal(f"{name} -", (done.returncode, done.stdout, "standard input and output cannot be used here" in done.stderr), (2, "", True))


def common_options(checks, folder):
    run("udo-check", CONFIG, "--convert", "xml", "-o", "ops.xml", cwd=folder)
    for name, (args, good) in USES.items():
        shown, version, typed, none = (run(name, *words, cwd=folder) for words in (["--help"], ["--version"], ["--helpp"], []))
        checks.equal(f"{name} --help", (shown.returncode, shown.stderr, shown.stdout.startswith(f"Usage: {name} ")), (0, "", True))
        checks.equal(f"{name} -h", run(name, "-h").stdout, shown.stdout)
        checks.check(f"{name} --version", re.fullmatch(rf"{name} \(OpenDLC\) \d+\.\d+\.\d+\n", version.stdout), version.stdout)
        checks.equal(f"{name} --helpp", (typed.returncode, typed.stdout, typed.stderr),
                     (2, "", f"{name}: error: unknown option --helpp\n  hint: did you mean --help?\n"))
        checks.equal(f"{name} alone", (none.returncode, none.stdout, none.stderr.startswith(f"{name}: error: ")), (2, "", True))
        checks.equal(f"{name} to a full disk", subprocess.run([command(name), "--help"], stdout=open("/dev/full", "w"), stderr=subprocess.PIPE,
                                                              check=False).returncode, 2 if name == "dlc-diff" else 1)
        if good is None:
            continue
        still, loud = run(name, *args(good), "-q", cwd=folder), run(name, *args(good), "--verbose", cwd=folder)
        checks.equal(f"{name} -q", (still.returncode, still.stderr), (0, ""))
        checks.equal(f"{name} -v", (loud.returncode, len(COST.findall(loud.stderr))), (0, int(name not in WITHOUT_COST)))
        checks.equal(f"{name} -v -q", (run(name, *args(good), "-v", "-q", cwd=folder).stderr), "")
    done = run("dlc-info", "m.dlc", "--json", "-v", cwd=folder)
    checks.equal("-v among JSON lines", (json.loads(done.stdout)["file"], json.loads(done.stderr)["code"]), ("m.dlc", "cost"))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        begin(folder)
        for part in (plain_arguments, unreadable, common_options, streams, kinds, quiet, spellings, arrays, expected_files, json_reports):
            part(checks, folder)
    checks.finish()


main()
