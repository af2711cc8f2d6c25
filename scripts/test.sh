#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds with AddressSanitizer and UndefinedBehaviorSanitizer, and runs all tests.
#   scripts/test.sh          everything but fuzzing; of exhaustive tests each n-th case
#   scripts/test.sh --long   also all cases, the static analysis of all sources, bugs that tests must see, packages, an image and an
#                            archive for aarch64, and each fuzz target for 60 seconds (clang, libFuzzer)
# It begins with how long that takes.
# The last line is "N passed, N failed, N skipped", counted in test cases, and the one before says how many were left to
# --long; the status is 0 when none failed.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${ODLC_BUILD:-$root/build}
long=no
case "${1:-}" in
    '') ;;
    --long) long=yes ;;
    *) echo "usage: scripts/test.sh [--long]" >&2; exit 2 ;;
esac

# A machine that does other things as well needs longer in proportion: no test fails for that.
say_how_long()
{
    echo "Builds with sanitizers and runs all tests: a quarter of an hour on two processors with nothing else to do."
    if [ "$long" = yes ]; then
        echo "--long adds some hours: all cases of exhaustive tests, the analysis of all sources, a build for each planted bug, Debian"
        echo "packages, a container image and an archive for aarch64, and a minute for each fuzz target."
    else
        echo "scripts/test.sh --long would also try all cases of exhaustive tests, analyse all sources, plant bugs, make packages, and fuzz."
    fi
    [ ! -f "$build/took-$long" ] || echo "The last time it took $(cat "$build/took-$long") minutes here."
}

configure()
{
    folder=$1
    shift
    [ -f "$folder/build.ninja" ] || meson setup "$folder" "$root" "$@"
}

# Runs each fuzz target; sets fuzz_passed and fuzz_failed.
run_fuzzers()
{
    "$root/scripts/install-packages.sh" fuzz
    CC=clang configure "$build/fuzz" -Dfuzz=libfuzzer -Dtests=false
    ninja -C "$build/fuzz"
    "$root/tests/fuzz/run.py" --build "$build/fuzz" --seconds 60 --jobs "$(nproc)" | tee "$build/fuzz/totals.txt" || true
    fuzz_passed=$(sed -n '$s/^\([0-9]*\) passed.*/\1/p' "$build/fuzz/totals.txt")
    fuzz_failed=$(sed -n '$s/.* \([0-9]*\) failed.*/\1/p' "$build/fuzz/totals.txt")
}

# Plants bugs, each of which a test must see; sets mutants_passed and mutants_failed.
run_mutants()
{
    "$root/tests/mutants.py" --work "$build/mutants" | tee "$build/mutants.txt" || true
    mutants_passed=$(sed -n '$s/^\([0-9]*\) passed.*/\1/p' "$build/mutants.txt")
    mutants_failed=$(sed -n '$s/.* \([0-9]*\) failed.*/\1/p' "$build/mutants.txt")
    mutants_passed=${mutants_passed:-0}
    mutants_failed=${mutants_failed:-1}
}

# Looks at all sources; sets analysis_failed.
run_analysis()
{
    "$root/scripts/install-packages.sh" fuzz ci
    analysis_failed=0
    "$root/scripts/analyze.sh" "$build/test" || analysis_failed=1
}

say_how_long
began=$(date +%s)
"$root/scripts/install-packages.sh" build test
[ "$long" = no ] || "$root/scripts/install-packages.sh" docs ci packages images browser web
# Sanitizers name lines, for which -g1 is enough. Compiling takes half of the time of -O2, and the tests as long. Undefined
# behaviour is a trap, of which AddressSanitizer tells the place: descriptions of its kind are half of a program, and take as long
# to compile and to load.
configure "$build/test" -Db_sanitize=address,undefined -Db_lundef=false -Dwerror=true -Doptimization=1 \
    -Dc_args='-fsanitize-undefined-trap-on-error -g1'
# Where ccache has nothing yet, as on a fresh machine, sources are read once this way instead of twice.
CCACHE_DEPEND=1 ninja -C "$build/test"

# Stacks of what was allocated are kept at each allocation: two functions of them. Read whole ones with malloc_context_size=30.
export ASAN_OPTIONS=handle_sigill=1:malloc_context_size=2
export CK_VERBOSITY=normal
[ "$long" = no ] || export ODLC_LONG=1
# The totals below decide, so that a failure does not hide them. As ninja does, there are more at work than there are cores:
# some tests wait.
meson test -C "$build/test" --no-rebuild --print-errorlogs --num-processes "$(($(nproc) + 2))" || true

fuzz_passed=0
fuzz_failed=0
mutants_passed=0
mutants_failed=0
analysis_failed=0
[ "$long" = no ] || { run_analysis; run_mutants; run_fuzzers; }

echo $((($(date +%s) - began + 59) / 60)) >"$build/took-$long"
python3 "$root/scripts/count-tests.py" "$build/test/meson-logs/testlog.json" "$((fuzz_passed + mutants_passed))" \
    "$((fuzz_failed + mutants_failed + analysis_failed))" 0
