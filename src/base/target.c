/* SPDX-License-Identifier: Apache-2.0 */
#include "base/target.h"

#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MAX_LINKS = 40, KEPT_BYTES = 200 };

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *folder_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
}

bool is_kernel_link(struct arena *arena, const char *path)
{
    struct stat st;
    struct statfs fs;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && statfs(folder_of(arena, path), &fs) == 0 &&
           fs.f_type == PROC_SUPER_MAGIC;
}

const char *follow_links(struct arena *arena, const char *path)
{
    char to[PATH_MAX];
    for (int i = 0; i < MAX_LINKS; i++) {
        ssize_t size = readlink(path, to, sizeof to);
        if (size < 0 || size == (ssize_t)sizeof to || is_kernel_link(arena, path))
            return path;
        const char *folder = to[0] == '/' ? "" : arena_printf(arena, "%s/", folder_of(arena, path));
        path = arena_printf(arena, "%s%.*s", folder, (int)size, to);
    }
    return path;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool same_target(struct arena *arena, const char *a, const char *b)
{
    struct stat one, other;
    a = follow_links(arena, a);
    b = follow_links(arena, b);
    bool there = stat(a, &one) == 0;
    if (there != (stat(b, &other) == 0))
        return false;
    if (there)
        return same_inode(&one, &other);
    if (stat(folder_of(arena, a), &one) != 0 || stat(folder_of(arena, b), &other) != 0)
        return strcmp(a, b) == 0;
    return same_inode(&one, &other) && strcmp(last_part(a), last_part(b)) == 0;
}

void scratch_name(char *buffer, const char *target, unsigned attempt)
{
    const char *name = last_part(target);
    size_t kept = strlen(name);
    if (kept > KEPT_BYTES)
        kept = KEPT_BYTES;
    while (kept > 0 && ((unsigned char)name[kept] & 0xC0) == 0x80)
        kept--; /* characters stay whole */
    size_t length = (size_t)(name - target) + kept;
    memcpy(buffer, target, length);
    snprintf(buffer + length, SCRATCH_SUFFIX, ".%ld-%u.part", (long)getpid(), attempt);
}
