/* SPDX-License-Identifier: Apache-2.0 */
/* Calls into code of others: when that code ends the process, a command says whose it was.
 *
 * The call that a thread is in is kept for the thread, because a signal handler is given nothing else to find it by. */
#ifndef BASE_FOREIGN_H
#define BASE_FOREIGN_H

#include <stddef.h>

/* Exit status of a command whose process was ended by foreign code. */
enum { FOREIGN_STATUS = 70 };

/* For commands, first of all: when foreign code crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) or calls exit, the
 * command prints "COMMAND: error: CALL …" and ends with FOREIGN_STATUS. What happens outside of such calls is left to
 * whoever would have had it. The name must last as long as the process. */
void foreign_guard_process(const char *command);

/* In a process that was forked for it: the text of the call at work, and then of what ended the process, stands in
 * `words`, which has `size` bytes and is shared with the process that waits. The process ends with FOREIGN_STATUS. */
void foreign_guard_fork(char *words, size_t size);

/* Around a call by this thread: says what is called ("op Softmax of node 'a', library x.so"); the text must last to the
 * end of the call. Calls do not nest. */
void foreign_begin(const char *call);
void foreign_end(void);

/* Around the part of a call that another thread has, within foreign_begin and foreign_end of the calling thread. */
void foreign_help(const char *call);
void foreign_helped(void);

#endif
