#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Line coverage of the tests: builds with counters, runs all tests with the real data of ../shared where it is, prints a
# table of the rooms, and names every function that no test reached.
#   scripts/coverage.sh            build, run, report
#   scripts/coverage.sh --report   only the report of what ran since the counters were last cleared
# The status is 0 when the tests pass, readers, front ends, UDOs and passes have 90 % of their lines each, and
# tests/unreached.txt lists just the functions that no test reaches. No line is left out: markers in comments do not count.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${ODLC_BUILD:-$root/build}/coverage
run=yes
case "${1:-}" in
    '') ;;
    --report) run=no ;;
    *) echo "usage: scripts/coverage.sh [--report]" >&2; exit 2 ;;
esac

# Threads write containers, so the counters are atomic. Nothing is optimized away: a line that stands there is counted.
build_with_counters()
{
    "$root/scripts/install-packages.sh" build test coverage
    [ -f "$build/build.ninja" ] ||
        CC="${CC:-gcc}" meson setup "$build" "$root" --buildtype=debug -Db_coverage=true -Dc_args=-fprofile-update=atomic
    ninja -C "$build"
}

run_tests()
{
    [ -d "${ODLC_SHARED:-$root/../shared}" ] ||
        echo "coverage.sh: ../shared is not there, and without real models less is reached" >&2
    find "$build" -name '*.gcda' -delete
    # All but those that look at every file which a command writes: here its counters are among them.
    tests=$(meson test -C "$build" --no-rebuild --list | sed 's|.* / ||' | sort -u | grep -vxE 'test_hermetic|test_sandbox')
    # The counters cost time: limits of time are six times those of other builds.
    # shellcheck disable=SC2086  # a list of words
    CK_TIMEOUT_MULTIPLIER=6 meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 6 $tests
}

status=0
if [ "$run" = yes ]; then
    build_with_counters
    run_tests || status=1
fi
gcovr --root "$root" --filter "$root/src/" --filter "$root/converters/" --no-markers --json "$build/coverage.json" "$build"
python3 "$root/scripts/coverage-report.py" "$build/coverage.json" "$root/tests/unreached.txt" || status=1
exit $status
