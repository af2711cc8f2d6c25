#!/bin/sh
# Installs what is missing, builds with AddressSanitizer and UndefinedBehaviorSanitizer, and runs all tests.
#   scripts/test.sh          everything but fuzzing
#   scripts/test.sh --long   also what takes long, bugs that tests must see, and each fuzz target for 60 seconds (clang,
#                            libFuzzer)
# The last line is "N passed, N failed, N skipped", counted in test cases; the status is 0 when none failed.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${ODLC_BUILD:-$root/build}
long=no
case "${1:-}" in
    '') ;;
    --long) long=yes ;;
    *) echo "usage: scripts/test.sh [--long]" >&2; exit 2 ;;
esac

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

"$root/scripts/install-packages.sh" build test
configure "$build/test" -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fno-sanitize-recover=all
ninja -C "$build/test"

export UBSAN_OPTIONS=print_stacktrace=1
export CK_VERBOSITY=normal
[ "$long" = no ] || export ODLC_LONG=1
# The totals below decide, so that a failure does not hide them.
meson test -C "$build/test" --no-rebuild --print-errorlogs || true

fuzz_passed=0
fuzz_failed=0
mutants_passed=0
mutants_failed=0
[ "$long" = no ] || { run_mutants; run_fuzzers; }

python3 "$root/scripts/count-tests.py" "$build/test/meson-logs/testlog.json" "$((fuzz_passed + mutants_passed))" \
    "$((fuzz_failed + mutants_failed))" 0
