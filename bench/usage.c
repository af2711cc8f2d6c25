/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command and writes what it used.
 * usage: usage CPU_SECONDS SECONDS REPORT COMMAND [ARGUMENT...]
 *
 * REPORT gets one line: CPU seconds (user and system), elapsed seconds, peak resident memory in KiB (mapped pages
 * counted, as wait4 gives it), the exit status or 128 and the signal, and 1 when the command was ended because it took
 * more CPU time or elapsed time than it may. A program of its own because a process starts with the peak of the one
 * that started it: that of an interpreter would hide small ones. Nothing survives the end of the process that started
 * this one. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static pid_t start(char **command, rlim_t cpu_limit, const sigset_t *signals)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    /* A group of its own, so that what the command starts ends with it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    setrlimit(RLIMIT_CPU, &(struct rlimit){.rlim_cur = cpu_limit, .rlim_max = cpu_limit + 1});
    sigprocmask(SIG_SETMASK, signals, NULL);
    execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

/* Waits for the end of a child; 1 when its time was over and it had to be ended. */
static int await_end(pid_t child, const sigset_t *child_signal, double limit)
{
    struct timespec left = {.tv_sec = (time_t)limit, .tv_nsec = 0};
    while (sigtimedwait(child_signal, NULL, &left) < 0 && errno == EINTR)
        ;
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child)
        return 0;
    kill(-child, SIGKILL);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t child_signal, before;
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_signal, &before);
    double began = now();
    pid_t child = start(argv + 4, strtoul(argv[1], NULL, 10), &before);
    if (child < 0)
        return 1;
    int late = await_end(child, &child_signal, atof(argv[2])), status;
    struct rusage used;
    if (wait4(child, &status, 0, &used) != child)
        return 1;
    double elapsed = now() - began;
    late |= WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
    FILE *report = fopen(argv[3], "w");
    if (!report)
        return 1;
    fprintf(report, "%.6f %.6f %ld %d %d\n", seconds(used.ru_utime) + seconds(used.ru_stime), elapsed, used.ru_maxrss,
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), late);
    return fclose(report) == 0 ? 0 : 1;
}
