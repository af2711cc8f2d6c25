/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of callers that were compiled with another version of the headers: a newer one has members behind those
 * that are known here. */
#ifndef BASE_STRUCT_SIZE_H
#define BASE_STRUCT_SIZE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a member behind the known bytes says something, of a structure of that size. */
static inline bool struct_says_more(const void *given, size_t known, size_t size)
{
    const unsigned char *bytes = given;
    for (size_t i = known; i < size; i++)
        if (bytes[i])
            return true;
    return false;
}

#endif
