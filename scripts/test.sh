#!/bin/sh
# Installs what is missing, builds with AddressSanitizer and UndefinedBehaviorSanitizer, and runs all tests.
#   scripts/test.sh          everything but fuzzing
#   scripts/test.sh --long   also what takes long, and each fuzz target for 60 seconds (clang, libFuzzer)
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
    CC=clang configure "$build/fuzz" -Dfuzz=true -Dtests=false -Ddefault_library=static -Db_lundef=false \
        -Db_sanitize=address,undefined -Dc_args='-fsanitize=fuzzer-no-link -fno-sanitize-recover=all'
    ninja -C "$build/fuzz"
    for target in "$root"/tests/fuzz/fuzz_*.c; do
        name=$(basename "$target" .c)
        seeds=$build/fuzz/seeds-$name
        mkdir -p "$seeds"
        /usr/bin/python3 "$root/tests/fuzz/make_seeds.py" "$name" "$seeds"
        echo "fuzzing: $name"
        if "$build/fuzz/tests/fuzz/$name" -max_total_time=60 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
            -artifact_prefix="$build/fuzz/$name-" "$seeds" "$root/examples" "$root/testdata" \
            >"$build/fuzz/$name.log" 2>&1; then
            fuzz_passed=$((fuzz_passed + 1))
            grep 'number_of_executed_units' "$build/fuzz/$name.log" || true
        else
            fuzz_failed=$((fuzz_failed + 1))
            tail -n 40 "$build/fuzz/$name.log"
        fi
    done
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
[ "$long" = no ] || run_fuzzers

python3 "$root/scripts/count-tests.py" "$build/test/meson-logs/testlog.json" "$fuzz_passed" "$fuzz_failed" 0
