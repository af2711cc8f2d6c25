# SPDX-License-Identifier: Apache-2.0
"""Shapes and types of outputs that a library tells at conversion: what the library is told of the node, what becomes of
its answers, and libraries with a fault each, which are errors that name op, node and library."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "convert")]
from workshop import SDK  # noqa: E402
from checks import Checks, run  # noqa: E402
from conversion import Workshop  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from onnx_writer import FLOAT, INT64, Model  # noqa: E402

PRELUDE = """#include "QnnOpPackage.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define IN(i) (op->v1.inputTensors[i].v1)
#define OUT(j) (op->v1.outputTensors[j].v1)
#define SHAPES(Op) Qnn_ErrorHandle_t Op##ShapeInference(Qnn_OpConfig_t *op)
#define TYPES(Op) Qnn_ErrorHandle_t Op##DataTypeInference(Qnn_OpConfig_t *op)
#define NOT_SUPPORTED QNN_COMMON_ERROR_NOT_SUPPORTED
#ifdef __cplusplus
extern "C" {
#endif
SHAPES(None); /* marked, also where nothing is defined */
static inline const Qnn_Param_t *param(Qnn_OpConfig_t *op, const char *name) {
    for (uint32_t i = 0; i < op->v1.numOfParams; i++)
        if (strcmp(op->v1.params[i].name, name) == 0)
            return &op->v1.params[i];
    return NULL;
}
static inline void like(Qnn_OpConfig_t *op, uint32_t j, uint32_t i) {
    OUT(j).rank = IN(i).rank;
    memcpy(OUT(j).dimensions, IN(i).dimensions, IN(i).rank * sizeof *IN(i).dimensions);
}
"""
OPS = """
SHAPES(Grow) { /* by a param: the last two dimensions are multiplied */
    like(op, 0, 0);
    for (uint32_t i = 1; i <= 2; i++)
        OUT(0).dimensions[IN(0).rank - i] *= (uint32_t)param(op, "factor")->scalarParam.int32Value;
    return QNN_SUCCESS;
}
SHAPES(Join) { /* by the shapes of all inputs */
    uint32_t axis = param(op, "axis")->scalarParam.uint32Value;
    like(op, 0, 0);
    for (uint32_t i = 1; i < op->v1.numOfInputs; i++)
        OUT(0).dimensions[axis] += IN(i).dimensions[axis];
    return QNN_SUCCESS;
}
SHAPES(Refit) { /* by the data of a static input */
    const int32_t *dims = (const int32_t *)IN(1).clientBuf.data;
    if (IN(1).type != QNN_TENSOR_TYPE_STATIC || IN(1).dataType != QNN_DATATYPE_INT_32)
        return 99;
    OUT(0).rank = IN(1).dimensions[0];
    for (uint32_t i = 0; i < OUT(0).rank; i++)
        OUT(0).dimensions[i] = (uint32_t)dims[i];
    return QNN_SUCCESS;
}
SHAPES(Halves) { /* several outputs */
    like(op, 0, 0);
    like(op, 2, 0);
    OUT(0).dimensions[0] /= 2;
    OUT(2).dimensions[0] -= OUT(0).dimensions[0];
    OUT(1).rank = 1;
    OUT(1).dimensions[0] = 2;
    return QNN_SUCCESS;
}
TYPES(Halves) {
    OUT(0).dataType = OUT(2).dataType = IN(0).dataType;
    OUT(1).dataType = OUT(1).rank == 1 ? QNN_DATATYPE_INT_32 : QNN_DATATYPE_BOOL_8; /* shapes come first */
    return QNN_SUCCESS;
}
SHAPES(Tell) { /* what the function sees, as dimensions */
    const Qnn_Param_t *list = param(op, "list"), *word = param(op, "word"), *rate = param(op, "rate");
    const uint32_t *d = IN(0).dimensions;
    uint32_t *to = OUT(0).dimensions;
    if (op->version != QNN_OPCONFIG_VERSION_1 || strcmp(op->v1.name, "teller") || strcmp(op->v1.packageName, "Shop") ||
        strcmp(op->v1.typeName, "Tell") || strcmp(IN(0).name, "x") || strcmp(OUT(0).name, "y"))
        return 80;
    if (IN(0).dataType != QNN_DATATYPE_FLOAT_32 || IN(0).type != QNN_TENSOR_TYPE_APP_WRITE || IN(0).clientBuf.data)
        return 81;
    if (OUT(0).rank || OUT(0).dataType != QNN_DATATYPE_UNDEFINED || op->v1.numOfInputs != 3)
        return 82;
    if (IN(1).type != QNN_TENSOR_TYPE_NULL || IN(1).rank || IN(2).dataType != QNN_DATATYPE_INT_64)
        return 83;
    OUT(0).rank = 8;
    to[0] = IN(0).rank;
    to[1] = d[1];
    to[2] = list->tensorParam.v1.dimensions[0];
    to[3] = (uint32_t)((const float *)list->tensorParam.v1.clientBuf.data)[2];
    to[4] = (uint32_t)strlen(word->scalarParam.stringValue);
    to[5] = (uint32_t)(rate->scalarParam.floatValue * 4);
    to[6] = param(op, "yes")->scalarParam.bool8Value + 1u;
    to[7] = op->v1.numOfParams;
    return QNN_SUCCESS;
}
TYPES(Tell) { OUT(0).dataType = QNN_DATATYPE_INT_32; return QNN_SUCCESS; }
TYPES(Typed) { OUT(0).dataType = IN(0).dataType; return QNN_SUCCESS; }
"""


def compile_library(path, body, compiler="cc", prelude=PRELUDE):
    language = "c++" if compiler.endswith("++") else "c"
    end = "\n#ifdef __cplusplus\n}\n#endif\n" if prelude else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([compiler, "-x", language, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-I", SDK / "QNN", "-o",
                    path, "-"], input=prelude + body + end, text=True, check=True)
    return path


def op(op_type, inputs=1, outputs=1, **more):
    """A definition that says no shapes; inputs and outputs may be lists of entries."""
    entries = [[{} for _ in range(given)] if isinstance(given, int) else given for given in (inputs, outputs)]
    return {"type": op_type, "inputs": entries[0], "outputs": entries[1], "core_types": ["CPU"], **more}


def scalar(name, data_type, **more):
    return {"name": name, "data_type": data_type, **more}


GROW = op("Grow", scalar_params=[scalar("factor", "INT_32", default_value=2)])
JOIN = op("Join", [{"repeated": True}], scalar_params=[scalar("axis", "UINT_32")])


def model(outputs, inputs=None):
    """Graph outputs say nothing of their shapes."""
    m = Model(opset=13, domains=["test"])
    for name, (kind, dims) in (inputs or {"x": (FLOAT, [1, 6, 4, 5])}).items():
        m.input(name, kind, dims)
    for name, kind in outputs.items():
        m.output(name, kind, None)
    return m


def found(container, *names):
    tensors = container.tensors
    return [(tensors[name].dtype, list(tensors[name].dims)) for name in names]


def depends_on_all(shop, library):
    """Params, shapes of inputs, static data, several outputs, a chain of ops of which the next needs the one before."""
    m = model({"y": FLOAT, "z": FLOAT, "low": FLOAT, "count": INT64, "high": FLOAT})
    m.tensor("dims", INT64, [3], [2, 30, 2])
    m.node("Grow", ["x"], ["big"], name="grow", domain="test", factor=3)
    m.node("Grow", ["big"], ["bigger"], name="again", domain="test")
    m.node("Join", ["x", "x", "bigger"], ["y"], name="join", domain="test", axis=1)
    m.node("Refit", ["x", "dims"], ["z"], name="refit", domain="test")
    m.node("Halves", ["z"], ["low", "count", "high"], name="halves", domain="test")
    refit = op("Refit", [{}, {"static": True, "data_type": "INT_32"}])
    container, _ = shop.convert("ops", m, "--udo_config_paths", shop.config(GROW, JOIN, refit, op("Halves", 1, 3)), "-cpl", library,
                                "--io_layout", "model")
    if container:
        shop.checks.equal("ops: outputs", found(container, "big", "bigger", "y", "z", "low", "count", "high"), [
            ("FLOAT_32", [1, 6, 12, 15]), ("FLOAT_32", [1, 6, 24, 30]), ("FLOAT_32", [1, 18, 4, 5]),
            ("FLOAT_32", [2, 30, 2]), ("FLOAT_32", [1, 30, 2]), ("INT_32", [2]), ("FLOAT_32", [1, 30, 2])])


def is_told(shop, library):
    m = model({"y": INT64}, {"x": (FLOAT, [3, 7]), "k": (INT64, [2])})
    m.node("Tell", ["x", "", "k"], ["y"], name="teller", domain="test", list=[0.5, 1.5, 9.0], word="abcd", rate=1.25, yes=1)
    definition = op("Tell", [{}, {"optional": True}, {}],
                    scalar_params=[scalar("word", "STRING"), scalar("rate", "FLOAT_32"), scalar("yes", "BOOL_8"),
                                   scalar("unset", "INT_8", default_value=-3)],
                    tensor_params=[scalar("list", "FLOAT_32")])
    container, _ = shop.convert("told", m, "--udo_config_paths", shop.config(definition, package="Shop"), "-cpl", library)
    if container:
        shop.checks.equal("told: output", found(container, "y"), [("INT_32", [2, 7, 3, 9, 4, 5, 2, 5])])


def layouts(shop, library):
    """Functions see and tell what the definition declares: the model is NCHW."""
    m = model({"y": FLOAT})
    m.node("Grow", ["x"], ["y"], name="grow", domain="test", factor=3)
    entry = [{"tensor_layout": "NHWC"}]
    definition = {**GROW, "inputs": entry, "outputs": entry}
    container, _ = shop.convert("layouts", m, "--udo_config_paths", shop.config(definition), "-cpl", library)
    if container:  # [1,4,5,6] becomes [1,4,15,18]
        shop.checks.equal("layouts: output", found(container, "y"), [("FLOAT_32", [1, 4, 15, 18])])


def order(shop, folder, library):
    """A shape rule and the model come before a library, which is not called then; of several libraries the first."""
    fails = compile_library(folder / "fails.so", "SHAPES(Grow) { (void)op; return 77; }\nTYPES(Grow) { (void)op; return 77; }")
    declines = compile_library(folder / "declines.so", "SHAPES(Grow) { (void)op; return NOT_SUPPORTED; }")
    twice = compile_library(folder / "twice.so", "SHAPES(Grow) { like(op, 0, 0); OUT(0).dimensions[0] = 2; return 0; }")
    m = model({"y": FLOAT})
    m.node("Grow", ["x"], ["y"], name="grow", domain="test")
    ruled = {**GROW, "outputs": [{"shape": [1, 2, "in0[2]", 3]}]}
    told = Model(opset=13, domains=["test"])
    told.input("x", FLOAT, [1, 6, 4, 5])
    told.node("Grow", ["x"], ["y"], name="grow", domain="test")
    told.output("y", FLOAT, [1, 9, 8, 7])
    plain, ruled = shop.config(GROW), shop.config(ruled, name="ruled.json")
    for label, given, config, libraries, dims in (
            ("rule", m, ruled, [fails], [1, 2, 4, 3]), ("model", told, plain, [fails], [1, 9, 8, 7]),
            ("first", m, plain, [twice, library], [2, 6, 4, 5]), ("declined", m, plain, [declines, library], [1, 6, 8, 10]),
            ("second", m, plain, [library, fails], [1, 6, 8, 10])):
        container, messages = shop.convert(label, given, "--udo_config_paths", config, "--converter_op_package_lib",
                                           ",".join(map(str, libraries)), "--io_layout", "model")
        if container:
            shop.checks.equal(f"{label}: output", found(container, "y"), [("FLOAT_32", dims)])
            shop.checks.check(f"{label}: no guess", "udo-shape-assumed" not in messages and "taken" not in messages, messages)
    native = model({"y": FLOAT})
    native.node("Relu", ["x"], ["t"], name="relu")
    native.node("Relu", ["t"], ["y"], name="relu2")
    wide = compile_library(folder / "wide.so", "SHAPES(Relu) { like(op, 0, 0); OUT(0).dimensions[3] *= 3; return 0; }")
    container, _ = shop.convert("native", native, "--udo_config_paths", shop.config(op("Relu")), "-cpl", wide, "--io_layout", "model")
    if container:
        shop.checks.equal("native: outputs", found(container, "t", "y"), [("FLOAT_32", [1, 6, 4, 15]), ("FLOAT_32", [1, 6, 4, 45])])
    words = ["nothing tells the shape of output 0", f"nor does a JoinShapeInference of {declines}"]
    m = model({"y": FLOAT})
    m.node("Join", ["x", "x"], ["y"], name="join", domain="test", axis=0)
    shop.fails("no function", 1, words, m, "--udo_config_paths", shop.config(JOIN), "-cpl", declines)
    words = ["nothing tells the shape of output 0", "LikelyShapeInference"]
    declines = compile_library(folder / "likely.so", "SHAPES(Likely) { (void)op; return NOT_SUPPORTED; }")
    m = model({"y": FLOAT})
    m.node("Likely", ["x", "x"], ["y"], name="n", domain="test")
    shop.fails("nobody answers", 1, words, m, "--udo_config_paths", shop.config(op("Likely", 2)), "-cpl", declines)


def types(shop, folder):
    """The type that is told stands for what the definition leaves open, and suits what readers take."""
    m = model({"y": INT64}, {"x": (INT64, [2, 3])})
    m.node("Typed", ["x"], ["t"], name="typed", domain="test")
    m.node("Add", ["t", "x"], ["y"], name="add")
    definition = op("Typed", outputs=[{"shape": "same_as in0"}])
    source = "TYPES(Typed) { OUT(0).dataType = %s; return QNN_SUCCESS; }"
    several = {**definition, "outputs": [{"shape": "same_as in0", "data_type": "BOOL_8"}]}
    for label, config, told, dtype in (("as input", definition, "IN(0).dataType", "INT_32"),
                                       ("narrow", definition, "QNN_DATATYPE_INT_32", "INT_32")):
        library = compile_library(folder / f"{label[:2]}.so", source % told)
        container, _ = shop.convert(label, m, "--udo_config_paths", shop.config(config), "-cpl", library)
        if container:
            shop.checks.equal(f"{label}: type", found(container, "t", "y"), [(dtype, [2, 3])] * 2)
    unread = model({"t": FLOAT}, {"x": (FLOAT, [2, 3]), "b": (FLOAT, [2, 3])})
    unread.node("Typed", ["x"], ["q"], name="typed", domain="test")
    unread.node("Cast", ["q"], ["t"], name="cast", to=1)
    # A real number needs no Cast, so its value has the name of the Cast's.
    for told, name, dtype in (("QNN_DATATYPE_BOOL_8", "q", "BOOL_8"), ("QNN_DATATYPE_UINT_8", "q", "UINT_8"),
                              ("QNN_DATATYPE_UFIXED_POINT_8", "t", "FLOAT_32")):
        library = compile_library(folder / f"{told}.so", source % told)
        container, _ = shop.convert(told, unread, "--udo_config_paths", shop.config(definition), "-cpl", library)
        if container:
            shop.checks.equal(f"{told}: type", found(container, name), [(dtype, [2, 3])])
    for label, given, config, told, words in (
            ("not declared", m, several, "QNN_DATATYPE_INT_64", ["gives output 0 the type INT_64, but it is declared BOOL_8", "ops.json:"]),
            ("not as read", m, definition, "QNN_DATATYPE_FLOAT_32", ["the type FLOAT_32, but node 'add' takes it as INT_64"]),
            ("no type", unread, definition, "(Qnn_DataType_t)0x777", ["gives output 0 the type 0x0777, which there is not"]),
            ("undefined", unread, definition, "QNN_DATATYPE_UNDEFINED", ["leaves the type of output 0 undefined"])):
        library = compile_library(folder / f"type {label}.so", source % told)
        shop.fails(label, 1, [*words, "TypedDataTypeInference of op 'Typed'", "node 'typed'", str(library)], given, "--udo_config_paths",
                   shop.config(config), "-cpl", library)


def faults(shop, folder):
    m = model({"y": FLOAT})
    m.node("Grow", ["x"], ["y"], name="grow", domain="test")
    config = shop.config(GROW)
    compilers = [("cc", "c"), *([("g++", "cc")] if shutil.which("g++") else [])]

    inner = model({"z": FLOAT})  # the model does not say the type of a value that is no output
    inner.node("Grow", ["x"], ["y"], name="grow", domain="test")
    inner.node("Relu", ["y"], ["z"], name="relu")

    def fault(label, body, *words, m=m, compiler="cc", function="GrowShapeInference"):
        library = compile_library(folder / f"{label}.so", body, compiler)
        said = shop.fails(label, 1, [*words, f"{function} of op 'Grow'", "node 'grow'", str(library)], m, "--udo_config_paths", config, "-cpl",
                          library)
        shop.checks.equal(f"{label}: one error", said.count("error:"), 1)

    body = "SHAPES(Grow) { %s; return QNN_SUCCESS; }"
    fault("crash", body % "(void)op; *(volatile int *)8 = 0", "is ended by signal 11 (Segmentation fault)")
    fault("abort", body % "(void)op; abort()", "is ended by signal 6 (Aborted)")
    fault("exit", body % "(void)op; exit(3)", "ends the process with status 3", "returns an error instead")
    fault("quiet exit", body % "(void)op; _exit(0)", "ends the process with status 0")
    fault("stack", "static int deep(volatile int *p) { volatile int a[4096]; a[0] = *p + 1; return a[0] < 0 ? 0 : deep(a) + a[0]; }\n"
          "SHAPES(Grow) { (void)op; int z = 0; return (Qnn_ErrorHandle_t)deep(&z); }", "is ended by signal 11")
    if len(compilers) > 1:
        fault("throw", body % "(void)op; throw 1", "is ended by signal 6", "an exception", compiler="g++")
    else:
        shop.checks.skip("throw", "there is no g++")
    fault("number", "SHAPES(Grow) { (void)op; return 77; }", "returns error 77")
    fault("named number", "SHAPES(Grow) { (void)op; return QNN_OP_PACKAGE_ERROR_GENERAL; }",
          "(QNN_OP_PACKAGE_ERROR_GENERAL)")
    fault("type number", "SHAPES(Grow) { like(op, 0, 0); return 0; }\nTYPES(Grow) { (void)op; return 78; }", "returns error 78",
          m=inner, function="GrowDataTypeInference")
    fault("type crash", "SHAPES(Grow) { like(op, 0, 0); return 0; }\nTYPES(Grow) { (void)op; abort(); }", "is ended by signal 6",
          m=inner, function="GrowDataTypeInference")
    fault("no rank", body % "(void)op", "leaves the rank of output 0 0")
    fault("rank 9", body % "OUT(0).rank = 9", "rank 9; the highest is 8")
    fault("huge rank", body % "OUT(0).rank = 0xffffffffu", "rank 4294967295; the highest is 8")
    fault("zero", body % "like(op, 0, 0); OUT(0).dimensions[1] = 0", "[1,0,4,5], which has no elements")
    fault("overflow", body % "OUT(0).rank = 3; memset(OUT(0).dimensions, 0xff, 12)", "[4294967295,4294967295,4294967295], which is too large")
    fault("other dimensions", body % "OUT(0).rank = 2; OUT(0).dimensions = (uint32_t *)8", "is ended by signal 11")


def open_dims(shop, folder, library):
    """Dimensions that the model fixes hold; those that it leaves open are the library's."""
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [1, 6, 4, 5])
    m.node("Grow", ["x"], ["y"], name="grow", domain="test")
    m.output("y", FLOAT, [1, "c", 8, "w"])
    container, _ = shop.convert("open", m, "--udo_config_paths", shop.config(GROW), "-cpl", library, "--io_layout", "model")
    if container:
        shop.checks.equal("open: output", found(container, "y"), [("FLOAT_32", [1, 6, 8, 10])])
    other = compile_library(folder / "seven.so", "SHAPES(Grow) { like(op, 0, 0); OUT(0).dimensions[2] = 7; return 0; }")
    shop.fails("contradicted", 1, ["gives output 0 the shape [1,6,7,5], but the model leaves only [1,?,8,?] open", "GrowShapeInference",
                                   "node 'grow'", str(other)], m, "--udo_config_paths", shop.config(GROW), "-cpl", other)
    symbolic = model({"y": FLOAT}, {"x": (FLOAT, ["n", 6, 4, 5])})
    symbolic.node("Grow", ["x"], ["y"], name="grow", domain="test")
    shop.fails("symbolic input", 1, ["n"], symbolic, "--udo_config_paths", shop.config(GROW), "-cpl", library)
    container, _ = shop.convert("given input", symbolic, "--udo_config_paths", shop.config(GROW), "-cpl", library, "-d", "x", "3,6,4,5",
                                "--io_layout", "model")
    if container:
        shop.checks.equal("given input: output", found(container, "y"), [("FLOAT_32", [3, 6, 8, 10])])


def hangs(shop, folder):
    """Ten seconds once, however many nodes there are."""
    asked = folder / "asked"
    library = compile_library(folder / "hangs.so", f"""SHAPES(Grow) {{
    (void)op;
    close(open("{asked}", O_WRONLY | O_CREAT | O_EXCL, 0600) < 0 ? open("{asked}.again", O_WRONLY | O_CREAT, 0600) : -1);
    for (;;)
        pause();
}}""")
    m = model({"y": FLOAT, "z": FLOAT})
    m.node("Grow", ["x"], ["y"], name="grow", domain="test")
    m.node("Grow", ["x"], ["z"], name="second", domain="test")
    shop.fails("hangs", 1, ["node 'grow': GrowShapeInference of op 'Grow' does not end in 10 seconds",
                            "node 'second'", "is not asked", str(library)], m, "--udo_config_paths", shop.config(GROW), "-cpl", library)
    shop.checks.equal("hangs: is asked once", (asked.exists(), (folder / "asked.again").exists()), (True, False))


def libraries(shop, folder):
    """What cannot be loaded is said before the model is read; of all libraries at once."""
    m = model({"y": FLOAT})
    m.node("Grow", ["x"], ["y"], name="grow", domain="test")
    text = folder / "text.so"
    text.write_text("no library")
    foreign = compile_library(folder / "foreign.so", "int f(void); int f(void) { return 1; }", prelude="")
    in_tree = compile_library(folder / "Shop/libs/x86/foreign.so", "int f(void); int f(void) { return 1; }", prelude="")
    load = "__attribute__((constructor)) static void begin(void) { %s; }"
    ends, crashes = (compile_library(folder / f"{name}.so", load % code)
                     for name, code in (("ends", "exit(4)"), ("crashes", "abort()")))
    older = compile_library(folder / "older.so", "const uint32_t odlc_sdk_abi = 99;\n", prelude="#include <stdint.h>\n").resolve()
    named = [folder / "none.so", text, foreign, in_tree, ends, crashes, older, "libnone-of-that-name.so"]
    said = shop.fails("libraries", 1, [
        f"{folder}/none.so: error: there is no such library", f"{text}: error: the library cannot be loaded",
        f"{foreign}: error: the library was compiled with other headers", f"make -C {folder}/Shop cpu_x86",
        f"{ends}: error: the library, while it is loaded, ends the process with status 4",
        f"{crashes}: error: the library, while it is loaded, is ended by signal 6", f"{older}: error: the library was compiled with another version",
        "libnone-of-that-name.so: error: the library cannot be loaded", "LD_LIBRARY_PATH"], m, "--udo_config_paths", shop.config(GROW),
        "-cpl", ",".join(map(str, named[:3])), "-cpl", *named[3:])
    shop.checks.equal("libraries: each is named", said.count("error:"), len(named))


def tensorflow(shop, library):
    try:
        import numpy
        import tf_writer
    except ImportError:
        shop.checks.skip("tensorflow", "there is no NumPy")
        return
    g = tf_writer.Graph()
    x = g.placeholder("x", numpy.float32, [2, 4, 5, 6])
    big = g.node("Grow", [x], name="big", factor=3, outputs={"y": numpy.float32})
    g.node("Halves", [big], name="halves", outputs={"low": numpy.float32, "count": numpy.int32, "high": numpy.float32})
    g.node("Join", [big, big], name="joined", axis=0, outputs={"y": numpy.float32})
    path = shop.folder / "graph.pb"
    g.save(path)
    out = shop.folder / "graph.dlc"
    done = run("tensorflow-to-dlc", "-i", path, "-o", out, "--out_node", "joined", "--out_node", "halves:2", "--out_node", "halves:1",
               "--udo_config_paths", shop.config(GROW, JOIN, op("Halves", 1, 3)), "-cpl", library)
    if shop.checks.equal(f"tensorflow: status {done.stderr}", done.returncode, 0):
        shop.checks.equal("tensorflow: outputs", found(read_container(out), "big:0", "joined:0", "halves:1", "halves:2"), [
            ("FLOAT_32", [2, 4, 15, 18]), ("FLOAT_32", [4, 4, 15, 18]), ("INT_32", [2]), ("FLOAT_32", [1, 4, 15, 18])])


def reported(shop, library):
    """udo-check says where a shape comes from; its option is the same."""
    m = model({"y": FLOAT})
    m.node("Grow", ["x"], ["y"], name="grow", domain="test")
    config = shop.config(GROW)
    done = run("udo-check", config, "--model", shop.save(m, "checked"), "-cpl", library, "--json")
    report = json.loads(done.stdout)
    output = report["definitions"][0]["nodes"][0]["outputs"][0]
    shop.checks.equal("udo-check: output", (output["origin"], output["dims"]), ("library", [1, 6, 8, 10]))
    done = run("udo-check", config, "--model", shop.folder / "checked.onnx", "-cpl", library)
    shop.checks.check("udo-check: text", "shape by library" in done.stdout, done.stdout + done.stderr)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shop = Workshop(checks, folder)
        library = compile_library(folder / "ops.so", OPS)
        depends_on_all(shop, library)
        is_told(shop, library)
        layouts(shop, library)
        order(shop, folder, library)
        types(shop, folder)
        faults(shop, folder)
        open_dims(shop, folder, library)
        libraries(shop, folder)
        tensorflow(shop, library)
        reported(shop, library)
        hangs(shop, folder)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
