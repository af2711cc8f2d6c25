/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_conv_strips.h"

#include "op/op.h"

enum {
    NEAR_BYTES = 1 << 20,  /* of sums that stay near on their own */
    STRIP_BYTES = 1 << 18, /* of a strip's */
    ROW_AXIS = 2           /* of sides: behind batch and channels */
};

/* Rows of the result, and of the image that their windows reach. */
struct strip {
    struct window_axis axis; /* with the extents of the strip's sides */
    int64_t x_first, y_first;
    struct cpu_call *call; /* shared by strips of the same geometry */
};

struct strips {
    struct requantize requantize;
    int64_t x_row, y_row; /* bytes */
    int64_t positions;    /* of a row of the result */
    VEC(struct strip) list;
};

static const struct window_axis *rows_of(const struct conv *c)
{
    return &c->window.axis[WINDOW_AXES - c->window.rank];
}

/* Positions of a row of the result. */
static int64_t positions_of(const struct conv *c)
{
    int64_t positions = 1;
    for (uint32_t i = WINDOW_AXES - c->window.rank + 1; i < WINDOW_AXES; i++)
        positions *= c->window.axis[i].out;
    return positions;
}

static int64_t row_bytes(const struct conv *c, const struct fixed_making *f)
{
    return positions_of(c) * f->groups * f->pitch * (int64_t)sizeof(int32_t);
}

bool strips_are_worth(const struct cpu_making *m, const struct conv *c, const struct sides *axes,
                      const struct fixed_making *f)
{
    const int64_t row = row_bytes(c, f);
    return making_node(m)->op->layer != LAYER_TRANSPOSED && axes->x.dims[0] == 1 && c->window.rank > 1 &&
           rows_of(c)->out * row > NEAR_BYTES && 2 * row <= NEAR_BYTES;
}

/* The strip that begins at a row of the result. */
static struct strip strip_at(const struct window_axis *whole, int64_t first, int64_t count)
{
    const int64_t start = first * whole->stride - whole->pad_before;
    const int64_t end =
        (first + count - 1) * whole->stride - whole->pad_before + (whole->filter - 1) * whole->dilation + 1;
    struct strip s = {.axis = *whole, .x_first = max_i64(start, 0), .y_first = first};
    s.axis.in = min_i64(end, whole->in) - s.x_first;
    s.axis.out = count;
    s.axis.pad_before = s.x_first - start;
    s.axis.pad_after = end - min_i64(end, whole->in);
    return s;
}

static bool same_geometry(const struct strip *a, const struct strip *b)
{
    return a->axis.in == b->axis.in && a->axis.out == b->axis.out && a->axis.pad_before == b->axis.pad_before &&
           a->axis.pad_after == b->axis.pad_after;
}

static void set_rows(struct dnnl_axes *side, int64_t rows)
{
    side->dims[ROW_AXIS] = rows;
    side->strides[0] = rows * side->strides[ROW_AXIS];
}

/* The call of a strip. Strips whose weights have one layout share them. */
static odlc_status make_strip(struct cpu_making *m, const struct conv *c, const struct sides *axes,
                              const struct fixed_making *f, const int8_t *weights, struct strip *s)
{
    struct conv part = *c;
    struct sides sides = *axes;
    union operation operation;
    dnnl_primitive_attr_t attr;
    dnnl_primitive_desc_t description;
    bool slow;
    part.window.axis[WINDOW_AXES - c->window.rank] = s->axis;
    set_rows(&sides.x, s->axis.in);
    set_rows(&sides.y, s->axis.out);
    const dnnl_memory_desc_t x = desc_typed(&sides.x, f->x_type), y = desc_typed(&sides.y, dnnl_s32);
    const dnnl_memory_desc_t plain = desc_typed(&sides.w, dnnl_s8), any = desc_any(&sides.w, dnnl_s8);
    TRY(conv_describe(m, &part, &x, &any, NULL, &y, &operation));
    TRY(make_attributes(m, &attr));
    if (f->x_zero != 0)
        TRY_DNNL(m, dnnl_primitive_attr_set_zero_points(attr, DNNL_ARG_SRC, 1, 0, &f->x_zero));
    TRY(make_description(m, &operation, attr, &description, &slow));
    TRY(make_call(m, description, &s->call));
    m->step->calls.count--; /* the loop executes them */
    TRY(call_place(m, s->call, DNNL_ARG_SRC, &x, CPU_FIXED));
    TRY(call_place(m, s->call, DNNL_ARG_DST, &y, CPU_FIXED));
    return call_packed(m, s->call, DNNL_ARG_WEIGHTS, description, 0, &plain, weights);
}

static odlc_status run_strips(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                              struct buffer *out)
{
    const struct strips *all = step->prepared;
    const char *x = in[0].data;
    char *y = out[0].data;
    (void)scope;
    for (size_t i = 0; i < all->list.count; i++) {
        const struct strip *s = &all->list.data[i];
        TRY(call_run(step, s->call, x + s->x_first * all->x_row, cpu_sums(step)));
        requantize(&all->requantize, cpu_sums(step), y + s->y_first * all->y_row, s->axis.out * all->positions);
    }
    return ODLC_OK;
}

odlc_status strips_prepare(struct cpu_making *m, const struct conv *c, const struct sides *axes,
                           const struct fixed_making *f, const int8_t *weights)
{
    const struct window_axis *rows = rows_of(c);
    const int64_t height = max_i64(STRIP_BYTES / row_bytes(c, f), 1);
    struct strips *all = arena_new(m->scope->arena, struct strips);
    *all = (struct strips){.requantize = fixed_product_requantize(m, f),
                           .x_row = axes->x.strides[ROW_AXIS],
                           .y_row = positions_of(c) * f->groups * f->channels,
                           .positions = positions_of(c)};
    all->y_row *= (int64_t)all->requantize.size;
    making_need_sums(m, (uint64_t)(height * row_bytes(c, f)) / sizeof(int32_t));
    for (int64_t first = 0; first < rows->out; first += height) {
        struct strip s = strip_at(rows, first, min_i64(height, rows->out - first));
        for (size_t i = all->list.count; i-- > 0 && !s.call;)
            s.call = same_geometry(&all->list.data[i], &s) ? all->list.data[i].call : NULL;
        if (!s.call)
            TRY(make_strip(m, c, axes, f, weights, &s));
        vec_push(m->scope->arena, &all->list, s);
    }
    m->step->loop = run_strips;
    m->step->prepared = all;
    return ODLC_OK;
}
