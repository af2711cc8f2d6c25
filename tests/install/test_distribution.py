# SPDX-License-Identifier: Apache-2.0
"""What is packaged: versions and dependencies of debian/ follow the sources. With ODLC_LONG=1 the Debian packages are made, lintian finds
nothing, and what is in them works; an image is built of them and run; an archive for aarch64 is compiled, and run under qemu.
ODLC_PACKAGES names a folder where these are kept for the next time."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import LONG, SOURCE, Checks, leave_out  # noqa: E402

DIGITS = SOURCE / "examples" / "digits"
NAMES = ("opendlc", "libopendlc0", "libopendlc-dev", "python3-opendlc")


def version():
    header = (SOURCE / "include" / "opendlc" / "version.h").read_text()
    return ".".join(re.findall(r"^#define ODLC_VERSION_[A-Z]+ (\d+)$", header, re.MULTILINE))


def check_lists(checks):
    """Version of the newest entry; build dependencies: the section build of scripts/packages.txt."""
    first = (SOURCE / "debian" / "changelog").read_text().split("\n", 1)[0]
    checks.check("debian/changelog", first.startswith(f"opendlc ({version()}) "), first)
    control = (SOURCE / "debian" / "control").read_text()
    depends = set(re.findall(r"[\w+.-]+", re.sub(r"\[.*?\]|\(.*?\)", "", control.split("Build-Depends:")[1].split("\nStandards")[0])))
    section = (SOURCE / "scripts" / "packages.txt").read_text().split("# [build]\n")[1].split("\n#")[0].split()
    missing = set(section) - depends - {"gcc", "libc6-dev"}
    checks.equal("build dependencies that debian/control lacks", missing, set())
    names = re.findall(r"^Package: (\S+)$", control, re.MULTILINE)
    checks.equal("packages", sorted(names), sorted(NAMES))


def step(checks, label, *command, **more):
    """A command, and whether it succeeded; its last words otherwise."""
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False, **more)
    return done.stdout if checks.check(label, done.returncode == 0, done.stdout[-3000:]) else None


def check_numbers(checks, label, raw):
    step(checks, f"{label}: ONNX Runtime's numbers", sys.executable, SOURCE / "examples" / "near.py", raw, DIGITS / "digit-onnxruntime.txt")


def read_digit(checks, label, folder, run):
    """The example, by the commands that run(NAME, ARG…) starts in folder."""
    shutil.copy(DIGITS / "digits.onnx", folder)
    shutil.copy(DIGITS / "digit.raw", folder)
    (folder / "inputs.txt").write_text("digit.raw\n")
    run("onnx-to-dlc", "-i", "digits.onnx")
    run("net-run", "--container", "digits.dlc", "--input_list", "inputs.txt")
    check_numbers(checks, label, folder / "output" / "Result_0" / "scores.raw")


def check_debian(checks, out):
    """The packages, unpacked; debian/tests/example finds there what it would find installed."""
    if step(checks, "packages are made, and lintian is content", SOURCE / "scripts" / "make-packages.sh", out) is None:
        return
    listed = subprocess.run(["tar", "-tf", out / f"opendlc_{version()}.tar.xz"], capture_output=True, text=True, check=True).stdout
    inside = {line.split("/", 1)[1] for line in listed.splitlines() if not line.endswith("/")}
    kept = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z"], capture_output=True, text=True, check=False).stdout.split("\0")
    checks.equal("sources that the source package lacks", sorted(name for name in kept if name and name not in inside and (SOURCE / name).is_file()), [])
    root = out / "unpacked"
    shutil.rmtree(root, ignore_errors=True)
    for name in NAMES:
        step(checks, f"{name} is unpacked", "dpkg", "-x", next(out.glob(f"{name}_*.deb")), root)
    machine = subprocess.run(["dpkg-architecture", "-qDEB_HOST_MULTIARCH"], capture_output=True, text=True, check=True).stdout.strip()
    libraries = root / "usr" / "lib" / machine
    work = out / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    env = {**os.environ, "PATH": f"{root / 'usr/bin'}:{os.environ['PATH']}", "LD_LIBRARY_PATH": str(libraries), "AUTOPKGTEST_TMP": str(work),
           "PKG_CONFIG_PATH": str(libraries / "pkgconfig"), "PKG_CONFIG_SYSROOT_DIR": str(root),
           "ODLC_SDK_ROOT": str(root / "usr/include/opendlc/sdk")}
    step(checks, "debian/tests/example", SOURCE / "debian/tests/example", cwd=SOURCE, env=env)
    step(checks, "debian/tests/python", "/usr/bin/python3", SOURCE / "debian/tests/python", cwd=SOURCE,
         env={**env, "PYTHONPATH": str(root / "usr/lib/python3/dist-packages")})


def check_image(checks, out):
    if not shutil.which("buildah"):
        checks.skip("image", "buildah is not installed")
        return
    if step(checks, "image is built", SOURCE / "scripts" / "make-image.sh", out) is None:
        return
    name = step(checks, "image is started", "buildah", "from", f"opendlc:{version()}")
    if name is None:
        return
    folder = pathlib.Path(tempfile.mkdtemp(dir=out))
    try:
        read_digit(checks, "image", folder, lambda command, *arguments: step(
            checks, f"{command} in the image", "buildah", "run", "--isolation", "chroot", "-v", f"{folder}:/work", name.split()[-1],
            "--", command, *arguments))
    finally:
        subprocess.run(["buildah", "rm", name.split()[-1]], capture_output=True, check=False)


def check_archive(checks, out):
    for tool in ("debootstrap", "aarch64-linux-gnu-gcc", "qemu-aarch64-static"):
        if not shutil.which(tool):
            checks.skip("archive for aarch64", f"{tool} is not installed")
            return
    if step(checks, "archive is made", SOURCE / "scripts" / "make-tarball.sh", "aarch64", out) is None:
        return
    name = f"opendlc-{version()}-aarch64"
    folder = out / "elsewhere"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    step(checks, "archive is unpacked", "tar", "-C", folder, "-xf", out / f"{name}.tar.xz")
    binaries = folder / name / "bin"
    text = step(checks, "for which machine", "readelf", "-h", binaries / "net-run") or ""
    checks.check("it is aarch64", "AArch64" in text, text)
    read_digit(checks, "aarch64", folder, lambda command, *arguments: step(
        checks, f"{command} under qemu", "qemu-aarch64-static", "-L", out / "aarch64-system", binaries / command, *arguments, cwd=folder))


def main():
    checks = Checks()
    check_lists(checks)
    parts = (check_debian, check_image, check_archive)
    leave_out(0 if LONG else len(parts), len(parts), "kinds of packages")
    if LONG and os.geteuid() != 0:
        checks.skip("packages", "debootstrap needs root")
    elif LONG:
        with tempfile.TemporaryDirectory() as temporary:
            out = pathlib.Path(os.environ.get("ODLC_PACKAGES", temporary))
            out.mkdir(parents=True, exist_ok=True)
            for part in parts:
                part(checks, out)
    checks.finish()


main()
