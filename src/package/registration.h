/* SPDX-License-Identifier: Apache-2.0 */
/* Registration libraries: which ops a package has, on which cores, and where they are implemented. */
#ifndef PACKAGE_REGISTRATION_H
#define PACKAGE_REGISTRATION_H

#include "package/library.h"
#include "sdk/SnpeUdo/UdoReg.h"

struct registration {
    struct library library;
    const SnpeUdo_RegInfo_t *info; /* the library's own memory */
    SnpeUdo_ErrorType_t (*terminate)(void);
    /* SnpeUdo_validateOperation; NULL: the library does not export it. */
    SnpeUdo_ErrorType_t (*validate)(SnpeUdo_String_t type, uint32_t count, const SnpeUdo_Param_t *params);
};

/* Initializes an opened library, which is the registration's from then on, and reads what it tells.
 * ODLC_ERR_UNSUPPORTED: another version of the interface; ODLC_ERR_INVALID: it is no registration library, a symbol is
 * missing, a call fails, or what is told cannot be. */
odlc_status registration_begin(struct diags *diags, const struct library *library, struct registration *out) MUST_USE;
/* Terminates and closes the library. */
void registration_end(struct registration *registration);

/* What the library tells of an operation; NULL: nothing, or there is no library. */
const SnpeUdo_OperationInfo_t *registration_operation(const struct registration *registration, const char *type);

/* Whether the core is among the operation's; one that tells none is for all. */
bool registration_is_for(const SnpeUdo_OperationInfo_t *op, SnpeUdo_CoreType_t core);

/* The library for the core; NULL: there is none. */
const char *registration_library(const struct registration *registration, SnpeUdo_CoreType_t core);

#endif
