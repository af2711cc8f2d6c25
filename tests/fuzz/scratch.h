/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a target, in a folder of its own that goes when the target ends. */
#ifndef FUZZ_SCRATCH_H
#define FUZZ_SCRATCH_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch_root[] = "/dev/shm/odlc-fuzz-XXXXXX";

static inline int scratch_remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static inline void scratch_remove(void)
{
    nftw(scratch_root, scratch_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The path of a file or folder in there; valid until the next call but three. */
static inline const char *scratch_path(const char *name)
{
    static char paths[4][sizeof scratch_root + 100];
    static unsigned next;
    static int made;
    char *path = paths[next++ % 4];
    if (!made) {
        if (!mkdtemp(scratch_root))
            abort();
        atexit(scratch_remove);
        made = 1;
    }
    snprintf(path, sizeof paths[0], "%s/%s", scratch_root, name);
    return path;
}

static inline void scratch_save(const char *name, const void *bytes, size_t size)
{
    int fd = open(scratch_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    close(fd);
}

#endif
