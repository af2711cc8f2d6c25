/* SPDX-License-Identifier: Apache-2.0 */
#include "op/processors.h"

#include <string.h>

static const char *const names[N_PROCESSORS] = {"cpu", "gpu", "dsp", "aip", "htp"};

const char *processor_name(enum processor processor)
{
    return names[processor];
}

bool processor_find(const char *name, enum processor *out)
{
    for (int i = 0; i < N_PROCESSORS; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (enum processor)i;
            return true;
        }
    return false;
}

enum listing processor_lists(enum processor processor, const char *operator_name)
{
    static const struct {
        const char *name;
        uint8_t listing[N_PROCESSORS];
    } lists[] = {
#define LISTED(operator, cpu, gpu, dsp, aip, htp, source) \
    {#operator, {LISTING_##cpu, LISTING_##gpu, LISTING_##dsp, LISTING_##aip, LISTING_##htp} },
#define TAKES(processor, type, source)
#include "op/processors.def"
#undef LISTED
#undef TAKES
    };
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        if (strcmp(operator_name, lists[i].name) == 0)
            return (enum listing)lists[i].listing[processor];
    return LISTING_UNKNOWN;
}

bool processor_takes(enum processor processor, enum dtype dtype)
{
    static const uint64_t types[N_PROCESSORS] = {
#define LISTED(operator, cpu, gpu, dsp, aip, htp, source)
#define TAKES(processor, mask, source) [PROCESSOR_##processor] = mask,
#include "op/processors.def"
#undef LISTED
#undef TAKES
    };
    return (types[processor] & DTYPE_BIT(dtype)) != 0;
}
