# SPDX-License-Identifier: Apache-2.0
"""Real models: converted, executed, compared; and dry runs of all of them. Run by tests/corpus.sh, which says more.
usage: corpus.py [NAME...]"""

import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import dlc_tools  # noqa: E402
from checks import SHARED, Checks  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from dry_runs import check_dry_runs  # noqa: E402
from prestarted import run  # noqa: E402
from spelled_out import check_spelled_out  # noqa: E402
from udo_cases import UDO_CASES  # noqa: E402
from udo_models import OWN_MODELS  # noqa: E402

try:
    import numpy as np
    from model_case import LAST, as_stored, case_of_arrays, case_of_light, complaint, convert, execute, result
except ImportError:
    np = None

CORPUS = SHARED / "corpus"
# Graph inputs that a model needs to be constants: they select a part of it.
FROZEN = {"silero-vad-v5": ["sr"]}
# Outputs that are quantized, or sums of quantized values: their step.
STEPS = {("qdq-mobilenet-part", "MobilenetEdgeTPU/expanded_conv_4/add"): 0.372,
         ("qdq-mobilenet-part", "MobilenetEdgeTPU/expanded_conv_3/add_DequantizeLinear"): 0.372}
INSERTED = re.compile(r"\.(nchw|nhwc|perm)(\.\d+)?$")
# ONNX Runtime, which computed the expected numbers, has a float32 sigmoid that is off by up to 1.365e-7 where it is near
# zero: so much on these outputs, by an exact sigmoid of its own logits. They are below 5e-5, so it shows.
REFERENCE_NOISE = {("yunet", "obj_8"): 1.4e-7, ("yunet", "obj_16"): 1.4e-7}
# Convolutions, pools, activations, sums, concatenations: nothing in them needs an order of axes of its own, so no Transpose may
# remain, but for those of graph inputs and outputs that options ask for.
PLAIN = {"espcn-float", "light_densenet121", "light_resnet50", "light_squeezenet", "ppocr-cls", "ppocrv4-det", "rfb320",
         "squeezenet-fp16", "yunet"}
ROW = "{:30} {:>5} {:>5} {:>10} {:>9} {:>10}  {}"


def all_cases():
    folders = (sorted((CORPUS / "onnx" / kind).iterdir()) for kind in ("first", "second"))
    cases = [case_of_arrays(folder, FROZEN.get(folder.name, ())) for kind in folders for folder in kind]
    return cases + [case_of_light(model) for model in sorted((CORPUS / "onnx-backend" / "light").glob("*.onnx"))]


def same_values(a, b):
    """Whether two containers' arrays are equal, which may be stored in different orders."""
    orders = [b] + ([b.transpose(LAST[b.ndim]), b.transpose(np.argsort(LAST[b.ndim]))] if b.ndim in LAST else [])
    return any(np.array_equal(a, order) for order in orders)


def limit_of(case, container):
    """Largest error of an output, as a part of its largest value. Of a float16 model the container's tensors are all
    rounded to float16, while the reference rounds the outputs alone."""
    if any(array.dtype == np.float16 for array in case.outputs.values()):
        return 1e-2
    return 1e-3 if case.model.parent.parent.name == "first" and len(container.ops) > 100 else 1e-4


def compare(found, expected, limit, noise):
    """(relative error, reason for a refusal or None) of one output; noise: an absolute error that is allowed, too."""
    error = float(np.max(np.abs(found.astype(np.float64) - expected)))
    largest = float(np.max(np.abs(expected)))
    if not np.all(np.isfinite(found)):
        return error / largest, "an output is not finite"
    return error / largest, None if error <= max(limit * largest, noise) else f"error above {limit:g}"


def is_classifier(case):
    """One output [1, N] (or [1, N, 1, 1])."""
    shapes = [array.shape for array in case.outputs.values()]
    return len(shapes) == 1 and shapes[0][0] == 1 and np.prod(shapes[0]) == shapes[0][min(1, len(shapes[0]) - 1)]


def verdict(case, folder, container):
    """(largest relative error, remark, reason for a refusal or None) over all outputs."""
    limit = limit_of(case, container)
    worst, noisy = 0.0, []
    for name, array in case.outputs.items():
        if name not in container.tensors:
            return worst, "", f"there is no tensor {name}"
        expected = as_stored(array, container.tensors[name])
        if expected is None:
            return worst, "", f"{name} has dims {container.tensors[name].dims}"
        found = result(folder, container, name)
        noise = REFERENCE_NOISE.get((case.name, name), STEPS.get((case.name, name), 0.0))
        error, reason = compare(found, expected, limit, noise)
        if reason:
            return max(worst, error), "", f"{name}: {reason}"
        if error > limit:
            noisy.append(f"{name} {error:.1e}")
        else:
            worst = max(worst, error)
        # Equal scores may come in any order.
        if is_classifier(case) and expected.flat[found.argmax()] < expected.max() - limit * np.abs(expected).max():
            return worst, "", "another class wins"
    return worst, f" (noise of the reference in {', '.join(noisy)})" if noisy else "", None


def transposes(container):
    return [op.name for op in container.ops if op.type == "Transpose"]


def layout_complaint(case, container, folder):
    """The reason for a refusal when a plain network keeps Transposes that nobody asked for, else None."""
    if case.name not in PLAIN:
        return None
    if transposes(container):
        return f"keeps the Transposes {', '.join(transposes(container))}"
    kept = folder / "kept"
    kept.mkdir()
    done, dlc = convert(case, kept, options=["--preserve_io", "layout"])
    if done.returncode:
        return f"does not convert with --preserve_io layout: {complaint(done)}"
    found, most = transposes(read_container(dlc, data=False)), len(case.inputs) + len(case.outputs)
    return f"--preserve_io layout leaves {len(found)} Transposes" if len(found) > most else None


def print_row(name, container, error, text):
    native = "qti.aisw"
    ops = container.ops if container else []
    udos = sum(op.package != native for op in ops)
    names = transposes(container) if container else []
    inserted = sum(bool(INSERTED.search(op)) for op in names)
    shown = "-" if error is None else f"{error:.1e}"
    counts = [udos, len(names), inserted] if ops else ["-"] * 3
    print(ROW.format(name, len(ops) or "-", *counts, shown, text), flush=True)


def try_backends(case, dlc, folder):
    """(largest relative error, remark, reason for a refusal or None, container) with all backends and with the reference."""
    worst, remarks = 0.0, ""
    for options in ((), ("--backend", "reference")):
        done, container = execute(case, dlc, folder, options=options)
        if done.returncode:
            return None, "", f"does not run {' '.join(options)}: {complaint(done)}", container
        error, remark, reason = verdict(case, folder, container)
        worst = max(worst, error)
        remarks = remarks or remark
        if reason:
            return worst, "", " ".join([*options, reason]), container
    return worst, remarks, None, container


def check_case(checks, case):
    """Converts, executes and compares one model, and prints its row."""
    container, error, remark = None, None, ""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        done, dlc = convert(case, folder)
        reason = None if done.returncode == 0 else f"does not convert: {complaint(done)}"
        if not reason:
            error, remark, reason, container = try_backends(case, dlc, folder)
        if not reason:
            reason = layout_complaint(case, container, folder)
        reason = reason or dlc_tools.refusal(dlc)
    if reason:
        checks.failed += 1
    else:
        checks.passed += 1
    print_row(case.name, container, error, f"FAILED {reason}" if reason else f"ok{remark}")


def check_udo_case(checks, udo, case):
    """Converts a model with a UDO config; facts of the container, and tensors before the first UDO, must be right."""
    container = None
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        done, dlc = convert(case, folder, CORPUS / "udo-cases" / udo.name / udo.config)
        wrong = [] if done.returncode == 0 else [f"does not convert: {complaint(done)}"]
        if not wrong:
            container = read_container(dlc, data=False)
            info = json.loads(run("dlc-info", "-i", dlc, "--json").stdout)
            wrong = udo.problems(info, container, done.stderr)
        if not wrong:
            wrong = differences(case, udo, dlc, container, folder)
        refused = None if wrong else dlc_tools.refusal(dlc)
        wrong += [refused] if refused else []
    if wrong:
        checks.failed += 1
    else:
        checks.passed += 1
    print_row(udo.name, container, None, "ok" if not wrong else "FAILED " + "; ".join(wrong))


def check_own_model(checks, name):
    """A UDO case that brings its own model."""
    config, problems = OWN_MODELS[name]
    source = CORPUS / "udo-cases" / name
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "m.dlc"

        def convert_own(*options):
            return run("onnx-to-dlc", "-i", str(source / "model.onnx"), "--udo_config_paths", str(source / config),
                       "-o", str(out), *options), str(out)

        wrong = problems(convert_own)
        container = read_container(str(out), data=False) if out.exists() else None
        if container and not wrong:
            refused = dlc_tools.refusal(str(out))
            wrong = [refused] if refused else []
    checks.passed += not wrong
    checks.failed += bool(wrong)
    print_row(name, container, None, "ok" if not wrong else "FAILED " + "; ".join(wrong))


def before_first_udo(container):
    """Names of the tensors that need no UDO."""
    tainted, names = set(), []
    for op in container.ops:
        if op.package != "qti.aisw" or tainted & set(op.inputs):
            tainted |= set(op.outputs)
        else:
            names += op.outputs
    return names


def differences(case, udo, dlc, container, folder):
    """Tensors that need no UDO must be as in the plain conversion."""
    plain_folder = folder / "plain"
    plain_folder.mkdir()
    done, plain_dlc = convert(case, plain_folder)
    if done.returncode:
        return [f"the plain conversion fails: {complaint(done)}"]
    plain = read_container(plain_dlc, data=False)
    names = [n for n in before_first_udo(container) if n in plain.tensors]
    if not names:
        return ["no tensor can be compared with the plain conversion"]
    for path, where in ((dlc, folder), (plain_dlc, plain_folder)):
        done, _ = execute(case, path, where, names)
        if done.returncode:
            return [f"does not run up to the first UDO: {complaint(done)}"]
    return [f"{name} differs from the plain conversion" for name in names
            if not same_values(result(folder, container, name), result(plain_folder, plain, name))]


def main():
    checks = Checks()
    wanted = set(sys.argv[1:])
    if not CORPUS.is_dir():
        checks.skip("corpus", f"{CORPUS} is not there")
        checks.finish()
    if np is None:
        checks.skip("corpus", "python3-numpy is not installed")
        checks.finish()
    print(ROW.format("model", "ops", "UDOs", "Transposes", "inserted", "error", "verdict"))
    cases = {case.name: case for case in all_cases()}
    for case in cases.values():
        if not wanted or case.name in wanted:
            check_case(checks, case)
    for udo in UDO_CASES:
        if not wanted or udo.name in wanted:
            check_udo_case(checks, udo, cases[udo.model])
    for name in OWN_MODELS:
        if not wanted or name in wanted:
            check_own_model(checks, name)
    if not wanted or "spelled-out" in wanted:
        check_spelled_out(checks, cases.values())
    if not wanted or "dry-runs" in wanted:
        check_dry_runs(checks, cases.values())
    checks.finish()


main()
