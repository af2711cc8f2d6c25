/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_CONSTANT_BYTES_H
#define REPORT_CONSTANT_BYTES_H

#include "opendlc/container.h"

/* Bytes of the elements of all tensors of an open container's graphs, and of what layers of version 3 have of their
 * own: what a report reads, for its progress. */
uint64_t constant_bytes(const odlc_container *container);

#endif
