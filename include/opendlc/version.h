/* SPDX-License-Identifier: Apache-2.0 */
/* The version of these headers, and that of the library that a program runs with. The numbers here are the only place
 * where the version stands: the build, the commands, packages and containers have it from here. */
#ifndef OPENDLC_VERSION_H
#define OPENDLC_VERSION_H

#include "opendlc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ODLC_VERSION_MAJOR 0
#define ODLC_VERSION_MINOR 1
#define ODLC_VERSION_PATCH 0

/* One number that grows from version to version, for #if: 1.2.3 is 1002003. */
#define ODLC_VERSION_NUMBER (ODLC_VERSION_MAJOR * 1000000 + ODLC_VERSION_MINOR * 1000 + ODLC_VERSION_PATCH)

#define ODLC_TEXT_OF(number) #number
#define ODLC_VERSION_OF(major, minor, patch) ODLC_TEXT_OF(major) "." ODLC_TEXT_OF(minor) "." ODLC_TEXT_OF(patch)
/* "1.2.3" */
#define ODLC_VERSION ODLC_VERSION_OF(ODLC_VERSION_MAJOR, ODLC_VERSION_MINOR, ODLC_VERSION_PATCH)

/* ODLC_VERSION of the library at hand, which may be a later one than that of the headers that a program was compiled
 * with. Static storage; any thread may call this. */
ODLC_API const char *odlc_version(void);
/* ODLC_VERSION_NUMBER of the library at hand. */
ODLC_API int odlc_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
