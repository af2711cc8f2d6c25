# SPDX-License-Identifier: Apache-2.0
"""Networks of ../shared, quantized and executed on both backends: how far their results are from those in float. The least ratios
were set some decibels below what was measured; noise is a hard input for detectors."""

import tempfile

from quantizing import Bench, np, read_container
from checks import SHARED, Checks, leave_out

MODELS = SHARED / "corpus" / "onnx"
# (folder, options of both, the least ratio of signal to error of all results in 8 and in 16 bits, dB)
CASES = (("first/mnist", 25, 75), ("first/rfb320", 20, 68), ("first/blazeface-nhwc", 15, 62), ("second/espcn-float", 35, 80),
         ("second/self-attention-mnist", 12, 65))


def sqnr(signal, other):
    error = np.square(signal.astype("f8") - other).sum()
    return 10 * np.log10(np.square(signal.astype("f8")).sum() / error) if error else np.inf


def quantized(b, name, least, *options):
    b.quantize("--bias_bitwidth", "32", "--use_per_channel_quantization", "--use_per_row_quantization", *options)
    floats = b.results(b.path("m.dlc"))
    for backends in (("reference",), ("cpu", "reference")):
        found = b.results(b.path("q.dlc"), "--backend", *backends)
        worst = min(sqnr(line[key], other[key]) for line, other in zip(floats, found) for key in line)
        b.checks.check(f"{name} {options} on {backends[0]}", worst >= least, worst)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for name, least, wide in CASES:
            source = next(iter((MODELS / name).glob("*.onnx")), None)
            if not source:
                leave_out(1, len(CASES), "models of ../shared")
                continue
            b = Bench(checks, folder)
            rng = np.random.default_rng(3)
            inputs = [t for t in read_container(b.convert(source)).tensors.values() if t.kind == "APP_WRITE"]
            b.inputs(*({t.name: rng.random(t.dims) for t in inputs} for _ in range(2)))
            quantized(b, name, least)
            quantized(b, name, wide, "--act_bitwidth", "16", "--weights_bitwidth", "16")
    if not checks.passed + checks.failed:
        checks.skip("networks", f"{MODELS} is not there")
    checks.finish()


main()
