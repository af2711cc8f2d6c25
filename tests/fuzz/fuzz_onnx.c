/* Any bytes as an ONNX model: loaded or refused with a diagnostic, nothing else. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "converters/onnx/onnx.h"
#include "engine.h"

static void load(const struct fw_memory *memory, const uint8_t *data, size_t size)
{
    struct diags diags;
    struct file *file;
    struct fw_model *model;
    diags_init(&diags, memory->kept);
    int fd = memfd_create("model", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    odlc_status status = file_map_fd(memory->kept, &diags, "/nonexistent/model.onnx", fd, &file);
    if (status == ODLC_OK)
        status = onnx_load_file(memory, &diags, file, NULL, &model);
    if ((status == ODLC_OK) != (diags.errors == 0) || status == ODLC_ERR_INTERNAL)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fw_memory memory = {.kept = arena_create(), .graph = arena_create(), .scratch = arena_create()};
    if (!memory.kept || !memory.graph || !memory.scratch)
        abort();
    if (setjmp(*arena_catch(memory.kept)) == 0 && setjmp(*arena_catch(memory.graph)) == 0 &&
        setjmp(*arena_catch(memory.scratch)) == 0)
        load(&memory, data, size);
    arena_destroy(memory.scratch);
    arena_destroy(memory.graph);
    arena_destroy(memory.kept);
    return 0;
}
