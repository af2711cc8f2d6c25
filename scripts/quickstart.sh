#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# From a fresh Debian 12 to converted models and their numbers: installs what is missing, builds, converts an ONNX model, shows
# it, executes it and compares the results with ONNX Runtime's; then the same with a user-defined op and its kernel. At the end
# it says how the commands are found by a shell.
#   scripts/quickstart.sh
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${ODLC_BUILD:-$root/build}/release
out=${ODLC_OUT:-$root/build/quickstart}

"$root/scripts/install-packages.sh" build kernels
[ -f "$build/build.ninja" ] || meson setup "$build" "$root" --buildtype=release -Dtests=false
ninja -C "$build"

PATH=$build/converters:$build/src/tools:$PATH
export ODLC_SDK_ROOT="$root/include/sdk"
mkdir -p "$out"
cd "$out"
cp "$root/examples/digits/digits.onnx" "$root/examples/digits/digit.raw" "$root/examples/digits/digit-onnxruntime.txt" \
    "$root/examples/example.onnx" "$root/examples/example-scores.txt" "$root/examples/ops.json" "$root/examples/image.raw" \
    "$root/examples/SoftClamp.cpp" "$root/examples/near.py" .

show()
{
    printf '\n$ %s\n' "$*"
    "$@"
}

printf '\n==== a network that reads drawn digits, and the picture of a 2\n'
echo digit.raw >digit.txt
show onnx-to-dlc -i digits.onnx
show dlc-info -i digits.dlc
show net-run --container digits.dlc --input_list digit.txt --output_dir digit
echo
echo 'net-run and ONNX Runtime:'
show python3 near.py digit/Result_0/scores.raw digit-onnxruntime.txt

printf '\n==== a network with a user-defined op, SoftClamp, and its kernel\n'
echo image.raw >image.txt
show udo-check ops.json --model example.onnx
show onnx-to-dlc -i example.onnx --udo_config_paths ops.json
show udo-package-generator -p ops.json -o .
show cp SoftClamp.cpp ExampleOps/jni/src/CPU/src/ops
show make -s -C ExampleOps cpu_x86
show net-run --container example.dlc --input_list image.txt --output_dir image \
    --udo_package_path ExampleOps/libs/x86-64_linux_clang/libUdoExampleOpsReg.so
echo
echo 'net-run and NumPy:'
show python3 near.py image/Result_0/scores.raw example-scores.txt

cat <<END

The containers are in $out. The commands are found by this shell after

    export PATH=$build/converters:$build/src/tools:\$PATH
    export ODLC_SDK_ROOT=$ODLC_SDK_ROOT

and by all after (as root)

    meson install -C $build
END
