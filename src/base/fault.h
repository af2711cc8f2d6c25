/* What goes wrong around a piece of work: inputs that shrink or change while they are read, and signals that end the
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

/* What is remembered of a file while it is mapped; a part of struct file. */
struct watch {
    const struct file *file;
    const struct diags *diags; /* of the work that opened it */
    bool is_input;             /* false: the work's own output, mapped to be read back */
    struct stat opened;        /* what the file was when it was opened */
    atomic_bool damaged;       /* bytes of it could not be read, and read as zeros since */
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

/* From file_map to unmapping. `opened` is what fstat says. */
void fault_watch(struct watch *watch, const struct file *file, const struct diags *diags, const struct stat *opened);
void fault_unwatch(struct watch *watch);

/* An error (ODLC_ERR_IO) for each mapped input of the work that could not be read, is shorter or was written to since
 * it was opened: what was made of its bytes is not to be trusted, and other errors may come from that. In commands also
 * for one that was replaced: a build would take the result for newer than it. An input that was removed was read as it
 * was. */
odlc_status fault_check_inputs(struct diags *diags) MUST_USE;

/* Whether the process is a command's and a mapped input of it is this file. (Callers of the library may write a file
 * anew that they have open: it is replaced as a whole.) */
bool fault_is_input(const struct stat *st);

/* A temporary file has this name, which stays valid until it is forgotten. */
void fault_remember_scratch(const char *name);
void fault_forget_scratch(const char *name);

#endif
