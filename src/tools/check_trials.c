/* SPDX-License-Identifier: Apache-2.0 */
/* What udo-check says of packages, and the library that it is started anew with for them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/check.h"
#include "text/json_out.h"
#include "trial/trial_packages.h"

static const char counting_library[] = "odlc-count-allocations.so";

static bool is_on_gpu(const struct tried_op *op)
{
    return strcmp(op->core, "GPU") == 0;
}

void check_print_trials(FILE *stream, const struct tried_ops *tried)
{
    for (size_t i = 0; tried && i < tried->ops.count; i++) {
        const struct tried_op *op = &tried->ops.data[i];
        const struct contained *c = op->trial;
        fprintf(stream, "op %s of package %s, %s, on the %s: %u finding%s on %u made inputs, %u of them refused\n",
                op->type, op->package, op->library, op->core, c->count, c->count == 1 ? "" : "s", c->cases, c->refused);
        if (c->microseconds > 0)
            fprintf(stream, "  %.3g microseconds a call; NaN: %s, infinity: %s, denormals: %s\n", c->microseconds,
                    c->nan, c->infinity, c->denormal);
        if (c->compared)
            fprintf(stream, "  largest difference from %s: %.3g\n", op->native ? op->native : "the CPU's kernel",
                    c->largest_difference);
        if (is_on_gpu(op))
            fprintf(stream, "  %u program%s built for them\n", c->programs, c->programs == 1 ? " is" : "s are");
        else if (!c->counted)
            fprintf(stream, "  memory requests are not counted here\n");
    }
}

static const char *known(const char *text)
{
    return *text ? text : NULL;
}

static void write_op(struct json_out *j, const struct tried_op *op)
{
    const struct contained *c = op->trial;
    json_object(j, NULL);
    json_string(j, "type", op->type);
    json_string(j, "package", op->package);
    json_string(j, "library", op->library);
    json_string(j, "core", op->core);
    json_uint(j, "inputs_tried", c->cases);
    json_uint(j, "inputs_refused", c->refused);
    json_double(j, "microseconds", c->microseconds);
    json_bool(j, "allocations_counted", c->counted);
    json_string(j, "nan", known(c->nan));
    json_string(j, "infinity", known(c->infinity));
    json_string(j, "denormal", known(c->denormal));
    if (is_on_gpu(op))
        json_uint(j, "programs", c->programs);
    json_string(j, "against", c->compared ? op->native : NULL);
    json_double(j, "largest_difference", c->largest_difference);
    json_array(j, "findings");
    for (uint32_t i = 0; i < c->count; i++) {
        json_object_inline(j, NULL);
        json_string(j, "code", c->found[i].code);
        json_string(j, "message", c->found[i].message);
        json_string(j, "hint", known(c->found[i].hint));
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

void check_write_trials(struct json_out *j, const struct tried_ops *tried)
{
    if (!tried) {
        json_string(j, "kernels", NULL);
        return;
    }
    json_array(j, "kernels");
    for (size_t i = 0; i < tried->ops.count; i++)
        write_op(j, &tried->ops.data[i]);
    json_end_array(j);
}

/* In libexec beside the folder of commands, or where it is built. */
static const char *find_library(struct arena *arena)
{
    static const char *const folders[] = {"../libexec/opendlc", "../src/trial"};
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self);
    const char *slash = length > 0 ? memrchr(self, '/', (size_t)length) : NULL;
    for (size_t i = 0; slash && i < COUNT_OF(folders); i++) {
        const char *path = arena_printf(arena, "%.*s/%s/%s", (int)(slash - self), self, folders[i], counting_library);
        if (access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

void check_count_allocations(struct arena *arena, char **argv)
{
    const char *before = getenv("LD_PRELOAD"), *path = find_library(arena);
    if (!path || (before && strstr(before, counting_library)))
        return;
    const char *all = before && *before ? arena_printf(arena, "%s:%s", before, path) : path;
    if (setenv("LD_PRELOAD", all, 1) == 0)
        execv("/proc/self/exe", argv);
}
