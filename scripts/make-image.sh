#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A container image with the commands, made without a registry: a root by debootstrap, the Debian packages in it (those that
# scripts/make-packages.sh made in FOLDER), and a Containerfile that begins FROM scratch. With buildah or podman it is built, as
# opendlc:VERSION; otherwise FOLDER/image is what another builder takes. As root;
# debootstrap and buildah are in the section images of scripts/packages.txt.
#   scripts/make-image.sh FOLDER [MIRROR]
#   podman run --rm -v "$PWD:/work" opendlc:0.1.0 onnx-to-dlc -i model.onnx
set -eu

suite=bookworm
[ $# -ge 1 ] || { echo "usage: scripts/make-image.sh FOLDER [MIRROR]" >&2; exit 2; }
out=$(cd "$1" && pwd)
mirror=${2:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $suite" 'Component: main' | head -n 1)}
packages=$(find "$out" -maxdepth 1 -name 'opendlc_*.deb' -o -maxdepth 1 -name 'libopendlc0_*.deb' | sort)
[ -n "$packages" ] || { echo "make-image.sh: no packages in $out: scripts/make-packages.sh $out makes them" >&2; exit 1; }
version=$(dpkg-deb -f "$(echo "$packages" | head -n 1)" Version)
system=$out/image-system
mkdir -p "$out/image"

if [ ! -f "$system/complete" ]; then
    rm -rf "$system"
    debootstrap --variant=minbase "$suite" "$system" "$mirror"
    touch "$system/complete"
fi
mkdir -p "$system/packages"
# shellcheck disable=SC2086  # a list of words
cp $packages "$system/packages"
unshare --mount --pid --fork --mount-proc="$system/proc" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive chroot "$system" sh -euc 'apt-get install -q -y --no-install-recommends /packages/*.deb; apt-get clean'
rm -rf "$system/packages" "$system"/var/lib/apt/lists/* "$system"/var/log/*.log "$system/var/log/apt"
tar -C "$system" --one-file-system --exclude=./complete --exclude='./dev/*' --numeric-owner -czf "$out/image/root.tar.gz" .

cat >"$out/image/Containerfile" <<'END'
FROM scratch
ADD root.tar.gz /
WORKDIR /work
CMD ["onnx-to-dlc", "--help"]
END
if command -v buildah >/dev/null; then
    buildah build --isolation chroot --tag "opendlc:$version" "$out/image"
elif command -v podman >/dev/null; then
    podman build --isolation chroot --tag "opendlc:$version" "$out/image"
else
    echo "neither buildah nor podman is installed: $out/image is what builds the image"
fi
