/* SPDX-License-Identifier: Apache-2.0 */
/* Rounding by what it does to the layer's result: integers are chosen so that the squared error of W∗x, over rows x of
 * the calibration inputs, is least. With D the error of a channel's weights, z the inputs that layers with integers
 * give, and e = W∗(z - x) what these do to the result, that is the sum of (D∗z + e)². Coordinate descent lowers it: one
 * integer after the other goes where the sum is least while the others stay. */
#include "quantize/quant_round.h"

#include <math.h>

/* ---- sums ---- */

enum {
    MOST_ROWS = 128,   /* that are taken of a set of inputs, evenly spread: neighbours say much the same */
    PANEL = 16,        /* rows at a time */
    MOST_INPUTS = 2048 /* of a square: more are taken apart, as if they had nothing to do with each other */
};

static uint64_t squares_of(const struct linear_layer *l)
{
    return (l->depth + MOST_INPUTS - 1) / MOST_INPUTS;
}

uint64_t quant_products_size(const struct linear_layer *l)
{
    return sat_mul(sat_mul(l->groups, l->depth), min_u64(l->depth, MOST_INPUTS) + l->width);
}

void quant_products_new(struct quantizer *q, struct quant_gathering *g)
{
    const struct linear_layer *l = g->layer;
    const uint64_t squares = squares_of(l);
    g->squares = arena_array(q->arena, struct quant_products, l->groups * squares);
    for (uint64_t group = 0; group < l->groups; group++)
        for (uint64_t i = 0; i < squares; i++) {
            struct quant_products *p = &g->squares[g->n_squares++];
            p->group = group;
            p->first = i * l->depth / squares;
            p->count = (i + 1) * l->depth / squares - p->first;
            p->products = arena_calloc(q->arena, p->count, p->count * sizeof(double));
            p->drifts = arena_calloc(q->arena, p->count, l->width * sizeof(double));
        }
}

/* What the change of a row's inputs, `change`, does to the results of its group: per column. */
static void drift_of(const struct quant_gathering *g, uint64_t group, const double *change, double *drift)
{
    const struct linear_layer *l = g->layer;
    for (uint64_t column = 0; column < l->width; column++)
        drift[column] = 0;
    for (uint64_t k = 0; k < l->depth; k++)
        for (uint64_t column = 0; change[k] != 0 && column < l->width; column++)
            drift[column] +=
                change[k] * (double)g->floats[quant_layer_weight(l, quant_layer_channel(l, group, column), k)];
}

static void add_scaled(double *to, double factor, const double *from, uint64_t count)
{
    for (uint64_t i = 0; factor != 0 && i < count; i++)
        to[i] += factor * from[i];
}

/* Rows at work: inputs of a square, and their groups' drifts. */
struct panel {
    double *inputs, *drifts, *fixed, *change;
};

/* Adds `rows` rows that lie in the panel; of the products the part below the diagonal. */
static void add_panel(struct quant_products *p, const struct panel *panel, uint64_t rows, uint64_t width)
{
    for (uint64_t i = 0; i < p->count; i++)
        for (uint64_t r = 0; r < rows; r++) {
            const double *row = panel->inputs + r * p->count;
            add_scaled(p->products + i * p->count, row[i], row, i + 1);
            add_scaled(p->drifts + i * width, row[i], panel->drifts + r * width, width);
        }
}

static void fill_row(const struct quant_gathering *g, const struct quant_products *p, uint64_t row, const float *fixed,
                     const float *floats, const struct panel *panel, uint64_t r)
{
    const struct linear_layer *l = g->layer;
    quant_layer_row(l, fixed, row, p->group, 0, l->depth, panel->fixed);
    quant_layer_row(l, floats, row, p->group, 0, l->depth, panel->change);
    for (uint64_t k = 0; k < l->depth; k++)
        panel->change[k] = panel->fixed[k] - panel->change[k];
    for (uint64_t k = 0; k < p->count; k++)
        panel->inputs[r * p->count + k] = panel->fixed[p->first + k];
    drift_of(g, p->group, panel->change, panel->drifts + r * l->width);
}

void quant_products_add(struct quantizer *q, struct quant_gathering *g, const float *fixed, const float *floats)
{
    const struct linear_layer *l = g->layer;
    const uint64_t rows = min_u64(l->rows, MOST_ROWS);
    struct arena_mark mark = arena_mark(q->scratch);
    const struct panel panel = {arena_array(q->scratch, double, PANEL * l->depth),
                                arena_array(q->scratch, double, PANEL * l->width),
                                arena_array(q->scratch, double, l->depth), arena_array(q->scratch, double, l->depth)};
    for (size_t i = 0; i < g->n_squares; i++)
        for (uint64_t first = 0; first < rows; first += PANEL) {
            const uint64_t count = min_u64(rows - first, PANEL);
            for (uint64_t r = 0; r < count; r++)
                fill_row(g, &g->squares[i], (first + r) * l->rows / rows, fixed, floats, &panel, r);
            add_panel(&g->squares[i], &panel, count, l->width);
        }
    arena_rewind(q->scratch, mark);
}

/* Makes the square whole. To each diagonal element comes their mean: what a few inputs say of many weights holds for
 * others only in part, and weights whose inputs the calibration never sees shall stay near. */
static void complete(struct quant_products *p)
{
    const uint64_t n = p->count;
    double trace = 0;
    for (uint64_t i = 0; i < n; i++)
        trace += p->products[i * n + i];
    for (uint64_t i = 0; i < n; i++) {
        p->products[i * n + i] += trace / (double)n;
        for (uint64_t j = 0; j < i; j++)
            p->products[j * n + i] = p->products[i * n + j];
    }
}

/* ---- integers ---- */

/* A channel at work. */
struct descent {
    const double *products; /* H */
    uint64_t count;
    double scale, low, high;
    double *integers; /* as they are stored */
    double *error;    /* D */
    double *slope;    /* HD and the drifts: half of what the sum of squares changes by with D */
};

/* Puts integer k where the sum is least; false: it is there. */
static bool step(struct descent *d, uint64_t k)
{
    const double *row = d->products + k * d->count;
    if (!(row[k] > 0))
        return false;
    const double best = rint(d->integers[k] - d->slope[k] / (row[k] * d->scale));
    const double to = fmin(fmax(best, d->low), d->high), change = (to - d->integers[k]) * d->scale;
    const double gain = -change * (2 * d->slope[k] + change * row[k]);
    if (gain <= 1e-9 * row[k] * d->scale * d->scale) /* what is but rounding would be taken back again and again */
        return false;
    d->integers[k] = to;
    d->error[k] += change;
    add_scaled(d->slope, change, row, d->count);
    return true;
}

static void descend(struct descent *d)
{
    enum { MOST_SWEEPS = 50 };
    for (uint64_t k = 0; k < d->count; k++)
        add_scaled(d->slope, d->error[k], d->products + k * d->count, d->count);
    bool moves = true;
    for (int sweep = 0; moves && sweep < MOST_SWEEPS; sweep++) {
        moves = false;
        for (uint64_t k = 0; k < d->count; k++)
            moves |= step(d, k);
    }
}

static void round_channel(const struct quantizer *q, const struct quant_gathering *g, const struct quant_products *p,
                          uint64_t column, struct descent *d)
{
    const struct linear_layer *l = g->layer;
    const struct quant_item *item = &q->items[l->weights];
    const uint64_t channel = quant_layer_channel(l, p->group, column);
    const uint32_t size = dtype_size(item->stored);
    const struct encoding *e = &item->quant->encodings[item->quant->per_axis ? channel : 0];
    quant_integers_range(q, item, e, &d->low, &d->high);
    d->scale = e->scale;
    for (uint64_t k = 0; k < p->count; k++) {
        const uint64_t at = quant_layer_weight(l, channel, p->first + k);
        convert_elements(&d->integers[k], DT_FLOAT64, item->integers + at * size, item->stored, 1);
        d->error[k] = (d->integers[k] + e->offset) * e->scale - (double)g->floats[at];
        d->slope[k] = p->drifts[k * l->width + column];
    }
    descend(d);
    for (uint64_t k = 0; k < p->count; k++)
        convert_elements(item->integers + quant_layer_weight(l, channel, p->first + k) * size, item->stored,
                         &d->integers[k], DT_FLOAT64, 1);
}

void quant_round(struct quantizer *q, struct quant_gathering *g)
{
    struct arena_mark mark = arena_mark(q->scratch);
    const uint64_t most = min_u64(g->layer->depth, MOST_INPUTS);
    double *integers = arena_array(q->scratch, double, most), *error = arena_array(q->scratch, double, most);
    double *slope = arena_array(q->scratch, double, most);
    for (size_t i = 0; i < g->n_squares; i++) {
        struct quant_products *p = &g->squares[i];
        complete(p);
        struct descent d = {
            .products = p->products, .count = p->count, .integers = integers, .error = error, .slope = slope};
        for (uint64_t column = 0; column < g->layer->width; column++)
            round_channel(q, g, p, column, &d);
    }
    arena_rewind(q->scratch, mark);
}
