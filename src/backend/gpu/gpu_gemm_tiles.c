/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_gemm.h"

#include "backend/gpu/gpu_context.h"

/* Few, since a device's driver takes long to build a program: of all that were measured, these lose least. */
static const struct gpu_tile tiles[] = {
    {64, 128, 16, 8, 8, 1, 0.9}, {64, 64, 16, 8, 4, 2, 0.55}, {64, 32, 32, 8, 4, 4, 0.51}, {32, 64, 32, 4, 4, 1, 0.59},
    {32, 32, 64, 4, 4, 4, 0.31}, {16, 32, 64, 4, 4, 8, 0.35}, {32, 32, 32, 4, 4, 2, 0.5},  {32, 32, 32, 4, 4, 1, 0.54},
};

enum { LANES = 8, MAX_PARTS = 32 };

/* Constants of an estimate: multiply-adds that a work-item does and bytes that the memory moves in a microsecond,
 * microseconds that a kernel, a step along the depth, and another kernel behind it take, and work-items that a compute
 * unit executes at once. */
static const double item_rate = 1000, memory_rate = 3.5e6, kernel_time = 6, step_time = 0.1, next_time = 6.5;
enum { ITEMS_AT_ONCE = 256 };

static int items_of(const struct gpu_tile *t)
{
    return t->rows / t->r * (t->columns / t->c) * t->slices;
}

/* Bytes of an element of a tile. */
static uint64_t element_size(const struct gpu_making *m)
{
    return m->math == GPU_MATH_INT || m->math == GPU_MATH_DOUBLE ? 8 : 4;
}

static bool fits(const struct gpu_making *m, const struct gpu_tile *t)
{
    const struct gpu_device *d = &m->gpu->context->device;
    const uint64_t local = 2 * element_size(m) * (uint64_t)t->depth * (uint64_t)(t->rows + t->columns + 8);
    return (size_t)items_of(t) <= d->max_group && (size_t)items_of(t) <= d->max_items[0] && local <= d->local_memory;
}

/* Microseconds, about. */
static double estimate(const struct gpu_device *d, const struct gpu_tile *t, const struct gpu_gemm *p, int64_t parts)
{
    const struct gpu_gemm_shape *s = &p->shape;
    const int64_t groups =
        ceil_div(s->rows, t->rows) * ceil_div(s->columns, t->columns) * (int64_t)shape_count(&p->batch) * parts;
    const int64_t on_unit = ceil_div(groups, d->units);
    const int64_t at_once = min_i64(on_unit, max_i64(1, ITEMS_AT_ONCE / items_of(t)));
    const int64_t steps = ceil_div(ceil_div(s->depth, parts), t->depth);
    const double work = (double)on_unit * (double)(steps * t->depth) * t->rows * t->columns;
    const double computing = work / (t->efficiency * item_rate * (double)(at_once * items_of(t)));
    const double waiting = (double)(ceil_div(on_unit, at_once) * steps) * step_time;
    const double adding = parts == 1 ? 0 : next_time + 4.0 * (double)(parts + 1) * s->out_size / memory_rate;
    return kernel_time + computing + waiting + adding;
}

/* Keeps the `most` ways that take least. */
static size_t insert(struct gpu_gemm_way *ways, double *times, size_t count, size_t most,
                     const struct gpu_gemm_way *way, double time)
{
    size_t at = count;
    while (at > 0 && times[at - 1] > time)
        at--;
    if (at == most)
        return count;
    count = count < most ? count + 1 : most;
    for (size_t i = count - 1; i > at; i--) {
        ways[i] = ways[i - 1];
        times[i] = times[i - 1];
    }
    ways[at] = *way;
    times[at] = time;
    return count;
}

size_t gpu_gemm_tiles(const struct gpu_making *m, const struct gpu_gemm *p, struct gpu_gemm_way *ways, size_t most)
{
    const struct gpu_device *d = &m->gpu->context->device;
    const int64_t most_parts = m->math == GPU_MATH_DOUBLE ? 1 : MAX_PARTS; /* parts of doubles would be rounded */
    double *times = arena_array(m->scope->scratch, double, most);
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(tiles); i++) {
        for (int64_t parts = 1; parts <= most_parts; parts *= 2) {
            const bool too_short = parts > 1 && p->shape.depth < 2 * tiles[i].depth * parts;
            const bool too_many = parts * p->shape.out_size > INT32_MAX;
            const struct gpu_gemm_way way = {.tile = &tiles[i], .parts = parts};
            if (fits(m, &tiles[i]) && !too_short && !too_many)
                count = insert(ways, times, count, most, &way, estimate(d, &tiles[i], p, parts));
        }
    }
    return count;
}

/* ---- how operands are read ---- */

static bool is_by_4(const int64_t steps[MAX_RANK], uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++)
        if (steps[i] % 4)
            return false;
    return true;
}

/* Which way an operand's elements are neighbours, and how many of them are read together. */
struct reading {
    bool along_depth;
    int run;
};

static struct reading read_matrix(const struct gpu_gemm *p, uint32_t operand, int64_t rows, int64_t row, int64_t step)
{
    struct reading r = {.along_depth = step == 1 || row != 1, .run = 1};
    const bool neighbours =
        r.along_depth ? step == 1 && row % 4 == 0 && p->shape.depth % 4 == 0 : step % 4 == 0 && rows % 4 == 0;
    if (neighbours && is_by_4(p->steps[operand], p->batch.rank))
        r.run = 4;
    return r;
}

static struct reading read_x(const struct gpu_gemm *p)
{
    if (!p->is_image)
        return read_matrix(p, 0, p->shape.rows, p->shape.x_row, p->shape.x_step);
    const bool by_4 = p->window.channels % 4 == 0 && p->shape.tap_depth % 4 == 0 && is_by_4(p->steps[0], p->batch.rank);
    return (struct reading){.along_depth = true, .run = by_4 ? 4 : 1};
}

static void add_tile_options(struct gpu_making *m, const struct gpu_gemm *p, const struct gpu_tile *t)
{
    const struct gpu_gemm_shape *s = &p->shape;
    const struct reading x = read_x(p), y = read_matrix(p, 1, s->columns, s->y_column, s->y_step);
    const bool by_4 = s->columns % 4 == 0 && s->out_row % 4 == 0 && is_by_4(p->steps[2], p->batch.rank) &&
                      s->out_size % 4 == 0 && t->c % 4 == 0;
    gpu_option(m, "-DROWS=%d -DCOLUMNS=%d -DDEPTH=%d -DR=%d -DC=%d -DSLICES=%d -DLANES=%d", t->rows, t->columns,
               t->depth, t->r, t->c, t->slices, LANES);
    gpu_option(m, "-DX_ALONG=%d -DX_RUN=%d -DY_ALONG=%d -DY_RUN=%d -DOUT_RUN=%d", x.along_depth, x.run, y.along_depth,
               y.run, by_4 ? 4 : 1);
}

/* ---- calls ---- */

static odlc_status add_product(struct gpu_making *m, const struct gpu_gemm *p, const struct gpu_tile *t)
{
    const bool is_part = p->shape.parts > 1;
    struct gpu_call *call;
    gpu_gemm_options(m, p, is_part);
    add_tile_options(m, p, t);
    TRY(gpu_call_begin(m, "tiles", "product", &call));
    gpu_gemm_args(m, call, p, is_part);
    const size_t items = (size_t)items_of(t);
    const size_t all[] = {(size_t)ceil_div(p->shape.columns, t->columns) * items,
                          (size_t)ceil_div(p->shape.rows, t->rows), shape_count(&p->batch) * (size_t)p->shape.parts};
    return gpu_call_end_groups(m, call, 3, all, (const size_t[]){items, 1, 1});
}

static odlc_status add_sum(struct gpu_making *m, const struct gpu_gemm *p, const struct gpu_operand *parts)
{
    struct gpu_call *call;
    gpu_option_type(m, "X", parts);
    gpu_option_type(m, "B", &p->bias);
    gpu_option_type(m, "O", &p->out);
    if (p->bias.dtype != DT_NONE)
        gpu_option(m, "-DBIAS");
    gpu_chain_options(m, p->chain);
    TRY(gpu_call_begin(m, "parts", "sum", &call));
    gpu_arg(m, call, parts);
    gpu_arg(m, call, &p->bias);
    gpu_arg(m, call, &p->out);
    gpu_arg_bytes(call, &p->shape, sizeof(p->shape));
    gpu_chain_args(m, call, p->chain);
    return gpu_call_end(m, call, 1, (const size_t[]){(size_t)p->shape.out_size});
}

/* Products of few elements and great depth are cut into parts, so that all compute units have work. */
odlc_status gpu_gemm_in_tiles(struct gpu_making *m, const struct gpu_gemm *p, const struct gpu_gemm_way *way)
{
    struct gpu_gemm part = *p;
    TRY(gpu_input(m, 0, p->y_input, &part.y));
    part.shape.part_depth =
        (cl_int)(ceil_div(ceil_div(p->shape.depth, way->parts), way->tile->depth) * way->tile->depth);
    part.shape.parts = (cl_int)ceil_div(p->shape.depth, part.shape.part_depth);
    if (part.shape.parts == 1)
        return add_product(m, &part, way->tile);
    const struct shape all = {.rank = 2, .dims = {part.shape.parts, p->shape.out_size}};
    part.out = gpu_room(m, m->math == GPU_MATH_REAL ? DT_FLOAT32 : p->out.dtype, &all);
    TRY(add_product(m, &part, way->tile));
    const struct gpu_operand parts = part.out;
    part.out = p->out;
    return add_sum(m, &part, &parts);
}
