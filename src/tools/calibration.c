/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/calibration.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "api/backends.h"
#include "tools/progress_line.h"
#include "tools/quantize_inputs.h"

/* ---- one line ---- */

static odlc_status give(void *user, tensor_id input, const void *values, bool is_native, const struct odlc_diag *place)
{
    return quantizer_give(user, input, values, is_native, place);
}

static odlc_status give_and_observe(struct calibration_run *r, const struct inference *inference,
                                    const struct odlc_diag *place)
{
    TRY(quantize_inputs_give(r->scratch, r->diags, quantizer_graph(r->quantizer), inference, r->is_native, place, give,
                             r->quantizer));
    return quantizer_observe(r->quantizer, place);
}

static odlc_status observe_line(struct calibration_run *r, const struct inference *inference)
{
    const struct odlc_diag place = {.file = r->list.path, .line = inference->line};
    return quantize_line_failed(r->diags, give_and_observe(r, inference, &place), &place);
}

/* Before the first input is observed: files from that one on, which a cache does not stand for. */
static odlc_status check_from(struct calibration_run *r, uint64_t first)
{
    if (r->is_checked)
        return ODLC_OK;
    r->is_checked = true;
    return quantize_inputs_check(r->scratch, r->diags, quantizer_graph(r->quantizer), &r->list, first, r->work.end,
                                 r->is_native);
}

/* ---- signals ---- */

/* A signal handler has nothing but globals. */
static volatile sig_atomic_t stopped_by;
static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[COUNT_OF(numbers)];

static void restore_signals(void)
{
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        sigaction(numbers[i], &before[i], NULL);
}

/* The first one ends the work after the input at work, the next one at once. */
static void ask_to_stop(int number)
{
    if (stopped_by) {
        restore_signals();
        raise(number);
    }
    stopped_by = number;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = ask_to_stop};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (sigaction(numbers[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

/* ---- the cache ---- */

#define BEGIN_ANEW "remove the file to begin anew"

/* *next: the first input that the cache has not. */
static odlc_status load_cache(struct calibration_run *r, uint64_t *next)
{
    struct quantizer_work found = r->work;
    *next = r->work.first;
    if (!r->cache || access(r->cache, F_OK) != 0)
        return ODLC_OK;
    TRY(quantizer_load(r->quantizer, r->cache, BEGIN_ANEW, &found));
    if (found.list != r->work.list || found.total != r->work.total)
        return diag_error(r->diags, ODLC_ERR_INVALID, AT(.file = r->cache, .hint = BEGIN_ANEW), "statistics",
                          "the statistics are those of another list than %s", r->list.path);
    if (found.first != r->work.first || found.end > r->work.end)
        return diag_error(r->diags, ODLC_ERR_INVALID, AT(.file = r->cache, .hint = BEGIN_ANEW), "statistics",
                          "the statistics are those of inputs %" PRIu64 " to %" PRIu64 " of the list, not of %" PRIu64
                          " to %" PRIu64,
                          found.first + 1, found.end, r->work.first + 1, r->work.end);
    *next = found.end;
    return ODLC_OK;
}

static odlc_status save_cache(struct calibration_run *r, uint64_t end)
{
    struct quantizer_work work = r->work;
    work.end = end;
    return r->cache ? quantizer_save(r->quantizer, &work, r->cache) : ODLC_OK;
}

/* ---- all lines ---- */

static odlc_status observe_from(struct calibration_run *r, uint64_t done, struct progress_line *line)
{
    enum { INPUTS_KEPT = 100, SECONDS_KEPT = 30 };
    const uint64_t begin = done;
    uint64_t kept = done;
    double kept_at = clock_seconds();
    while (done < r->work.end && !stopped_by) {
        TRY(observe_line(r, &r->list.inferences.data[done++]));
        if (line)
            progress_line_report(line, &(struct work_progress){.stage = "calibrating",
                                                               .unit = " inputs",
                                                               .done = done - r->work.first,
                                                               .total = r->work.end - r->work.first,
                                                               .before = begin - r->work.first,
                                                               .rate = "inputs/s"});
        if (r->cache && (done - kept >= INPUTS_KEPT || clock_seconds() - kept_at >= SECONDS_KEPT)) {
            TRY(save_cache(r, done));
            kept = done;
            kept_at = clock_seconds();
        }
    }
    return done > kept ? save_cache(r, done) : ODLC_OK;
}

static odlc_status observe_all(struct calibration_run *r)
{
    struct progress_line line;
    uint64_t next;
    TRY(load_cache(r, &next));
    TRY(check_from(r, next));
    const bool shows_progress = !r->is_quiet && progress_line_begin(&line, stderr);
    if (r->cache)
        catch_signals();
    const odlc_status status = observe_from(r, next, shows_progress ? &line : NULL);
    if (shows_progress)
        progress_line_end(&line);
    if (r->cache)
        restore_signals();
    if (stopped_by && status == ODLC_OK)
        raise(stopped_by);
    return status;
}

static odlc_status observe_list(struct calibration_run *r)
{
    struct progress_line line;
    const size_t total = r->list.inferences.count;
    TRY(check_from(r, 0));
    const bool shows_progress = !r->is_quiet && progress_line_begin(&line, stderr);
    odlc_status status = ODLC_OK;
    for (size_t i = 0; status == ODLC_OK && i < total; i++) {
        status = observe_line(r, &r->list.inferences.data[i]);
        if (shows_progress)
            progress_line_report(&line, &(struct work_progress){
                                            .stage = "optimizing", .unit = " inputs", .done = i + 1, .total = total});
    }
    if (shows_progress)
        progress_line_end(&line);
    return status;
}

/* Before ranges: what goes over the whole list, each time. */
static odlc_status improve(struct calibration_run *r)
{
    bool observes;
    TRY(quantizer_improve(r->quantizer, default_backends, r->threads, &observes));
    while (observes) {
        TRY(observe_list(r));
        TRY(quantizer_improve(r->quantizer, default_backends, r->threads, &observes));
    }
    return ODLC_OK;
}

/* "2/7": the third of seven parts. */
static odlc_status take_shard(struct calibration_run *r)
{
    const uint64_t total = r->work.total;
    char *slash = NULL, *last = NULL;
    if (!r->shard)
        return ODLC_OK;
    const unsigned long i = strtoul(r->shard, &slash, 10);
    const unsigned long n = *slash == '/' ? strtoul(slash + 1, &last, 10) : 0;
    const bool is_plain = strspn(r->shard, "0123456789/") == strlen(r->shard);
    if (!is_plain || slash == r->shard || !last || *last || i >= n || n > UINT32_MAX)
        return diag_error(r->diags, ODLC_ERR_USAGE, AT(.hint = "the first of four parts is 0/4, the last 3/4"),
                          "option-value", "'%s' is no part of the list", r->shard);
    r->work.first = sat_mul(total, i) / n;
    r->work.end = sat_mul(total, i + 1) / n;
    return ODLC_OK;
}

odlc_status calibration_observe(struct calibration_run *r)
{
    TRY(quantize_list_read(r->arena, r->diags, r->list_path, &r->list));
    r->work = (struct quantizer_work){
        .options = r->options, .total = r->list.inferences.count, .end = r->list.inferences.count};
    TRY(take_shard(r));
    if (r->cache || r->statistics)
        TRY(quantizer_file_hash(r->scratch, r->diags, r->list_path, &r->work.list));
    r->work.list ^= r->is_native; /* the same files would be other values */
    TRY(improve(r));
    TRY(quantizer_calibrate(r->quantizer, default_backends, r->threads));
    TRY(observe_all(r));
    return r->statistics ? quantizer_save(r->quantizer, &r->work, r->statistics) : ODLC_OK;
}

/* ---- files joined ---- */

struct part {
    const char *path;
    struct quantizer_work work;
};

static int by_place(const void *a, const void *b)
{
    const struct quantizer_work *one = &((const struct part *)a)->work, *other = &((const struct part *)b)->work;
    if (one->first != other->first)
        return one->first < other->first ? -1 : 1;
    return (one->end > other->end) - (one->end < other->end);
}

/* Sorted parts have each input once. */
static odlc_status check_parts(struct calibration_run *r, const struct part *parts, size_t count)
{
    const uint64_t total = parts[0].work.total;
    uint64_t end = 0;
    const char *last = NULL;
    for (size_t i = 0; i <= count; i++) {
        const uint64_t first = i < count ? parts[i].work.first : total;
        if (i < count && parts[i].work.first == parts[i].work.end)
            continue;
        if (first > end)
            return diag_error(r->diags, ODLC_ERR_USAGE, AT(.hint = "name the statistics of all parts of the list"),
                              "statistics", "inputs %" PRIu64 " to %" PRIu64 " of %" PRIu64 " are in none of the files",
                              end + 1, first, total);
        if (i < count && first < end)
            return diag_error(r->diags, ODLC_ERR_USAGE,
                              AT(.file = parts[i].path, .hint = "name the statistics of each part once"), "statistics",
                              "inputs %" PRIu64 " to %" PRIu64 " are in %s, too", first + 1,
                              end < parts[i].work.end ? end : parts[i].work.end, last);
        if (i < count) {
            end = parts[i].work.end;
            last = parts[i].path;
        }
    }
    return ODLC_OK;
}

odlc_status calibration_merge(struct calibration_run *r, const char *const *paths, size_t count)
{
    struct part *parts = arena_array(r->arena, struct part, count);
    for (size_t i = 0; i < count; i++) {
        parts[i] = (struct part){paths[i], {.options = r->options}};
        TRY(quantizer_load(r->quantizer, paths[i], "observe that part of the list again", &parts[i].work));
        if (parts[i].work.list != parts[0].work.list || parts[i].work.total != parts[0].work.total)
            return diag_error(r->diags, ODLC_ERR_USAGE, AT(.file = paths[i]), "statistics",
                              "the statistics are those of another list than the ones in %s", paths[0]);
    }
    qsort(parts, count, sizeof *parts, by_place);
    return check_parts(r, parts, count);
}
