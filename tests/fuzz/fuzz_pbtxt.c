/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the text of a saved model or a graph: refused with one diagnostic, or wire bytes that pass the check and
 * that protobuf-c reads. */
#include <setjmp.h>
#include <stdlib.h>

#include "converters/tensorflow/source/pbtxt.h"
#include "converters/frontend/wire.h"
#include "tensorflow.pb-c.h"
#include "engine.h"

static void read_as(struct arena *arena, const uint8_t *data, size_t size, const ProtobufCMessageDescriptor *message)
{
    static const struct wire_schema schema = {.what = "a message", .form = "the wire form"};
    struct diags diags;
    struct file *wire;
    diags_init(&diags, arena);
    odlc_status status =
        pbtxt_to_wire(arena, &diags, file_of_memory(arena, "/nonexistent/model.pbtxt", data, size), message, &wire);
    if (diags.errors != (status != ODLC_OK) || status == ODLC_ERR_INTERNAL)
        abort();
    if (status != ODLC_OK)
        return;
    if (wire_check(&diags, wire, &schema, message) != ODLC_OK)
        abort();
    ProtobufCMessage *read = protobuf_c_message_unpack(message, NULL, wire->size, wire->data);
    if (!read)
        abort();
    protobuf_c_message_free_unpacked(read, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    if (!arena)
        abort();
    if (setjmp(*arena_catch(arena)) == 0) {
        read_as(arena, data, size, &tensorflow__saved_model__descriptor);
        read_as(arena, data, size, &tensorflow__graph_def__descriptor);
    }
    arena_destroy(arena);
    return 0;
}
