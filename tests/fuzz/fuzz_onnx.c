/* Any bytes as an ONNX model: converted as far as that goes, with some operators claimed by a UDO config, or refused
 * with a diagnostic; no container is written. What converts is converted with other options, too. Most inputs are
 * changed along the schema of ONNX (mutate_onnx.c), because other bytes seldom get past the decoder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine.h"
#include "opendlc/convert.h"

static const char config[] =
    "{\"P\": {\"UDO_PACKAGE_NAME\": \"Fuzzed\", \"Operators\": ["
    "{\"type\": \"MyScale\", \"inputs\": [{\"name\": \"in\", \"data_type\": \"FLOAT_32\"},"
    " {\"name\": \"by\", \"data_type\": \"FLOAT_32\", \"static\": true}],"
    " \"outputs\": [{\"name\": \"out\", \"data_type\": \"FLOAT_32\", \"shape\": \"same_as in0\"}],"
    " \"scalar_params\": [{\"name\": \"alpha\", \"data_type\": \"FLOAT_32\", \"default_value\": 1},"
    " {\"name\": \"axis\", \"data_type\": \"INT_32\"}]},"
    "{\"type\": \"MySplit\", \"domain\": \"fuzz\", \"inputs\": [{\"name\": \"in\", \"data_type\": \"FLOAT_32\","
    " \"tensor_layout\": \"NHWC\"}],"
    " \"outputs\": [{\"name\": \"a\", \"data_type\": \"FLOAT_32\", \"tensor_layout\": \"NHWC\","
    " \"shape\": [\"in0[0]\", \"in0[1]\", \"in0[2]\", \"in0[3]/2\"]}, {\"name\": \"b\", \"data_type\": \"FLOAT_32\"}],"
    " \"tensor_params\": [{\"name\": \"sizes\", \"data_type\": \"INT_32\"}]},"
    "{\"type\": \"ThresholdedRelu\", \"inputs\": [{\"name\": \"in\", \"data_type\": \"FLOAT_32\"}],"
    " \"outputs\": [{\"name\": \"out\", \"data_type\": \"FLOAT_32\"}],"
    " \"scalar_params\": [{\"name\": \"alpha\", \"data_type\": \"FLOAT_32\"}]},"
    "{\"type\": \"SoftClamp\", \"domain\": \"com.example\", \"inputs\": [{\"name\": \"x\", \"data_type\": \"FLOAT_32\","
    " \"tensor_layout\": \"NHWC\"}, {\"name\": \"limit\", \"data_type\": \"FLOAT_32\", \"tensor_layout\": \"NHWC\","
    " \"static\": true}], \"outputs\": [{\"name\": \"y\", \"data_type\": \"FLOAT_32\", \"tensor_layout\": \"NHWC\","
    " \"shape\": \"same_as in0\"}], \"scalar_params\": [{\"name\": \"sharpness\", \"data_type\": \"FLOAT_32\","
    " \"default_value\": 1.0}, {\"name\": \"mode\", \"data_type\": \"STRING\"}],"
    " \"tensor_params\": [{\"name\": \"axes\", \"data_type\": \"INT_32\"}]}]}}";

/* A file in memory, and a path that leads to it. */
static int file_of(const void *bytes, size_t size, char path[64])
{
    int fd = memfd_create("file", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static const char *config_path(void)
{
    static char path[64];
    if (!*path)
        file_of(config, sizeof config - 1, path);
    return path;
}

static odlc_status convert(const struct odlc_convert_options *options)
{
    struct odlc_conversion *conversion;
    odlc_status status = odlc_convert_onnx(options, &conversion);
    size_t count = 0, errors = 0;
    const struct odlc_diag *diags = conversion ? odlc_conversion_diags(conversion, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        errors += diags[i].severity == ODLC_ERROR;
    if (status == ODLC_ERR_INTERNAL || (conversion && (status == ODLC_OK) != (errors == 0)))
        abort();
    odlc_conversion_free(conversion);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = file_of(data, size, path);
    const char *configs[] = {config_path()};
    struct odlc_convert_options options = {.input = path, .udo_configs = configs, .n_udo_configs = 1};
    if (convert(&options) == ODLC_OK) {
        options.dry_run = 1;
        if (convert(&options) != ODLC_OK)
            abort(); /* it says what a conversion would */
        options = (struct odlc_convert_options){.input = path,
                                                .udo_configs = configs,
                                                .n_udo_configs = 1,
                                                .preserve_layout = 1,
                                                .preserve_dtype = 1,
                                                .promote_static = 1,
                                                .no_batchnorm_folding = 1,
                                                .keep_disconnected_nodes = 1,
                                                .keep_quant_nodes = 1,
                                                .keep_int64_inputs = 1};
        (void)convert(&options);
    }
    close(fd);
    return 0;
}
