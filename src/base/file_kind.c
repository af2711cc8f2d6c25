/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_kind.h"

#include <string.h>

/* Tags of protobuf fields: number << 3 | wire type. */
enum {
    TAG_1_VARINT = 0x08,
    TAG_1_BYTES = 0x0A,
    TAG_2_BYTES = 0x12,
    TAG_2_VARINT = 0x10,
    TAG_7_BYTES = 0x3A,
    TAG_8_BYTES = 0x42
};

struct head {
    const uint8_t *bytes;
    size_t size;
};

static bool begins(const struct head *h, size_t at, const char *with, size_t length)
{
    return at + length <= h->size && memcmp(h->bytes + at, with, length) == 0;
}

/* A short text of a field at `at`, behind the tag: its length, then letters that names are made of. Gives where it
 * ends; 0: there is none. */
static size_t after_text(const struct head *h, size_t at)
{
    if (at >= h->size || h->bytes[at] == 0 || h->bytes[at] >= 0x80)
        return 0;
    size_t end = at + 1 + h->bytes[at];
    if (end > h->size)
        return 0;
    for (size_t i = at + 1; i < end; i++)
        if (h->bytes[i] < 0x20 || h->bytes[i] > 0x7E)
            return 0;
    return end;
}

static bool has_tag(const struct head *h, size_t at, uint8_t tag)
{
    return at < h->size && h->bytes[at] == tag;
}

/* GraphDef: field 1 is a node, whose fields 1 and 2 are the texts name and op. */
static bool is_graph_def(const struct head *h)
{
    size_t at = 1;
    if (!has_tag(h, 0, TAG_1_BYTES))
        return false;
    while (at < h->size && h->bytes[at] >= 0x80)
        at++;
    at++;
    size_t name = has_tag(h, at, TAG_1_BYTES) ? after_text(h, at + 1) : 0;
    return name && has_tag(h, name, TAG_2_BYTES) && after_text(h, name + 1);
}

/* SavedModel: its schema is version 1, field 2 the first graph. */
static bool is_saved_model(const struct head *h)
{
    return has_tag(h, 0, TAG_1_VARINT) && has_tag(h, 1, 1) && has_tag(h, 2, TAG_2_BYTES) && !after_text(h, 3);
}

/* ModelProto: field 1 is the version of the format, then comes who made it, the graph, or an opset: its domain or
 * version. */
static bool is_onnx(const struct head *h)
{
    if (!has_tag(h, 0, TAG_1_VARINT) || h->size < 3 || h->bytes[1] == 0 || h->bytes[1] >= 0x20)
        return false;
    const bool opset = has_tag(h, 2, TAG_8_BYTES) && (has_tag(h, 4, TAG_1_BYTES) || has_tag(h, 4, TAG_2_VARINT));
    return opset || has_tag(h, 2, TAG_7_BYTES) || (has_tag(h, 2, TAG_2_BYTES) && after_text(h, 3));
}

/* Whether a zip's first entry has this name, or one that ends so. */
static bool first_entry_is(const struct head *h, const char *name, bool whole)
{
    size_t length = strlen(name), stored = h->size > 28 ? h->bytes[26] | (size_t)h->bytes[27] << 8 : 0;
    if (!begins(h, 0, "PK\3\4", 4) || stored < length || (whole && stored != length))
        return false;
    return begins(h, 30 + stored - length, name, length);
}

static bool is_container(const struct head *h)
{
    return first_entry_is(h, "model", true) || first_entry_is(h, "model.params", true) ||
           first_entry_is(h, "dlc.metadata", true);
}

static bool is_torch(const struct head *h)
{
    return first_entry_is(h, "/data.pkl", false) || first_entry_is(h, "/version", false);
}

static bool is_keras(const struct head *h)
{
    return begins(h, 0, "\x89HDF\r\n\x1a\n", 8) || first_entry_is(h, "metadata.json", true);
}

static bool is_page(const struct head *h)
{
    return begins(h, 0, "<!DOCTYPE", 9) || begins(h, 0, "<!doctype", 9) || begins(h, 0, "<html", 5);
}

#define SIGNATURE(name, at, text)                         \
    static bool name(const struct head *h)                \
    {                                                     \
        return begins(h, (at), (text), sizeof(text) - 1); \
    }
SIGNATURE(is_pointer, 0, "version https://git-lfs")
SIGNATURE(is_lite, 4, "TFL3")
SIGNATURE(is_elf, 0,
          "\x7f"
          "ELF")
SIGNATURE(is_array, 0, "\x93NUMPY")
SIGNATURE(is_gzip, 0, "\x1f\x8b")
SIGNATURE(is_zip, 0, "PK\3\4")
SIGNATURE(is_json, 0, "{")
SIGNATURE(is_xml, 0, "<?xml")
#undef SIGNATURE

/* The first that fits is what the file is taken for. */
static const struct kind {
    bool (*is)(const struct head *h);
    const char *what;
    const char *advice;
} kinds[] = {
    {is_pointer, "a pointer of Git LFS, not the file that it stands for", "'git lfs pull' fetches that"},
    {is_container, "a DLC container", "dlc-info shows what is in it, net-run executes it"},
    {is_torch, "a PyTorch model", "torch.onnx.export makes an ONNX model of it"},
    {is_keras, "a Keras model", "model.export(FOLDER) makes a saved model of it, which tensorflow-to-dlc converts"},
    {is_lite, "a TensorFlow Lite model", "tensorflow-to-dlc converts the graph that it was made from"},
    {is_elf, "a program or library", "a model is data"},
    {is_array, "a NumPy array", "a model is asked for"},
    {is_page, "a web page", "the download may have failed"},
    {is_xml, "an XML file", "converters take configs of user-defined ops by --udo_config_paths"},
    {is_json, "a JSON file", "converters take configs of user-defined ops by --udo_config_paths"},
    {is_gzip, "a compressed file", "gunzip or tar -xzf unpacks it"},
    {is_saved_model, "a saved model of TensorFlow", "tensorflow-to-dlc converts its folder"},
    {is_onnx, "an ONNX model", "onnx-to-dlc converts it"},
    {is_graph_def, "a TensorFlow model", "tensorflow-to-dlc converts it"},
    {is_zip, "a zip file", "unpack it"},
};

const char *file_kind_hint(struct arena *arena, const uint8_t *bytes, uint64_t size, const char *wanted,
                           const char *otherwise)
{
    const struct head h = {bytes, size < FILE_KIND_BYTES ? (size_t)size : FILE_KIND_BYTES};
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (kinds[i].is(&h))
            return strcmp(kinds[i].what, wanted) == 0
                       ? otherwise
                       : arena_printf(arena, "this is %s: %s", kinds[i].what, kinds[i].advice);
    return otherwise;
}
