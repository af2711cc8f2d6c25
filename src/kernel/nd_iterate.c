/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/nd_iterate.h"

void nd_init(struct nd_loop *w, const struct shape *space)
{
    *w = (struct nd_loop){.rank = space->rank};
    for (uint32_t i = 0; i < space->rank; i++)
        w->dims[i] = space->dims[i];
}

static int64_t *next_operand(struct nd_loop *w, void *data, enum dtype dtype)
{
    w->data[w->operands] = data;
    w->size[w->operands] = dtype_size(dtype);
    return w->step[w->operands++];
}

void nd_broadcast(struct nd_loop *w, const struct buffer *b)
{
    const struct shape *shape = &b->shape;
    int64_t *step = next_operand(w, b->data, b->dtype);
    int64_t stride = 1;
    for (uint32_t i = shape->rank; i-- > 0;) {
        /* A scalar promoted to rank 1 may meet a space of rank 0. */
        if (w->rank + i < shape->rank)
            continue;
        step[w->rank - shape->rank + i] = shape->dims[i] == 1 ? 0 : stride;
        stride *= shape->dims[i];
    }
}

void nd_axes(struct nd_loop *w, void *data, enum dtype dtype, uint32_t axes)
{
    int64_t *step = next_operand(w, data, dtype);
    int64_t stride = 1;
    for (uint32_t i = w->rank; i-- > 0;) {
        if (!(axes >> i & 1))
            continue;
        step[i] = stride;
        stride *= w->dims[i];
    }
}

/* True when for every operand a step along `outer` equals a full run along `inner`. */
static bool can_join(const struct nd_loop *w, uint32_t outer, uint32_t inner)
{
    for (uint32_t k = 0; k < w->operands; k++)
        if (w->step[k][outer] != w->step[k][inner] * w->dims[inner])
            return false;
    return true;
}

static void move_axis(struct nd_loop *w, uint32_t to, uint32_t from)
{
    w->dims[to] = w->dims[from];
    for (uint32_t k = 0; k < w->operands; k++)
        w->step[k][to] = w->step[k][from];
}

void nd_join(struct nd_loop *w)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < w->rank; i++) {
        if (w->dims[i] == 1)
            continue;
        if (rank > 0 && can_join(w, rank - 1, i)) {
            int64_t outer = w->dims[rank - 1];
            move_axis(w, rank - 1, i);
            w->dims[rank - 1] *= outer;
        } else {
            move_axis(w, rank++, i);
        }
    }
    w->rank = rank;
}

void nd_run(const struct nd_loop *w, span_fn *fn, const void *user)
{
    struct nd_loop joined = *w;
    nd_join(&joined);
    nd_run_joined(&joined, fn, user);
}

void nd_run_joined(const struct nd_loop *w, span_fn *fn, const void *user)
{
    struct span s = {.count = 1};
    uint32_t outer = w->rank ? w->rank - 1 : 0;
    for (uint32_t k = 0; k < w->operands; k++) {
        s.data[k] = w->data[k];
        s.step[k] = w->rank ? w->step[k][outer] : 0;
    }
    uint64_t runs = 1;
    for (uint32_t i = 0; i < outer; i++)
        runs *= (uint64_t)w->dims[i];
    if (w->rank)
        s.count = w->dims[outer];
    if (s.count == 0)
        return;
    int64_t index[MAX_RANK] = {0};
    for (uint64_t run = 0; run < runs; run++) {
        fn(&s, user);
        for (uint32_t i = outer; i-- > 0;) {
            bool wraps = ++index[i] == w->dims[i];
            for (uint32_t k = 0; k < w->operands; k++) {
                int64_t by = wraps ? -w->step[k][i] * (w->dims[i] - 1) : w->step[k][i];
                s.data[k] = (char *)s.data[k] + by * w->size[k];
            }
            if (!wraps)
                break;
            index[i] = 0;
        }
    }
}

span_fn *span_for(const struct span_set *set, enum dtype dtype)
{
    if (dtype == DT_FLOAT32)
        return set->floats;
    return dtype == DT_FLOAT64 ? set->doubles : set->ints;
}

void wrap_result(const struct kernel *k)
{
    const struct buffer *out = &k->out[0];
    if (out->dtype == DT_INT64 && dtype_is_int(out->stored) && dtype_size(out->stored) < sizeof(int64_t))
        keep_low_bits(out->data, out->stored, shape_count(&out->shape));
}

odlc_status nd_inputs(const struct kernel *k, span_fn *fn)
{
    struct nd_loop w;
    nd_init(&w, &k->out[0].shape);
    nd_broadcast(&w, &k->out[0]);
    for (uint32_t i = 0; i < k->n_in; i++)
        nd_broadcast(&w, &k->in[i]);
    nd_run(&w, fn, k);
    wrap_result(k);
    return ODLC_OK;
}

odlc_status nd_by_class(const struct kernel *k, const struct span_set *set)
{
    for (uint32_t i = 1; i < k->n_in; i++)
        if (k->in[i].dtype != k->in[0].dtype)
            return ODLC_ERR_UNSUPPORTED;
    span_fn *fn = span_for(set, k->in[0].dtype);
    return fn ? nd_inputs(k, fn) : ODLC_ERR_UNSUPPORTED;
}

odlc_status nd_with_uint64(const struct kernel *k, const struct span_set *set, span_fn *uints)
{
    if (k->in[0].stored != DT_UINT64 || !uints)
        return nd_by_class(k, set);
    return nd_by_class(k, &(struct span_set){.ints = uints});
}
