/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files that are written. */
#ifndef BASE_TARGET_H
#define BASE_TARGET_H

#include "base/arena.h"

/* The folder that a path's last part is in: "." for "name", "/" for "/name". */
const char *folder_of(struct arena *arena, const char *path);

/* Whether a path is a link that the kernel makes up, like the entries of /proc/self/fd: its end is something that a
 * process has open, and its text is a description, not always a name ("/tmp/old (deleted)"). */
bool is_kernel_link(struct arena *arena, const char *path);

/* Where a path leads when symbolic links are followed, whether there is a file or not. A circle of links gives one of
 * them, which stat refuses; links of the kernel are not followed. */
const char *follow_links(struct arena *arena, const char *path);

/* Whether two paths lead to the same file, or would if the file existed. */
bool same_target(struct arena *arena, const char *a, const char *b);

/* A name beside the target, for a file that will take the target's name: the target's (cut to 200 bytes) and
 * PID-N.part. The buffer has strlen(target) + SCRATCH_SUFFIX bytes. */
enum { SCRATCH_SUFFIX = 48 };
void scratch_name(char *buffer, const char *target, unsigned attempt);

#endif
