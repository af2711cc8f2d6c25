/* SPDX-License-Identifier: Apache-2.0 */
/* Tries files as inputs of a fuzz target, without an engine: TARGET [FILE or FOLDER]... The name of each file is
 * printed before it is tried, so that the last one is what a crash is about. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

static size_t tried;

static void try_file(const char *path, FILE *file)
{
    enum { STEP = 1 << 16 };
    uint8_t *bytes = NULL;
    size_t size = 0, got;
    do {
        bytes = realloc(bytes, size + STEP);
        if (!bytes)
            abort();
        got = fread(bytes + size, 1, STEP, file);
        size += got;
    } while (got > 0);
    fprintf(stderr, "%s\n", path);
    bytes = realloc(bytes, size + !size); /* no byte more, so that a sanitizer sees what lies behind */
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    tried++;
}

static int try_path(const char *path);

static int try_folder(const char *path)
{
    struct dirent **entries;
    int failed = 0, count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            failed |= try_path(inner);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return failed || count < 0;
}

static int try_path(const char *path)
{
    DIR *folder = opendir(path);
    if (folder) {
        closedir(folder);
        return try_folder(path);
    }
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    try_file(path, file);
    fclose(file);
    return 0;
}

int main(int count, char **paths)
{
    int failed = 0;
    for (int i = 1; i < count; i++)
        failed |= try_path(paths[i]);
    printf("%zu passed, %d failed, 0 skipped\n", tried, failed);
    return failed;
}
