/* SPDX-License-Identifier: Apache-2.0 */
/* Options by the names of the API. */
#ifndef CONVERTERS_DRIVER_OPTION_NAME_H
#define CONVERTERS_DRIVER_OPTION_NAME_H

/* The member of struct odlc_convert_options that an option of the commands, without its "--", sets; NULL: there is no
 * such option. Static storage. */
const char *option_member(const char *option);

#endif
