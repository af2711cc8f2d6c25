/* SPDX-License-Identifier: Apache-2.0 */
#include "base/helper_thread.h"

#include <signal.h>

bool helper_thread_start(pthread_t *thread, void *(*fn)(void *user), void *user)
{
    sigset_t outside, before;
    sigfillset(&outside);
    sigdelset(&outside, SIGBUS); /* of a mapped file that became shorter */
    sigdelset(&outside, SIGSEGV);
    sigdelset(&outside, SIGFPE);
    sigdelset(&outside, SIGILL);
    pthread_sigmask(SIG_BLOCK, &outside, &before);
    int failed = pthread_create(thread, NULL, fn, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failed;
}
