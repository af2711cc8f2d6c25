/* SPDX-License-Identifier: Apache-2.0 */
/* Normalisations: kernels against their formulas, written here over positions; axis rules by execution; type errors. */
#include <math.h>

#include "node_fixture.h"

enum { ROUNDS = 40 };

static tensor_id floats(struct fixture *f, struct shape shape)
{
    uint64_t count = shape_count(&shape);
    float *values = arena_array(f->arena, float, count);
    for (uint64_t i = 0; i < count; i++)
        values[i] = (float)draw(f, -500, 500) / 100;
    return input_with(f, DT_FLOAT32, shape, values);
}

static tensor_id end_node(struct fixture *f)
{
    tensor_id out;
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_OK);
    return out;
}

static const float *values_of(struct fixture *f, tensor_id out)
{
    return run_node(f, producer_of(f, out), ODLC_OK)->data;
}

/* Two positions belong to the same group. */
typedef bool same_group(const void *how, const int64_t a[MAX_RANK], const int64_t b[MAX_RANK]);

struct moments {
    double mean, variance, mean_square, sum_square;
};

/* Over all positions in the group of `at`. */
static struct moments moments_at(const float *x, const struct shape *shape, uint64_t at, same_group *same,
                                 const void *how)
{
    int64_t here[MAX_RANK], there[MAX_RANK];
    double sum = 0, square = 0, count = 0;
    unravel(at, shape, here);
    for (uint64_t i = 0; i < shape_count(shape); i++) {
        unravel(i, shape, there);
        if (!same(how, here, there))
            continue;
        sum += (double)x[i];
        square += (double)x[i] * (double)x[i];
        count++;
    }
    double mean = sum / count;
    return (struct moments){mean, square / count - mean * mean, square / count, square};
}

static void check_near(float got, double expected)
{
    ck_assert_double_eq_tol((double)got, expected, 1e-4 * (1 + fabs(expected)));
}

/* ---- over listed axes ---- */

struct listed {
    uint32_t rank, axes;
};

static bool same_outside(const void *how, const int64_t *a, const int64_t *b)
{
    const struct listed *l = how;
    for (uint32_t i = 0; i < l->rank; i++)
        if (!(l->axes >> i & 1) && a[i] != b[i])
            return false;
    return true;
}

/* Some ascending axes of the shape, and the shape that weights along them have. */
static uint32_t draw_axes(struct fixture *f, const struct shape *shape, int64_t axes[MAX_RANK], uint32_t *mask,
                          struct shape *weights)
{
    uint32_t count = 0;
    *weights = (struct shape){.rank = 0};
    *mask = (uint32_t)draw(f, 1, (1 << shape->rank) - 1);
    for (uint32_t i = 0; i < shape->rank; i++)
        if (*mask >> i & 1) {
            axes[count++] = i;
            weights->dims[weights->rank++] = shape->dims[i];
        }
    return count;
}

/* Position of the weight that applies at a position of the input. */
static uint64_t weight_at(const int64_t *index, const int64_t *axes, const struct shape *weights)
{
    int64_t own[MAX_RANK];
    for (uint32_t i = 0; i < weights->rank; i++)
        own[i] = index[axes[i]];
    return ravel(own, weights);
}

static void check_over_axes(struct fixture *f, bool center, bool weighted)
{
    const double epsilon = 0.01;
    struct shape shape = draw_shape(f, (uint32_t)draw(f, 1, 4), 4), weights;
    int64_t axes[MAX_RANK], index[MAX_RANK];
    uint32_t mask, count = draw_axes(f, &shape, axes, &mask, &weights);
    tensor_id in = floats(f, shape), gamma = floats(f, weights), beta = floats(f, weights);
    build_op(&f->build, center ? OP_LayerNorm : OP_RmsNorm, "n");
    build_in(&f->build, in);
    if (weighted) {
        build_in(&f->build, gamma);
        build_in(&f->build, beta);
    }
    build_ints(&f->build, PARAM_axes, axes, count);
    build_float(&f->build, PARAM_epsilon, epsilon);
    const float *result = values_of(f, end_node(f)), *x = f->data[in], *g = f->data[gamma], *b = f->data[beta];
    struct listed how = {shape.rank, mask};
    for (uint64_t i = 0; i < shape_count(&shape); i++) {
        struct moments m = moments_at(x, &shape, i, same_outside, &how);
        double normal = center ? ((double)x[i] - m.mean) / sqrt(m.variance + epsilon)
                               : (double)x[i] / sqrt(m.mean_square + epsilon);
        unravel(i, &shape, index);
        uint64_t w = weight_at(index, axes, &weights);
        check_near(result[i], weighted ? normal * (double)g[w] + (double)b[w] : normal);
    }
}

START_TEST(layer_and_rms_norm)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        check_over_axes(f, _i & 1, _i & 2);
        fixture_end(f);
    }
}
END_TEST

/* The rule lets a permutation through when it keeps the order of the normalised axes. */
START_TEST(layer_norm_follows_permuted_axes)
{
    struct fixture *f = fixture_start(1);
    const int64_t axes[] = {1, 3};
    struct perm keeps = PERM(1, 0, 3, 2), swaps = PERM(3, 0, 1, 2), out;
    build_op(&f->build, OP_LayerNorm, "n");
    build_in(&f->build, floats(f, SHAPE(2, 3, 2, 4)));
    build_in(&f->build, floats(f, SHAPE(3, 4)));
    build_ints(&f->build, PARAM_axes, axes, 2);
    struct node *n = producer_of(f, end_node(f));
    ck_assert(!n->op->permute(f->graph, n, &swaps, &out));
    check_axis_rule(f, n, &keeps);
    fixture_end(f);
}
END_TEST

START_TEST(l2_norm)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape shape = draw_shape(f, (uint32_t)draw(f, 1, 4), 4), weights;
        int64_t axes[MAX_RANK];
        uint32_t mask, count = draw_axes(f, &shape, axes, &mask, &weights);
        bool one = draw(f, 0, 1);
        tensor_id in = floats(f, shape);
        build_op(&f->build, OP_L2Norm, "n");
        build_in(&f->build, in);
        if (one)
            build_int(&f->build, PARAM_axis, axes[0]);
        else
            build_ints(&f->build, PARAM_axes, axes, count);
        build_float(&f->build, PARAM_epsilon, 0.25);
        struct node *n = producer_of(f, end_node(f));
        const float *result = run_node(f, n, ODLC_OK)->data, *x = f->data[in];
        struct listed how = {shape.rank, one ? 1u << axes[0] : mask};
        for (uint64_t i = 0; i < shape_count(&shape); i++) {
            struct moments m = moments_at(x, &shape, i, same_outside, &how);
            check_near(result[i], (double)x[i] / sqrt(m.sum_square < 0.25 ? 0.25 : m.sum_square));
        }
        struct perm perm = draw_perm(f, shape.rank);
        check_axis_rule(f, n, &perm);
        fixture_end(f);
    }
}
END_TEST

/* ---- over channels: the last axis ---- */

struct channels {
    uint32_t rank;
    int64_t per_group; /* channels of one group; 0: all */
};

static bool same_batch_and_group(const void *how, const int64_t *a, const int64_t *b)
{
    const struct channels *c = how;
    uint32_t last = c->rank - 1;
    return a[0] == b[0] && (c->per_group == 0 || a[last] / c->per_group == b[last] / c->per_group);
}

static bool same_place(const void *how, const int64_t *a, const int64_t *b)
{
    const struct channels *c = how;
    return memcmp(a, b, (c->rank - 1) * sizeof *a) == 0;
}

START_TEST(batchnorm)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape shape = draw_shape(f, (uint32_t)draw(f, 1, 5), 4);
        int64_t channels = shape.dims[shape.rank - 1];
        tensor_id in = floats(f, shape), weight = floats(f, SHAPE(channels)), bias = floats(f, SHAPE(channels));
        bool has_bias = draw(f, 0, 1);
        build_op(&f->build, OP_Batchnorm, "n");
        build_in(&f->build, in);
        build_in(&f->build, weight);
        if (has_bias)
            build_in(&f->build, bias);
        const float *result = values_of(f, end_node(f)), *x = f->data[in], *w = f->data[weight], *b = f->data[bias];
        for (uint64_t i = 0; i < shape_count(&shape); i++) {
            uint64_t c = i % (uint64_t)channels;
            check_near(result[i], (double)x[i] * (double)w[c] + (has_bias ? (double)b[c] : 0));
        }
        fixture_end(f);
    }
}
END_TEST

/* The regions: 0 each channel over the places, 1 each place over the channels, 2 the whole batch item. */
START_TEST(instance_norm)
{
    const double epsilon = 0.1;
    int64_t region = _i % 3;
    bool rms = _i / 3 % 2, scaled = _i / 6 == 0;
    for (uint32_t seed = 0; seed < ROUNDS / 4; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape shape = draw_shape(f, (uint32_t)draw(f, 3, 4), 4);
        int64_t channels = shape.dims[shape.rank - 1];
        tensor_id in = floats(f, shape), gamma = floats(f, SHAPE(channels)), beta = floats(f, SHAPE(channels));
        build_op(&f->build, OP_InstanceNorm, "n");
        build_in(&f->build, in);
        build_in(&f->build, gamma);
        build_in(&f->build, beta);
        build_float(&f->build, PARAM_epsilon, epsilon);
        build_int(&f->build, PARAM_region, region);
        build_int(&f->build, PARAM_mode, rms);
        build_int(&f->build, PARAM_normalize_variance, scaled);
        const float *result = values_of(f, end_node(f)), *x = f->data[in], *g = f->data[gamma], *b = f->data[beta];
        struct channels how = {shape.rank, region == 0 ? 1 : 0};
        for (uint64_t i = 0; i < shape_count(&shape); i++) {
            struct moments m = moments_at(x, &shape, i, region == 1 ? same_place : same_batch_and_group, &how);
            double normal = rms ? (double)x[i] : (double)x[i] - m.mean;
            if (scaled)
                normal /= sqrt((rms ? m.mean_square : m.variance) + epsilon);
            uint64_t c = i % (uint64_t)channels;
            check_near(result[i], normal * (double)g[c] + (double)b[c]);
        }
        fixture_end(f);
    }
}
END_TEST

START_TEST(group_norm)
{
    const double epsilon = 0.1;
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape shape = draw_shape(f, (uint32_t)draw(f, 2, 4), 4);
        int64_t groups = draw(f, 1, 3), per_group = draw(f, 2, 3), channels = groups * per_group;
        shape.dims[shape.rank - 1] = channels;
        tensor_id in = floats(f, shape), gamma = floats(f, SHAPE(channels)), beta = floats(f, SHAPE(channels));
        build_op(&f->build, OP_GroupNorm, "n");
        build_in(&f->build, in);
        build_in(&f->build, gamma);
        build_in(&f->build, beta);
        build_float(&f->build, PARAM_epsilon, epsilon);
        build_int(&f->build, PARAM_group, groups);
        const float *result = values_of(f, end_node(f)), *x = f->data[in], *g = f->data[gamma], *b = f->data[beta];
        struct channels how = {shape.rank, per_group};
        for (uint64_t i = 0; i < shape_count(&shape); i++) {
            struct moments m = moments_at(x, &shape, i, same_batch_and_group, &how);
            uint64_t c = i % (uint64_t)channels;
            check_near(result[i], ((double)x[i] - m.mean) / sqrt(m.variance + epsilon) * (double)g[c] + (double)b[c]);
        }
        fixture_end(f);
    }
}
END_TEST

START_TEST(lrn_across_channels)
{
    for (uint32_t seed = 0; seed < ROUNDS; seed++) {
        struct fixture *f = fixture_start(seed);
        struct shape shape = draw_shape(f, (uint32_t)draw(f, 1, 4), 6);
        int64_t channels = shape.dims[shape.rank - 1], radius = draw(f, 0, 7);
        tensor_id in = floats(f, shape);
        build_op(&f->build, OP_Lrn, "n");
        build_in(&f->build, in);
        build_float(&f->build, PARAM_alpha, 0.5);
        build_float(&f->build, PARAM_beta, 0.75);
        build_float(&f->build, PARAM_bias, 2);
        build_int(&f->build, PARAM_radius, radius);
        const float *result = values_of(f, end_node(f)), *x = f->data[in];
        for (int64_t i = 0; i < (int64_t)shape_count(&shape); i++) {
            double sum = 0;
            for (int64_t j = i - i % channels; j < i - i % channels + channels; j++)
                if (llabs(j - i) <= radius)
                    sum += (double)x[j] * (double)x[j];
            check_near(result[i], (double)x[i] / pow(2 + 0.5 * sum, 0.75));
        }
        fixture_end(f);
    }
}
END_TEST

/* ---- errors ---- */

static void refused(struct fixture *f, const char *message)
{
    tensor_id out;
    ck_assert_int_eq(build_end(&f->build, NULL, &out), ODLC_ERR_INVALID);
    ck_assert_str_eq(f->diags.list.data[f->diags.list.count - 1].message, message);
}

START_TEST(weights_that_do_not_fit)
{
    struct fixture *f = fixture_start(1);
    const int64_t axes[] = {2, 1};
    const struct type ints = {.dtype = DT_INT32, .shape = SHAPE(4)};
    tensor_id in = floats(f, SHAPE(2, 3, 4));
    build_op(&f->build, OP_Batchnorm, "n");
    build_in(&f->build, in);
    build_in(&f->build, floats(f, SHAPE(3)));
    refused(f, "Batchnorm: input 1 has the shape [3] instead of [4]");
    build_op(&f->build, OP_LayerNorm, "n");
    build_in(&f->build, in);
    build_in(&f->build, floats(f, SHAPE(3)));
    build_ints(&f->build, PARAM_axes, axes, 1);
    refused(f, "LayerNorm: input 1 has the shape [3] instead of [4]");
    build_op(&f->build, OP_LayerNorm, "n");
    build_in(&f->build, in);
    build_ints(&f->build, PARAM_axes, axes, 2);
    refused(f, "LayerNorm: axes are not ascending axes of [2,3,4]");
    build_op(&f->build, OP_GroupNorm, "n");
    build_in(&f->build, in);
    build_float(&f->build, PARAM_epsilon, 0);
    build_int(&f->build, PARAM_group, 3);
    refused(f, "GroupNorm: 4 channels do not divide into 3 groups");
    build_op(&f->build, OP_InstanceNorm, "n");
    build_in(&f->build, floats(f, SHAPE(2, 4)));
    build_in(&f->build, floats(f, SHAPE(4)));
    refused(f, "InstanceNorm: an input of rank 2 is below rank 3");
    build_op(&f->build, OP_Lrn, "n");
    build_in(&f->build, in);
    build_int(&f->build, PARAM_radius, -1);
    refused(f, "Lrn: the radius is negative");
    build_op(&f->build, OP_Batchnorm, "n");
    build_in(&f->build, in);
    build_in(&f->build, graph_add_tensor(f->graph, "in", TENSOR_INPUT, &ints));
    build_in(&f->build, floats(f, SHAPE(4)));
    refused(f, "Batchnorm: an input of type int32 is not floating point");
    fixture_end(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("norm");
    TCase *tcase = tcase_create("norm");
    tcase_add_loop_test(tcase, layer_and_rms_norm, 0, 4);
    tcase_add_test(tcase, layer_norm_follows_permuted_axes);
    tcase_add_test(tcase, l2_norm);
    tcase_add_test(tcase, batchnorm);
    tcase_add_loop_test(tcase, instance_norm, 0, 12);
    tcase_add_test(tcase, group_norm);
    tcase_add_test(tcase, lrn_across_channels);
    tcase_add_test(tcase, weights_that_do_not_fit);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
