/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a checkpoint of one shard: all its tensors are read or refused with a diagnostic, nothing else. An input
 * is the length of the index in 4 bytes, the index, and the shard. */
#include "base/reader.h"
#include "converters/tensorflow/source/bundle.h"
#include "engine.h"
#include "scratch.h"

static void read_tensors(struct diags *diags, struct bundle *b)
{
    size_t n;
    const char *const *keys = bundle_keys(b, &n);
    for (size_t i = 0; i < n; i++) {
        struct view view;
        struct file bytes;
        bool is;
        size_t errors = diags->errors;
        odlc_status status = bundle_find(b, keys[i], &is, &view);
        if ((status == ODLC_OK) != (diags->errors == errors) || status == ODLC_ERR_INTERNAL)
            abort();
        if (status == ODLC_OK && is && view.dtype != DT_STRING) { /* all of it can be read */
            volatile uint8_t sum = 0;
            for (uint64_t k = 0; k < shape_count(&view.shape) * dtype_size(view.dtype); k++)
                sum = (uint8_t)(sum ^ view.bytes[k]);
        }
        errors = diags->errors;
        status = bundle_find_bytes(b, keys[i], &is, &bytes);
        if ((status == ODLC_OK) != (diags->errors == errors) || status == ODLC_ERR_INTERNAL)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct arena *arena = arena_create();
    if (!arena)
        abort();
    if (setjmp(*arena_catch(arena)) == 0 && size >= 4) {
        struct diags diags;
        struct bundle *b;
        size_t index = (size_t)min_u64(load_le(bytes, 4), size - 4);
        scratch_save("m.index", bytes + 4, index);
        scratch_save("m.data-00000-of-00001", bytes + 4 + index, size - 4 - index);
        diags_init(&diags, arena);
        const char *prefix = scratch_path("m");
        odlc_status status = bundle_open(arena, &diags, model_folder_of(arena, prefix, false), prefix, &b);
        if ((status == ODLC_OK) != (diags.errors == 0) || status == ODLC_ERR_INTERNAL)
            abort();
        if (status == ODLC_OK)
            read_tensors(&diags, b);
    }
    arena_destroy(arena);
    return 0;
}
