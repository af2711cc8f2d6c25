# SPDX-License-Identifier: Apache-2.0
"""Nodes that say something impossible, or ask for what containers cannot hold: each is refused, with the reason. What
rows of other tests already refuse is not repeated here."""

import pathlib
import re
import tempfile

from one_node import Case, Const, convert, gives, np, refuses, write_model
from checks import SOURCE, Checks

if np is None:
    without = Checks()
    without.skip("refusals", "python3-numpy is not there")
    without.finish()

FLOAT4_E2M1, COMPLEX64 = 23, 14


def floats(*shape):
    return np.zeros(shape, "f4")


def ints(*shape, dtype="i8"):
    return np.zeros(shape, dtype)


IMAGE = (1, 2, 6, 6)

ELEMENTWISE = [
    ("alpha is 0", "Celu", 12, [floats(3)], {"alpha": 0.0}),
    ("the shapes [2,3] and [4,3] do not broadcast", "Add", 14, [floats(2, 3), floats(4, 3)], {}),
    ("the type complex64 is not supported", "BitCast", 26, [floats(3)], {"to": COMPLEX64}),
    ("99 is not a type of numbers", "BitCast", 26, [floats(3)], {"to": 99}),
    ("-5 is not a type of numbers", "BitCast", 26, [floats(3)], {"to": -5}),
    ("the type float4e2m1 is not supported: containers do not have it", "Cast", 23, [floats(3)], {"to": FLOAT4_E2M1}),
    ("the shapes [2] and [3] do not broadcast", "BitShift", 11, [ints(2, dtype="u1"), ints(3, dtype="u1")],
     {"direction": "LEFT"}),
    ("an input of type float32 has no bits", "BitwiseNot", 18, [floats(3)], {}),
    ("alpha is 0.5, but the operands are integers", "Gemm", 13, [ints(2, 3, dtype="i4"), ints(3, 4, dtype="i4")],
     {"alpha": 0.5}),
]

CONSTANTS = [
    ("there is no value", "Constant", 13, [], {}),
    ("attribute value is not a tensor", "ConstantOfShape", 9, [Const([2])], {"value": [1.0, 2.0]}),
    ("the range from 0 to 1 by 0 has no end", "Range", 11, [Const(v, "f4") for v in (0, 1, 0)], {}),
    ("the range from 0 to inf by 1 has no end", "Range", 11, [Const(v, "f4") for v in (0, np.inf, 1)], {}),
    ("the range from 0 to nan by 1 has no end", "Range", 11, [Const(v, "f4") for v in (0, np.nan, 1)], {}),
    ("the range from 0 to 1e+30 by 1 is too long: 1e+30 elements", "Range", 11, [Const(v, "f4") for v in (0, 1e30, 1)],
     {}),
    ("the range from 0 to 4611686018427387904 by 1 is too long: 4611686018427387904 elements", "Range", 11,
     [Const(v) for v in (0, 2**62, 1)], {}),
    ("the range from 9223372036854775807 to -9223372036854775808 by -2 is too long: 9223372036854775808 elements", "Range",
     11, [Const(v) for v in (2**63 - 1, -2**63, -2)], {}),
    ("the range from 0 to 4 by 0 has no end", "Range", 11, [Const(v) for v in (0, 4, 0)], {}),
    ("the input is not a matrix or k not one number", "Trilu", 14, [floats(3)], {}),
    ("the input is not a matrix or k not one number", "Trilu", 14, [floats(3, 3), Const([1, 2])], {}),
    ("start is not one number", "Range", 11, [Const([0, 1]), Const(2), Const(1)], {}),
    ("start is not one number", "Range", 11, [Const([0, 1], "f4"), Const(2, "f4"), Const(1, "f4")], {}),
    ("rank 9 is beyond 8", "ConstantOfShape", 9, [Const([1] * 9)], {}),
]

CONVOLUTIONS = [
    ("output_shape has 1 elements instead of 2", "ConvTranspose", 11, [floats(*IMAGE), floats(2, 3, 3, 3)],
     {"output_shape": [8]}),
    ("output_padding has 3 elements instead of 2", "ConvTranspose", 11, [floats(*IMAGE), floats(2, 3, 3, 3)],
     {"output_padding": [0, 0, 0]}),
    ("output_padding is out of range", "ConvTranspose", 11, [floats(*IMAGE), floats(2, 3, 3, 3)],
     {"output_padding": [0, -1]}),
    ("output_shape is out of range", "ConvTranspose", 11, [floats(*IMAGE), floats(2, 3, 3, 3)],
     {"output_shape": [0, 8]}),
    ("the weights [3,2,3,3] do not fit 2 channels", "ConvTranspose", 11, [floats(*IMAGE), floats(3, 2, 3, 3)], {}),
    ("the weights [2,3] have no spatial axis", "ConvInteger", 10, [ints(*IMAGE, dtype="u1"), ints(2, 3, dtype="u1")],
     {}),
    ("2 scales or zero points for 3 rows or channels", "MatMulInteger", 10,
     [ints(3, 4, dtype="u1"), ints(4, 5, dtype="u1"), Const([1, 2], "u1")], {}),
    ("an operand is a scalar", "MatMulInteger", 10, [ints(dtype="u1"), ints(4, 5, dtype="u1")], {}),
]

POOLS = [
    ("the input [1,2] does not have 1 to", "MaxPool", 12, [floats(1, 2)], {"kernel_shape": [1]}),
    ("the padding leaves nothing of the output", "MaxUnpool", 11, [floats(1, 1, 2, 2), ints(1, 1, 2, 2)],
     {"kernel_shape": [2, 2], "pads": [4, 4, 4, 4]}),
    ("elements of type int32 cannot be padded", "MaxPool", 12, [ints(1, 1, 2, dtype="i4")],
     {"kernel_shape": [2], "dilations": [3], "pads": [2, 2]}),
]

NORMS = [
    ("an input of rank 2 has no positions", "InstanceNormalization", 6, [floats(1, 2), floats(2), floats(2)], {}),
    ("an input of rank 1 has no channels", "GroupNormalization", 21, [floats(4), floats(4), floats(4)],
     {"num_groups": 2}),
    ("an input of rank 1 has no channels", "LRN", 13, [floats(4)], {"size": 3}),
    ("size 0 is not a number of channels", "LRN", 13, [floats(*IMAGE)], {"size": 0}),
    ("a window of 2000 channels, one node each, is beyond", "LRN", 13, [floats(1, 3000, 1, 1)], {"size": 2000}),
    ("4 axes for an input of rank 3", "MeanVarianceNormalization", 13, [floats(1, 2, 3)], {"axes": [0, 1, 2, 0]}),
]

QUANTIZED = [
    ("a block size of -1 is not possible", "QuantizeLinear", 21, [floats(4, 4), Const([1], "f4")], {"block_size": -1}),
    ("the zero point [3] does not have the shape of the scale [4]", "QuantizeLinear", 13,
     [floats(2, 4), Const([1] * 4, "f4"), Const([0] * 3, "u1")], {"axis": 1}),
    ("the scale [1,4] does not fit the tensor [4,4] (axis 0, block size 2)", "QuantizeLinear", 21,
     [floats(4, 4), Const([[1] * 4], "f4")], {"axis": 0, "block_size": 2}),
    ("the scale [4] does not fit the tensor [4,4] (axis 0, block size 2)", "QuantizeLinear", 21,
     [floats(4, 4), Const([1] * 4, "f4")], {"axis": 0, "block_size": 2}),
    ("the type float4e2m1 is not supported: containers do not have it", "QuantizeLinear", 23,
     [floats(4), Const(1, "f4")], {"output_dtype": FLOAT4_E2M1}),
    ("there is no division of type int64", "QuantizeLinear", 23, [floats(4), Const(1, "f4")], {"precision": 7}),
    ("nothing is dequantized to int32", "DequantizeLinear", 23, [ints(4, dtype="i1"), Const(1, "f4")],
     {"output_dtype": 6}),
]

SHAPES = [
    ("3 axes are more than rank 2 has", "ReduceSum", 11, [floats(2, 3)], {"axes": [0, 1, 0]}),
    ("input 1 (axis) has 2 elements instead of one", "CumSum", 14, [floats(2, 3), Const([0, 1])], {}),
    ("axes is missing", "Unsqueeze", 11, [floats(3)], {}),
    ("the result has more than", "Unsqueeze", 11, [floats(1, 1, 1, 1, 1, 1, 1)], {"axes": [0, 1, 2, 3]}),
    ("3 parts for 2 outputs", "Split", 13, [floats(6), Const([1, 2, 3])], {}, 2),
    ("3 parts for 2 outputs", "Split", 18, [floats(6)], {"num_outputs": 3}, 2),
    ("part 1 has the size -2", "Split", 13, [floats(6), Const([8, -2])], {}, 2),
    ("1 repeats for a tensor of rank 2", "Tile", 13, [floats(2, 3), Const([2])], {}),
    ("2 starts for a tensor of rank 1", "Slice", 13, [floats(4), Const([0, 0]), Const([1, 1])], {}),
    ("the condition has 4 elements, the axis 3", "Compress", 11, [floats(3), Const([1, 0, 1, 1], "b1")], {"axis": 0}),
    ("2 lengths for a batch of 3", "ReverseSequence", 10, [floats(4, 3), Const([1, 2])], {}),
    ("values has 3 elements, not 2", "OneHot", 11, [ints(3), Const(4), Const([0, 1, 2], "f4")], {}),
    ("the input has no axis", "ai.onnx.ml::ArrayFeatureExtractor", 13, [floats(), Const([0])], {}),
    ("axis 1 of [2,3] loses more than it has", "Pad", 13, [floats(2, 3), Const([0, -2, 0, -2])], {}),
    ("3 pads for 2 axes", "Pad", 13, [floats(2, 3), Const([0, 0, 0])], {}),
    ("the indices are float32", "Gather", 13, [floats(3), floats(2)], {}),
    ("batch_dims 3 does not fit indices of rank 2", "GatherND", 13, [floats(2, 3), ints(2, 1)], {"batch_dims": 3}),
    ("the constant 1099511627776 does not fit int32", "Pad", 13, [ints(2), Const([0, 1]), Const(1 << 40)], {}),
    ("constant_value has 2 elements", "Pad", 13, [floats(2), Const([0, 1]), Const([1, 2], "f4")], {}),
    ("the reduction min is not supported for uint64", "ScatterElements", 18,
     [ints(3, dtype="u8"), Const([0]), ints(1, dtype="u8")], {"reduction": "min"}),
    ("rank 9 is beyond 8", "Reshape", 13, [floats(1), Const([1] * 9)], {}),
]

RESIZES = [
    ("the sizes leave nothing of the input", "Resize", 18, [floats(1, 1, 4, 100), None, None, Const([1, 1])],
     {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}),
    ("3 sizes for 2 axes", "Resize", 18, [floats(1, 1, 4, 4), None, None, Const([2, 2, 2])], {"axes": [2, 3]}),
    ("2 numbers in roi for 2 axes", "Resize", 18,
     [floats(1, 1, 4, 4), Const([0, 1], "f4"), None, Const([2, 2])],
     {"axes": [2, 3], "coordinate_transformation_mode": "tf_crop_and_resize"}),
    ("the input [1,0,4,4] cannot be resized", "Resize", 18, [floats(1, 0, 4, 4), None, None, Const([1, 0, 8, 8])], {}),
]

REGIONS = [
    ("the input [1,4,4] is not an image", "RoiAlign", 16, [floats(1, 4, 4), floats(2, 4), ints(2)], {}),
    ("a result of 0 by 1 elements is not possible", "RoiAlign", 16, [floats(1, 1, 4, 4), floats(2, 4), ints(2)],
     {"output_height": 0, "output_width": 1}),
    ("sampling_ratio is -1", "RoiAlign", 16, [floats(1, 1, 4, 4), floats(2, 4), ints(2)], {"sampling_ratio": -1}),
    ("there are no regions", "RoiAlign", 16, [floats(1, 1, 4, 4), floats(0, 4), ints(0)], {"mode": "max"}),
    ("boxes [1,2,4] and scores [1,1,3] do not match", "NonMaxSuppression", 11,
     [Const(np.zeros((1, 2, 4)), "f4"), Const(np.zeros((1, 1, 3)), "f4")], {}),
    ("iou_threshold is not one number", "NonMaxSuppression", 11,
     [Const(np.zeros((1, 2, 4)), "f4"), Const(np.zeros((1, 1, 2)), "f4"), Const(1), Const([0, 1], "f4")], {}),
]

PATCHES = [
    ("block_shape has 0 elements", "Col2Im", 18, [floats(1, 4, 4), Const([5, 5]), Const([])], {}),
    ("image_shape has 0, which is out of range", "Col2Im", 18, [floats(1, 4, 4), Const([0, 5]), Const([2, 2])], {}),
    ("strides has 3 elements instead of 2", "Col2Im", 18, [floats(1, 4, 16), Const([5, 5]), Const([2, 2])],
     {"strides": [1, 1, 1]}),
    ("strides has 0, which is out of range", "Col2Im", 18, [floats(1, 4, 16), Const([5, 5]), Const([2, 2])],
     {"strides": [1, 0]}),
]

SIGNALS = [
    ("input 1 (dft_length) is not one value", "DFT", 20, [floats(1, 8, 1), Const([8, 8])], {}),
    ("an input of rank 1 has no axis for the parts of complex numbers", "DFT", 20, [floats(8)], {}),
    ("the window is not of rank 1", "STFT", 17, [floats(1, 16, 1), Const(4), floats(4, 2)], {}),
]

ATTENTION = [
    ("past_key or past_value does not have four axes", "Attention", 23,
     [floats(1, 2, 3, 4), floats(1, 2, 5, 4), floats(1, 2, 5, 4), None, floats(2, 3), floats(2, 3)], {}, 3),
    ("the input [2,4] has neither three nor four axes", "RotaryEmbedding", 23,
     [floats(2, 4), floats(8, 2), floats(8, 2)], {}),
    ("the rule odd is not known", "LinearAttention", 27, [floats(1, 2, 4)] * 3,
     {"q_num_heads": 1, "kv_num_heads": 1, "update_rule": "odd"}, 2),
    ("3 query heads for 2 heads of keys", "LinearAttention", 27, [floats(1, 2, 6)] * 3,
     {"q_num_heads": 3, "kv_num_heads": 2, "update_rule": "linear"}, 2),
    ("query [1,2,4], key [1,2,4] and value [1,3,4] do not fit together", "LinearAttention", 27,
     [floats(1, 2, 4), floats(1, 2, 4), floats(1, 3, 4)],
     {"q_num_heads": 1, "kv_num_heads": 1, "update_rule": "linear"}, 2),
]

LOSSES = [
    ("an input [3] of float32 and targets of int64", "NegativeLogLikelihoodLoss", 13, [floats(3), ints(3)], {}),
]

GRAMS = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 1, "max_skip_count": 0, "ngram_counts": [0],
         "ngram_indexes": [0, 1], "pool_int64s": [2, 3]}
VECTORIZED = [
    (message, "TfIdfVectorizer", 9, [rows], {**GRAMS, **changes})
    for message, rows, changes in (
        ("there are no n-grams of the lengths up to 2", ints(4), {"max_gram_length": 2}),
        ("the 1-grams do not start and end in the pool", ints(4), {"ngram_counts": [3]}),
        ("the 2-grams do not start and end in the pool", ints(4), {"ngram_counts": [0, 1]}),
        ("3 indexes for 2 n-grams", ints(4), {"ngram_indexes": [0, 1, 2]}),
        ("the index -1", ints(4), {"ngram_indexes": [0, -1]}),
        ('mode "TFI" is not known', ints(4), {"mode": "TFI"}),
        ("1 weights for 2 n-grams", ints(4), {"mode": "IDF", "weights": [0.5]}),
        ("an input [4] of float32 is not rows of integers", floats(4), {}),
        ("lengths from 0 to 1, skips to 0", ints(4), {"min_gram_length": 0}),
        ("the word 4294967296 has more than 32 bits", ints(4), {"pool_int64s": [2, 1 << 32]}),
        ("n-grams of up to 1 words and 1000000 skips take more than 2048 comparisons", ints(4), {"max_skip_count": 1000000}),
    )
]

EXPERIMENTAL = [
    ("the input [2,3] is not an image", "Crop", 8, [floats(2, 3)], {"border": [0, 0, 0, 0]}),
    ("scale has 1 values instead of 2", "Crop", 8, [floats(*IMAGE)], {"border": [0, 0, 0, 0], "scale": [1]}),
    ("the shape is given by input 0 already", "ConstantFill", 8, [floats(2)], {"shape": [2]}),
    ("the result has more than", "ConstantFill", 8, [floats(1, 1)], {"extra_shape": [1] * 7}),
    ("elements of another type than float are not supported", "ConstantFill", 8, [], {"shape": [2], "dtype": 7}),
]

SIGNATURES = [
    ("the node has 2 inputs, but version 13 of Relu has at most 1", "Relu", 13, [floats(2), floats(2)], {}),
    ("the node has 3 inputs, but version 6 of Clip has at most 1", "Clip", 6, [floats(2), Const(0, "f4"), Const(1, "f4")], {}),
    ("the node has 3 inputs, but version 1 of com.microsoft::BiasGelu has at most 2", "com.microsoft::BiasGelu", 13,
     [floats(2), floats(2), floats(2)], {}),
    ("version 7 of Add does not have the attribute axis", "Add", 7, [floats(2), floats(2)], {"axis": 0}),
    ("version 13 of ReduceSum does not have the attribute axes", "ReduceSum", 13, [floats(2)], {"axes": [0]}),
    ("hint: its attributes are alpha", "LeakyRelu", 6, [floats(2)], {"slope": 0.5}),
    ("attribute alpha is not a float", "LeakyRelu", 6, [floats(2)], {"alpha": 1}),
    ("attribute perm is not a list of integers", "Transpose", 13, [floats(2)], {"perm": "0"}),
]

FAMILIES = {
    "signatures": SIGNATURES,
    "elementwise": ELEMENTWISE,
    "constants": CONSTANTS,
    "convolutions": CONVOLUTIONS,
    "pools": POOLS,
    "norms": NORMS,
    "quantized": QUANTIZED,
    "shapes": SHAPES,
    "resizes": RESIZES,
    "regions": REGIONS,
    "patches": PATCHES,
    "signals": SIGNALS,
    "attention": ATTENTION,
    "losses": LOSSES,
    "n-grams": VECTORIZED,
    "experimental": EXPERIMENTAL,
}


FLAGS = """
AffineGrid.align_corners Add-6.broadcast And-6.broadcast ArgMax.keepdims ArgMax.select_last_index ArgMin.keepdims
ArgMin.select_last_index Attention.is_causal AveragePool.ceil_mode AveragePool.count_include_pad BatchNormalization-8.spatial
BatchNormalization.training_mode BlackmanWindow.periodic Cast.saturate CastLike.saturate ConcatFromSequence.new_axis
CumProd.exclusive CumProd.reverse CumSum.exclusive CumSum.reverse DFT.inverse DFT.onesided Div-6.broadcast Equal-6.broadcast
GRU.linear_before_reset GRU-6.output_sequence Gemm-6.broadcast Gemm.transA Gemm.transB Greater-6.broadcast
GridSample.align_corners HammingWindow.periodic HannWindow.periodic IsInf.detect_negative IsInf.detect_positive
LSTM.input_forget LSTM-6.output_sequence Less-6.broadcast LpPool.ceil_mode MaxPool.ceil_mode MaxPool.storage_order Mod.fmod
Mul-6.broadcast NonMaxSuppression.center_point_box Or-6.broadcast Pow-6.broadcast QuantizeLinear.saturate
RNN-6.output_sequence ReduceL1.keepdims ReduceL1.noop_with_empty_axes ReduceL2.keepdims ReduceL2.noop_with_empty_axes
ReduceLogSum.keepdims ReduceLogSum.noop_with_empty_axes ReduceLogSumExp.keepdims ReduceLogSumExp.noop_with_empty_axes
ReduceMax.keepdims ReduceMax.noop_with_empty_axes ReduceMean.keepdims ReduceMean.noop_with_empty_axes ReduceMin.keepdims
ReduceMin.noop_with_empty_axes ReduceProd.keepdims ReduceProd.noop_with_empty_axes ReduceSum.keepdims
ReduceSum.noop_with_empty_axes ReduceSumSquare.keepdims ReduceSumSquare.noop_with_empty_axes Reshape.allowzero
Resize.antialias Resize.exclude_outside RotaryEmbedding.interleaved STFT.onesided SplitToSequence.keepdims Sub-6.broadcast
TopK.largest TopK.sorted Trilu.upper Unique.sorted Xor-6.broadcast
""".split()


def flags(checks):
    """Integers that say yes or no, by the words of the operators' documentation: runtimes read a 3 as either of them."""
    newest = {}
    for row in (pathlib.Path(__file__).parents[2] / "converters/onnx/lower/onnx_rows.def").read_text().splitlines():
        if match := re.match(r'ONNX_ROW\("", "(\w+)", (\d+), (\w+)', row):
            newest[match[1]] = 27 if match[3] == "LATEST" else int(match[3])
    for flag in FLAGS:
        op, attribute = flag.split(".")
        op, _, opset = op.partition("-")
        for value in (3, -1, 2**40):
            refuses(checks, f"{op}: {attribute} is {value} instead of 0 or 1", op, int(opset or newest[op]), [floats(2)],
                    **{attribute: value})
    x = np.array([[3, 1, 2]], "f4")
    gives(checks, "TopK", 11, [x, Const([2])], [x[:, [0, 2]], np.array([[0, 2]])], largest=1)
    gives(checks, "TopK", 11, [x, Const([2])], [x[:, [1, 2]], np.array([[1, 2]])], largest=0)
    # Test mode is anything but 0, and the number of a type is no flag.
    gives(checks, "Dropout", 6, [x], x, is_test=7)
    gives(checks, "Cast", 13, [x], x.astype("i4"), to=6)


ROW = re.compile(r'^ONNX_ROW\("([^"]*)", "([^"]+)", (\d+), (\d+|LATEST), ', re.MULTILINE)


def rows_that_end():
    """(domain, operator, last opset) of rows that no other one goes on from."""
    rows = ROW.findall((SOURCE / "converters" / "onnx" / "lower" / "onnx_rows.def").read_text())
    starts = {(domain, op, int(first)) for domain, op, first, _ in rows}
    return [(domain, op, int(last)) for domain, op, _, last in rows
            if last != "LATEST" and (domain, op, int(last) + 1) not in starts]


def after_the_last_opset(checks):
    """One opset after the last whose meaning is known, the operator is not known; up to it, it is."""
    ending = rows_that_end()
    checks.check("operators end", len(ending) > 8, ending)
    for domain, op, last in ending:
        kind = f"{domain}::{op}" if domain else op
        refuses(checks, f"op {op} (domain {domain or 'ai.onnx'}, version {last + 1}) is not supported", kind, last + 1, [floats(2, 3)])
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            write_model(folder / "model.onnx", last, kind, [floats(2, 3)], {}, [floats(1)])
            done, _ = convert(Case(op, folder / "model.onnx", {}, {}), folder)
            checks.check(f"{op} of opset {last} is known", f"op {op} (domain" not in done.stderr, done.stderr)


def main():
    checks = Checks()
    flags(checks)
    after_the_last_opset(checks)
    for rows in FAMILIES.values():
        for message, op, opset, inputs, attributes, *n_outputs in rows:
            refuses(checks, message, op, opset, inputs, *n_outputs, **attributes)
    checks.finish()


main()
