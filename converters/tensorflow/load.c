/* A frozen graph: map, check the bytes, find the nodes, then walk back from the outputs. */
#include <string.h>

#include "converters/tensorflow/fields.h"
#include "converters/tensorflow/flatten.h"
#include "converters/tensorflow/tensorflow.h"
#include "converters/tensorflow/tensorflow.pb-c.h"

static const struct wire_schema tensorflow_schema = {
    .what = "a TensorFlow model",
    .form = "TensorFlow's protobuf form",
    .tensor = &tensorflow__tensor_proto__descriptor,
    .elements = {{TENSOR_CONTENT, WIRE_BYTES},
                 {TENSOR_FLOAT_VAL, WIRE_FIXED32},
                 {TENSOR_DOUBLE_VAL, WIRE_FIXED64},
                 {TENSOR_INT_VAL, WIRE_VARINT},
                 {TENSOR_SCOMPLEX_VAL, WIRE_FIXED32},
                 {TENSOR_INT64_VAL, WIRE_VARINT},
                 {TENSOR_BOOL_VAL, WIRE_VARINT},
                 {TENSOR_DCOMPLEX_VAL, WIRE_FIXED64},
                 {TENSOR_HALF_VAL, WIRE_VARINT},
                 {TENSOR_UINT32_VAL, WIRE_VARINT},
                 {TENSOR_UINT64_VAL, WIRE_VARINT}},
};

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

/* Operators whose results are no outputs of a model: they are there to be run, or to be read. */
static bool ends_nothing(const char *op)
{
    static const char *const ops[] = {"Const", "Placeholder", "PlaceholderWithDefault", "NoOp", "Assert"};
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        if (strcmp(op, ops[i]) == 0)
            return true;
    return false;
}

/* The nodes that no other reads. */
static void find_ends(const struct tf_model *m, name_list *out)
{
    const struct tf_body *body = &m->body;
    bool *read = arena_array(m->memory.scratch, bool, body->nodes.count);
    for (size_t i = 0; i < body->nodes.count; i++) {
        const struct tf_node *n = &body->nodes.data[i];
        for (uint32_t k = 0; k < n->n_inputs; k++) {
            const char *name = n->inputs[k] + (n->inputs[k][0] == '^');
            uint32_t at = map_get(&body->index, arena_strndup(m->memory.scratch, name, strcspn(name, ":")));
            if (at != MAP_NONE)
                read[at] = true;
        }
    }
    for (size_t i = 0; i < body->nodes.count; i++)
        if (!read[i] && !ends_nothing(body->nodes.data[i].op))
            vec_push(m->memory.scratch, out, body->nodes.data[i].name);
}

static odlc_status check_names(struct flatten *f, const name_list *names)
{
    odlc_status status = ODLC_OK;
    name_list known = {0};
    for (size_t i = f->m->body.nodes.count; i-- > 0;)
        vec_push(f->m->memory.scratch, &known, f->m->body.nodes.data[i].name);
    for (size_t i = 0; i < names->count; i++) {
        struct source s;
        TRY(find_named(f, names->data[i], &s));
        if (!s.frame)
            status = unknown_name(f->m->diags, f->m->file->path,
                                  &(struct unknown_name){.code = "unknown-output",
                                                         .message = "--out_node: the model has no value or node",
                                                         .name = names->data[i],
                                                         .known = known.data,
                                                         .n_known = known.count,
                                                         .listed_as = "last nodes"});
    }
    return status;
}

static void note_unconsumed(const struct flatten *f)
{
    for (size_t i = 0; i < f->m->body.nodes.count; i++) {
        const struct seen *seen = &f->top->seen[i];
        if (seen->state == SEEN_NEW && !seen->inner)
            vec_push(f->m->memory.kept, &f->model->unconsumed,
                     arena_strdup(f->m->memory.kept, f->m->body.nodes.data[i].name));
    }
}

static odlc_status flatten_graph(struct flatten *f)
{
    const struct odlc_convert_options *o = f->options;
    name_list outputs = {0};
    map_init(&f->ops, f->m->memory.scratch);
    map_init(&f->cuts, f->m->memory.scratch);
    for (size_t i = 0; i < o->n_input_dims; i++)
        map_put(&f->cuts, o->input_dims[i].name, 1);
    TRY(frame_create(f, NULL, NULL, NULL, NULL, &f->top));
    for (size_t i = 0; i < o->n_out_names; i++)
        vec_push(f->m->memory.scratch, &outputs, o->out_names[i]);
    if (!o->n_out_names)
        find_ends(f->m, &outputs);
    TRY(check_names(f, &outputs));
    TRY(flatten_model(f, outputs.data, outputs.count));
    note_unconsumed(f);
    return ODLC_OK;
}

static odlc_status load_graph(struct tf_model *m, const struct odlc_convert_options *options, fw_claims_fn *claims,
                              void *user, struct fw_model **out)
{
    struct flatten f = {.m = m, .options = options, .claims = claims, .claims_user = user};
    f.model = arena_new(m->memory.graph, struct fw_model);
    f.model->path = m->file->path;
    if (m->file->size == 0)
        return diag_error(m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(m)), "tensorflow-empty",
                          "not a TensorFlow model: the file is empty");
    TRY(wire_check(m->diags, m->file, &tensorflow_schema, &tensorflow__graph_def__descriptor));
    TRY(tf_decode_graph(m, 0, m->file->size));
    TRY(flatten_graph(&f));
    f.model->n_names = (uint32_t)m->names.texts.count;
    *out = f.model;
    return ODLC_OK;
}

odlc_status tensorflow_load_file(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                                 const struct odlc_convert_options *options, fw_claims_fn *claims, void *user,
                                 struct fw_model **out)
{
    struct arena_mark mark = arena_mark(memory->scratch);
    struct tf_model m = begin(memory, diags, file);
    odlc_status status = load_graph(&m, options, claims, user, out);
    arena_rewind(memory->scratch, mark);
    return status;
}

odlc_status tensorflow_load(const struct fw_memory *memory, struct diags *diags,
                            const struct odlc_convert_options *options, fw_claims_fn *claims, void *user,
                            struct fw_model **out)
{
    struct file *file;
    TRY(file_map(memory->kept, diags, options->input, &file));
    return tensorflow_load_file(memory, diags, file, options, claims, user, out);
}

odlc_status tensorflow_load_tensor(const struct fw_memory *memory, struct diags *diags, const char *path,
                                   struct fw_tensor *out)
{
    struct file *file;
    TRY(file_map(memory->kept, diags, path, &file));
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
