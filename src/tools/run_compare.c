/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "tools/run_pairs.h"
#include "text/text_table.h"

/* Where the differences of a tensor are largest. */
struct distance {
    const struct odlc_io *tensor;
    uint64_t element;
    float ours, theirs;
    double relative; /* to the largest value of the tensor; INFINITY: nothing that a tolerance could allow */
    bool is_result;  /* of the worker's own execution, in which nodes may be computed together */
};

/* What the judge computed. */
struct kept {
    const struct odlc_io *tensor;
    const float *values;
};

struct run_compare {
    struct run_worker *worker;
    struct run_pairs pairs; /* of containers */
    odlc_run *ours, *theirs;
    double tolerance;
    struct arena *kept; /* what the judge computed in this inference: */
    struct map tensors; /* name → index */
    VEC(struct kept) values;
    size_t compared, differing;   /* tensors of this inference */
    struct distance first, worst; /* .tensor NULL: there is none */
    size_t bad;                   /* inferences that differed */
};

static odlc_status keep(void *user, const struct odlc_io *tensor, const void *values)
{
    struct run_compare *c = user;
    map_put(&c->tensors, tensor->name, (uint32_t)c->values.count);
    vec_push(c->kept, &c->values, (struct kept){tensor, arena_memdup(c->kept, values, tensor->count * sizeof(float))});
    return ODLC_OK;
}

static double difference(float a, float b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    return isfinite(a) && isfinite(b) ? fabs((double)a - b) : INFINITY;
}

static struct distance measure(const struct odlc_io *tensor, const float *ours, const float *theirs)
{
    struct distance d = {.tensor = tensor};
    double largest = 0, most = 0;
    for (uint64_t i = 0; i < tensor->count; i++) {
        const double apart = difference(ours[i], theirs[i]);
        largest = isfinite(theirs[i]) ? fmax(largest, fabs((double)theirs[i])) : largest;
        if (apart <= most)
            continue;
        most = apart;
        d.element = i;
        d.ours = ours[i];
        d.theirs = theirs[i];
    }
    d.relative = most == 0 ? 0 : largest > 0 ? most / largest : INFINITY;
    return d;
}

double run_distance(const struct odlc_io *tensor, const float *ours, const float *theirs)
{
    return measure(tensor, ours, theirs).relative;
}

static bool is_float(const struct odlc_io *tensor)
{
    return strncmp(tensor->dtype, "Float", 5) == 0;
}

static bool is_real(const struct odlc_io *tensor)
{
    return is_float(tensor) || strncmp(tensor->dtype + 1, "Fxp", 3) == 0;
}

static void compare(struct run_compare *c, const struct odlc_io *tensor, const float *ours, bool is_result)
{
    const uint32_t place = map_get(&c->tensors, tensor->name);
    if (place == MAP_NONE)
        return; /* a graph input that is wanted as a result */
    struct distance d = measure(tensor, ours, c->values.data[place].values);
    d.is_result = is_result;
    c->compared++;
    if (!c->worst.tensor || d.relative > c->worst.relative)
        c->worst = d;
    if (d.relative <= (is_float(tensor) ? c->tolerance : 0))
        return;
    c->differing++;
    if (!c->first.tensor)
        c->first = d;
}

static odlc_status see(void *user, const struct odlc_io *tensor, const void *values)
{
    compare(user, tensor, values, false);
    return ODLC_OK;
}

/* Reals that both containers have in the same number. */
static odlc_status see_pair(void *user, const struct odlc_io *tensor, const void *values)
{
    struct run_compare *c = user;
    const uint32_t place = map_get(&c->tensors, tensor->name);
    const struct kept *kept = place == MAP_NONE ? NULL : &c->values.data[place];
    if (kept && kept->tensor->count == tensor->count && is_real(tensor) && is_real(kept->tensor))
        run_pairs_add(&c->pairs, c->worker->arena, tensor, kept->values, values);
    return ODLC_OK;
}

static odlc_status compare_results(struct run_compare *c)
{
    size_t count;
    const struct odlc_io *results = odlc_run_results(c->worker->run, &count);
    for (size_t i = 0; i < count; i++) {
        float *values = arena_array(c->kept, float, results[i].count);
        TRY(odlc_run_get_floats(c->worker->run, i, values, results[i].count));
        compare(c, &results[i], values, true);
    }
    return ODLC_OK;
}

/* What an object of the comparison has to say becomes the worker's. */
static odlc_status said(struct run_compare *c, const odlc_run *run, odlc_status status)
{
    size_t count;
    const struct odlc_diag *list = odlc_run_diags(run, &count);
    for (size_t i = 0; status != ODLC_OK && i < count; i++)
        vec_push(c->worker->arena, &c->worker->diags.list, list[i]);
    return status;
}

static odlc_status open_each(struct run_compare *c, odlc_run *run, const char *container,
                             const struct run_names *backends, odlc_see_fn *shown)
{
    if (!run)
        return ODLC_ERR_NOMEM;
    odlc_status status = run_open(c->worker, run, container, backends);
    if (status == ODLC_OK)
        status = odlc_run_want_each(run, ODLC_FLOATS, shown, c);
    return said(c, run, status);
}

static odlc_status execute(struct run_compare *c, odlc_run *run, const struct inference *inference)
{
    TRY(run_inputs_load(c->worker, run, inference));
    return said(c, run, odlc_run_execute(run));
}

odlc_status run_compare_prepare(struct run_worker *w, struct run_compare **out)
{
    struct run_compare *c = arena_new(w->arena, struct run_compare);
    *out = c;
    *c = (struct run_compare){.worker = w,
                              .ours = odlc_run_new(),
                              .theirs = odlc_run_new(),
                              .tolerance = w->settings->tolerance,
                              .kept = w->scratch};
    const struct run_settings *s = w->settings;
    if (s->compares_containers) {
        c->pairs = (struct run_pairs){.container = s->container, .compared = s->compared.data[0]};
        map_init(&c->pairs.places, w->arena);
        TRY(open_each(c, c->theirs, s->compared.data[0], &s->backends, keep));
        return open_each(c, c->ours, s->container, &s->backends, see_pair);
    }
    TRY(open_each(c, c->theirs, s->container, &s->compared, keep));
    return open_each(c, c->ours, s->container, &s->backends, see);
}

void run_compare_free(struct run_compare *c)
{
    if (!c)
        return;
    odlc_run_free(c->ours);
    odlc_run_free(c->theirs);
}

static void print_first(struct run_compare *c)
{
    const struct distance *d = &c->first;
    printf("inference %zu: %zu of %zu tensors differ, first %s%s", c->worker->number, c->differing, c->compared,
           d->is_result ? "the result " : "", printable(c->kept, d->tensor->name));
    if (d->tensor->node)
        printf(" of node %s (%s)", printable(c->kept, d->tensor->node), d->tensor->op);
    printf(": element %" PRIu64 " is %.9g, not %.9g, %.2g of the largest value\n", d->element, (double)d->ours,
           (double)d->theirs, d->relative);
}

static void print_outcome(struct run_compare *c)
{
    if (c->differing)
        print_first(c);
    else if (c->worst.relative > 0)
        printf("inference %zu: %zu tensors agree; the largest difference is %.2g of the largest value, in %s\n",
               c->worker->number, c->compared, c->worst.relative, printable(c->kept, c->worst.tensor->name));
    else
        printf("inference %zu: %zu tensors are equal\n", c->worker->number, c->compared);
}

static odlc_status infer(struct run_compare *c, const struct inference *inference)
{
    TRY(execute(c, c->theirs, inference));
    TRY(execute(c, c->ours, inference));
    return c->worker->settings->compares_containers ? ODLC_OK : compare_results(c);
}

odlc_status run_compare_infer(struct run_compare *c, const struct inference *inference)
{
    struct arena_mark mark = arena_mark(c->kept);
    map_init(&c->tensors, c->kept);
    memset(&c->values, 0, sizeof c->values);
    c->compared = c->differing = 0;
    c->first = c->worst = (struct distance){0};
    TRY(infer(c, inference));
    if (!c->worker->settings->compares_containers)
        print_outcome(c);
    c->bad += c->differing > 0;
    arena_rewind(c->kept, mark);
    return ODLC_OK;
}

static odlc_status end_pairs(struct run_compare *c)
{
    struct run_worker *w = c->worker;
    if (!c->pairs.list.count)
        return diag_error(&w->diags, ODLC_ERR_INVALID, AT(.file = w->settings->compared.data[0]), "compare-nothing",
                          "no tensor that an op computes has the name and size of one of %s", w->settings->container);
    run_pairs_print(&c->pairs, w->arena);
    c->pairs.inferences = w->executed;
    return w->settings->compare_json ? run_pairs_write(&c->pairs, w->arena, &w->diags, w->settings->compare_json)
                                     : ODLC_OK;
}

odlc_status run_compare_end(struct run_compare *c)
{
    if (c->worker->settings->compares_containers)
        return end_pairs(c);
    const struct run_names *others = &c->worker->settings->compared;
    const char *names = others->data[0];
    if (!c->bad)
        return ODLC_OK;
    for (size_t i = 1; i < others->count; i++)
        names = arena_printf(c->worker->arena, "%s,%s", names, others->data[i]);
    return diag_error(&c->worker->diags, ODLC_ERR_INVALID, AT(.file = c->worker->settings->container),
                      "compare-differs", "%zu inference%s differ%s from what %s computes", c->bad,
                      c->bad == 1 ? "" : "s", c->bad == 1 ? "s" : "", names);
}
