#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From a fresh Debian 12 to the results of a package of kernels: makes a system in a folder by debootstrap, installs there what
# the build needs, g++ and make, builds and installs OpenDLC, and runs the commands of docs/udo-packages.md. The scores are
# compared with those that NumPy computes (python3-numpy, here). As root; what is in the folder already is kept and used.
#   scripts/try-fresh.sh FOLDER [MIRROR]     default: the mirror of this system's apt
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
suite=bookworm
[ $# -ge 1 ] || { echo "usage: scripts/try-fresh.sh FOLDER [MIRROR]" >&2; exit 2; }
fresh=$1
mirror=${2:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $suite" 'Component: main' | head -n 1)}

# A command in the fresh system, which knows nothing of this one's environment.
inside()
{
    unshare --mount --pid --fork --mount-proc="$fresh/proc" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$fresh" sh -euc "$1"
}

[ -x "$fresh/bin/sh" ] || debootstrap --variant=minbase "$suite" "$fresh" "$mirror"
rm -rf "$fresh/opendlc"
mkdir "$fresh/opendlc"
git -C "$root" archive HEAD | tar -x -C "$fresh/opendlc"

inside 'cd /opendlc
scripts/install-packages.sh build
apt-get install -q -y --no-install-recommends g++ make
# Without dpkg-dev Meson takes lib64, where Debian looks for nothing.
meson setup build --buildtype=release --libdir=lib -Dtests=false
ninja -C build
meson install -C build --quiet
ldconfig'

inside 'mkdir /opendlc/work
cd /opendlc/work
cp ../examples/ops.json ../examples/image.raw ../examples/inputs.txt .
library=ExampleOps/libs/x86-64_linux_clang/libUdoExampleOpsReg.so
set -x
udo-package-generator -p ops.json -o .
make -C ExampleOps cpu_x86 # compiles as it is
cp ../examples/SoftClamp.cpp ExampleOps/jni/src/CPU/src/ops
make -C ExampleOps cpu_x86
onnx-to-dlc -i ../examples/example.onnx --udo_config_paths ops.json -o example.dlc
udo-check ops.json --udo_package_path $library
net-run --container example.dlc --input_list inputs.txt --udo_package_path $library'

work=$fresh/opendlc/work
/usr/bin/python3 "$root/tests/package/soft_clamp.py" "$work/example.dlc" "$work/image.raw" "$work/output/Result_0/scores.raw"
