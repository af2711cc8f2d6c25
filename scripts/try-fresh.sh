#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What README and the packages promise, tried on a fresh Debian 12: makes a system in a folder by debootstrap, runs README's first
# command there, installs as README says and compiles a program, and with --packages makes the Debian packages, installs them,
# tries them and removes them; with --tests runs README's second command. It prints the time and the disk space of each step. As root; a system
# that is in the folder already is kept and used.
#   scripts/try-fresh.sh FOLDER [--packages] [--tests] [MIRROR]     default: the mirror of this system's apt
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
suite=bookworm
[ $# -ge 1 ] || { echo "usage: scripts/try-fresh.sh FOLDER [--packages] [--tests] [MIRROR]" >&2; exit 2; }
fresh=$1
shift
packages=no
tests=no
mirror=
for argument; do
    case "$argument" in
        --packages) packages=yes ;;
        --tests) tests=yes ;;
        *) mirror=$argument ;;
    esac
done
[ -n "$mirror" ] ||
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $suite" 'Component: main' | head -n 1)

# A command in the fresh system, which knows nothing of this one's environment.
inside()
{
    unshare --mount --pid --fork --mount-proc="$fresh/proc" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$fresh" sh -euc "$1"
}

# The same, with what it took: seconds of the clock and of processors, and megabytes that were added.
measured()
{
    before=$(du -sm "$fresh" --exclude="$fresh/proc" | cut -f1)
    inside "exec >/tmp/step.log 2>&1
$2
times >/tmp/step.times" || { tail -n 40 "$fresh/tmp/step.log"; echo "FAILED: $1" >&2; exit 1; }
    echo "$1: $(sed -n 2p "$fresh/tmp/step.times") of processors (user, system), $(($(du -sm "$fresh" --exclude="$fresh/proc" | cut -f1) - before)) MB more on the disk"
}

[ -x "$fresh/bin/sh" ] || debootstrap --variant=minbase "$suite" "$fresh" "$mirror"
rm -rf "$fresh/opendlc"
mkdir "$fresh/opendlc"
git -C "$root" archive HEAD | tar -x -C "$fresh/opendlc"

measured 'scripts/quickstart.sh' 'cd /opendlc; scripts/quickstart.sh'
tail -n 30 "$fresh/tmp/step.log"

measured 'installation' 'cd /opendlc; meson install -C build/release --quiet'
measured 'a program that uses the library' 'cd /tmp
gcc -o convert-and-run /opendlc/examples/api/convert-and-run.c $(pkg-config --cflags --libs opendlc)
./convert-and-run /opendlc/examples/digits/digits.onnx digits.dlc /opendlc/examples/digits/digit.raw
dlc-info -i digits.dlc
ninja -C /opendlc/build/release uninstall
[ ! -e /usr/local/bin/dlc-info ] || exit 1'

if [ "$packages" = yes ]; then
    measured 'Debian packages' 'cd /opendlc; scripts/install-packages.sh packages; scripts/make-packages.sh /packages'
    measured 'packages installed, tried, removed' 'cd /opendlc
apt-get install -q -y --no-install-recommends /packages/opendlc_*.deb /packages/libopendlc0_*.deb /packages/libopendlc-dev_*.deb /packages/python3-opendlc_*.deb
work=$(mktemp -d); AUTOPKGTEST_TMP=$work debian/tests/example
debian/tests/python
apt-get purge -q -y opendlc libopendlc0 libopendlc-dev python3-opendlc
left=$(find / -xdev \( -path /opendlc -o -path /packages -o -path /proc -o -path /tmp \) -prune -o -path "*opendlc*" -print)
[ -z "$left" ] || { echo "left: $left"; exit 1; }'
fi

[ "$tests" = no ] || measured 'scripts/test.sh' 'cd /opendlc; scripts/test.sh'
echo 'all of it works'
