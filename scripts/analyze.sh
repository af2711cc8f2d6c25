#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Looks for faults without running anything: clang-tidy (.clang-tidy says what for) and cppcheck. The status is 0 when
# there is no finding.
#   scripts/analyze.sh [--changed] [BUILD]   BUILD is a configured and built folder (default: build/clang)
# Over all sources of the product, or those that a change makes a difference to (scripts/changed-sources.py says which).
set -eu

cd "$(dirname "$0")/.."
changed=no
[ "${1:-}" != --changed ] || { changed=yes; shift; }
build=${1:-build/clang}
jobs=$(nproc)
notes=$(mktemp)
trap 'rm -f "$notes"' EXIT
if [ "$changed" = yes ]; then
    sources=$(scripts/changed-sources.py "$build")
    [ -n "$sources" ] || exit 0
else
    sources=$(find src converters -name '*.c' | sort)
fi

echo "clang-tidy"
# Findings are on standard output. The rest, which counts warnings of system headers, is shown when it fails. The build may
# be one by gcc, whose warnings clang does not know.
# shellcheck disable=SC2086  # a list of words
printf '%s\n' $sources | xargs -P "$jobs" -n 8 clang-tidy -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option \
    2>"$notes" || { cat "$notes" >&2; exit 1; }

echo "cppcheck"
# Left out are its own failures to read C11 (internalAstError, and unknownMacro, which is of rows in files of their own),
# legacyUninitvar, which takes members in initializers for variables (.file = path), and nullPointerRedundantCheck, which
# does not know what arena_exhausted never returns from, nor that of two pointers one is there. Other findings that are none are marked where they are: cppcheck-suppress NAME ; why.
# shellcheck disable=SC2086  # a list of words
cppcheck --quiet --error-exitcode=1 -j "$jobs" --std=c11 --enable=warning,portability --inline-suppr --template=gcc \
    --suppress=internalAstError --suppress=unknownMacro --suppress=legacyUninitvar --suppress=nullPointerRedundantCheck \
    --suppress=missingIncludeSystem -D_GNU_SOURCE -DVALIDATE_PASSES=1 -I. -Iinclude -Isrc -I"$build/converters" $sources
