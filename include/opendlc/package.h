/* SPDX-License-Identifier: Apache-2.0 */
/* Op packages: libraries with kernels of user-defined ops, for executions (opendlc/run.h).
 *
 * A package is compiled with the headers in include/sdk (pkg-config variable sdkdir). Its code runs in the process that
 * loads it: only name libraries that you trust. */
#ifndef OPENDLC_PACKAGE_H
#define OPENDLC_PACKAGE_H

#include "opendlc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a package's ops available to all executions of the process whose results are chosen from now on. path is a
 * registration library (lib<Udo><Package>Reg.so), or with provider an implementation, whose interface the function of
 * that name provides. The package stays loaded to the end of the process; a second call with it does nothing.
 * `problem` (NULL: nobody wants to know) gets what is wrong, cut to size bytes with their NUL. Any thread may call
 * this, also while others execute. ODLC_ERR_IO: a library is missing or cannot be loaded. ODLC_ERR_UNSUPPORTED: a
 * library compiled with other headers, or another version of an interface. ODLC_ERR_INVALID: a symbol is missing, a
 * call of the package fails, or what the package says of itself cannot be. ODLC_ERR_NOMEM. */
ODLC_API odlc_status odlc_add_op_package(const char *path, const char *provider, char *problem,
                                         size_t size) ODLC_MUST_USE;

/* odlc_add_op_package of a registration library under the name that programs for the vendor's runtime call; 1: done,
 * 0: not. */
ODLC_API int Snpe_Util_AddOpPackage(const char *regLibraryPath);

#ifdef __cplusplus
}
#endif

#endif
