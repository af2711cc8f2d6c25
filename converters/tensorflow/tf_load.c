/* Loading a model: find the graph, check the bytes, find the nodes, then walk back from the outputs. */
#include <string.h>

#include "converters/frontend/unknown_name.h"
#include "converters/tensorflow/normalize/loops.h"
#include "converters/tensorflow/source/tf_schema.h"
#include "converters/tensorflow/source/tf_source.h"
#include "converters/tensorflow/tensorflow.h"
#include "tensorflow.pb-c.h"
#include "converters/tensorflow/normalize/variables.h"

const char *tensorflow_canonical_name(struct arena *arena, const char *name)
{
    size_t length = strlen(name);
    const char *start = name[0] == '^' ? name + 1 : name;
    if (length > 2 && strcmp(name + length - 2, ":0") == 0)
        return arena_strndup(arena, start, strlen(start) - 2);
    return start;
}

static struct tf_model begin(const struct fw_memory *memory, struct diags *diags, const struct file *file)
{
    struct tf_model m = {.memory = *memory, .diags = diags, .file = file};
    names_init(&m.names, memory->kept, memory->scratch);
    return m;
}

/* ---- which outputs ---- */

typedef VEC(const char *) name_list;

/* Operators that are run for what they do, and those whose results are there to be read. */
static bool gives_nothing(const char *op)
{
    static const char *const whole[] = {"Const", "Placeholder", "PlaceholderWithDefault",
                                        "NoOp",  "Assert",      "MergeV2Checkpoints"};
    static const char *const begin[] = {"Assign", "Apply", "ResourceApply", "Save", "Restore"};
    for (size_t i = 0; i < COUNT_OF(whole); i++)
        if (strcmp(op, whole[i]) == 0)
            return true;
    for (size_t i = 0; i < COUNT_OF(begin); i++)
        if (strncmp(op, begin[i], strlen(begin[i])) == 0)
            return true;
    return fw_has_suffix(op, "Summary");
}

/* TensorFlow itself puts what trains and saves a model under these names. */
static bool is_training(const char *name)
{
    return strncmp(name, "gradients/", 10) == 0 || strncmp(name, "save/", 5) == 0;
}

/* The nodes that no other reads. */
static void find_ends(const struct flatten *f, name_list *out)
{
    const struct tf_body *body = f->top->body;
    bool *read = arena_array(f->m->memory.scratch, bool, body->nodes.count);
    for (size_t i = 0; i < body->nodes.count; i++) {
        const struct tf_node *n = &body->nodes.data[i];
        for (uint32_t k = 0; k < n->n_inputs; k++) {
            uint32_t at = body_node(f, f->top, n->inputs[k]);
            if (at != MAP_NONE)
                read[at] = true;
        }
    }
    for (size_t i = 0; i < body->nodes.count; i++)
        if (!read[i] && !gives_nothing(body->nodes.data[i].op) && !is_training(body->nodes.data[i].name))
            vec_push(f->m->memory.scratch, out, body->nodes.data[i].name);
}

static odlc_status check_names(struct flatten *f, const name_list *names)
{
    enum { MAX_MISSING = 8 };
    odlc_status status = ODLC_OK;
    uint32_t missing = 0;
    name_list known = {0};
    const struct tf_body *body = f->root->body;
    for (size_t i = body->nodes.count; i-- > 0;)
        vec_push(f->m->memory.scratch, &known, body->nodes.data[i].name);
    for (size_t i = 0; i < names->count; i++) {
        struct source s;
        TRY(find_named(f, names->data[i], &s));
        if (s.frame)
            continue;
        status = unknown_name(f->m->diags, f->m->file->path,
                              &(struct unknown_name){.code = "unknown-output",
                                                     .message = "--out_node: the model has no value or node",
                                                     .name = names->data[i],
                                                     .known = known.data,
                                                     .n_known = known.count,
                                                     .listed_as = "last nodes"});
        if (++missing == MAX_MISSING) /* for each, a name like it is sought among all nodes */
            return status;
    }
    return status;
}

static void note_unconsumed(const struct flatten *f)
{
    const struct tf_body *body = f->root->body;
    struct arena *arena = f->m->memory.kept;
    for (size_t i = 0; i < body->nodes.count; i++) {
        const struct seen *seen = &f->root->seen[i];
        if (seen->state == SEEN_NEW && !seen->inner)
            vec_push(arena, &f->model->unconsumed, arena_strdup(arena, body->nodes.data[i].name));
    }
    for (size_t i = 0; f->root->function && i < f->root->function->arg_names.count; i++)
        if (!f->args_read[i])
            vec_push(arena, &f->model->unconsumed, arena_strdup(arena, f->root->function->arg_names.data[i]));
}

/* Values that become inputs: those that options give dimensions, and those of the signature. */
static void find_cuts(struct flatten *f, const struct fw_load_options *options, const struct tf_source *source)
{
    struct arena *arena = f->m->memory.scratch;
    map_init(&f->cuts, arena);
    for (size_t i = 0; i < source->inputs.count; i++) {
        const struct fw_value *v = &source->inputs.data[i].value;
        if (!v->not_a_tensor && map_add(&f->cuts, v->name, (uint32_t)f->cut_values.count) == MAP_NONE)
            vec_push(arena, &f->cut_values, *v);
    }
    for (size_t i = 0; i < options->n_cut_inputs; i++) {
        const char *name = options->cut_inputs[i];
        if (map_add(&f->cuts, name, (uint32_t)f->cut_values.count) == MAP_NONE)
            vec_push(arena, &f->cut_values, (struct fw_value){.name = name});
    }
}

/* What the function gives. */
static odlc_status find_results(struct flatten *f, name_list *out)
{
    const struct tf_function *function = f->root->function;
    for (size_t i = 0; i < function->rets.count; i++) {
        struct source s;
        TRY(find_source(f, f->root, function->rets.data[i], function->name, &s));
        if (s.is_arg)
            return diag_error(f->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(f->m)), "input-is-output",
                              "result %zu of function %s is its argument %s", i, function->name, source_name(f, &s));
        vec_push(f->m->memory.scratch, out, source_name(f, &s));
    }
    return ODLC_OK;
}

static odlc_status find_outputs(struct flatten *f, const struct fw_load_options *options,
                                const struct tf_source *source, name_list *out)
{
    struct arena *arena = f->m->memory.scratch;
    for (size_t i = 0; i < options->n_out_names; i++)
        vec_push(arena, out, options->out_names[i]);
    if (out->count)
        return check_names(f, out);
    if (f->root->function)
        return find_results(f, out);
    for (size_t i = 0; i < source->outputs.count; i++) {
        if (source->outputs.data[i].value.not_a_tensor)
            return diag_error(f->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(f->m)), "output-type",
                              "the output %s of the signature is no tensor", source->outputs.data[i].key);
        vec_push(arena, out, source->outputs.data[i].value.name);
    }
    if (out->count)
        return check_names(f, out);
    find_ends(f, out);
    if (!out->count)
        return diag_error(f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(f->m), .hint = "name outputs with --out_node"),
                          "tensorflow-no-output", "the graph has no node that could be an output");
    return ODLC_OK;
}

/* What is converted. */
static odlc_status choose_root(struct flatten *f, const struct tf_source *source)
{
    f->root = f->top;
    f->source = source;
    if (!source->function)
        return ODLC_OK;
    uint32_t at = map_get(&f->m->function_index, source->function);
    if (at == MAP_NONE)
        return diag_error(f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(f->m)), "tensorflow-function",
                          "the model has no function %s", source->function);
    TRY(frame_create(f, NULL, &f->m->functions.data[at], NULL, NULL, &f->root));
    f->args_read = arena_array(f->m->memory.scratch, bool, f->root->function->arg_names.count);
    return ODLC_OK;
}

static odlc_status load_graph(struct flatten *f, const struct fw_load_options *options, const struct tf_source *source)
{
    name_list outputs = {0};
    f->model->path = source->path;
    if (strcmp(source->path, f->m->file->path) != 0)
        vec_push(f->m->memory.graph, &f->model->files, f->m->file->path);
    TRY(tf_decode_graph(f->m, source->from, source->to));
    map_init(&f->ops, f->m->memory.scratch);
    find_cuts(f, options, source);
    f->variables = variables_create(f, source);
    TRY(frame_create(f, NULL, NULL, NULL, NULL, &f->top));
    TRY(choose_root(f, source));
    TRY(find_outputs(f, options, source, &outputs));
    TRY(flatten_model(f, outputs.data, outputs.count));
    for (size_t i = 0; i < f->model->ops.count; i++)
        TRY(tf_describe_op(f->m, f->model->ops.data[i]));
    note_unconsumed(f);
    variables_list_files(f->variables);
    f->model->n_names = (uint32_t)f->m->names.texts.count;
    return ODLC_OK;
}

static bool claims_nothing(void *user, const char *op_type, const char *domain)
{
    (void)user, (void)op_type, (void)domain;
    return false;
}

static struct flatten begin_flatten(struct tf_model *m, const struct fw_load_options *options)
{
    return (struct flatten){.m = m,
                            .claims = options->claims ? options->claims : claims_nothing,
                            .claims_user = options->claims_user,
                            .model = arena_new(m->memory.graph, struct fw_model)};
}

odlc_status tensorflow_load_file(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                                 const struct fw_load_options *options, struct fw_model **out)
{
    struct arena_mark mark = arena_mark(memory->scratch);
    struct tf_model m = begin(memory, diags, file);
    struct flatten f = begin_flatten(&m, options);
    const struct tf_source source = {.to = file->size, .path = file->path, .restore_op = ""};
    odlc_status status = wire_check(diags, file, &tensorflow_schema, &tensorflow__graph_def__descriptor);
    if (status == ODLC_OK)
        status = load_graph(&f, options, &source);
    arena_rewind(memory->scratch, mark);
    if (status == ODLC_OK)
        *out = f.model;
    return status;
}

odlc_status tensorflow_load(const struct fw_memory *memory, struct diags *diags, const struct fw_load_options *options,
                            struct fw_model **out)
{
    struct arena_mark mark = arena_mark(memory->scratch);
    struct tf_model m = begin(memory, diags, NULL);
    struct flatten f = begin_flatten(&m, options);
    struct tf_source source;
    odlc_status status = source_open(&m, options, &source);
    if (status == ODLC_OK)
        status = load_graph(&f, options, &source);
    arena_rewind(memory->scratch, mark);
    if (status == ODLC_OK)
        *out = f.model;
    return status;
}

odlc_status tensorflow_load_tensor(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                                   struct fw_tensor *out)
{
    struct arena_mark mark = arena_mark(memory->scratch);
    struct tf_model m = begin(memory, diags, file);
    const struct wire_field whole = {.size = file->size};
    *out = (struct fw_tensor){.name = ""};
    odlc_status status = wire_check(diags, file, &tensorflow_schema, &tensorflow__tensor_proto__descriptor);
    if (status == ODLC_OK)
        status = tf_decode_tensor(&m, &whole, "", &out->view);
    arena_rewind(memory->scratch, mark);
    return status;
}
