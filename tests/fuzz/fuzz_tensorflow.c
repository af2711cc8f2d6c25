/* Any bytes as a frozen TensorFlow graph: converted as far as that goes, with some operators claimed by a UDO config,
 * or refused with a diagnostic; no container is written. Most inputs are changed along TensorFlow's schema
 * (mutate_wire.h), because other bytes seldom get past the decoder. */
#include <string.h>

#include "conversion.h"
#include "engine.h"
#include "scratch.h"

static const char config[] =
    "{\"P\": {\"UDO_PACKAGE_NAME\": \"Fuzzed\", \"Operators\": ["
    "{\"type\": \"MyScale\", \"inputs\": [{\"name\": \"in\", \"data_type\": \"FLOAT_32\"},"
    " {\"name\": \"by\", \"data_type\": \"FLOAT_32\", \"static\": true}],"
    " \"outputs\": [{\"name\": \"out\", \"data_type\": \"FLOAT_32\", \"shape\": \"same_as in0\"}],"
    " \"scalar_params\": [{\"name\": \"alpha\", \"data_type\": \"FLOAT_32\", \"default_value\": 1},"
    " {\"name\": \"axis\", \"data_type\": \"INT_32\"}]},"
    "{\"type\": \"MySplit\", \"inputs\": [{\"name\": \"in\", \"data_type\": \"FLOAT_32\"}],"
    " \"outputs\": [{\"name\": \"a\", \"data_type\": \"FLOAT_32\"}, {\"name\": \"b\", \"data_type\": \"FLOAT_32\"}],"
    " \"tensor_params\": [{\"name\": \"sizes\", \"data_type\": \"INT_32\"}]},"
    "{\"type\": \"Softmax\", \"inputs\": [{\"name\": \"in\", \"data_type\": \"FLOAT_32\"}],"
    " \"outputs\": [{\"name\": \"out\", \"data_type\": \"FLOAT_32\"}]}]}}";

/* What converts does so with other options, too: some inputs with these, some with those. */
static void try_options(struct odlc_convert_options options, size_t which)
{
    options.dry_run = which == 0;
    if (which == 0 && try_conversion(odlc_convert_tensorflow, &options) != ODLC_OK)
        abort(); /* it says what a conversion would */
    options.preserve_layout = options.preserve_dtype = options.promote_static = options.no_batchnorm_folding = 1;
    options.keep_disconnected_nodes = options.keep_quant_nodes = options.keep_int64_inputs = 1;
    if (which == 1)
        (void)try_conversion(odlc_convert_tensorflow, &options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *configs[1];
    if (!configs[0]) {
        scratch_save("udo.json", config, sizeof config - 1);
        configs[0] = strdup(scratch_path("udo.json"));
    }
    scratch_save("model.pb", data, size);
    const struct odlc_convert_options options = {
        .input = scratch_path("model.pb"), .udo_configs = configs, .n_udo_configs = 1};
    if (try_conversion(odlc_convert_tensorflow, &options) == ODLC_OK)
        try_options(options, size % 4);
    return 0;
}
