"""The ONNX project's backend cases, one operator each: converted, executed, compared with the published outputs.
usage: backend.py [-v] [PATTERN...]     (shell patterns over the cases' names; -v: also why cases are skipped)

A case that onnx-to-dlc refuses counts as skipped, one that it converts must give the right numbers. Where a case gives
shapes, axes and the like as graph inputs, which a container cannot have, it is tried again with those inputs as constants."""

import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import dlc_tools  # noqa: E402
from checks import SHARED, Checks  # noqa: E402

try:
    import numpy as np
    from model_case import as_stored, case_of_backend, complaint, convert, execute, result, wire_fields
    from onnx_writer import Message
except ImportError:
    np = None

# Other cases laid out alike can be named.
BACKEND = pathlib.Path(os.environ.get("ODLC_BACKEND_CASES", SHARED / "corpus" / "onnx-backend"))
# With equal dimensions nothing would tell which order of axes a container has: let it be the model's.
KEEP_LAYOUT = ("--preserve_io", "layout")
# Cases whose published outputs are rounded to four digits.
ROUNDED = {"test_averagepool_2d_ceil_last_window_starts_on_pad": 1e-4, "test_gridsample_bicubic": 1e-4,
           "test_roialign_aligned_false": 1e-4, "test_roialign_aligned_true": 1e-4}
FOLDERS = ("node", "simple", "pytorch-operator", "pytorch-converted")


def freeze(case, path):
    """Writes the model with all inputs but the first as initializers; False when there is only one."""
    names = list(case.inputs)
    if len(names) < 2:
        return False
    graph, model = Message(), Message()
    data = case.model.parent / "test_data_set_0"
    fields = list(wire_fields(case.model.read_bytes()))
    copy_fields(graph, wire_fields(next(value for field, value in fields if field == 7)))
    for i, name in enumerate(names):
        if i:
            tensor = Message()
            copy_fields(tensor, [f for f in wire_fields((data / f"input_{i}.pb").read_bytes()) if f[0] != 8])
            graph.message(5, tensor.data(8, name))
    copy_fields(model, [f for f in fields if f[0] != 7])
    path.write_bytes(b"".join(model.message(7, graph).parts))
    case.model = path
    case.inputs = {names[0]: case.inputs[names[0]]}
    return True


def copy_fields(message, fields):
    """Numbers and byte strings; enough for models, graphs and tensors in raw or packed form."""
    for field, value in fields:
        message.integer(field, value) if isinstance(value, int) else message.data(field, value)


def problem(case, folder, container):
    """What is wrong with the results, or None."""
    for name, array in case.outputs.items():
        if name not in container.tensors:
            return f"there is no tensor {name}"
        expected = as_stored(array, container.tensors[name])
        if expected is None:
            return f"{name} has dims {container.tensors[name].dims}, expected {list(array.shape)}"
        try:
            found = result(folder, container, name)
        except FileNotFoundError:
            return f"net-run wrote no {name}"
        if expected.dtype.kind == "f":
            tolerance = 2e-3 if array.dtype == np.float16 else 1e-4
            absolute = ROUNDED.get(case.name, 1e-5)
            same = np.allclose(found, expected, rtol=tolerance, atol=absolute, equal_nan=True)
        else:
            same = np.array_equal(found, expected)
        if not same:
            with np.errstate(all="ignore"):
                worst = np.nanmax(np.abs(found.astype(np.float64) - expected))
            return f"{name} differs by {worst:g}"
    return None


def check(path):
    """("passed" | "failed" | "skipped", name, reason) of one case."""
    name = f"{path.parent.name}/{path.name}"
    case = case_of_backend(path)
    if case is None:
        return "skipped", name, "has values that are no tensors of numbers"
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        done, dlc = convert(case, folder, options=KEEP_LAYOUT)
        if done.returncode == 1 and freeze(case, folder / "frozen.onnx"):
            done, dlc = convert(case, folder, options=KEEP_LAYOUT)
        if done.returncode:
            # 1 is a refusal; anything else is a crash.
            return "skipped" if done.returncode == 1 and "internal" not in done.stderr else "failed", name, complaint(done)
        done, container = execute(case, dlc, folder)
        if done.returncode:
            return "failed", name, complaint(done)
        reason = problem(case, folder, container) or dlc_tools.refusal(dlc)
    return ("failed" if reason else "passed"), name, reason


def main():
    checks = Checks()
    verbose = "-v" in sys.argv
    patterns = [argument for argument in sys.argv[1:] if argument != "-v"] or ["*"]
    if np is None or not BACKEND.is_dir():
        checks.skip("backend cases", f"{BACKEND} or python3-numpy is not there")
        checks.finish()
    paths = [path.parent for folder in FOLDERS for path in sorted((BACKEND / folder).glob("*/model.onnx"))]
    paths = [path for path in paths if any(fnmatch.fnmatch(path.name, pattern) for pattern in patterns)]
    reasons = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for outcome, name, reason in pool.map(check, paths):
            setattr(checks, outcome, getattr(checks, outcome) + 1)
            if outcome == "failed" or (verbose and outcome == "skipped"):
                print(f"{outcome} {name}: {reason}", flush=True)
            if outcome == "skipped":
                reasons[re.sub(r"^.*error: ", "", reason)[:100]] += 1
    for reason, count in reasons.most_common(15):
        print(f"{count:4} skipped: {reason}")
    checks.finish()


main()
