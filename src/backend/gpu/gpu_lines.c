/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_lines.h"

/* Lines of fewer elements are a work-item's; of as many lines, work-items have enough to do. */
enum { LEAST_SHARED = 32, MANY_LINES = 256 };

bool gpu_lines_are_runs(const struct gpu_lines *l)
{
    return l->along.rank > 0 && l->along.strides[0][l->along.rank - 1] == 1;
}

static size_t group_for(const struct gpu_device *d, const struct gpu_lines *l)
{
    if (l->count < LEAST_SHARED || (l->lines >= MANY_LINES && (!gpu_lines_are_runs(l) || !d->is_gpu)))
        return 1;
    size_t group = d->is_gpu && l->count >= 1024 ? 256 : 64;
    while (group > d->max_group || group > d->max_items[0])
        group /= 2;
    return group;
}

/* other: NULL, or the strides of one more operand. */
static struct gpu_lines lines_of(const struct gpu_making *m, const struct shape *shape, uint32_t axes,
                                 const int64_t *other)
{
    struct shape parts[2] = {{.rank = 0}, {.rank = 0}}; /* kept, along */
    const uint32_t operands = other ? 2 : 1;
    int64_t strides[MAX_RANK], of[2][2][MAX_RANK];
    shape_strides(shape, strides);
    for (uint32_t axis = 0; axis < shape->rank; axis++) {
        const int part = axes >> axis & 1;
        of[part][0][parts[part].rank] = strides[axis];
        of[part][1][parts[part].rank] = other ? other[axis] : 0;
        parts[part].dims[parts[part].rank++] = shape->dims[axis];
    }
    struct gpu_lines l = {.lines = (int64_t)shape_count(&parts[0]),
                          .count = (int64_t)shape_count(&parts[1]),
                          .kept = gpu_walk_over(&parts[0], operands, of[0]),
                          .along = gpu_walk_over(&parts[1], operands, of[1])};
    l.group = group_for(&m->gpu->context->device, &l);
    return l;
}

struct gpu_lines gpu_lines_along(const struct gpu_making *m, const struct shape *shape, uint32_t axes)
{
    return lines_of(m, shape, axes, NULL);
}

struct gpu_lines gpu_lines_with(const struct gpu_making *m, const struct shape *shape, uint32_t axes,
                                const int64_t *other)
{
    return lines_of(m, shape, axes, other);
}

odlc_status gpu_lines_begin(struct gpu_making *m, const struct gpu_lines *l, const char *function,
                            const struct gpu_operand *const *operands, uint32_t n_operands, struct gpu_call **out)
{
    if (l->group > 1)
        gpu_option(m, "-DGROUP=%zu", l->group);
    TRY(gpu_call_begin(m, "reduce", function, out));
    for (uint32_t i = 0; i < n_operands; i++)
        gpu_arg(m, *out, operands[i]);
    gpu_arg_int(*out, l->lines);
    gpu_arg_int(*out, l->count);
    return ODLC_OK;
}

void gpu_lines_walks(struct gpu_call *call, const struct gpu_lines *l)
{
    gpu_arg_bytes(call, &l->kept, sizeof(l->kept));
    gpu_arg_bytes(call, &l->along, sizeof(l->along));
}

odlc_status gpu_lines_end(struct gpu_making *m, struct gpu_call *call, const struct gpu_lines *l)
{
    const size_t items = (size_t)l->lines * l->group;
    return l->group == 1 ? gpu_call_end(m, call, 1, &items) : gpu_call_end_groups(m, call, 1, &items, &l->group);
}
