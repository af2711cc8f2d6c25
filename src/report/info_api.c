/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of dlc-info, of a container of the public API. */
#include "base/struct_size.h"
#include "report/info_text.h"
#include "report/report_text.h"

struct described {
    const odlc_container *container;
    struct info_options options;
};

static void print_json(FILE *stream, struct arena *arena, const void *subject)
{
    const struct described *d = subject;
    size_t n_graphs;
    (void)arena;
    (void)odlc_container_graphs(d->container, &n_graphs);
    if (n_graphs)
        info_print_json(stream, d->container, &d->options);
    else
        info_print_outline_json(stream, d->container);
}

static void print_text(FILE *stream, struct arena *arena, const void *subject)
{
    const struct described *d = subject;
    info_print_text(stream, arena, d->container, &d->options);
}

/* What a stream in memory lacks is seen when it is closed. */
static odlc_status write_part(void *stream, const void *bytes, size_t size)
{
    if (size)
        (void)fwrite(bytes, 1, size, stream);
    return ODLC_OK;
}

static void print_csv(FILE *stream, struct arena *arena, const void *subject)
{
    const struct described *d = subject;
    (void)!info_write_csv(arena, d->container, &d->options, write_part, stream);
}

static odlc_status describe(const odlc_container *container, const struct odlc_report_options *options,
                            report_print_fn *print, char **text, size_t *size)
{
    struct odlc_report_options given;
    if (!odlc_container_summary(container)->path || !struct_read(&given, sizeof given, options) ||
        given.targets >> ODLC_PROCESSORS)
        return ODLC_ERR_USAGE;
    const struct described d = {.container = container,
                                .options = {.nodes = given.nodes,
                                            .targets = given.targets,
                                            .all_encodings = given.all_encodings,
                                            .memory = given.memory,
                                            .compact = given.compact,
                                            .form = {.width = given.width, .colours = given.colours}}};
    return report_text(print, &d, text, size);
}

odlc_status odlc_container_json(const odlc_container *container, const struct odlc_report_options *options, char **text,
                                size_t *size)
{
    return describe(container, options, print_json, text, size);
}

odlc_status odlc_container_text(const odlc_container *container, const struct odlc_report_options *options, char **text,
                                size_t *size)
{
    return describe(container, options, print_text, text, size);
}

odlc_status odlc_container_csv(const odlc_container *container, const struct odlc_report_options *options, char **text,
                               size_t *size)
{
    return describe(container, options, print_csv, text, size);
}
