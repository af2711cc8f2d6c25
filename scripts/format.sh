#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Formats every C file with clang-format (version 14, Debian 12's); with --check only says which would change.
set -eu

cd "$(dirname "$0")/.."
mode=-i
[ "${1:-}" != --check ] || mode='--dry-run --Werror'
# shellcheck disable=SC2086  # a list of words
find include src converters tests bench \( -name '*.c' -o -name '*.h' \) -print | sort | xargs clang-format $mode
