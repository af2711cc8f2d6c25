/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_crew.h"

#include <unistd.h>

#include "tools/progress_line.h"
#include "tools/run_expected.h"
#include "tools/run_gpu.h"

void run_crew_init(struct run_crew *crew, struct arena *arena, const struct run_settings *settings)
{
    const size_t listed = settings->list.inferences.count;
    *crew = (struct run_crew){.settings = settings,
                              .workers = arena_array(arena, struct run_worker, settings->jobs),
                              .count = settings->jobs,
                              .total = listed ? listed : 1,
                              .failing = SIZE_MAX};
    pthread_mutex_init(&crew->reading, NULL);
    pthread_mutex_init(&crew->sharing, NULL);
}

void run_crew_free(struct run_crew *crew)
{
    for (unsigned i = 0; i < crew->count; i++)
        run_worker_free(&crew->workers[i]);
    pthread_mutex_destroy(&crew->sharing);
    pthread_mutex_destroy(&crew->reading);
}

/* The number of the next inference; SIZE_MAX: none is left. Inferences are handed out in their order, so the first one
 * that fails is known when all workers have ended. */
static size_t take(struct run_crew *crew)
{
    pthread_mutex_lock(&crew->sharing);
    const size_t number = crew->failing == SIZE_MAX && crew->next < crew->total ? crew->next++ : SIZE_MAX;
    pthread_mutex_unlock(&crew->sharing);
    return number;
}

static void give_back(struct run_crew *crew, const struct run_worker *w, size_t number, odlc_status status)
{
    pthread_mutex_lock(&crew->sharing);
    crew->done++;
    if (status != ODLC_OK && number < crew->failing) {
        crew->failing = number;
        crew->guilty = w;
        crew->status = status;
    }
    pthread_mutex_unlock(&crew->sharing);
}

static void report(struct run_crew *crew, struct progress_line *line)
{
    if (!line)
        return;
    pthread_mutex_lock(&crew->sharing);
    const struct work_progress progress = {
        .stage = "executing", .unit = " inferences", .done = crew->done, .total = crew->total};
    pthread_mutex_unlock(&crew->sharing);
    progress_line_report(line, &progress);
}

static odlc_status infer(struct run_worker *w, size_t number)
{
    TRY(run_worker_infer(w, number));
    return w->expected ? run_expected_infer(w->expected) : ODLC_OK;
}

/* line: of the worker that leads; NULL for others. A worker that runs out of memory fails at the inference that it had.
 */
static void work(struct run_crew *crew, struct run_worker *w, struct progress_line *line)
{
    if (setjmp(*arena_catch(w->arena)) || setjmp(*arena_catch(w->scratch))) {
        if (w->holds)
            pthread_mutex_unlock(w->reading);
        give_back(crew, w, w->number, ODLC_ERR_NOMEM);
        return;
    }
    for (size_t number = take(crew); number != SIZE_MAX; number = take(crew)) {
        give_back(crew, w, number, infer(w, number));
        report(crew, line);
    }
}

static odlc_status prepare(struct run_crew *crew, struct run_worker *w)
{
    if (!run_worker_create(crew->settings, &crew->reading, w) || setjmp(*arena_catch(w->arena)) ||
        setjmp(*arena_catch(w->scratch)))
        return ODLC_ERR_NOMEM;
    TRY(run_worker_open(w));
    if (w == crew->workers) /* before the others begin, and before anything is prepared by what is wrong */
        TRY(run_gpu_check(crew->settings, w->run));
    TRY(run_worker_prepare(w));
    if (crew->settings->compares_files)
        run_expected_prepare(w, &w->expected);
    return ODLC_OK;
}

struct post {
    struct run_crew *crew;
    struct run_worker *worker;
};

static void *begin(void *argument)
{
    const struct post *post = argument;
    const odlc_status status = prepare(post->crew, post->worker);
    if (status == ODLC_OK)
        work(post->crew, post->worker, NULL);
    else
        give_back(post->crew, post->worker, 0, status);
    return NULL;
}

odlc_status run_crew_prepare(struct run_crew *crew)
{
    const odlc_status status = prepare(crew, &crew->workers[0]);
    if (status != ODLC_OK)
        give_back(crew, &crew->workers[0], 0, status);
    return status;
}

odlc_status run_crew_work(struct run_crew *crew, struct arena *arena)
{
    struct run_worker *lead = &crew->workers[0];
    pthread_t *threads = arena_array(arena, pthread_t, crew->count);
    struct post *posts = arena_array(arena, struct post, crew->count);
    struct progress_line line;
    const bool shows = progress_line_begin(&line, stderr);
    unsigned begun = 1;
    for (; begun < crew->count; begun++) {
        posts[begun] = (struct post){crew, &crew->workers[begun]};
        if (pthread_create(&threads[begun], NULL, begin, &posts[begun]) != 0)
            break; /* those that there are do the work */
    }
    work(crew, lead, shows ? &line : NULL);
    for (unsigned i = 1; i < begun; i++)
        pthread_join(threads[i], NULL);
    progress_line_end(&line);
    return crew->guilty ? crew->status : ODLC_OK;
}
