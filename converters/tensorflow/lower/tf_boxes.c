/* SPDX-License-Identifier: Apache-2.0 */
/* CombinedNonMaxSuppression: boxes of several classes, of which the best over all classes stay, in outputs of a fixed
 * size. The op finds boxes class by class; TopK puts their scores in order, those of rows that were not found last. */
#include <float.h>
#include <math.h>

#include "converters/lowering/constants.h"
#include "converters/lowering/emit.h"
#include "converters/lowering/find.h"
#include "converters/lowering/pads.h"
#include "converters/lowering/shapes.h"
#include "converters/tensorflow/lower/moving.h"
#include "converters/tensorflow/lower/tf_lowerings.h"

enum { BOXES, SCORES, CLASSES, COUNTS, N_OUTPUTS };

struct combined {
    tensor_id boxes, scores; /* [batches, boxes, 1 or classes, 4], [batches, boxes, classes] */
    int64_t batches, n_boxes, classes;
    bool own; /* boxes of each class */
    bool clip;
    int64_t size; /* of the outputs */
    struct suppression hard;
};

static odlc_status read_sizes(const struct lower *l, struct combined *c)
{
    int64_t all;
    bool by_class;
    TRY(lower_one_int(l, 2, "max_output_size_per_class", &c->hard.most));
    TRY(lower_one_int(l, 3, "max_total_size", &all));
    TRY(lower_attr_bool(l, "pad_per_class", false, &by_class));
    if (c->hard.most <= 0 || c->hard.most > INT32_MAX || all <= 0 || all > INT32_MAX)
        return lower_invalid(l, "max_total_size", NULL, "max_output_size_per_class is %lld and max_total_size %lld",
                             (long long)c->hard.most, (long long)all);
    c->size = by_class ? min_i64(all, c->hard.most * c->classes) : all;
    return ODLC_OK;
}

static odlc_status read_combined(const struct lower *l, struct combined *c)
{
    TRY(lower_need(l, 0, "boxes", &c->boxes));
    TRY(lower_need(l, 1, "scores", &c->scores));
    const struct shape at = build_type(l->b, c->boxes)->shape, of = build_type(l->b, c->scores)->shape;
    bool fits = at.rank == 4 && of.rank == 3 && at.dims[3] == 4 && at.dims[0] == of.dims[0] && at.dims[1] == of.dims[1];
    if (!fits || (at.dims[2] != 1 && at.dims[2] != of.dims[2]))
        return lower_invalid(l, NULL, NULL, "boxes %s and scores %s do not match", shape_text(l->diags->arena, &at),
                             shape_text(l->diags->arena, &of));
    c->batches = of.dims[0];
    c->n_boxes = of.dims[1];
    c->classes = of.dims[2];
    c->own = at.dims[2] != 1;
    TRY(read_sizes(l, c));
    TRY(lower_one_float(l, 4, "iou_threshold", &c->hard.iou_threshold));
    TRY(lower_one_float(l, 5, "score_threshold", &c->hard.score_threshold));
    c->hard.score_threshold = fmax(c->hard.score_threshold, -(double)FLT_MAX);
    c->hard.is_padded = true;
    return lower_attr_bool(l, "clip_boxes", true, &c->clip);
}

/* Boxes and scores of a batch element as the op takes them: classes that have boxes of their own are its batch. */
static void split_batch(struct emit *s, const struct combined *c, int64_t batch, struct suppression *one)
{
    const struct perm turned = {.rank = 2, .axis = {1, 0}}, by_class = {.rank = 3, .axis = {1, 0, 2}};
    const int64_t batches = c->own ? c->classes : 1, classes = c->own ? 1 : c->classes;
    tensor_id boxes = emit_element(s, c->boxes, 0, batch), scores = emit_element(s, c->scores, 0, batch);
    *one = c->hard;
    one->boxes = emit_reshape(s, emit_transpose(s, boxes, &by_class), &SHAPE(batches, c->n_boxes, 4));
    one->scores = emit_reshape(s, emit_transpose(s, scores, &turned), &SHAPE(batches, classes, c->n_boxes));
}

/* The elements of a list at positions of [classes, boxes]. */
static tensor_id gather_flat(struct emit *s, const struct combined *c, tensor_id of, int64_t width, tensor_id class,
                             tensor_id box)
{
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    int64_t count = (int64_t)shape_count(&build_type(s->l->b, of)->shape) / width;
    if (count > c->n_boxes) {
        tensor_id begin = emit_binary(s, OP_ElementWiseMultiply, class, emit_scalar(s, class, (double)c->n_boxes));
        box = emit_binary(s, OP_ElementWiseAdd, begin, box);
    }
    const struct shape list = SHAPE(count), rows = SHAPE(count, width);
    return emit_gather(s, emit_reshape(s, of, width == 1 ? &list : &rows), box, 0);
}

/* The k highest of a vector, best first, and their places. */
static tensor_id best_of(struct emit *s, tensor_id x, int64_t k, tensor_id *at)
{
    const char *const names[] = {step_name(s->l, "best"), step_name(s->l, "places")};
    tensor_id outs[2] = {NO_TENSOR, NO_TENSOR};
    if (s->status == ODLC_OK) {
        build_op(s->l->b, OP_TopK, fw_node_label(s->l->node));
        build_in(s->l->b, x);
        build_int(s->l->b, PARAM_k, k);
        build_int(s->l->b, PARAM_largest, true);
        s->status = build_end_n(s->l->b, names, 2, outs);
    }
    *at = outs[1];
    return outs[0];
}

/* The first `count` of so many elements; NO_TENSOR where all are. */
static tensor_id first_ones(struct emit *s, const struct found *found, int64_t room)
{
    if (found->exact)
        return NO_TENSOR;
    tensor_id count = emit_cast(s, found->count, DT_INT32);
    return emit_binary(s, OP_ElementWiseLess, emit_positions(s, room), count);
}

/* x with zeros in rows that are not kept and behind them, as [1, size …]. */
static tensor_id fill_up(struct emit *s, const struct combined *c, tensor_id x, tensor_id kept)
{
    struct pads p = {.mode = MODE_CONSTANT};
    if (s->status != ODLC_OK)
        return NO_TENSOR;
    struct shape shape = build_type(s->l->b, x)->shape;
    p.after[0] = c->size - shape.dims[0];
    if (kept != NO_TENSOR && shape.rank == 2)
        kept = emit_reshape(s, kept, &SHAPE(shape.dims[0], 1));
    if (kept != NO_TENSOR)
        x = emit_select(s, kept, x, emit_scalar(s, x, 0));
    if (s->status == ODLC_OK)
        s->status = lower_padded(s->l, x, &p, step_name(s->l, "padded"), &x);
    return emit_reshape(s, x, shape.rank == 2 ? &SHAPE(1, c->size, shape.dims[1]) : &SHAPE(1, c->size));
}

static tensor_id count_of(struct emit *s, const struct combined *c, const struct found *found, int64_t room)
{
    double *all = arena_new(s->l->arena, double);
    *all = (double)min_i64(room, c->size);
    if (found->exact)
        return emit_constant(s, DT_INT32, &SHAPE(1), all);
    tensor_id count = emit_cast(s, found->count, DT_INT32);
    return emit_binary(s, OP_ElementWiseMinimum, count, emit_scalar(s, count, *all));
}

static odlc_status suppress_batch(struct emit *s, const struct combined *c, int64_t batch, tensor_id *out)
{
    struct suppression one;
    struct found found;
    tensor_id at;
    split_batch(s, c, batch, &one);
    TRY(s->status);
    TRY(lower_suppressed(s->l, &one, &found));
    int64_t room = build_type(s->l->b, found.rows)->shape.dims[0], k = min_i64(room, c->size);
    build_set_filler(s->l->b, found.rows, (struct filler){.axes = 0}); /* what is not found is made zeros */
    tensor_id class = emit_element(s, found.rows, 1, c->own ? 0 : 1), box = emit_element(s, found.rows, 1, 2);
    tensor_id scores = gather_flat(s, c, one.scores, 1, class, box), is_found = first_ones(s, &found, room);
    if (is_found != NO_TENSOR)
        scores = emit_select(s, is_found, scores, emit_scalar(s, scores, -(double)INFINITY));
    if (room > 0) {
        scores = best_of(s, scores, k, &at);
        class = emit_gather(s, class, at, 0);
        box = emit_gather(s, box, at, 0);
    }
    tensor_id boxes = gather_flat(s, c, one.boxes, 4, class, box), kept = first_ones(s, &found, k);
    if (c->clip)
        boxes = emit_clamp(s, boxes, 0, 1);
    out[BOXES] = fill_up(s, c, boxes, kept);
    out[SCORES] = fill_up(s, c, scores, kept);
    out[CLASSES] = fill_up(s, c, emit_cast(s, class, DT_FLOAT32), kept);
    out[COUNTS] = count_of(s, c, &found, room);
    return s->status;
}

odlc_status tf_combined_suppression(struct lower *l)
{
    struct emit s = {.l = l};
    struct combined c = {.boxes = NO_TENSOR};
    tensor_id *parts[N_OUTPUTS], out[N_OUTPUTS];
    TRY(read_combined(l, &c));
    if (c.batches * c.n_boxes * c.classes == 0)
        return lower_unsupported(l, NULL, NULL, "there are no boxes");
    for (uint32_t k = 0; k < N_OUTPUTS; k++)
        parts[k] = arena_array(l->arena, tensor_id, (size_t)c.batches);
    for (int64_t i = 0; i < c.batches; i++) {
        TRY(suppress_batch(&s, &c, i, out));
        for (uint32_t k = 0; k < N_OUTPUTS; k++)
            parts[k][i] = out[k];
    }
    for (uint32_t k = 0; k < N_OUTPUTS && k < l->n_out; k++)
        TRY(emit_give(&s, k, emit_concat(&s, parts[k], (uint32_t)c.batches, 0)));
    return ODLC_OK;
}
