/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/output_dir.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* "." and "..", which would climb out of the folder or back to it. */
static bool is_dots(const char *part, size_t length)
{
    return length > 0 && length <= 2 && strncmp(part, "..", length) == 0;
}

odlc_status output_path(struct arena *arena, struct diags *diags, const char *folder, const char *tensor,
                        const char *suffix, const char **out)
{
    text path = {0};
    bool allowed = tensor[strspn(tensor, "/")] != '\0';
    text_add(arena, &path, "%s", folder);
    for (const char *part = tensor; *part; part += strspn(part, "/")) {
        size_t length = strcspn(part, "/");
        allowed &= !is_dots(part, length);
        if (length)
            text_add(arena, &path, "/%.*s", (int)length, part);
        part += length;
    }
    if (!allowed)
        return diag_error(diags, ODLC_ERR_INVALID,
                          AT(.attribute = tensor, .hint = "choose tensors with other names by --set_output_tensors"),
                          "output-path", "a tensor of this name has no path below the output folder");
    text_add(arena, &path, "%s", suffix);
    *out = path.data;
    return ODLC_OK;
}

/* Creates every folder above the file. */
static odlc_status make_folders(struct arena *arena, struct diags *diags, const char *file)
{
    char *path = arena_strdup(arena, file);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return diag_error(diags, ODLC_ERR_IO, AT(.file = path), "io", "cannot create the folder: %s",
                              strerror(errno));
        *slash = '/';
    }
    return ODLC_OK;
}

odlc_status output_write(struct arena *scratch, struct diags *diags, const char *path, const text *head,
                         const void *bytes, size_t size)
{
    struct out_file *out;
    TRY(make_folders(scratch, diags, path));
    TRY(out_create(scratch, diags, path, &out));
    TRY(out_write(out, head->data, head->count));
    TRY(out_write(out, bytes, size));
    return out_commit(out);
}
