/* SPDX-License-Identifier: Apache-2.0 */
/* Shared libraries that a user names: opened, recognised, closed. */
#ifndef PACKAGE_LIBRARY_H
#define PACKAGE_LIBRARY_H

#include "base/diag.h"

struct library {
    const char *path; /* as the user, or the registration library, named it */
    void *handle;
};

/* Opens the library of that path, without showing its symbols to others, and makes sure that it was compiled with this
 * project's headers (include/sdk). A path without a slash is looked for as the loader does. ODLC_ERR_IO: there is no
 * such file, or the loader refuses it; ODLC_ERR_UNSUPPORTED: the library was compiled with other headers, which it must
 * not be called after. */
odlc_status library_open(struct arena *arena, struct diags *diags, const char *path, struct library *out) MUST_USE;
/* Opens the library of that name in the folder of another one, or else where the loader finds it. Fails as above. */
odlc_status library_open_beside(struct arena *arena, struct diags *diags, const struct library *other, const char *name,
                                struct library *out) MUST_USE;
void library_close(struct library *library);

/* Whether that folder has a file of the name. */
bool library_is_beside(struct arena *arena, const struct library *other, const char *name);

/* The file that a path names when it is opened, without links: of a name without a slash the loaded library of that
 * name, as long as there is one. */
const char *library_file(struct arena *arena, const char *path);

/* A function or an object by its name; NULL: the library has none. */
void *library_symbol(const struct library *library, const char *name);

/* What is at fault and in which package, in diagnostics. */
odlc_status library_error(struct diags *diags, odlc_status status, const struct library *library, const char *code,
                          const char *hint, const char *format, ...) PRINTF_LIKE(6, 7);

#endif
