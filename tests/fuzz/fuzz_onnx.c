/* Any bytes as an ONNX model: loaded or refused with a diagnostic, nothing else. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "converters/onnx/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(struct arena *arena, const uint8_t *data, size_t size)
{
    struct diags diags;
    struct file *file;
    struct fw_model *model;
    diags_init(&diags, arena);
    int fd = memfd_create("model", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    odlc_status status = file_map_fd(arena, &diags, "/nonexistent/model.onnx", fd, &file);
    if (status == ODLC_OK)
        status = onnx_load_file(arena, &diags, file, NULL, &model);
    if ((status == ODLC_OK) != (diags.errors == 0) || status == ODLC_ERR_INTERNAL)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    if (!arena)
        return 0;
    if (setjmp(*arena_catch(arena)) == 0)
        load(arena, data, size);
    arena_destroy(arena);
    return 0;
}
