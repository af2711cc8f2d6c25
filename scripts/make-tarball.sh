#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An archive that runs where it is unpacked: the commands, libopendlc with headers, manual pages, and the libraries that they
# need beyond the C library's, for any Linux with the C library of Debian 12 or a later one. Compiled on this machine against
# the libraries of a Debian of that architecture, which debootstrap unpacks and nobody starts.
#   scripts/make-tarball.sh x86_64|aarch64 FOLDER [MIRROR]      opendlc-VERSION-ARCHITECTURE.tar.xz in the folder; as root
# Needs the sections build and images of scripts/packages.txt.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
suite=bookworm
usage() { echo "usage: scripts/make-tarball.sh x86_64|aarch64 FOLDER [MIRROR]" >&2; exit 2; }
[ $# -ge 2 ] || usage
case "$1" in
    x86_64) debian=amd64 ;;
    aarch64) debian=arm64 ;;
    *) usage ;;
esac
arch=$1
triplet=$arch-linux-gnu
mkdir -p "$2"
out=$(cd "$2" && pwd)
mirror=${3:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $suite" 'Component: main' | head -n 1)}
system=$out/$arch-system
version=$(sed -n 's/^#define ODLC_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$root/include/opendlc/version.h" | paste -sd.)
name=opendlc-$version-$arch

# The libraries of section build, as the architecture has them.
if [ ! -f "$system/unpacked" ]; then
    libraries=$(awk '/^# \[/ { inside = ($0 == "# [build]") } inside && /-dev$/' "$root/scripts/packages.txt" | paste -sd,)
    rm -rf "$system"
    debootstrap --foreign --arch="$debian" --variant=minbase --include="$libraries" "$suite" "$system" "$mirror"
    for package in "$system"/var/cache/apt/archives/*.deb; do
        dpkg -x "$package" "$system"
    done
    # Links to absolute places would lead out of the system.
    find "$system/usr/lib/$triplet" -type l -lname '/*' | while read -r link; do
        ln -sfn "$system$(readlink "$link")" "$link"
    done
    touch "$system/unpacked"
fi

cat >"$out/$arch.ini" <<END
[binaries]
c = '$triplet-gcc'
ar = '$triplet-gcc-ar'
objcopy = '$triplet-objcopy'
strip = '$triplet-strip'
# One name for Meson before 1.3, one for later ones.
pkgconfig = 'pkg-config'
pkg-config = 'pkg-config'

[built-in options]
c_args = ['--sysroot=$system', '-ffile-prefix-map=$root=.']
c_link_args = ['--sysroot=$system', '-Wl,-rpath,\$ORIGIN/../lib']

[properties]
sys_root = '$system'
pkg_config_libdir = '$system/usr/lib/$triplet/pkgconfig:$system/usr/share/pkgconfig'
needs_exe_wrapper = true

[host_machine]
system = 'linux'
cpu_family = '$arch'
cpu = '$arch'
endian = 'little'
END
build=$out/$arch-build
[ -f "$build/build.ninja" ] ||
    meson setup "$build" "$root" --cross-file "$out/$arch.ini" --buildtype=release -Dtests=false --prefix=/ --libdir=lib
ninja -C "$build"
rm -rf "${out:?}/$name"
DESTDIR=$out/$name meson install -C "$build" --no-rebuild --quiet --strip

# What the programs need, and what that needs, but for the C library, which goes with the kernel and the loader.
of_the_system='ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util)\.so\..*'
needed() { readelf -d "$@" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | grep -Evx "$of_the_system"; }
todo=$(needed "$out/$name"/bin/* "$out/$name"/lib/*.so)
while [ -n "$todo" ]; do
    more=
    for library in $todo; do
        [ ! -e "$out/$name/lib/$library" ] || continue
        found=$(find "$system/usr/lib/$triplet" "$system/lib/$triplet" -name "$library" | head -n 1)
        [ -n "$found" ] || { echo "make-tarball.sh: there is no $library in $system" >&2; exit 1; }
        cp -L "$found" "$out/$name/lib/$library"
        more="$more $(needed "$out/$name/lib/$library" | paste -sd' ')"
    done
    todo=$(printf '%s\n' $more | sort -u)
done
cp "$root/README.md" "$root/LICENSE" "$out/$name"
mkdir "$out/$name/licences"
for library in "$out/$name"/lib/*.so.*; do
    base=${library##*/}
    for notice in "$system"/usr/share/doc/"$(echo "${base%%.so*}" | tr 'A-Z_' 'a-z-')"*/copyright; do
        [ ! -f "$notice" ] || cp "$notice" "$out/$name/licences/$(basename "$(dirname "$notice")")"
    done
done
tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@"${SOURCE_DATE_EPOCH:-0}" -cJf "$out/$name.tar.xz" "$name"
echo "$out/$name.tar.xz"
