/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of callers that were compiled with another version of the headers: a newer one has members behind those
 * that are known here. */
#ifndef BASE_STRUCT_SIZE_H
#define BASE_STRUCT_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether a member behind the known bytes says something, of a structure of that size. */
static inline bool struct_says_more(const void *given, size_t known, size_t size)
{
    const unsigned char *bytes = given;
    for (size_t i = known; i < size; i++)
        if (bytes[i])
            return true;
    return false;
}

/* Fills a structure of `known` bytes, which begins with its size as the given one does, from a given one of any size;
 * members that this has not are 0, and so are all where it is NULL. False, with nothing filled: it has no size, or says
 * more than is known here. */
static inline bool struct_read(void *own, size_t known, const void *given)
{
    size_t size = known;
    if (given)
        memcpy(&size, given, sizeof size);
    if (size < sizeof size || (given && struct_says_more(given, known, size)))
        return false;
    memset(own, 0, known);
    if (given)
        memcpy(own, given, size < known ? size : known);
    memcpy(own, &known, sizeof known);
    return true;
}

#endif
