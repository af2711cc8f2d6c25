/* Any bytes as a container, read as far as they allow. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dlc/read.h"
#include "engine.h"

static void read_container(struct arena *arena, int fd)
{
    struct diags diags;
    struct file *file;
    struct dlc_file *dlc;
    struct graph *g;
    diags_init(&diags, arena);
    if (file_map_fd(arena, &diags, "fuzz.dlc", fd, &file) != ODLC_OK)
        abort();
    odlc_status status = dlc_read_mapped(arena, &diags, file, &dlc);
    if (status == ODLC_OK) {
        odlc_status verified = dlc_verify(&diags, dlc); /* a wrong CRC does not stop the rest here */
        for (uint32_t i = 0; i < dlc->n_graphs; i++)
            status = dlc_to_ir(arena, &diags, dlc, i, &g);
        if (verified != ODLC_OK)
            status = verified;
    }
    if ((status != ODLC_OK) != (diags.errors > 0) && status != ODLC_OK) /* a failure must say why */
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct arena *arena = arena_create();
    if (fd < 0 || !arena || write(fd, bytes, size) != (ssize_t)size)
        abort();
    if (setjmp(*arena_catch(arena)) == 0)
        read_container(arena, fd);
    arena_destroy(arena);
    return 0;
}
