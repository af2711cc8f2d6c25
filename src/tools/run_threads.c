/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_threads.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* So many inferences for each processor are worth a container of its own. */
enum { INFERENCES_WORTH_A_JOB = 4 };

static unsigned processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* ---- threads ---- */

static bool is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Whether a backend takes part that uses more than one. */
static bool takes_threads(const struct run_settings *s)
{
    const char *const *all = odlc_backend_names();
    size_t count = 0;
    while (all[count])
        count++;
    return s->backends.given ? is_among(s->backends.data, s->backends.count, "cpu") : is_among(all, count, "cpu");
}

/* Of an inference. */
static unsigned threads_of(const struct run_settings *s)
{
    const unsigned all = processors();
    if (s->threads)
        return s->threads;
    return s->jobs > 1 || !takes_threads(s) ? 1 : all < MAX_THREADS ? all : MAX_THREADS;
}

/* Processes and threads that run now, this one among them, as the fourth word of /proc/loadavg begins; 0: not known. */
static unsigned long running(void)
{
    char line[128] = "";
    const char *word = line;
    FILE *load = fopen("/proc/loadavg", "r");
    if (load && !fgets(line, sizeof line, load))
        line[0] = 0;
    if (load)
        (void)fclose(load);
    for (int i = 0; word && i < 3; i++)
        word = strchr(word + (i > 0), ' ');
    return word ? strtoul(word, NULL, 10) : 0;
}

/* Whether that many threads and what else runs now have a processor each. */
static bool is_quiet(unsigned threads)
{
    const unsigned long all = running();
    return all > 0 && all - 1 + threads <= (unsigned long)sysconf(_SC_NPROCESSORS_ONLN);
}

void run_threads_restart(const struct run_settings *settings, char **argv)
{
    char program[PATH_MAX];
    const unsigned threads = threads_of(settings);
    if (threads == 1 || !takes_threads(settings) || getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT"))
        return;
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0 || setenv("GOMP_SPINCOUNT", is_quiet(threads) ? "100000" : "1000", 1) != 0)
        return;
    program[length] = 0;
    (void)execv(program, argv);
}

/* ---- jobs ---- */

/* Jobs whose copies of the weights fill a quarter of the memory at most. */
static unsigned jobs_in_memory(const char *container)
{
    struct stat st;
    const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (stat(container, &st) != 0 || st.st_size <= 0)
        return 1;
    const uint64_t jobs = memory / 4 / (uint64_t)st.st_size;
    return jobs < 1 ? 1 : jobs > MAX_JOBS ? MAX_JOBS : (unsigned)jobs;
}

/* One inference at a time where times would be falsified, for code of others that may not know of threads, and where
 * the command line says how many threads an inference has. */
static unsigned default_jobs(const struct run_settings *s, bool measures)
{
    const unsigned most = jobs_in_memory(s->container), all = processors() < most ? processors() : most;
    const bool single =
        s->isolates || s->compared.given || s->registrations.given || s->packages.given || measures || s->threads != 0;
    return single || s->list.inferences.count < (size_t)all * INFERENCES_WORTH_A_JOB ? 1 : all;
}

void run_threads_settle(struct run_settings *settings, bool measures)
{
    if (settings->jobs == 0)
        settings->jobs = default_jobs(settings, measures);
    settings->threads = threads_of(settings);
}
