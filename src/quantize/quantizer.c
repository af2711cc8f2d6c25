/* SPDX-License-Identifier: Apache-2.0 */
/* A quantizer from its container to the one that it writes. */
#include "quantize/quantizer.h"

#include "op/registry.h"
#include "op/validate.h"
#include "runtime/check_types.h"

static void note_entropy(const struct quantizer *q)
{
    const struct quantize_options *o = q->options;
    if ((o->act_calibrator == CALIBRATOR_ENTROPY && o->act_bits != 8) ||
        (o->weights_calibrator == CALIBRATOR_ENTROPY && o->weights_bits != 8))
        diag_note(q->diags, AT(.file = q->path), "quantize-entropy",
                  "entropy chooses ranges for 8 bits; those for other widths are min-max");
}

odlc_status quantizer_open(struct arena *arena, struct arena *scratch, struct diags *diags, const char *path,
                           const struct quantize_options *options, struct quantizer **out)
{
    struct quantizer *q = arena_new(arena, struct quantizer);
    *q = (struct quantizer){.arena = arena, .scratch = scratch, .diags = diags, .path = path, .options = options};
    TRY(dlc_open_graph(arena, diags, op_registry_new(arena), path, "quantized", options->progress, &q->dlc, &q->g));
    q->writing = dlc_options_like(q->dlc, q->g);
    quant_give_biases(q);
    q->uses = graph_uses(arena, q->g);
    q->is_given = arena_array(arena, bool, q->g->tensors.count);
    quant_widen_halves(q);
    q->items = arena_array(arena, struct quant_item, q->g->tensors.count);
    q->floats = arena_array(arena, uint8_t, q->g->nodes.count);
    q->n_nodes = q->g->nodes.count;
    q->whole = arena_array(q->arena, bool, q->g->nodes.count);
    TRY(quant_read_file(q));
    TRY(quant_assign(q));
    note_entropy(q);
    TRY(quant_encode_constants(q));
    *out = q;
    return ODLC_OK;
}

const struct graph *quantizer_graph(const struct quantizer *q)
{
    return q->g;
}

size_t quantizer_observed(const struct quantizer *q)
{
    return q->observed;
}

/* What was written must be what can be executed. */
static odlc_status check(struct quantizer *q)
{
    const struct graph *g = q->g;
    struct arena_mark mark = arena_mark(q->scratch);
    const struct needed needed = needed_nodes(q->scratch, g, g->outputs.data, g->outputs.count);
    odlc_status status = graph_validate(g, q->scratch, q->diags, "quantize");
    if (status == ODLC_OK)
        status = plan_check(q->scratch, q->diags, g, &needed);
    arena_rewind(q->scratch, mark);
    return status;
}

odlc_status quantizer_finish(struct quantizer *q)
{
    TRY(quant_check_improved(q));
    const size_t unknown = quantizer_unknown(q);
    if (unknown && !q->observed)
        return diag_error(q->diags, ODLC_ERR_USAGE, AT(.file = q->path), "quantize-unknown",
                          "the ranges of %zu tensors are not known, and there are no inputs to observe them with",
                          unknown);
    quant_note_zeros(q);
    if (q->options->product_bias)
        TRY(quant_multiply_scales(q));
    quant_rewrite(q);
    TRY(quant_check_whole(q));
    return check(q);
}

odlc_status quantizer_write(struct quantizer *q, const char *path, const char *command, struct file **kept,
                            odlc_status (*ready)(void *user), void *user)
{
    q->writing.kept = kept;
    q->writing.progress = q->options->progress;
    q->writing.ready = ready;
    q->writing.ready_user = user;
    q->writing.quantizer_command = command;
    if (q->options->packs_4_bits)
        q->writing.packed = dlc_pack_4_bits(q->arena, q->g);
    struct arena_mark mark = arena_mark(q->scratch);
    odlc_status status = dlc_write(q->scratch, q->diags, q->g, path, &q->writing);
    arena_rewind(q->scratch, mark);
    return status;
}
