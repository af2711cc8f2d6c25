#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From a fresh Debian 12 to a converted model: installs what is missing, builds, converts a model that has a
# user-defined op, shows the container, and executes it up to that op.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${ODLC_BUILD:-$root/build}/release
out=${ODLC_OUT:-$root/build/quickstart}

"$root/scripts/install-packages.sh" build
[ -f "$build/build.ninja" ] || meson setup "$build" "$root" --buildtype=release -Dtests=false
ninja -C "$build"

PATH=$build/converters:$build/src/tools:$PATH
mkdir -p "$out"
cd "$root/examples"

show()
{
    printf '\n$ %s\n' "$*"
    "$@"
}

show udo-check ops.json --model example.onnx
show onnx-to-dlc -i example.onnx --udo_config_paths ops.json -o "$out/example.dlc"
show dlc-info -i "$out/example.dlc"
# The op itself has no implementation here, so what comes before it is computed.
show net-run --container "$out/example.dlc" --input_list inputs.txt --output_dir "$out/run" \
    --set_output_tensors features
