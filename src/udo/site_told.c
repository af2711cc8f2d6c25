/* SPDX-License-Identifier: Apache-2.0 */
/* What a library tells of the outputs of a node: the question, and what is made of the answer. */
#include "udo/told.h"

#include "op/op.h"
#include "op/params.h"
#include "udo/param_value.h"
#include "udo/site.h"

static struct node *node_in_question(struct site_build *s, const struct site_operands *in, const struct param *params,
                                     uint32_t total)
{
    const struct op *row = s->def->row;
    struct node *n = arena_new(s->scratch, struct node);
    n->name = s->site->label;
    n->op = row;
    n->inputs = in->ids;
    n->n_inputs = in->count;
    n->outputs = arena_array(s->scratch, tensor_id, total);
    n->n_outputs = total;
    for (uint32_t j = 0; j < total; j++)
        n->outputs[j] = NO_TENSOR;
    n->params = arena_array(s->scratch, struct packed_param, row->n_params);
    for (uint32_t i = 0; i < row->n_params; i++)
        if (params[i].set)
            node_set_param(s->b->graph, n, i, &params[i]);
    return n;
}

void site_ask(struct site_build *s, const struct site_operands *in, const struct param *params, uint32_t total)
{
    const struct udo_oracle *oracle = s->set->oracle;
    struct udo_question q = {.scratch = s->scratch, .def = s->def, .graph = s->b->graph};
    if (!oracle || s->errors)
        return;
    const char **names = arena_array(s->scratch, const char *, total);
    bool *absent = arena_array(s->scratch, bool, total);
    for (uint32_t j = 0; j < total; j++) {
        names[j] = j < s->site->n_out ? s->site->out_names[j] : "";
        absent[j] = site_output_absent(s, j);
        q.shapes |= !absent[j] && site_shape_open(s, j);
        q.types |= !absent[j] && site_type_open(s, j);
    }
    if (!q.shapes && !q.types)
        return;
    q.out_names = names;
    q.absent = absent;
    q.node = node_in_question(s, in, params, total);
    struct udo_answer answer = {0};
    if (oracle->ask(oracle->user, &q, &answer) != ODLC_OK)
        s->errors++;
    else
        s->told = arena_memdup(s->scratch, &answer, sizeof answer);
}

static void told_error(struct site_build *s, const char *library, const char *function, const char *hint,
                       const char *message)
{
    s->errors++;
    (void)diag_error(s->set->diags, ODLC_ERR_INVALID, AT(.file = library, .node = s->site->label, .hint = hint),
                     function[0] == 'S' ? "inference-shape" : "inference-type", "%s%s of op '%s' %s", s->def->type,
                     function, s->def->type, message);
}

/* ---- shapes ---- */

void told_shape_error(struct site_build *s, const char *message)
{
    told_error(s, s->told->shapes_by, "ShapeInference", NULL, message);
}

bool told_shape(struct site_build *s, uint32_t j, const char *label, struct shape *shape)
{
    const struct udo_told *told = &s->told->outputs[j];
    struct shape own = {.rank = told->rank};
    if (told->rank == 0 && declared_rank(site_output(s, j)) != 0) {
        told_shape_error(s, arena_printf(s->scratch, "returns success, but leaves the rank of %s 0", label));
        return false;
    }
    if (told->rank > MAX_RANK) {
        told_shape_error(s,
                         arena_printf(s->scratch, "gives %s rank %u; the highest is %d", label, told->rank, MAX_RANK));
        return false;
    }
    bool empty = false;
    for (uint32_t i = 0; i < own.rank; i++) {
        own.dims[i] = told->dims[i];
        empty |= own.dims[i] == 0;
    }
    if (empty || shape_too_large(&own)) {
        told_shape_error(s, arena_printf(s->scratch, "gives %s the shape %s, which %s", label,
                                         shape_text(s->scratch, &own), empty ? "has no elements" : "is too large"));
        return false;
    }
    *shape = own;
    return true;
}

/* ---- types ---- */

static void told_type_error(struct site_build *s, const char *hint, const char *message)
{
    told_error(s, s->told->types_by, "DataTypeInference", hint, message);
}

bool told_type(struct site_build *s, uint32_t j, const char *label, const struct udo_demand *demand, enum dtype *dtype)
{
    const struct udo_tensor *out = site_output(s, j);
    const uint32_t code = s->told->outputs[j].data_type;
    const enum dtype told = dtype_from_dlc(code);
    /* What quantization makes of a real number is real before that. */
    const enum dtype model = dtype_is_fixed(told) ? DT_FLOAT32 : told;
    if (told == DT_NONE) {
        told_type_error(s, NULL,
                        code == UDO_TYPE_UNTOLD
                            ? arena_printf(s->scratch, "returns success, but leaves the type of %s undefined", label)
                            : arena_printf(s->scratch, "gives %s the type 0x%04x, which there is not", label, code));
        return false;
    }
    if (!site_declares(out, model)) {
        told_type_error(s, arena_printf(s->scratch, "the type is declared at %s", site_place(s, &out->place)),
                        arena_printf(s->scratch, "gives %s the type %s, but it is declared %s", label,
                                     udo_type_name(told), udo_type_name(out->dtype)));
        return false;
    }
    const bool known = demand->dtype != DT_NONE, suits = !known || udo_type_suits(model, demand->dtype);
    if (!suits || (demand->real && !dtype_is_float(model))) {
        told_type_error(s, NULL,
                        arena_printf(s->scratch, "gives %s the type %s, but node '%s' takes it as %s", label,
                                     udo_type_name(told), demand->reader,
                                     known ? udo_type_name(demand->dtype) : "a real number"));
        return false;
    }
    *dtype = known ? demand->dtype : model;
    return true;
}
