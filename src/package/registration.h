/* Registration libraries: which ops a package has, on which cores, and where they are implemented. */
#ifndef PACKAGE_REGISTRATION_H
#define PACKAGE_REGISTRATION_H

#include "package/library.h"
#include "sdk/SnpeUdo/UdoReg.h"

struct registration {
    struct library library;
    const SnpeUdo_RegInfo_t *info; /* the library's own memory */
    SnpeUdo_ErrorType_t (*terminate)(void);
};

/* Whether a library is a registration library. */
bool is_registration(const struct library *library);

/* Initializes an opened library, which is the registration's from then on, and reads what it tells.
 * ODLC_ERR_UNSUPPORTED: another version of the interface; ODLC_ERR_INVALID: a symbol is missing, a call fails, or what
 * is told cannot be. */
odlc_status registration_begin(struct diags *diags, const struct library *library, struct registration *out) MUST_USE;
/* Terminates and closes the library. */
void registration_end(struct registration *registration);

/* The library for the CPU; NULL: there is none. */
const char *registration_cpu_library(const struct registration *registration);

#endif
