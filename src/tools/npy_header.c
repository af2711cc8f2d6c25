/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/npy_header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_ALIGNMENT = 64, HEADER_START = 10 };

const char *npy_type(struct arena *arena, const char *dtype)
{
    static const char kinds[][2] = {{'B', 'b'}, {'F', 'f'}, {'I', 'i'}, {'s', 'i'}, {'u', 'u'}};
    const char *bits = strrchr(dtype, '_');
    const unsigned long bytes = bits ? (strtoul(bits + 1, NULL, 10) + 7) / 8 : 1;
    char kind = 'u';
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (*dtype == kinds[i][0])
            kind = kinds[i][1];
    return arena_printf(arena, "%c%c%lu", bytes == 1 ? '|' : '<', kind, bytes);
}

void npy_add_header(struct arena *arena, text *out, const char *type, uint32_t rank, const int64_t *dims)
{
    text header = {0};
    text_add(arena, &header, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (uint32_t i = 0; i < rank; i++)
        text_add(arena, &header, "%s%" PRId64 "%s", i ? ", " : "", dims[i], rank == 1 ? "," : "");
    text_add(arena, &header, "), }");
    size_t length = strlen(header.data), end = HEADER_START + length + 1;
    size_t padding = (HEADER_ALIGNMENT - end % HEADER_ALIGNMENT) % HEADER_ALIGNMENT;
    text_add(arena, &header, "%*s\n", (int)padding, "");
    length += padding + 1;
    const char start[HEADER_START] = {
        '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(length & 0xFF), (char)(length >> 8 & 0xFF)};
    for (size_t i = 0; i < sizeof start; i++)
        vec_push(arena, out, start[i]);
    for (size_t i = 0; i < length; i++)
        vec_push(arena, out, header.data[i]);
}
