/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pages.h"
#include "base/target.h"

static void unmap(void *object)
{
    struct file *file = object;
    fault_unwatch(&file->watch);
    if (file->data && file->size)
        pages_unmap_file(file->data, file->size);
}

static void close_descriptor(void *number)
{
    close((int)(intptr_t)number);
}

static odlc_status io_error(struct diags *diags, const char *path, const char *doing)
{
    return diag_error(diags, ODLC_ERR_IO, AT(.file = path), "io", "cannot %s: %s", doing, strerror(errno));
}

odlc_status file_map_fd(struct arena *arena, struct diags *diags, const char *path, int fd, struct file **out)
{
    arena_defer(arena, close_descriptor, (void *)(intptr_t)fd); /* first: memory may run out at any time from here on */
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
        file->data = pages_map_file(fd, (size_t)st.st_size);
        if (!file->data && errno == ENOMEM)
            arena_exhausted(arena);
        if (!file->data)
            return io_error(diags, path, "map");
        file->size = (uint64_t)st.st_size;
    }
    fault_watch(&file->watch, file, diags, &st);
    *out = file;
    return ODLC_OK;
}

int open_patiently(const char *path, int flags)
{
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

const struct odlc_bytes *file_in_memory(const struct diags *diags, const char *path)
{
    for (size_t i = 0; i < diags->n_buffers; i++)
        if (strcmp(diags->buffers[i].name, path) == 0)
            return &diags->buffers[i];
    return NULL;
}

odlc_status file_map(struct arena *arena, struct diags *diags, const char *path, struct file **out)
{
    const struct odlc_bytes *bytes = file_in_memory(diags, path);
    if (bytes) {
        *out = file_of_memory(arena, path, bytes->data, bytes->size);
        return ODLC_OK;
    }
    int fd = open_patiently(path, O_RDONLY | O_NONBLOCK); /* a FIFO must not block; it is refused below */
    if (fd < 0)
        return io_error(diags, path, "open");
    return file_map_fd(arena, diags, path, fd, out);
}

struct file *file_of_memory(struct arena *arena, const char *path, const void *bytes, uint64_t size)
{
    struct file *file = arena_new(arena, struct file);
    *file = (struct file){.path = arena_strdup(arena, path), .fd = -1, .data = bytes, .size = size};
    return file;
}

struct file *file_of_source(struct arena *arena, const char *path, struct file_source *source)
{
    struct file *file = arena_new(arena, struct file);
    *file = (struct file){.path = arena_strdup(arena, path), .fd = -1, .source = source, .size = source->size};
    return file;
}

static int read_source(struct file_source *source, uint64_t offset, void *bytes, size_t size)
{
    int error = size ? source->read(source->user, offset, bytes, size) : 0;
    if (!source->error)
        source->error = error;
    return error;
}

int file_read_at(const struct file *file, uint64_t offset, void *bytes, size_t size)
{
    uint8_t *p = bytes;
    if (file->source)
        return read_source(file->source, offset, bytes, size);
    if (file->fd < 0) {
        memcpy(bytes, file->data + offset, size);
        return 0;
    }
    while (size) {
        ssize_t n = pread(file->fd, p, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EFAULT;
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

odlc_status file_read_error(const struct file *file, struct diags *diags, int error)
{
    if (error == EFAULT)
        return diag_error(diags, ODLC_ERR_IO, AT(.file = file->path), "io", "it became shorter while it was read");
    errno = error;
    return io_error(diags, file->path, "read");
}

odlc_status file_read(const struct file *file, struct diags *diags, uint64_t offset, void *bytes, size_t size)
{
    int error = file_read_at(file, offset, bytes, size);
    return error ? file_read_error(file, diags, error) : ODLC_OK;
}

bool file_populate(const struct file *file, uint64_t offset, uint64_t size)
{
#ifdef MADV_POPULATE_READ
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = offset / page * page;
    if (file->fd >= 0 && madvise((void *)(uintptr_t)(file->data + from), offset + size - from, MADV_POPULATE_READ) != 0)
        return errno != EFAULT; /* kernels before 5.14 do not know it */
#else
    (void)file, (void)offset, (void)size;
#endif
    return true;
}

void file_drop(const struct file *file, uint64_t offset, uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t from = offset / page * page, to = (offset + size) / page * page;
    if (file->fd >= 0 && from < to) /* memory of no file would lose its bytes */
        madvise((void *)(uintptr_t)(file->data + from), to - from, MADV_DONTNEED);
}

enum { OUT_BUFFER = 256 * 1024, MAX_ATTEMPTS = 100 };

struct out_file {
    struct diags *diags;
    const char *path;   /* of the output, as the caller wrote it */
    const char *target; /* where its links lead; NULL: it stays in memory */
    char *scratch;      /* name of a temporary file; used while has_scratch */
    bool has_scratch;   /* false while the file has no name (O_TMPFILE) */
    struct arena *arena;
    int fd;
    uint64_t offset; /* bytes given to out_write so far */
    size_t buffered;
    uint8_t *buffer;
};

static void have_scratch(struct out_file *out)
{
    out->has_scratch = true;
    fault_remember_scratch(out->scratch);
}

static void lose_scratch(struct out_file *out)
{
    fault_forget_scratch(out->scratch);
    out->has_scratch = false;
}

static void out_abandon(void *object)
{
    struct out_file *out = object;
    if (out->has_scratch) {
        unlink(out->scratch);
        lose_scratch(out);
    }
    if (out->fd >= 0)
        close(out->fd);
}

/* Signals wait while a file gets or changes its name: fault.c must know the name before one ends the process. Nothing
 * may be allocated meanwhile, since a failure jumps over the end of the wait. */
static void hold_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

static void let_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* For file systems without O_TMPFILE: a named file that the clean-up removes. */
static int create_named(struct out_file *out)
{
    int fd = -1;
    errno = EEXIST;
    for (unsigned attempt = 0; fd < 0 && errno == EEXIST && attempt < MAX_ATTEMPTS; attempt++) {
        sigset_t before;
        scratch_name(out->scratch, out->target, attempt);
        hold_signals(&before);
        fd = open_patiently(out->scratch, O_RDWR | O_CREAT | O_EXCL);
        if (fd >= 0)
            have_scratch(out);
        let_signals(&before);
    }
    return fd;
}

static void own_link(char link[64], int fd)
{
    snprintf(link, 64, "/proc/self/fd/%d", fd);
}

/* A file without a name, or -1 where there can be none, or where it could not be given one for want of /proc. */
static int create_unnamed(struct out_file *out)
{
    char link[64];
    int fd = open_patiently(folder_of(out->arena, out->target), O_TMPFILE | O_RDWR);
    own_link(link, fd);
    if (fd >= 0 && access(link, F_OK) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static odlc_status check_target(struct out_file *out)
{
    struct stat st;
    const struct odlc_diag *place = AT(.file = out->path, .hint = "name another file for the output");
    if (!*out->target)
        return diag_error(out->diags, ODLC_ERR_USAGE, AT(.hint = place->hint), "no-output", "the output has no name");
    if (is_kernel_link(out->arena, out->target))
        return diag_error(out->diags, ODLC_ERR_IO, place, "not-a-file",
                          "the output is not a regular file: the name leads to what a process has open");
    if (stat(out->target, &st) != 0)
        return errno == ENOENT ? ODLC_OK : io_error(out->diags, out->path, "create");
    if (!S_ISREG(st.st_mode))
        return diag_error(out->diags, ODLC_ERR_IO, place, "not-a-file", "the output is not a regular file");
    if (fault_is_input(&st))
        return diag_error(out->diags, ODLC_ERR_USAGE, place, "output-is-input", "the output is a file that is read");
    return ODLC_OK;
}

static struct out_file *new_out(struct arena *arena, struct diags *diags, const char *path)
{
    struct out_file *out = arena_new(arena, struct out_file);
    *out = (struct out_file){.diags = diags, .path = arena_strdup(arena, path), .arena = arena, .fd = -1};
    out->buffer = arena_alloc(arena, OUT_BUFFER);
    arena_defer(arena, out_abandon, out);
    return out;
}

odlc_status out_create_in_memory(struct arena *arena, struct diags *diags, const char *name, struct out_file **result)
{
    struct out_file *out = new_out(arena, diags, name);
    out->fd = memfd_create("opendlc", MFD_CLOEXEC);
    if (out->fd < 0)
        return io_error(diags, name, "create");
    *result = out;
    return ODLC_OK;
}

odlc_status out_create(struct arena *arena, struct diags *diags, const char *path, struct out_file **result)
{
    struct out_file *out = new_out(arena, diags, path);
    out->target = follow_links(arena, out->path);
    out->scratch = arena_alloc(arena, strlen(out->target) + SCRATCH_SUFFIX);
    TRY(check_target(out));
    out->fd = create_unnamed(out);
    if (out->fd < 0)
        out->fd = create_named(out);
    if (out->fd < 0)
        return io_error(diags, path, "create");
    *result = out;
    return ODLC_OK;
}

/* Pages of the page cache are taken in groups of up to the size of a write, and beyond this size finding such groups
 * costs more than it saves (docs/performance.md). */
enum { LARGEST_WRITE = 64 * 1024 };

int out_write_at(const struct out_file *out, uint64_t offset, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    while (size) {
        ssize_t n = pwrite(out->fd, p, min_u64(size, LARGEST_WRITE - offset % LARGEST_WRITE), (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

odlc_status out_error(const struct out_file *out, int error)
{
    errno = error;
    return io_error(out->diags, out->path, "write");
}

static odlc_status write_all(struct out_file *out, uint64_t offset, const void *bytes, size_t size)
{
    int error = out_write_at(out, offset, bytes, size);
    return error ? out_error(out, error) : ODLC_OK;
}

odlc_status out_flush(struct out_file *out)
{
    size_t buffered = out->buffered;
    out->buffered = 0;
    return write_all(out, out->offset - buffered, out->buffer, buffered);
}

odlc_status out_write(struct out_file *out, const void *bytes, size_t size)
{
    if (size > OUT_BUFFER - out->buffered)
        TRY(out_flush(out));
    uint64_t at = out->offset;
    out->offset += size;
    if (size >= OUT_BUFFER)
        return write_all(out, at, bytes, size);
    if (size)
        memcpy(out->buffer + out->buffered, bytes, size);
    out->buffered += size;
    return ODLC_OK;
}

odlc_status out_skip(struct out_file *out, uint64_t size)
{
    TRY(out_flush(out));
    out->offset += size;
    return ODLC_OK;
}

void out_reserve(struct out_file *out, uint64_t size)
{
    (void)fallocate(out->fd, 0, 0, (off_t)size);
}

odlc_status out_patch(struct out_file *out, uint64_t offset, const void *bytes, size_t size)
{
    TRY(out_flush(out));
    return write_all(out, offset, bytes, size);
}

uint64_t out_offset(const struct out_file *out)
{
    return out->offset;
}

int out_fd(const struct out_file *out)
{
    return out->fd;
}

/* Network file systems and quotas may refuse bytes only when the file is closed; its name must wait for that. */
static odlc_status settle(struct out_file *out)
{
    int copy, closed;
    do {
        copy = dup(out->fd);
        closed = copy < 0 ? -1 : close(copy);
    } while (closed != 0 && errno == EINTR);
    return closed == 0 ? ODLC_OK : io_error(out->diags, out->path, "write");
}

static bool link_as(const struct out_file *out, const char *name)
{
    char self[64];
    own_link(self, out->fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* An unnamed file gets the target's name at once when nobody has it. Over an existing file it goes by a name beside it,
 * for linkat cannot replace a file, but rename can. Gives what failed with errno, or NULL. */
static const char *put_in_place(struct out_file *out)
{
    if (!out->has_scratch && link_as(out, out->target))
        return NULL;
    for (unsigned attempt = 0; !out->has_scratch && errno == EEXIST && attempt < MAX_ATTEMPTS; attempt++) {
        scratch_name(out->scratch, out->target, attempt);
        if (link_as(out, out->scratch))
            have_scratch(out);
    }
    if (!out->has_scratch)
        return "name";
    if (rename(out->scratch, out->target) != 0)
        return "rename to";
    lose_scratch(out);
    return NULL;
}

odlc_status out_commit(struct out_file *out)
{
    sigset_t before;
    TRY(out_flush(out));
    TRY(settle(out));
    TRY(fault_check_inputs(out->diags));
    if (!out->target)
        return ODLC_OK;
    hold_signals(&before);
    const char *failed = put_in_place(out);
    int cause = errno;
    let_signals(&before);
    errno = cause;
    return failed ? io_error(out->diags, out->path, failed) : ODLC_OK;
}

odlc_status out_keep(const struct out_file *out, struct arena *arena, struct file **kept)
{
    const int copy = fcntl(out->fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return io_error(out->diags, out->path, "map");
    return file_map_fd(arena, out->diags, out->path, copy, kept);
}
