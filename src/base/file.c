#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void unmap(void *object)
{
    struct file *file = object;
    if (file->data && file->size)
        munmap((void *)(uintptr_t)file->data, file->size);
    if (file->fd >= 0)
        close(file->fd);
}

static odlc_status io_error(struct diags *diags, const char *path, const char *doing)
{
    return diag_error(diags, ODLC_ERR_IO, AT(.file = path), "io", "cannot %s: %s", doing, strerror(errno));
}

odlc_status file_map_fd(struct arena *arena, struct diags *diags, const char *path, int fd, struct file **out)
{
    struct file *file = arena_new(arena, struct file);
    file->path = arena_strdup(arena, path);
    file->fd = fd;
    arena_defer(arena, unmap, file);
    struct stat st;
    if (fstat(fd, &st) != 0)
        return io_error(diags, path, "read");
    if (!S_ISREG(st.st_mode))
        return diag_error(diags, ODLC_ERR_IO, AT(.file = path), "not-a-file", "not a regular file");
    if (st.st_size > 0) {
        void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (data == MAP_FAILED)
            return io_error(diags, path, "map");
        file->data = data;
        file->size = (uint64_t)st.st_size;
    }
    *out = file;
    return ODLC_OK;
}

odlc_status file_map(struct arena *arena, struct diags *diags, const char *path, struct file **out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block; it is refused below */
    if (fd < 0)
        return io_error(diags, path, "open");
    return file_map_fd(arena, diags, path, fd, out);
}

odlc_status file_read(const struct file *file, struct diags *diags, uint64_t offset, void *bytes, size_t size)
{
    uint8_t *p = bytes;
    while (size) {
        ssize_t n = pread(file->fd, p, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_error(diags, file->path, "read");
        if (n == 0)
            return diag_error(diags, ODLC_ERR_IO, AT(.file = file->path), "io", "it became shorter while it was read");
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return ODLC_OK;
}

void file_drop(const struct file *file, uint64_t offset, uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t from = align_up(offset, page), to = (offset + size) / page * page;
    if (file->data && from < to)
        madvise((void *)(uintptr_t)(file->data + from), to - from, MADV_DONTNEED);
}

enum { OUT_BUFFER = 256 * 1024 };

struct out_file {
    struct diags *diags;
    const char *path;    /* of the target */
    const char *scratch; /* name of the temporary file, or NULL while it has none (O_TMPFILE) */
    struct arena *arena;
    int fd;
    uint64_t offset; /* bytes given to out_write so far */
    size_t buffered;
    uint8_t *buffer;
};

static void out_abandon(void *object)
{
    struct out_file *out = object;
    if (out->scratch)
        unlink(out->scratch);
    if (out->fd >= 0)
        close(out->fd);
}

static const char *folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
}

static const char *scratch_name(struct out_file *out, unsigned attempt)
{
    return arena_printf(out->arena, "%s.%ld-%u.part", out->path, (long)getpid(), attempt);
}

/* For file systems without O_TMPFILE: a named file that the clean-up removes. */
static int create_named(struct out_file *out)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        const char *name = scratch_name(out, attempt);
        int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            out->scratch = name;
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

odlc_status out_create(struct arena *arena, struct diags *diags, const char *path, struct out_file **result)
{
    struct out_file *out = arena_new(arena, struct out_file);
    *out = (struct out_file){.diags = diags, .path = arena_strdup(arena, path), .arena = arena, .fd = -1};
    out->buffer = arena_alloc(arena, OUT_BUFFER);
    arena_defer(arena, out_abandon, out);
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return diag_error(diags, ODLC_ERR_IO, AT(.file = path), "not-a-file", "the output is not a regular file");
    out->fd = open(folder_of(arena, path), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (out->fd < 0)
        out->fd = create_named(out);
    if (out->fd < 0)
        return io_error(diags, path, "create");
    *result = out;
    return ODLC_OK;
}

static odlc_status write_all(struct out_file *out, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    while (size) {
        ssize_t n = write(out->fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_error(out->diags, out->path, "write");
        p += n;
        size -= (size_t)n;
    }
    return ODLC_OK;
}

odlc_status out_flush(struct out_file *out)
{
    size_t buffered = out->buffered;
    out->buffered = 0;
    return write_all(out, out->buffer, buffered);
}

odlc_status out_write(struct out_file *out, const void *bytes, size_t size)
{
    out->offset += size;
    if (size > OUT_BUFFER - out->buffered)
        TRY(out_flush(out));
    if (size >= OUT_BUFFER)
        return write_all(out, bytes, size);
    if (size)
        memcpy(out->buffer + out->buffered, bytes, size);
    out->buffered += size;
    return ODLC_OK;
}

odlc_status out_patch(struct out_file *out, uint64_t offset, const void *bytes, size_t size)
{
    TRY(out_flush(out));
    const uint8_t *p = bytes;
    while (size) {
        ssize_t n = pwrite(out->fd, p, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_error(out->diags, out->path, "write");
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return ODLC_OK;
}

uint64_t out_offset(const struct out_file *out)
{
    return out->offset;
}

int out_fd(const struct out_file *out)
{
    return out->fd;
}

static odlc_status link_as(struct out_file *out, const char *name, bool *taken)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", out->fd);
    bool linked = linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    *taken = !linked && errno == EEXIST;
    return linked || *taken ? ODLC_OK : io_error(out->diags, out->path, "name");
}

/* An unnamed file gets the target's name at once when nobody has it. Over an existing file it goes by a name beside it,
 * for linkat cannot replace a file, but rename can. */
static odlc_status give_name(struct out_file *out, bool *done)
{
    bool taken;
    TRY(link_as(out, out->path, &taken));
    *done = !taken;
    for (unsigned attempt = 0; taken && attempt < 100; attempt++) {
        const char *name = scratch_name(out, attempt);
        TRY(link_as(out, name, &taken));
        out->scratch = taken ? NULL : name;
    }
    return taken ? io_error(out->diags, out->path, "name") : ODLC_OK;
}

static odlc_status put_in_place(struct out_file *out)
{
    bool done = false;
    if (!out->scratch)
        TRY(give_name(out, &done));
    if (!done && rename(out->scratch, out->path) != 0)
        return io_error(out->diags, out->path, "rename to");
    out->scratch = NULL;
    return ODLC_OK;
}

/* A signal waits while the file has a name beside the target: nobody would remove that one. */
odlc_status out_commit(struct out_file *out)
{
    sigset_t interrupts, before;
    TRY(out_flush(out));
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigaddset(&interrupts, SIGTERM);
    sigaddset(&interrupts, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &interrupts, &before);
    odlc_status status = put_in_place(out);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}
