/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/kernel_trial.h"

#include "base/clock.h"
#include "package/status_text.h"
#include "trial/native_twin.h"
#include "trial/thread_trial.h"

enum { LARGEST = 3 /* the made shape with most elements */ };

struct at_work {
    const struct kernel_trial *t;
    struct contained *c;
    struct package *package;
    struct made_node made;
    uint32_t which;
    bool created; /* the op, for some made node */
    struct instance op;
    uint64_t size;           /* of the outputs */
    uint8_t *first, *second; /* outputs */
};

/* ---- results ---- */

/* Executes into `to`; false, with the error noted, when the kernel refuses. */
static bool execute(struct at_work *w, struct instance *op, uint8_t fill, uint8_t *to)
{
    Qnn_ErrorHandle_t error = instance_execute(op, fill);
    if (error != QNN_SUCCESS) {
        contained_found(w->c, "kernel-not-repeatable", "results must depend on nothing but operands and params",
                        "gives %s in a later call with the same operands (%s)", qnn_error_text(w->t->arena, error),
                        w->c->stage);
        return false;
    }
    instance_copy_outputs(op, to);
    return true;
}

static bool same_results(struct at_work *w, const struct instance *op, const char *what)
{
    return outputs_same(w->c, w->t->arena, &op->gives, w->first, w->second, what);
}

static void count_allocations(struct at_work *w)
{
    if (!allocations_begin())
        return;
    (void)instance_execute(&w->op, 0);
    const uint64_t count = allocations_end();
    w->c->counted = true;
    w->c->allocations += count;
    if (count)
        contained_found(w->c, "kernel-allocates", "use fixed arrays, or an output as scratch",
                        "asks for or gives back memory %llu times in a call (%s)", (unsigned long long)count,
                        w->made.label);
}

static bool repeats(struct at_work *w)
{
    contained_stage(w->c, "execute again, %s", w->made.label);
    count_allocations(w);
    return execute(w, &w->op, 0, w->second) && same_results(w, &w->op, "in a later call");
}

/* In an instance whose operands lie at the starts of pages. */
static bool repeats_in_another(struct at_work *w)
{
    struct instance other;
    struct op_refusal why;
    contained_stage(w->c, "a second op, %s", w->made.label);
    if (!instance_make(w->t->arena, w->package, &w->made, 1, false, &other, &why)) {
        contained_found(w->c, "kernel-not-repeatable", NULL, "cannot be created a second time: %s gives %s (%s)",
                        why.function, op_refusal_text(w->t->arena, &why), w->made.label);
        return false;
    }
    bool same = execute(w, &other, 0, w->second) && same_results(w, &other, "in a second op of the same node");
    instance_free(&other);
    return same;
}

/* ---- outputs ---- */

static void writes_all(struct at_work *w)
{
    uint8_t *third = arena_alloc(w->t->arena, w->size);
    contained_stage(w->c, "execute on outputs of another fill, %s", w->made.label);
    if (execute(w, &w->op, FILL_A, w->second) && execute(w, &w->op, FILL_B, third))
        outputs_compare_fills(w->c, w->t->arena, &w->op.gives, w->first, w->second, third);
}

/* ---- time and odd numbers ---- */

static void measure(struct at_work *w)
{
    const double begin = clock_seconds();
    uint32_t calls = 0;
    contained_stage(w->c, "measure, %s", w->made.label);
    do {
        w->op.impl->opImplFn(w->op.impl->userData);
        calls++;
    } while (calls < 1000 && clock_seconds() - begin < 0.05);
    w->c->microseconds = (clock_seconds() - begin) / calls * 1e6;
}

/* Executes with the first element of the first real activation replaced; NULL: there is none, or no real output. */
static const float *results_of(void *user, float value, uint64_t *count)
{
    struct at_work *w = user;
    const struct node *n = w->made.node;
    if (!n->n_inputs || !w->op.inputs[0] || !w->op.inputs[0]->size || !w->op.outputs[0] ||
        w->op.op->inputs[0].dataType != QNN_DATATYPE_FLOAT_32 || w->op.op->outputs[0].dataType != QNN_DATATYPE_FLOAT_32)
        return NULL;
    float *first = w->op.op->inputs[0].data;
    const float before = *first;
    guarded_seal(w->op.inputs[0], false);
    *first = value;
    guarded_seal(w->op.inputs[0], true);
    Qnn_ErrorHandle_t error = instance_execute(&w->op, 0);
    guarded_seal(w->op.inputs[0], false);
    *first = before;
    guarded_seal(w->op.inputs[0], true);
    *count = w->op.outputs[0]->size / sizeof(float);
    return error == QNN_SUCCESS ? w->op.op->outputs[0].data : NULL;
}

/* ---- one made node ---- */

static void try_sound(struct at_work *w)
{
    if (w->t->native) {
        contained_stage(w->c, "compare with %s, %s", w->t->native, w->made.label);
        execute(w, &w->op, 0, w->second);
        native_twin_compare(
            w->t->arena, w->c,
            &(struct twin_of){
                .made = &w->made, .inputs = w->op.in, .gives = w->op.gives, .tolerance = {.most = TWIN_TOLERANCE}},
            w->t->native);
    }
    writes_all(w);
    contained_stage(w->c, "execute in four threads, %s", w->made.label);
    thread_trial(w->t->arena, w->c, w->package, &w->made);
    if (w->which == LARGEST || w->c->microseconds == 0)
        measure(w);
    outputs_try_odd_numbers(w->c, w->made.label, results_of, w);
}

static void try_node(struct at_work *w)
{
    struct op_refusal why;
    w->c->cases++;
    contained_stage(w->c, "create, %s", w->made.label);
    bool made = instance_make(w->t->arena, w->package, &w->made, 1, true, &w->op, &why);
    if (made) {
        contained_stage(w->c, "execute, %s", w->made.label);
        w->created = true;
        why = (struct op_refusal){.function = "execute", .error = instance_execute(&w->op, 0)};
    }
    if (!made || why.error != QNN_SUCCESS) {
        w->c->refused++;
        contained_stage(w->c, "%s gives %s, %s", why.function, op_refusal_text(w->t->arena, &why), w->made.label);
        instance_free(&w->op);
        return;
    }
    w->size = outputs_size(&w->op.gives);
    w->first = arena_alloc(w->t->arena, w->size);
    w->second = arena_alloc(w->t->arena, w->size);
    instance_copy_outputs(&w->op, w->first);
    bool sound = true;
    for (int i = 0; i < 2 && sound; i++)
        sound = repeats(w);
    if (sound && repeats_in_another(w))
        try_sound(w);
    instance_free(&w->op);
}

void kernel_trial_work(struct contained *c, void *trial)
{
    const struct kernel_trial *t = trial;
    struct at_work w = {.t = t, .c = c};
    struct diags unheard;
    diags_init(&unheard, t->arena);
    contained_stage(c, "load the package");
    if (package_load(t->arena, &unheard, t->library, t->provider, &w.package) != ODLC_OK)
        return; /* said before (trial_packages.c) */
    for (w.which = 0; w.which < MADE_SHAPES; w.which++)
        for (int least = 0; least < 2; least++)
            if (made_node(t->arena, t->set, t->def, w.which, least, &w.made))
                try_node(&w);
    if (c->cases == 0)
        contained_found(c, "kernel-untried", "shape rules that hold for several shapes make trials possible",
                        "cannot be tried: the config fits none of the made inputs");
    else if (c->cases == c->refused && w.created)
        contained_found(c, "kernel-fails", "an exception in a kernel is an error, too", "fails on all made inputs: %s",
                        c->stage);
    else if (c->cases == c->refused)
        contained_found(c, "kernel-untried", "defaults of params in the config are used in trials",
                        "refuses all made inputs: %s", c->stage);
    contained_stage(c, "unload the package");
    package_release(w.package);
}
