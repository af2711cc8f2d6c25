# SPDX-License-Identifier: Apache-2.0
"""qnn-op-package-generator: trees as documented for published and random configs; CPU, QHPI and converter packages compile
without edits and warnings and load; a CPU package runs to its numbers, and a converter package tells shapes."""

import ctypes
import itertools
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import COMPILERS, EXECUTE, SDK, make, stand_in  # noqa: E402
from checks import LONG, SHARED, SOURCE, Checks, leave_out, run, share_of  # noqa: E402
from onnx_writer import FLOAT, Model  # noqa: E402

TREES = {
    "Cpu": """Makefile makefiles/Android.mk makefiles/Application.mk makefiles/Makefile.linux-x86_64
        src/<P>Interface.cpp src/CpuCustomOpPackage.cpp src/utils/BackendUtils.hpp src/utils/CustomOpUtils.hpp
        src/utils/CPU/CpuBackendUtils.cpp src/utils/CPU/CpuBackendUtils.hpp""",
    "Gpu": """Makefile makefiles/Android.mk makefiles/Application.mk makefiles/Makefile.linux-x86_64 include/GpuCustomOpPackage.hpp include/Operation.hpp
        src/<P>Interface.cpp src/GpuCustomOpPackage.cpp""",
    "Dsp": "Makefile include/DspOps.hpp src/<P>Interface.cpp",
    "Htp": "Makefile src/<P>Interface.cpp",
    "_Converter_Op_Package": "Makefile",
}
TARGETS = {"Cpu": "cpu_x86", "Htp": "htp_x86", "_Converter_Op_Package": "library"}
OLD_DSP = ("DSP", "DSP_V60", "DSP_V65", "DSP_V66")
TYPES = ["FLOAT_32", "FLOAT_16", "UFIXED_POINT_8", "UFIXED_POINT_16", "INT_32", "BOOL_8"]


def generate(configs, folder, *options):
    return run("qnn-op-package-generator", "-p", *configs, "-o", folder, *options)


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def kind_of(package):
    return next(suffix for suffix in TREES if package.name.endswith(suffix))


def library_of(package):
    return package / {"Cpu": f"libs/x86_64-linux-clang/lib{package.name}.so",
                      "Htp": f"build/x86_64-linux-clang/libQnn{package.name}.so",
                      "_Converter_Op_Package": "ConverterOpPackage/libConverterOpPackage.so"}[kind_of(package)]


def is_sound(checks, package, compiler):
    """Sources for other machines are read by this one's compiler."""
    for source in sorted((package / "src").rglob("*.cpp")):
        done = subprocess.run([compiler, "-std=c++11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{SDK}", f"-I{SDK}/QNN",
                               f"-I{SDK}/CustomOp", f"-I{package}/include", source], capture_output=True, text=True, check=False)
        checks.check(f"{package.name}: {compiler} takes {source.name}", done.returncode == 0, done.stderr[-1500:])


def makes(checks, package, compiler):
    if kind_of(package) in ("Gpu", "Dsp"):
        return is_sound(checks, package, compiler)
    done = make(package, TARGETS[kind_of(package)], compiler, "-O0 -Werror")
    checks.check(f"{package.name}: {compiler} makes it", done.returncode == 0, done.stderr[-1500:])
    checks.check(f"{package.name}: library", library_of(package).is_file())


# ---- configs


def operand(tag, name, types, rank="4D", more=""):
    types = "".join(f"<Datatype>QNN_DATATYPE_{word}</Datatype>" for word in types)
    return f"<{tag}><Name>{name}</Name><Mandatory>true</Mandatory>{types}<Shape><Rank>{rank}</Rank></Shape>{more}</{tag}>"


def op_of(name, backends=("CPU",), ins=(("FLOAT_32",),), outs=(("FLOAT_32",),), params=()):
    operands = [operand("Input", f"in{i}", types) for i, types in enumerate(ins)]
    operands += [operand("Output", f"out{i}", types) for i, types in enumerate(outs)]
    operands += [operand("Parameter", f"p{i}", [kind], rank) for i, (kind, rank) in enumerate(params)]
    words = "".join(f"<SupportedBackend>{word}</SupportedBackend>" for word in backends)
    return f"<OpDef><Name>{name}</Name>{''.join(operands)}{words}</OpDef>"


def write_config(path, package, *ops, qhpi=False):
    path.write_text(f'<OpDefCollection PackageName="{package}" Domain="test" Version="1.0"'
                    f'{" UseQHPI=" + chr(34) + "true" + chr(34) if qhpi else ""}><OpDefList>{"".join(ops)}</OpDefList>'
                    "</OpDefCollection>")
    return path


def expected_of(config):
    """Package → its files, and whether it is made of QHPI sources."""
    root = xml.parse(config).getroot()
    name, found = root.get("PackageName"), {}
    for op in root.iter("OpDef"):
        words = {word.text.strip().upper() for word in op.findall("SupportedBackend")}
        kinds = {"Dsp" if word in OLD_DSP else {"Dsp": "Htp"}.get(kind, kind) for word in words
                 for kind in [word.split("_")[0].capitalize()] if kind != "Aic"}
        for kind in [*kinds, "_Converter_Op_Package"]:
            package = name if name.upper().endswith(kind.upper()) else name + kind
            files = found.setdefault(package, [*TREES[kind].replace("<P>", package).split(), f"config/{config.name}"])
            files.append(f"src/ops/{op.find('Name').text.strip()}.cpp")
    return found, root.get("UseQHPI", "").lower() == "true"


def same_trees(checks, config, out):
    """The packages that compile by our headers, where the trees are those that are documented."""
    done = generate([config], out, "-cop")
    if not checks.equal(f"{config.name}: status", done.returncode, 0):
        print(done.stderr)
        return []
    expected, qhpi = expected_of(config)
    checks.equal(f"{config.name}: packages", sorted(path.name for path in out.iterdir()), sorted(expected))
    for package, files in expected.items():
        checks.equal(f"{config.name}: tree of {package}", files_of(out / package), sorted(files))
        if kind_of(out / package) == "Htp":
            checks.equal(f"{config.name}: a place for headers of {package}", list((out / package / "include").iterdir()), [])
    return [path for path in sorted(out.iterdir()) if qhpi or kind_of(path) != "Htp"]


def published(checks, folder):
    corpus = SHARED / "corpus"
    configs = sorted(path for name in ("udo-configs", "udo-cases") for path in (corpus / name).rglob("*.xml"))
    if not configs:
        return checks.skip("published configs", "the corpus is not there")
    # Beside these the first of each kind.
    kinds, compiled = set(), share_of(configs, 3, "published configs, of which op packages are compiled")
    for number, config in enumerate(configs):
        packages = same_trees(checks, config, folder / str(number))
        for package in (package for package in packages if config in compiled or kind_of(package) not in kinds):
            kinds.add(kind_of(package))
            for compiler in COMPILERS if LONG else [COMPILERS[number % len(COMPILERS)]]:
                make(package, "clean", compiler)
                makes(checks, package, compiler)
    checks.check("published: several kinds are made", len(kinds) > 2, kinds)


def random_config(r, folder, number):
    def types():
        return tuple(sorted(r.sample(TYPES, r.randint(1, 2))))

    def random_op(name):
        backends = r.choice([("CPU",), ("HTP",), ("CPU", "HTP"), ("GPU", "DSP"), ("CPU", "GPU", "DSP_V66", "HTP")])
        params = [(r.choice(["FLOAT_32", "INT_32", "UINT_8", "BOOL_8"]), r.choice(["SCALAR", "1D"])) for _ in range(r.randint(0, 3))]
        return op_of(name, backends, [types() for _ in range(r.randint(1, 3))], [types() for _ in range(r.randint(1, 2))], params)

    ops = [random_op(name) for name in r.sample(["Float", "Max", "my_op", "Kernel", "X9", "While", "Exp"], r.randint(1, 3))]
    return write_config(folder / f"random{number}.xml", f"Random{number}", *ops, qhpi=r.random() < 0.7)


def randoms(checks, folder):
    total, made = 200 if LONG else 20, 0
    leave_out(200 - total, 200, "random configs of op packages")
    for number in range(total):
        config = random_config(random.Random(number), folder, number)
        for package in same_trees(checks, config, folder / f"out{number}"):
            if LONG or number % 5 == 0:
                makes(checks, package, COMPILERS[made % len(COMPILERS)])
                made += 1
    checks.check("random: some are made", made > 4, made)


# ---- sources


def sources_of_htp(checks, folder):
    """A kernel for each combination of types, params behind the inputs; by macros, what the vendor's headers ask for."""
    both = ("FLOAT_32", "UFIXED_POINT_8")
    op = op_of("Mix", ["HTP"], [both, both, ("INT_32",)], [both], [("FLOAT_32", "SCALAR"), ("UINT_8", "1D")])
    generate([write_config(folder / "q.xml", "Shop", op, qhpi=True)], folder)
    text = (folder / "ShopHtp/src/ops/Mix.cpp").read_text()
    for tag, element in (("float_32_int_32_", "QHPI_Float32"), ("fixed_8_int_32_", "QHPI_QUInt8")):
        signature = text.split(f"mix_{tag}InputSignatures[] = {{\n", 1)[-1].split("};", 1)[0]
        rows = [line.strip().split("}")[0].strip("{").split(", ") for line in signature.splitlines()]
        checks.equal(f"inputs of {tag}", [(row[0], row[1], row[2]) for row in rows], [
            (element, "QHPI_Layout_Flat4", "QHPI_Storage_Direct"), (element, "QHPI_Layout_Flat4", "QHPI_Storage_Direct"),
            ("QHPI_Int32", "QHPI_Layout_Flat4", "QHPI_Storage_Direct"),
            ("QHPI_Float32", "QHPI_Layout_Flat4", "QHPI_Storage_Direct"),
            ("QHPI_QUInt8", "QHPI_Layout_Any", "QHPI_Storage_Direct_OR_Indirect")])
        for word in ("Execute(", "CostFunc(", "OutputSignatures[]", "Kernel = {"):
            checks.check(f"{tag}{word}", f"mix_{tag}{word}" in text)
    checks.equal("kernels", text.count("static uint32_t mix_"), 2)
    for word in ("mixEarlyRewrite(", "mixShapeRequired(", "mixShapeLegal(", "mixBuildTile(", "mixLateRewrite(", "mixKernels[]",
                 "constexpr QHPI_OpInfo_v1 mixOpInfo", "mix_ops[]", 'extern "C" void register_mix_ops()'):
        checks.check(word, word in text)
    generate([write_config(folder / "m.xml", "Macro", op)], folder)
    text = (folder / "MacroHtp/src/ops/Mix.cpp").read_text()
    for word in ("BEGIN_PKG_OP_DEFINITION(PKG_Mix)", 'DEF_PACKAGE_OP((mixImpl<Tensor>), "Mix")', "GraphStatus mixImpl(",
                 'DEF_PACKAGE_PARAM_ORDER("Mix", "p0", true, nullptr, "p1", true, nullptr)', "END_PKG_OP_DEFINITION(PKG_Mix)"):
        checks.check(word, word in text, text)


def targets(checks, folder):
    """What is documented, and what each target misses."""
    op = op_of("Mix", ["CPU", "HTP"])
    generate([write_config(folder / "t.xml", "Shop", op, qhpi=True), write_config(folder / "m.xml", "Macro", op)], folder)
    unset = {name: "" for name in ("QNN_SDK_ROOT", "QNN_INCLUDE", "QNN_TARGET_LIB", "HEXAGON_SDK_ROOT", "ANDROID_NDK_ROOT")}
    for package, target, variable in (
            *(("ShopHtp", f"htp_v{arch}", "HEXAGON_SDK_ROOT") for arch in (68, 69, 73, 75, 79, 81, 85)),
            ("ShopHtp", "htp_aarch64", "ANDROID_NDK_ROOT"), ("ShopHtp", "all", "HEXAGON_SDK_ROOT"),
            ("MacroHtp", "htp_x86", "QNN_INCLUDE"), ("ShopCpu", "cpu_android", "ANDROID_NDK_ROOT"),
            ("ShopCpu", "cpu", "ANDROID_NDK_ROOT")):
        done = make(folder / package, target, **unset)
        checks.check(f"{package}: {target}", done.returncode != 0 and f"{target}: " in done.stderr and
                     f"{variable} is not set" in done.stderr, done.stderr)
    makes(checks, folder / "ShopHtp", COMPILERS[0])
    symbols = subprocess.run(["nm", "-D", library_of(folder / "ShopHtp")], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[2] for line in symbols.splitlines() if line.split()[1] == "T"}
    checks.equal("what a QHPI library exports", exported, {"ShopHtpInterfaceProvider", "qhpi_init"})
    wanted = {line.split()[1] for line in symbols.splitlines() if line.split()[0] == "U" and "qhpi" in line}
    checks.equal("what a QHPI library asks of its host", wanted, {"qhpi_register_ops_v1"})
    make(folder / "ShopHtp", "htp_x86", flags="-O0", PACKAGE_NAME="Other")
    checks.check("PACKAGE_NAME", (folder / "ShopHtp/build/x86_64-linux-clang/libQnnOther.so").is_file())
    make(folder / "ShopHtp", "clean")
    checks.check("clean", not (folder / "ShopHtp/build").exists())


def devices(checks, folder):
    """GPU and DSP: what is missing, and with the tools what is told to them, and where the library comes to."""
    generate([write_config(folder / "d.xml", "Shop", op_of("Mix", ["GPU", "DSP_V65"]))], folder)
    gpu, dsp, tools = folder / "ShopGpu", folder / "ShopDsp", folder / "h3/tools/HEXAGON_Tools/8.3.07/Tools/bin/hexagon-clang++"
    for package, target, missing in ((gpu, "gpu", ["ANDROID_NDK_ROOT", "CL_LIBRARY_PATH"]),
                                     (gpu, "gpu_android", ["ANDROID_NDK_ROOT", "CL_LIBRARY_PATH"]),
                                     (dsp, "dsp", ["HEXAGON_SDK_ROOT"]), (dsp, "dsp SDK=vendor", ["HEXAGON_SDK_ROOT", "SNPE_UDO_ROOT"])):
        names = ("ANDROID_NDK_ROOT", "CL_LIBRARY_PATH", "HEXAGON_SDK_ROOT", "SNPE_UDO_ROOT", "HEXAGON_TOOLS_ROOT")
        done = make(package, target, **dict.fromkeys(names, ""))
        said = [name for name in names if f"{name} is not set: " in done.stderr]
        checks.equal(f"{target}: missing", (done.returncode, said), (2, missing))
        checks.check(f"{target}: starts nothing", not (package / "build").exists() and not (package / "obj").exists())
    stand_in(tools)
    done = make(dsp, "dsp", HEXAGON_SDK_ROOT=str(folder / "h3"))
    checks.check("DSP: made", done.returncode == 0 and (dsp / "build/DSP/libQnnShopDsp.so").is_file() and "-mv65" in done.stdout,
                 done.stdout + done.stderr)
    (folder / "ndk").mkdir()
    (folder / "ndk/ndk-build").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nmkdir -p obj/android/libs/arm64-v8a\n'
                                          ": > obj/android/libs/arm64-v8a/libShopGpu.so\n")
    (folder / "ndk/ndk-build").chmod(0o755)
    done = make(gpu, "gpu_android", ANDROID_NDK_ROOT=str(folder / "ndk"), CL_LIBRARY_PATH="/cl")
    checks.check("GPU: made", done.returncode == 0 and f"APP_BUILD_SCRIPT={gpu}/makefiles/Android.mk" in done.stdout and
                 (gpu / "libs/aarch64-android/libShopGpu.so").is_file(), done.stdout + done.stderr)
    script = (gpu / "makefiles/Android.mk").read_text()
    checks.check("GPU: links OpenCL", "-lOpenCL" in script and "$(LOCAL_PATH)/include" in script, script)


# ---- at work


def model_of(folder, op, dims):
    m = Model(opset=13, domains=["test"])
    m.input("x", FLOAT, [2, 3])
    m.node(op, ["x"], ["y"], name="n", domain="test", p0=2.5)
    m.output("y", FLOAT, dims)
    m.save(folder / "m.onnx")


def runs(checks, folder):
    """As generated the output is cleared; filled in, the kernel computes."""
    op = op_of("Times", params=[("FLOAT_32", "SCALAR")])
    config = write_config(folder / "c.xml", "Shop", op)
    generate([config], folder)
    model_of(folder, "Times", [2, 3])
    (folder / "x.raw").write_bytes(struct.pack("<6f", *range(1, 7)))
    (folder / "list.txt").write_text("x:=x.raw\n")
    done = run("onnx-to-dlc", "-i", "m.onnx", "--udo_config_paths", config, "-o", "m.dlc", "--io_layout", "model", cwd=folder)
    checks.check("converts", done.returncode == 0, done.stderr)
    source = folder / "ShopCpu/src/ops/Times.cpp"
    body = """    const float by = static_cast<float>(backend_utils::getScalarParam(operation->getParam("p0")));
    const float *in = static_cast<const float *>(operation->getInput(0)->data);
    float *out = static_cast<float *>(operation->getOutput(0)->data);
    for (int i = 0; i < 6; i++)
        out[i] = in[i] * by;
    return QNN_SUCCESS;
}

Qnn_ErrorHandle_t finalize"""
    fresh = source.read_text()
    checks.equal("a place for the kernel", fresh.count(EXECUTE), 1)
    for compiler, (text, by) in itertools.product(COMPILERS, ((fresh, 0), (fresh.replace(EXECUTE, body), 2.5))):
        source.write_text(text)
        make(source.parents[2], "clean")
        makes(checks, source.parents[2], compiler)
        done = run("net-run", "--container", "m.dlc", "--input_list", "list.txt", "--output_dir", "out", "--op_packages",
                   f"{library_of(source.parents[2])}:ShopCpuInterfaceProvider:CPU", cwd=folder)
        checks.equal(f"{compiler}: net-run", (done.returncode, done.stderr), (0, ""))
        result = folder / "out/Result_0/y.raw"
        checks.equal(f"{compiler}: y", struct.unpack("<6f", result.read_bytes()) if result.exists() else None,
                     tuple(by * x for x in range(1, 7)))


def tells_converters(checks, folder):
    """As generated nothing is told; filled in, the shape is the library's."""
    op = op_of("Flip", params=[("FLOAT_32", "SCALAR")])
    config = write_config(folder / "c.xml", "Shop", op)
    generate([config], folder, "-cop")
    package = folder / "Shop_Converter_Op_Package"
    model_of(folder, "Flip", None)
    source = package / "src/ops/Flip.cpp"
    fresh = source.read_text()
    answer = """    Qnn_TensorV1_t &out = opConfig->v1.outputTensors[0].v1;
    out.rank = 1;
    out.dimensions[0] = 42;
    return QNN_SUCCESS;"""
    before, after = fresh.split("    /* Add code here */\n    (void)opConfig;\n    return QNN_COMMON_ERROR_NOT_SUPPORTED;", 1)
    for compiler, (text, dims) in itertools.product(COMPILERS, ((fresh, "2x3"), (before + answer + after, "42"))):
        source.write_text(text)
        make(package, "clean")
        makes(checks, package, compiler)
        done = run("onnx-to-dlc", "-i", "m.onnx", "--udo_config_paths", config, "-cpl", library_of(package), "-o", "m.dlc",
                   "--io_layout", "model", cwd=folder)
        checks.check(f"{compiler}: converts", done.returncode == 0, done.stderr)
        told = run("dlc-info", "-i", "m.dlc", cwd=folder).stdout
        row = [line for line in told.splitlines() if line.startswith("| y ")]
        checks.check(f"{compiler}: {dims}", row and row[0].split("|")[2].strip() == dims.replace("x", ","), (row, told))
    library = ctypes.CDLL(str(library_of(package)))
    checks.check("both functions", all(hasattr(library, f"Flip{what}Inference") for what in ("Shape", "DataType")))
    checks.check("types are not told", library.FlipDataTypeInference(None) != 0)


def several(checks, folder):
    """Configs of one name make one package together, for each backend; the same op must be the same."""
    one = write_config(folder / "one.xml", "Shop", op_of("A", ["CPU", "HTP"]), op_of("B"), qhpi=True)
    two = write_config(folder / "two.xml", "Shop", op_of("A", ["CPU", "HTP"]), op_of("C", ["HTP"]), qhpi=True)
    other = write_config(folder / "other.xml", "OtherCpu", op_of("A"))
    done = generate([one, two, other], folder / "out")
    checks.equal("several", (done.returncode, done.stderr), (0, ""))
    found = {path.name: sorted(op.stem for op in (path / "src/ops").iterdir()) for path in (folder / "out").iterdir()}
    checks.equal("several: ops", found, {"ShopCpu": ["A", "B"], "ShopHtp": ["A", "C"], "OtherCpu": ["A"]})
    checks.equal("several: configs", sorted(path.name for path in (folder / "out/ShopCpu/config").iterdir()), ["one.xml", "two.xml"])
    different = write_config(folder / "different.xml", "Shop", op_of("B", ins=[("INT_32",)]))
    macros = write_config(folder / "macros.xml", "Shop", op_of("D", ["HTP"]))
    many = [tuple(pair) for pair in itertools.combinations(TYPES, 2)][:7]
    many = write_config(folder / "many.xml", "Many", op_of("Many", ["HTP"], many), qhpi=True)
    for label, configs, words in (
            ("different", [one, different], "second, different definition of 'B' for package ShopCpu"),
            ("QHPI", [one, macros], "package ShopHtp uses QHPI in one config, and not in another"),
            ("many", [many], "more than 64 combinations of types"),
            ("AIC", [write_config(folder / "aic.xml", "Shop", op_of("A", ["AIC"]))], "op A is for no backend"),
            ("JSON", [SOURCE / "examples/ops.json"], "op packages are made of XML configs, and this is none\n"
             "  hint: JSON configs are for udo-package-generator"),
            ("name", [write_config(folder / "name.xml", "Shop", op_of("a-b"))], "'a-b' cannot be a name")):
        done = generate(configs, folder / label)
        checks.check(f"{label}: refused", done.returncode == 1 and words in done.stderr and not (folder / label).exists(),
                     done.stderr)
    done = generate([write_config(folder / "both.xml", "Both", op_of("A", ["CPU", "AIC"]))], folder / "both")
    checks.check("AIC beside CPU", done.returncode == 0 and "no sources are written for AIC" in done.stderr, done.stderr)
    checks.equal("AIC beside CPU: packages", [path.name for path in (folder / "both").iterdir()], ["BothCpu"])
    done = generate([write_config(folder / "dsp.xml", "Old", op_of("A", ["DSP"]), op_of("B", ["DSP"]))], folder / "dsp")
    checks.check("ops of the old DSP", done.returncode == 0 and done.stderr.count("package OldDsp has several ops for the DSP before "
                 "v68") == 1, done.stderr)


def kept(checks, folder):
    config = write_config(folder / "c.xml", "Shop", op_of("A"))
    generate([config], folder)
    op, makefile = folder / "ShopCpu/src/ops/A.cpp", folder / "ShopCpu/Makefile"
    fresh = op.read_text()
    op.write_text("edited")
    makefile.unlink()
    done = generate([config], folder, "--debug")
    checks.equal("kept: what is said", (done.returncode, done.stdout.splitlines()), (
        0, [str(makefile), f"{op} is kept as it is", f"package ShopCpu is in {folder}/ShopCpu"]))
    checks.check("kept: files", op.read_text() == "edited" and makefile.is_file())
    done = generate([config], folder, "-f")
    checks.equal("forced", (done.returncode, op.read_text(), "kept" in done.stdout), (0, fresh, False))


def usage(checks, folder):
    config = write_config(folder / "c.xml", "Shop", op_of("A"))
    for arguments, status, words in (([], 2, "config_path"), (["-p", config, "--no_such"], 2, "no_such"),
                                     (["-p", folder / "none.xml", "-o", folder / "o"], 1, "none.xml"),
                                     (["-p", config, "-o", "/proc/nothing"], 1, "cannot be made")):
        done = run("qnn-op-package-generator", *arguments)
        checks.check(f"usage {arguments}", done.returncode == status and words in done.stderr, (done.returncode, done.stderr))
    done = run("qnn-op-package-generator", "--config", config, "--converter_op_package", cwd=folder)
    checks.equal("abbreviated, in the working directory", (done.returncode, done.stdout), (
        0, "package ShopCpu is in ./ShopCpu\npackage Shop_Converter_Op_Package is in ./Shop_Converter_Op_Package\n"))


def main():
    checks = Checks()
    for test in (kept, usage, several, sources_of_htp, targets, devices, runs, tells_converters, published, randoms):
        with tempfile.TemporaryDirectory() as folder:
            test(checks, pathlib.Path(folder))
    checks.finish()


main()
