# SPDX-License-Identifier: Apache-2.0
"""udo-check: configs alone, against a model, and written in the other form; every option and every exit status."""

import itertools
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import onnx_writer as onnx  # noqa: E402
from checks import SHARED, Checks, run  # noqa: E402

TYPES = ["FLOAT_16", "FLOAT_32", "FIXED_4", "FIXED_8", "FIXED_16", "UINT_8", "UINT_16", "UINT_32", "INT_8", "INT_16",
         "INT_32", "BOOL_8", "STRING"]
DEFAULTS = {"FLOAT_16": 65519.9, "FLOAT_32": 3.4028235e38, "UINT_8": 255, "UINT_16": 0, "UINT_32": 4294967295, "INT_8": -128,
            "INT_16": 7, "INT_32": -2147483648, "BOOL_8": True, "STRING": "a <b> & \"c\" {d}"}
CONFIGS = SHARED / "corpus" / "udo-configs"

WARP = {"type": "Warp", "core_types": ["CPU", "DSP"], "dsp_arch_types": ["v68"],
        "inputs": [{"name": "x", "data_type": "FLOAT_32", "tensor_layout": "NCHW"},
                   {"name": "grid", "data_type": "FLOAT_32", "static": True, "tensor_layout": "NHWC"},
                   {"name": "bias", "data_type": "FLOAT_32", "static": True, "default_value": [1, 2]},
                   {"name": "mask", "data_type": "FLOAT_32", "optional": True}],
        "outputs": [{"name": "y", "data_type": "FLOAT_32", "tensor_layout": "NCHW", "shape": "same_as in0"}],
        "scalar_params": [{"name": "mode", "data_type": "STRING"},
                          {"name": "steps", "data_type": "INT_32", "default_value": 4}],
        "tensor_params": [{"name": "window", "data_type": "INT_32"}]}


class Shop:
    def __init__(self, checks, folder):
        self.checks, self.folder = checks, pathlib.Path(folder)

    def config(self, *operators, name="ops.json", package="P"):
        path = self.folder / name
        path.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": package, "Operators": operators}}))
        return path

    def text(self, content, name):
        path = self.folder / name
        path.write_text(content)
        return path

    def says(self, label, status, words, *args):
        """The command ends with that status, and its streams hold these words."""
        done = run("udo-check", *args)
        self.checks.equal(f"{label}: status {done.stderr}", done.returncode, status)
        for word in words:
            self.checks.check(f"{label}: says {word!r}", word in done.stdout + done.stderr, done.stdout + done.stderr)
        return done

    def report(self, label, status, *args):
        done = self.says(label, status, [], *args, "--json")
        return json.loads(done.stdout)


def warp_model(path, mode="bilinear"):
    """x → Conv → Warp → Conv → y: convolutions keep their tensors channels-last, Warp wants them channels-first."""
    m = onnx.Model(opset=13, domains=["d"])
    m.input("x", onnx.FLOAT, [1, 2, 4, 6])
    m.tensor("w", onnx.FLOAT, [2, 2, 1, 1], [1, 0, 0, 1])
    m.tensor("grid", onnx.FLOAT, [1, 2, 3, 5], [float(i) for i in range(30)])
    m.node("Conv", ["x", "w"], ["t"], name="first", kernel_shape=[1, 1])
    m.node("Warp", ["t", "grid"], ["u"], name="warp", domain="d", mode=mode, window=[3, -1])
    m.node("Conv", ["u", "w"], ["y"], name="second", kernel_shape=[1, 1])
    m.output("y", onnx.FLOAT, [1, 2, 4, 6])
    m.save(path)
    return path


def alone(shop):
    good = shop.config(WARP)
    shop.says("good", 0, ["1 file, 1 definition: 0 errors, 0 warnings", "Warp  package P, ", "cores CPU,DSP",
                          "input   0  x       FLOAT_32  NCHW\n",
                          "input   1  grid    FLOAT_32  NHWC  static\n",
                          "input   2  bias    FLOAT_32        static, default\n",
                          "input   3  mask    FLOAT_32        optional\n",
                          "output  0  y       FLOAT_32  NCHW  shape rule\n",
                          "scalar     steps   INT_32          default\n",
                          "tensor     window  INT_32\n"], good)
    quiet = shop.says("quiet", 0, [], good, "-q")
    shop.checks.equal("quiet says nothing", (quiet.stdout, quiet.stderr), ("", ""))
    warned = shop.config(dict(WARP, inputs=[{"nam": "x"}]), name="warned.json")
    shop.says("warning", 0, ["warning: unknown key 'nam' is ignored", "did you mean 'name'?", "0 errors, 1 warning\n"],
              warned)
    shop.says("warning, strict", 1, ["unknown key 'nam'"], warned, "--strict")
    bad = shop.text('{"P": {"UDO_PACKAGE_NAME": "P",\n "Operators": [{"type": "A", "inputs": [],}]}}', "bad.json")
    shop.says("two files", 1, ["bad.json:2:42: error: trailing comma", "'inputs' needs at least one",
                              "'outputs' is missing", "1 definition: 3 errors, 0 warnings"], bad, good)
    for dtype, value in (("FLOAT_32", 3.4028236e38), ("FLOAT_16", 65520), ("UINT_8", 256)):
        wide = shop.config(dict(WARP, scalar_params=[{"name": "s", "data_type": dtype, "default_value": value}]),
                           name="wide.json")
        shop.says(f"too wide for {dtype}", 1, [f"does not fit {dtype}"], wide)
    shop.says("no such file", 1, ["missing.json"], shop.folder / "missing.json")
    second = shop.config(dict(WARP, dsp_arch_types=["v73"]), name="second.json")
    done = shop.says("duplicate", 1, ["second, different definition of 'Warp'", "note: the first definition of 'Warp'"],
                     good, second)
    shop.checks.check("duplicate: the note has a place", f"{good}:1:" in done.stderr, done.stderr)
    shop.says("the same twice", 0, ["2 files, 1 definition: 0 errors"], good, shop.config(WARP, name="again.json"))


def usage(shop):
    good = shop.config(WARP)
    out = shop.folder / "out"
    for label, words, args in (
            ("no file", ["no file is given"], []),
            ("unknown option", ["unknown option --modle", "did you mean --model?"], [good, "--modle", "m"]),
            ("unknown form", ["no form yaml"], [good, "--convert", "yaml", "-o", out]),
            ("no output", ["--convert needs --output_path"], [good, "--convert", "xml"]),
            ("output alone", ["--output_path goes with --convert"], [good, "-o", out]),
            ("convert and model", ["none of --model, --udo_package_path, --op_packages and --json"], [good, "--convert", "xml", "-o", out, "--json"]),
            ("freeze", ["NAME=FILE"], [good, "--model", "m.onnx", "--freeze_input", "x"])):
        shop.says(label, 2, words, *args)
        shop.checks.check(f"{label}: nothing is written", not out.exists())
    shop.says("help", 0, ["Usage: udo-check FILE...", "--strict", "--define_symbol", "--udo_promote_static"], "--help")
    shop.says("version", 0, ["udo-check (OpenDLC)"], "--version")


def against_a_model(shop):
    config, model = shop.config(WARP, dict(WARP, type="Other")), warp_model(shop.folder / "m.onnx")
    done = shop.says("model", 0, ["3 nodes: 2 native, 1 UDO, 0 unsupported; it converts", "claims no node",
                                  "the definition of 'Other' matches no node"], config, "--model", model)
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    for line in ("node warp", "input 0 x dynamic FLOAT_32 [1,2,4,6] t, NCHW",
                 "input 1 grid static FLOAT_32 [1,3,5,2] grid, permuted to NHWC", "input 2 bias default FLOAT_32 [2]",
                 "input 3 mask absent", "output 0 y shape by rule FLOAT_32 [1,2,4,6] u, NCHW",
                 "param mode attribute STRING bilinear", "param steps default INT_32 4",
                 "param window attribute INT_32 [2] [3, -1]"):
        shop.checks.check(f"model: line {line!r}", line in lines, done.stdout)
    shop.checks.check("model: no line is wider than a page", all(len(line) <= 100 for line in done.stdout.splitlines()),
                      done.stdout)
    shop.says("model, strict", 1, ["matches no node"], config, "--model", model, "--strict")
    report = shop.report("json", 0, config, "--model", model)
    shop.checks.equal("json: schema", (report["schema"], report["schema_version"]), ("opendlc.udo-check", 1))
    shop.checks.equal("json: model", report["model"], {"file": str(model), "looked_at": True, "converts": True,
                                                       "native": 2, "udo": 1, "unsupported": 0})
    node, = report["definitions"][0]["nodes"]
    shop.checks.equal("json: origins", [i["origin"] for i in node["inputs"]], ["dynamic", "static", "default", "absent"])
    shop.checks.equal("json: dims", [i["dims"] for i in node["inputs"]], [[1, 2, 4, 6], [1, 3, 5, 2], [2], None])
    shop.checks.equal("json: permuted", [i["permuted"] for i in node["inputs"]], [False, True, False, False])
    shop.checks.equal("json: params", [(p["name"], p["origin"], p["value"]) for p in node["params"]],
                      [("mode", "attribute", "bilinear"), ("steps", "default", "4"), ("window", "attribute", "[3, -1]")])
    shop.checks.equal("json: permutes", [(p["tensor"], p["from"], p["to"], p["where"]) for p in node["permutes"]],
                      [("t", "NHWC", "NCHW", "before"), ("u", "NCHW", "NHWC", "after")])
    shop.checks.equal("json: warnings", report["warnings"], len(run("udo-check", config, "--model", model, "--json")
                                                               .stderr.splitlines()))


def faults_of_a_model(shop):
    model = warp_model(shop.folder / "m.onnx")
    inputs = [WARP["inputs"][0], dict(WARP["inputs"][1], static=False)] + WARP["inputs"][2:]
    config = shop.config(dict(WARP, inputs=inputs), name="dynamic.json")
    report = shop.report("not static", 1, config, "--model", model)
    node, = report["definitions"][0]["nodes"]
    shop.checks.equal("not static", (node["inputs"][1]["origin"], node["status"]), ("not_static", "failed"))
    report = shop.report("promoted", 0, config, "--model", model, "--udo_promote_static")
    shop.checks.equal("promoted", report["definitions"][0]["nodes"][0]["inputs"][1]["origin"], "promoted")
    config = shop.config(dict(WARP, scalar_params=[{"name": "speed", "data_type": "INT_32"}]), name="param.json")
    done = shop.says("missing param", 1, ["node 'warp', 'speed'", "no attribute 'speed'", "it does not convert",
                                          "node warp: has errors"], config, "--model", model)
    shop.checks.check("missing param: its line", any(line.split() == ["param", "speed", "error"]
                                                     for line in done.stdout.splitlines()), done.stdout)
    other = shop.config(dict(WARP, type="Other"), name="other.json")
    report = shop.report("unclaimed", 1, other, "--model", model)
    shop.checks.equal("unclaimed", (report["model"]["unsupported"], report["definitions"][0]["nodes"]), (1, []))
    broken = shop.text("{", "broken.json")
    shop.says("broken config", 1, ["m.onnx: not looked at"], broken, "--model", model)
    shop.says("no model", 1, ["nowhere.onnx"], other, "--model", shop.folder / "nowhere.onnx")
    warp, both = shop.config(WARP), shop.folder / "both.onnx"
    m = onnx.Model(opset=13, domains=["d"])
    m.input("x", onnx.FLOAT, [1, 2])
    m.node("Unheard", ["x"], ["t"], name="unheard", domain="d")
    m.node("Warp", ["t"], ["y"], name="warp", domain="d")
    m.output("y", onnx.FLOAT, [1, 2])
    m.save(both)
    broken = dict(WARP, type="unhaerd", domain="d")
    shop.says("no node, whatever else fails", 1, ["the definition of 'unhaerd' matches no node of the model",
                                                  "hint: did you mean 'Unheard'?", "op Unheard"],
              shop.config(WARP, broken, name="unmatched.json"), "--model", both)
    shop.says("not reached", 1, ["node warp: not looked at, because of the errors", "1 unsupported"], warp, "--model",
              both)


def options_of_the_model(shop):
    """The options that onnx-to-dlc knows, too: a model that converts with them alone."""
    op = {"type": "Twice", "inputs": [{"name": "x"}, {"name": "n", "static": True}],
          "outputs": [{"name": "y", "shape": "same_as in0"}]}
    m = onnx.Model(opset=13, domains=["d"])
    m.input("x", onnx.FLOAT, ["batch", 3])
    m.input("n", onnx.FLOAT, [2])
    m.node("Twice", ["x", "n"], ["y"], name="twice", domain="d")
    m.node("Relu", ["y"], ["z"], name="relu")
    m.output("y", onnx.FLOAT, ["batch", 3])
    m.output("z", onnx.FLOAT, ["batch", 3])
    model, config = shop.folder / "open.onnx", shop.config(op, name="twice.json")
    m.save(model)
    raw = shop.folder / "n.raw"
    raw.write_bytes(b"\0\0\x80\x3f\0\0\0\x40")
    shop.says("open dimension", 1, ["batch", "node twice: not looked at"], config, "-i", model)
    node, = shop.report("open dimension", 1, config, "-i", model)["definitions"][0]["nodes"]
    shop.checks.equal("open dimension: json", node["status"], "not_looked_at")
    frozen = [config, "--model", model, f"--freeze_input=n={raw}"]
    for label, args, dims in (("symbol", ["-s", "batch", "5"], [5, 3]), ("dim", ["-d", "x", "7,3"], [7, 3]),
                              ("out_node", ["-s", "batch", "5", "--out_node", "y"], [5, 3]),
                              ("dtype", ["-s", "batch", "2", "--input_dtype", "x", "float16"], [2, 3]),
                              ("layout", ["-s", "batch", "2", "-l", "x", "NONTRIVIAL"], [2, 3]),
                              ("preserve", ["-s", "batch", "2", "--preserve_io"], [2, 3])):
        node, = shop.report(label, 0, *frozen, *args)["definitions"][0]["nodes"]
        shop.checks.equal(f"{label}: shapes", [i["dims"] for i in node["inputs"]], [dims, [2]])
        shop.checks.equal(f"{label}: frozen", node["inputs"][1]["origin"], "static")
    report = shop.report("out_node leaves the rest out", 0, *frozen, "-s", "batch", "5", "--out_node", "y")
    shop.checks.equal("out_node", report["model"]["native"], 0)


def definitions():
    """Each type, layout and kind of operand, as operators of one file that XML can say in full."""
    for number, (static, layout, dtype) in enumerate(itertools.product([False, True], ["NCHW", "NHWC", None], TYPES)):
        tensor = {"name": "t", "data_type": dtype, **({"tensor_layout": layout} if layout else {})}
        plain = {"name": "plain", "data_type": "FLOAT_32"}
        op = {"type": f"Thing{number}", "core_types": ["CPU"], "outputs": [dict(tensor, name="o", repeated=static)],
              "inputs": [plain, dict(tensor, static=True)] if static else [tensor, dict(plain, optional=True)]}
        if dtype in DEFAULTS:
            value = DEFAULTS[dtype]
            op["scalar_params"] = [{"name": "s", "data_type": dtype, "default_value": value},
                                   {"name": "u", "data_type": dtype}]
            op["tensor_params"] = [{"name": "n", "data_type": dtype, "default_value": [[value], [value]]},
                                   {"name": "e", "data_type": dtype, "default_value": []},
                                   {"name": "f", "data_type": dtype}]
            if dtype == "STRING":
                op["tensor_params"][0]["default_value"] = [["{a}, 'b'"], ['"c"']]
        yield op
    cores = {"per_core_data_types": {"CPU": "FLOAT_32", "DSP": "FIXED_8"}}
    yield {"type": "Cores", "core_types": ["CPU", "DSP"], "dsp_arch_types": ["v73", "v68"],
           "inputs": [dict(cores, name="x"), dict(cores, name="w", static=True)], "outputs": [dict(cores, name="y")],
           "tensor_params": [{"name": "p", "per_core_data_types": {"CPU": "FLOAT_32", "DSP": "FLOAT_16"}}]}


def there_and_back(shop, label, config):
    """Definitions that went through XML are the same: two that differ would be an error."""
    xml, back = shop.folder / "there.xml", shop.folder / "back.json"
    odd = run("udo-check", config).stderr.count("warning:")
    strict = [] if odd else ["--strict"]
    done = shop.says(f"{label} to XML", 0, [], config, "--convert", "xml", "-o", xml, *strict)
    shop.checks.equal(f"{label}: nothing is lost", done.stderr.count("warning:"), odd)
    shop.says(f"{label} to JSON", 0, [], xml, "--convert", "json", "-o", back, *strict)
    counts = [len(shop.report(label, 0, *files, *strict)["definitions"]) for files in ([config], [config, back],
                                                                                        [config, xml])]
    shop.checks.check(f"{label}: the same definitions", counts[0] > 0 and len(set(counts)) == 1, counts)


def conversion(shop):
    operators = list(definitions())
    there_and_back(shop, "matrix", shop.config(*operators, name="matrix.json"))
    shop.checks.equal("matrix has all", len(operators), 2 * 3 * 13 + 1)
    everything = dict(WARP, domain="d", core_types=["CPU"])
    everything["inputs"] = [dict(WARP["inputs"][0], quantization_mode="TF"), {"data_type": "FLOAT_32"}]
    out = shop.folder / "lost.xml"
    config = shop.config(everything, name="everything.json")
    shop.says("losses", 0, ["warning: 'Warp' is restricted to domain 'd'", "dsp_arch_types of 'Warp'",
                            "quantization_mode of input 'x'", "input 1 of 'Warp' has no name", "shape rule of output 'y'"],
              config, "--convert", "xml", "-o", out)
    shop.checks.check("losses: written", out.exists())
    shop.says("losses, strict", 1, [], config, "--convert", "xml", "-o", out, "--strict")
    typeless = shop.config({"type": "A", "inputs": [{"name": "x"}], "outputs": [{"name": "y"}]}, name="typeless.json")
    none = shop.folder / "none.xml"
    shop.says("impossible", 1, ["error: input 'x' of 'A' has no data_type", "output 'y' of 'A' has no data_type"],
              typeless, "--convert", "xml", "-o", none)
    strings = [{"name": f"s{i}", "data_type": "STRING", "default_value": s}
               for i, s in enumerate(["", " a ", "'b", "c'", "{d}", "\u00e9 ]]>"])]
    there_and_back(shop, "strings", shop.config(dict(WARP, scalar_params=strings, outputs=[{"name": "y", "data_type":
                                                                                          "INT_8"}]), name="s.json"))
    for value in ("\"a", " \" ", "a\nb", "\r"):
        bad = shop.config(dict(WARP, scalar_params=[{"name": "s", "data_type": "STRING", "default_value": value}]),
                          name="s.json")
        shop.says(f"string {value!r}", 1, ["the default of param 's' of 'Warp'"], bad, "--convert", "xml", "-o", none)
    for value in ("\"'", "a\nb"):
        bad = shop.config(dict(WARP, tensor_params=[{"name": "s", "data_type": "STRING", "default_value": ["a", value]}]),
                          name="s.json")
        shop.says(f"strings {value!r}", 1, ["the default of param 's' of 'Warp'"], bad, "--convert", "xml", "-o", none)
    types = "".join(f"<Datatype>{t}</Datatype>" for t in ("UFIXED_POINT_16", "FLOAT_32", "UFIXED_POINT_32", "INT_8"))
    tensor = f"<Name>%s</Name><Mandatory>true</Mandatory>{types}<Shape><Rank>ND</Rank></Shape>"
    several = shop.text('<OpDefCollection PackageName="P" Domain="d" Version="1"><OpDefList><OpDef><Name>T</Name>'
                        f'<Input>{tensor % "x"}</Input><Output>{tensor % "y"}</Output></OpDef></OpDefList>'
                        '</OpDefCollection>', "several.xml")
    again = shop.folder / "again.xml"
    shop.says("several types", 0, ["no core_types"], several, "--convert", "xml", "-o", again)
    shop.says("several types: the same", 0, ["2 files, 1 definition: 0 errors"], several, again)
    shop.checks.equal("several types: all", sorted(again.read_text().count(f">QNN_DATATYPE_{t}<") for t in (
        "UFIXED_POINT_16", "FLOAT_32", "UFIXED_POINT_32", "INT_8")), [2, 2, 2, 2])
    shop.says("several types as JSON", 0, ["input 'x' of 'T' takes several types"], several, "--convert", "json", "-o",
              again)
    shop.checks.equal("several types as JSON: the first", json.loads(again.read_text())["UdoPackage_0"]["Operators"][0]
                      ["inputs"], [{"name": "x", "data_type": "FIXED_16"}])
    shop.says("two packages", 1, ["is of package 'Q', and an XML file holds one package"], shop.config(WARP),
              shop.config(dict(WARP, type="B"), name="q.json", package="Q"), "--convert", "xml", "-o", none)
    shop.says("a config with errors", 1, ["error"], shop.text("{}", "empty.json"), "--convert", "json", "-o", none)
    shop.checks.check("impossible: no file", not none.exists())
    both = shop.folder / "both.json"
    shop.says("two packages as JSON", 0, [], shop.config(WARP), shop.folder / "q.json", "--convert", "json", "-o", both)
    shop.checks.equal("two packages as JSON", [p["UDO_PACKAGE_NAME"] for p in json.loads(both.read_text()).values()],
                      ["P", "Q"])
    rules = ["in0[0]", 7, "(in0[1] + 1) * 2 - (in0[2] - 3)", "min(in0[-1] / 2, max(4, in0[3] % 5))", "-in0[2] + 9"]
    ruled = shop.config(dict(WARP, inputs=WARP["inputs"][:2], outputs=[{"name": "y", "shape": rules}]), name="ruled.json")
    shop.says("rules", 0, [], ruled, "--convert", "json", "-o", both)
    shop.says("rules stay the same", 0, ["2 files, 1 definition: 0 errors"], ruled, both)


def published(shop):
    if not CONFIGS.is_dir():
        shop.checks.skip("published configs", "../shared is not there")
        return
    for config in sorted(path for path in CONFIGS.iterdir() if path.suffix in (".json", ".xml")):
        shop.says(config.name, 0, [], config)
        if config.suffix == ".json":
            there_and_back(shop, config.name, config)
            continue
        xml = shop.folder / f"again_{config.name}"
        done = run("udo-check", config, "--convert", "xml", "-o", xml)
        if done.returncode == 0 and "not written" not in done.stderr:
            shop.says(f"{config.name}: XML again", 0, ["2 files"], config, xml)
        else:
            shop.checks.check(f"{config.name}: XML says why not", done.stderr, done.stderr)
        out = shop.folder / "published.json"
        out.unlink(missing_ok=True)
        done = run("udo-check", config, "--convert", "json", "-o", out)
        if done.returncode == 0:
            shop.says(f"{config.name}: what was written", 0, [], out)
        else:
            shop.checks.check(f"{config.name}: says why", "error:" in done.stderr and not out.exists(), done.stderr)
        if done.returncode == 0 and not done.stderr:
            shop.says(f"{config.name}: the same", 0, ["2 files"], config, out)


def main():
    checks = Checks()
    for part in (alone, usage, against_a_model, faults_of_a_model, options_of_the_model, conversion, published):
        with tempfile.TemporaryDirectory() as folder:
            part(Shop(checks, folder))
    checks.finish()


main()
