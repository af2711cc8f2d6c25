/* SPDX-License-Identifier: Apache-2.0 */
/* Loading a model: find the graph, check the bytes, find the nodes, then walk back from the outputs. */
#include "converters/tensorflow/decode/op_list.h"
#include "converters/tensorflow/decode/tf_graph.h"
#include "converters/tensorflow/decode/tf_tensor.h"
#include "converters/tensorflow/normalize/normalize.h"
#include "converters/tensorflow/schema/tf_schema.h"
#include "converters/tensorflow/tensorflow.h"
#include "tensorflow.pb-c.h"

static struct tf_model begin(const struct fw_memory *memory, struct diags *diags, const struct file *file)
{
    struct tf_model m = {.memory = *memory, .diags = diags, .file = file};
    names_init(&m.names, memory->kept, memory->scratch);
    return m;
}

static odlc_status load_graph(struct tf_model *m, const struct wanted *wanted, struct fw_model **out)
{
    struct fw_model *model;
    TRY(tf_decode_graph(m, wanted->source->from, wanted->source->to));
    TRY(normalize_graph(m, wanted, normalize_stages, normalize_n_stages, &model));
    for (size_t i = 0; i < model->ops.count; i++)
        TRY(tf_describe_op(m, model->ops.data[i]));
    *out = model;
    return ODLC_OK;
}

odlc_status tensorflow_load_file(const struct fw_memory *memory, struct diags *diags, const struct file *file,
                                 const struct fw_load_options *options, struct fw_model **out)
{
    struct arena_mark mark = arena_mark(memory->scratch);
    struct tf_model m = begin(memory, diags, file);
    const struct tf_source source = {.to = file->size, .path = file->path, .restore_op = ""};
    const struct tf_signature signature = {0};
    const struct wanted wanted = {.options = options, .source = &source, .signature = &signature};
    odlc_status status = wire_check(diags, file, &tensorflow_schema, &tensorflow__graph_def__descriptor);
    if (status == ODLC_OK)
        status = load_graph(&m, &wanted, out);
    arena_rewind(memory->scratch, mark);
    return status;
}

static odlc_status load_source(const struct fw_memory *memory, struct diags *diags,
                               const struct fw_load_options *options, struct fw_model **out)
{
    struct tf_source source;
    struct tf_signature signature;
    TRY(source_open(memory, diags, options, &source));
    struct tf_model m = begin(memory, diags, source.file);
    TRY(tf_decode_op_list(&m, &source.ops));
    TRY(source_choose(&source, options));
    TRY(tf_decode_signature(&m, &source.signature, &signature));
    const struct wanted wanted = {.options = options, .source = &source, .signature = &signature};
    return load_graph(&m, &wanted, out);
}

odlc_status tensorflow_load(const struct fw_memory *memory, struct diags *diags, const struct fw_load_options *options,
                            struct fw_model **out)
{
    struct arena_mark mark = arena_mark(memory->scratch);
    odlc_status status = load_source(memory, diags, options, out);
    arena_rewind(memory->scratch, mark);
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
