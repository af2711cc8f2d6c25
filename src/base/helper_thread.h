/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HELPER_THREAD_H
#define BASE_HELPER_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that leaves signals that come from outside to the thread that was there before. False: there is none.
 */
bool helper_thread_start(pthread_t *thread, void *(*fn)(void *user), void *user);

#endif
