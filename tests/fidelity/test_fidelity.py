#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that the vendor's converters converted, converted by ours: the two results differ in nothing but what
accepted/CASE.txt lists, each difference with its reason."""

import collections
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import sources  # noqa: E402
from checks import SHARED, Checks, case_chosen  # noqa: E402
from compare import compare_files, judge, read_accepted  # noqa: E402
from prestarted import run  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FIDELITY = SHARED / "corpus" / "fidelity"
CONTAINERS = SHARED / "corpus" / "dlc"
# source: the model's path, or the function that writes it, given the vendor's result. ops: how many the vendor's has.
Case = collections.namedtuple("Case", "name source vendor options")
CASES = (
    Case("prefill-block", FIDELITY / "prefill-block" / "model.onnx", FIDELITY / "prefill-block" / "vendor_net.json",
         ["--target_release", "2.47", "--preserve_io", "layout"]),
    Case("naf-block", FIDELITY / "naf-block" / "model.onnx", FIDELITY / "naf-block" / "vendor_net.json",
         ["--target_release", "2.47", "-d", "input.1", "1,4,512,512"]),
    Case("matmul", FIDELITY / "matmul-int8" / "model.onnx", FIDELITY / "matmul-int8" / "vendor_calibrated_net.json",
         ["--target_release", "2.47"]),
    Case("matmul-qdq", FIDELITY / "matmul-int8" / "model_qdq.onnx", FIDELITY / "matmul-int8" / "vendor_qdq_net.json",
         ["--target_release", "2.47", "--qdq", "encodings"]),
    Case("blur", sources.blur, FIDELITY / "conv-io" / "blur_conv_net.json", ["--target_release", "2.47"]),
    Case("passthrough", sources.passthrough, FIDELITY / "conv-io" / "passthrough_net.json", ["--target_release", "2.47"]),
    Case("channel-average", sources.channel_average, FIDELITY / "conv-io" / "channel_average_net.json",
         ["--target_release", "2.47"]),
    Case("add2", sources.add2, CONTAINERS / "add2_float.v2.dlc", []),
    Case("zipformer-decoder", sources.zipformer_decoder, CONTAINERS / "zipformer-decoder.v4.0.dlc",
         ["--preserve_io", "layout"]),
)


def check_case(checks, case, folder):
    model, container = case.source, folder / f"{case.name}.dlc"
    if callable(model):
        model = folder / f"{case.name}.onnx"
        case.source(case.vendor, model)
    done = run("onnx-to-dlc", "-i", model, "-o", container, *case.options)
    if not checks.check(f"{case.name} converts", done.returncode == 0, done.stderr):
        return
    accepted = HERE / "accepted" / f"{case.name}.txt"
    known = read_accepted(accepted) if accepted.exists() else []
    left, _, unused = judge(compare_files(container, case.vendor, known), known)
    checks.check(f"{case.name} differs in what is accepted alone", not left, f"{len(left)}:\n  " + "\n  ".join(left))
    checks.check(f"{case.name} has all accepted differences", not unused, "\n  ".join(["not seen:", *unused]))


def test_vendor_results(checks):
    with tempfile.TemporaryDirectory() as folder:
        for case in (case for case in CASES if case_chosen(case.name)):
            check_case(checks, case, pathlib.Path(folder))


def main():
    checks = Checks()
    if FIDELITY.exists() and CONTAINERS.exists():
        test_vendor_results(checks)
    else:
        checks.skip("results of the vendor's converters", f"no {FIDELITY}")
    checks.finish()


if __name__ == "__main__":
    main()
