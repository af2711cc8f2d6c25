# SPDX-License-Identifier: Apache-2.0
"""net-run --isolate: what a package does to its process costs the inference that it was called for, and no other."""

import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import SDK  # noqa: E402
from checks import Checks, run, when_busy  # noqa: E402
from onnx_writer import FLOAT, Model  # noqa: E402

# y = 2 x + how often this process executed the op; the first element says what is done instead.
LIBRARY = """#include "CPU/QnnCpuOpPackage.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *names[] = {"Twice"};
static int asked(const char *place) { const char *how = getenv("MISBEHAVE"); return how && strcmp(how, place) == 0; }
static void misbehave(int how) {
    if (how == 1) *(volatile int *)8 = 0;
    if (how == 2) exit(0);
    if (how == 3) abort();
    if (how == 4) for (;;) pause();
    if (how == 5) raise(SIGKILL);
    if (how == 6) close(3), close(4), close(5), close(6), close(7); }
static Qnn_ErrorHandle_t init(QnnOpPackage_GlobalInfrastructure_t g) { (void)g; if (asked("init")) misbehave(1); return 0; }
static Qnn_ErrorHandle_t terminate(void) {
    FILE *f = getenv("TERMINATED") ? fopen(getenv("TERMINATED"), "a") : NULL;
    if (f) { fputs("terminated\\n", f); fclose(f); }
    return 0; }
static Qnn_ErrorHandle_t info(const QnnOpPackage_Info_t **out) {
    static QnnOpPackage_Info_t i = QNN_OP_PACKAGE_INFO_INIT;
    i.packageName = "Pairs"; i.operationNames = names; i.numOperations = 1; *out = &i; return 0; }
static Qnn_ErrorHandle_t validate(Qnn_OpConfig_t c) { (void)c; return asked("validate") ? 77 : 0; }
static Qnn_ErrorHandle_t execute(void *data) {
    QnnCpuOpPackage_Node_t *n = data;
    const float *x = n->inputs[0]->data;
    float *y = n->outputs[0]->data;
    static int count;
    if (x[0] == 9) return 78;
    misbehave((int)x[0]);
    count++;
    for (int i = 0; i < 4; i++) y[i] = 2 * x[i] + (float)count;
    return 0; }
static Qnn_ErrorHandle_t create(QnnOpPackage_GraphInfrastructure_t g, QnnOpPackage_Node_t n, QnnOpPackage_OpImpl_t *out) {
    (void)g;
    static QnnCpuOpPackage_OpImpl_t impl = {execute, NULL};
    if (asked("create")) misbehave(1);
    if (asked("hang")) misbehave(4);
    impl.userData = n; *out = &impl; return 0; }
static Qnn_ErrorHandle_t release(QnnOpPackage_OpImpl_t i) { (void)i; return 0; }
QNN_API Qnn_ErrorHandle_t Provide(QnnOpPackage_Interface_t *i) {
    i->interfaceVersion.major = 1; i->interfaceVersion.minor = 4;
    i->v1_4.init = init; i->v1_4.terminate = terminate; i->v1_4.getInfo = info; i->v1_4.validateOpConfig = validate;
    i->v1_4.createOpImpl = create; i->v1_4.freeOpImpl = release; return 0; }
"""
OP = {"type": "Twice", "inputs": [{"name": "x", "data_type": "FLOAT_32"}], "core_types": ["CPU"],
      "outputs": [{"name": "y", "data_type": "FLOAT_32"}]}


def prepare(checks, folder):
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [4])
    m.node("Twice", ["x"], ["t"], name="twice", domain="test")
    m.node("Relu", ["t"], ["y"], name="relu")
    m.output("y", FLOAT, [4])
    m.save(folder / "m.onnx")
    (folder / "ops.json").write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Pairs", "Operators": [OP]}}))
    done = run("onnx-to-dlc", "-i", "m.onnx", "--udo_config_paths", "ops.json", "-o", "m.dlc", cwd=folder)
    checks.equal("conversion", done.returncode, 0)
    (folder / "pairs.c").write_text(LIBRARY)
    compiled = subprocess.run(["cc", "-shared", "-fPIC", "-I", SDK / "QNN", "pairs.c", "-o", "libpairs.so"], cwd=folder,
                              check=False, capture_output=True, text=True)
    checks.equal("compiles", (compiled.returncode, compiled.stderr), (0, ""))


def execute(folder, firsts, *options, environment=None):
    """Inferences whose first elements are these; net-run's end, and the results that there are."""
    for i, first in enumerate(firsts):
        (folder / f"x{i}.raw").write_bytes(struct.pack("<4f", first, 1, -2, i))
    (folder / "list.txt").write_text("".join(f"x:=x{i}.raw\n" for i in range(len(firsts))))
    subprocess.run(["rm", "-rf", folder / "out"], check=True)
    done = run("net-run", "--container", "m.dlc", "--input_list", "list.txt", "--output_dir", "out", "--op_packages",
               "./libpairs.so:Provide", *options, cwd=folder, env={**os.environ, **(environment or {})})
    found = {}
    for i in range(len(firsts)):
        file = folder / "out" / f"Result_{i}" / "y.raw"
        if file.exists():
            found[i] = struct.unpack("<4f", file.read_bytes())
    return done, found


def expected(first, index, count):
    return tuple(max(0.0, 2.0 * x + count) for x in (first, 1, -2, index))


def same_results(checks, folder):
    firsts = [0.5, 0, -1, 0.25]
    done, found = execute(folder, firsts)
    isolated, again = execute(folder, firsts, "--isolate")
    checks.equal("plain status", (done.returncode, done.stderr), (0, ""))
    checks.equal("isolated status", (isolated.returncode, isolated.stderr), (0, ""))
    checks.equal("plain results", found, {i: expected(f, i, i + 1) for i, f in enumerate(firsts)})
    checks.equal("isolated results", again, found)
    checks.equal("what is printed", isolated.stdout, done.stdout)
    explained = [execute(folder, firsts, "--explain", *more)[0].stdout for more in ([], ["--isolate"])]
    checks.equal("explanations", explained[1], explained[0])
    checks.check("the package is named", "package      Twice" in explained[1], explained[1])
    profiled, _ = execute(folder, firsts, "--isolate", "--profile")
    checks.check("profile", "all of 2 steps, mean of 4 executions" in profiled.stdout, profiled.stdout)
    debugged, _ = execute(folder, firsts, "--isolate", "--debug")
    checks.equal("debug status", (debugged.returncode, debugged.stderr), (0, ""))
    t = struct.unpack("<4f", (folder / "out/Result_1/t.raw").read_bytes())
    checks.equal("an inner tensor", t, (2.0, 4.0, -2.0, 4.0))
    marks = folder / "terminated.txt"
    execute(folder, firsts, "--isolate", environment={"TERMINATED": str(marks)})
    checks.equal("the package is terminated once", marks.read_text() if marks.exists() else "", "terminated\n")


def ends(checks, folder):
    """Inference 1 of 4 ends the process; the others have results, the later ones of a new process."""
    node = "node 'twice': op Twice of package Pairs, library ./libpairs.so"
    for label, how, words in (("segfault", 1, [node, "ended the process: SIGSEGV"]),
                              ("exit", 2, [node, "ended the process: it called exit"]),
                              ("abort", 3, [node, "ended the process: SIGABRT"]),
                              ("killed", 5, [node, "was at work when the process that executes ended: signal 9"]),
                              ("closed descriptors", 6, ["the process that executes ended"]),
                              ("an error", 9, ["execute of op Twice, package Pairs, gives error 78"])):
        done, found = execute(folder, [0.5, how, 0, -1], "--isolate")
        checks.equal(f"{label}: status", done.returncode, 1)
        for word in [*words, "list.txt:2", "inference 1 has no results"]:
            checks.check(f"{label}: {word}", word in done.stderr, done.stderr)
        first = 2 if how == 9 else 1
        checks.equal(f"{label}: the others", found, {0: expected(0.5, 0, 1), 2: expected(0, 2, first), 3: expected(-1, 3, first + 1)})
        checks.check(f"{label}: the count", "3 inferences executed" in done.stdout, done.stdout)


def times(checks, folder):
    limit = when_busy(2)
    done, found = execute(folder, [0.5, 4, 0], "--isolate", "--isolate_timeout", limit)
    checks.equal("a hang: status", done.returncode, 1)
    checks.check("a hang: message", "node 'twice': op Twice of package Pairs" in done.stderr
                 and f"did not return within {limit} seconds" in done.stderr, done.stderr)
    checks.equal("a hang: the others", found, {0: expected(0.5, 0, 1), 2: expected(0, 2, 1)})
    done, found = execute(folder, [0.5], "--isolate", "--isolate_timeout", "1", environment={"MISBEHAVE": "hang"})
    checks.equal("a hang in create", (done.returncode, found), (1, {}))
    checks.check("a hang in create: message", "did not return within 1 seconds" in done.stderr, done.stderr)
    done, _ = execute(folder, [0.5], "--isolate_timeout", "1")
    checks.equal("a timeout without --isolate", done.returncode, 2)


def preparing(checks, folder):
    """What ends the process before the first inference ends the session."""
    for place, words in (("init", ["loading package", "libpairs.so", "ended the process: SIGSEGV"]),
                         ("create", ["node 'twice'", "op Twice", "ended the process: SIGSEGV"]),
                         ("validate", ["validateOpConfig of op Twice, package Pairs, gives error 77"])):
        done, found = execute(folder, [0.5, 0], "--isolate", environment={"MISBEHAVE": place})
        checks.equal(f"{place}: status", (done.returncode, found), (1, {}))
        for word in words:
            checks.check(f"{place}: {word}", word in done.stderr, done.stderr)
    done = run("net-run", "--container", "m.dlc", "--input_list", "list.txt", "--isolate", "--op_packages",
               "./nothing.so:Provide", "--udo_package_path", "nowhere.so", cwd=folder)
    checks.equal("missing libraries: status", done.returncode, 1)
    for name in ("nothing.so", "nowhere.so"):
        checks.check(f"missing libraries: {name}", name in done.stderr, done.stderr)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        prepare(checks, folder)
        for test in (same_results, ends, times, preparing):
            test(checks, folder)
    checks.finish()


main()
