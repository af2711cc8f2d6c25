/* SPDX-License-Identifier: Apache-2.0 */
/* Differences as JSON; the schema is described in docs/dlc-diff-json.md. A change that can break a reader raises its
 * version. */
#include "report/diff.h"
#include "text/json_out.h"

#define SCHEMA_VERSION 1

static void write_container(struct json_out *j, const char *key, const odlc_container *container)
{
    const struct odlc_summary *s = odlc_container_summary(container);
    json_object_inline(j, key);
    json_string(j, "file", s->path);
    json_uint(j, "major", s->major);
    json_uint(j, "minor", s->minor);
    json_string(j, "params", s->params_format);
    json_end_object(j);
}

static void write_statistics(struct json_out *j, const struct odlc_diff_statistics *s)
{
    json_object(j, "statistics");
    json_uint(j, "elements", s->elements);
    json_uint(j, "differing", s->differing);
    if (s->has_stored)
        json_uint(j, "differing_as_stored", s->stored);
    if (s->numbers) {
        json_uint(j, "not_finite", s->special);
        json_double(j, "max_absolute", s->max_absolute);
        json_double(j, "max_relative", s->max_relative);
        json_double(j, "cosine", s->cosine);
        json_uint(j, "largest_at", s->worst);
        json_double(j, "largest_first", s->worst_values[0]);
        json_double(j, "largest_second", s->worst_values[1]);
    }
    json_end_object(j);
}

static void write_record(struct json_out *j, const struct odlc_difference *r)
{
    json_object(j, NULL);
    json_string(j, "graph", r->graph);
    json_string(j, "layer", r->layer);
    json_string(j, "category", odlc_diff_category_name(r->category));
    json_string(j, "subject", r->subject);
    json_bool(j, "same", r->same);
    json_string(j, "first", r->values[0]);
    json_string(j, "second", r->values[1]);
    if (r->statistics)
        write_statistics(j, r->statistics);
    json_end_object(j);
}

void diff_print_json(FILE *stream, const struct diff *d)
{
    struct json_out j = json_out_to(stream, false);
    json_object(&j, NULL);
    json_string(&j, "schema", "opendlc.dlc-diff");
    json_int(&j, "schema_version", SCHEMA_VERSION);
    write_container(&j, "first", d->containers[0]);
    write_container(&j, "second", d->containers[1]);
    json_string(&j, "paired_by", d->options->by_id ? "id" : "name");
    json_bool(&j, "same", !diff_found(d));
    json_array(&j, "notes");
    for (size_t i = 0; i < d->notes.count; i++)
        json_string(&j, NULL, d->notes.data[i]);
    json_end_array(&j);
    json_object(&j, "counts");
    for (size_t i = 0; i < ODLC_DIFF_CATEGORIES; i++) {
        if (!d->options->selected[i])
            continue;
        json_object_inline(&j, odlc_diff_category_name(i));
        json_uint(&j, "compared", d->compared[i]);
        json_uint(&j, "different", d->differing[i]);
        json_end_object(&j);
    }
    json_end_object(&j);
    json_array(&j, "differences");
    for (size_t i = 0; i < d->list.count; i++)
        write_record(&j, &d->list.data[i]);
    json_end_array(&j);
    json_end_object(&j);
}
