/* SPDX-License-Identifier: Apache-2.0 */
/* What targets that convert models have in common. */
#ifndef FUZZ_CONVERSION_H
#define FUZZ_CONVERSION_H

#include <string.h>

#include "opendlc/convert.h"
#include "scratch.h"

/* Converts, and aborts where the status is not what the diagnostics say. */
static inline odlc_status try_conversion(enum odlc_framework framework, const struct odlc_convert_options *options)
{
    struct odlc_conversion *conversion;
    odlc_status status = odlc_convert(framework, options, &conversion);
    size_t count = 0, errors = 0;
    const struct odlc_diag *diags = conversion ? odlc_conversion_diags(conversion, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        errors += diags[i].severity == ODLC_ERROR;
    if (status == ODLC_ERR_INTERNAL || (conversion && (status == ODLC_OK) != (errors == 0)))
        abort();
    odlc_conversion_free(conversion);
    return status;
}

/* What converts does so with other options, too: some inputs with these, some with those. */
static inline void try_options(enum odlc_framework framework, struct odlc_convert_options options, size_t which)
{
    options.dry_run = which == 0;
    if (which == 0 && try_conversion(framework, &options) != ODLC_OK)
        abort(); /* it says what a conversion would */
    options.preserve_layout = options.preserve_dtype = options.promote_static = options.no_batchnorm_folding = 1;
    options.keep_disconnected_nodes = options.keep_quant_nodes = options.keep_int64_inputs = 1;
    if (which == 1)
        (void)try_conversion(framework, &options);
}

/* Converts the bytes as a file of that name, some operators claimed by the config. */
static inline void convert_fuzzed(enum odlc_framework framework, const char *name, const void *bytes, size_t size,
                                  const char *config, size_t config_size)
{
    static const char *configs[1];
    if (!configs[0]) {
        scratch_save("udo.json", config, config_size);
        configs[0] = strdup(scratch_path("udo.json"));
    }
    scratch_save(name, bytes, size);
    struct odlc_convert_options options;
    odlc_convert_defaults(&options, sizeof options);
    options.input = scratch_path(name);
    options.udo_configs = configs;
    options.n_udo_configs = 1;
    if (try_conversion(framework, &options) == ODLC_OK)
        try_options(framework, options, size % 4);
}

#endif
