/* SPDX-License-Identifier: Apache-2.0 */
#include "file_of_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const char *file_of_bytes(const uint8_t *bytes, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, bytes, size, 0) != (ssize_t)size)
        abort();
    return path;
}

const char *path_of_output(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/dev/shm/odlc-fuzz-%d.dlc", (int)getpid());
    return path;
}
