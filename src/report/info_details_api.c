/* SPDX-License-Identifier: Apache-2.0 */
/* What dlc-info says of one tensor, and of faults, of a container of the public API. */
#include "api/container_work.h"
#include "base/struct_size.h"
#include "report/info_details.h"
#include "report/report_text.h"

/* ---- one tensor ---- */

struct asked {
    const char *name;
    const struct odlc_report_options *options;
};

struct shown {
    const odlc_container *container;
    struct info_tensor which;
    struct text_form form;
};

static void print_tensor(FILE *stream, struct arena *arena, const void *subject)
{
    const struct shown *shown = subject;
    info_print_tensor(stream, arena, &shown->which, &shown->form);
}

static void print_tensor_json(FILE *stream, struct arena *arena, const void *subject)
{
    const struct shown *shown = subject;
    (void)arena;
    info_print_tensor_json(stream, shown->container, &shown->which);
}

static odlc_status find_shown(const struct report_work *w, const char *name, struct shown *out)
{
    out->container = w->container;
    TRY(report_check_open(w->diags, w->container));
    return info_find_tensor(w->arena, w->diags, w->container, name, &out->which);
}

static odlc_status make_tensor_json(const struct report_work *w, const void *name)
{
    struct shown shown = {0};
    TRY(find_shown(w, name, &shown));
    return report_text_in(w->arena, print_tensor_json, &shown, w->text, w->size);
}

static odlc_status make_tensor_text(const struct report_work *w, const void *given)
{
    const struct asked *asked = given;
    struct odlc_report_options options;
    struct shown shown = {0};
    if (!struct_read(&options, sizeof options, asked->options))
        return diag_error(w->diags, ODLC_ERR_USAGE, AT(.file = NULL), "usage",
                          "the options have no size, or members that this version does not know");
    shown.form = (struct text_form){.width = options.width, .colours = options.colours};
    TRY(find_shown(w, asked->name, &shown));
    return report_text_in(w->arena, print_tensor, &shown, w->text, w->size);
}

odlc_status odlc_container_tensor_json(odlc_container *container, const char *name, char **text, size_t *size)
{
    return report_work_for(container, make_tensor_json, name, text, size);
}

odlc_status odlc_container_tensor_text(odlc_container *container, const char *name,
                                       const struct odlc_report_options *options, char **text, size_t *size)
{
    return report_work_for(container, make_tensor_text, &(struct asked){name, options}, text, size);
}

/* ---- findings ---- */

struct found {
    const odlc_container *container;
    bool colours;
};

static void print_findings(FILE *stream, struct arena *arena, const void *subject)
{
    const struct found *found = subject;
    info_print_findings(stream, arena, found->container, found->colours);
}

static void print_findings_json(FILE *stream, struct arena *arena, const void *subject)
{
    (void)arena;
    info_print_findings_json(stream, subject);
}

odlc_status odlc_container_findings_json(const odlc_container *container, char **text, size_t *size)
{
    return container_given_path(container) ? report_text(print_findings_json, container, text, size) : ODLC_ERR_USAGE;
}

odlc_status odlc_container_findings_text(const odlc_container *container, const struct odlc_report_options *options,
                                         char **text, size_t *size)
{
    struct odlc_report_options given;
    if (!container_given_path(container) || !struct_read(&given, sizeof given, options))
        return ODLC_ERR_USAGE;
    return report_text(print_findings, &(struct found){container, given.colours}, text, size);
}
