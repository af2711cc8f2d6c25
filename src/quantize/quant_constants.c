/* SPDX-License-Identifier: Apache-2.0 */
/* Constants: their ranges, and the integers that stand for them. */
#include <float.h>
#include <math.h>

#include "ir/quant.h"
#include "quantize/quantizer.h"

/* A constant at work; `run` elements side by side have one encoding, and `count` encodings follow each other. */
struct constant {
    struct quantizer *q;
    const struct tensor *tensor;
    struct quant_item *item;
    uint64_t run;
    uint32_t count;
    double *min, *max;            /* per encoding */
    struct histogram *histograms; /* of encodings from `group` on */
    uint32_t group, n_histograms;
    bool is_bounded; /* it has infinities, for which the farthest floats stand */
    uint8_t *integers;
    enum dtype stored;
};

/* Gets (c, encoding, values, count, index of the first) of pieces of one encoding. */
typedef odlc_status part_fn(struct constant *c, uint32_t encoding, const float *values, size_t count, uint64_t first);

static float bounded_float(float value)
{
    return value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : value;
}

/* The farthest floats stand for infinities in constants that are no parameters: masks and bounds. */
static odlc_status take_bounded(struct constant *c, uint32_t encoding, const float *values, size_t count,
                                uint64_t first, part_fn *part)
{
    enum { PIECE = 256 };
    float bounded[PIECE];
    if (c->item->role != ROLE_CONSTANT)
        return part(c, encoding, values, count, first);
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < PIECE ? count - done : PIECE;
        for (size_t i = 0; i < n; i++) {
            bounded[i] = bounded_float(values[done + i]);
            c->is_bounded |= bounded[i] != values[done + i];
        }
        TRY(part(c, encoding, bounded, n, first + done));
    }
    return ODLC_OK;
}

/* Calls part for each piece. */
static odlc_status each_part(struct constant *c, uint64_t offset, const void *bytes, size_t size, part_fn *part)
{
    const float *values = bytes;
    uint64_t at = offset / sizeof *values, end = at + size / sizeof *values;
    while (at < end) {
        const uint64_t left = min_u64(c->run - at % c->run, end - at);
        TRY(take_bounded(c, (uint32_t)(at / c->run % c->count), values, left, at, part));
        values += left;
        at += left;
    }
    return ODLC_OK;
}

static odlc_status widen_part(struct constant *c, uint32_t encoding, const float *values, size_t count, uint64_t first)
{
    size_t bad;
    if (quant_widen(values, count, &c->min[encoding], &c->max[encoding], &bad))
        return ODLC_OK;
    return diag_error(c->q->diags, ODLC_ERR_INVALID, AT(.file = c->q->path), "quantize-not-finite",
                      "constant %s holds %s as element %llu", c->tensor->name,
                      isnan(values[bad]) ? "NaN" : "an infinity", (unsigned long long)(first + bad));
}

static odlc_status widen(void *user, uint64_t offset, const void *bytes, size_t size)
{
    return each_part(user, offset, bytes, size, widen_part);
}

/* The least signed integer has no counterpart: it is used where the encoding's range has it. (Of 32 bits, float32
 * cannot tell.) */
static double least_integer(const struct encoding *e, bool is_signed)
{
    const double half = ldexp(1, (int)e->bitwidth - 1);
    const bool is_whole = e->bitwidth < 32 && e->min / e->scale < 0.5 - half;
    return !is_signed ? 0 : is_whole ? -half : 1 - half;
}

void quant_integers_range(const struct quantizer *q, const struct quant_item *item, const struct encoding *e,
                          double *low, double *high)
{
    const bool is_signed = dtype_info(quant_type(item->quant))->cls == CLASS_SFXP;
    *low = item->is_restricted ? (double)q->options->least_step - e->offset : least_integer(e, is_signed);
    *high = item->is_restricted ? (double)q->options->greatest_step - e->offset
                                : ldexp(1, (int)e->bitwidth - is_signed) - 1;
}

static odlc_status encode_part(struct constant *c, uint32_t encoding, const float *values, size_t count, uint64_t first)
{
    enum { PIECE = 256 };
    const struct encoding *e = &c->item->quant->encodings[encoding];
    const uint32_t size = dtype_size(c->stored);
    double integers[PIECE], low, high;
    quant_integers_range(c->q, c->item, e, &low, &high);
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < PIECE ? count - done : PIECE;
        for (size_t i = 0; i < n; i++)
            integers[i] = fmin(fmax(rint(values[done + i] / e->scale) - e->offset, low), high);
        convert_elements(c->integers + (first + done) * size, c->stored, integers, DT_FLOAT64, n);
    }
    return ODLC_OK;
}

static odlc_status encode(void *user, uint64_t offset, const void *bytes, size_t size)
{
    return each_part(user, offset, bytes, size, encode_part);
}

static odlc_status stream(struct constant *c, const struct view *view, view_emit_fn *emit)
{
    struct quantizer *q = c->q;
    const size_t before = q->diags->errors;
    struct arena_mark mark = arena_mark(q->scratch);
    odlc_status status = view_stream(q->scratch, view, DT_FLOAT32, emit, c);
    arena_rewind(q->scratch, mark);
    if (status != ODLC_OK && q->diags->errors == before)
        return diag_error(q->diags, status, AT(.file = q->path), "io", "constant %s cannot be read", c->tensor->name);
    return status;
}

static odlc_status count_part(struct constant *c, uint32_t encoding, const float *values, size_t count, uint64_t first)
{
    (void)first;
    if (encoding >= c->group && encoding - c->group < c->n_histograms)
        histogram_add(&c->histograms[encoding - c->group], values, count, c->min[encoding], c->max[encoding]);
    return ODLC_OK;
}

static odlc_status count(void *user, uint64_t offset, const void *bytes, size_t size)
{
    return each_part(user, offset, bytes, size, count_part);
}

/* Encodings of ranges that histograms say, of some channels at a time: all of them would be as large as the model. */
static odlc_status choose_by_counts(struct constant *c, struct encoding *encodings)
{
    enum { GROUP = 1024 };
    struct quantizer *q = c->q;
    struct arena_mark mark = arena_mark(q->scratch);
    c->histograms = arena_array(q->scratch, struct histogram, c->count < GROUP ? c->count : GROUP);
    for (c->group = 0; c->group < c->count; c->group += c->n_histograms) {
        c->n_histograms = c->count - c->group < GROUP ? c->count - c->group : GROUP;
        for (uint32_t i = 0; i < c->n_histograms; i++)
            histogram_clear(&c->histograms[i]);
        TRY(stream(c, c->tensor->view, count));
        for (uint32_t i = 0; i < c->n_histograms; i++)
            encodings[c->group + i] = quant_encoding(
                q, c->item, (struct quant_range){c->min[c->group + i], c->max[c->group + i]}, &c->histograms[i]);
    }
    arena_rewind(q->scratch, mark);
    return ODLC_OK;
}

static odlc_status choose_encodings(struct constant *c)
{
    struct quantizer *q = c->q;
    struct quant_item *item = c->item;
    c->min = arena_array(q->arena, double, c->count);
    c->max = arena_array(q->arena, double, c->count);
    TRY(stream(c, c->tensor->view, widen));
    if (item->given)
        return ODLC_OK;
    struct encoding *encodings = arena_array(q->arena, struct encoding, c->count);
    if (quant_takes_histogram(q, item))
        TRY(choose_by_counts(c, encodings));
    else
        for (uint32_t i = 0; i < c->count; i++)
            encodings[i] = quant_encoding(q, item, (struct quant_range){c->min[i], c->max[i]}, NULL);
    struct quant *quant = arena_new(q->arena, struct quant);
    *quant = (struct quant){.per_axis = item->axis != NO_AXIS,
                            .axis = item->axis == NO_AXIS ? 0 : item->axis,
                            .count = c->count,
                            .encodings = encodings};
    item->quant = quant;
    return ODLC_OK;
}

/* The integers whose bits those of the fixed-point type are. */
static enum dtype integers_of(enum dtype fixed)
{
    enum dtype integers = DT_INT4;
    while (quant_dtype(integers) != fixed)
        integers++;
    return integers;
}

/* From now on the constant is what the integers stand for, in float32. */
static void stand_for(struct constant *c, tensor_id id)
{
    struct quantizer *q = c->q;
    struct quant_item *item = c->item;
    const struct quant *quant = item->quant;
    double *scale = arena_array(q->arena, double, quant->count), *zero = arena_array(q->arena, double, quant->count);
    for (uint32_t i = 0; i < quant->count; i++) {
        scale[i] = quant->encodings[i].scale;
        zero[i] = -quant->encodings[i].offset;
    }
    struct view view = view_of(c->integers, c->stored, &c->tensor->type->shape);
    view.scale = scale;
    view.zero = zero;
    view.scale_axis = quant->per_axis ? quant->axis : SCALE_WHOLE;
    item->reals = arena_memdup(q->arena, &view, sizeof view);
    item->integers = c->integers;
    item->stored = c->stored;
    graph_set_view(q->g, id, &view);
}

/* A constant with an encoding of its own, or of each index of an axis. */
static struct constant constant_at(struct quantizer *q, tensor_id id, uint32_t axis)
{
    const struct tensor *t = graph_tensor(q->g, id);
    const struct shape *shape = &t->type->shape;
    struct constant c = {.q = q, .tensor = t, .item = &q->items[id], .count = 1, .run = shape_count(shape)};
    if (axis != NO_AXIS) {
        c.count = (uint32_t)shape->dims[axis];
        c.run = shape_count_range(shape, axis + 1, shape->rank);
    }
    return c;
}

/* The integers of its encodings. */
static odlc_status store(struct constant *c, tensor_id id)
{
    c->stored = integers_of(quant_type(c->item->quant));
    c->integers = arena_alloc(c->q->arena, shape_count(&c->tensor->type->shape) * dtype_size(c->stored));
    TRY(stream(c, c->item->encoded, encode));
    stand_for(c, id);
    return ODLC_OK;
}

/* What improvements observe of the float network: what is computed of infinities has no range. */
static void keep_bounded(const struct constant *c)
{
    struct arena *arena = c->q->arena;
    const struct shape *shape = &c->tensor->type->shape;
    const float *floats = view_load(arena, c->item->floats, DT_FLOAT32);
    float *values = arena_memdup(arena, floats, shape_count(shape) * sizeof *floats);
    for (uint64_t i = 0; i < shape_count(shape); i++)
        values[i] = bounded_float(values[i]);
    const struct view view = view_of(values, DT_FLOAT32, shape);
    c->item->bounded = arena_memdup(arena, &view, sizeof view);
}

odlc_status quant_encode_constant(struct quantizer *q, tensor_id id)
{
    struct constant c = constant_at(q, id, q->items[id].axis);
    TRY(choose_encodings(&c));
    if (quant_float_bits(q, id))
        return ODLC_OK; /* it has an encoding, and stays what it is */
    c.item->encoded = arena_memdup(q->arena, c.tensor->view, sizeof *c.tensor->view);
    if (!c.item->floats)
        c.item->floats = c.item->encoded;
    if (c.is_bounded)
        keep_bounded(&c);
    if (q->options->greatest_step && c.item->role == ROLE_WEIGHTS && !c.item->given)
        quant_restrict_steps(q, c.item);
    return store(&c, id);
}

odlc_status quant_encode_again(struct quantizer *q, tensor_id id, const struct quant *quant)
{
    struct constant c = constant_at(q, id, quant->per_axis ? quant->axis : NO_AXIS);
    c.item->quant = quant;
    c.item->axis = quant->per_axis ? quant->axis : NO_AXIS;
    return store(&c, id);
}

static void warn_unrestricted(const struct quantizer *q)
{
    if (q->unrestricted)
        diag_warn(q->diags, AT(.file = q->path), "quantize-steps",
                  "--restrict_quantization_steps has no effect on %zu weights: they are not symmetric, or the steps "
                  "are not those of their bits",
                  q->unrestricted);
}

odlc_status quant_encode_constants(struct quantizer *q)
{
    for (tensor_id id = 0; id < q->g->tensors.count; id++) {
        if (graph_tensor(q->g, id)->kind != TENSOR_STATIC || q->items[id].role == ROLE_NONE)
            continue;
        TRY(progress_report(q->options->progress, q->diags, id, q->g->tensors.count));
        TRY(quant_encode_constant(q, id));
    }
    warn_unrestricted(q);
    return ODLC_OK;
}
