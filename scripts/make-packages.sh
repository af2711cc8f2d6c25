#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Debian packages of the sources as they are here, in a folder: opendlc, libopendlc0, libopendlc-dev, python3-opendlc. Builds in a copy, so that the
# sources stay as they are; lintian, where it is installed, must find nothing to warn of.
#   scripts/make-packages.sh FOLDER      needs the sections build and packages of scripts/packages.txt
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -eq 1 ] || { echo "usage: scripts/make-packages.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)

version=$(dpkg-parsechangelog -l "$root/debian/changelog" -S Version)
copy=$out/opendlc-$version
rm -rf "$copy"
mkdir "$copy"
if git -C "$root" rev-parse >/dev/null 2>&1; then
    git -C "$root" ls-files -z --cached --others --exclude-standard | tar -C "$root" --null --files-from - --ignore-failed-read -c | tar -C "$copy" -x
else
    tar -C "$root" --exclude=./build --exclude="$out" -c . | tar -C "$copy" -x
fi
cd "$copy"
# A Python of the user's own would be taken for Debian's.
PATH=/usr/sbin:/usr/bin:/sbin:/bin dpkg-buildpackage -us -uc --jobs="$(nproc)"
cd "$out"
rm -rf "$copy"
! command -v lintian >/dev/null || lintian --fail-on error,warning --tag-display-limit 0 --allow-root "opendlc_${version}_$(dpkg --print-architecture).changes"
