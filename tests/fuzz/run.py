#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Fuzzes: tests/fuzz/run.py --build BUILD [--seconds 600] [--jobs 1] [--keep FOLDER] [TARGET...]

BUILD was configured with -Dfuzz=libfuzzer. Each target (all of them, if none is named) runs that long on one core, from its
seeds, what was found before, and what earlier runs left in FOLDER (BUILD/corpora). Findings are left in FOLDER/TARGET-findings.
A line for each target says how many inputs were tried, how many a second, and the edges of code reached; the last line is
"N passed, N failed, N skipped"."""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LIMITS = ["-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=1024"]


def fuzz(options, target):
    """The target's name, whether nothing was found, and its log."""
    corpus, seeds, findings = (options.keep / f"{target.name}{what}" for what in ("", "-seeds", "-findings"))
    for folder in (corpus, seeds, findings):
        folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, HERE / "make_seeds.py", target.name, seeds], check=True)
    found = HERE.parent / "regressions" / target.name
    dictionary = HERE / f"{target.name}.dict"
    args = [target, f"-max_total_time={options.seconds}", *LIMITS, "-print_final_stats=1", f"-artifact_prefix={findings}/"]
    args += [f"-dict={dictionary}"] * dictionary.exists()
    done = subprocess.run([*args, corpus, seeds, *[found] * found.exists()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", check=False)
    (options.keep / f"{target.name}.log").write_text(done.stdout)
    return target.name, done.returncode == 0, done.stdout


def number(log, pattern):
    found = re.findall(pattern, log)
    return int(found[-1]) if found else 0


def report(name, passed, log):
    runs = number(log, r"stat::number_of_executed_units:\s*(\d+)")
    rate = number(log, r"stat::average_exec_per_sec:\s*(\d+)")
    edges = number(log, r"cov: (\d+)")
    print(f"{name:<20} {runs:>10} runs {rate:>7}/s {edges:>7} edges  "
          f"{'no finding' if passed else 'FAILED'}", flush=True)
    if not passed:
        print("\n".join("    " + line for line in log.splitlines()[-60:]), flush=True)


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    options.keep = (options.keep or options.build / "corpora").resolve()
    folder = options.build.resolve() / "tests" / "fuzz"
    all_targets = [path for path in sorted(folder.glob("fuzz_*")) if path.is_file()]
    options.targets = [folder / name for name in options.targets] or all_targets
    return options


def main():
    options = read_options()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, passed, log in pool.map(lambda target: fuzz(options, target), options.targets):
            report(name, passed, log)
            failed += not passed
    print(f"{len(options.targets) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


main()
