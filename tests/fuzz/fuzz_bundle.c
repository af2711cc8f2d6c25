/* Any bytes as a checkpoint of one shard: all its tensors are read or refused with a diagnostic, nothing else. An input
 * is the length of the index in 4 bytes, the index, and the shard. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/reader.h"
#include "converters/tensorflow/bundle.h"
#include "engine.h"

static char folder[] = "/dev/shm/odlc-fuzz-bundle-XXXXXX";
static char prefix[sizeof folder + 2], index_path[sizeof folder + 40], shard_path[sizeof folder + 40];

static void remove_files(void)
{
    unlink(index_path);
    unlink(shard_path);
    rmdir(folder);
}

static void make_folder(void)
{
    if (prefix[0])
        return;
    if (!mkdtemp(folder))
        abort();
    snprintf(prefix, sizeof prefix, "%s/m", folder);
    snprintf(index_path, sizeof index_path, "%s.index", prefix);
    snprintf(shard_path, sizeof shard_path, "%s.data-00000-of-00001", prefix);
    atexit(remove_files);
}

static void save(const char *path, const uint8_t *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    close(fd);
}

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
    make_folder();
    if (setjmp(*arena_catch(arena)) == 0 && size >= 4) {
        struct diags diags;
        struct bundle *b;
        size_t index = (size_t)min_u64(load_le(bytes, 4), size - 4);
        save(index_path, bytes + 4, index);
        save(shard_path, bytes + 4 + index, size - 4 - index);
        diags_init(&diags, arena);
        odlc_status status = bundle_open(arena, &diags, model_folder_of(arena, prefix, false), prefix, &b);
        if ((status == ODLC_OK) != (diags.errors == 0) || status == ODLC_ERR_INTERNAL)
            abort();
        if (status == ODLC_OK)
            read_tensors(&diags, b);
    }
    arena_destroy(arena);
    return 0;
}
