/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX TfIdfVectorizer of integers: how often each n-gram of a pool is in a row, by comparing shifted slices of the row
 * with the pool. */
#include <string.h>

#include "converters/onnx/lower/onnx_shape.h"
#include "converters/onnx/lower/onnx_rows.h"
#include "converters/lowering/emit.h"

enum { LARGEST_COMPARISON = 64 * 1024 * 1024 }; /* elements of an intermediate result */
enum { MOST_COMPARISONS = 2048 };               /* nodes */

struct vectorizer {
    tensor_id x; /* [rows, words] */
    int64_t rows, words;
    const int64_t *pool, *starts, *indexes;
    uint32_t n_pool, n_starts, n_indexes;
    int64_t shortest, longest, skips;
    int64_t outputs;
    const float *weights; /* of the outputs, NULL for 1 */
    bool counts_once;     /* a count above 1 is 1 */
};

/* The n-grams of one length. */
struct grams {
    const int64_t *words;         /* count × length */
    int64_t length, count, first; /* first: its number among all */
};

static struct grams grams_of(const struct vectorizer *v, uint32_t length)
{
    struct grams g = {.length = length};
    for (uint32_t k = 0; k < length; k++) {
        int64_t end = k + 1 < v->n_starts ? v->starts[k + 1] : v->n_pool;
        g.first += g.count;
        g.words = v->pool + v->starts[k];
        g.count = (end - v->starts[k]) / (k + 1);
    }
    return g;
}

static odlc_status read_pool(const struct lower *l, struct vectorizer *v)
{
    TRY(lower_attr_ints(l, "pool_int64s", &v->pool, &v->n_pool));
    TRY(lower_attr_ints(l, "ngram_counts", &v->starts, &v->n_starts));
    TRY(lower_attr_ints(l, "ngram_indexes", &v->indexes, &v->n_indexes));
    if (lower_has_attr(l, "pool_strings"))
        return lower_unsupported(l, "pool_strings", NULL, "strings cannot be compared in the container");
    if (v->n_pool == 0 || v->n_starts == 0 || v->n_starts < v->longest)
        return lower_invalid(l, "ngram_counts", NULL, "there are no n-grams of the lengths up to %lld",
                             (long long)v->longest);
    for (uint32_t k = 0; k < v->n_starts; k++) {
        int64_t end = k + 1 < v->n_starts ? v->starts[k + 1] : v->n_pool;
        if (v->starts[k] < 0 || v->starts[k] > end || end > v->n_pool || (end - v->starts[k]) % (k + 1))
            return lower_invalid(l, "ngram_counts", NULL, "the %u-grams do not start and end in the pool", k + 1);
    }
    struct grams last = grams_of(v, v->n_starts);
    if (last.first + last.count != v->n_indexes)
        return lower_invalid(l, "ngram_indexes", NULL, "%u indexes for %lld n-grams", v->n_indexes,
                             (long long)(last.first + last.count));
    for (uint32_t i = 0; i < v->n_indexes; i++) {
        if (v->indexes[i] < 0 || v->indexes[i] > INT32_MAX)
            return lower_invalid(l, "ngram_indexes", NULL, "the index %lld", (long long)v->indexes[i]);
        v->outputs = max_i64(v->outputs, v->indexes[i] + 1);
    }
    return ODLC_OK;
}

/* The weights are documented as those of n-grams and implemented as those of outputs: only where that is the same. */
static odlc_status read_weights(const struct lower *l, struct vectorizer *v)
{
    const char *mode;
    uint32_t count;
    TRY(lower_attr_string(l, "mode", "", &mode));
    if (strcmp(mode, "TF") != 0 && strcmp(mode, "IDF") != 0 && strcmp(mode, "TFIDF") != 0)
        return lower_invalid(l, "mode", "it is TF, IDF or TFIDF", "mode \"%s\" is not known", mode);
    v->counts_once = strcmp(mode, "IDF") == 0;
    if (strcmp(mode, "TF") == 0)
        return ODLC_OK;
    TRY(lower_attr_floats(l, "weights", &v->weights, &count));
    if (!v->weights)
        return ODLC_OK;
    if (count != v->n_indexes || count < v->outputs)
        return lower_invalid(l, "weights", NULL, "%u weights for %u n-grams", count, v->n_indexes);
    for (uint32_t i = 0; i < count; i++)
        if (v->weights[i] != v->weights[v->indexes[i]])
            return lower_unsupported(l, "weights", "order the n-grams as their outputs",
                                     "it is not clear whether the weights are in the order of n-grams or of outputs");
    return ODLC_OK;
}

static odlc_status read_vectorizer(struct lower *l, struct vectorizer *v)
{
    *v = (struct vectorizer){.rows = 1};
    TRY(lower_need(l, 0, "X", &v->x));
    TRY(lower_attr_int(l, "min_gram_length", 1, &v->shortest));
    TRY(lower_attr_int(l, "max_gram_length", 1, &v->longest));
    TRY(lower_attr_int(l, "max_skip_count", 0, &v->skips));
    const struct type type = *build_type(l->b, v->x);
    if (!dtype_is_int(type.dtype) || type.shape.rank < 1 || type.shape.rank > 2)
        return lower_unsupported(l, NULL, NULL, "an input %s of %s is not rows of integers",
                                 shape_text(l->diags->arena, &type.shape), dtype_info(type.dtype)->name);
    if (v->shortest < 1 || v->longest < v->shortest || v->skips < 0)
        return lower_invalid(l, "min_gram_length", NULL, "lengths from %lld to %lld, skips to %lld",
                             (long long)v->shortest, (long long)v->longest, (long long)v->skips);
    v->words = type.shape.dims[type.shape.rank - 1];
    v->rows = type.shape.rank == 2 ? type.shape.dims[0] : 1;
    TRY(read_pool(l, v));
    for (uint32_t i = 0; i < v->n_pool; i++)
        if (v->pool[i] != (int32_t)v->pool[i])
            return lower_unsupported(l, "pool_int64s", "the container stores 32-bit integers only",
                                     "the word %lld has more than 32 bits", (long long)v->pool[i]);
    return read_weights(l, v);
}

/* Word `at` of all n-grams: [1, count, 1]. */
static tensor_id pool_words(struct emit *s, const struct vectorizer *v, const struct grams *g, int64_t at)
{
    double *words = arena_array(s->l->arena, double, (size_t)g->count);
    for (int64_t i = 0; i < g->count; i++)
        words[i] = (double)g->words[i * g->length + at];
    return emit_constant(s, build_type(s->l->b, v->x)->dtype, &SHAPE(1, g->count, 1), words);
}

/* How often each n-gram is in each row with its words `distance` places apart: [rows, count]. */
static tensor_id count_at_distance(struct emit *s, const struct vectorizer *v, const struct grams *g, int64_t distance)
{
    const int64_t places = v->words - distance * (g->length - 1), axis = 2;
    tensor_id found = NO_TENSOR;
    if ((uint64_t)places * (uint64_t)v->rows > LARGEST_COMPARISON / (uint64_t)g->count && s->status == ODLC_OK)
        s->status = lower_unsupported(s->l, NULL, NULL,
                                      "%lld n-grams are to be compared at %lld places of %lld rows: more than "
                                      "%d comparisons",
                                      (long long)g->count, (long long)places, (long long)v->rows, LARGEST_COMPARISON);
    for (int64_t at = 0; at < g->length; at++) {
        tensor_id part = emit_slice(s, v->x, 2, at * distance, at * distance + places);
        tensor_id same = emit_binary(s, OP_ElementWiseEqual, part, pool_words(s, v, g, at));
        found = at ? emit_binary(s, OP_ElementWiseAnd, found, same) : same;
    }
    return emit_reduce(s, OP_ReduceSum, emit_cast(s, found, DT_FLOAT32), &axis, 1, false);
}

/* Of the n-grams of one length at all distances; NO_TENSOR when rows are too short for them. */
static tensor_id count_grams(struct emit *s, const struct vectorizer *v, const struct grams *g)
{
    tensor_id sum = NO_TENSOR;
    for (int64_t distance = 1; distance <= (g->length == 1 ? 1 : v->skips + 1); distance++) {
        if (s->status != ODLC_OK || g->count == 0 || distance * (g->length - 1) >= v->words)
            break;
        tensor_id counts = count_at_distance(s, v, g, distance);
        sum = sum == NO_TENSOR ? counts : emit_binary(s, OP_ElementWiseAdd, sum, counts);
    }
    return sum;
}

/* 1 at (i, output of n-gram i): [n-grams, outputs]. */
static odlc_status outputs_of_grams(struct emit *s, const struct vectorizer *v, const struct grams *g, tensor_id *out)
{
    double *hits;
    struct shape shape = SHAPE(g->count, v->outputs);
    TRY(lower_table(s->l, shape_count(&shape), sizeof *hits, &hits));
    for (int64_t i = 0; i < g->count; i++)
        hits[i * v->outputs + v->indexes[g->first + i]] = 1;
    *out = emit_constant(s, DT_FLOAT32, &shape, hits);
    return s->status;
}

static odlc_status weigh(struct emit *s, const struct vectorizer *v, tensor_id counts, const struct shape *shape)
{
    if (v->counts_once)
        counts = emit_binary(s, OP_ElementWiseMinimum, counts, emit_scalar(s, counts, 1));
    if (v->weights) {
        double *weights = arena_array(s->l->arena, double, (size_t)v->outputs);
        for (int64_t i = 0; i < v->outputs; i++)
            weights[i] = (double)v->weights[i];
        tensor_id factors = emit_constant(s, DT_FLOAT32, &SHAPE(v->outputs), weights);
        counts = emit_binary(s, OP_ElementWiseMultiply, counts, factors);
    }
    return emit_give(s, 0, emit_reshape(s, counts, shape));
}

odlc_status lower_tf_idf_vectorizer(struct lower *l)
{
    struct emit s = {.l = l};
    struct vectorizer v;
    tensor_id counts = NO_TENSOR;
    TRY(read_vectorizer(l, &v));
    struct shape result = SHAPE(v.rows, v.outputs), vector = SHAPE(v.outputs);
    bool is_vector = build_rank(l->b, v.x) == 1;
    int64_t comparisons, distances;
    if (ckd_mul(&comparisons, v.longest, v.longest) || ckd_add(&distances, v.skips, 1) ||
        ckd_mul(&comparisons, comparisons, distances) || comparisons > MOST_COMPARISONS)
        return lower_unsupported(l, "max_skip_count", NULL,
                                 "n-grams of up to %lld words and %lld skips take more than %d comparisons",
                                 (long long)v.longest, (long long)v.skips, MOST_COMPARISONS);
    v.x = emit_reshape(&s, v.x, &SHAPE(v.rows, 1, v.words));
    for (int64_t length = v.shortest; length <= v.longest; length++) {
        struct grams g = grams_of(&v, (uint32_t)length);
        tensor_id placed, of_length = count_grams(&s, &v, &g);
        TRY(s.status);
        if (of_length == NO_TENSOR)
            continue;
        TRY(outputs_of_grams(&s, &v, &g, &placed));
        placed = emit_matmul(&s, of_length, placed, false, false);
        counts = counts == NO_TENSOR ? placed : emit_binary(&s, OP_ElementWiseAdd, counts, placed);
    }
    if (counts == NO_TENSOR)
        counts = lower_splat(l, step_name(l, "zero"), DT_FLOAT32, &result, 0);
    return weigh(&s, &v, counts, is_vector ? &vector : &result);
}
