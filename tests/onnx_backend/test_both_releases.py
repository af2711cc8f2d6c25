# SPDX-License-Identifier: Apache-2.0
"""Containers of an older and of a newer release (--target_release) give the same numbers, to the bit: backend cases are
converted for both and executed. Where the newer has an op for what are steps of ops in the older, whose results are rounded
one by one, they are within some of these roundings. Which spelling each has is tests/convert/test_target_release.py's."""

import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from checks import SHARED, Checks, share_of  # noqa: E402

try:
    import numpy as np
    from cases import cases_of
    from dlc_reader import read_container
    from try_case import REFUSED, Verdict, convert, execute
except ImportError as error:
    if error.name != "numpy":
        raise
    cases_of = None


def results(case, data, folder, release):
    """{file: bytes} of an inference, and the container."""
    dlc, place = folder / f"{release}.dlc", folder / release
    place.mkdir()
    frozen, moved = convert(case, data, dlc, "model", "--target_release", release)
    container = read_container(dlc, data=False)
    execute(data, dlc, container, frozen, place, moved, ())
    out = place / "out"
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*.raw"))}, container


STEPS_BEFORE = {"RmsNorm"}  # ops that the older release does not have
ROUNDINGS = 4 * 2.0**-23  # of the largest element


def near(older, newer):
    """Whether the files are the same, and their float32 numbers nearly so."""
    if older.keys() != newer.keys():
        return False
    pairs = [(np.frombuffer(older[name], "f4"), np.frombuffer(newer[name], "f4")) for name in older]
    return all(x.shape == y.shape and np.max(np.abs(x - y), initial=0) <= ROUNDINGS * np.max(np.abs(x), initial=0) for x, y in pairs)


def compare(checks, case, folder):
    """Whether the case has something that the releases spell differently; None: it is refused."""
    data = next(iter(case.data_sets()), None)
    try:
        older, old = results(case, data, folder, "2.20")
        newer, new = results(case, data, folder, "2.47")
    except Verdict as verdict:
        checks.check(case.name, verdict.outcome == REFUSED, verdict)
        return None
    old_types, new_types = {op.type for op in old.ops}, {op.type for op in new.ops}
    same = near(older, newer) if new_types & STEPS_BEFORE else older == newer
    checks.check(f"{case.name}: results", older and same, sorted(older))
    checks.check(f"{case.name}: types", "Neuron" not in new_types and "ElementWiseNeuron" not in old_types, new_types)
    return [op.inputs for op in old.ops] != [op.inputs for op in new.ops] or any("operation" in op.params for op in new.ops)


def main():
    checks, folder = Checks(), SHARED / "corpus" / "onnx-backend"
    if not cases_of or not folder.is_dir():
        checks.skip("releases", "NumPy or the backend cases are not there")
        checks.finish()
    differing = 0
    for case in share_of(cases_of(folder), 9, "backend cases"):
        with tempfile.TemporaryDirectory() as temporary:
            differing += bool(compare(checks, case, pathlib.Path(temporary)))
    checks.check("the releases differ", differing > 30, differing)
    checks.finish()


main()
