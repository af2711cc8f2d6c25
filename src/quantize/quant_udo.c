/* SPDX-License-Identifier: Apache-2.0 */
/* What user-defined ops take and give: each operand as its definition declares it for a core. */
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "op/params.h"
#include "quantize/quantizer.h"

/* The param of that name, which says what a config declares; NULL: it is absent. */
static const char *said(const struct node *n, const char *name)
{
    const int place = op_param_index(n->op, name);
    if (place < 0)
        return NULL;
    const struct param p = node_get_param(n, (uint32_t)place);
    return p.set && p.dtype == DT_STRING && !p.is_tensor ? p.s : NULL;
}

/* The bits of a fixed-point tensor that a declared type asks for; integers of 8 and 16 bits are such tensors to a DSP.
 */
static uint8_t bits_of_word(const char *word, size_t length)
{
    static const char *const kinds[] = {"FIXED_", "UINT_", "INT_", "UFIXED_POINT_", "SFIXED_POINT_"};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const size_t size = strlen(kinds[i]);
        if (length <= size || strncmp(word, kinds[i], size) != 0)
            continue;
        const unsigned long bits = strtoul(word + size, NULL, 10);
        return bits == 8 || bits == 16 ? (uint8_t)bits : 0;
    }
    return 0;
}

/* Of "in0: CPU=FLOAT_32,DSP=UINT_8": the type for the core; of "in0: FLOAT_32,UINT_8", for all cores: the first that is
 * fixed-point. */
static uint8_t bits_of_entry(const char *entry, size_t length, const char *core)
{
    const char *end = entry + length, *colon = memchr(entry, ':', length);
    const size_t size = strlen(core);
    for (const char *at = colon ? colon + 2 : end; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;
        const char *equals = memchr(at, '=', (size_t)(stop - at));
        if (!equals && bits_of_word(at, (size_t)(stop - at)))
            return bits_of_word(at, (size_t)(stop - at));
        if (equals && (size_t)(equals - at) == size && strncmp(at, core, size) == 0)
            return bits_of_word(equals + 1, (size_t)(stop - equals - 1));
        at = stop + 1;
    }
    return 0;
}

/* The entries tell names, and a container does not tell whose they are: where all operands have one, they are in
 * order; else the widest of them is for every operand. */
static void read_entries(const char *text, const char *core, uint32_t count, uint8_t *bits)
{
    uint32_t found = 0;
    uint8_t widest = 0;
    for (const char *at = text; at;) {
        const char *end = strstr(at, "; ");
        const uint8_t width = bits_of_entry(at, end ? (size_t)(end - at) : strlen(at), core);
        widest = width > widest ? width : widest;
        if (found < count)
            bits[found] = width;
        found++;
        at = end ? end + 2 : NULL;
    }
    if (found != count)
        memset(bits, widest, count);
}

static void read_node(struct quantizer *q, node_id id)
{
    const struct node *n = graph_node(q->g, id);
    const uint32_t count = n->n_inputs + n->n_outputs;
    const char *core = q->options->udo_core ? q->options->udo_core : "DSP";
    const char *text = said(n, "udo_per_core_data_types");
    q->udo_bits[id] = arena_array(q->arena, uint8_t, count + 1);
    if (!text)
        text = said(n, "udo_data_types");
    if (text)
        read_entries(text, core, count, q->udo_bits[id]);
}

odlc_status quant_read_udos(struct quantizer *q)
{
    odlc_status status = ODLC_OK;
    q->udo_bits = arena_array(q->arena, uint8_t *, q->g->nodes.count);
    for (size_t i = 0; i < q->g->order.count; i++) {
        const struct node *n = graph_node(q->g, q->g->order.data[i]);
        if (n->op->package)
            read_node(q, q->g->order.data[i]);
        else if (n->op->id == OP_CUSTOM)
            status =
                diag_error(q->diags, ODLC_ERR_UNSUPPORTED, AT(.file = q->path, .node = n->name), "quantize-unsupported",
                           "ops of type %s are not known, and are of no package", n->op->name);
    }
    return status;
}

odlc_status quant_need_packages(const struct quantizer *q)
{
    const struct op *last = NULL;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; !q->options->packages && i < q->g->order.count; i++) {
        const struct node *n = graph_node(q->g, q->g->order.data[i]);
        if (!n->op->package || n->op == last)
            continue;
        last = n->op;
        status = diag_error(q->diags, ODLC_ERR_UNSUPPORTED,
                            AT(.file = q->path, .node = n->name,
                               .hint = "--udo_package_path names the registration library of the package for the CPU"),
                            "quantize-package", "op %s is one of package %s, without which ranges cannot be observed",
                            n->op->name, n->op->package);
    }
    return status;
}

void quant_size_udos(struct quantizer *q)
{
    for (size_t i = 0; i < q->g->order.count; i++) {
        const node_id id = q->g->order.data[i];
        const struct node *n = graph_node(q->g, id);
        for (uint32_t k = 0; q->udo_bits[id] && k < n->n_inputs + n->n_outputs; k++) {
            const bool is_input = k < n->n_inputs;
            const tensor_id operand = is_input ? n->inputs[k] : n->outputs[k - n->n_inputs];
            if (operand == NO_TENSOR || !q->udo_bits[id][k])
                continue;
            if (!is_input || graph_tensor(q->g, operand)->kind == TENSOR_STATIC)
                q->items[operand].bits = q->udo_bits[id][k];
        }
    }
}
