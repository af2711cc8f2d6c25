#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tests see bugs? Each of MUTANTS is planted alone in a copy of the sources, and the case that is named must fail.

    tests/mutants.py [--only NAME]... [--work FOLDER]     plants them; FOLDER keeps the build for the next time
    tests/mutants.py --list                               the names, each with its file and its test
    tests/mutants.py --check                              the list alone: texts are there once, tests are there

Only the test that the mutant names is built and run, after it passed without any. The last line is
"N passed, N failed, 0 skipped"."""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent / folder) for folder in ("support", "reference")]

from checks import SHARED, Checks  # noqa: E402
from planting import SOURCE, copy_sources, misplaced, planted  # noqa: E402

ENVIRONMENT = {**{name: value for name, value in os.environ.items() if name != "ODLC_LONG"}, "ODLC_SHARED": str(SHARED), "CK_VERBOSITY": "normal"}
ROOMS = {f"src/{room}" for room in ("api", "base", "dlc", "ir", "kernel", "op", "pass", "runtime", "tools", "udo")} | {
    "converters/lowering", "converters/onnx", "converters/tensorflow"}


class Mutant:
    """In `file`, `text` is replaced; it must be there once. test: "suite/test case", where case is the function that fails, or of
    a family of tests/reference, "tensorflow/reference_FAMILY", the name of one of its cases."""

    def __init__(self, name, test, file, text, replacement):
        self.name, self.file, self.text, self.replacement = name, file, text, replacement
        self.suite, self.test, self.case = re.fullmatch(r"(\w+)/(\w+) (.+)", test).groups()
        self.family = self.test.removeprefix("reference_") if self.test.startswith("reference_") else None


MUTANTS = [
    # ---- quantized models ----
    Mutant("relu-within-range", "onnx/test_lower_quantize test_clamps_within_the_range", "src/pass/pass_quantize.c",
           "return e->min >= 0;", "return true;"),
    Mutant("clip-within-range", "onnx/test_lower_quantize test_clamps_within_the_range", "src/pass/pass_quantize.c",
           'e->max <= node_float(n, PARAM_max_value, -INFINITY)', "true"),
    Mutant("per-axis-sinks", "pass/test_quantized per_axis_encodings_stay_behind", "src/pass/pass_quantize.c",
           "return graph_tensor(g, fixed)->quant->per_axis ? NO_NODE : dequantize_behind(g, id, fixed);", "return dequantize_behind(g, id, fixed);"),
    Mutant("table-of-floats", "onnx/test_lower_quantize test_tables", "src/pass/pass_quantize.c",
           "graph_tensor(g, fixed)->quant->per_axis || !is_worth_an_op(graph_tensor(g, fixed))", "true"),
    Mutant("scale-of-another-axis", "onnx/test_lower_quantize test_reshaped_channels", "src/ir/view.c",
           "const uint32_t scale_axis = per_axis ? axis_after(view, view->scale_axis, shape) : view->scale_axis;",
           "const uint32_t scale_axis = view->scale_axis;"),
    Mutant("infinite-masks-observed", "quantize/test_quantize_masks improved", "src/quantize/quant_improve.c",
           "item->bounded ? item->bounded : item->floats", "item->floats"),
    Mutant("infinite-encodings", "quantize/test_quantize_masks symmetric", "src/quantize/quant_encoding.c",
           "e.scale = (float)(FLT_MAX / steps);", "e.scale = nextafterf((float)e.scale, 0);"),
    Mutant("ties-of-quantize", "onnx/test_lower_quantize test_ties_of_pairs", "src/kernel/kernel_quantize.c", "rint(single", "round(single"),
    Mutant("ties-of-the-graph", "onnx/test_lower_quantize test_ties", "src/kernel/kernel_unary.c", "REAL(round, rint(a))",
           "REAL(round, round(a))"),
    Mutant("ties-of-fixed-point", "onnx/test_lower_quantize test_ties_between_quantized", "src/kernel/buffer.c",
           "nearbyint((double)(float)", "round((double)(float)"),
    Mutant("offset-of-dequantize", "op/test_quantize dequantize", "src/kernel/buffer.c", "(real[i] + e->offset)", "(real[i])"),
    Mutant("dilated-integers", "onnx/test_lower_quantize test_dilated_integers", "src/kernel/kernel_conv.c",
           "tap[i] * a[i].dilation", "tap[i]"),
    Mutant("middle-of-blocks", "onnx/test_block_weights test_onnxruntime", "converters/onnx/lower/onnx_blocks.c",
           "w->zero == NO_TENSOR ? w->middle : 0", "0"),
    Mutant("bytes-from-a-number", "onnx/test_dynamic test_stored_integers", "src/pass/pass_store_bytes.c",
           "(uint8_t)(q[i] - *first)", "(uint8_t)q[i]"),
    Mutant("divide-of-moved-integers", "onnx/test_lower_qlinear test_resized_integers", "src/pass/pass_recover_fixed.c",
           " || is_integer(graph_tensor(g, n->inputs[0]))", ""),
    Mutant("integers-that-stay", "onnx/test_lower_qlinear test_resized_integers", "src/pass/pass_recover_fixed.c",
           "if (!stays_between(r, integers, fixed))", "if (true)"),
    Mutant("known-of-packages", "runtime/test_executor what_is_seen_of_constants_is_computed_in_each_run", "src/runtime/known.c",
           "f->is_seen[n->inputs[in]] = true;", "f->is_seen[n->inputs[in]] = false;"),
    Mutant("zero-point-of-rows", "onnx/test_lower_quantize test_integers", "converters/onnx/lower/onnx_integer.c",
           "left.rank > 1 ? left.dims[left.rank - 2] : 1, left.rank > 1", "left.rank > 1 ? left.dims[left.rank - 2] : 1, 0"),
    Mutant("encodings-of-all-quantizers", "pass/test_quantized each_quantize_has_its_encoding", "src/pass/pass_quantize.c",
           "|| !quant_equal(a->quant, b->quant))", ")"),
    # ---- encodings of floats ----
    Mutant("second-encoding", "onnx/test_qdq_encodings test_readers", "src/pass/pass_keep_encodings.c",
           "    if (!t->quant)\n        quant_override", "    if (true)\n        quant_override"),
    Mutant("activation-by-encoding", "onnx/test_qdq_encodings test_activations", "src/pass/pass_keep_encodings.c",
           "return quant->encodings->min == 0 &&", "return false &&"),
    Mutant("sum-of-unknown-sign", "onnx/test_qdq_encodings test_activations", "src/pass/never_negative.c",
           "dtype_is_float(t->type->dtype) && !known[n->inputs[i]]", "false"),
    Mutant("scales-of-folded-weights", "onnx/test_qdq_encodings test_batch_normalizations", "src/pass/affine.c",
           "scale[i] = factor[i] * view->scale[whole ? 0 : i];", "scale[i] = factor[i] * view->scale[0];"),
    Mutant("encodings-where-values-are-stored", "onnx/test_qdq_encodings test_layers", "src/pass/pass_track_axes.c",
           "if (quant && quant->overridden && !stored->quant)", "if (false)"),
    Mutant("large-integers-as-floats", "onnx/test_qdq_encodings test_large_biases", "src/ir/convert.c",
           "if (from_dtype == DT_INT32)\n            round_differences", "if (false)\n            round_differences"),
    Mutant("clamp-of-few-integers", "tensorflow/test_math_graphs fake_quantization_as_encodings", "src/pass/pass_keep_encodings.c",
           "return part ? clamp->inputs[0] : quantize->inputs[0];", "return quantize->inputs[0];"),
    # ---- the registry ----
    Mutant("package-of-a-row", "op/test_registry added_rows", "src/op/registry.c",
           "if (strcmp(registry->rows.data[i].row->package, key->package) == 0)", "if (true)"),
    # ---- passes ----
    Mutant("constant-of-one-channel", "pass/test_random_graphs passes_keep_the_numbers", "src/pass/pass_fold_bias.c",
           "values[count == 1 ? 0 : i]", "values[0]"),
    Mutant("integers-without-encoding", "pass/test_random_graphs passes_keep_the_numbers", "src/pass/fixed_constant.c",
           "graph_tensor(g, twin)->quant = quant;", "graph_tensor(g, twin)->quant = NULL;"),
    Mutant("pending-cast", "pass/test_pass pending_casts_come_first", "src/pass/pass_narrow_types.c",
           "if (t->view->dtype != t->type->dtype)", "if (false)"),
    Mutant("column-is-a-bias", "onnx/test_products test_what_is_added", "src/pass/pass_match_fully_connected.c",
           "shape->dims[shape->rank - 1] != columns || ", ""),
    Mutant("weights-not-turned", "onnx/test_products test_layers", "src/pass/pass_match_fully_connected.c",
           "        view_permute(&view, &swap);\n", ""),
    Mutant("divisor-as-factor", "onnx/test_products test_factors_of_softmax", "src/pass/pass_fold_softmax_factor.c",
           "*factor = 1 / *factor;", "*factor = *factor;"),
    Mutant("operand-that-is-another", "pass/test_pass_texts texts_become_others", "src/pass/occurrence.c",
           "        return *bound == t;", "        return true;"),
    Mutant("step-that-others-read", "pass/test_fusions plants_are_found", "src/pass/occurrence.c",
           "if (!is_step(&s->found, s->uses->nodes[i]))", "if (false)"),
    Mutant("number-that-is-another", "pass/test_fusions plants_are_found", "src/pass/occurrence.c",
           "return a == b || (isfinite(largest) && fabs(a - b) <= s->rounding * largest);",
           "return s->rounding >= 0 || largest > 0;"),
    Mutant("number-near-infinity", "pass/test_pass_texts texts_become_others", "src/pass/occurrence.c", "(isfinite(largest) && fabs",
           "(largest >= 0 && fabs"),
    Mutant("axes-that-are-others", "pass/test_fusions plants_are_found", "src/pass/occurrence.c",
           "return same_axes(graph_node(s->g, *bound), graph_node(s->g, id));", "return true;"),
    Mutant("some-for-all", "pass/test_pass_texts texts_become_others", "src/pass/pass_remove_identity.c",
           "while (i < count && values[i])", "while (i < count)"),
    Mutant("row-is-no-bias", "pass/test_pass a_value_for_each_row_is_no_bias", "src/pass/pass_fold_bias.c",
           "count == channels && (uint64_t)shape->dims[shape->rank - 1] == channels;", "count == channels;"),
    Mutant("order-that-does-not-pay", "pass/test_pass an_order_that_nobody_wants_costs_nothing", "src/pass/pass_track_axes.c",
           "if (!reader_pays(t, graph_node(t->g, t->uses.nodes[i]), out, order, steps))", "if (false)"),
    Mutant("product-in-the-order-of-before", "onnx/test_spelled_out test_image_attention", "src/pass/track_product.c",
           "swap_out ? 1 - i : i", "i"),
    Mutant("transpose-forgotten", "pass/test_pass a_transpose_of_the_model_is_shared", "src/pass/pass_track_axes.c",
           "    track_remember_copy(t, at.stored, &step, out);\n", ""),
    Mutant("way-into-a-line", "onnx/test_odd_graphs lines", "src/op/layout.h",
           "!transpose->to_first && ", ""),
    Mutant("name-of-a-line", "onnx/test_odd_graphs lines", "src/pass/pass_track_axes.c",
           'if (strcmp(name, arena_join(t->g->arena, to->name, ".", suffix)) == 0)', "if (false)"),
    Mutant("input-kept-by-name", "convert/test_layout_forms test_random_models", "src/pass/track_interface.c",
           "first && !preserves(t, tensor->name)", "first"),
    Mutant("rows-stay", "onnx/test_io_layouts forms", "src/pass/track_interface.c", "(rank == 3 || rank == 4)", "rank == 4"),
    Mutant("said-layout-is-not", "onnx/test_io_layouts forms", "src/pass/track_interface.c",
           "layout ? layout->axis_format : AXIS_FORMAT_NONTRIVIAL", "AXIS_FORMAT_NONTRIVIAL"),
    Mutant("kept-axes-have-no-format", "onnx/test_io_layouts forms", "src/pass/track.c",
           "    tensor->axis_format = order_format(is_channels_last(perm) ? ORDER_CHANNELS_LAST : ORDER_OTHER, perm->rank);\n",
           ""),
    Mutant("permute-forgotten", "pass/test_pass a_transpose_is_shared_by_its_readers", "src/pass/track.c",
           "    track_remember_copy(t, at.stored, &step, *out);\n", ""),
    Mutant("factor-before-shift", "pass/test_pass biases_and_factors_fold_into_the_layer", "src/pass/affine.c",
           "old[i] * (a->factor ? a->factor[i] : 1)", "old[i]"),
    Mutant("shared-layer-folds", "pass/test_pass batch_norm_stays_when_others_read_the_convolution", "src/pass/affine.c",
           " || uses->count[x] != 1", ""),
    Mutant("cut-beyond-padding", "pass/test_pass convolutions_in_blocks_are_dilated_ones", "src/pass/pass_fold_dilation.c",
           "if (d->pad[i][end] < 0)", "if (false)"),
    Mutant("zeros-in-any-release", "convert/test_target_release biases", "src/pass/pass_give_bias.c",
           "if (c->options->target_release < RELEASE_NEWER)", "if (false)"),
    Mutant("mean-is-no-beta", "convert/test_target_release normalized", "converters/lowering/batchnorm.c",
           "note(l, PARAM_beta, n->given[BN_SHIFT]);", "note(l, PARAM_beta, n->given[BN_MEAN]);"),
    Mutant("notes-without-folding", "convert/test_target_release not_folded", "src/pass/pass_fold_batchnorm.c",
           "            forget_notes(bn);", "            (void)forget_notes;"),
    Mutant("numbers-in-any-release", "convert/test_target_release default", "src/op/release.c",
           "release < RELEASE_NEWER || ", ""),
    # ---- operators ----
    Mutant("position-in-the-padding", "op/test_pool pool", "src/op/window.c",
           "ceil && (a->out - 1) * a->stride >= a->in + a->pad_before", "false"),
    Mutant("index-at-the-end", "op/test_index gather_refuses", "src/kernel/kernel_index.c", "return *out >= 0 && *out < dim;",
           "return *out >= 0 && *out <= dim;"),
    Mutant("average-over-the-end", "op/test_pool pool", "src/kernel/kernel_pool.c", "end = a->in + a->pad_after;",
           "end = a->in + a->filter;"),
    Mutant("average-in-padding", "op/test_pool average_of_nothing", "src/kernel/kernel_pool.c", "return count > 0 ? sum / count : 0;", "return sum / count;"),
    Mutant("mean-of-large-uint64", "op/test_reduce large_uint64", "src/kernel/kernel_reduce.c", "(int64_t)((uint64_t)ints[i] / per_group)",
           "ints[i] / (int64_t)per_group"),
    Mutant("sign-of-zero-modulo", "op/test_eltwise zero_modulo_has_the_divisors_sign", "src/kernel/kernel_eltwise.c",
           "return copysign(0, b);", "return r;"),
    Mutant("maximum-loses-nan", "op/test_eltwise extremes_keep_nans", "src/kernel/kernel_eltwise.c", "a > b || a != a ? a : b, a > b",
           "a > b ? a : b, a > b"),
    # ---- types, views, bytes ----
    Mutant("least-signed-integer", "ir/test_ir conversion_saturates_and_keeps_exact_values", "src/ir/convert.c",
           "*low = has_sign(dtype) ? -*high - 1 : 0;", "*low = has_sign(dtype) ? -*high : 0;"),
    Mutant("axis-of-encodings", "op/test_quantize encodings", "src/ir/quant.c", "a->axis != b->axis || ", ""),
    Mutant("vectors-of-permutation", "ir/test_tiles boxes_are_permuted_alike_by_vectors_scalars_and_plain_loops",
           "src/ir/permute.c", "#define UPPER_4(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)",
           "#define UPPER_4(a, b) __builtin_shufflevector(a, b, 2, 6, 7, 3)"),
    Mutant("reader-goes-on", "base/test_base reader_stops_at_the_end", "src/base/reader.h", "n > r->size - r->pos)",
           "n > r->size - r->pos + 1)"),
    # ---- user-defined operations ----
    Mutant("params-of-several-types", "udo/test_udo_opdef params_of_several_types", "src/udo/site_params.c",
           "udo_pick_dtype(w->dtype, w->several, value.dtype)", "w->dtype"),
    Mutant("second-backend-of-a-core", "udo/test_udo_opdef backends_of_one_core", "src/udo/opdef_tensor.c",
           " && out->core_dtypes[core] == DT_NONE", ""),
    Mutant("types-of-second-output", "udo/test_udo_build types_per_core_of_every_operand", "src/udo/udo_row.c",
           '"out%u", i), def->outputs[i]', '"out%u", i), def->outputs[0]'),
    Mutant("integers-beyond-a-double", "udo/test_udo_params integers_beyond_a_double", "src/udo/param_value.c",
           "(int64_t)wide != from || ", ""),
    Mutant("half-overflow", "udo/test_udo_params param_that_does_not_fit", "src/udo/param_value.c", "return dtype == DT_FLOAT16 ? 65520.0",
           "return dtype == DT_FLOAT16 ? 65536.0"),
    Mutant("fraction-for-an-integer", "udo/test_udo_params param_that_does_not_fit", "src/udo/param_value.c",
           " || from != floor(from))", ")"),
    Mutant("most-negative-quotient", "udo/test_shape_rule failure", "src/udo/expr.c", "if (b == -1 && a == INT64_MIN)", "if (false)"),
    # ---- TensorFlow's operators ----
    Mutant("near-within-tolerance", "tensorflow/reference_eltwise ApproximateEqual float32 at a half", "converters/tensorflow/lower/tf_eltwise.c",
           "return emit_end_binary(&s, OP_ElementWiseLessEqual, distance,", "return emit_end_binary(&s, OP_ElementWiseLess, distance,"),
    Mutant("part-of-joined-places", "tensorflow/reference_slice slice from joined places", "converters/tensorflow/lower/moving.c",
           "    return n->inputs[part];", "    return n->inputs[0];"),
    Mutant("one-place-of-several", "tensorflow/reference_slice slice of [6] from [2] of int32, not known, by [3]",
           "converters/tensorflow/lower/moving.c", "if (m->size > 1)", "if (m->size > 3)"),
    Mutant("rolled-the-other-way", "tensorflow/reference_slice roll [5] by [2] along [0], shifts of int64 that are not known",
           "converters/tensorflow/lower/tf_roll.c", "emit_binary(s, OP_ElementWiseSubtract, from, shift)",
           "emit_binary(s, OP_ElementWiseAdd, from, shift)"),
    Mutant("second-shift-of-an-axis", "tensorflow/reference_slice roll [4, 3] by [1, 2] along [0, 0], constant=False",
           "converters/tensorflow/lower/tf_roll.c", "(roll->known + shifts[i] % dim + dim) % dim", "(shifts[i] % dim + dim) % dim"),
    Mutant("second-computed-shift", "tensorflow/reference_slice roll [4, 3] by [1, 2] along [0, 0], shifts of int32 that are not known",
           "converters/tensorflow/lower/tf_roll.c", "roll->computed == NO_TENSOR ? next", "true ? next"),
    Mutant("gradient-at-six", "tensorflow/reference_gradient Relu6Grad of special values", "converters/tensorflow/lower/tf_gradient.c",
           "below = emit_binary(&s, OP_ElementWiseLess, x, emit_scalar(&s, x, 6))",
           "below = emit_binary(&s, OP_ElementWiseLessEqual, x, emit_scalar(&s, x, 6))"),
    Mutant("slope-of-selu", "tensorflow/reference_gradient SeluGrad, constant=False", "converters/tensorflow/lower/tf_gradient.c",
           "1.0507009873554805, 1.7580993408473769", "1.0507009873554805, 1.6732632423543772"),
    Mutant("sign-of-an-exchange", "tensorflow/reference_linear LogMatrixDeterminant of a zero",
           "converters/lowering/elimination.c", "emit_scalar(s, e->rest, -1)", "emit_scalar(s, e->rest, 1)"),
    Mutant("last-complex-number", "tensorflow/reference_fourier a constant whose last number stands for the rest",
           "converters/tensorflow/decode/tf_tensor.c", "to + (i - parts) * size", "to + (i - 1) * size"),
    Mutant("size-beside-no-number", "tensorflow/reference_fourier ComplexAbs of infinite parts", "converters/tensorflow/lower/tf_complex.c",
           "emit_binary(&s, OP_ElementWiseOr, one, other), infinity", "emit_binary(&s, OP_ElementWiseAnd, one, other), infinity"),
    Mutant("weights-that-count-once", "tensorflow/reference_sparse DenseBincount of [7], weighted=True, binary=False, constant=False",
           "converters/tensorflow/lower/tf_sparse.c", "if (c->weights != NO_TENSOR && !c->binary)", "if (c->binary)"),
    Mutant("place-of-zero-in-floats", "tensorflow/reference_quantized_ops QuantizedConv2D VALID [1, 1, 1, 1] (0, 6, -0.7, 0.3)",
           "converters/tensorflow/lower/quantized_tensor.c", "q->lowest - round((double)min * scale)",
           "q->lowest - (double)roundf(min * (float)scale)"),
    Mutant("steps-of-a-scalar", "tensorflow/reference_quantized_ops QuantizedAdd of a scalar (-1, 3, 0, 0.7)",
           "converters/tensorflow/lower/tf_quantized_sums.c", "shape_count(&build_type(s->l->b, q->x)->shape) == 1", "false"),
    Mutant("average-above-whole", "tensorflow/reference_quantized_ops QuantizedAvgPool SAME 3 by 2",
           "converters/tensorflow/lower/tf_requantize.c", "emit_scalar(&s, y, 0.5 / elements)", "emit_scalar(&s, y, 0.5)"),
    Mutant("half-a-step-of-sums", "tensorflow/reference_quantized_ops RequantizationRange, moving=False",
           "converters/tensorflow/lower/tf_requantize.c", "emit_scalar(s, q->min, 0.5));", "emit_scalar(s, q->min, 0));"),
    Mutant("rest-of-soft-scores", "tensorflow/reference_find soft suppression of equal scores and boxes",
           "converters/tensorflow/lower/soft_suppression.c", "-0.5 / n->sigma", "-1 / n->sigma"),
    # ---- containers and execution ----
    Mutant("byte-past-the-file", "dlc/test_zip an_entry_ends_with_the_file", "src/dlc/zip_read.c", "packed > f->size - start)",
           "packed > f->size - start + 1)"),
    Mutant("strings-of-constants", "runtime/test_executor constants_of_strings", "src/runtime/executor.c",
           "t->view->strings[t->view->splat ? 0 : i]", "t->view->strings[0]"),
    Mutant("zero-left-out", "dlc/test_tables left_out", "src/dlc/tables.h",
           "#define IF_MEMBER_UNLESS_0(m) (!is_zero(&r->m, sizeof r->m))", "#define IF_MEMBER_UNLESS_0(m) true"),
    Mutant("reference-there", "dlc/test_tables each_difference_is_seen", "src/dlc/tables.h",
           "#define SAME_REFERENCE(slot, present, ...) (fb_has(t, slot) == (present))",
           "#define SAME_REFERENCE(slot, present, ...) true"),
    Mutant("read-past-the-buffer", "dlc/test_tables leaving_the_buffer_fails", "src/dlc/flatbuf.h",
           "at <= in->size && size <= in->size - at;", "at <= in->size;"),
    Mutant("unaligned-table", "dlc/test_tables alignment_is_asked_for", "src/dlc/flatbuf.h", "if (in->is_aligned && at % 4 != 0)",
           "if (false)"),
    Mutant("length-of-alignment", "dlc/test_zip extra_fields_fill_their_room", "src/dlc/zip_write.c", "put(&r, 2, pad - 4);",
           "put(&r, 2, pad);"),
    Mutant("strings-in-order", "api/test_container strings_of_a_container", "src/runtime/executor.c",
           "t->view->strings[t->view->splat ? 0 : i]", "t->view->strings[t->view->splat ? 0 : count - 1 - i]"),
    Mutant("wanted-tensors-stay", "runtime/test_executor wanted_tensors_keep_their_place", "src/runtime/plan.c",
           "            l->last_use[l->owner[t]] = SIZE_MAX;\n", "            l->last_use[l->owner[t]] += 0;\n"),
    Mutant("shared-place-freed-twice", "runtime/test_executor reshapes_have_the_place_of_what_they_read",
           "src/runtime/plan.c", "        l->last_use[owner] = SIZE_MAX;\n", ""),
    Mutant("freed-twice", "runtime/test_executor an_operand_that_is_read_twice_is_freed_once", "src/runtime/plan.c",
           "    if (!m->index[id]) {\n", "    {\n"),
    Mutant("tail-of-newer-options", "api/test_convert a_longer_struct_converts_while_its_tail_is_zero",
           "src/base/struct_size.h", "if (bytes[i])", "if (false)"),
    Mutant("end-of-older-options", "api/test_convert a_shorter_struct_converts", "converters/driver/adopt_options.c",
           "memcpy(own, given, size < sizeof *own ? size : sizeof *own);", "memcpy(own, given, sizeof *own);"),
    Mutant("weights-that-are-none", "api/test_container operands_that_are_no_weights", "src/api/cost.c",
           "(n->op->weights >> i & 1)", "true"),
    Mutant("batch-of-version-3", "api/test_container layers_of_version_3", "src/api/cost.c",
           "shape_count_range(out->shape, 0,", "shape_count_range(out->shape, 1,"),
    Mutant("signal-between-names", "failing/test_signals between_names", "src/base/file.c",
           "    hold_signals(&before);\n    const char *failed", "    sigemptyset(&before);\n    const char *failed"),
    # ---- classical machine learning ----
    Mutant("sum-of-zeros", "onnx/test_lower_classic test_classic", "converters/onnx/lower/onnx_features.c",
           "size = emit_select(&s, none, emit_scalar(&s, size, 1), size);", "(void)none;"),
    Mutant("first-of-equal-keys", "onnx/test_lower_classic test_classic", "converters/onnx/lower/onnx_features.c",
           "places[i] = (double)(keys->count - i);", "places[i] = (double)(i + 1);"),
    Mutant("missing-takes-no", "onnx/test_lower_classic test_classic", "converters/onnx/lower/forest_read.c",
           "f->missing[i] = n->missing && n->missing[i] ? 1 : 0;", "f->missing[i] = 0;"),
    Mutant("doubles-split-as-their-floats", "onnx/test_lower_classic test_classic", "converters/onnx/lower/forest_read.c",
           "(double)nextafterf(near, -INFINITY)", "(double)near"),
    Mutant("votes-of-the-second", "onnx/test_lower_classic test_classic", "converters/onnx/lower/onnx_svm.c",
           "p->before[j]++;", "p->before[i]++;"),
    # ---- front ends ----
    Mutant("lambd-of-shrink", "onnx/test_lower_eltwise test_activations", "converters/onnx/lower/onnx_activation.c",
           '"lambd", 0.5', '"lambd", 1'),
    Mutant("shrink-ignores-lambd", "onnx/test_lower_eltwise test_activations", "converters/onnx/lower/onnx_activation.c",
           "emit_scalar(&s, x, -lambd)", "emit_scalar(&s, x, -1)"),
    Mutant("mask-of-dropout", "onnx/test_odd_graphs masks", "converters/onnx/lower/onnx_shape.c", "l->version < 10 ?",
           "l->version < 12 ?"),
    Mutant("after-the-last-opset", "onnx/test_refusals after_the_last_opset", "converters/lowering/lower_table.c", "row->hi < version",
           "row->hi + 1 < version"),
    Mutant("least-half-of-padding", "onnx/test_rare_nodes windows_of_padding_alone", "converters/onnx/lower/onnx_pool.c",
           "out->f = -65504;", "out->f = -65536;"),
    Mutant("window-of-padding-alone", "onnx/test_lower_conv test_other_pools", "converters/onnx/lower/onnx_pool.c",
           "p->out[i]--; /* a window", "p->out[i] += 0; /* a window"),
    Mutant("padding-that-windows-see", "onnx/test_pool_padding unseen_padding", "converters/lowering/spatial.c",
           "max_i64(end - s->in[i], 0)", "max_i64(end - s->in[i] - 1, 0)"),
    Mutant("steps-of-global-pools", "convert/test_spatial_params global_pools", "converters/onnx/lower/onnx_pool.c",
           "p.s.in[i] = p.s.kernel[i] = p.s.stride[i] =", "p.s.stride[i] = 1, p.s.in[i] = p.s.kernel[i] ="),
    Mutant("nearest-of-upsample", "convert/test_spatial_params upsamples", "converters/onnx/lower/onnx_resize.c",
           "reduces ? NEAREST_CEIL : NEAREST_FLOOR", "reduces ? NEAREST_CEIL : NEAREST_PREFER_FLOOR"),
    Mutant("weights-between-two-steps", "tensorflow/test_tensorflow_layers resizes", "converters/tensorflow/lower/tf_image.c",
           "(double)FLT_EPSILON / 2", "1e-2"),
    Mutant("more-than-there-is", "onnx/test_lower_shape test_one_hot_and_top_k", "converters/lowering/gather.c",
           "best->k > dim)", "best->k > dim + 1)"),
    Mutant("axes-of-top-k", "onnx/test_lower_shape test_one_hot_and_top_k", "converters/lowering/gather.c",
           "    swap.axis[rank - 1] = (uint8_t)at;\n", ""),
    Mutant("inline-default", "onnx/test_inline_defaults defaults_are_the_schemas", "converters/onnx/lower/onnx_resize.c",
           '"cubic_coeff_a", -0.75', '"cubic_coeff_a", -0.5'),
    Mutant("inline-default-by-version", "onnx/test_inline_defaults defaults_are_the_schemas", "converters/onnx/lower/onnx_reduce.c",
           '"axis", l->version < 13 ? 1 : -1', '"axis", l->version < 12 ? 1 : -1'),
    Mutant("two-high-surrogates", "tensorflow/test_pbtxt test_errors_say_where_and_what", "converters/tensorflow/source/pbtxt_scan.c", "low >= 0xdc00 &&",
           "low >= 0xd800 &&"),
    Mutant("graph-before-key", "tensorflow/test_tensorflow_names names_that_clash", "converters/tensorflow/normalize/wanted.c",
           "if (!end) {", "if (!end || map_get(&nz->root->body->index, end->key) != MAP_NONE) {"),
    Mutant("results-of-identities", "tensorflow/test_tensorflow_names keys_of_a_function", "converters/tensorflow/normalize/served.c",
           "return pass_identities(nz, &out->source);", "return ODLC_OK;"),
    Mutant("name-of-another-reading", "tensorflow/test_tensorflow_names readings_of_a_constant",
           "converters/tensorflow/lower/tf_eltwise.c", "strcmp(t->name, l->node->inputs[0]) == 0 &&", ""),
    Mutant("norms-in-training", "tensorflow/test_tensorflow_layers in_training", "converters/tensorflow/lower/tf_norm.c",
           "    warn_of_training(l);\n", ""),
    Mutant("slices-that-overlap", "tensorflow/test_bundle test_slices_that_overlap_by_one", "converters/tensorflow/source/bundle_slices.c",
           "a_end <= b->start[i] ||", "a_end <= b->start[i] + 1 ||"),
    # ---- tools ----
    Mutant("name-of-an-input", "tools/test_files mistakes_have_their_line", "src/tools/input_list.c",
           " || (word->path && !*word->text))", ")"),
    Mutant("equal-nans", "tools/test_dlc_diff numbers", "src/report/diff_elements.c", " && !(isnan(a[i]) && isnan(b[i]))", ""),
    Mutant("caret-of-wide-characters", "tools/test_print_diags caret_counts_characters_not_bytes", "src/text/diag_text.c",
           "*escape ? (int)strlen(escape) : 1", "*escape ? (int)strlen(escape) : (int)n"),
    Mutant("bytes-that-are-no-text", "tools/test_print_diags json_strings_are_always_utf8", "src/text/json_out.c",
           "return (s[3] & 0xC0) == 0x80 ? 4 : 0;", "return 4;"),
]


# ---- without building: the list fits the sources ----


def is_case(path, case):
    """Whether the test program has the case: a function of Check's, or one of the script's."""
    text = path.read_text()
    return f"START_TEST({case})" in text if path.suffix == ".c" else re.search(rf"^def {case}\(", text, re.MULTILINE)


def stems(mutant):
    """What the source of a test of that name may be called: names that two folders would give have words of their own."""
    return mutant.test, mutant.test.replace("test_tensorflow_", "test_"), mutant.test.removesuffix("_limits")


def family_complaint(mutant):
    """The same of a case of tests/reference, which NumPy is needed for: without, nothing is said."""
    try:
        from case import cases_of, families
    except ImportError:
        return None
    if mutant.family not in families():
        return f"there is no family {mutant.family}"
    names = [case.name for case in cases_of(mutant.family)]
    return None if mutant.case in names else f"family {mutant.family} has no case {mutant.case}"


def complaint(mutant):
    """What is wrong with the mutant's place or with its test; None: nothing."""
    wrong = misplaced(SOURCE, mutant.file, mutant.text)
    if wrong:
        return wrong
    if mutant.family:
        return family_complaint(mutant)
    folder = SOURCE / "tests" / mutant.suite
    listed = (folder / "meson.build").read_text()
    sources = [folder / (stem + suffix) for stem in stems(mutant) for suffix in (".c", ".py")
               if f"'{stem}'" in listed or f"'{stem.removeprefix('test_')}'" in listed]
    sources = [path for path in sources if path.exists()]
    if not sources:
        return f"there is no test {mutant.suite}/{mutant.test}"
    return None if is_case(sources[0], mutant.case) else f"{mutant.suite}/{mutant.test} has no case {mutant.case}"


def check_list(checks):
    for mutant in MUTANTS:
        wrong = complaint(mutant)
        checks.check(f"mutant {mutant.name}", wrong is None, wrong)
    names = collections.Counter(mutant.name for mutant in MUTANTS)
    checks.equal("names are given once", [name for name, count in names.items() if count > 1], [])
    rooms = {"/".join(mutant.file.split("/")[:2]) for mutant in MUTANTS}
    checks.equal("rooms without a mutant", sorted(ROOMS - rooms), [])


# ---- with a build ----


def set_up(work):
    """Without link-time optimization, and without what would make objects depend on the folder: a cache has most."""
    if not (work / "build" / "build.ninja").exists():
        subprocess.run(["meson", "setup", work / "build", work, "-Db_lto=false", "-Ddebug=false", "-Doptimization=1"],
                       check=True, stdout=subprocess.DEVNULL)


def run_test(work, suite, test):
    """Builds what the test needs, and runs it; its entry in Meson's log, None when there is none."""
    log = work / "build" / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    done = subprocess.run(["meson", "test", "-C", work / "build", "--suite", suite, test], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRONMENT)
    entries = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return entries[0] if len(entries) == 1 else {"result": "NONE", "stdout": done.stdout}


def is_seen(entry, case):
    """That case failed: Check says so, or the script's checks do, or Python does where it was stopped. Checks of a family end
    with the name of the case."""
    said = entry.get("stdout", "") + entry.get("stderr", "")
    case = re.escape(case)
    forms = rf":[FE]:[^:\n]*:{case}:|^FAILED in {case}: |^  File .*, in {case}$|^FAILED [^\n]*[ :]{case}(:|$)"
    return entry["result"] in ("FAIL", "ERROR", "TIMEOUT") and re.search(forms, said, re.MULTILINE)


def try_mutant(work, mutant):
    wrong = complaint(mutant)
    start = time.monotonic()
    if not wrong:
        with planted(work, mutant.file, mutant.text, mutant.replacement):
            entry = run_test(work, mutant.suite, mutant.test)
        if not is_seen(entry, mutant.case):
            tail = (entry.get("stdout", "") + entry.get("stderr", ""))[-1500:]
            wrong = f"not seen by {mutant.suite}/{mutant.test} {mutant.case}: {entry['result']}\n{tail}"
    print(f"{'FAILED' if wrong else 'ok'} {mutant.name} ({time.monotonic() - start:.0f} s){': ' if wrong else ''}{wrong or ''}",
          flush=True)
    return not wrong


def fit_without(work, mutants):
    """The tests that pass as long as nothing is planted."""
    fit = set()
    for suite, test in sorted({(mutant.suite, mutant.test) for mutant in mutants}):
        entry = run_test(work, suite, test)
        if entry["result"] == "OK":
            fit.add((suite, test))
        else:
            print(f"FAILED {suite}/{test} without a mutant: {entry['result']}\n{entry.get('stdout', '')[-3000:]}", flush=True)
    return fit


def try_all(mutants, work):
    copy_sources(work)
    set_up(work)
    fit = fit_without(work, mutants)
    passed = sum((mutant.suite, mutant.test) in fit and try_mutant(work, mutant) for mutant in mutants)
    print(f"{passed} passed, {len(mutants) - passed} failed, 0 skipped")
    return passed == len(mutants)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--work", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    unknown = set(options.only or ()) - {mutant.name for mutant in MUTANTS}
    if unknown:
        parser.error(f"no mutant {', '.join(sorted(unknown))}; --list says which there are")
    return options


def main():
    options = read_options()
    chosen = [mutant for mutant in MUTANTS if not options.only or mutant.name in options.only]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.name:<28} {mutant.file}  →  {mutant.suite}/{mutant.test} {mutant.case}")
    elif options.check:
        checks = Checks()
        check_list(checks)
        checks.finish()
    else:
        with tempfile.TemporaryDirectory(prefix="mutants") as name:
            sys.exit(not try_all(chosen, options.work or pathlib.Path(name)))


main()
