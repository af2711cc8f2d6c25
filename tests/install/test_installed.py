# SPDX-License-Identifier: Apache-2.0
"""What an installation brings is found by pkg-config and CMake, and used: examples/api compiled and linked to the shared and to
the static library, run, and its numbers compared with ONNX Runtime's; a man page for each command; one version everywhere."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import BUILD, SOURCE, Checks  # noqa: E402

EXAMPLE = SOURCE / "examples" / "api"
DIGITS = SOURCE / "examples" / "digits"
OPTIONS = {o["name"]: o["value"] for o in json.loads((BUILD / "meson-info" / "intro-buildoptions.json").read_text())}
SANITIZE = [] if OPTIONS["b_sanitize"] == "none" else [f"-fsanitize={OPTIONS['b_sanitize']}"]
COMPILER = json.loads((BUILD / "compile_commands.json").read_text())[0]["command"].split(" -", 1)[0].split()
# Functions that the library has for itself: a program may have the names, too.
OWN_NAMES = ("arena_alloc", "diag_error", "shape_equal")


def done(checks, label, command, **more):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **more)
    checks.check(label, result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:])
    return result


def install(checks, root):
    """The folder of libraries in an installation below root."""
    done(checks, "meson install", ["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", root])
    prefix = root / OPTIONS["prefix"].lstrip("/")
    return prefix, prefix / OPTIONS["libdir"]


def check_places(checks, prefix, libdir):
    """What plain `meson setup` chooses is what ld.so and pkg-config of Debian search."""
    folder = f"{OPTIONS['prefix']}/{OPTIONS['libdir']}"
    if OPTIONS["prefix"] == "/usr/local":
        searched = "".join(path.read_text() for path in pathlib.Path("/etc/ld.so.conf.d").glob("*.conf")).split()
        checks.check("ld.so finds libraries", folder in searched, f"{folder} is none of {searched}")
        searched = subprocess.run(["pkg-config", "--variable", "pc_path", "pkg-config"], capture_output=True, text=True, check=True).stdout
        checks.check("pkg-config finds descriptions", f"{folder}/pkgconfig" in searched.strip().split(":"), searched)
    for name in ("libopendlc.so", "libopendlc.so.0", "libopendlc.a", "pkgconfig/opendlc.pc", "cmake/OpenDLC/OpenDLCConfig.cmake",
                 "cmake/OpenDLC/OpenDLCConfigVersion.cmake"):
        checks.check(f"{name} is there", (libdir / name).exists())
    schema = prefix / "share" / "opendlc" / "udo.schema.json"
    described = {path.name for path in (SOURCE / "docs").glob("*.schema.json")}
    checks.equal("schemas of JSON", {path.name for path in (schema.parent / "schema").iterdir()}, described)
    checks.check("the schema of UDO configs", schema.is_file() and '"additionalProperties"' in schema.read_text())
    for command in sorted((prefix / "bin").iterdir()):
        checks.check(f"man page of {command.name}", list(prefix.glob(f"share/man/man1/{command.name}.1*")))


def pkg_config(root, libdir, *arguments):
    env = {**os.environ, "PKG_CONFIG_PATH": str(libdir / "pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(root)}
    return subprocess.run(["pkg-config", *arguments, "opendlc"], capture_output=True, text=True, check=True, env=env).stdout.split()


def expected_scores():
    return [float(line) for line in (DIGITS / "digit-onnxruntime.txt").read_text().split()]


def check_program(checks, label, program, folder, libdir):
    """The program's scores are within 1e-4 of the largest of ONNX Runtime's."""
    env = {**os.environ, "LD_LIBRARY_PATH": str(libdir)}
    result = done(checks, f"{label} runs", [program, DIGITS / "digits.onnx", folder / f"{label}.dlc", DIGITS / "digit.raw"], env=env)
    found = [float(number) for number in re.findall(r"^scores\[\d+\] = (\S+)$", result.stdout, re.MULTILINE)]
    expected = expected_scores()
    near = len(found) == len(expected) == 10 and all(abs(a - b) < 1e-4 * 13 for a, b in zip(found, expected))
    checks.check(f"{label}: ONNX Runtime's numbers", near, f"{found} instead of {expected}")


def compile_shared(checks, root, libdir, folder):
    program = folder / "shared"
    flags = pkg_config(root, libdir, "--cflags", "--libs")
    done(checks, "compiled by pkg-config", [*COMPILER, *SANITIZE, "-o", program, EXAMPLE / "convert-and-run.c", *flags])
    check_program(checks, "shared", program, folder, libdir)


def compile_static(checks, root, libdir, folder):
    """With globals of the program's own that have names of the library's."""
    program, names = folder / "static", folder / "names.c"
    headers = "".join(path.read_text() for path in (SOURCE / "src").rglob("*.h"))
    for name in OWN_NAMES:
        checks.check(f"{name} is a function of the library", f"{name}(" in headers)
    names.write_text("".join(f"int {name} = 1;\n" for name in OWN_NAMES))
    flags = [libdir / "libopendlc.a" if flag == "-lopendlc" else flag
             for flag in pkg_config(root, libdir, "--static", "--cflags", "--libs")]
    done(checks, "linked to the static library", [*COMPILER, *SANITIZE, "-o", program, EXAMPLE / "convert-and-run.c", names, *flags])
    needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    checks.check("it needs no libopendlc.so", "libopendlc" not in needed, needed)
    check_program(checks, "static", program, folder, folder)


def compile_by_cmake(checks, prefix, libdir, folder):
    if not shutil.which("cmake"):
        checks.skip("CMake", "it is not installed")
        return
    for label, target in (("cmake", "OpenDLC::opendlc"), ("cmake-static", "OpenDLC::opendlc_static")):
        sources = folder / label
        shutil.copytree(EXAMPLE, sources)
        lists = (sources / "CMakeLists.txt").read_text()
        (sources / "CMakeLists.txt").write_text(lists.replace("OpenDLC::opendlc", target))
        done(checks, f"{label}: configures", ["cmake", "-S", sources, "-B", sources / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
                                             f"-DCMAKE_C_COMPILER={COMPILER[-1]}", f"-DCMAKE_C_FLAGS={' '.join(SANITIZE)}"])
        done(checks, f"{label}: builds", ["cmake", "--build", sources / "build"])
        check_program(checks, label, sources / "build" / "convert-and-run", folder, libdir)
    lists = (EXAMPLE / "CMakeLists.txt").read_text()
    for version, fits in (("0.0", True), ("0.2", False), ("1.0", False)):
        sources = folder / f"version-{version}"
        sources.mkdir()
        (sources / "CMakeLists.txt").write_text(lists.split("add_executable")[0].replace("OpenDLC 0.1", f"OpenDLC {version}"))
        result = subprocess.run(["cmake", "-S", sources, "-B", sources / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
                                 f"-DCMAKE_C_COMPILER={COMPILER[-1]}"], capture_output=True, text=True, check=False)
        checks.equal(f"CMake takes it as version {version}", result.returncode == 0, fits)


def check_version(checks, prefix, libdir, folder):
    """Of the header, the library, the commands and the descriptions."""
    header = (SOURCE / "include" / "opendlc" / "version.h").read_text()
    version = ".".join(re.search(rf"^#define ODLC_VERSION_{part} (\d+)$", header, re.MULTILINE)[1]
                       for part in ("MAJOR", "MINOR", "PATCH"))
    source, program = folder / "version.c", folder / "version"
    source.write_text('#include <opendlc/version.h>\n#include <stdio.h>\n'
                      'int main(void) { printf("%s %d %s %d\\n", odlc_version(), odlc_version_number(), ODLC_VERSION, '
                      'ODLC_VERSION_NUMBER); return 0; }\n')
    done(checks, "version.c", [*COMPILER, *SANITIZE, f"-I{prefix / 'include'}", "-o", program, source, f"-L{libdir}", "-lopendlc"])
    printed = done(checks, "versions", [program], env={**os.environ, "LD_LIBRARY_PATH": str(libdir)}).stdout.split()
    major, minor, patch = map(int, version.split("."))
    number = str(major * 1000000 + minor * 1000 + patch)
    checks.equal("of the library and its headers", printed, [version, number, version, number])
    checks.check("of commands", done(checks, "dlc-info", [prefix / "bin" / "dlc-info", "--version"]).stdout == f"dlc-info (OpenDLC) {version}\n")
    checks.check("of pkg-config", f"\nVersion: {version}\n" in (libdir / "pkgconfig" / "opendlc.pc").read_text())
    checks.check("of CMake", f"PACKAGE_VERSION {version})" in (libdir / "cmake/OpenDLC/OpenDLCConfigVersion.cmake").read_text())
    checks.check("of the shared library", (libdir / f"libopendlc.so.{version}").is_file())


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        root = folder / "root"
        prefix, libdir = install(checks, root)
        check_places(checks, prefix, libdir)
        compile_shared(checks, root, libdir, folder)
        compile_static(checks, root, libdir, folder)
        compile_by_cmake(checks, prefix, libdir, folder)
        check_version(checks, prefix, libdir, folder)
    checks.finish()


main()
