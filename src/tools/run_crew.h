/* SPDX-License-Identifier: Apache-2.0 */
/* The inferences of an input list, shared by several workers. */
#ifndef TOOLS_RUN_CREW_H
#define TOOLS_RUN_CREW_H

#include "tools/run_worker.h"

struct run_crew {
    const struct run_settings *settings;
    struct run_worker *workers; /* one for each job; the first one is of the thread that leads */
    unsigned count;
    pthread_mutex_t reading;
    pthread_mutex_t sharing; /* of what follows: */
    size_t next, done, total;
    size_t failing; /* the first inference that ended the work; SIZE_MAX: none */
    const struct run_worker *guilty;
    odlc_status status; /* of that inference */
};

/* Room for the workers, of which none is created. */
void run_crew_init(struct run_crew *crew, struct arena *arena, const struct run_settings *settings);
/* Workers that were created, too. */
void run_crew_free(struct run_crew *crew);

/* Prepares the first worker: what is wrong with the container or the options is said once. */
odlc_status run_crew_prepare(struct run_crew *crew) MUST_USE;
/* Computes all inferences. The first one, in the order of the list, that fails ends the work: crew->guilty has the
 * diagnostics. The recovery points of the workers' arenas are gone then. */
odlc_status run_crew_work(struct run_crew *crew, struct arena *arena) MUST_USE;

#endif
