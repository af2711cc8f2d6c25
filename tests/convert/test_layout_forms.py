#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""However graph inputs and outputs are stored, a model computes the same. Random models (tests/support/random_onnx.py)
are converted in four forms: as they are, with the model's layout kept, with all inputs said to mean nothing spatial, and
with the layout of some names kept. net-run gets the same inputs in the order in which each container stores them, and
every output, brought back into the model's order, must be what NumPy computes, and what the other forms give.

    tests/convert/test_layout_forms.py [SEED [COUNT]]

How a tensor is stored is told by its dims: the models' inputs and outputs have others channels-first than
channels-last. The axis format and the converter's note must say the same."""

import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import numpy as np  # noqa: E402
from checks import Checks, share_of  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from model_case import CHANNELS_LAST, LAST, result, run_on  # noqa: E402
from prestarted import run  # noqa: E402
from random_onnx import RandomModel  # noqa: E402

COUNT, STEP = 600, 10
# Of the largest value of an output. NumPy rounds to float32 after each node, net-run after each op; fewer ops come of
# what is folded together, and each rounding is 6e-8.
TOLERANCE = 1e-5
# Between two forms: sums are added up in another order, in float64, so that few are rounded to another float32.
FORM_TOLERANCE = 1e-6


def forms_of(m, rng):
    """(name, options, names whose layout is kept)"""
    names = [*m.inputs, *m.outputs]
    some = rng.sample(names, rng.randint(1, len(names)))
    layouts = [word for name in m.inputs for word in ("--input_layout", name, "NONTRIVIAL")]
    return (("default", [], []), ("kept", ["--preserve_io", "layout"], names), ("nontrivial", layouts, list(m.inputs)),
            ("some kept", ["--preserve_io", "layout", *some], some))


def is_stored_last(array, tensor):
    """Whether the container has the array's channels last; None when its dims are neither that nor the model's."""
    dims = list(array.shape) or [1]
    if tensor.dims == dims:
        return False
    if array.ndim in LAST and tensor.dims == [dims[axis] for axis in LAST[array.ndim]]:
        return True
    return None


class Form:
    """A model converted in one form."""

    def __init__(self, checks, m, label, options, kept, folder):
        self.checks, self.m, self.label, self.kept, self.folder = checks, m, label, kept, folder
        folder.mkdir(exist_ok=True)
        self.dlc = folder / "model.dlc"
        self.done = run("onnx-to-dlc", "-i", folder.parent / "model.onnx", "-o", self.dlc, "--debug", *options)

    def said_last(self):
        """Names that the converter says to be stored channels-last."""
        return set(re.findall(r"graph (?:in|out)put (\S+) is stored channels-last", self.done.stdout + self.done.stderr))

    def check_interface(self):
        """How inputs and outputs are stored, by name; None when something of it is wrong."""
        arrays = {**self.m.inputs, **self.m.outputs}
        last = {name: is_stored_last(array, self.container.tensors[name]) for name, array in arrays.items()}
        stored = {name for name in last if last[name]}
        inputs = {name for name in self.m.inputs if self.container.tensors[name].axis_format in CHANNELS_LAST}
        named = {name for name, array in self.m.inputs.items() if array.ndim in (3, 4)}  # orders that a format stands for
        right = all((
            self.checks.check(f"{self.label}: dims of inputs and outputs", None not in last.values(), last),
            self.checks.equal(f"{self.label}: the notes", self.said_last(), stored),
            self.checks.equal(f"{self.label}: what is kept and yet stored channels-last", stored & set(self.kept), set()),
            self.checks.equal(f"{self.label}: inputs' axis formats", inputs, stored & named),
        ))
        return last if right else None

    def run(self):
        """Outputs by name, in the model's order; None after a failure."""
        if not self.checks.check(f"{self.label} converts", self.done.returncode == 0, self.done.stderr[:400]):
            return None
        self.container = read_container(self.dlc, data=False)
        last = self.check_interface()
        if last is None:
            return None
        inputs = {name: np.ascontiguousarray(array.transpose(LAST[array.ndim]) if last[name] else array)
                  for name, array in self.m.inputs.items()}
        done = run_on(inputs, self.dlc, self.folder)
        if not self.checks.check(f"{self.label} runs", done.returncode == 0, done.stderr[:400]):
            return None
        return {name: self.output(name, array, last[name]) for name, array in self.m.outputs.items()}

    def output(self, name, expected, last):
        found = result(self.folder, self.container, name)
        if last:
            return found.transpose(np.argsort(LAST[found.ndim]))
        return found.reshape(expected.shape)


def error(found, expected):
    """The largest difference, as a part of the largest value."""
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(found, expected) else np.inf
    largest = max(np.abs(expected).max(initial=0), 1e-3)
    return float(np.abs(found.astype(np.float64) - expected).max(initial=0) / largest)


def check_seed(checks, seed, folder):
    """(seed's largest error of all forms, largest difference between forms)"""
    m = RandomModel(seed)
    m.save(folder / "model.onnx")
    results = {}
    for name, options, kept in forms_of(m, random.Random(seed)):
        label = f"seed {seed}, {name}"
        outputs = Form(checks, m, label, options, kept, folder / name.replace(" ", "-")).run()
        if outputs is None:
            return 0, 0
        results[name] = outputs
    errors, spreads = [], []
    for name, outputs in results.items():
        errors += [error(outputs[out], expected) for out, expected in m.outputs.items()]
        spreads += [error(outputs[out], results["default"][out]) for out in m.outputs]
        label = f"seed {seed}, {name}, nodes {m.kinds}"
        checks.check(f"{label}: as NumPy computes", max(errors) <= TOLERANCE, errors)
        checks.check(f"{label}: as by default", max(spreads) <= FORM_TOLERANCE, spreads)
    return max(errors), max(spreads)


def test_random_models(checks, seeds):
    with tempfile.TemporaryDirectory() as name:
        found = [check_seed(checks, seed, pathlib.Path(name)) for seed in seeds]
    worst = [max(column) for column in zip(*found)]
    same = sum(spread == 0 for _, spread in found)
    print(f"{len(found)} models: at most {worst[0]:.2g} from NumPy's numbers, {worst[1]:.2g} between forms; {same} are "
          "the same to the last bit in all forms")


def main():
    checks = Checks()
    numbers = [int(word) for word in sys.argv[1:]]
    if numbers:
        first, count = (*numbers, 1)[:2]
        test_random_models(checks, range(first, first + count))
    else:
        test_random_models(checks, share_of(range(COUNT), STEP, "random models"))
    checks.finish()


if __name__ == "__main__":
    main()
