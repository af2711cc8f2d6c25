/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/cpu/cpu_table.h"

#include "backend/cpu/cpu_fixed.h"
#include "backend/cpu/cpu_threads.h"

enum { BYTES = 256, LEAST_ELEMENTS = 1 << 15 }; /* fewer are not worth another thread */

static bool is_bytes(const struct tensor *t)
{
    return t && t->kind != TENSOR_STATIC && dtype_is_fixed(t->type->dtype) && dtype_size(t->type->dtype) == 1;
}

bool table_is(const struct graph *g, const struct node *n)
{
    return n->n_inputs == 1 && is_bytes(node_input(g, n, 0)) && is_bytes(node_output(g, n, 0));
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

static int has_look_ups(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi");
}

/* A quarter of the table is a vector. */
__attribute__((target("avx512bw,avx512vbmi"))) static void look_up_vectors(const uint8_t *bytes,
                                                                           const struct byte_rows *r)
{
    enum { LANES = 64 };
    __m512i table[BYTES / LANES];
    for (int k = 0; k < BYTES / LANES; k++)
        table[k] = _mm512_loadu_si512(bytes + k * LANES);
    for (int64_t row = 0; row < r->rows; row++)
        for (int64_t i = 0; i < r->length; i += LANES) {
            const __mmask64 all = r->length - i < LANES ? ((uint64_t)1 << (r->length - i)) - 1 : UINT64_MAX;
            const __m512i x = _mm512_maskz_loadu_epi8(all, r->x + row * r->x_pitch + i);
            const __m512i lower = _mm512_permutex2var_epi8(table[0], x, table[1]);
            const __m512i upper = _mm512_permutex2var_epi8(table[2], x, table[3]);
            _mm512_mask_storeu_epi8(r->y + row * r->y_pitch + i, all,
                                    _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), lower, upper));
        }
}
#else
static int has_look_ups(void)
{
    return 0;
}

static void look_up_vectors(const uint8_t *bytes, const struct byte_rows *r)
{
    (void)bytes, (void)r;
}
#endif

void table_look_up(const uint8_t *table, const struct byte_rows *r)
{
    if (has_look_ups()) {
        look_up_vectors(table, r);
        return;
    }
    for (int64_t row = 0; row < r->rows; row++)
        for (int64_t i = 0; i < r->length; i++)
            r->y[row * r->y_pitch + i] = table[r->x[row * r->x_pitch + i]];
}

/* ---- functions ---- */

struct lookup {
    const uint8_t *table, *x;
    uint8_t *y;
};

static void look_up_part(void *user, int64_t first, int64_t last)
{
    const struct lookup *l = user;
    table_look_up(l->table,
                  &(struct byte_rows){.x = l->x + first, .y = l->y + first, .rows = 1, .length = last - first});
}

static odlc_status run(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                       struct buffer *out)
{
    (void)scope;
    struct lookup l = {step->prepared, in[0].data, out[0].data};
    threads_share((int64_t)shape_count(&in[0].shape), LEAST_ELEMENTS, look_up_part, &l);
    return ODLC_OK;
}

static struct buffer all_bytes(const struct tensor *t, uint8_t *elements)
{
    return (struct buffer){.dtype = t->type->dtype, .shape = SHAPE(BYTES), .data = elements, .quant = t->quant};
}

/* fn NULL: reals stay as they are. */
static const uint8_t *make_table(struct arena *arena, const struct tensor *x, const struct tensor *y, span_fn *fn,
                                 const void *user)
{
    uint8_t integers[BYTES], *table = arena_array(arena, uint8_t, BYTES);
    float reals[BYTES], results[BYTES];
    const struct buffer from = all_bytes(x, integers), to = all_bytes(y, table);
    for (int i = 0; i < BYTES; i++)
        integers[i] = (uint8_t)i;
    fixed_widen(&from, reals);
    if (fn)
        fn(&(struct span){.data = {results, reals}, .step = {1, 1}, .count = BYTES}, user);
    fixed_narrow(fn ? results : reals, &to);
    return table;
}

const uint8_t *table_of_conversion(struct arena *arena, const struct tensor *from, const struct tensor *to)
{
    return make_table(arena, from, to, NULL, NULL);
}

odlc_status table_prepare(struct cpu_making *m, span_fn *fn, const void *user)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    m->step->prepared = (void *)make_table(m->scope->arena, node_input(g, n, 0), node_output(g, n, 0), fn, user);
    m->step->loop = run;
    return ODLC_OK;
}
