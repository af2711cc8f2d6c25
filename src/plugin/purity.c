/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/purity.h"

#include "plugin/callback.h"

struct question;

struct answer {
    const QHPI_Op *op;
    QHPI_Shape shape;
    double number;
};

/* A call that can be made again. */
struct question {
    const QHPI_Op *op;
    const char *callback;
    struct answer (*ask)(const struct question *q);
    QHPI_RewriteOpFunc rewrite;
    QHPI_Shape start, extent; /* a tile; or extent alone: a candidate */
    const QHPI_Kernel_v1 *kernel;
    const QHPI_Tensor *const *inputs; /* of the kernel */
    struct answer first;
};

struct questions {
    struct preparation *p;
    VEC(struct question) list;
};

/* ---- asking ---- */

static struct answer ask_rewrite(const struct question *q)
{
    return (struct answer){.op = q->rewrite(q->op)};
}

static struct answer ask_required(const struct question *q)
{
    return (struct answer){.shape = q->op->plugin->info.shape_required(q->op)};
}

static struct answer ask_legalized(const struct question *q)
{
    return (struct answer){.shape = q->op->plugin->info.shape_legalized(q->op, &q->extent)};
}

static struct answer ask_tile(const struct question *q)
{
    return (struct answer){.op = q->op->plugin->info.build_tile(q->op, &q->start, &q->extent)};
}

static struct answer ask_predicate(const struct question *q)
{
    return (struct answer){.number = q->kernel->predicate(q->op, q->op->n_inputs, q->inputs) != 0};
}

static struct answer ask_cost(const struct question *q)
{
    return (struct answer){.number = (double)q->kernel->cost_function(q->op->n_inputs, q->inputs)};
}

/* New ops are alike if they compute the same from the same. A cost that is no number is found elsewhere. */
static bool is_alike(const struct question *q, const struct answer *now)
{
    const struct plugin_graph *g = q->op->graph;
    const QHPI_Op *a = q->first.op, *b = now->op;
    const bool are_new = a != q->op && b != q->op && graph_has(g, a) && graph_has(g, b);
    return (a == b || (are_new && graph_alike(a, b))) && qhpi_shape_equal(&q->first.shape, &now->shape) &&
           !(now->number < q->first.number || now->number > q->first.number);
}

static odlc_status ask(struct question *q, bool is_first)
{
    callback_begin(q->op, q->callback);
    const struct answer now = q->ask(q);
    TRY(callback_end(q->op));
    if (is_first)
        q->first = now;
    return is_first || is_alike(q, &now) ? ODLC_OK : callback_impure(q->op, q->callback);
}

/* A step through `count` numbers, `least` or more, that has no divisor in common with it: it meets each of them once.
 */
static size_t mixing_step(size_t count, size_t least)
{
    for (size_t step = least;; step++) {
        size_t a = count, b = step;
        while (b) {
            const size_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
}

static odlc_status ask_all(struct questions *questions)
{
    enum { MIXINGS = 8 };
    struct question *list = questions->list.data;
    const size_t count = questions->list.count;
    for (size_t i = 0; i < count; i++)
        TRY(ask(&list[i], true));
    for (size_t i = count; i-- > 0;)
        for (int twice = 0; twice < 2; twice++)
            TRY(ask(&list[i], false));
    for (size_t mixing = 1; mixing <= MIXINGS && mixing < count; mixing++) {
        const size_t step = mixing_step(count, mixing * count / (MIXINGS + 1) + 1);
        for (size_t i = 0, at = mixing; i < count; i++, at = (at + step) % count)
            TRY(ask(&list[at], false));
    }
    return ODLC_OK;
}

/* ---- what there is to ask ---- */

static void add(struct questions *questions, struct question q)
{
    vec_push(questions->p->arena, &questions->list, q);
}

odlc_status purity_rewrites(struct preparation *p, bool late)
{
    struct questions questions = {.p = p};
    for (size_t i = 0; p->options.asks_again && i < p->graph->order.count; i++) {
        const QHPI_Op *op = p->graph->order.data[i];
        if (op->kind != KIND_PLUGIN || op->is_settled)
            continue;
        const QHPI_RewriteOpFunc function = late ? op->plugin->info.late_rewrite : op->plugin->info.early_rewrite;
        if (function)
            add(&questions, (struct question){.op = op,
                                              .callback = late ? "late_rewrite" : "early_rewrite",
                                              .ask = ask_rewrite,
                                              .rewrite = function});
    }
    return ask_all(&questions);
}

/* The output, halved along one dimension, or a single element. */
static QHPI_Shape candidate_of(const QHPI_Shape *whole, uint32_t number)
{
    QHPI_Shape shape = *whole;
    for (uint32_t d = 0; d < shape.rank; d++)
        shape.dims[d] = number > whole->rank ? 1 : d + 1 == number ? (shape.dims[d] + 1) / 2 : shape.dims[d];
    return shape;
}

static void add_tiling(struct questions *questions, const struct tiled *t)
{
    const QHPI_OpInfo_v1 *info = &t->op->plugin->info;
    const QHPI_Shape *whole = &t->op->outputs[0].shape;
    if (info->shape_required)
        add(questions, (struct question){.op = t->op, .callback = "shape_required", .ask = ask_required});
    for (uint32_t i = 0; info->shape_legalized && i < whole->rank + 2; i++)
        add(questions,
            (struct question){
                .op = t->op, .callback = "shape_legalized", .ask = ask_legalized, .extent = candidate_of(whole, i)});
    for (uint32_t k = 0; t->tiles && k < t->n_tiles; k++) {
        struct question q = {.op = t->op, .callback = "build_tile", .ask = ask_tile};
        tile_region(t, k, &q.start, &q.extent);
        add(questions, q);
    }
}

odlc_status purity_tiles(struct preparation *p)
{
    struct questions questions = {.p = p};
    for (size_t i = 0; p->options.asks_again && i < p->tilings.count; i++)
        if (p->tilings.data[i]->may_be_cut)
            add_tiling(&questions, p->tilings.data[i]);
    return ask_all(&questions);
}

static void add_kernels(struct questions *questions, const struct plugin_step *step)
{
    struct arena *arena = questions->p->arena;
    for (uint32_t k = 0; k < step->choice->n_tried; k++) {
        const struct tried *tried = &step->choice->tried[k];
        struct question q = {.op = step->op, .kernel = tried->kernel, .inputs = tried->inputs, .ask = ask_predicate};
        q.callback = arena_printf(arena, "predicate of kernel %s", q.kernel->function_name);
        if (q.inputs)
            add(questions, q);
    }
    struct question q = {.op = step->op, .kernel = step->choice->kernel, .inputs = step->in, .ask = ask_cost};
    q.callback = arena_printf(arena, "cost_function of kernel %s", q.kernel->function_name);
    if (q.kernel->cost_function)
        add(questions, q);
}

odlc_status purity_kernels(struct preparation *p)
{
    struct questions questions = {.p = p};
    for (size_t k = 0; p->options.asks_again && k < p->steps.count; k++)
        if (p->steps.data[k].kind == PLUGIN_KERNEL)
            add_kernels(&questions, &p->steps.data[k]);
    return ask_all(&questions);
}
