/* SPDX-License-Identifier: Apache-2.0 */
#include "mutate_container.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/reader.h"
#include "dlc/schema.h"
#include "dlc/zip.h"
#include "engine.h"
#include "mutate_flatbuffer.h"

enum { LOCAL_SIZE = 30, CENTRAL_SIZE = 46, END_SIZE = 22, MAX_PARTS = 12 };

/* An entry on its way from one zip into another. */
struct part {
    const char *name;
    struct flat bytes;
    uint32_t crc;      /* as stored: 0 says that there is none */
    uint64_t unpacked; /* bytes of a packed one; 0: it is stored */
};

struct parts {
    struct arena *arena;
    struct part list[MAX_PARTS];
    uint32_t count;
    uint32_t *random;
    uint32_t major, minor;
};

/* ---- from a zip to its parts and back ---- */

/* False when it is none that can be made anew. */
static bool take_apart(struct parts *p, const uint8_t *bytes, size_t size, size_t room)
{
    struct diags diags;
    struct dlc_entry *entries;
    uint32_t count;
    diags_init(&diags, p->arena);
    const struct file *file = file_of_memory(p->arena, "fuzz.dlc", bytes, size);
    if (zip_list(p->arena, &diags, file, &entries, &count) != ODLC_OK || !count || count > MAX_PARTS)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct dlc_entry *e = &entries[i];
        struct flat copy = {
            .data = arena_alloc(p->arena, room), .size = (size_t)e->packed, .room = room, .random = p->random};
        if (e->packed > room)
            return false;
        memcpy(copy.data, bytes + e->offset, copy.size);
        p->list[p->count++] = (struct part){e->name, copy, e->crc, e->compressed ? e->size : 0};
    }
    return true;
}

static void put_header(uint8_t *to, const struct part *part, bool central, size_t offset)
{
    uint8_t *same = to + (central ? 6 : 4); /* both headers go on alike */
    store_le(to, 4, central ? 0x02014B50 : 0x04034B50);
    if (central) {
        store_le(to + 4, 2, 20);
        store_le(to + 42, 4, offset);
    }
    store_le(same, 2, 20);
    store_le(same + 4, 2, part->unpacked ? 8 : 0);
    store_le(same + 10, 4, part->crc);
    store_le(same + 14, 4, part->bytes.size);
    store_le(same + 18, 4, part->unpacked ? part->unpacked : part->bytes.size);
    store_le(same + 22, 2, strlen(part->name));
    memcpy(to + (central ? CENTRAL_SIZE : LOCAL_SIZE), part->name, strlen(part->name));
}

/* 0 when there is no room for all of it. */
static size_t put_together(const struct parts *p, uint8_t *bytes, size_t max_size)
{
    size_t offsets[MAX_PARTS], at = 0, whole = END_SIZE, directory;
    for (uint32_t i = 0; i < p->count; i++)
        whole += LOCAL_SIZE + CENTRAL_SIZE + 2 * strlen(p->list[i].name) + p->list[i].bytes.size;
    if (whole > max_size)
        return 0;
    memset(bytes, 0, whole);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct part *part = &p->list[i];
        offsets[i] = at;
        put_header(bytes + at, part, false, 0);
        at += LOCAL_SIZE + strlen(part->name);
        memcpy(bytes + at, part->bytes.data, part->bytes.size);
        at += part->bytes.size;
    }
    directory = at;
    for (uint32_t i = 0; i < p->count; i++) {
        put_header(bytes + at, &p->list[i], true, offsets[i]);
        at += CENTRAL_SIZE + strlen(p->list[i].name);
    }
    store_le(bytes + at, 4, 0x06054B50);
    store_le(bytes + at + 8, 2, p->count);
    store_le(bytes + at + 10, 2, p->count);
    store_le(bytes + at + 12, 4, at - directory);
    store_le(bytes + at + 16, 4, directory);
    return whole;
}

/* ---- what is in the parts ---- */

static bool is_stream(const struct part *part)
{
    return strcmp(part->name, "model") == 0 || strcmp(part->name, "model.params") == 0;
}

/* Texts that mean something to a reader. */
static const char *const words[] = {"",
                                    "qti.aisw",
                                    "packageName",
                                    "name",
                                    "model",
                                    "axis",
                                    "axes",
                                    "perm",
                                    "stride",
                                    "pad_amount",
                                    "dilation",
                                    "group",
                                    "operation",
                                    "eltwise_type",
                                    "pool_type",
                                    "Conv2d",
                                    "MatMul",
                                    "Concat",
                                    "Gather",
                                    "Reshape",
                                    "Transpose",
                                    "Pool",
                                    "Reduce",
                                    "Eltwise_Binary",
                                    "OutputDims",
                                    "0",
                                    "DataEncoding",
                                    "DataEncodingElement",
                                    "FxpData",
                                    "delta",
                                    "min",
                                    "max",
                                    "offset",
                                    "precision",
                                    "Input",
                                    "Const",
                                    "UDO",
                                    "udo_type",
                                    "package_name",
                                    "input_list",
                                    "weights_0",
                                    "bias",
                                    "value",
                                    "Convolutional",
                                    "FullyConnected",
                                    "ElementWiseAdd",
                                    "\xFF\xC0<&\"\n",
                                    "encoding"};

const struct op *random_op(uint32_t *random)
{
    size_t count = 0;
    while (op_at(count))
        count++;
    return op_at(random_below(random, (uint32_t)count));
}

static const char *operator_word(uint32_t *random)
{
    const struct op *op = random_op(random);
    return op->n_params && random_below(random, 2) ? op->params[random_below(random, op->n_params)].name
           : random_below(random, 2)               ? op->dlc_type
                                                   : op->name;
}

static void mutate_stream(struct parts *p, struct part *part)
{
    const char *chosen[] = {words[random_below(p->random, COUNT_OF(words))], operator_word(p->random)};
    struct flat buffer = {.data = part->bytes.data + STREAM_HEADER,
                          .size = part->bytes.size - STREAM_HEADER,
                          .room = part->bytes.room - STREAM_HEADER,
                          .random = p->random};
    bool is_model = strcmp(part->name, "model") == 0;
    const struct fb_type *root =
        p->major == 3 ? (is_model ? &v3_network : &v3_params) : (is_model ? &v4_network : &v4_params);
    if (p->major == 4 && !is_model && memcmp(buffer.data + 4, ID_BUFFERS, 4) == 0) {
        struct flat inner = flatbuffer_vector(&buffer, SLOT_v4_buffers_params);
        root = &v4_buffers;
        if (inner.size && random_below(p->random, 4))
            mutate_flatbuffer(p->arena, &inner, &v4_params, chosen, COUNT_OF(chosen));
        else
            mutate_flatbuffer(p->arena, &buffer, root, chosen, COUNT_OF(chosen));
    } else {
        mutate_flatbuffer(p->arena, &buffer, root, chosen, COUNT_OF(chosen));
    }
    part->bytes.size = STREAM_HEADER + buffer.size;
}

static void mutate_bytes(const struct parts *p, struct part *part)
{
    part->bytes.size =
        LLVMFuzzerMutate(part->bytes.data, part->bytes.size, min_u64(part->bytes.room, part->bytes.size + 64));
    if (random_below(p->random, 64) == 0)
        part->name = words[random_below(p->random, COUNT_OF(words))];
}

static void keep_version(const struct parts *p, struct part *part)
{
    if (!is_stream(part) || part->bytes.size < STREAM_HEADER || random_below(p->random, 16) == 0)
        return;
    store_le(part->bytes.data, 2, STREAM_MAGIC);
    store_le(part->bytes.data + 2, 2, p->major);
    store_le(part->bytes.data + 4, 2, p->minor);
}

static void mutate_part(struct parts *p)
{
    struct part *part = &p->list[random_below(p->random, p->count)];
    for (uint32_t i = 0; i < p->count && !is_stream(part); i++) /* the others are worth one try in eight */
        if (is_stream(&p->list[i]) && random_below(p->random, 8))
            part = &p->list[i];
    if (is_stream(part) && !part->unpacked && part->bytes.size >= STREAM_HEADER + 16 && random_below(p->random, 8))
        mutate_stream(p, part);
    else
        mutate_bytes(p, part);
    for (uint32_t i = 0; i < p->count; i++)
        keep_version(p, &p->list[i]);
    if (part->crc && random_below(p->random, 32))
        part->crc = libdeflate_crc32(0, part->bytes.data, part->bytes.size);
}

static size_t mutate_parts(struct arena *arena, uint8_t *bytes, size_t size, size_t max_size, uint32_t *random,
                           const struct container_version *version)
{
    struct parts parts = {.arena = arena, .random = random, .major = version->major, .minor = version->minor};
    if (!take_apart(&parts, bytes, size, max_size))
        return 0;
    mutate_part(&parts);
    return put_together(&parts, bytes, max_size);
}

size_t mutate_container(uint8_t *bytes, size_t size, size_t max_size, unsigned seed,
                        const struct container_version *version)
{
    struct arena *arena = arena_create();
    uint32_t random = seed;
    volatile size_t made = 0;
    if (!arena)
        abort();
    if (setjmp(*arena_catch(arena)) == 0)
        made = seed % 16 ? mutate_parts(arena, bytes, size, max_size, &random, version) : 0;
    arena_destroy(arena);
    return made ? made : LLVMFuzzerMutate(bytes, size, max_size);
}
