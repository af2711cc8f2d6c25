# SPDX-License-Identifier: Apache-2.0
"""Dry runs against conversions: for each model of the corpus both end with the same status, a dry run reports every error of
the conversion, and says "0 unsupported" where, and only where, the conversion succeeds."""

import json
import pathlib
import re
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "onnx_backend"), str(TESTS / "reference")]
from checks import SHARED, share_of  # noqa: E402
from prestarted import run  # noqa: E402

try:
    import numpy as np
    from cases import cases_of
    from corpus_runs import REFUSALS, RUNS
    from try_case import ASKED, open_dims
except ImportError:
    np = None

CORPUS = SHARED / "corpus"
TENSORFLOW = CORPUS / "tf"
STEP = 17
ROW = "{:64} {:>12} {:>12}  {}"


class Attempt:
    """A model with options; files: values of graph inputs, for those that the converter asks to freeze."""

    def __init__(self, name, command, model, options=(), files=()):
        self.name, self.command, self.model, self.options, self.files = name, command, model, list(options), dict(files)


def errors_of(done):
    records = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return [record for record in records if record["severity"] == "error"]


def said(error):
    return error["code"], error["message"]


def disagreement(dry, converted):
    """How a dry run differs from the conversion, or None."""
    report = json.loads(dry.stdout) if dry.stdout else {"converts": None, "model_ops": {"unsupported": None}}
    if dry.returncode != converted.returncode:
        return f"status {dry.returncode} instead of {converted.returncode}: {dry.stderr[-300:]}{converted.stderr[-300:]}"
    if converted.returncode == 0 and not (report["converts"] and report["model_ops"]["unsupported"] == 0):
        return f"it does not say that nothing is unsupported: {dry.stdout[-200:]}"
    if converted.returncode and report["converts"]:
        return "it says that the model converts"
    silent = {said(error) for error in errors_of(converted)} - {said(error) for error in errors_of(dry)}
    return f"it does not say {sorted(silent)[0]}" if silent else None


def verdicts(attempt):
    """(dry run, conversion) with the options, and again with the inputs frozen that they ask for."""
    with tempfile.TemporaryDirectory() as folder:
        dlc, frozen = pathlib.Path(folder) / "model.dlc", []
        while True:
            options = ["-i", attempt.model, "-o", dlc, "--json", *attempt.options]
            options += [f"--freeze_input={name}={attempt.files[name]}" for name in frozen]
            dry = run(attempt.command, *options, "--dry_run")
            left = dlc.exists()
            converted = run(attempt.command, *options)
            yield dry, converted, "a dry run wrote the container" if left else None
            asked = {name for error in errors_of(converted) for name in ASKED.findall(error.get("hint", ""))}
            more = sorted(asked & set(attempt.files) - set(frozen))
            if not more:
                return
            frozen += more
            dlc.unlink(missing_ok=True)


def word(done):
    return "converts" if done.returncode == 0 else f"refuses ({done.returncode})"


def check_attempt(checks, attempt):
    reason = None
    for dry, converted, reason in verdicts(attempt):
        reason = reason or disagreement(dry, converted)
        if reason:
            break
    checks.passed += not reason
    checks.failed += bool(reason)
    print(ROW.format(attempt.name, word(dry), word(converted), f"FAILED {reason}" if reason else "ok"), flush=True)


def plain_attempts():
    """Every ONNX model as it is, and every TensorFlow model."""
    for model in sorted(CORPUS.rglob("*.onnx")):
        yield Attempt(str(model.relative_to(CORPUS)), "onnx-to-dlc", model)
    models = [*sorted((TENSORFLOW / "frozen").iterdir()), *sorted((TENSORFLOW / "saved_model").iterdir()),
              *sorted((TENSORFLOW / "checkpoint").rglob("*.meta"))]
    for model in models:
        yield Attempt(str(model.relative_to(CORPUS)), "tensorflow-to-dlc", model)


def attempts(networks, folder):
    """The models as they are, and those that ask for more with what their data gives; networks: of model_case."""
    yield from plain_attempts()
    for case in networks:
        dims = [word for name, shape in case.dims for word in ("-d", name, shape)]
        frozen = [f"--freeze_input={name}={file}" for name, file in case.frozen.items()]
        if dims or frozen:
            yield Attempt(f"{case.name} with options", "onnx-to-dlc", case.model, dims + frozen)
    for case in cases_of(CORPUS / "onnx-backend"):
        data = next(case.data_sets(), None)
        if data and data.files:
            yield Attempt(f"{case.name} with data", "onnx-to-dlc", case.model, open_dims(case, data), data.files)
    for wanted in RUNS:
        options = wanted.options()
        for i, (name, values) in enumerate(wanted.frozen.items()):
            file = folder / f"{wanted.name}_{i}.npy"
            np.save(file, values)
            options.append(f"--freeze_input={name}={file}")
        yield Attempt(f"{wanted.name} with options", "tensorflow-to-dlc", TENSORFLOW / wanted.model, options)
    for refusal in REFUSALS:
        yield Attempt(f"{refusal.name} with options", "tensorflow-to-dlc", TENSORFLOW / refusal.model, refusal.options)


def check_dry_runs(checks, networks):
    print(ROW.format("model", "dry run", "conversion", "verdict"))
    with tempfile.TemporaryDirectory() as folder:
        for attempt in share_of(attempts(networks, pathlib.Path(folder)), STEP, "dry runs"):
            check_attempt(checks, attempt)
