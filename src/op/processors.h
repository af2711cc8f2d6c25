/* SPDX-License-Identifier: Apache-2.0 */
/* What the published lists of processors say of operators and types (op/processors.def). */
#ifndef OP_PROCESSORS_H
#define OP_PROCESSORS_H

#include "ir/dtype.h"

enum processor { PROCESSOR_CPU, PROCESSOR_GPU, PROCESSOR_DSP, PROCESSOR_AIP, PROCESSOR_HTP, N_PROCESSORS };
enum listing { LISTING_UNKNOWN, LISTING_NO, LISTING_YES };

/* "cpu", "gpu", …: as options and reports have it. */
const char *processor_name(enum processor processor);
/* False: there is no processor of that name. */
bool processor_find(const char *name, enum processor *out);
/* Whether the processor's list has an operator of that name in the master list. */
enum listing processor_lists(enum processor processor, const char *operator_name);
/* Whether the processor is said to compute with real numbers of that type. */
bool processor_takes(enum processor processor, enum dtype dtype);

#endif
