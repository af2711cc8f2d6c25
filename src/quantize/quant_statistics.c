/* SPDX-License-Identifier: Apache-2.0 */
/* What was observed, as a file: lines of words, the last of which is a hash of those before (docs/quantizing.md). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "quantize/quantizer.h"

#define FIRST_LINE "opendlc-statistics 1\n"

static uint64_t hash(const void *bytes, size_t size)
{
    static const uint64_t key[2] = {0};
    return hash_bytes(key, bytes, size);
}

odlc_status quantizer_file_hash(struct arena *scratch, struct diags *diags, const char *path, uint64_t *out)
{
    struct arena_mark mark = arena_mark(scratch);
    struct file *file;
    odlc_status status = file_map(scratch, diags, path, &file);
    if (status == ODLC_OK) {
        *out = hash(file->data, file->size);
        status = fault_check_inputs(diags);
    }
    arena_rewind(scratch, mark);
    return status;
}

/* The lines that files of the same work begin with. */
static odlc_status write_head(struct quantizer *q, const char *options, text *out)
{
    const struct file *container = q->dlc->file;
    uint64_t overrides = 0;
    if (q->options->overrides)
        TRY(quantizer_file_hash(q->scratch, q->diags, q->options->overrides, &overrides));
    text_add(q->scratch, out, FIRST_LINE "container %016" PRIx64 "\noverrides %016" PRIx64 "\noptions%s\n",
             hash(container->data, container->size), overrides, options);
    return ODLC_OK;
}

/* ---- to a file ---- */

static void write_tensor(const struct quantizer *q, tensor_id id, text *out)
{
    const struct quant_item *item = &q->items[id];
    text_add(q->scratch, out, "tensor %u %.9g %.9g", id, item->min, item->max);
    if (item->histogram) {
        const size_t extent = histogram_extent(item->histogram, item->max);
        text_add(q->scratch, out, " %" PRIu64, item->histogram->zeros);
        for (size_t i = 0; i < extent; i++)
            text_add(q->scratch, out, " %" PRIu64, item->histogram->counts[i]);
    }
    text_add(q->scratch, out, "\n");
}

static odlc_status write_text(const struct quantizer *q, const text *t, const char *path)
{
    struct out_file *out;
    TRY(out_create(q->scratch, q->diags, path, &out));
    TRY(out_write(out, t->data, t->count));
    return out_commit(out);
}

odlc_status quantizer_save(struct quantizer *q, const struct quantizer_work *work, const char *path)
{
    struct arena_mark mark = arena_mark(q->scratch);
    text t = {0};
    odlc_status status = write_head(q, work->options, &t);
    if (status == ODLC_OK) {
        text_add(q->scratch, &t, "list %016" PRIx64 " %" PRIu64 "\ninputs %" PRIu64 " %" PRIu64 "\n", work->list,
                 work->total, work->first, work->end);
        for (tensor_id id = 0; id < q->g->tensors.count; id++)
            if (quant_is_unknown(q, id) && q->items[id].is_seen)
                write_tensor(q, id, &t);
        text_add(q->scratch, &t, "end %016" PRIx64 "\n", hash(t.data, t.count));
        status = write_text(q, &t, path);
    }
    arena_rewind(q->scratch, mark);
    return status;
}

/* ---- from a file ---- */

struct reader {
    struct quantizer *q;
    const char *path, *hint;
    const char *at; /* the text ends with NUL */
};

static odlc_status refuse(const struct reader *r, const char *format, ...) PRINTF_LIKE(2, 3);
static odlc_status refuse(const struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(r->q->scratch, format, args);
    va_end(args);
    return diag_error(r->q->diags, ODLC_ERR_INVALID, AT(.file = r->path, .hint = r->hint), "statistics", "%s", message);
}

static bool take_word(struct reader *r, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool take_number(struct reader *r, int base, uint64_t *out)
{
    char *end;
    if (*r->at != ' ' || r->at[1] == '-' || r->at[1] == ' ')
        return false;
    *out = strtoull(r->at, &end, base);
    const bool is_one = end != r->at;
    r->at = end;
    return is_one;
}

static bool take_real(struct reader *r, double *out)
{
    char *end;
    *out = strtof(r->at, &end); /* nine digits are one float32 */
    const bool is_one = *r->at == ' ' && end != r->at && isfinite(*out);
    r->at = end;
    return is_one;
}

static bool take_counts(struct reader *r, struct histogram *h, double min, double max)
{
    histogram_clear(h);
    histogram_add(h, NULL, 0, min, max);
    if (!take_number(r, 10, &h->zeros))
        return false;
    const size_t extent = histogram_extent(h, max);
    for (size_t i = 0; i < extent; i++)
        if (!take_number(r, 10, &h->counts[i]))
            return false;
    return true;
}

static bool take_tensor(struct reader *r)
{
    struct quantizer *q = r->q;
    uint64_t id;
    double min, max;
    if (!take_number(r, 10, &id) || !take_real(r, &min) || !take_real(r, &max) || min > 0 || max < 0)
        return false;
    if (id >= q->g->tensors.count || !quant_is_unknown(q, (tensor_id)id))
        return false;
    struct quant_item *item = &q->items[id];
    item->min = fmin(item->min, min);
    item->max = fmax(item->max, max);
    item->is_seen = true;
    quant_prepare_histogram(q, (tensor_id)id);
    if (item->histogram) {
        struct histogram h;
        if (!take_counts(r, &h, min, max))
            return false;
        histogram_join(item->histogram, &h, item->min, item->max);
    }
    return take_word(r, "\n");
}

/* The text is whole, and what this version writes. */
static odlc_status check_text(const struct reader *r, const char *data, size_t size)
{
    enum { LAST_LINE = 21 };
    if (size < sizeof FIRST_LINE || memcmp(data, FIRST_LINE, sizeof FIRST_LINE - 1) != 0)
        return refuse(r, "the file has no statistics of calibration, or those of another version");
    char last[LAST_LINE + 1];
    snprintf(last, sizeof last, "end %016" PRIx64 "\n", hash(data, size - LAST_LINE));
    if (size < LAST_LINE || memcmp(data + size - LAST_LINE, last, LAST_LINE) != 0 || memchr(data, '\0', size))
        return refuse(r, "the file is damaged: its end does not fit what is before");
    return ODLC_OK;
}

/* The first line that differs says what is other than it was. */
static odlc_status check_head(struct reader *r, const char *options)
{
    text head = {0};
    TRY(write_head(r->q, options, &head));
    if (take_word(r, head.data))
        return ODLC_OK;
    size_t line = 0;
    for (size_t i = 0; r->at[i] && r->at[i] == head.data[i]; i++)
        line += head.data[i] == '\n';
    if (line == 1)
        return refuse(r, "the statistics are those of another container than %s", r->q->path);
    if (line == 2)
        return refuse(r, "the statistics were made with other encodings for --quantization_overrides");
    const char *theirs = strstr(r->at, "\noptions");
    if (!theirs)
        return refuse(r, "the file says nothing about options");
    theirs += strlen("\noptions");
    return refuse(r, "the statistics were made with other options: '%.*s', now '%s'", (int)strcspn(theirs, "\n"),
                  theirs, options);
}

static odlc_status read_all(struct reader *r, struct quantizer_work *work)
{
    TRY(check_head(r, work->options));
    bool is_sound = take_word(r, "list") && take_number(r, 16, &work->list) && take_number(r, 10, &work->total) &&
                    take_word(r, "\ninputs") && take_number(r, 10, &work->first) && take_number(r, 10, &work->end) &&
                    take_word(r, "\n") && work->first <= work->end && work->end <= work->total;
    while (is_sound && take_word(r, "tensor"))
        is_sound = take_tensor(r);
    if (!is_sound || !take_word(r, "end "))
        return refuse(r, "the file is damaged: what it says of tensors does not fit the container");
    r->q->observed += work->end - work->first;
    return ODLC_OK;
}

odlc_status quantizer_load(struct quantizer *q, const char *path, const char *hint, struct quantizer_work *work)
{
    struct arena_mark mark = arena_mark(q->scratch);
    struct reader r = {.q = q, .path = path, .hint = hint};
    struct file *file;
    odlc_status status = file_map(q->scratch, q->diags, path, &file);
    if (status == ODLC_OK) {
        const char *copy = arena_strndup(q->scratch, (const char *)file->data, file->size);
        r.at = copy;
        status = check_text(&r, copy, file->size);
    }
    if (status == ODLC_OK)
        status = read_all(&r, work);
    arena_rewind(q->scratch, mark);
    return status;
}
