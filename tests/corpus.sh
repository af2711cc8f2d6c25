#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Converts and executes real models and compares with what others computed for them; prints a table and totals.
#   tests/corpus.sh [NAME...]     all models, or those of the names given; "spelled-out", "dry-runs" are names, too
# A second table has for every model, of the ONNX project's backend cases and of TensorFlow, too, whether a dry run says what
# the conversion does.
# The models are not part of the project: ODLC_SHARED names their folder (default: ../shared beside the sources); without
# it everything is skipped, visibly. ODLC_BUILD_ROOT names a build; by default a release build is made in build/release.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${ODLC_BUILD_ROOT:-}" ]; then
    ODLC_BUILD_ROOT=$root/build/release
    "$root/scripts/install-packages.sh" build test >&2
    [ -f "$ODLC_BUILD_ROOT/build.ninja" ] || meson setup "$ODLC_BUILD_ROOT" "$root" --buildtype=release -Dtests=false >&2
    ninja -C "$ODLC_BUILD_ROOT" >&2
fi
export ODLC_BUILD_ROOT
python=/usr/bin/python3
[ -x "$python" ] || python=python3
exec "$python" "$root/tests/corpus/corpus.py" "$@"
