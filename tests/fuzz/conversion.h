/* What targets that convert models have in common. */
#ifndef FUZZ_CONVERSION_H
#define FUZZ_CONVERSION_H

#include <stdlib.h>

#include "opendlc/convert.h"

typedef odlc_status conversion_fn(const struct odlc_convert_options *options, struct odlc_conversion **out);

/* Converts, and aborts where the status is not what the diagnostics say. */
static inline odlc_status try_conversion(conversion_fn *convert, const struct odlc_convert_options *options)
{
    struct odlc_conversion *conversion;
    odlc_status status = convert(options, &conversion);
    size_t count = 0, errors = 0;
    const struct odlc_diag *diags = conversion ? odlc_conversion_diags(conversion, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        errors += diags[i].severity == ODLC_ERROR;
    if (status == ODLC_ERR_INTERNAL || (conversion && (status == ODLC_OK) != (errors == 0)))
        abort();
    odlc_conversion_free(conversion);
    return status;
}

#endif
