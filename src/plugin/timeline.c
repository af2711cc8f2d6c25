/* SPDX-License-Identifier: Apache-2.0 */
/* What a target might take: kernels in their order, each on the units that it names, as early as its operands and a
 * unit are there. Costs are the package's; copies cost nothing here, since nothing is known of them. */
#include "plugin/timeline.h"

#include <math.h>

#include "plugin/callback.h"
#include "plugin/plugin_prepare.h"

struct timeline {
    struct preparation *p;
    double hvx[TIMELINE_HVX], hmx[TIMELINE_HMX], scalar[TIMELINE_HVX]; /* when each unit is free */
    double *ready;                                                     /* per value */
};

static odlc_status ask_cost(struct preparation *p, struct plugin_step *step)
{
    const QHPI_Kernel_v1 *k = step->choice->kernel;
    if (!k->cost_function) {
        p->n_without_cost++;
        return ODLC_OK;
    }
    const char *callback = arena_printf(p->arena, "cost_function of kernel %s", k->function_name);
    callback_begin(step->op, callback);
    step->cost = k->cost_function(step->n_inputs, step->in);
    TRY(callback_end(step->op));
    step->has_cost = true;
    if (step->cost >= 0 && step->cost <= 1e30f)
        return ODLC_OK;
    return callback_error(step->op, callback, "plugin-cost", NULL, "gives %g, which is no cost", (double)step->cost);
}

static double *first_free(double *units, size_t count)
{
    double *found = units;
    for (size_t i = 1; i < count; i++)
        if (units[i] < *found)
            found = &units[i];
    return found;
}

/* Each slice is a part of the cost, on units of its own. */
static void schedule_kernel(struct timeline *t, struct plugin_step *step, double ready)
{
    const uint32_t resources = step->choice->kernel->resources;
    const double part = (double)step->cost / step->slices;
    step->begin = HUGE_VAL;
    step->end = ready;
    for (uint32_t i = 0; i < step->slices; i++) {
        double *hvx = first_free(resources & QHPI_RESOURCE_HVX ? t->hvx : t->scalar, TIMELINE_HVX);
        double *hmx = resources & QHPI_RESOURCE_HMX ? first_free(t->hmx, TIMELINE_HMX) : hvx;
        double begin = *hvx > *hmx ? *hvx : *hmx;
        begin = begin > ready ? begin : ready;
        *hvx = *hmx = begin + part;
        step->begin = begin < step->begin ? begin : step->begin;
        step->end = *hvx > step->end ? *hvx : step->end;
    }
}

odlc_status prepare_timeline(struct preparation *p)
{
    struct timeline t = {.p = p, .ready = arena_array(p->arena, double, p->values.count)};
    for (size_t k = 0; k < p->steps.count; k++) {
        struct plugin_step *step = &p->steps.data[k];
        double ready = 0;
        for (uint32_t i = 0; i < step->n_inputs; i++)
            if (step->inputs[i] != NO_VALUE && t.ready[step->inputs[i]] > ready)
                ready = t.ready[step->inputs[i]];
        step->begin = step->end = ready;
        if (step->kind == PLUGIN_KERNEL) {
            TRY(ask_cost(p, step));
            schedule_kernel(&t, step, ready);
            p->cost += (double)step->cost;
        }
        for (uint32_t i = 0; i < step->n_outputs; i++)
            if (t.ready[step->outputs[i]] < step->end)
                t.ready[step->outputs[i]] = step->end;
        p->end = step->end > p->end ? step->end : p->end;
    }
    return ODLC_OK;
}
