# SPDX-License-Identifier: Apache-2.0
"""udo-check --udo_package_path: a package without faults has no finding; each planted fault is found, and nothing else."""

import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import checked_report, fill_in, generate, make, registration  # noqa: E402
from checks import BUILD, Checks, run, when_busy  # noqa: E402

LIMIT = when_busy(2)  # seconds for an op
COUNTED = (BUILD / "src/trial/odlc-count-allocations.so").exists()
HEAD = """    const float *x = getTensorData<float>(operation->getInput(0));
    float *y = getTensorDataRef<float>(operation->getOutput(0));
    const uint32_t n = numTensorSize(operation->getInput(0));
    (void)x, (void)y, (void)n;
"""
DOUBLE = "    for (uint32_t i = 0; i < n; i++)\n        y[i] = 2 * x[i];\n"
# Name of the op → (body of its kernel behind HEAD, the one finding's code, words of its message).
FAULTS = {
    "WritesBehind": (DOUBLE + "    y[n] = 1;\n", "kernel-out-of-bounds", "accesses memory behind output 0"),
    "WritesBefore": (DOUBLE + "    y[-1] = 1;\n", "kernel-out-of-bounds", "accesses memory before output 0"),
    "ReadsBehind": ("    for (uint32_t i = 0; i < n; i++)\n        y[i] = x[i + 1];\n", "kernel-out-of-bounds",
                    "accesses memory behind input 0"),
    "LeavesOut": ("    for (uint32_t i = 0; i + 1 < n || i == 0; i++)\n        y[i] = x[i];\n", "kernel-output-unwritten",
                  "does not write element 4 of output 0"),
    "AddsUp": ("    for (uint32_t i = 0; i < n; i++)\n        y[i] += x[i];\n", "kernel-output-read",
               "depends on what an output held before: element 0 of output 0"),
    "Allocates": ("    std::vector<float> copy(x, x + n);\n    for (uint32_t i = 0; i < n; i++)\n        y[i] = copy[i];\n",
                  "kernel-allocates", "asks for or gives back memory 2 times in a call"),
    "CountsCalls": ("    static int calls = 0;\n    calls++;\n    for (uint32_t i = 0; i < n; i++)\n"
                    "        y[i] = x[i] + static_cast<float>(calls);\n",
                    "kernel-not-repeatable", "gives another result in a later call: element 0 of output 0"),
    "IsRandom": ("    for (uint32_t i = 0; i < n; i++)\n        y[i] = x[i] + static_cast<float>(rand());\n",
                 "kernel-not-repeatable", "gives another result"),
    "WritesInput": (DOUBLE + "    const_cast<float *>(x)[0] = 1;\n", "kernel-writes-input", "writes into input 0"),
    "SharesScratch": ("    static volatile float scratch[1 << 16];\n    for (uint32_t i = 0; i < n; i++)\n"
                      "        scratch[i] = x[i];\n    sched_yield();\n    for (uint32_t i = 0; i < n; i++)\n"
                      "        y[i] = scratch[i];\n", "kernel-not-thread-safe", "while other threads execute ops"),
    "Crashes": ("    *reinterpret_cast<volatile int *>(8) = 1;\n", "kernel-crash", "is ended by signal 11"),
    "Aborts": ("    abort();\n", "kernel-crash", "is ended by signal 6"),
    "Throws": ("    throw 1;\n", "kernel-fails", "execute gives error 3006 (QNN_OP_PACKAGE_ERROR_GENERAL)"),
    "Exits": ("    exit(3);\n", "kernel-exits", "ends the process with status 3"),
    "Hangs": ("    const timespec second = {1, 0};\n    for (volatile bool on = true; on;)\n        nanosleep(&second, nullptr);\n",
              "kernel-hangs", f"does not end in {LIMIT} seconds"),
    "Refuses": ("    return QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT;\n", "kernel-fails",
                "QNN_OP_PACKAGE_ERROR_INVALID_ARGUMENT"),
}


def op_of(name, inputs=("x",), **more):
    return {"type": name, "inputs": [{"name": x, "data_type": "FLOAT_32"} for x in inputs], "core_types": ["CPU"],
            "outputs": [{"name": "y", "data_type": "FLOAT_32", "shape": "same_as in0"}], **more}


def build(checks, folder, name, bodies, ops):
    """A package of that name, by its config; bodies: type → the whole of execute."""
    config = folder / f"{name}.json"
    config.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": name, "Operators": ops}}))
    done = generate([config], folder)
    checks.check(f"{name}: generates", done.returncode == 0, done.stderr)
    for op, body in bodies.items():
        fill_in(folder / name, op, body)
    done = make(folder / name, "cpu_x86", flags="-O0 -Wno-error")
    checks.check(f"{name}: compiles", done.returncode == 0, done.stderr[-2000:])
    return config


def check(config, package, *options):
    """(status, findings by op and code, the report)"""
    done = run("udo-check", config, "--udo_package_path", registration(package), "--json", *options)
    report = checked_report(done.stdout) if done.stdout else None
    return done, {op["type"]: op for op in report["kernels"]} if report else {}


def codes(op):
    return [found["code"] for found in op["findings"]]


def clean(checks, folder):
    """Several kinds of operands; the numbers of the report, its text, and the native operators of the same types."""
    static = op_of("Scaled", ("x",))
    static["inputs"].append({"name": "w", "data_type": "FLOAT_32", "static": True})
    static["scalar_params"] = [{"name": "factor", "data_type": "FLOAT_32"}]
    static["tensor_params"] = [{"name": "list", "data_type": "INT_32"}]
    integers = op_of("Picks")
    integers["inputs"].append({"name": "i", "data_type": "INT_32"})
    scaled = HEAD + """
    const double factor = backend_utils::getScalarParam(operation->getParam("factor"));
    const int32_t *list = static_cast<const int32_t *>(backend_utils::getTensorParam(operation->getParam("list"))->data);
    for (uint32_t i = 0; i < n; i++)
        y[i] = static_cast<float>(factor) * x[i] * getTensorData<float>(operation->getInput(1))[i] + static_cast<float>(list[1]);
"""
    picks = HEAD + """
    for (uint32_t i = 0; i < n; i++)
        y[i] = n > 1 ? x[getTensorData<int32_t>(operation->getInput(1))[i]] : x[0];
"""
    relu = HEAD + "    for (uint32_t i = 0; i < n; i++)\n        y[i] = x[i] > 0 ? x[i] : 0;\n"
    config = build(checks, folder, "Clean", {"Scaled": scaled, "Picks": picks, "Relu": relu},
                   [static, integers, op_of("Relu")])
    done, ops = check(config, folder / "Clean", "--against", "Relu")
    checks.equal("clean: status", (done.returncode, done.stderr), (0, ""))
    checks.equal("clean: findings", {name: codes(op) for name, op in ops.items()}, {"Scaled": [], "Picks": [], "Relu": []})
    for name, op in ops.items():
        checks.equal(f"clean: {name} is tried", (op["inputs_tried"], op["inputs_refused"]), (6, 0))
        checks.check(f"clean: {name} is measured", 0 < op["microseconds"] < 1e7, op["microseconds"])
        checks.equal(f"clean: {name} counted", op["allocations_counted"], COUNTED)
    checks.equal("clean: compared", (ops["Relu"].get("against"), ops["Relu"].get("largest_difference")), ("Relu", 0))
    checks.equal("clean: odd numbers", [ops["Relu"].get(key) for key in ("nan", "infinity", "denormal")],
                 ["not in the outputs", "kept", "kept"])
    checks.equal("clean: not compared", ops["Scaled"].get("against"), None)
    done = run("udo-check", config, "--udo_package_path", registration(folder / "Clean"))
    checks.check("clean: text", "op Relu of package Clean" in done.stdout and
                 "0 findings on 6 made inputs, 0 of them refused" in done.stdout, done.stdout[-600:])
    if not COUNTED:
        checks.skip("counting allocations", "the library that counts is not built with sanitizers")


def faults(checks, folder):
    """All in one package, so that a crash or a hang does not keep others from being tried."""
    bodies = {name: HEAD + body for name, (body, _, _) in FAULTS.items()}
    without_shape = op_of("Open", ("x", "b"))
    del without_shape["outputs"][0]["shape"]
    config = build(checks, folder, "Faulty", {**bodies, "Last": HEAD + DOUBLE},
                   [op_of(name) for name in [*FAULTS, "Last"]] + [without_shape])
    done, ops = check(config, folder / "Faulty", "--timeout", LIMIT)
    checks.equal("faults: status", done.returncode, 1)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    for number, (name, (_, code, words)) in enumerate(FAULTS.items()):
        if code == "kernel-allocates" and not COUNTED:
            checks.skip(name, "the library that counts is not built with sanitizers")
            continue
        found = ops.get(name, {"findings": []})["findings"]
        checks.equal(f"{name}: codes", [f["code"] for f in found], [code])
        checks.check(f"{name}: message", found and words in found[0]["message"], found)
        said = [line for line in lines if f"op {name} of package Faulty" in line["message"]]
        checks.check(f"{name}: diagnostic", len(said) == 1 and said[0]["code"] == code and said[0]["line"] == 1, said)
        checks.check(f"{name}: names the input", found and re.search(r"input \[\d|load|memory", found[0]["message"]), found)
    checks.equal("faults: the last op", codes(ops["Last"]), [])
    checks.equal("faults: no made input fits", codes(ops["Open"]), ["kernel-untried"])


def static_data(checks, folder):
    """Static inputs and tensor params are read-only, too."""
    op = op_of("Weights")
    op["inputs"].append({"name": "w", "data_type": "FLOAT_32", "static": True})
    listed = op_of("Listed", tensor_params=[{"name": "list", "data_type": "INT_32"}])
    write = HEAD + DOUBLE + "    const_cast<float *>(getTensorData<float>(operation->getInput(1)))[0] += 1;\n"
    change = HEAD + DOUBLE + """    const void *list = backend_utils::getTensorParam(operation->getParam("list"))->data;
    static_cast<int32_t *>(const_cast<void *>(list))[1] = 7;
"""
    config = build(checks, folder, "Static", {"Weights": write, "Listed": change}, [op, listed])
    _, ops = check(config, folder / "Static")
    for name, words in (("Weights", "writes into input 1"), ("Listed", "writes into param 'list'")):
        found = ops[name]["findings"]
        checks.equal(f"{name}: codes", codes(ops[name]), ["kernel-writes-input"])
        checks.check(f"{name}: message", found and words in found[0]["message"], found)


def optional(checks, folder):
    """An optional input is tried absent, too: a kernel that reads it all the same crashes."""
    op = op_of("Optional", ("x", "b", "c"))
    op["inputs"][1]["optional"] = True
    guarded = HEAD + """    const CustomOpTensorPtr_t b = operation->getInput(1);
    for (uint32_t i = 0; i < n; i++)
        y[i] = x[i] + (b->data ? getTensorData<float>(b)[i] : 0) + getTensorData<float>(operation->getInput(2))[i];
"""
    for name, body, expected in (("Asks", guarded, []), ("Forgets", guarded.replace("b->data ?", "b ?"), ["kernel-crash"])):
        config = build(checks, folder, name, {"Optional": body}, [op])
        _, ops = check(config, folder / name)
        checks.equal(f"optional, {name}", codes(ops["Optional"]), expected)
        checks.equal(f"optional, {name}: tried", ops["Optional"]["inputs_tried"], 12 if not expected else 2)


def native(checks, folder):
    """A result that is off by a thousandth differs from the native operator's; the place is named."""
    body = HEAD + "    for (uint32_t i = 0; i < n; i++)\n        y[i] = tanhf(x[i]) + (i == 3 ? 1e-3f : 0);\n"
    config = build(checks, folder, "Off", {"Mine": body}, [op_of("Mine")])
    done, ops = check(config, folder / "Off", "--against", "Mine=Tanh")
    found = ops["Mine"]["findings"]
    checks.equal("native: codes", (done.returncode, codes(ops["Mine"])), (1, ["kernel-differs"]))
    checks.check("native: place", found and "operator Tanh in element 3 of output 0" in found[0]["message"], found)
    checks.check("native: difference", abs(ops["Mine"]["largest_difference"] - 1e-3) < 1e-6, ops["Mine"])
    done, ops = check(config, folder / "Off", "--against", "Mine=NoSuchOp")
    checks.equal("native: none", codes(ops["Mine"]), ["kernel-not-compared"])
    done = run("udo-check", config, "--against", "Mine")
    checks.equal("native: without a package", done.returncode, 2)


def registrations(checks, folder):
    """Configs that are not those of the library."""
    body = {"One": HEAD + DOUBLE, "Two": HEAD + DOUBLE}
    build(checks, folder, "Pair", body, [op_of("One"), op_of("Two")])
    other = folder / "other.json"

    def codes_for(ops, name="Pair"):
        other.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": name, "Operators": ops}}))
        done, _ = check(other, folder / "Pair")
        return done.returncode, [json.loads(line)["code"] for line in done.stderr.splitlines()]

    checks.equal("the same", codes_for([op_of("One"), op_of("Two")]), (0, []))
    checks.equal("an op is not described", codes_for([op_of("One")]), (1, ["package-op-undescribed"]))
    checks.equal("an op is missing", codes_for([op_of("One"), op_of("Two"), op_of("Three")]), (1, ["package-op-missing"]))
    status, found = codes_for([op_of("One", scalar_params=[{"name": "p", "data_type": "INT_32"}]), op_of("Two")])
    checks.equal("a param more, which the library refuses", (status, found), (1, ["registration-count", "kernel-untried"]))
    status, found = codes_for([op_of("One", core_types=["CPU", "GPU"]), op_of("Two")])
    checks.equal("a core more", (status, found), (1, ["registration-core"]))
    one = op_of("One")
    one["inputs"][0]["static"] = True
    checks.equal("a static input", codes_for([one, op_of("Two")])[1], ["registration-static"])
    checks.check("another package", "package-undescribed" in codes_for([op_of("One")], "Else")[1])
    done = run("udo-check", folder / "Pair.json", "--udo_package_path", folder / "none.so", "--json")
    checks.equal("no library", (done.returncode, json.loads(done.stderr)["code"]), (1, "package-missing"))


def main():
    checks = Checks()
    for test in (clean, faults, static_data, optional, native, registrations):
        with tempfile.TemporaryDirectory() as folder:
            test(checks, pathlib.Path(folder))
    checks.finish()


main()
