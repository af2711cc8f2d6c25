/* SPDX-License-Identifier: Apache-2.0 */
/* Faults around a piece of work: inputs that shrink or change while they are read, and signals that end the
 * process while a temporary file has a name.
 *
 * The mapped files and the temporary names are listed for the whole process, because a signal handler is given nothing
 * else to find them by: these lists are the only variables of their kind. All functions may be called by any thread. */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdatomic.h>
#include <sys/stat.h>

#include "base/diag.h"

struct file;

/* The state of a file while the file is mapped; a part of struct file. */
struct watch {
    const struct file *file;
    const struct diags *diags; /* of the work that opened it */
    bool is_input;             /* false: the work's own output, mapped to be read back */
    struct stat opened;        /* the file's status at the time of file_map */
    atomic_bool damaged;       /* some bytes could not be read, and read as zeros since */
    struct watch *previous, *next;
};

/* For commands, before anything is opened. From then on
 * - a mapped file that cannot be read any more (it was made shorter, its disk fails) reads as zeros instead of ending
 *   the process by SIGBUS, and fault_check_inputs fails;
 * - SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGXCPU remove temporary files before they end the process, unless they are
 *   ignored;
 * - a file that grows beyond RLIMIT_FSIZE is an error of the write, not the signal SIGXFSZ;
 * - all work of the process is one: files that were opened with any diags are its inputs. */
void fault_guard_process(void);

/* From file_map to unmapping. `opened` is the file's status by fstat. */
void fault_watch(struct watch *watch, const struct file *file, const struct diags *diags, const struct stat *opened);
void fault_unwatch(struct watch *watch);

/* An error (ODLC_ERR_IO) for each mapped input of the work that could not be read, became shorter or was written to
 * after file_map: results made of its bytes are not to be trusted, and other errors may come from the change. In
 * commands also for an input that was replaced: a build would take the result for newer than the input. An input that
 * was removed was read whole. */
odlc_status fault_check_inputs(struct diags *diags) MUST_USE;

/* Whether the process is a command with this file among its mapped inputs. (Callers of the library may write a file
 * anew that they have open: the file is replaced as a whole.) */
bool fault_is_input(const struct stat *st);

/* A temporary file has this name; the string stays valid until fault_forget_scratch. */
void fault_remember_scratch(const char *name);
void fault_forget_scratch(const char *name);

#endif
