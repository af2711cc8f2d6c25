#include "backend/cpu/cpu_table.h"

#include "backend/cpu/cpu_fixed.h"
#include "backend/cpu/cpu_threads.h"

enum { BYTES = 256, LEAST_ELEMENTS = 1 << 15 }; /* fewer are not worth another thread */

struct lookup {
    const uint8_t *table, *x;
    uint8_t *y;
};

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

/* Gives the number of elements that were looked up: whole vectors. A quarter of the table is a vector. */
__attribute__((target("avx512bw,avx512vbmi"))) static int64_t look_up_vectors(const struct lookup *l, int64_t first,
                                                                              int64_t last)
{
    enum { LANES = 64 };
    __m512i table[BYTES / LANES];
    int64_t i = first;
    for (int k = 0; k < BYTES / LANES; k++)
        table[k] = _mm512_loadu_si512(l->table + k * LANES);
    for (; i + LANES <= last; i += LANES) {
        const __m512i x = _mm512_loadu_si512(l->x + i);
        const __m512i lower = _mm512_permutex2var_epi8(table[0], x, table[1]);
        const __m512i upper = _mm512_permutex2var_epi8(table[2], x, table[3]);
        _mm512_storeu_si512(l->y + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), lower, upper));
    }
    return i - first;
}
#else
static int has_look_ups(void)
{
    return 0;
}

static int64_t look_up_vectors(const struct lookup *l, int64_t first, int64_t last)
{
    (void)l, (void)first, (void)last;
    return 0;
}
#endif

static void look_up(void *user, int64_t first, int64_t last)
{
    const struct lookup *l = user;
    for (int64_t i = first + (has_look_ups() ? look_up_vectors(l, first, last) : 0); i < last; i++)
        l->y[i] = l->table[l->x[i]];
}

static odlc_status run(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                       struct buffer *out)
{
    (void)scope;
    struct lookup l = {step->prepared, in[0].data, out[0].data};
    threads_share((int64_t)shape_count(&in[0].shape), LEAST_ELEMENTS, look_up, &l);
    return ODLC_OK;
}

static struct buffer all_bytes(const struct tensor *t, uint8_t *elements)
{
    return (struct buffer){.dtype = t->type->dtype, .shape = SHAPE(BYTES), .data = elements, .quant = t->quant};
}

odlc_status table_prepare(struct cpu_making *m, span_fn *fn, const void *user)
{
    const struct graph *g = m->scope->graph;
    const struct node *n = making_node(m);
    uint8_t integers[BYTES], *table = arena_array(m->scope->arena, uint8_t, BYTES);
    float x[BYTES], y[BYTES];
    const struct buffer from = all_bytes(node_input(g, n, 0), integers), to = all_bytes(node_output(g, n, 0), table);
    for (int i = 0; i < BYTES; i++)
        integers[i] = (uint8_t)i;
    fixed_widen(&from, x);
    const struct span all = {.data = {y, x}, .step = {1, 1}, .count = BYTES};
    fn(&all, user);
    fixed_narrow(y, &to);
    m->step->prepared = table;
    m->step->loop = run;
    return ODLC_OK;
}
