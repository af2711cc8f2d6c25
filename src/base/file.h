/* SPDX-License-Identifier: Apache-2.0 */
/* Files: mapped input, atomic output. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/fault.h"

/* Bytes that are read where they are asked for, and neither mapped nor in memory: a file of a browser. */
struct file_source {
    uint64_t size;
    /* Gives errno, 0 when all bytes are read; [offset, offset + size) lies in the source. */
    int (*read)(void *user, uint64_t offset, void *bytes, size_t size);
    void *user;
    uint64_t room;   /* bytes that a copy of a part (file_copy.h) may take; what lies beyond them is ENOBUFS */
    bool needs_room; /* set when something lay beyond them */
    int error;       /* errno of the first read that failed, or 0 */
};

/* A regular file mapped read-only. Unmapped when the arena goes. A file that shrinks while it is mapped is the caller's
 * risk (SIGBUS), as with every program that maps; commands guard themselves (fault.h). */
struct file {
    const char *path;
    int fd;                     /* -1: there is no descriptor */
    const uint8_t *data;        /* NULL: the file is empty, or has a source */
    struct file_source *source; /* NULL: the bytes are mapped or in memory */
    uint64_t size;
    struct watch watch;
};

/* open() with O_CLOEXEC, repeated while signals interrupt the call. */
int open_patiently(const char *path, int flags);

/* The bytes that stand for the file of that name in the work whose diagnostics these are; NULL: there are none. */
const struct odlc_bytes *file_in_memory(const struct diags *diags, const char *path);

/* Maps the file at path, or takes the bytes in memory of that name. ODLC_ERR_IO, with a diagnostic: path does not open,
 * or names no regular file. */
odlc_status file_map(struct arena *arena, struct diags *diags, const char *path, struct file **out) MUST_USE;
/* The same for an already open descriptor, which then belongs to the arena. */
odlc_status file_map_fd(struct arena *arena, struct diags *diags, const char *path, int fd, struct file **out) MUST_USE;

/* A file whose content is bytes in memory; these must outlive the file. Functions that concern a mapping's pages leave
 * such bytes alone. */
struct file *file_of_memory(struct arena *arena, const char *path, const void *bytes, uint64_t size);

/* A file whose content is read from a source, which must outlive the file. */
struct file *file_of_source(struct arena *arena, const char *path, struct file_source *source);

/* Reads bytes through the descriptor. A touch of the mapping would make the touched page and its neighbours resident;
 * this call makes none. ODLC_ERR_IO, with a diagnostic: the file became shorter, or its disk fails. */
odlc_status file_read(const struct file *file, struct diags *diags, uint64_t offset, void *bytes, size_t size) MUST_USE;

/* The diagnostic of file_read for an errno of file_read_at; gives ODLC_ERR_IO. */
odlc_status file_read_error(const struct file *file, struct diags *diags, int error) MUST_USE;

/* file_read for any thread, without a diagnostic: errno of the failure, 0 when all bytes are read, EFAULT when the file
 * became shorter. */
int file_read_at(const struct file *file, uint64_t offset, void *bytes, size_t size) MUST_USE;

/* Maps the pages of bytes that are about to be handed to the system, which stumbles over each one that is not mapped.
 * False when the file became shorter. */
bool file_populate(const struct file *file, uint64_t offset, uint64_t size);

/* Tells the system that the bytes will not be read through the mapping soon: keeps resident memory flat. The page at
 * the end stays when the range covers a part of that page. */
void file_drop(const struct file *file, uint64_t offset, uint64_t size);

/* An output file that appears under its name only when it is complete: written to an unnamed file in the target's
 * folder, or to a temporary one (NAME.PID-N.part) where the file system has no unnamed ones, then renamed over the
 * target by out_commit. Without a commit nothing is left behind. */
struct out_file;

/* Begins an output. A path that is a symbolic link stays one: the file at the link's end is written, unless the link is
 * one of the kernel (target.h). ODLC_ERR_IO: the folder cannot be written to; ODLC_ERR_USAGE, in commands: the path is
 * an input of the work (fault.h). */
odlc_status out_create(struct arena *arena, struct diags *diags, const char *path, struct out_file **out) MUST_USE;
/* Begins an output that stays in memory, and has a name for diagnostics alone. ODLC_ERR_IO: the system has no room. */
odlc_status out_create_in_memory(struct arena *arena, struct diags *diags, const char *name,
                                 struct out_file **out) MUST_USE;
/* Such an output, committed, as a file that lives as long as the arena. ODLC_ERR_IO: it cannot be mapped. */
odlc_status out_keep(const struct out_file *out, struct arena *arena, struct file **kept) MUST_USE;
/* Appends; buffered. ODLC_ERR_IO, like every function below that gives a status: the bytes cannot be stored. */
odlc_status out_write(struct out_file *out, const void *bytes, size_t size) MUST_USE;
/* Writes to a place of the file without a buffer; any thread may. Gives errno, 0 when all is written. The bytes may be
 * of a mapped file: EFAULT when it became shorter. */
int out_write_at(const struct out_file *out, uint64_t offset, const void *bytes, size_t size) MUST_USE;
/* Leaves room for `size` bytes that out_write_at will write; later appends come behind the room. */
odlc_status out_skip(struct out_file *out, uint64_t size) MUST_USE;
/* Asks the file system for room up to `size` bytes, which makes writing cheaper. A disk that is full is found by the
 * writes themselves. */
void out_reserve(struct out_file *out, uint64_t size);
/* An error of out_write_at as a diagnostic. */
odlc_status out_error(const struct out_file *out, int error) MUST_USE;
/* Overwrites bytes already written (headers whose content is known late). */
odlc_status out_patch(struct out_file *out, uint64_t offset, const void *bytes, size_t size) MUST_USE;
uint64_t out_offset(const struct out_file *out);
/* Flushes; afterwards the file can be read through its descriptor. */
odlc_status out_flush(struct out_file *out) MUST_USE;
int out_fd(const struct out_file *out);
/* Gives the file its name. ODLC_ERR_IO, with an older file of that name untouched: an input of the work changed during
 * the work (fault.h), or the file system reports late that bytes cannot be stored. Like cp, out_commit does not wait
 * for the disk: after a power failure in the seconds that follow, the file may be empty or cut. */
odlc_status out_commit(struct out_file *out) MUST_USE;

#endif
