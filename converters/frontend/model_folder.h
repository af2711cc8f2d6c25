/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a model. Files that belong to a model (external data, the parts of a saved model or a checkpoint) are
 * opened through it. A model comes from outside: whatever it says, and whatever links an unpacked archive holds,
 * nothing but regular files in the folder and below is read. */
#ifndef CONVERTERS_FRONTEND_MODEL_FOLDER_H
#define CONVERTERS_FRONTEND_MODEL_FOLDER_H

#include "base/file.h"

struct model_folder {
    const char *path;  /* as the caller wrote it, with a slash at its end; "" for the working directory */
    int fd;            /* -1 until the first use */
    bool follow_links; /* links in it may lead out of it: it was made by who runs the conversion */
    bool is_in_memory; /* with the model: no file of the system belongs to that */
};

/* The folder of a path: all up to its last slash, wherever links on the way lead. Lives as long as the arena. */
struct model_folder *model_folder_of(struct arena *arena, const char *path, bool follow_links);

/* The same for a model that may be in memory, whose diagnostics know that. */
struct model_folder *model_folder_with(struct arena *arena, const struct diags *diags, const char *path,
                                       bool follow_links);

/* Opens path, which begins with the folder's and has no ".." and no empty parts behind that, for reading. Gives a
 * descriptor, which the caller closes, or -1 and errno. */
int model_folder_open(struct model_folder *folder, const char *path);
/* Whether the errno of a failed call says that a link leads out of the folder. */
bool model_folder_is_left(int error);
/* Whether there is such a file, which may be one that cannot be opened. */
bool model_folder_has(struct model_folder *folder, const char *path);
/* The hint for a link that leads out of the folder. */
#define MODEL_FOLDER_HINT "copy the file into the folder, or allow links that lead out of it with --follow_links"

/* The file, opened and mapped, or the bytes in memory of that name; `hint` is for files that cannot be opened.
 * ODLC_ERR_INVALID: a link leads out of the folder; ODLC_ERR_IO: there is no such file, or none that can be read. */
odlc_status model_folder_map(struct model_folder *folder, struct arena *arena, struct diags *diags, const char *path,
                             const char *hint, struct file **out) MUST_USE;

/* Opens path, relative to the folder's descriptor, for reading; -1 and errno EXDEV or ELOOP when it leads out. Links
 * that stay inside are followed. */
int open_beneath(int folder, const char *path);
/* The same step by step for systems without openat2: follows no links at all. path must have no ".." and no empty
 * parts. */
int open_beneath_stepwise(int folder, const char *path);

#endif
