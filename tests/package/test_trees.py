# SPDX-License-Identifier: Apache-2.0
"""Trees of udo-package-generator: for published and random configs the files are those that the documented tree has for the
config, registration, CPU, GPU and old DSP sources compile without edits and warnings, and packages run as generated."""

import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import COMPILERS, HOST_LIBS, SDK, generate, make, registration, stand_in  # noqa: E402
from checks import LONG, SHARED, Checks, leave_out, run, share_of  # noqa: E402
from onnx_writer import FLOAT, Model  # noqa: E402

LEGACY = {"v60", "v65", "v66"}
ALWAYS = """Makefile common.mk include/utils/IUdoOpDefinition.hpp include/utils/UdoMacros.hpp include/utils/UdoUtil.hpp
jni/Android.mk jni/Application.mk jni/src/reg/Makefile jni/src/reg/<P>RegLib.cpp jni/src/utils/UdoUtil.cpp"""
OF_CORE = {
    "CPU": """Makefile makefiles/Android.mk makefiles/Application.mk makefiles/Makefile.linux-x86_64
        src/CpuCustomOpPackage.cpp src/<P>Interface.cpp src/utils/BackendUtils.hpp src/utils/CustomOpUtils.hpp
        src/utils/CPU/CpuBackendUtils.cpp src/utils/CPU/CpuBackendUtils.hpp""",
    "GPU": """Makefile include/GpuCustomOpPackage.hpp include/Operation.hpp makefiles/Android.mk makefiles/Application.mk
        src/GpuCustomOpPackage.cpp src/<P>Interface.cpp""",
    "DSP": "Makefile include/DspOps.hpp src/<P>Interface.cpp",
    "DSP_V68": "Makefile src/<P>Interface.cpp",
}
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


# ---- what a config asks for


def folders_of(cores, archs):
    found = [core for core in cores if core != "DSP"]
    if "DSP" in cores:
        found += ["DSP"] if LEGACY & set(archs) else []
        found += ["DSP_V68"] if not archs or set(archs) - LEGACY else []
    return found


def packages_of(config):
    """Package → op → its folders."""
    packages = {}
    if config.suffix == ".json":
        for package in json.loads(config.read_text()).values():
            ops = packages.setdefault(package["UDO_PACKAGE_NAME"], {})
            for op in package["Operators"]:
                ops[op["type"]] = folders_of(op.get("core_types", []), op.get("dsp_arch_types", []))
        return packages
    root = xml.parse(config).getroot()
    ops = packages.setdefault(root.get("PackageName"), {})
    for op in root.iter("OpDef"):
        words = [word.text.strip().upper() for word in op.findall("SupportedBackend")]
        cores = {{"HTP": "DSP"}.get(word.split("_")[0], word.split("_")[0]) for word in words}
        archs = [word.split("_")[1].lower() for word in words if "_" in word]
        ops[op.find("Name").text.strip()] = folders_of(cores, archs)
    return packages


def tree_of(package, ops, config):
    files = ALWAYS.split() + [f"config/{config}"]
    for folder, own in OF_CORE.items():
        of_core = [op for op, folders in ops.items() if folder in folders]
        if of_core:
            files += [f"jni/src/{folder}/{path}" for path in own.split()]
            files += [f"jni/src/{folder}/src/ops/{op}.cpp" for op in of_core]
    return sorted(path.replace("<P>", package) for path in files)


def same_trees(checks, config, out, *options):
    """Whether the packages of the config have the files that they should have."""
    done = generate([config], out, *options)
    if not checks.equal(f"{config.name}: status", done.returncode, 0) or not out.is_dir():
        return print(done.stderr)
    expected = packages_of(config)
    checks.equal(f"{config.name}: packages", sorted(path.name for path in out.iterdir()), sorted(expected))
    for package, ops in expected.items():
        found = sorted(str(path.relative_to(out / package)) for path in (out / package).rglob("*") if path.is_file())
        more = ["CMakeLists.txt"] if options else []
        checks.equal(f"{config.name}: tree of {package}", found, sorted(tree_of(package, ops, config.name) + more))
    return True


# ---- sources


def includes(package, *folders):
    return [f"-I{path}" for path in (SDK, SDK / "QNN", SDK / "CustomOp", *(package / folder for folder in folders))]


def sources_of(package, libraries):
    """Each library's sources with the flags that they are compiled with."""
    every = {
        "reg": ["include/utils"],
        "utils": ["include/utils"],
        "CPU": ["jni/src/CPU/src", "jni/src/CPU/src/utils", "jni/src/CPU/src/utils/CPU"],
        "GPU": ["jni/src/GPU/include"],
        "DSP": ["jni/src/DSP/include"],
    }
    for library in libraries:
        for source in sorted((package / "jni/src" / library).rglob("*.cpp")):
            yield source, includes(package, *every[library])


def are_sound(checks, package, compilers, libraries, seen=set()):
    """No compiler warns of any source; those that differ in the package's name alone are tried once."""
    for compiler in compilers:
        for source, flags in sources_of(package, libraries):
            text = (compiler, source.read_text().replace(package.name, "<P>"))
            if text in seen:
                continue
            seen.add(text)
            command = [compiler, "-std=c++11", "-fsyntax-only", *WARNINGS, *flags, str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            checks.check(f"{compiler}: {package.name}: {source.name}", done.returncode == 0, done.stderr[-1500:])


def kernels_compile(checks, package, found):
    """The kernels in GPU sources are OpenCL C."""
    for source in sorted((package / "jni/src/GPU/src/ops").glob("*.cpp")):
        text = source.read_text()
        kernel = text[text.index('R"(') + 3:text.index(')";')]
        found.append(source.name)
        command = ["clang", "-xcl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-fsyntax-only",
                   "--target=spir64", *(f"-D{side}{i}=float" for side in ("INPUT", "OUTPUT") for i in range(16)), *WARNINGS, "-Wno-unused-parameter", "-"]
        done = subprocess.run(command, input=kernel, capture_output=True, text=True, check=False)
        checks.check(f"kernel of {source}", done.returncode == 0, done.stderr[-1500:])


# ---- random configs


def random_tensor(r, name):
    t = {"name": name, "data_type": "FLOAT_32"}
    if r.random() < 0.2:
        t = {"name": name, "per_core_data_types": {"CPU": "FLOAT_32", "GPU": "FLOAT_16", "DSP": "UINT_8"}}
    if r.random() < 0.5:
        t["tensor_layout"] = r.choice(["NHWC", "NCHW"])
    return t


def random_op(r, name):
    cores = r.sample(["CPU", "GPU", "DSP"], r.randint(1, 3))
    op = {"type": name, "core_types": cores,
          "inputs": [random_tensor(r, f"in{i}") for i in range(r.randint(1, 4))],
          "outputs": [random_tensor(r, f"out{i}") for i in range(r.randint(1, 3))]}
    if r.random() < 0.3:
        op["inputs"].append({"name": "weights", "data_type": "FLOAT_32", "static": True})
    if "DSP" in cores and r.random() < 0.7:
        op["dsp_arch_types"] = r.sample(["v60", "v65", "v66", "v68", "v73", "v79"], r.randint(1, 3))
    kinds = ["FLOAT_32", "INT_32", "UINT_8", "STRING", "BOOL_8"]
    op["scalar_params"] = [{"name": f"scalar{i}", "data_type": r.choice(kinds)} for i in range(r.randint(0, 3))]
    op["tensor_params"] = [{"name": f"list{i}", "data_type": r.choice(["FLOAT_32", "INT_32"])} for i in range(r.randint(0, 2))]
    return op


def random_config(r, number):
    """Ops have unique names, as a conversion asks for; some words are C++'s or OpenCL's own in lower case."""
    words = ["Float", "Max", "Relu", "my_op", "Kernel", "X9", "Half", "While", "Exp", "Template"]
    packages = {}
    for i in range(r.randint(1, 3)):
        ops = [random_op(r, f"{word}{i}" if i else word) for word in r.sample(words, r.randint(1, 4))]
        packages[f"UdoPackage_{i}"] = {"UDO_PACKAGE_NAME": f"Random{number}_{i}", "Operators": ops}
    return packages


ATTRIBUTES = {"FLOAT_32": 0.5, "INT_32": -3, "UINT_8": 7, "STRING": "word", "BOOL_8": 1}


def model_of(folder, config):
    """A model with a node for each op of a CPU; the outputs' names."""
    m = Model(opset=13, domains=["test"])
    names = []
    for package in config.values():
        for op in package["Operators"]:
            if "CPU" not in op["core_types"]:
                continue
            label = op["type"].lower()
            ins = [f"{label}.{t['name']}" for t in op["inputs"]]
            outs = [f"{label}.{t['name']}" for t in op["outputs"]]
            for name, t in zip(ins, op["inputs"]):
                if t.get("static"):
                    m.tensor(name, FLOAT, [4], [0.5, 1, 2, 3])
                else:
                    m.input(name, FLOAT, [1, 2, 3, 4])
            params = {p["name"]: ATTRIBUTES[p["data_type"]] for p in op["scalar_params"]}
            params.update({p["name"]: [1.5, 2.5] if p["data_type"] == "FLOAT_32" else [1, 2] for p in op["tensor_params"]})
            m.node(op["type"], ins, outs, name=label, domain="test", **params)
            for name in outs:
                m.output(name, FLOAT, [1, 2, 3, 4])
            names += [(name, None) for name in outs] + [(None, name) for name, t in zip(ins, op["inputs"]) if not t.get("static")]
    m.save(folder / "model.onnx")
    return [out for out, _ in names if out], [name for _, name in names if name]


def runs(checks, config, out, folder, compiler):
    """All libraries are compiled, loaded and executed: what nobody fills in gives zeros."""
    described = json.loads(config.read_text())
    outputs, inputs = model_of(folder, described)
    libraries = []
    for package in sorted(out.iterdir()):
        done = make(package, "all_x86", compiler)
        checks.check(f"{package.name}: {compiler} makes it", done.returncode == 0, done.stderr[-1500:])
        expected = [f"libUdo{package.name}ImplCpu.so"] * (package / "jni/src/CPU").is_dir() + [f"libUdo{package.name}Reg.so"]
        checks.equal(f"{package.name}: libraries", sorted(path.name for path in (package / HOST_LIBS).iterdir()), expected)
        if len(expected) == 2:
            libraries.append(str(registration(package)))
    if not outputs:
        return
    (folder / "x.raw").write_bytes(struct.pack("<24f", *range(1, 25)))
    (folder / "list.txt").write_text(" ".join(f"{name}:=x.raw" for name in inputs) + "\n")
    done = run("onnx-to-dlc", "-i", "model.onnx", "--udo_config_paths", config, "-o", "model.dlc", "--io_layout", "model", cwd=folder)
    checks.check(f"{config.name}: converts", done.returncode == 0, done.stderr[-1500:])
    done = run("net-run", "--container", "model.dlc", "--input_list", "list.txt", "--output_dir", "out",
               "--udo_package_path", ",".join(libraries), cwd=folder)
    checks.equal(f"{config.name}: net-run", (done.returncode, done.stderr), (0, ""))
    for name in outputs:
        path = folder / "out" / "Result_0" / f"{name}.raw"
        checks.equal(f"{config.name}: {name}", path.read_bytes() if path.exists() else None, bytes(96))


def randoms(checks, folder):
    total, full = 200 if LONG else 20, 10
    leave_out(200 - total, 200, "random configs")
    kernels = []
    for number in range(total):
        r = random.Random(number)
        config = folder / f"random{number}.json"
        config.write_text(json.dumps(random_config(r, number)))
        out = folder / f"out{number}"
        if not same_trees(checks, config, out, *(["--gen_cmakelists"] if number % 2 else [])):
            continue
        compiler = COMPILERS[number // full % len(COMPILERS)]
        if number % full == 0:
            work = folder / f"work{number}"
            work.mkdir()
            runs(checks, config, out, work, compiler)
        for package in sorted(out.iterdir()):
            libraries = ("GPU", "DSP") if number % full == 0 else ("reg", "CPU", "GPU", "DSP") if LONG or number % full == 1 else ()
            are_sound(checks, package, COMPILERS if LONG else [compiler], libraries)
            if shutil.which("clang") and (LONG or number < 4):
                kernels_compile(checks, package, kernels)
    if not shutil.which("clang"):
        checks.skip("kernels", "there is no clang, which reads OpenCL C")
    else:
        checks.check("there are kernels", len(kernels) > 4, kernels)


def published(checks, folder):
    corpus = SHARED / "corpus"
    configs = [path for name in ("udo-configs", "udo-cases") for path in sorted((corpus / name).rglob("*"))
               if path.suffix in (".json", ".xml")] if corpus.is_dir() else []
    if not configs:
        checks.skip("published configs", "the corpus is not there")
    compiled = share_of(configs, 5, "published configs, which are compiled")
    for number, config in enumerate(configs):
        out = folder / str(number)
        if not same_trees(checks, config, out) or config not in compiled:
            continue
        for package in sorted(out.iterdir()):
            compilers = COMPILERS if LONG else [COMPILERS[number % len(COMPILERS)]]
            are_sound(checks, package, compilers, ("reg", "CPU", "GPU", "DSP"))


# ---- an op of all cores


EVERY = {"type": "Scale", "core_types": ["CPU", "GPU", "DSP"], "dsp_arch_types": ["v66", "v73"],
         "inputs": [{"name": "x", "data_type": "FLOAT_32", "tensor_layout": "NHWC"},
                    {"name": "w", "data_type": "FLOAT_32", "static": True}],
         "outputs": [{"name": "y", "data_type": "FLOAT_32", "tensor_layout": "NHWC"}],
         "scalar_params": [{"name": "by", "data_type": "INT_32"}, {"name": "mode", "data_type": "STRING"}],
         "tensor_params": [{"name": "axes", "data_type": "INT_32"}]}


def every_core(folder, **changed):
    config = folder / "every.json"
    config.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Every", "Operators": [{**EVERY, **changed}]}}))
    done = generate([config], folder, "--gen_cmakelists")
    return folder / "Every", done


def comments(checks, folder):
    """Each source tells operands and params, and how its core reads them."""
    package, done = every_core(folder)
    checks.equal("comments: status", (done.returncode, done.stderr), (0, ""))
    common = ("Auto Generated Code for Every", "Add code here", "input 0, x: FLOAT_32, NHWC", "input 1, w: FLOAT_32, static",
              "output 0, y: FLOAT_32, NHWC", "param by, INT_32", "param mode, STRING")
    own = {
        "GPU": ('getScalarParam("by")', 'getStringParam("mode")', 'getTensorParam("axes")->v1.clientBuf.data',
                "class ScaleOperation : public Operation", "void ScaleOperation::setKernelInfo()",
                "__kernel void scaleKernel(__global const INPUT0 *in0, __global const INPUT1 *in1, __global OUTPUT0 *out0)"),
        "DSP": ('getParam(operation, "by")->scalarParam.dataValue.int32Value', 'getParam(operation, "mode")->stringParam',
                'getParam(operation, "axes")->tensorParam.tensorData',
                "SnpeUdo_ErrorType_t scale_executeOp(SnpeUdo_Operation *operation)"),
        "DSP_V68": ("GraphStatus scaleImpl(TensorType &out_0, const TensorType &in_0, const TensorType &in_1, const Tensor &param_0",
                    "BEGIN_PKG_OP_DEFINITION(PKG_Scale)", 'DEF_PACKAGE_OP((scaleImpl<Tensor>), "Scale")',
                    'DEF_PACKAGE_PARAM_ORDER("Scale", "by", true, nullptr', "END_PKG_OP_DEFINITION(PKG_Scale)"),
    }
    for folder_name, words in own.items():
        text = (package / f"jni/src/{folder_name}/src/ops/Scale.cpp").read_text()
        of_all = common if folder_name != "DSP_V68" else common[:5] + ("param by: INT_32", "param mode: STRING")
        for word in of_all + words:
            checks.check(f"{folder_name}: {word}", word in text, text[:2000])


def repeated(checks, folder):
    """An operand that is repeated stands for one or several of a node."""
    op = {**EVERY, "type": "Join", "core_types": ["CPU", "GPU"], "dsp_arch_types": [], "scalar_params": [], "tensor_params": [],
          "inputs": [{"name": "x", "data_type": "FLOAT_32"}, {"name": "more", "data_type": "FLOAT_32", "repeated": True}],
          "outputs": [{"name": "y", "data_type": "FLOAT_32"}]}
    config = folder / "join.json"
    config.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Join", "Operators": [op]}}))
    generate([config], folder)
    package = folder / "Join"
    are_sound(checks, package, COMPILERS, ("reg", "CPU", "GPU"))
    done = make(package, "cpu_x86")
    checks.check("repeated: compiles", done.returncode == 0, done.stderr[-1500:])
    (folder / "x.raw").write_bytes(struct.pack("<6f", *range(6)))
    for count in (2, 3, 5):
        m = Model(opset=13, domains=["test"])
        names = [f"x{i}" for i in range(count)]
        for name in names:
            m.input(name, FLOAT, [2, 3])
        m.node("Join", names, ["y"], name="join", domain="test")
        m.output("y", FLOAT, [2, 3])
        m.save(folder / "join.onnx")
        (folder / "list.txt").write_text(" ".join(f"{name}:=x.raw" for name in names) + "\n")
        done = run("onnx-to-dlc", "-i", "join.onnx", "--udo_config_paths", config, "-o", "join.dlc", cwd=folder)
        checks.check(f"repeated: {count} converts", done.returncode == 0, done.stderr)
        done = run("net-run", "--container", "join.dlc", "--input_list", "list.txt", "--output_dir", f"out{count}",
                   "--udo_package_path", registration(package), cwd=folder)
        if checks.equal(f"repeated: {count} runs", (done.returncode, done.stderr), (0, "")):
            checks.equal(f"repeated: {count}", (folder / f"out{count}/Result_0/y.raw").read_bytes(), bytes(24))


QHPI = """<OpDefCollection PackageName="Mixed" Domain="" Version="1.0" UseQHPI="{qhpi}"><OpDefList><OpDef><Name>{name}</Name>
<Input><Name>x</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_FLOAT_32</Datatype><Shape><Rank>4D</Rank></Shape></Input>
<Output><Name>y</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_FLOAT_32</Datatype><Shape><Rank>4D</Rank></Shape></Output>
<SupportedBackend>HTP</SupportedBackend></OpDef></OpDefList></OpDefCollection>"""


def qhpi(checks, folder):
    """UseQHPI chooses the interface of the sources for the DSP from v68 on, for the whole package."""
    first, second = folder / "first.xml", folder / "second.xml"
    first.write_text(QHPI.format(name="First", qhpi="true"))
    second.write_text(QHPI.format(name="Second", qhpi="false"))
    for config, name, words, others in ((first, "First", "first_float_32_Execute", "GraphStatus"),
                                        (second, "Second", "GraphStatus secondImpl", "QHPI_")):
        generate([config], folder / name)
        text = (folder / name / f"Mixed/jni/src/DSP_V68/src/ops/{name}.cpp").read_text()
        checks.check(f"QHPI: {name}", words in text and others not in text, text)
    done = generate([first, second], folder / "both")
    checks.check("QHPI: both", done.returncode == 1 and "package Mixed uses QHPI in one config, and not in another" in done.stderr
                 and not (folder / "both").exists(), done.stderr)


def old_dsp(checks, folder):
    """Devices take one op for a library of the DSP before v68; more are written, with a warning."""
    ops = [{**EVERY, "type": name, "core_types": ["DSP"], "dsp_arch_types": ["v66"]} for name in ("One", "Two")]
    config = folder / "two.json"
    config.write_text(json.dumps({"UdoPackage_0": {"UDO_PACKAGE_NAME": "Two", "Operators": ops}}))
    done = generate([config], folder)
    checks.check("old DSP: warning", done.returncode == 0 and "two.json: warning: package Two has several ops for the DSP before v68"
                 in done.stderr, done.stderr)
    interface = (folder / "Two/jni/src/DSP/src/TwoInterface.cpp").read_text()
    checks.check("old DSP: both", "one_executeOp" in interface and "two_executeOp" in interface, interface)


# ---- what libraries of devices do, compiled for this machine


GPU_HOST = r"""
#include <assert.h>
#include <stdio.h>
#include "GPU/QnnGpuOpPackage.h"
extern "C" Qnn_ErrorHandle_t EveryInterfaceProvider(QnnOpPackage_Interface_t *interface);
int main()
{
    QnnOpPackage_Interface_t i = QNN_OP_PACKAGE_INTERFACE_INIT;
    const QnnOpPackage_Info_t *info = nullptr;
    uint32_t dims[] = {1, 2, 3, 4};
    const QnnGpu_MemoryObject_t ins[2] = {}, out = {QNN_GPU_MEM_OBJ_TYPE_UNCLAIMED, QNN_DATATYPE_FLOAT_16, dims, nullptr, 4,
                                                    QNN_GPU_MEM_LAYOUT_UNDEFINED, {nullptr, 0}};
    Qnn_OpConfig_t config = Qnn_OpConfig_t();
    config.v1.typeName = "Scale";
    config.v1.numOfInputs = 2;
    config.v1.numOfOutputs = 1;
    QnnGpuOpPackage_Node_t node = {&config, ins, &out};
    QnnOpPackage_OpImpl_t impl = nullptr;
    assert(EveryInterfaceProvider(&i) == QNN_SUCCESS && i.v1_4.getInfo(&info) != QNN_SUCCESS);
    assert(i.v1_4.init(nullptr) == QNN_SUCCESS && i.v1_4.init(nullptr) != QNN_SUCCESS);
    assert(i.v1_4.getInfo(&info) == QNN_SUCCESS);
    printf("%s %u %s\n", info->packageName, info->numOperations, info->operationNames[0]);
    assert(((const QnnGpuOpPackage_PackageInfo_t *)info->packageInfo)->kernelRepoHash[0]);
    assert(i.v1_4.validateOpConfig(config) == QNN_SUCCESS);
    assert(i.v1_4.createOpImpl(nullptr, (QnnOpPackage_Node_t)&node, &impl) == QNN_SUCCESS);
    const QnnGpu_Operation_t *op = (const QnnGpu_Operation_t *)impl;
    const QnnGpu_Kernel_t *k = op->kernels;
    printf("%u %s %u %zu", op->numKernels, k->name, k->numWorkDimensions, k->globalWorkSizes[0]);
    for (uint32_t a = 0; a < k->numArgs; a++)
        printf(" %d:%u", k->args[a].type, k->args[a].index);
    assert(i.v1_4.freeOpImpl(impl) == QNN_SUCCESS && i.v1_4.freeOpImpl(impl) != QNN_SUCCESS);
    config.v1.numOfInputs = 3;
    assert(i.v1_4.validateOpConfig(config) == QNN_OP_PACKAGE_ERROR_VALIDATION_FAILURE);
    config.v1.typeName = "Other";
    assert(i.v1_4.validateOpConfig(config) != QNN_SUCCESS);
    assert(i.v1_4.createOpImpl(nullptr, (QnnOpPackage_Node_t)&node, &impl) != QNN_SUCCESS);
    assert(i.v1_4.terminate() == QNN_SUCCESS && i.v1_4.terminate() != QNN_SUCCESS);
}
"""
DSP_HOST = r"""
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "SnpeUdo/UdoImpl.h"
static uint32_t notified;
static int notify(const uint32_t id) { notified = id; return 0; }
int main()
{
    SnpeUdo_ImpInfo_t *info;
    SnpeUdo_QuantizationType_t *quantized, *quantizedOut;
    SnpeUdo_TensorLayout_t *layouts, *layoutsOut;
    uint32_t ins, outs, dims[1] = {2}, data[2] = {5, 6};
    char type[] = "Scale", other[] = "Other", name[] = "axes", mode[] = "mode", word[] = "smooth", by[] = "by";
    SnpeUdo_Param_t params[3] = {};
    params[0].paramType = SNPE_UDO_PARAMTYPE_TENSOR;
    params[0].paramName = name;
    params[0].tensorParam.tensorRank = 1;
    params[0].tensorParam.currDimensions = params[0].tensorParam.maxDimensions = dims;
    params[0].tensorParam.dataType = SNPE_UDO_DATATYPE_INT_32;
    params[0].tensorParam.tensorData = data;
    params[1].paramType = SNPE_UDO_PARAMTYPE_STRING;
    params[1].paramName = mode;
    params[1].stringParam = word;
    params[2].paramType = SNPE_UDO_PARAMTYPE_SCALAR;
    params[2].paramName = by;
    params[2].scalarParam.dataValue.int32Value = -7;
    SnpeUdo_TensorParam_t in[2] = {}, out = {};
    SnpeUdo_OpFactory_t factory;
    SnpeUdo_Operation_t operation;
    assert(SnpeUdo_initImplLibrary(nullptr) == SNPE_UDO_NO_ERROR && SnpeUdo_getImpInfo(&info) == SNPE_UDO_NO_ERROR);
    assert(SnpeUdo_getImpInfo(&info) == SNPE_UDO_NO_ERROR);
    printf("%s [%s] %u %d; ", info->packageName, info->operationsType, info->numOfOperations, info->coreType);
    assert(SnpeUdo_queryOperation(type, 3, params, &ins, &quantized, &layouts, &outs, &quantizedOut, &layoutsOut) == 0);
    printf("%u %u %d%d %d; ", ins, outs, layouts[0] == SNPE_UDO_LAYOUT_NHWC, layouts[1] == ODLC_UDO_LAYOUT_OTHER, quantized[1]);
    assert(SnpeUdo_createOpFactory(SNPE_UDO_CORETYPE_CPU, nullptr, type, 3, params, &factory) == SNPE_UDO_WRONG_CORE);
    assert(SnpeUdo_createOpFactory(SNPE_UDO_CORETYPE_DSP, nullptr, other, 0, params, &factory) == SNPE_UDO_WRONG_OPERATION);
    assert(SnpeUdo_createOpFactory(SNPE_UDO_CORETYPE_DSP, nullptr, type, 3, params, &factory) == SNPE_UDO_NO_ERROR);
    memset(data, 0, sizeof data); /* the library has copies */
    memset(params, 0, sizeof params);
    word[0] = 'X';
    assert(SnpeUdo_createOperation(factory, nullptr, 1, in, 1, &out, &operation) == SNPE_UDO_INVALID_ARGUMENT);
    assert(SnpeUdo_createOperation(factory, nullptr, 2, in, 1, &out, &operation) == SNPE_UDO_NO_ERROR);
    out.tensorData = dims;
    assert(SnpeUdo_executeOp(operation, true, 3, notify) == SNPE_UDO_NO_ERROR && notified == 0);
    assert(SnpeUdo_executeOp(operation, false, 3, notify) == SNPE_UDO_NO_ERROR && notified == 3);
    printf("%u", dims[0]);
    assert(SnpeUdo_releaseOp(operation) == SNPE_UDO_NO_ERROR && SnpeUdo_releaseOpFactory(factory) == SNPE_UDO_NO_ERROR);
    assert(SnpeUdo_terminateImplLibrary() == SNPE_UDO_NO_ERROR);
}
"""
DSP_BODY = """    const int32_t *axes = (const int32_t *)getParam(operation, "axes")->tensorParam.tensorData;
    if (getParam(operation, "none") || strcmp(getParam(operation, "mode")->stringParam, "smooth") != 0)
        return SNPE_UDO_INVALID_ARGUMENT;
    *(uint32_t *)operation->outputs[0].tensorData =
        (uint32_t)(axes[0] * 10 + axes[1] - getParam(operation, "by")->scalarParam.dataValue.int32Value);
"""


def hosted(checks, folder, package, library, host):
    """What the host's program prints that is linked with the library's sources; the sanitizers find no fault."""
    source = folder / f"{library}.cpp"
    source.write_text(host)
    sources = [(str(path), flags) for path, flags in sources_of(package, [library])]
    command = [COMPILERS[0], "-std=c++11", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *sources[0][1],
               str(source), *(path for path, _ in sources), "-o", folder / library]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if checks.check(f"{library}: compiles", done.returncode == 0, done.stderr[-1500:]):
        done = subprocess.run([folder / library], capture_output=True, text=True, check=False)
        checks.equal(f"{library}: runs", (done.returncode, done.stderr), (0, ""))
    return done.stdout


def device_libraries(checks, folder):
    package, _ = every_core(folder)
    op = package / "jni/src/DSP/src/ops/Scale.cpp"
    op.write_text(op.read_text().replace("    /* Add code here */\n    (void)operation;\n", DSP_BODY))
    checks.equal("GPU library", hosted(checks, folder, package, "GPU", GPU_HOST),
                 "Every 1 Scale\n1 scaleKernel 1 24 0:0 0:1 1:0")
    checks.equal("DSP library", hosted(checks, folder, package, "DSP", DSP_HOST), "Every [Scale] 1 4; 2 1 11 1; 63")


# ---- makefiles


SDK_OF = {"CL_LIBRARY_PATH": "libOpenCL.so", "ANDROID_NDK_ROOT": "the Android NDK", "HEXAGON_SDK_ROOT": "the Hexagon SDK 3.5",
          "HEXAGON_SDK4_ROOT": "the Hexagon SDK 4", "QNN_SDK_ROOT": "the QNN SDK", "SNPE_UDO_ROOT": "the SnpeUdo headers"}
HEXAGON = "there is no command hexagon-clang++"
NEEDED = {
    "gpu": ["ANDROID_NDK_ROOT", "CL_LIBRARY_PATH"], "gpu_android": ["ANDROID_NDK_ROOT", "CL_LIBRARY_PATH"],
    "dsp": ["ANDROID_NDK_ROOT", "HEXAGON_SDK_ROOT", "HEXAGON_SDK4_ROOT", "QNN_SDK_ROOT", HEXAGON],
    "dsp_android": ["ANDROID_NDK_ROOT", "HEXAGON_SDK_ROOT", "HEXAGON_SDK4_ROOT", "QNN_SDK_ROOT", HEXAGON],
    "dsp_v73": ["ANDROID_NDK_ROOT", "HEXAGON_SDK4_ROOT", "QNN_SDK_ROOT", HEXAGON],
    "dsp_x86": ["QNN_SDK_ROOT"], "dsp_aarch64": ["ANDROID_NDK_ROOT", "QNN_SDK_ROOT"],
    "reg": ["ANDROID_NDK_ROOT"], "cpu": ["ANDROID_NDK_ROOT"], "cpu_android": ["ANDROID_NDK_ROOT"],
    "reg_android": ["ANDROID_NDK_ROOT"], "all_android": ["ANDROID_NDK_ROOT", "CL_LIBRARY_PATH"],
    "all": ["ANDROID_NDK_ROOT", "CL_LIBRARY_PATH", "HEXAGON_SDK_ROOT", "HEXAGON_SDK4_ROOT", "QNN_SDK_ROOT", HEXAGON],
    "cpu_x86 gpu": ["ANDROID_NDK_ROOT", "CL_LIBRARY_PATH"],
}


def asks_for(checks, package, target, needed, **environment):
    """The target names all that it needs, nothing else, and leaves nothing behind."""
    unset = {name: "" for name in (*SDK_OF, "HEXAGON_TOOLS_ROOT")}
    done = subprocess.run(["make", "-C", package, *target.split(), *(f"{k}={v}" for k, v in {**unset, **environment}.items())],
                          capture_output=True, text=True, check=False)
    label = f"{target} {environment}"
    checks.check(f"{label}: fails", done.returncode != 0 and f"{target}: " in done.stderr, done.stderr)
    for name, what in SDK_OF.items():
        said = f"{name} is not set: " in done.stderr and what in done.stderr
        checks.check(f"{label}: {name}", said == (name in needed), done.stderr)
    for word in needed:
        checks.check(f"{label}: {word}", word in done.stderr, done.stderr)
    checks.check(f"{label}: starts nothing", not (package / "libs").exists() and not (package / "obj").exists())


def targets(checks, folder):
    package, _ = every_core(folder)
    sdk = {"ODLC_SDK_ROOT": str(SDK)}
    for target, needed in NEEDED.items():
        asks_for(checks, package, target, needed, **sdk)
    asks_for(checks, package, "cpu_x86", ["SNPE_UDO_ROOT", "QNN_SDK_ROOT"], SDK="vendor")
    asks_for(checks, package, "cpu_x86", ["there is no command no-compiler"], X86_CXX="no-compiler", **sdk)
    asks_for(checks, package, "cpu_android", ["there is no command /nowhere/ndk-build"], ANDROID_NDK_ROOT="/nowhere", **sdk)
    lean, _ = every_core(folder / "cpu", core_types=["CPU"], dsp_arch_types=[]) if not (folder / "cpu").mkdir() else None
    asks_for(checks, lean, "gpu dsp_x86", ["has no op for the GPU", "has no op for the DSP_V68"], **sdk)
    asks_for(checks, lean, "all", ["ANDROID_NDK_ROOT"], **sdk)
    for folder_name in ("CPU", "GPU", "DSP", "DSP_V68"):
        target = {"CPU": "cpu_android", "GPU": "gpu_android"}.get(folder_name, "dsp")
        done = subprocess.run(["make", "-C", package / "jni/src" / folder_name, target], capture_output=True, text=True, check=False)
        checks.check(f"{folder_name} alone", done.returncode != 0 and "ANDROID_NDK_ROOT is not set" in done.stderr, done.stderr)


def devices(checks, folder):
    """With the tools of devices, each library comes to its documented place."""
    package, _ = every_core(folder)
    tools = {"ANDROID_NDK_ROOT": folder / "ndk", "HEXAGON_SDK_ROOT": folder / "h3", "HEXAGON_SDK4_ROOT": folder / "h4",
             "QNN_SDK_ROOT": folder / "qnn", "CL_LIBRARY_PATH": folder / "cl"}
    stand_in(folder / "ndk/ndk-build")
    stand_in(folder / "ndk/toolchains/llvm/prebuilt/linux-x86_64/bin/aarch64-linux-android21-clang++")
    stand_in(folder / "h3/tools/HEXAGON_Tools/8.3.07/Tools/bin/hexagon-clang++")
    stand_in(folder / "h4/tools/HEXAGON_Tools/8.4.09/Tools/bin/hexagon-clang++")
    stand_in(folder / "bin/host")
    named = {name: str(path) for name, path in tools.items()}
    for target, libraries, words in (
            ("gpu", [], [f"APP_BUILD_SCRIPT={package}/jni/src/GPU/makefiles/Android.mk"]),
            ("dsp", ["dsp_v60/libUdoEveryImplDsp.so", "dsp_v68/libUdoEveryImplDsp.so"], ["8.3.07/", "-mv66", "8.4.09/", "-mv68"]),
            ("dsp_v73", ["dsp_v73/libUdoEveryImplDsp.so"], ["-mv73", "-DTHIS_PKG_NAME=Every"]),
            ("dsp_aarch64", ["arm64-v8a/libUdoEveryImplDsp_AltPrep.so"], ["-lQnnHtpPrepare"]),
            ("dsp_x86", ["x86-64_linux_clang/libUdoEveryImplDsp.so", "x86-64_linux_clang/libUdoEveryReg.so"], ["-DUSE_OS_LINUX"])):
        shutil.rmtree(package / "libs", ignore_errors=True)
        done = make(package, target, str(folder / "bin/host"), **named)
        checks.equal(f"{target}: status", (done.returncode, done.stderr), (0, ""))
        found = sorted(str(path.relative_to(package / "libs")) for path in (package / "libs").rglob("*.so"))
        checks.equal(f"{target}: libraries", found, libraries)
        for word in words:
            checks.check(f"{target}: {word}", word in done.stdout, done.stdout)


def cmake(checks, folder):
    if not shutil.which("cmake"):
        return checks.skip("cmake", "there is no cmake")
    package, _ = every_core(folder)
    generate([folder / "every.json"], folder / "c", "--gen_cmakelists", "--language", "c")
    for tree in share_of((package, folder / "c/Every"), 2, "languages of packages that CMake builds"):
        build = tree.parent / "build"
        command = ["cmake", "-S", tree, "-B", build, f"-DODLC_SDK_ROOT={SDK}", "-DCMAKE_CXX_FLAGS=-Werror"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        checks.check("cmake: configures", done.returncode == 0, done.stderr)
        done = subprocess.run(["cmake", "--build", build], capture_output=True, text=True, check=False)
        checks.check("cmake: builds", done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:])
        libraries = [path.name for path in sorted((tree / HOST_LIBS).iterdir())]
        checks.equal("cmake: libraries", libraries, ["libUdoEveryImplCpu.so", "libUdoEveryImplGpu.so", "libUdoEveryReg.so"])
    before = (package / "CMakeLists.txt").unlink() or generate([folder / "every.json"], folder)
    checks.check("no CMakeLists.txt without the option", before.returncode == 0 and not (package / "CMakeLists.txt").exists())


def main():
    checks = Checks()
    for test in (published, randoms, comments, repeated, qhpi, old_dsp, device_libraries, targets, devices, cmake):
        with tempfile.TemporaryDirectory() as folder:
            test(checks, pathlib.Path(folder))
    checks.finish()


main()
