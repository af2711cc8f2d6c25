/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/device_trial.h"

#include <string.h>

#include "base/clock.h"
#include "package/device_package.h"
#include "trial/device_bench.h"
#include "trial/instance.h"
#include "trial/native_twin.h"

enum { LARGEST = 3 /* the made shape with most elements */ };

/* Of results in float16, and of arithmetic in it. */
#define HALF_TOLERANCE 2e-3

struct at_work {
    const struct kernel_trial *t;
    struct contained *c;
    struct package_set packages;
    struct package *host, *device; /* the package, and its library for GPUs: the same where it has no other */
    struct device_bench bench;
    struct made_node made;
    uint32_t which;
    const struct device_op *op; /* as the package describes it */
    struct buffer *inputs;      /* of the node, as kernels get them */
    struct buffer *found;       /* outputs */
    struct outputs gives;
    struct bench_op on_device;
    uint64_t size;              /* of the outputs */
    uint8_t *first, *second;    /* outputs */
    VEC(const char *) programs; /* texts and options of kernels that were built */
};

/* ---- findings ---- */

static void report(struct at_work *w, const struct diags *diags)
{
    for (size_t i = 0; i < diags->list.count; i++) {
        const struct odlc_diag *d = &diags->list.data[i];
        if (d->severity == ODLC_ERROR)
            contained_found(w->c, d->code, d->hint, "is not executed: %s (%s)", d->message, w->made.label);
    }
}

static void report_fault(struct at_work *w, const struct bench_fault *f)
{
    const unsigned long long bytes = f->bytes;
    if (!f->is_before && !f->is_behind)
        contained_found(w->c, "kernel-writes-input", "inputs, static data and params are shared: copy what is changed",
                        "writes into %s, from byte %lld on (%s)", f->name, (long long)f->first, w->c->stage);
    else
        contained_found(w->c, "kernel-out-of-bounds", "indices must stay below the number of elements",
                        "writes %llu byte%s %s %s (%s)", bytes, bytes == 1 ? "" : "s",
                        f->is_before ? "before" : "behind", f->name, w->c->stage);
}

/* ---- the op ---- */

/* Reals of the config that kernels without a registration library get as they are stored. */
static void store_as_described(struct at_work *w)
{
    const struct udo_def *def = w->t->def;
    struct arena *arena = w->t->arena;
    enum dtype *dtypes = arena_array(arena, enum dtype, def->n_inputs + def->n_outputs);
    struct made_range *ranges = arena_array(arena, struct made_range, def->n_outputs);
    if (w->device->registration.info)
        return;
    for (uint32_t i = 0; i < def->n_inputs; i++)
        dtypes[i] = dtype_is_fixed(def->inputs[i].dtype) ? def->inputs[i].dtype : DT_NONE;
    for (uint32_t i = 0; i < def->n_outputs; i++) {
        dtypes[def->n_inputs + i] = dtype_is_fixed(def->outputs[i].dtype) ? def->outputs[i].dtype : DT_NONE;
        ranges[i] = (struct made_range){-4, 4};
    }
    (void)made_node_retype(arena, &w->made, dtypes, ranges);
}

/* NULL: the package refuses the node, or describes kernels that cannot be, which is noted. */
static struct device_op *create(struct at_work *w)
{
    struct device_op *op;
    struct diags diags;
    struct backend_scope scope = {.arena = w->t->arena,
                                  .scratch = w->t->arena,
                                  .diags = &diags,
                                  .graph = w->made.graph,
                                  .constants = w->made.constants,
                                  .threads = 1,
                                  .packages = &w->packages};
    diags_init(&diags, w->t->arena);
    if (package_device_ops.create(&scope, w->made.node, &op) == ODLC_OK)
        return op;
    const struct odlc_diag *d = diags.list.count ? &diags.list.data[diags.list.count - 1] : NULL;
    if (d && strcmp(d->code, "package-op-failed") == 0) {
        w->c->refused++;
        contained_stage(w->c, "%s, %s", d->message, w->made.label);
    } else {
        report(w, &diags);
    }
    return NULL;
}

static bool same_kernels(const struct device_op *a, const struct device_op *b)
{
    bool same = a->n_kernels == b->n_kernels && strcmp(a->hash, b->hash) == 0;
    for (uint32_t k = 0; same && k < a->n_kernels; k++)
        same = strcmp(a->kernels[k].name, b->kernels[k].name) == 0 &&
               strcmp(a->kernels[k].source, b->kernels[k].source) == 0 &&
               strcmp(a->kernels[k].options, b->kernels[k].options) == 0 &&
               a->kernels[k].n_args == b->kernels[k].n_args;
    return same;
}

/* Each text with its options is built once for all nodes, so others for the same node are built in vain. */
static void describes_again(struct at_work *w)
{
    contained_stage(w->c, "create again, %s", w->made.label);
    const struct device_op *other = create(w);
    if (other && !same_kernels(w->op, other))
        contained_found(w->c, "kernel-not-repeatable", "texts and options of kernels must depend on the node alone",
                        "describes other kernels for a second op of the same node (%s)", w->made.label);
}

static void count_programs(struct at_work *w)
{
    for (uint32_t k = 0; k < w->op->n_kernels; k++) {
        const char *program = arena_printf(w->t->arena, "%s\n%s", w->op->kernels[k].options, w->op->kernels[k].source);
        bool is_known = false;
        for (size_t i = 0; i < w->programs.count && !is_known; i++)
            is_known = strcmp(w->programs.data[i], program) == 0;
        if (!is_known)
            vec_push(w->t->arena, &w->programs, program);
    }
    w->c->programs = (uint32_t)w->programs.count;
}

/* ---- operands ---- */

static void make_operands(struct at_work *w)
{
    struct arena *arena = w->t->arena;
    const struct node *n = w->made.node;
    w->inputs = arena_array(arena, struct buffer, n->n_inputs);
    w->found = arena_array(arena, struct buffer, n->n_outputs);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        w->inputs[i] = w->op->inputs[i];
        if (w->inputs[i].dtype == DT_NONE || w->inputs[i].data)
            continue;
        w->inputs[i].data = arena_calloc(arena, shape_count(&w->inputs[i].shape), dtype_size(w->inputs[i].dtype));
        made_fill(arena, &w->inputs[i], 1 + i);
    }
    for (uint32_t i = 0; i < n->n_outputs; i++)
        w->found[i] = w->op->outputs[i];
    w->gives = (struct outputs){w->found, n->n_outputs, w->made.label};
    w->size = outputs_size(&w->gives);
    w->first = arena_alloc(arena, w->size);
    w->second = arena_alloc(arena, w->size);
    for (uint32_t i = 0, offset = 0; i < n->n_outputs; i++) {
        w->found[i].data = w->first + offset;
        offset += w->found[i].dtype == DT_NONE ? 0 : shape_count(&w->found[i].shape) * dtype_size(w->found[i].dtype);
    }
}

/* ---- executions ---- */

static bool execute(struct at_work *w, struct bench_op *op, uint8_t fill_byte, uint8_t zone, uint8_t *to)
{
    struct bench_fault fault;
    if (bench_execute(op, fill_byte, zone, to, &fault) != ODLC_OK) {
        report(w, &w->bench.diags);
        return false;
    }
    if (fault.name)
        report_fault(w, &fault);
    return !fault.name;
}

static bool repeats(struct at_work *w)
{
    contained_stage(w->c, "execute again, %s", w->made.label);
    return execute(w, &w->on_device, 0, ZONE_A, w->second) &&
           outputs_same(w->c, w->t->arena, &w->gives, w->first, w->second, "in a later call");
}

/* What is beside operands must not come to results. */
static bool reads_operands_alone(struct at_work *w)
{
    contained_stage(w->c, "execute beside other memory, %s", w->made.label);
    if (!execute(w, &w->on_device, 0, ZONE_B, w->second))
        return false;
    for (uint64_t i = 0; i < w->size; i++)
        if (w->first[i] != w->second[i]) {
            contained_found(w->c, "kernel-out-of-bounds", "indices must stay below the number of elements",
                            "reads before or behind an operand: %s depends on what is there (%s)",
                            outputs_place(w->t->arena, &w->gives, i), w->made.label);
            return false;
        }
    return true;
}

/* Where the package leaves the sizes of work-groups to the host, each is as good as the other. */
static bool takes_any_groups(struct at_work *w)
{
    struct arena *arena = w->t->arena;
    struct device_op op = *w->op;
    struct device_kernel *kernels = arena_array(arena, struct device_kernel, op.n_kernels);
    struct bench_op other;
    bool any = false;
    for (uint32_t k = 0; k < op.n_kernels; k++) {
        kernels[k] = op.kernels[k];
        any |= kernels[k].local[0] == 0;
        for (uint32_t i = 0; i < kernels[k].dims && op.kernels[k].local[0] == 0; i++)
            kernels[k].local[i] = 1;
    }
    op.kernels = kernels;
    contained_stage(w->c, "execute in work-groups of one work-item, %s", w->made.label);
    if (!any || bench_make(&w->bench, w->made.node, &op, w->inputs, &other) != ODLC_OK)
        return true; /* it is written for groups of another size */
    const bool same = execute(w, &other, 0, ZONE_A, w->second) &&
                      outputs_same(w->c, arena, &w->gives, w->first, w->second, "in work-groups of one work-item");
    bench_give(&other);
    return same;
}

static void writes_all(struct at_work *w)
{
    uint8_t *third = arena_alloc(w->t->arena, w->size);
    contained_stage(w->c, "execute on outputs of another fill, %s", w->made.label);
    if (execute(w, &w->on_device, FILL_A, ZONE_A, w->second) && execute(w, &w->on_device, FILL_B, ZONE_A, third))
        outputs_compare_fills(w->c, w->t->arena, &w->gives, w->first, w->second, third);
}

/* ---- against others ---- */

static struct tolerance tolerance_of(const struct at_work *w)
{
    struct tolerance tolerance = {.most = TWIN_TOLERANCE};
    for (uint32_t i = 0; i < w->made.node->n_inputs + w->gives.count; i++) {
        const uint32_t n = w->made.node->n_inputs;
        const enum dtype dtype = i < n ? w->inputs[i].dtype : w->found[i - n].dtype;
        if (dtype == DT_FLOAT16)
            tolerance.most = HALF_TOLERANCE;
    }
    return tolerance;
}

/* The package's kernel for the CPU, on what the one for GPUs got. */
static void compare_with_host(struct at_work *w)
{
    struct arena *arena = w->t->arena;
    struct instance host;
    struct op_refusal why;
    if (!w->t->compares_cores || w->host->is_device || !package_has_op(w->host, w->t->def->type) ||
        !instance_make(arena, w->host, &w->made, 1, true, &host, &why))
        return;
    contained_stage(w->c, "execute the kernel for the CPU, %s", w->made.label);
    for (uint32_t i = 0; i < w->made.node->n_inputs; i++)
        if (host.inputs[i] && w->inputs[i].dtype == DT_FLOAT16 && host.in[i].dtype == DT_FLOAT32) {
            const struct buffer wide = buffer_widen(&w->inputs[i], DT_FLOAT32, arena);
            guarded_seal(host.inputs[i], false);
            memcpy(host.in[i].data, wide.data, host.inputs[i]->size);
            guarded_seal(host.inputs[i], true);
        }
    const bool runs = instance_execute(&host, 0) == QNN_SUCCESS;
    for (uint32_t i = 0; runs && i < w->gives.count; i++)
        if (w->found[i].dtype != DT_NONE)
            outputs_compare(w->c, arena, &w->gives, i, &host.out[i], &w->found[i], tolerance_of(w),
                            "the package's kernel for the CPU");
    instance_free(&host);
}

static void compare_with_native(struct at_work *w)
{
    contained_stage(w->c, "compare with %s, %s", w->t->native, w->made.label);
    native_twin_compare(
        w->t->arena, w->c,
        &(struct twin_of){.made = &w->made, .inputs = w->inputs, .gives = w->gives, .tolerance = tolerance_of(w)},
        w->t->native);
}

/* ---- time and odd numbers ---- */

static void measure(struct at_work *w)
{
    const double begin = clock_seconds();
    uint32_t calls = 0;
    contained_stage(w->c, "measure, %s", w->made.label);
    do {
        if (bench_execute_again(&w->on_device) != ODLC_OK) {
            report(w, &w->bench.diags);
            return;
        }
        calls++;
    } while (calls < 1000 && clock_seconds() - begin < 0.05);
    w->c->microseconds = (clock_seconds() - begin) / calls * 1e6;
}

static const float *results_of(void *user, float value, uint64_t *count)
{
    struct at_work *w = user;
    struct bench_fault fault;
    if (!w->made.node->n_inputs || w->inputs[0].dtype != DT_FLOAT32 || w->found[0].dtype != DT_FLOAT32 ||
        w->op->inputs[0].data)
        return NULL;
    bench_poke(&w->on_device, &value, sizeof value);
    const odlc_status status = bench_execute(&w->on_device, 0, ZONE_A, w->second, &fault);
    bench_poke(&w->on_device, w->inputs[0].data, sizeof value);
    *count = shape_count(&w->found[0].shape);
    return status == ODLC_OK ? (const float *)(const void *)w->second : NULL;
}

/* ---- one made node ---- */

static void try_sound(struct at_work *w)
{
    writes_all(w);
    if (w->t->native && w->c->count == 0)
        compare_with_native(w);
    if (w->c->count == 0)
        compare_with_host(w);
    if (w->which == LARGEST || w->c->microseconds == 0)
        measure(w);
    outputs_try_odd_numbers(w->c, w->made.label, results_of, w);
}

static void try_kernels(struct at_work *w)
{
    contained_stage(w->c, "build kernels, %s", w->made.label);
    make_operands(w);
    count_programs(w);
    if (bench_make(&w->bench, w->made.node, w->op, w->inputs, &w->on_device) != ODLC_OK) {
        report(w, &w->bench.diags);
        return;
    }
    contained_stage(w->c, "execute, %s", w->made.label);
    if (execute(w, &w->on_device, 0, ZONE_A, w->first) && repeats(w) && reads_operands_alone(w) && takes_any_groups(w))
        try_sound(w);
    bench_give(&w->on_device);
}

static void try_node(struct at_work *w)
{
    w->c->cases++;
    store_as_described(w);
    contained_stage(w->c, "create, %s", w->made.label);
    w->op = create(w);
    if (!w->op)
        return;
    describes_again(w);
    try_kernels(w);
}

static bool load(struct at_work *w)
{
    struct diags unheard;
    diags_init(&unheard, w->t->arena);
    contained_stage(w->c, "load the package");
    if (package_load(w->t->arena, &unheard, w->t->library, w->t->provider, &w->host) != ODLC_OK)
        return false; /* said before (trial_packages.c) */
    vec_push(w->t->arena, &w->packages.packages, w->host);
    return package_load_device(&unheard, w->host, &w->device) == ODLC_OK && w->device;
}

void device_trial_work(struct contained *c, void *user)
{
    const struct kernel_trial *t = user;
    struct at_work w = {.t = t, .c = c};
    if (!load(&w))
        return;
    contained_stage(c, "open the device");
    if (bench_open(t->arena, t->device, &w.bench) != ODLC_OK) {
        strncpy(c->untried, w.bench.diags.list.count ? w.bench.diags.list.data[0].message : "there is no device",
                sizeof c->untried - 1);
        return;
    }
    for (w.which = 0; w.which < MADE_SHAPES; w.which++)
        for (int least = 0; least < 2; least++)
            if (made_node(t->arena, t->set, t->def, w.which, least, &w.made))
                try_node(&w);
    if (c->cases == 0)
        contained_found(c, "kernel-untried", "shape rules that hold for several shapes make trials possible",
                        "cannot be tried: the config fits none of the made inputs");
    else if (c->cases == c->refused)
        contained_found(c, "kernel-untried", "defaults of params in the config are used in trials",
                        "refuses all made inputs: %s", c->stage);
    contained_stage(c, "close the device");
    t->device->close(w.bench.state);
    contained_stage(c, "unload the package");
    package_set_release(&w.packages);
}
