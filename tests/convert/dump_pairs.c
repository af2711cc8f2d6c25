/* SPDX-License-Identifier: Apache-2.0 */
/* What test_udo_pairs.py converts with: reads lines "model[ config]", and prints for each the status, the codes of its
 * diagnostics and the graph after the last pass, between lines "@@ ...". One process for thousands of models. */
#include <stdio.h>
#include <string.h>

#include "opendlc/convert.h"

static void print_conversion(const struct odlc_conversion *conversion, odlc_status status)
{
    size_t count;
    const struct odlc_diag *diags = odlc_conversion_diags(conversion, &count);
    const char *dump = odlc_conversion_dump(conversion);
    printf("@@ %s\n", odlc_status_name(status));
    for (size_t i = 0; i < count; i++)
        printf("@@ %s %s: %s\n", diags[i].severity == ODLC_ERROR ? "error" : "other", diags[i].code, diags[i].message);
    printf("%s@@ end\n", dump ? dump : "");
}

int main(void)
{
    char line[1024];
    while (fgets(line, sizeof line, stdin)) {
        const char *model = strtok(line, " \n"), *config = strtok(NULL, " \n");
        struct odlc_conversion *conversion;
        struct odlc_convert_options options;
        odlc_convert_defaults(&options, sizeof options);
        options.input = model;
        options.dump_ir_after = "set_axis_formats";
        if (config) {
            options.udo_configs = &config;
            options.n_udo_configs = 1;
        }
        odlc_status status = odlc_convert(ODLC_ONNX, &options, &conversion);
        if (!conversion)
            return 1;
        print_conversion(conversion, status);
        odlc_conversion_free(conversion);
    }
    return 0;
}
