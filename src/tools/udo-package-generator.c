/* SPDX-License-Identifier: Apache-2.0 */
/* udo-package-generator: folders with sources and makefiles for the kernels of user-defined ops. */
#include <string.h>

#include "tools/generate_command.h"

enum {
#define OPTION OPTION_IDS
#include "tools/udo-package-generator.def"
};

static const struct option rows[] = {
#define OPTION OPTION_ROW
#include "tools/udo-package-generator.def"
    OPTIONS_COMMON("Help"),
};

static const struct command self = {
    .name = "udo-package-generator",
    .summary = "Generates packages for the kernels of user-defined ops",
    .usage = "[-p] CONFIG... [options]",
    OPTION_ROWS(rows),
};

/* All configs are read, so that the errors of all are reported. */
static odlc_status load(struct generate_session *s, struct udo_set *set)
{
    const char *const *paths;
    size_t count;
    odlc_status status = ODLC_OK;
    options_values(s->arena, &s->options, OPT_CONFIG, &paths, &count);
    for (size_t i = 0; i < count; i++) {
        odlc_status loaded = udo_load(set, paths[i]);
        status = status == ODLC_OK ? loaded : status;
    }
    return status;
}

static odlc_status language_of(struct generate_session *s, enum gen_language *language)
{
    const char *name = options_value(&s->options, OPT_LANGUAGE, "cpp");
    *language = strcmp(name, "c") == 0 ? GEN_C : GEN_CPP;
    if (*language == GEN_CPP && strcmp(name, "cpp") != 0)
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.hint = "c or cpp"), "usage",
                          "packages are not written in '%s'", name);
    return ODLC_OK;
}

static odlc_status describe(struct generate_session *s, struct gen_packages *out)
{
    struct udo_set set;
    struct gen_choices choices = {.cmakelists = options_given(&s->options, OPT_CMAKELISTS),
                                  .reference = options_given(&s->options, OPT_REFERENCE)};
    TRY(language_of(s, &choices.language));
    udo_set_init(&set, s->arena, &s->diags, op_registry_new(s->arena));
    TRY(load(s, &set));
    return gen_describe(&set, &choices, out);
}

int main(int argc, char **argv)
{
    static const struct generate_command command = {.self = &self,
                                                    .output = OPT_OUTPUT,
                                                    .force = OPT_FORCE,
                                                    .debug = OPT_DEBUG,
                                                    .default_variable = "UDO_PACKAGE_PATH",
                                                    .describe = describe};
    return generate_main(&command, argc, argv);
}
