/* SPDX-License-Identifier: Apache-2.0 */
/* The version of these headers. */
#ifndef OPENDLC_VERSION_H
#define OPENDLC_VERSION_H

#define ODLC_VERSION "0.1.0"

#endif
