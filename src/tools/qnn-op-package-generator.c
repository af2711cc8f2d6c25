/* SPDX-License-Identifier: Apache-2.0 */
/* qnn-op-package-generator: folders with sources and makefiles for op packages, one for each backend. */
#include "base/file.h"
#include "base/file_kind.h"
#include "tools/generate_command.h"
#include "udo/xml.h"

enum {
#define OPTION OPTION_IDS
#include "tools/qnn-op-package-generator.def"
};

static const struct option rows[] = {
#define OPTION OPTION_ROW
#include "tools/qnn-op-package-generator.def"
    OPTIONS_COMMON("Help"),
};

static const struct command self = {
    .name = "qnn-op-package-generator",
    .summary = "Generates op packages for the kernels of user-defined ops, one for each backend",
    .usage = "[-p] CONFIG... [options]",
    OPTION_ROWS(rows),
};

/* A set for each config: those of one package name may define the same op. */
static odlc_status describe_config(struct generate_session *s, const char *path, struct gen_packages *out)
{
    struct udo_set set;
    struct file *file;
    TRY(file_map(s->arena, &s->diags, path, &file));
    if (!xml_recognise((const char *)file->data, file->size))
        return diag_error(&s->diags, ODLC_ERR_INVALID,
                          AT(.file = path, .hint = file_kind_hint(s->arena, file->data, file->size, "a JSON file",
                                                                  "JSON configs are for udo-package-generator")),
                          "gen-config", "op packages are made of XML configs, and this is none");
    udo_set_init(&set, s->arena, &s->diags, op_registry_new(s->arena));
    TRY(udo_load(&set, path));
    return gen_describe_qnn(&set, options_given(&s->options, OPT_CONVERTER), out);
}

/* All configs are read, so that the errors of all are reported. */
static odlc_status describe(struct generate_session *s, struct gen_packages *out)
{
    const char *const *paths;
    size_t count;
    odlc_status status = ODLC_OK;
    options_values(s->arena, &s->options, OPT_CONFIG, &paths, &count);
    for (size_t i = 0; i < count; i++) {
        odlc_status described = describe_config(s, paths[i], out);
        status = status == ODLC_OK ? described : status;
    }
    return status;
}

int main(int argc, char **argv)
{
    static const struct generate_command command = {
        .self = &self, .output = OPT_OUTPUT, .force = OPT_FORCE, .debug = OPT_DEBUG, .describe = describe};
    return generate_main(&command, argc, argv);
}
