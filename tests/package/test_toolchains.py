# SPDX-License-Identifier: Apache-2.0
"""What packages are compiled with: libraries for 64-bit Arm by Debian's cross compiler, and whose headers are taken, ours or
those that SNPE_UDO_ROOT and QNN_SDK_ROOT name."""

import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from workshop import HOST_LIBS, SDK, generate, make  # noqa: E402
from checks import SOURCE, Checks, run  # noqa: E402

OPS = SOURCE / "examples" / "ops.json"
EM_AARCH64 = 183
REGISTRATION = {f"SnpeUdo_{name}" for name in ("getRegInfo", "getVersion", "initRegLibrary", "terminateRegLibrary",
                                               "validateOperation")} | {"odlc_sdk_abi"}
XML = """<OpDefCollection PackageName="Shop" Domain="" Version="1.0"><OpDefList><OpDef><Name>Copy</Name>
<Input><Name>x</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_FLOAT_32</Datatype><Shape><Rank>4D</Rank></Shape></Input>
<Output><Name>y</Name><Mandatory>true</Mandatory><Datatype>QNN_DATATYPE_FLOAT_32</Datatype><Shape><Rank>4D</Rank></Shape></Output>
<SupportedBackend>CPU</SupportedBackend></OpDef></OpDefList></OpDefCollection>"""


def exported(library):
    """Names of the functions and objects that the library defines for others."""
    done = subprocess.run(["readelf", "--dyn-syms", "--wide", library], capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {row[7] for row in rows if len(row) == 8 and row[6] not in ("UND", "ABS", "Ndx") and row[3] != "SECTION"}


# ---- 64-bit Arm


def machine_of(path):
    """The machine of a little-endian 64-bit ELF file that is a shared object."""
    head = path.read_bytes()[:20]
    kind, machine = struct.unpack_from("<HH", head, 16)
    return machine if head[:6] == b"\x7fELF\x02\x01" and kind == 3 else None


def aarch64(checks, folder, language, compiler):
    if not shutil.which(compiler):
        return checks.skip(f"64-bit Arm, {language}", f"there is no {compiler}")
    generate([OPS], folder, "--language", language)
    package = folder / "ExampleOps"
    done = make(package, "cpu_aarch64-linux", "no-such-compiler")
    checks.check(f"{language}: compiles", done.returncode == 0, done.stderr[-1500:])
    places = sorted(str(path.relative_to(package / "libs")) for path in (package / "libs").rglob("*") if path.is_file())
    names = ["aarch64_linux_gcc/libUdoExampleOpsImplCpu.so", "aarch64_linux_gcc/libUdoExampleOpsReg.so"]
    if not checks.equal(f"{language}: libraries", places, names):
        return None
    for name, symbols in zip(names, ({"ExampleOpsInterfaceProvider", "odlc_sdk_abi"}, REGISTRATION)):
        library = package / "libs" / name
        checks.equal(f"{language}: machine of {name}", machine_of(library), EM_AARCH64)
        found = exported(library)
        checks.check(f"{language}: {name} exports", symbols <= found, found)
        ours = {symbol for symbol in found if not symbol.startswith("_Z")}
        checks.equal(f"{language}: {name} exports no more", ours, symbols)
    done = make(package, "cpu_aarch64-linux", "no-such-compiler")
    return checks.check(f"{language}: up to date", " -c " not in done.stdout and done.returncode == 0, done.stdout)


def arm(checks, folder):
    aarch64(checks, folder / "cpp", "cpp", "aarch64-linux-gnu-g++")
    aarch64(checks, folder / "c", "c", "aarch64-linux-gnu-gcc")


# ---- headers


def made_up(root, headers, mark):
    """A folder of headers of somebody else: what includes one exports the mark."""
    for header in headers:
        path = root / header
        path.parent.mkdir(parents=True, exist_ok=True)
        ours = next(path for path in (SDK / header, SDK / "QNN" / header, SDK / "CustomOp" / header) if path.is_file())
        path.write_text(f'#ifndef GUARD_{mark}\n#define GUARD_{mark}\nextern "C" {{\n'
                        f'__attribute__((weak, visibility("default"))) int {mark} = 1;\n}}\n#endif\n#include "{ours}"\n')
    return root


def vendor(folder):
    """What the guide tells users to set, to folders with headers of the documented names."""
    udo = made_up(folder / "udo", [path.relative_to(SDK) for path in (SDK / "SnpeUdo").glob("*.h")], "of_udo_root")
    made_up(folder / "sdk/include/QNN", [path.relative_to(SDK / "QNN") for path in (SDK / "QNN").rglob("*.h")], "of_qnn_root")
    made_up(folder / "sdk/share/QNN/OpPackageGenerator/CustomOp",
            [path.relative_to(SDK / "CustomOp") for path in (SDK / "CustomOp").glob("*.hpp")], "of_custom_op")
    return {"SNPE_UDO_ROOT": str(udo), "QNN_SDK_ROOT": str(folder / "sdk")}


def marks_of(checks, label, package, places, targets, environment):
    """Which made-up headers the libraries are compiled with."""
    make(package, "clean", **environment)
    done = make(package, targets, flags="-O0", **environment)
    if not checks.check(f"{label}: compiles", done.returncode == 0, done.stderr[-1500:]):
        return None
    return {place.split("/")[-1]: {name for name in exported(package / place) if name.startswith("of_")} for place in places}


def headers(checks, folder):
    generate([OPS], folder)
    environment, package = vendor(folder), folder / "ExampleOps"
    reg, cpu = "libUdoExampleOpsReg.so", "libUdoExampleOpsImplCpu.so"
    places = [f"{HOST_LIBS}/{reg}", f"{HOST_LIBS}/{cpu}"]
    for target in ("cpu_x86", "reg_x86", "all_x86"):
        of_target = places[:1] if target == "reg_x86" else places
        found = marks_of(checks, target, package, of_target, target, environment)
        checks.equal(f"{target}: ours, though variables are set", found, {place.split("/")[-1]: set() for place in of_target})
    theirs = {"of_udo_root", "of_qnn_root"}
    found = marks_of(checks, "vendor", package, places, "cpu_x86 SDK=vendor", environment)
    checks.check("vendor: registration", found and "of_udo_root" in found[reg], found)
    checks.check("vendor: CPU", found and {"of_qnn_root", "of_custom_op"} <= found[cpu], found)
    checks.check("vendor: no other marks", found and found[reg] | found[cpu] == theirs | {"of_custom_op"}, found)
    found = marks_of(checks, "vendor by the environment", package, places, "cpu_x86", {**environment, "SDK": "vendor"})
    checks.check("vendor by the environment", found and "of_custom_op" in found[cpu], found)


def without_variables(checks, folder):
    """What is missing is named before anything is made."""
    generate([OPS], folder)
    package, found = folder / "ExampleOps", vendor(folder)
    for missing in (["SNPE_UDO_ROOT"], ["QNN_SDK_ROOT"], ["SNPE_UDO_ROOT", "QNN_SDK_ROOT"]):
        done = make(package, "cpu_x86 SDK=vendor", **{name: "" if name in missing else value for name, value in found.items()})
        said = [name for name in found if f"{name} is not set" in done.stderr]
        checks.equal(f"vendor without {missing}", (done.returncode, said), (2, missing))
        checks.check(f"vendor without {missing}: nothing is made", not (package / "libs").exists() and not (package / "obj").exists())


def op_packages(checks, folder):
    """Packages of XML configs take headers by the same rules."""
    (folder / "shop.xml").write_text(XML)
    run("qnn-op-package-generator", "-p", folder / "shop.xml", "-o", folder)
    environment, package = vendor(folder), folder / "ShopCpu"
    place = "libs/x86_64-linux-clang/libShopCpu.so"
    found = marks_of(checks, "op package", package, [place], "cpu_x86", environment)
    checks.equal("op package: ours", found, {"libShopCpu.so": set()})
    found = marks_of(checks, "op package, vendor", package, [place], "cpu_x86 SDK=vendor", environment)
    checks.equal("op package: vendor", found, {"libShopCpu.so": {"of_qnn_root", "of_custom_op"}})
    make(package, "clean")
    done = make(package, "cpu_x86 SDK=vendor", QNN_SDK_ROOT="", QNN_INCLUDE="")
    checks.check("op package: vendor without variables", done.returncode == 2 and "QNN_INCLUDE is not set: the folder of the QNN headers"
                 in done.stderr and not (package / "obj").exists(), done.stderr)


def main():
    checks = Checks()
    if not shutil.which("readelf"):
        checks.skip("toolchains", "there is no readelf")
        checks.finish()
    for test in (arm, headers, without_variables, op_packages):
        with tempfile.TemporaryDirectory() as folder:
            test(checks, pathlib.Path(folder))
    checks.finish()


main()
