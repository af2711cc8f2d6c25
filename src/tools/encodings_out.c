/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/encodings_out.h"

#include <string.h>

#include "text/json_out.h"
#include "tools/text_file.h"

static void put_encoding(struct json_out *j, const struct encoding *e)
{
    json_object_inline(j, NULL);
    json_uint(j, "bitwidth", e->bitwidth);
    json_string(j, "dtype", "int");
    json_string(j, "is_symmetric", e->symmetric ? "True" : "False");
    json_double(j, "max", e->max);
    json_double(j, "min", e->min);
    json_int(j, "offset", e->offset);
    json_double(j, "scale", e->scale);
    json_end_object(j);
}

/* Beside a tensor that stays a float, its integers have a name that the container of floats does not have. */
static const char *name_before(struct arena *arena, const struct graph *g, const char *name)
{
    static const char suffix[] = ".quantized";
    const size_t length = strlen(name), size = sizeof suffix - 1;
    if (length <= size || strcmp(name + length - size, suffix) != 0)
        return name;
    const char *before = arena_printf(arena, "%.*s", (int)(length - size), name);
    return graph_find_tensor(g, before) == NO_TENSOR ? name : before;
}

static void put_section(struct arena *arena, struct json_out *j, const struct graph *g, const char *key, bool constants)
{
    json_object(j, key);
    for (tensor_id id = 0; id < g->tensors.count; id++) {
        const struct tensor *t = graph_tensor(g, id);
        if (!t->quant || (t->kind == TENSOR_STATIC) != constants)
            continue;
        json_array(j, name_before(arena, g, t->name));
        for (uint32_t i = 0; i < t->quant->count; i++)
            put_encoding(j, &t->quant->encodings[i]);
        json_end_array(j);
    }
    json_end_object(j);
}

odlc_status encodings_out(struct arena *arena, struct diags *diags, const struct graph *g, const char *path)
{
    struct text_stream file;
    if (!text_stream_open(&file))
        return ODLC_ERR_NOMEM;
    struct json_out j = json_out_to(file.stream, false);
    json_object(&j, NULL);
    json_string(&j, "version", "0.6.1");
    put_section(arena, &j, g, "activation_encodings", false);
    put_section(arena, &j, g, "param_encodings", true);
    json_end_object(&j);
    return text_file_write(arena, diags, &file, path);
}
