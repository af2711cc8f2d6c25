/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/frontend/model_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 255, HOW_TO_OPEN = O_RDONLY | O_CLOEXEC | O_NONBLOCK }; /* a FIFO must not block */
enum { TRIES_WHILE_RENAMED = 100 }; /* a ".." of a link cannot be followed while folders are renamed: openat2(2) */

/* ---- without leaving ---- */

int open_beneath_stepwise(int folder, const char *path)
{
    int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    while (at >= 0) {
        const char *slash = strchr(path, '/');
        size_t length = slash ? (size_t)(slash - path) : strlen(path);
        char name[NAME_MAX_BYTES + 1];
        int next = -1;
        if (length > NAME_MAX_BYTES) {
            errno = ENAMETOOLONG;
        } else {
            memcpy(name, path, length);
            name[length] = '\0';
            next = openat(at, name, HOW_TO_OPEN | O_NOFOLLOW | (slash ? O_DIRECTORY : 0));
        }
        int cause = errno;
        close(at);
        errno = cause;
        if (!slash)
            return next;
        at = next;
        path = slash + 1;
    }
    return -1;
}

int open_beneath(int folder, const char *path)
{
    struct open_how how = {
        .flags = HOW_TO_OPEN,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    int fd;
    int tries = 0;
    do
        fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < TRIES_WHILE_RENAMED)));
    bool missing =
        fd < 0 && (errno == ENOSYS || errno == EPERM); /* older kernels, and sandboxes that filter the call */
    return missing ? open_beneath_stepwise(folder, path) : fd;
}

/* ---- the folder ---- */

static void close_folder(void *object)
{
    struct model_folder *folder = object;
    if (folder->fd >= 0)
        close(folder->fd);
}

struct model_folder *model_folder_of(struct arena *arena, const char *path, bool follow_links)
{
    struct model_folder *folder = arena_new(arena, struct model_folder);
    const char *slash = strrchr(path, '/');
    *folder = (struct model_folder){.path = slash ? arena_strndup(arena, path, (size_t)(slash - path) + 1) : "",
                                    .fd = -1,
                                    .follow_links = follow_links};
    arena_defer(arena, close_folder, folder);
    return folder;
}

struct model_folder *model_folder_with(struct arena *arena, const struct diags *diags, const char *path,
                                       bool follow_links)
{
    struct model_folder *folder = model_folder_of(arena, path, follow_links);
    folder->is_in_memory = file_in_memory(diags, path) != NULL;
    return folder;
}

int model_folder_open(struct model_folder *folder, const char *path)
{
    if (folder->is_in_memory) {
        errno = ENOENT;
        return -1;
    }
    if (folder->follow_links)
        return open_patiently(path, HOW_TO_OPEN);
    if (folder->fd < 0)
        folder->fd = open_patiently(*folder->path ? folder->path : ".", O_PATH | O_DIRECTORY);
    return folder->fd < 0 ? -1 : open_beneath(folder->fd, path + strlen(folder->path));
}

bool model_folder_is_left(int error)
{
    return error == EXDEV || error == ELOOP;
}

bool model_folder_has(struct model_folder *folder, const char *path)
{
    int fd = model_folder_open(folder, path);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno != ENOENT;
}

odlc_status model_folder_map(struct model_folder *folder, struct arena *arena, struct diags *diags, const char *path,
                             const char *hint, struct file **out)
{
    if (file_in_memory(diags, path))
        return file_map(arena, diags, path, out);
    int fd = model_folder_open(folder, path);
    if (fd < 0 && model_folder_is_left(errno))
        return diag_error(diags, ODLC_ERR_INVALID, AT(.file = path, .hint = MODEL_FOLDER_HINT), "model-folder",
                          "the file is a link that leads out of the model's folder");
    if (fd < 0)
        return diag_error(diags, ODLC_ERR_IO, AT(.file = path, .hint = hint), "io", "cannot open: %s", strerror(errno));
    return file_map_fd(arena, diags, path, fd, out);
}
