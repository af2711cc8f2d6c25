/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/driver/target_lists.h"

#include <string.h>

#include "base/map.h"
#include "op/op.h"
#include "op/params.h"
#include "op/processors.h"

odlc_status check_targets(const struct context *c)
{
    const struct odlc_convert_options *o = c->options;
    odlc_status status = ODLC_OK;
    enum processor processor;
    for (size_t i = 0; i < o->n_targets; i++)
        if (!processor_find(o->targets[i], &processor))
            status = diag_error(c->diags, ODLC_ERR_USAGE, AT(.hint = "cpu, gpu, dsp, aip or htp"), "unknown-target",
                                "--target: there is no processor %s", o->targets[i]);
    return status;
}

/* The native operators of a graph, each once, with the first node that has it. */
struct operators {
    struct map index;
    VEC(node_id) first;
    VEC(size_t) count; /* nodes of it */
};

static struct operators find_operators(const struct context *c, const struct graph *g)
{
    struct operators all = {.first = {0}};
    map_init(&all.index, c->scratch);
    for (size_t i = 0; i < g->order.count; i++) {
        const struct node *n = graph_node(g, g->order.data[i]);
        if (n->op->package)
            continue;
        const uint32_t at = map_add(&all.index, n->op->name, (uint32_t)all.first.count);
        if (at != MAP_NONE) {
            all.count.data[at]++;
            continue;
        }
        vec_push(c->scratch, &all.first, g->order.data[i]);
        vec_push(c->scratch, &all.count, (size_t)1);
    }
    return all;
}

static void warn_of(const struct context *c, const struct graph *g, const struct operators *all,
                    enum processor processor, enum listing listing)
{
    const char *name = processor_name(processor);
    text found = {0};
    size_t count = 0;
    for (size_t i = 0; i < all->first.count; i++) {
        const struct node *n = graph_node(g, all->first.data[i]);
        if (processor_lists(processor, n->op->name) == listing)
            text_add(c->arena, &found, "%s%s (%zu)", count++ ? ", " : "", n->op->name, all->count.data[i]);
    }
    if (count == 0)
        return;
    const char *hint =
        arena_printf(c->arena, "--dry_run --target %s prints a config of user-defined ops for them", name);
    if (listing == LISTING_NO)
        diag_warn(c->diags, AT(.hint = hint), "target-lacks", "the published list of %s lacks %zu of the operators: %s",
                  name, count, found.data);
    else
        diag_warn(c->diags, AT(.hint = hint), "target-unknown",
                  "no published list says whether %s has %zu of the operators: %s", name, count, found.data);
}

/* ---- the config ---- */

static const char *type_word(const struct context *c, enum dtype dtype)
{
    const struct dtype_info *info = dtype_info(dtype);
    if (dtype_is_fixed(dtype))
        return arena_printf(c->arena, "QNN_DATATYPE_%cFIXED_POINT_%u", info->cls == CLASS_SFXP ? 'S' : 'U', info->bits);
    return arena_printf(c->arena, "QNN_DATATYPE_%s", info->udo ? info->udo : "FLOAT_32");
}

static void put_operand(const struct context *c, text *out, const char *element, const char *name,
                        const struct type *type, bool needed)
{
    text_add(c->arena, out,
             "      <%s>\n        <Name>%s</Name>\n        <Mandatory>%s</Mandatory>\n        <Datatype>%s</Datatype>\n"
             "        <Shape>\n          <Rank>%s</Rank>\n        </Shape>\n      </%s>\n",
             element, name, needed ? "true" : "false", type_word(c, type->dtype),
             type->shape.rank == 0  ? "SCALAR"
             : type->shape.rank > 5 ? "ND"
                                    : arena_printf(c->arena, "%uD", type->shape.rank),
             element);
}

static void put_params(const struct context *c, text *out, const struct node *n)
{
    for (uint32_t i = 0; i < n->op->n_params; i++) {
        const struct param_def *def = &n->op->params[i];
        if (!n->params[i].set || def->supplemental)
            continue;
        const struct param p = node_get_param(n, i);
        const struct type type = {.dtype = p.dtype, .shape = p.is_tensor ? p.shape : (struct shape){.rank = 0}};
        put_operand(c, out, "Parameter", def->name, &type, true);
    }
}

static bool is_unlisted(const char *target, const char *operator_name)
{
    enum processor processor;
    return processor_find(target, &processor) && processor_lists(processor, operator_name) != LISTING_YES;
}

/* Of the targets that want the definition, and the CPU, on which it can be tried. */
static void put_backends(const struct context *c, text *out, const char *operator_name)
{
    static const char *const backends[N_PROCESSORS] = {[PROCESSOR_CPU] = "CPU",
                                                       [PROCESSOR_GPU] = "GPU",
                                                       [PROCESSOR_DSP] = "DSP_V66",
                                                       [PROCESSOR_AIP] = "DSP_V66",
                                                       [PROCESSOR_HTP] = "HTP_V68"};
    bool put[N_PROCESSORS] = {[PROCESSOR_CPU] = true};
    for (size_t i = 0; i < c->options->n_targets; i++)
        for (int k = 0; k < N_PROCESSORS; k++)
            put[k == PROCESSOR_AIP ? PROCESSOR_DSP : k] |=
                is_unlisted(c->options->targets[i], operator_name) &&
                strcmp(processor_name((enum processor)k), c->options->targets[i]) == 0;
    for (int k = 0; k < N_PROCESSORS; k++)
        if (put[k])
            text_add(c->arena, out, "      <SupportedBackend>%s</SupportedBackend>\n", backends[k]);
}

/* As its first node has it: operands by place, and types of that node. */
static void put_definition(const struct context *c, text *out, const struct graph *g, const struct node *n)
{
    text_add(c->arena, out, "    <OpDef>\n      <Name>%s</Name>\n", n->op->name);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(g, n, i);
        if (t)
            put_operand(c, out, "Input", arena_printf(c->arena, "in%u", i), t->type, i < n->op->min_inputs);
    }
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct tensor *t = node_output(g, n, i);
        if (t)
            put_operand(c, out, "Output", arena_printf(c->arena, "out%u", i), t->type, true);
    }
    put_params(c, out, n);
    put_backends(c, out, n->op->name);
    text_add(c->arena, out, "      <UseDefaultTranslation>true</UseDefaultTranslation>\n    </OpDef>\n");
}

static const char *make_config(const struct context *c, const struct graph *g, const struct operators *all)
{
    text definitions = {0};
    for (size_t i = 0; i < all->first.count; i++) {
        const struct node *n = graph_node(g, all->first.data[i]);
        bool wanted = false;
        for (size_t k = 0; k < c->options->n_targets; k++)
            wanted |= is_unlisted(c->options->targets[k], n->op->name);
        if (wanted)
            put_definition(c, &definitions, g, n);
    }
    if (definitions.count == 0)
        return NULL;
    return arena_printf(c->arena,
                        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<OpDefCollection PackageName=\"MyUdoPackage\" Domain=\"user\" Version=\"1.0\">\n"
                        "  <OpDefList>\n%s  </OpDefList>\n</OpDefCollection>\n",
                        definitions.data);
}

const char *report_unlisted(const struct context *c, const struct graph *g)
{
    if (c->options->n_targets == 0)
        return NULL;
    const struct arena_mark mark = arena_mark(c->scratch);
    const struct operators all = find_operators(c, g);
    for (size_t i = 0; i < c->options->n_targets; i++) {
        enum processor processor;
        if (!processor_find(c->options->targets[i], &processor))
            continue;
        warn_of(c, g, &all, processor, LISTING_NO);
        warn_of(c, g, &all, processor, LISTING_UNKNOWN);
    }
    const char *config = make_config(c, g, &all);
    arena_rewind(c->scratch, mark);
    return config;
}
