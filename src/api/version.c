/* SPDX-License-Identifier: Apache-2.0 */
#include "opendlc/version.h"

const char *odlc_version(void)
{
    return ODLC_VERSION;
}

int odlc_version_number(void)
{
    return ODLC_VERSION_NUMBER;
}
