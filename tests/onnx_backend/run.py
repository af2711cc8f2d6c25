#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The ONNX project's backend cases: converted, executed, compared with the published outputs.
usage: run.py [-v] [--update] [--io_layout LAYOUT] [--backend NAME] [--step N] [--cases FOLDER] [--build FOLDER] [PATTERN...]

  PATTERN          a shell pattern over the cases' names; default: those of ODLC_CASES, or all
  --cases FOLDER   other cases laid out alike (or ODLC_BACKEND_CASES); the list of refused cases says nothing about them
  --build FOLDER   whose commands are tried (or ODLC_BUILD_ROOT)
  --io_layout      the order of graph inputs and outputs: model (default), or channels_last, the converter's default
  --backend        who executes (net-run --backend); default: all that there are
  --step N         of each operator the first and each N-th case behind it, all with ODLC_LONG=1 and those that are named
  --update         rewrites the list of refused cases
  -v               a line for each refused case, too

A case is matched, refused by onnx-to-dlc (skipped, in the closing totals), WRONG or CRASHED. Cases that give shapes, axes
and the like as graph inputs get those frozen that onnx-to-dlc asks for, and no others. refused.txt lists the refused
cases with their reasons; a case that differs from the list fails."""

import argparse
import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
LIST = HERE / "refused.txt"
HEAD = "# Backend cases that onnx-to-dlc refuses, and why. Made by tests/onnx_backend/run.py --update.\n"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("-v", action="store_true", dest="verbose", help=argparse.SUPPRESS)
    parser.add_argument("--io_layout", choices=("model", "channels_last"), default="model", help=argparse.SUPPRESS)
    parser.add_argument("--backend", help=argparse.SUPPRESS)
    parser.add_argument("--step", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--update", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cases", default=os.environ.get("ODLC_BACKEND_CASES"), help=argparse.SUPPRESS)
    parser.add_argument("--build", help=argparse.SUPPRESS)
    parser.add_argument("patterns", nargs="*", help=argparse.SUPPRESS)
    return parser.parse_args()


OPTIONS = arguments()
if OPTIONS.build:
    os.environ["ODLC_BUILD_ROOT"] = os.path.abspath(OPTIONS.build)  # before checks.py reads it
from checks import CASES, LONG, SHARED, Checks, command, leave_out  # noqa: E402

try:
    from cases import Operators, cases_of
    from try_case import CRASHED, MATCHED, REFUSED, WRONG, try_case
    OUTCOMES = (MATCHED, REFUSED, WRONG, CRASHED)
except ImportError as error:
    if error.name != "numpy":
        raise
    OUTCOMES = None


def read_list():
    """Reason by name of case."""
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("  ", 1) for line in lines)


def write_list(refused):
    LIST.write_text(HEAD + "".join(f"{name}  {refused[name]}\n" for name in sorted(refused)))


def disagreement(name, outcome, reason, listed):
    """Why a case makes the list untrue, or None."""
    if outcome == REFUSED and name not in listed:
        return f"is refused, and not in {LIST.name}: {reason}"
    if outcome == REFUSED and listed[name] != reason:
        return f"is refused for another reason than {LIST.name} says: {reason}"
    if outcome == MATCHED and name in listed:
        return f"matches, but is in {LIST.name}"
    return None


class Report:
    """Prints what fails as it comes, and counts. listed: the list of refused cases, or None when it does not count."""

    def __init__(self, checks, listed, verbose):
        self.checks, self.listed, self.verbose = checks, listed, verbose
        self.outcomes, self.reasons = collections.Counter(), collections.Counter()
        self.operators = collections.defaultdict(collections.Counter)
        self.refused = {}

    def add(self, name, operator, outcome, reason):
        self.outcomes[outcome] += 1
        self.operators[operator][outcome] += 1
        if outcome == REFUSED:
            self.reasons[reason] += 1
            self.refused[name] = reason
        untrue = None if self.listed is None else disagreement(name, outcome, reason, self.listed)
        if outcome in (WRONG, CRASHED):
            self.fail(f"{outcome} {name}: {reason}")
        elif untrue:
            self.fail(f"UNTRUE {name} {untrue}")
        elif outcome == MATCHED:
            self.checks.passed += 1
        else:
            self.checks.skipped += 1
            if self.verbose:
                print(f"refused {name}: {reason}", flush=True)

    def fail(self, text):
        self.checks.failed += 1
        print(text, flush=True)

    def print_tables(self):
        print(f"\n{'operator':30} {MATCHED:>8} {REFUSED:>8} {WRONG:>8} {CRASHED:>8}")
        for operator, counts in sorted(self.operators.items()):
            print(f"{operator:30}", *(f"{counts[outcome] or '-':>8}" for outcome in OUTCOMES))
        if self.reasons:
            print("\nrefused because")
        for reason, count in sorted(self.reasons.items(), key=lambda item: (-item[1], item[0])):
            print(f"{count:5}  {reason}")
        print("\n" + ", ".join(f"{outcome} {self.outcomes[outcome]}" for outcome in OUTCOMES))


def share_by_operator(cases, operators, step):
    """In their order."""
    numbers, share = collections.Counter(), []
    for case in cases:
        operator = operators.of(case)
        if LONG or numbers[operator] % step == 0:
            share.append(case)
        numbers[operator] += 1
    leave_out(len(cases) - len(share), len(cases), "backend cases")
    return share


def run_cases(checks, folder):
    cases = cases_of(folder)
    operators = Operators(cases)
    patterns = OPTIONS.patterns or CASES or ["*"]
    chosen = [case for case in cases if any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns)]
    if not chosen and CASES and not OPTIONS.patterns:
        return
    if not chosen:
        sys.exit(f"run.py: no case of {folder} has such a name")
    if patterns == ["*"]:
        chosen = share_by_operator(chosen, operators, OPTIONS.step)
    listed = None if OPTIONS.cases or OPTIONS.update else read_list()
    report = Report(checks, listed, OPTIONS.verbose)
    options = ["--backend", OPTIONS.backend] if OPTIONS.backend else []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = pool.map(lambda case: try_case(case, OPTIONS.io_layout, options), chosen)
        for case, (outcome, reason) in zip(chosen, outcomes):
            report.add(case.name, operators.of(case), outcome, reason)
    for name in sorted(set(listed or ()) - {case.name for case in cases}):
        report.fail(f"UNTRUE {name} is in {LIST.name}, and there is no such case")
    report.print_tables()
    if OPTIONS.update:
        write_list(report.refused)


def main():
    checks = Checks()
    folder = pathlib.Path(OPTIONS.cases or SHARED / "corpus" / "onnx-backend")
    if OPTIONS.cases and not folder.is_dir():
        sys.exit(f"run.py: there is no folder {folder}")
    if OPTIONS.update and (OPTIONS.cases or OPTIONS.patterns or CASES):
        sys.exit("run.py: --update lists all cases of the project's corpus; name no others, and no patterns")
    if not os.path.exists(command("onnx-to-dlc")):
        sys.exit(f"run.py: there is no {command('onnx-to-dlc')}: name a build with --build")
    if OUTCOMES and folder.is_dir():
        run_cases(checks, folder)
    else:
        checks.skip("backend cases", f"{folder} is not there" if OUTCOMES else "python3-numpy is not there")
    checks.finish()


main()
