#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing of the named sections of packages.txt (default: build). As root, or through sudo.
#   scripts/install-packages.sh [build] [test] [ci]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- build

section_packages()
{
    awk -v want="# [$1]" '/^# \[/ { inside = ($0 == want); next } inside && NF && !/^#/' "$here/packages.txt"
}

is_installed()
{
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=
for section; do
    packages=$(section_packages "$section")
    [ -n "$packages" ] || { echo "install-packages.sh: no section '$section' in packages.txt" >&2; exit 2; }
    for package in $packages; do
        is_installed "$package" || missing="$missing $package"
    done
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "install-packages.sh: needs root or sudo to install:$missing" >&2
        exit 1
    }
    as_root='sudo'
fi
echo "installing:$missing"
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
# shellcheck disable=SC2086  # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
