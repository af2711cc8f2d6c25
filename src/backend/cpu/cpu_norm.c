/* SPDX-License-Identifier: Apache-2.0 */
/* Normalizations: the input is [batch, places, channels], and statistics are those of all places and of a group of
 * neighbouring channels. In double, as in the reference. */
#include <math.h>

#include "backend/cpu/cpu_loop.h"
#include "op/op.h"
#include "op/params.h"

enum { LANES = 64 }; /* channels that are taken at once */

struct norm {
    int64_t batch, places, channels, group; /* group: channels */
    bool center, scale;
    bool by_place; /* gamma and beta are those of places, not of channels */
    double epsilon;
    const float *ones, *zeros; /* where there is no gamma, no beta */
};

struct norm_run {
    const struct norm *how;
    const float *x, *gamma, *beta;
    float *y;
};

/* Channels that are normalized together: whole groups of at most LANES channels, or one of more. */
struct unit {
    const float *x, *gamma, *beta;
    float *y;
    int64_t width;
    double mean[LANES], factor[LANES]; /* of a wide group all the same */
};

static CLONED void add_elements(const float *restrict x, double *restrict sum, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        sum[i] += (double)x[i];
}

static CLONED void add_deviations(const float *restrict x, const double *restrict mean, double *restrict sum,
                                  int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const double d = (double)x[i] - mean[i];
        sum[i] += d * d;
    }
}

static CLONED void give_normal(const struct unit *u, int64_t at, int64_t channel, int64_t count)
{
    const float *restrict x = u->x + at, *restrict gamma = u->gamma + channel, *restrict beta = u->beta + channel;
    const double *restrict mean = u->mean, *restrict factor = u->factor;
    float *restrict y = u->y + at;
    for (int64_t i = 0; i < count; i++)
        y[i] = (float)(((double)x[i] - mean[i]) * factor[i] * (double)gamma[i] + (double)beta[i]);
}

/* With weights of the place. */
static CLONED void give_normal_of_place(const struct unit *u, int64_t at, int64_t place, int64_t count)
{
    const float *restrict x = u->x + at;
    const double *restrict mean = u->mean, *restrict factor = u->factor;
    const double gamma = (double)u->gamma[place], beta = (double)u->beta[place];
    float *restrict y = u->y + at;
    for (int64_t i = 0; i < count; i++)
        y[i] = (float)(((double)x[i] - mean[i]) * factor[i] * gamma + beta);
}

/* Runs through all pieces of a unit: `at` is where one begins, `channel` its first channel. */
#define FOR_PIECES(n, u, at, channel)                        \
    for (int64_t place_ = 0; place_ < (n)->places; place_++) \
        for (int64_t channel = 0, at = place_ * (n)->channels; channel < (u)->width; channel += LANES, at += LANES)

static int64_t piece_length(const struct unit *u, int64_t channel)
{
    return min_i64(LANES, u->width - channel);
}

/* Sums of channels become sums of their groups. */
static void join_groups(const struct norm *n, const struct unit *u, double *sums)
{
    const int64_t group = u->width > LANES ? LANES : n->group, lanes = min_i64(u->width, LANES);
    for (int64_t first = 0; first < lanes; first += group) {
        double sum = 0;
        for (int64_t i = first; i < first + group; i++)
            sum += sums[i];
        for (int64_t i = first; i < first + group; i++)
            sums[i] = sum;
    }
}

static void normalize_unit(const struct norm *n, struct unit *u)
{
    const double count = (double)(n->group * n->places);
    for (int i = 0; i < LANES; i++)
        u->mean[i] = u->factor[i] = 0;
    if (n->center) {
        FOR_PIECES(n, u, at, channel)
        add_elements(u->x + at, u->mean, piece_length(u, channel));
        join_groups(n, u, u->mean);
        for (int i = 0; i < LANES; i++)
            u->mean[i] /= count;
    }
    FOR_PIECES(n, u, at, channel)
    add_deviations(u->x + at, u->mean, u->factor, piece_length(u, channel));
    join_groups(n, u, u->factor);
    for (int i = 0; i < LANES; i++)
        u->factor[i] = n->scale ? 1 / sqrt(u->factor[i] / count + n->epsilon) : 1;
    FOR_PIECES(n, u, at, channel)
    if (n->by_place)
        give_normal_of_place(u, at, at / n->channels, piece_length(u, channel));
    else
        give_normal(u, at, channel, piece_length(u, channel));
}

static int64_t unit_width(const struct norm *n)
{
    return n->group > LANES ? n->group : LANES / n->group * n->group;
}

static int64_t units_of(const struct norm *n)
{
    return ceil_div(n->channels, unit_width(n));
}

/* Units [first, last), counted through the batch. */
static void normalize_part(void *user, int64_t first, int64_t last)
{
    const struct norm_run *r = user;
    const struct norm *n = r->how;
    for (int64_t i = first; i < last; i++) {
        const int64_t channel = i % units_of(n) * unit_width(n);
        const int64_t at = i / units_of(n) * n->places * n->channels + channel;
        const int64_t weight = n->by_place ? 0 : channel;
        struct unit u = {.x = r->x + at, .gamma = r->gamma + weight, .beta = r->beta + weight, .y = r->y + at};
        u.width = min_i64(unit_width(n), n->channels - channel);
        normalize_unit(n, &u);
    }
}

enum { LEAST_ELEMENTS = 1 << 13 }; /* fewer are not worth another thread */

static const float *weights_or(const struct node *n, const struct loop_operands *o, uint32_t i, const float *absent)
{
    return i < n->n_inputs && o->in[i].data ? o->in[i].data : absent;
}

static odlc_status run(const struct cpu_step *step, const struct backend_scope *scope, const struct buffer *in,
                       struct buffer *out)
{
    const struct loop_operands o = loop_operands(step, scope, in, out);
    const struct norm *n = step->prepared;
    struct norm_run r = {n, o.in[0].data, weights_or(step->node, &o, 1, n->ones),
                         weights_or(step->node, &o, 2, n->zeros), o.out[0].data};
    threads_share(n->batch * units_of(n), LEAST_ELEMENTS / (n->places * min_i64(unit_width(n), n->channels)) + 1,
                  normalize_part, &r);
    return ODLC_OK;
}

/* ---- reading ---- */

/* Along neighbouring axes: rows of channels, or, where other axes are behind them, places whose channels are those. */
static bool read_rows(const struct node *n, const struct shape *x, struct norm *out)
{
    uint32_t first, end;
    if (!axes_stretch(n, x, &first, &end))
        return false;
    const int64_t along = (int64_t)shape_count_range(x, first, end),
                  inner = (int64_t)shape_count_range(x, end, x->rank);
    *out = (struct norm){.batch = (int64_t)shape_count_range(x, 0, first),
                         .places = inner == 1 ? 1 : along,
                         .channels = inner == 1 ? along : inner,
                         .group = inner == 1 ? along : 1,
                         .by_place = inner != 1,
                         .center = n->op->id == OP_LayerNorm,
                         .scale = true};
    return true;
}

static bool read_instance(const struct node *n, struct norm *out)
{
    const int64_t region = node_int(n, PARAM_region, 0);
    out->center = node_int(n, PARAM_mode, 0) == 0;
    out->scale = node_int(n, PARAM_normalize_variance, 1) != 0;
    out->group = region == 0 ? 1 : out->channels;
    if (region == 1) {
        out->batch *= out->places;
        out->places = 1;
    }
    return region >= 0 && region <= 2;
}

static bool read_groups(const struct node *n, struct norm *out)
{
    const int64_t groups = node_int(n, PARAM_group, 0);
    out->group = groups > 0 ? out->channels / groups : 0;
    return out->group > 0 && out->group * groups == out->channels;
}

static bool read_norm(const struct node *n, const struct shape *x, struct norm *out)
{
    bool known;
    if (n->op->id == OP_LayerNorm || n->op->id == OP_RmsNorm) {
        known = read_rows(n, x, out);
    } else {
        *out = (struct norm){.batch = x->dims[0],
                             .places = (int64_t)shape_count_range(x, 1, x->rank - 1),
                             .channels = x->dims[x->rank - 1],
                             .center = true,
                             .scale = true};
        known = n->op->id == OP_InstanceNorm ? read_instance(n, out) : read_groups(n, out);
    }
    out->epsilon = node_float(n, PARAM_epsilon, 0);
    return known;
}

static const char *refuse(const struct graph *g, const struct node *n)
{
    struct norm norm;
    const char *types = cpu_refuse_types(g, n);
    if (types)
        return types;
    return read_norm(n, &node_input(g, n, 0)->type->shape, &norm) ? NULL : "its axes are not neighbours";
}

static odlc_status prepare(struct cpu_making *m)
{
    const struct node *n = making_node(m);
    struct norm *norm = arena_new(m->scope->arena, struct norm);
    if (!read_norm(n, &node_input(m->scope->graph, n, 0)->type->shape, norm))
        return ODLC_ERR_INTERNAL;
    const int64_t weights = norm->by_place ? norm->places : norm->channels;
    float *ones = arena_array(m->scope->arena, float, (size_t)weights);
    for (int64_t i = 0; i < weights; i++)
        ones[i] = 1;
    norm->ones = ones;
    norm->zeros = arena_array(m->scope->arena, float, (size_t)weights);
    m->step->prepared = norm;
    return loop_prepare(m, run);
}

const struct cpu_op cpu_norm = {.refuse = refuse, .prepare = prepare};
