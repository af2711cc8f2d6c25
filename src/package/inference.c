/* SPDX-License-Identifier: Apache-2.0 */
#include "package/inference.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/child.h"
#include "package/library.h"
#include "package/op_node.h"
#include "package/status_text.h"

struct answering {
    struct library library; /* its path alone: it is open in children */
    bool hung;              /* it is not called again */
};

struct inference {
    struct diags *diags;
    struct answering *libraries;
    size_t count;
};

enum stage { SHAPES, TYPES, LOADING };
static const char *const functions[] = {[SHAPES] = "ShapeInference", [TYPES] = "DataTypeInference"};

/* Shared with the child, which writes. */
struct exchange {
    enum stage stage;
    odlc_status opened; /* else what is wrong with the library: */
    char code[32], message[1024], hint[1024];
    bool called[2];
    uint64_t error[2];
    struct udo_told outputs[];
};

struct request {
    struct arena *arena;
    const char *path;
    const struct udo_question *question; /* NULL: the library is loaded, no more */
    bool wanted[2];
    struct exchange *exchange;
};

/* ---- the child ---- */

static void note_refusal(struct exchange *x, odlc_status status, const struct diags *diags)
{
    const struct odlc_diag *d = &diags->list.data[0];
    x->opened = status;
    snprintf(x->code, sizeof x->code, "%s", d->code);
    snprintf(x->message, sizeof x->message, "%s", d->message);
    snprintf(x->hint, sizeof x->hint, "%s", d->hint ? d->hint : "");
}

/* The elements of the node's constants, as op_node_make takes them. */
static const struct buffer *constants(struct arena *arena, const struct graph *g, const struct node *n)
{
    struct buffer *all = arena_array(arena, struct buffer, g->tensors.count);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(g, n, i);
        if (t && t->kind == TENSOR_STATIC)
            all[n->inputs[i]].data = t->type->dtype == DT_STRING ? (void *)t->view->strings
                                                                 : (void *)view_load(arena, t->view, t->type->dtype);
    }
    return all;
}

/* Types are those of the graph, also where kernels get floats. */
static Qnn_OpConfig_t *config_of(struct arena *arena, const struct udo_question *q)
{
    const struct node *n = q->node;
    Qnn_OpConfig_t *config =
        &op_node_make(arena, q->graph, n, q->def->package, NULL, constants(arena, q->graph, n))->config;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct tensor *t = node_input(q->graph, n, i);
        if (t)
            config->v1.inputTensors[i].v1.dataType = (Qnn_DataType_t)dtype_info(t->type->dtype)->dlc;
    }
    for (uint32_t j = 0; j < config->v1.numOfOutputs; j++) {
        Qnn_Tensor_t *out = &config->v1.outputTensors[j];
        const bool known = j < n->n_outputs;
        out->v1.name = known ? q->out_names[j] : "";
        out->v1.type = !known || q->absent[j] ? QNN_TENSOR_TYPE_NULL : QNN_TENSOR_TYPE_NATIVE;
        out->v1.dimensions = arena_array(arena, uint32_t, MAX_RANK);
    }
    return config;
}

static void call(const struct request *r, const struct library *library, enum stage stage, Qnn_OpConfig_t *config)
{
    struct exchange *x = r->exchange;
    const struct udo_question *q = r->question;
    Qnn_ErrorHandle_t (*infer)(Qnn_OpConfig_t *);
    const Qnn_Tensor_t *outputs = config->v1.outputTensors;
    void *symbol = library_symbol(library, arena_printf(r->arena, "%s%s", q->def->type, functions[stage]));
    if (!r->wanted[stage] || !symbol)
        return;
    memcpy(&infer, &symbol, sizeof infer);
    x->stage = stage;
    x->error[stage] = infer(config);
    x->called[stage] = true;
    for (uint32_t j = 0; j < q->node->n_outputs; j++) {
        struct udo_told *told = &x->outputs[j];
        if (stage == TYPES) {
            told->data_type = (uint32_t)outputs[j].v1.dataType;
            continue;
        }
        told->rank = outputs[j].v1.rank;
        memcpy(told->dims, outputs[j].v1.dimensions,
               sizeof *told->dims * (told->rank < MAX_RANK ? told->rank : MAX_RANK));
    }
}

static void load_and_call(void *request)
{
    const struct request *r = request;
    struct library library;
    struct diags diags;
    diags_init(&diags, r->arena);
    odlc_status status = library_open(r->arena, &diags, r->path, &library);
    if (status != ODLC_OK) {
        note_refusal(r->exchange, status, &diags);
        return;
    }
    if (!r->question)
        return;
    Qnn_OpConfig_t *config = config_of(r->arena, r->question);
    call(r, &library, SHAPES, config);
    call(r, &library, TYPES, config);
}

/* ---- what came of it ---- */

static const char *hint_for(const struct child_fate *fate)
{
    if (fate->end == CHILD_EXITED)
        return "the function returns an error instead";
    return fate->end == CHILD_SIGNALLED && fate->number == SIGABRT
               ? "an exception that leaves the function ends the process like this"
               : NULL;
}

static odlc_status report_end(const struct inference *inference, struct answering *a, const struct request *r,
                              const struct child_fate *fate)
{
    static const char *const codes[] = {[CHILD_EXITED] = "inference-exits",
                                        [CHILD_SIGNALLED] = "inference-crash",
                                        [CHILD_TIMED_OUT] = "inference-hangs",
                                        [CHILD_UNMADE] = "inference-process"};
    const char *text = child_fate_text(r->arena, fate, INFERENCE_SECONDS);
    const enum stage stage = r->exchange->stage;
    const char *node = r->question ? r->question->node->name : NULL;
    a->hung = fate->end == CHILD_TIMED_OUT;
    const struct odlc_diag place = {.file = a->library.path, .node = node, .hint = hint_for(fate)};
    if (stage == LOADING)
        return diag_error(inference->diags, ODLC_ERR_INVALID, &place, codes[fate->end],
                          "the library, while it is loaded, %s", text);
    const char *type = r->question->def->type;
    return diag_error(inference->diags, ODLC_ERR_INVALID, &place, codes[fate->end], "%s%s of op '%s' %s", type,
                      functions[stage], type, text);
}

static odlc_status report_refusal(const struct inference *inference, const struct answering *a,
                                  const struct exchange *x)
{
    return library_error(inference->diags, x->opened, &a->library, x->code, *x->hint ? x->hint : NULL, "%s",
                         x->message);
}

/* Loads the library in a process of its own, and calls what the request wants. */
static odlc_status carry_out(const struct inference *inference, struct answering *a, struct request *r)
{
    const uint32_t n_out = r->question ? r->question->node->n_outputs : 0;
    r->path = a->library.path;
    r->exchange = child_share(r->arena, sizeof *r->exchange + n_out * sizeof *r->exchange->outputs);
    r->exchange->stage = LOADING;
    const struct child_fate fate = child_run(r->arena, INFERENCE_SECONDS, load_and_call, r);
    if (fate.end != CHILD_RETURNED)
        return report_end(inference, a, r, &fate);
    return r->exchange->opened == ODLC_OK ? ODLC_OK : report_refusal(inference, a, r->exchange);
}

static odlc_status take(const struct inference *inference, const struct answering *a, const struct request *r,
                        enum stage stage, bool *answered)
{
    const struct exchange *x = r->exchange;
    const Qnn_ErrorHandle_t error = x->error[stage];
    const char *type = r->question->def->type;
    *answered = x->called[stage] && error == QNN_SUCCESS;
    if (*answered || !x->called[stage] || QNN_GET_ERROR_CODE(error) == QNN_COMMON_ERROR_NOT_SUPPORTED)
        return ODLC_OK;
    return diag_error(inference->diags, ODLC_ERR_INVALID, AT(.file = a->library.path, .node = r->question->node->name),
                      "inference-fails", "%s%s of op '%s' returns %s", type, functions[stage], type,
                      qnn_error_text(r->arena, error));
}

static odlc_status ask_one(const struct inference *inference, struct answering *a, const struct udo_question *q,
                           struct udo_answer *answer, struct udo_told *outputs)
{
    struct request r = {.arena = q->scratch, .question = q};
    bool shapes, types;
    r.wanted[SHAPES] = q->shapes && !answer->shapes_by;
    r.wanted[TYPES] = q->types && !answer->types_by;
    if (a->hung)
        return diag_error(inference->diags, ODLC_ERR_INVALID, AT(.file = a->library.path, .node = q->node->name),
                          "inference-hangs", "the library is not asked about op '%s': it did not answer before",
                          q->def->type);
    TRY(carry_out(inference, a, &r));
    TRY(take(inference, a, &r, SHAPES, &shapes));
    TRY(take(inference, a, &r, TYPES, &types));
    for (uint32_t j = 0; j < q->node->n_outputs; j++) {
        const struct udo_told *told = &r.exchange->outputs[j];
        const uint32_t type = types ? told->data_type : outputs[j].data_type;
        if (shapes)
            outputs[j] = *told;
        outputs[j].data_type = type;
    }
    answer->shapes_by = shapes ? a->library.path : answer->shapes_by;
    answer->types_by = types ? a->library.path : answer->types_by;
    return ODLC_OK;
}

static odlc_status ask(void *user, const struct udo_question *q, struct udo_answer *answer)
{
    const struct inference *inference = user;
    struct udo_told *outputs = arena_array(q->scratch, struct udo_told, q->node->n_outputs);
    answer->outputs = outputs;
    for (size_t i = 0; i < inference->count; i++) {
        if ((!q->shapes || answer->shapes_by) && (!q->types || answer->types_by))
            break;
        TRY(ask_one(inference, &inference->libraries[i], q, answer, outputs));
    }
    return ODLC_OK;
}

odlc_status inference_open(struct arena *arena, struct diags *diags, const char *const *paths, size_t count,
                           const struct udo_oracle **out)
{
    odlc_status status = ODLC_OK;
    text names = {0};
    struct inference *inference = arena_new(arena, struct inference);
    struct udo_oracle *oracle = arena_new(arena, struct udo_oracle);
    *inference = (struct inference){.diags = diags, .count = count};
    inference->libraries = arena_array(arena, struct answering, count);
    for (size_t i = 0; i < count; i++) {
        inference->libraries[i].library.path = paths[i];
        struct request r = {.arena = arena};
        odlc_status opened = carry_out(inference, &inference->libraries[i], &r);
        status = status == ODLC_OK ? opened : status;
        text_add(arena, &names, "%s%s", i ? ", " : "", paths[i]);
    }
    *oracle = (struct udo_oracle){.user = inference, .ask = ask, .libraries = names.data};
    *out = oracle;
    return status;
}
