"""Every version of every operator of ONNX's default domain either has a row that covers it, or stands in the list of those
that are not converted, with the reason. A version that neither covers fails the test; so does one that is in the list although
a row covers it. What is only pending is printed."""

import csv
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SOURCE, Checks  # noqa: E402

SHARED = pathlib.Path(os.environ.get("ODLC_SHARED", SOURCE.parent / "shared"))
ROW = re.compile(r'^ONNX_ROW\("", "([^"]+)", (\d+), (\d+|LATEST), ')
NEWEST = 28

NOT_A_TENSOR = "sequences, maps and optional values are no tensors"
CONTROL_FLOW = "the container holds one graph without branches and loops"
RANDOM = "its result is random"
TRAINING = "a step of training, not of inference"
TEXT = "the container has no texts"
OWN_BODY = "its meaning depends on graphs among its attributes"

REASONS = {
    **dict.fromkeys("""ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt SequenceConstruct
                    SequenceEmpty SequenceErase SequenceInsert SequenceLength SplitToSequence""".split(), NOT_A_TENSOR),
    **dict.fromkeys("If Loop Scan SequenceMap".split(), CONTROL_FLOW),
    **dict.fromkeys("""Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform
                    RandomUniformLike""".split(), RANDOM),
    **dict.fromkeys("Adagrad Adam Gradient Momentum".split(), TRAINING),
    **dict.fromkeys("RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer".split(), TEXT),
    "FlexAttention": OWN_BODY,
    "ImageDecoder": "compressed images are not the container's business",
}

# To be converted; once an operator is, it belongs here no longer.
PENDING = set("""AffineGrid Attention BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BlackmanWindow CausalConvWithState
              CenterCropPad Col2Im ConvInteger CumProd DFT DeformConv DequantizeLinear Det DynamicQuantizeLinear Einsum GRU
              GridSample HammingWindow HannWindow Hardmax LSTM LinearAttention MatMulInteger MaxRoiPool MaxUnpool MelWeightMatrix
              NegativeLogLikelihoodLoss NonMaxSuppression QLinearConv QLinearMatMul QuantizeLinear RNN RoiAlign RotaryEmbedding
              STFT SoftmaxCrossEntropyLoss SwiGLU TensorScatter Unique""".split())


def spans():
    """{operator: [(first version, last version)]} of the rows."""
    found = {}
    for line in (SOURCE / "converters" / "onnx" / "rows.def").read_text().splitlines():
        match = ROW.match(line)
        if match:
            last = NEWEST if match.group(3) == "LATEST" else int(match.group(3))
            found.setdefault(match.group(1), []).append((int(match.group(2)), last))
    return found


def main():
    checks = Checks()
    table = SHARED / "reference" / "onnx-ops.tsv"
    if not table.exists():
        checks.skip("operators of ONNX", f"{table} is not there")
        checks.finish()
    history = {}
    with open(table, encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            if line["domain"] == "ai.onnx":
                history.setdefault(line["op"], []).append((int(line["since_version"]), bool(line["deprecated"])))
    covered = spans()
    for op, versions in sorted(history.items()):
        versions.sort()
        ends = [since - 1 for since, _ in versions[1:]] + [NEWEST]
        for (since, deprecated), end in zip(versions, ends):
            # A row has to know all opsets in which this version of the operator is the valid one.
            whole = all(any(lo <= v <= hi for lo, hi in covered.get(op, [])) for v in range(since, end + 1))
            reason = REASONS.get(op)
            if deprecated:
                continue
            if op in PENDING and not whole:
                print(f"pending: {op} {since} to {end}")
            elif reason:
                checks.check(f"{op} {since} has a reason", not whole, f"a row covers it, but the list says: {reason}")
            else:
                checks.check(f"{op} {since} to {end}", whole, "no row covers it, and no reason is given")
    for op in (*REASONS, *PENDING):
        checks.check(f"{op} is an operator", op in history, "the table does not have it")
    checks.check("there are operators", len(history) > 200, len(history))
    checks.finish()


main()
