/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "converters/driver/custom_io.h"
#include "text/yaml_text.h"

struct reader {
    const struct context *c;
    struct custom_io *io;
    odlc_status status;
};

static void wrong(struct reader *r, const struct json_value *at, odlc_status status, const char *hint,
                  const char *message)
{
    (void)json_error(r->io->file, at, hint, "custom-io", "%s", message);
    if (r->status == ODLC_OK)
        r->status = status;
}

static bool is_given(const struct json_value *value)
{
    return value && value->kind != JSON_NULL;
}

/* Whether the value is a mapping; keys that it has beside the known ones are reported. */
static bool check_mapping(struct reader *r, const struct json_value *value, const char *const *keys, size_t count)
{
    if (!json_is(value, JSON_OBJECT)) {
        wrong(r, value, ODLC_ERR_INVALID, NULL, "this is no mapping");
        return false;
    }
    for (const struct json_value *member = value->child; member; member = member->next) {
        size_t i = 0;
        while (i < count && strcmp(member->key, keys[i]) != 0)
            i++;
        if (i < count)
            continue;
        const char *nearest = nearest_word(member->key, keys, count);
        (void)json_key_error(r->io->file, member,
                             nearest ? arena_printf(r->c->arena, "did you mean %s?", nearest) : NULL, "custom-io-key",
                             "there is no setting %s here", member->key);
        r->status = ODLC_ERR_INVALID;
    }
    return true;
}

static const char *read_word(struct reader *r, const struct json_value *value)
{
    if (!is_given(value))
        return NULL;
    if (!json_is(value, JSON_STRING)) {
        wrong(r, value, ODLC_ERR_INVALID, NULL, arena_printf(r->c->scratch, "%s is a word", value->key));
        return NULL;
    }
    return value->string;
}

static enum dtype read_type(struct reader *r, const struct json_value *value)
{
    static const char *const types[] = {"float32", "float16", "int8",   "uint8", "int16",
                                        "uint16",  "int32",   "uint32", "int64", "bool"};
    const char *word = read_word(r, value);
    for (size_t i = 0; word && i < COUNT_OF(types); i++)
        if (strcmp(word, types[i]) == 0)
            return dtype_from_name(word);
    if (word)
        wrong(r, value, ODLC_ERR_UNSUPPORTED,
              "float32, float16, int8, uint8, int16, uint16, int32, uint32, int64 or bool",
              arena_printf(r->c->scratch, "there is no type %s of inputs and outputs", word));
    return DT_NONE;
}

/* A layout has a letter for each axis, none twice. */
static const char *read_layout(struct reader *r, const struct json_value *value)
{
    const char *word = read_word(r, value);
    for (const char *c = word; c && *c; c++)
        if (!strchr("NCDHWFT", *c) || strchr(c + 1, *c)) {
            wrong(r, value, ODLC_ERR_INVALID,
                  "a letter for each axis: NCHW, NHWC, NCDHW, NDHWC, NCF, NFC, NTF, TNF, NF",
                  arena_printf(r->c->scratch, "there is no layout %s", word));
            return NULL;
        }
    return word;
}

/* Both layouts name the same axes. */
static void check_layouts(struct reader *r, struct custom_entry *e, const struct json_value *at)
{
    if (!e->model && !e->custom)
        return;
    bool same = e->model && e->custom && strlen(e->model) == strlen(e->custom);
    for (const char *c = e->model; same && *c; c++)
        same = strchr(e->custom, *c) != NULL;
    if (!same) {
        wrong(r, at, ODLC_ERR_INVALID, "give the model's layout and the wanted one: NCHW and NHWC, for example",
              "the two layouts do not have the same axes");
        e->model = e->custom = NULL;
    }
}

static void read_number(struct reader *r, const struct json_value *value, double *out)
{
    if (json_is(value, JSON_NUMBER) && isfinite(value->number))
        *out = value->number;
    else
        wrong(r, value, ODLC_ERR_INVALID, NULL, arena_printf(r->c->scratch, "%s is a number", value->key));
}

static void read_encoding(struct reader *r, const struct json_value *value, struct custom_entry *e)
{
    const struct json_value *scale = json_member(value, "Scale"), *offset = json_member(value, "Offset");
    if (!is_given(scale) && !is_given(offset))
        return;
    if (!is_given(scale)) {
        wrong(r, value, ODLC_ERR_INVALID, NULL, "an encoding has a Scale");
        return;
    }
    e->encoded = value;
    read_number(r, scale, &e->scale);
    if (is_given(offset))
        read_number(r, offset, &e->offset);
}

static void add_entry(struct reader *r, struct custom_entry *e, const struct json_value *at, const char *key)
{
    e->place = at;
    e->name = read_word(r, json_member(at, key));
    if (!e->name) {
        wrong(r, at, ODLC_ERR_INVALID, NULL, arena_printf(r->c->scratch, "a tensor has a name, %s", key));
        return;
    }
    if (r->c->frontend->canonical_name)
        e->name = r->c->frontend->canonical_name(r->c->arena, e->name);
    if (map_add(&r->io->names, e->name, (uint32_t)r->io->entries.count) == MAP_NONE)
        vec_push(r->c->arena, &r->io->entries, *e);
    else
        wrong(r, at, ODLC_ERR_INVALID, NULL, arena_printf(r->c->scratch, "%s is there twice", e->name));
}

/* ---- a list ---- */

/* {IOName, Layout: {Model, Custom}, Datatype, QuantParam: {Type, Scale, Offset}} */
static void read_item(struct reader *r, const struct json_value *item)
{
    static const char *const keys[] = {"IOName", "Layout", "Datatype", "QuantParam"};
    static const char *const layout_keys[] = {"Model", "Custom"}, *const quant_keys[] = {"Type", "Scale", "Offset"};
    struct custom_entry e = {.dtype = DT_NONE, .source = DT_NONE};
    if (!check_mapping(r, item, keys, COUNT_OF(keys)))
        return;
    const struct json_value *layout = json_member(item, "Layout"), *quant = json_member(item, "QuantParam");
    if (is_given(layout) && check_mapping(r, layout, layout_keys, COUNT_OF(layout_keys))) {
        e.model = read_layout(r, json_member(layout, "Model"));
        e.custom = read_layout(r, json_member(layout, "Custom"));
        check_layouts(r, &e, layout);
    }
    e.dtype = read_type(r, json_member(item, "Datatype"));
    if (is_given(quant) && check_mapping(r, quant, quant_keys, COUNT_OF(quant_keys))) {
        const char *type = read_word(r, json_member(quant, "Type"));
        if (type && strcmp(type, "QNN_DEFINITION_DEFINED") != 0)
            wrong(
                r, quant, ODLC_ERR_UNSUPPORTED, "QNN_DEFINITION_DEFINED, with Scale and Offset",
                arena_printf(r->c->scratch, "an encoding of the type %s is not known before the quantizer ran", type));
        else
            read_encoding(r, quant, &e);
    }
    add_entry(r, &e, item, "IOName");
}

/* ---- a configuration of inputs and outputs ---- */

/* {Name, Src Model Parameters: {DataType, Layout}, Desired Model Parameters: {DataType, Layout, Shape, Color
 * Conversion, QuantParams: {Scale, Offset}}} */
static void read_tensor(struct reader *r, const struct json_value *item)
{
    static const char *const keys[] = {"Name", "Src Model Parameters", "Desired Model Parameters"};
    static const char *const from_keys[] = {"DataType", "Layout"};
    static const char *const to_keys[] = {"DataType", "Layout", "Shape", "Color Conversion", "QuantParams"};
    static const char *const quant_keys[] = {"Scale", "Offset"};
    struct custom_entry e = {.dtype = DT_NONE, .source = DT_NONE};
    if (!check_mapping(r, item, keys, COUNT_OF(keys)))
        return;
    const struct json_value *from = json_member(item, keys[1]), *to = json_member(item, keys[2]);
    if (is_given(from) && check_mapping(r, from, from_keys, COUNT_OF(from_keys))) {
        e.source = read_type(r, json_member(from, "DataType"));
        e.model = read_layout(r, json_member(from, "Layout"));
    }
    if (is_given(to) && check_mapping(r, to, to_keys, COUNT_OF(to_keys))) {
        const struct json_value *quant = json_member(to, "QuantParams"), *shape = json_member(to, "Shape"),
                                *color = json_member(to, "Color Conversion");
        e.dtype = read_type(r, json_member(to, "DataType"));
        e.custom = read_layout(r, json_member(to, "Layout"));
        if (is_given(quant) && check_mapping(r, quant, quant_keys, COUNT_OF(quant_keys)))
            read_encoding(r, quant, &e);
        if (is_given(shape))
            wrong(r, shape, ODLC_ERR_UNSUPPORTED, "-d NAME DIMS gives an input its dimensions", "shapes are not read");
        if (is_given(color))
            wrong(r, color, ODLC_ERR_UNSUPPORTED, NULL, "colours are not converted");
    }
    if (e.custom) /* a layout of the model alone says nothing */
        check_layouts(r, &e, item);
    add_entry(r, &e, item, "Name");
}

static void read_list(struct reader *r, const struct json_value *list,
                      void (*read)(struct reader *r, const struct json_value *item))
{
    if (!is_given(list))
        return;
    if (!json_is(list, JSON_ARRAY))
        wrong(r, list, ODLC_ERR_INVALID, NULL, "this is no list");
    for (const struct json_value *item = json_child(list); item; item = item->next)
        read(r, item);
}

/* Names to cut the graph at, which other options give. */
static void check_cut(struct reader *r, const struct json_value *item)
{
    for (const struct json_value *member = json_child(item); member; member = member->next)
        if (is_given(member))
            wrong(r, member, ODLC_ERR_UNSUPPORTED, "--out_node NAME converts what that output needs",
                  arena_printf(r->c->scratch, "%s are not read", member->key ? member->key : "names"));
}

static void read_root(struct reader *r, const struct json_value *root)
{
    static const char *const keys[] = {"Converted Graph", "Input Tensor Configuration", "Output Tensor Configuration"};
    if (json_is(root, JSON_ARRAY)) {
        read_list(r, root, read_item);
    } else if (!json_is(root, JSON_OBJECT)) {
        wrong(r, root, ODLC_ERR_INVALID, NULL, "this is neither a list of tensors nor a configuration of them");
    } else if (check_mapping(r, root, keys, COUNT_OF(keys))) {
        read_list(r, json_member(root, keys[0]), check_cut);
        read_list(r, json_member(root, keys[1]), read_tensor);
        read_list(r, json_member(root, keys[2]), read_tensor);
    }
}

odlc_status read_custom_io(const struct context *c, struct custom_io *out)
{
    const char *path = c->options->custom_io;
    struct file *bytes;
    *out = (struct custom_io){.file = NULL};
    if (!path)
        return ODLC_OK;
    TRY(file_map(c->arena, c->diags, path, &bytes));
    if (bytes->size > SOURCE_MAX_BYTES)
        return diag_error(c->diags, ODLC_ERR_LIMIT, AT(.file = path), "custom-io-too-large",
                          "a file of inputs and outputs may have %zu MiB", SOURCE_MAX_BYTES >> 20);
    TRY(yaml_parse(c->arena, c->diags, path, (const char *)bytes->data, bytes->size, &out->file));
    map_init(&out->names, c->arena);
    struct reader r = {.c = c, .io = out};
    read_root(&r, out->file->root);
    return r.status == ODLC_OK && out->file->source.errors > 0 ? ODLC_ERR_INVALID : r.status;
}
