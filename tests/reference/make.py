#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets TensorFlow compute what the cases of families give, and writes expected/FAMILY.npz.
usage: make.py [FAMILY...]      default: all

Needs TensorFlow: see README.md. Refused cases are not computed."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE)]
import numpy as np  # noqa: E402
from case import EXPECTED, cases_of, families  # noqa: E402
from tensorflow_runs import BY_ONEDNN, compute, tf, write_arrays  # noqa: E402


def make(family):
    """Returns how many cases TensorFlow refuses."""
    arrays, failed, digests = {}, 0, []
    for case in cases_of(family):
        if not case.fetched:
            continue
        try:
            for value, array in zip(case.fetched, compute(case)):
                arrays[case.key(value)] = array
        except (tf.errors.OpError, ValueError) as error:
            print(f"{family}: {case.name}: {str(error)[:1500]}")
            failed += 1
            continue
        digests.append(f"{case.name}|{case.digest()}")
    arrays["digests"] = np.array(digests)
    path = EXPECTED / f"{family}.npz"
    write_arrays(path, arrays)
    print(f"{family}: {len(digests)} cases, {len(arrays) - 1} arrays, {path.stat().st_size} bytes, {failed} failed")
    return failed


def make_by(family):
    """TensorFlow reads when it is loaded whether kernels are oneDNN's: families of these have a process of their own."""
    if any(case.by_onednn for case in cases_of(family)) == BY_ONEDNN:
        return make(family)
    return subprocess.run([sys.executable, __file__, "--by-onednn", family], check=False).returncode


def main():
    chosen = [family for family in sys.argv[1:] if family != "--by-onednn"] or families()
    sys.exit(1 if sum(map(make_by, chosen)) else 0)


main()
