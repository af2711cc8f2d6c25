/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_gemm.h"
#include "backend/gpu/gpu_recipe.h"
#include "backend/gpu/gpu_walk.h"

/* The type of panels' elements. */
static enum dtype panel_dtype(const struct gpu_making *m)
{
    return m->math == GPU_MATH_INT || m->math == GPU_MATH_SHORT_INT ? DT_INT32 : DT_FLOAT32;
}

/* As many sums as registers hold. */
static struct gpu_panel usual_panel(const struct gpu_device *d, const struct gpu_gemm_shape *s)
{
    const int vector = d->vector >= 16 ? 16 : d->vector >= 8 ? 8 : 4;
    const int vectors = s->columns <= vector ? 1 : s->columns <= 2 * vector || vector < 16 ? 2 : 4;
    const int rows = s->rows == 1 ? 1 : vector < 16 ? 4 : 6;
    return (struct gpu_panel){rows, vector * vectors, vector};
}

static int64_t panels_of(const struct gpu_gemm_shape *s, const struct gpu_panel *panel)
{
    return ceil_div(s->columns, panel->columns);
}

/* The steps from one product's panels to the next one's, and how many right operands there are. */
static int64_t panel_steps(const struct gpu_gemm *p, const struct gpu_panel *panel, int64_t steps[MAX_RANK])
{
    const int64_t size = panels_of(&p->shape, panel) * p->shape.depth * panel->columns;
    int64_t count = 1;
    for (uint32_t i = p->batch.rank; i-- > 0;) {
        steps[i] = p->steps[1][i] == 0 ? 0 : size * count;
        count *= p->steps[1][i] == 0 ? 1 : p->batch.dims[i];
    }
    return count;
}

/* The batch axes that the right operand has. */
static struct gpu_walk walk_y(const struct gpu_gemm *p)
{
    struct shape shape = p->batch;
    int64_t steps[1][MAX_RANK];
    for (uint32_t i = 0; i < p->batch.rank; i++) {
        steps[0][i] = p->steps[1][i];
        if (p->steps[1][i] == 0)
            shape.dims[i] = 1;
    }
    return gpu_walk_over(&shape, 1, steps);
}

/* Packed once: a constant. */
static odlc_status pack_constant(struct gpu_making *m, const struct gpu_gemm *p, const struct gpu_panel *panel,
                                 int64_t count, struct gpu_operand *out)
{
    const struct gpu_gemm_shape *s = &p->shape;
    const struct gpu_walk walk = walk_y(p);
    const int64_t panels = panels_of(s, panel), size = panels * s->depth * panel->columns;
    const uint64_t bytes = (uint64_t)(count * size) * sizeof(float);
    const char *recipe = arena_printf(m->scope->scratch, "input %u in panels of %d", p->y_input, panel->columns);
    *out = (struct gpu_operand){.place = GPU_FIXED, .dtype = panel_dtype(m)};
    TRY(gpu_weights_recall(m, recipe, bytes, &out->buffer));
    if (out->buffer)
        return ODLC_OK;
    const bool is_stored = m->scope->constants[gpu_node(m, 0)->inputs[p->y_input]].dtype == DT_INT32;
    const struct buffer constant =
        is_stored ? m->scope->constants[gpu_node(m, 0)->inputs[p->y_input]] : gpu_constant(m, 0, p->y_input);
    const char *y = constant.data; /* of elements of four bytes */
    char *packed = arena_calloc(m->scope->scratch, (size_t)(count * size), sizeof(float));
    for (int64_t b = 0; b < count; b++) {
        int64_t at = 0, rest = b;
        for (int axis = walk.rank - 1; axis >= 0; rest /= walk.dims[axis], axis--)
            at += rest % walk.dims[axis] * walk.strides[0][axis];
        for (int64_t k = 0; k < s->depth; k++)
            for (int64_t n = 0; n < s->columns; n++) {
                const int64_t to =
                    b * size + ((n / panel->columns) * s->depth + k) * panel->columns + n % panel->columns;
                memcpy(packed + to * 4, y + (at + k * s->y_step + n * s->y_column) * 4, 4);
            }
    }
    if (m->is_fixed_product) /* whole numbers of 16 bits and a sign at most */
        for (int64_t i = 0; i < count * size; i++) {
            float real;
            memcpy(&real, packed + i * 4, 4);
            memcpy(packed + i * 4, &(int32_t){(int32_t)real}, 4);
        }
    return gpu_weights_keep(m, recipe, packed, bytes, &out->buffer);
}

/* Packed in every run: y is what the graph computes, and then its panels. */
static odlc_status pack(struct gpu_making *m, const struct gpu_gemm *p, const struct gpu_panel *panel, int64_t count,
                        struct gpu_operand *y)
{
    const struct gpu_gemm_shape *s = &p->shape;
    const struct gpu_operand stored = *y;
    const struct gpu_walk walk = walk_y(p);
    const int64_t wide = panels_of(s, panel) * panel->columns;
    struct gpu_call *call;
    *y = gpu_room(m, panel_dtype(m), &(struct shape){.rank = 3, .dims = {count, s->depth, wide}});
    gpu_option_type(m, "X", &stored);
    gpu_option_type(m, "O", y);
    gpu_option(m, "-DPANEL=%d", panel->columns);
    TRY(gpu_call_begin(m, "pack", "pack", &call));
    gpu_arg(m, call, &stored);
    gpu_arg(m, call, y);
    gpu_arg_bytes(call, s, sizeof(*s));
    gpu_arg_bytes(call, &walk, sizeof(walk));
    gpu_arg_int(call, count);
    return gpu_call_end(m, call, 3, (const size_t[]){(size_t)wide, (size_t)s->depth, (size_t)count});
}

static bool has_padding(const struct gpu_window *w)
{
    for (int i = 0; i < WINDOW_AXES; i++)
        if (w->before[i] > 0 || (w->out[i] - 1) * w->stride[i] + (w->filter[i] - 1) * w->dilation[i] >= w->in[i])
            return true;
    return false;
}

/* The image with zeros around, over which the window slides then. */
static odlc_status frame(struct gpu_making *m, struct gpu_gemm *p)
{
    struct gpu_window *w = &p->window;
    const struct gpu_window before = *w;
    cl_int4 framed = {.s = {0, 0, 0, p->shape.images}};
    int64_t size = w->channels;
    struct gpu_call *call;
    for (int i = 0; i < WINDOW_AXES; i++) {
        framed.s[i] = (w->out[i] - 1) * w->stride[i] + (w->filter[i] - 1) * w->dilation[i] + 1;
        w->in[i] = framed.s[i];
        w->before[i] = 0;
        size *= framed.s[i];
    }
    const struct gpu_operand image = p->x;
    p->x = gpu_room(m, image.dtype, &(struct shape){.rank = 2, .dims = {p->shape.images, size}});
    gpu_option_type(m, "X", &image);
    TRY(gpu_call_begin(m, "frame", "frame", &call));
    gpu_arg(m, call, &image);
    gpu_arg(m, call, &p->x);
    gpu_arg_bytes(call, &before, sizeof(before));
    gpu_arg_bytes(call, &framed, sizeof(framed));
    return gpu_call_end(m, call, 3,
                        (const size_t[]){(size_t)w->channels, (size_t)framed.s[2],
                                         (size_t)framed.s[0] * (size_t)framed.s[1] * (size_t)framed.s[3]});
}

/* Right operands are packed in as many elements as ints count. */
static bool fits(const struct gpu_gemm *p, const struct gpu_panel *panel)
{
    int64_t steps[MAX_RANK];
    const int64_t count = panel_steps(p, panel, steps);
    return count * panels_of(&p->shape, panel) * p->shape.depth * panel->columns <= INT32_MAX;
}

size_t gpu_gemm_panels(const struct gpu_making *m, const struct gpu_gemm *p, struct gpu_gemm_way *ways, size_t most)
{
    const struct gpu_panel usual = usual_panel(&m->gpu->context->device, &p->shape);
    const struct gpu_panel panels[] = {
        usual,
        {usual.rows, 2 * usual.columns, usual.vector},
        {2 * usual.rows, usual.columns / 2, usual.vector},
        {usual.rows / 2, usual.columns, usual.vector},
        {2 * usual.rows, usual.columns, usual.vector},
    };
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(panels) && count < most; i++)
        if (panels[i].rows > 0 && panels[i].columns >= usual.vector && (i == 0 || panels[i].rows < 2 * p->shape.rows) &&
            fits(p, &panels[i]))
            ways[count++] = (struct gpu_gemm_way){.panel = panels[i]};
    return count;
}

odlc_status gpu_gemm_in_panels(struct gpu_making *m, const struct gpu_gemm *product, const struct gpu_gemm_way *way)
{
    struct gpu_gemm p = *product;
    const struct gpu_panel panel = way->panel;
    struct gpu_call *call;
    const int64_t count = panel_steps(product, &panel, p.steps[1]);
    if (gpu_is_constant(m, 0, p.y_input)) {
        TRY(pack_constant(m, product, &panel, count, &p.y));
    } else {
        TRY(gpu_input(m, 0, p.y_input, &p.y));
        TRY(pack(m, product, &panel, count, &p.y));
    }
    if (p.is_image && has_padding(&p.window))
        TRY(frame(m, &p));
    gpu_gemm_options(m, &p, false);
    gpu_option(m, "-DR=%d -DPANEL=%d -DVECTOR=%d", panel.rows, panel.columns, panel.vector);
    TRY(gpu_call_begin(m, "panels", "product", &call));
    gpu_gemm_args(m, call, &p, false);
    const size_t rows = (size_t)ceil_div(p.shape.rows, panel.rows);
    return gpu_call_end_groups(m, call, 3,
                               (const size_t[]){(size_t)panels_of(&p.shape, &panel), rows, shape_count(&p.batch)},
                               (const size_t[]){1, 1, 1});
}
