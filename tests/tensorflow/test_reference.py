# SPDX-License-Identifier: Apache-2.0
"""Operators of TensorFlow give the numbers that TensorFlow gives: the cases of families of tests/reference are converted and
executed. usage: test_reference.py FAMILY [PATTERN...]"""

import concurrent.futures
import fnmatch
import os
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "reference")]
from checks import CASES, Checks, case_chosen  # noqa: E402

try:
    import numpy as np
    from case import EXPECTED, cases_of
    from run_case import try_case
except ImportError as error:
    if error.name != "numpy":
        raise
    np = None


def read_expected(family):
    """Arrays by key, and digests by name of case."""
    path = EXPECTED / f"{family}.npz"
    if not path.exists():
        return {}
    arrays = dict(np.load(path))
    return {**arrays, **dict(line.rsplit("|", 1) for line in arrays["digests"].tolist())}


def of_case(case, expected):
    """None when the numbers are not those of this case."""
    return expected if expected.get(case.name) == str(case.digest()) else None


def main():
    checks = Checks()
    if np is None:
        checks.skip("reference numbers", "python3-numpy is not there")
        checks.finish()
    family, *patterns = sys.argv[1:]
    chosen = [case for case in cases_of(family)
              if any(fnmatch.fnmatch(case.name, pattern) for pattern in patterns or "*") and case_chosen(case.name)]
    checks.check("there are cases", chosen or CASES)
    expected = read_expected(family)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for outcome in pool.map(lambda case: try_case(case, of_case(case, expected)), chosen):
            for name, holds, detail in outcome.checks:
                checks.check(name, holds, detail)
    checks.finish()


main()
