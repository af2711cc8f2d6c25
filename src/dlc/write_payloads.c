/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads → the entry `model.params`, behind its head. Each is read once, from the model, and written once. Their
 * places are known beforehand, so several threads can write: each takes the next piece of work (a job), and what a job
 * writes depends on the job alone. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/reader.h"
#include "base/helper_thread.h"
#include "dlc/read.h"
#include "dlc/tiles_ahead.h"
#include "opendlc/convert.h"

enum {
    JOB = 4 * 1024 * 1024,  /* bytes that a thread takes at a time, about */
    PAYS = 8 * 1024 * 1024, /* bytes per thread from which another one pays */
    WHOLE = 256 * 1024,     /* bytes; a smaller payload is not cut */
};

/* A place between two tiles: what comes next is this tile of the payload that comes next in the walk. */
struct place {
    struct dlc_payload_walk walk;
    uint64_t tile;
};

struct streaming {
    const struct dlc_writing *writing;
    const struct dlc_params *params;
    uint64_t mapped; /* bytes of a permuted view that a thread may have mapped */
    pthread_mutex_t lock;
    struct place next; /* under the lock, like stop */
    bool stop;
};

struct worker {
    struct streaming *s;
    bool tells; /* the progress */
    struct zip_part part;
    struct tile_space space;
    struct tiles_ahead *ahead; /* NULL: the worker makes all tiles itself */
    uint64_t pos;              /* of the payload at work */
    uint32_t number;           /* likewise, and: */
    const char *name;
    const struct file *source; /* of its bytes; NULL: memory */
    bool as_mapped;            /* the bytes come as they are mapped */
    odlc_status status;        /* not ODLC_OK: the payload at work failed, or: */
    odlc_status told;          /* not ODLC_OK: whoever wants to know the progress asked to stop */
};

/* ---- one payload ---- */

static odlc_status emit(void *user, uint64_t offset, const void *bytes, size_t size)
{
    struct worker *w = user;
    uint64_t at = STREAM_HEADER + w->pos + offset;
    return w->as_mapped ? zip_part_write_mapped(&w->part, at, bytes, size) : zip_part_write(&w->part, at, bytes, size);
}

static odlc_status stream_strings(struct worker *w, const struct view *view)
{
    uint64_t count = shape_count(&view->shape), at = 0;
    for (uint64_t i = 0; i < count; i++) {
        const char *string = view->strings[view->splat ? 0 : i];
        TRY(emit(w, at, string, strlen(string) + 1));
        at += strlen(string) + 1;
    }
    return ODLC_OK;
}

/* The length stands before the bytes, and zeros before it, from the end of the payload before. */
static odlc_status write_length(struct worker *w, const struct dlc_payload *payload, uint64_t end)
{
    uint8_t bytes[PAYLOAD_ALIGNMENT + 8] = {0};
    unsigned length_size = w->s->params->length_size;
    uint64_t gap = payload->pos - length_size - end;
    store_le(bytes + gap, length_size, payload->size);
    return zip_part_write(&w->part, STREAM_HEADER + end, bytes, gap + length_size);
}

static odlc_status stream_tile(struct worker *w, const struct view_tiles *tiles, uint64_t index)
{
    struct made_tile made;
    if (!w->ahead || tiles->in_order)
        return view_tile(tiles, index, &w->space, emit, w);
    TRY(tiles_ahead_next(w->ahead, &made));
    return view_tile_emit(tiles, &made, &w->space, emit, w);
}

/* Tiles [from, to) of a payload; end: of the payload before it. */
static odlc_status stream_payload(struct worker *w, const struct dlc_payload *payload, uint64_t end, uint64_t from,
                                  uint64_t to)
{
    struct view_tiles tiles;
    w->pos = payload->pos;
    w->as_mapped = false;
    if (from == 0)
        TRY(write_length(w, payload, end));
    if (payload->dtype == DT_STRING)
        return stream_strings(w, payload->view);
    view_tiles_start(payload->view, payload->dtype, w->s->mapped, &tiles);
    w->as_mapped = view_tiles_as_mapped(&tiles);
    for (uint64_t i = from; i < min_u64(to, tiles.count); i++)
        TRY(stream_tile(w, &tiles, i));
    return ODLC_OK;
}

/* ---- jobs ---- */

/* Moves on by a payload, or, when that is a large one, by some of its tiles; *bytes grows by what is passed over. False
 * at the end. One that is permuted from its mapping is for one thread: the pages would be mapped for each. */
static bool move_on(const struct streaming *s, struct place *place, uint64_t *bytes)
{
    struct dlc_payload payload;
    struct dlc_payload_walk after = place->walk;
    struct view_tiles tiles = {.count = 1};
    if (!dlc_next_payload(&after, &payload))
        return false;
    if (payload.size > WHOLE && payload.dtype != DT_STRING)
        view_tiles_start(payload.view, payload.dtype, s->mapped, &tiles);
    if (tiles.count > 1 && (tiles.in_order || tiles.reads)) {
        uint64_t tile = payload.size / tiles.count + 1, left = tiles.count - place->tile;
        uint64_t n = min_u64(left, (JOB - *bytes) / tile + 1);
        *bytes += n * tile;
        place->tile += n;
        if (n < left)
            return true;
    } else {
        *bytes += payload.size;
    }
    *place = (struct place){.walk = after};
    return true;
}

static bool take_job(struct streaming *s, struct place *from, struct place *to)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&s->lock);
    *from = s->next;
    while (!s->stop && bytes < JOB && move_on(s, &s->next, &bytes))
        continue;
    *to = s->next;
    pthread_mutex_unlock(&s->lock);
    return from->walk.next != to->walk.next || from->tile != to->tile;
}

static odlc_status do_job(struct worker *w, const struct place *from, const struct place *to)
{
    struct place at = *from;
    while (at.walk.next < to->walk.next || at.tile < to->tile) {
        struct dlc_payload payload;
        uint64_t end = at.walk.end, last = at.walk.next == to->walk.next ? to->tile : UINT64_MAX;
        w->number = at.walk.next;
        if (!dlc_next_payload(&at.walk, &payload))
            break;
        w->name = payload.name;
        w->source = payload.view->file;
        TRY(stream_payload(w, &payload, end, at.tile, last));
        if (last != UINT64_MAX)
            break;
        at.tile = 0;
    }
    return ODLC_OK;
}

/* Only the thread that was there before says how far the work is: to the start of its job, about. */
static odlc_status tell_progress(const struct worker *w, const struct place *from)
{
    const struct dlc_writing *writing = w->s->writing;
    if (!w->tells)
        return ODLC_OK;
    return progress_report(writing->progress, writing->diags, from->walk.end, w->s->params->size);
}

/* Jobs are handed out in order and done to their end, so all before the first that fails are done, whatever the other
 * threads meet: which error is the first one does not depend on chance. */
static void *work(void *object)
{
    struct worker *w = object;
    struct place from, to;
    while (w->status == ODLC_OK && take_job(w->s, &from, &to)) {
        w->status = w->told = tell_progress(w, &from);
        if (w->status == ODLC_OK)
            w->status = do_job(w, &from, &to);
    }
    if (w->status == ODLC_OK)
        w->status = zip_part_flush(&w->part);
    if (w->status != ODLC_OK) {
        pthread_mutex_lock(&w->s->lock);
        w->s->stop = true;
        pthread_mutex_unlock(&w->s->lock);
    }
    return NULL;
}

/* ---- threads ---- */

/* Of those that write. Two threads are one that writes and one that makes tiles ahead: two that write wait for each
 * other, since the system lets one at a time write to a file. */
static unsigned choose_threads(const struct dlc_writing *w, uint64_t bytes)
{
    uint64_t threads = w->threads > 2 ? w->threads : 1;
    return (unsigned)min_u64(min_u64(threads, ODLC_MAX_THREADS), bytes / PAYS + 1);
}

/* The calling thread works, too. A thread that cannot be started is not missed but for the time. */
static void work_together(struct worker *workers, unsigned count)
{
    pthread_t threads[ODLC_MAX_THREADS];
    bool started[ODLC_MAX_THREADS] = {false};
    for (unsigned i = 1; i < count; i++)
        started[i] = helper_thread_start(&threads[i], work, &workers[i]);
    work(&workers[0]);
    for (unsigned i = 1; i < count; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
}

static odlc_status report_failure(const struct dlc_writing *w, const struct zip_writer *zip,
                                  const struct worker *workers, unsigned count)
{
    const struct worker *first = NULL;
    for (unsigned i = 0; i < count; i++)
        if (workers[i].status != ODLC_OK && (!first || workers[i].number < first->number))
            first = &workers[i];
    if (!first)
        return ODLC_OK;
    const struct file *file = first->source;
    bool unreadable = first->part.error == 0 || (first->part.error == EFAULT && file);
    return unreadable ? diag_error(w->diags, first->status, AT(.file = file ? file->path : NULL), "io",
                                   "cannot read the data of tensor %s", first->name)
                      : out_error(zip->out, first->part.error);
}

odlc_status dlc_stream_payloads(const struct dlc_writing *w, const struct dlc_params *params, struct zip_writer *zip)
{
    struct streaming s = {
        .writing = w, .params = params, .lock = PTHREAD_MUTEX_INITIALIZER, .next.walk = dlc_payloads(params)};
    uint64_t bytes = params->size - s.next.walk.end;
    unsigned count = choose_threads(w, bytes);
    s.mapped = TILES_MAPPED / count;
    struct worker *workers = arena_array(w->arena, struct worker, count);
    struct zip_part *parts = arena_array(w->arena, struct zip_part, count);
    for (unsigned i = 0; i < count; i++) /* no payload has more elements than there are bytes of all */
        workers[i] =
            (struct worker){.s = &s, .part = zip_part_new(w->arena, zip), .space = tile_space_new(w->arena, bytes)};
    workers[0].tells = true;
    TRY(zip_parts_begin(zip));
    workers[0].ahead = tiles_ahead_begin(w, params, s.mapped);
    work_together(workers, count);
    tiles_ahead_end(workers[0].ahead);
    TRY(workers[0].told);
    TRY(report_failure(w, zip, workers, count));
    for (unsigned i = 0; i < count; i++)
        parts[i] = workers[i].part;
    return zip_parts_end(zip, parts, count);
}
