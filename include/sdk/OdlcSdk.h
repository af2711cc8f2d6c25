/* SPDX-License-Identifier: Apache-2.0 */
/* Marks libraries that are compiled with these headers.
 *
 * Layouts that are published nowhere are this project's own, so a library compiled with other headers must not be
 * called: a host looks for this symbol before it calls anything. The number changes with the layouts. */
#ifndef ODLC_SDK_H
#define ODLC_SDK_H

#include <stdint.h>

#define ODLC_SDK_ABI 1u

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ODLC_SDK_HOST /* who loads libraries is not marked */
/* Weak: every source of a library that includes this header defines the symbol, and the linker keeps one. */
extern const uint32_t odlc_sdk_abi __attribute__((weak, visibility("default")));
const uint32_t odlc_sdk_abi = ODLC_SDK_ABI;
#endif

#ifdef __cplusplus
}
#endif

#endif
