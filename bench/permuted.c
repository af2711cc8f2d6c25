/* SPDX-License-Identifier: Apache-2.0 */
/* What permuting costs: copies a file piece by piece, pieces that are matrices transposed, as a program does that is
 * written by hand for one model. Nothing is checked, and no CRC is made.
 * usage: permuted FILE PIECES OUTPUT
 *
 * PIECES is a text (pieces.py): a line for each piece, in order: its offset in FILE, and rows, columns and parts of a
 * matrix of elements of 4 bytes. A matrix of R rows and C columns becomes one of C rows and R columns. Its columns
 * belong to the parts in turn: column c becomes row c / parts of part c % parts, and parts stand one behind another, as
 * the places of a filter do in HWIO. One of one row is copied as it is. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BAND = 1024 * 1024, WRITE = 64 * 1024, PAGE = 4096, BLOCK = 16 }; /* bytes; BLOCK: elements */

struct piece {
    size_t offset, rows, columns, parts;
};

struct copy {
    const char *file;
    size_t file_size;
    int out;
    uint32_t *band;
};

static int write_all(int fd, const void *bytes, size_t size, size_t at)
{
    const char *p = bytes;
    for (size_t n; size; size -= n, at += n, p += n) {
        size_t room = WRITE - at % WRITE;
        n = size < room ? size : room;
        if (pwrite(fd, p, n, (off_t)at) != (ssize_t)n)
            return 0;
    }
    return 1;
}

/* Rows [from, to) of each part of the result, those of a part together. */
static void transpose(const struct piece *p, const uint32_t *source, size_t from, size_t to, uint32_t *band)
{
    size_t first = from * p->parts, last = to * p->parts;
    for (size_t row = 0; row < p->rows; row += BLOCK) {
        size_t rows = p->rows - row < BLOCK ? p->rows - row : BLOCK;
        for (size_t column = first; column < last; column += BLOCK) {
            size_t end = last - column < BLOCK ? last : column + BLOCK;
            for (size_t c = column; c < end; c++) {
                uint32_t *out = band + ((c % p->parts) * (to - from) + c / p->parts - from) * p->rows + row;
                for (size_t r = 0; r < rows; r++)
                    out[r] = source[(row + r) * p->columns + c];
            }
        }
    }
}

/* A piece that becomes the bytes at `at` of the output, in bands that stay in the cache; its pages are given back. */
static int put(const struct copy *copy, const struct piece *p, size_t at)
{
    size_t row_size = p->rows * 4, size = row_size * p->columns, per_part = p->columns / p->parts;
    size_t step = BAND / (row_size * p->parts), page = p->offset / PAGE * PAGE;
    char *source = (char *)(uintptr_t)copy->file + p->offset;
    if (p->rows == 1)
        return write_all(copy->out, source, size, at);
    step = step ? step : 1;
    for (size_t from = 0, to; from < per_part; from = to) {
        to = per_part - from < step ? per_part : from + step;
        transpose(p, (const uint32_t *)(void *)source, from, to, copy->band);
        for (size_t part = 0; part < p->parts; part++)
            if (!write_all(copy->out, copy->band + part * (to - from) * p->rows, (to - from) * row_size,
                           at + (part * per_part + from) * row_size))
                return 0;
    }
    madvise((char *)(uintptr_t)copy->file + page, p->offset + size - page, MADV_DONTNEED);
    return 1;
}

static int put_all(const struct copy *copy, FILE *pieces)
{
    struct piece p;
    size_t at = 0;
    while (fscanf(pieces, "%zu %zu %zu %zu", &p.offset, &p.rows, &p.columns, &p.parts) == 4) {
        size_t size = p.rows * p.columns * 4;
        if (p.offset + size > copy->file_size || !put(copy, &p, at))
            return 0;
        at += size;
    }
    return feof(pieces) && at > 0;
}

/* A row of the result, of all parts, must fit where a band is made. */
enum { ROOM = 64 * 1024 * 1024 };

int main(int argc, char **argv)
{
    struct stat st;
    if (argc != 4)
        return 2;
    int in = open(argv[1], O_RDONLY | O_CLOEXEC);
    FILE *pieces = fopen(argv[2], "r");
    struct copy copy = {.out = open(argv[3], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), .band = malloc(ROOM)};
    if (in < 0 || fstat(in, &st) != 0 || !pieces || copy.out < 0 || !copy.band)
        return 1;
    copy.file_size = (size_t)st.st_size;
    copy.file = mmap(NULL, copy.file_size, PROT_READ, MAP_SHARED, in, 0);
    if (copy.file == MAP_FAILED)
        return 1;
    (void)fallocate(copy.out, 0, 0, st.st_size);
    int done = put_all(&copy, pieces) && close(copy.out) == 0;
    fclose(pieces);
    free(copy.band);
    return done ? 0 : 1;
}
