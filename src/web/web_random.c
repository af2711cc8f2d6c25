/* SPDX-License-Identifier: Apache-2.0 */
/* What the C library for browsers declares and lacks. */
#include <stddef.h>
#include <sys/types.h>

#include <sys/random.h>

ssize_t getrandom(void *bytes, size_t size, unsigned flags)
{
    (void)flags;
    return getentropy(bytes, size) == 0 ? (ssize_t)size : -1;
}
