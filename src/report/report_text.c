/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_text.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/struct_size.h"
#include "report/info_json.h"

void odlc_text_free(char *text)
{
    free(text);
}

odlc_status report_text(void (*print)(FILE *stream, const void *subject), const void *subject, char **text,
                        size_t *size)
{
    char *whole = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&whole, &length);
    if (!stream)
        return ODLC_ERR_NOMEM;
    print(stream, subject);
    const bool is_whole = !ferror(stream);
    if (fclose(stream) != 0 || !is_whole) {
        free(whole);
        return ODLC_ERR_NOMEM;
    }
    *text = whole;
    *size = length;
    return ODLC_OK;
}

struct described {
    const odlc_container *container;
    struct info_options options;
};

static void print_json(FILE *stream, const void *subject)
{
    const struct described *d = subject;
    size_t n_graphs;
    (void)odlc_container_graphs(d->container, &n_graphs);
    if (n_graphs)
        info_print_json(stream, d->container, &d->options);
    else
        info_print_outline_json(stream, d->container);
}

odlc_status odlc_container_json(const odlc_container *container, const struct odlc_report_options *options, char **text,
                                size_t *size)
{
    struct described d = {.container = container};
    if (!odlc_container_summary(container)->path)
        return ODLC_ERR_USAGE;
    if (options &&
        (options->struct_size < sizeof *options || struct_says_more(options, sizeof *options, options->struct_size) ||
         options->targets >> ODLC_PROCESSORS))
        return ODLC_ERR_USAGE;
    if (options)
        d.options = (struct info_options){.nodes = options->nodes, .targets = options->targets};
    return report_text(print_json, &d, text, size);
}
