/* udo-package-generator: folders with sources and makefiles for the kernels of user-defined ops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/gen.h"
#include "tools/command.h"
#include "tools/options.h"

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
    .usage = "-p CONFIG... [options]",
    OPTION_ROWS(rows),
};

struct session {
    struct arena *arena;
    struct diags diags;
    struct options options;
};

/* All configs are read, so that the errors of all are reported. */
static odlc_status load(struct session *s, struct udo_set *set)
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

static const char *output_folder(const struct session *s)
{
    const char *environment = getenv("UDO_PACKAGE_PATH");
    return options_value(&s->options, OPT_OUTPUT, environment && *environment ? environment : ".");
}

static void report(const struct session *s, const struct gen_packages *packages, const char *folder,
                   const struct gen_result *result)
{
    for (size_t i = 0; options_given(&s->options, OPT_DEBUG) && i < result->written.count; i++)
        printf("%s\n", result->written.data[i]);
    for (size_t i = 0; i < result->kept.count; i++)
        printf("%s is kept as it is\n", result->kept.data[i]);
    for (size_t i = 0; i < packages->list.count; i++)
        printf("package %s is in %s/%s\n", packages->list.data[i].name, folder, packages->list.data[i].name);
}

static odlc_status generate(struct session *s)
{
    struct udo_set set;
    struct gen_packages packages = {0};
    struct gen_result result = {0};
    const struct gen_options options = {
        .tree = GEN_UDO, .folder = output_folder(s), .force = options_given(&s->options, OPT_FORCE)};
    udo_set_init(&set, s->arena, &s->diags, op_registry_new(s->arena));
    TRY(load(s, &set));
    TRY(gen_describe(&set, &packages));
    TRY(gen_write(&set, &packages, &options, &result));
    report(s, &packages, options.folder, &result);
    return ODLC_OK;
}

static odlc_status run_command(struct session *s, int argc, char **argv)
{
    TRY(options_parse(s->arena, &s->diags, &self, argc, argv, &s->options));
    return options_answered(&s->options) ? ODLC_OK : generate(s);
}

static odlc_status guarded_run(struct session *s, int argc, char **argv)
{
    if (setjmp(*arena_catch(s->arena)))
        return print_out_of_memory(self.name, DIAG_TEXT);
    odlc_status status = run_command(s, argc, argv);
    if (!command_inputs_intact(s->arena, self.name, DIAG_TEXT))
        return ODLC_ERR_IO;
    print_diags(stderr, self.name, s->diags.list.data, s->diags.list.count, DIAG_TEXT);
    return status;
}

int main(int argc, char **argv)
{
    command_begin();
    struct session s = {.arena = arena_create()};
    odlc_status status = ODLC_ERR_NOMEM;
    if (s.arena) {
        diags_init(&s.diags, s.arena);
        status = guarded_run(&s, argc, argv);
    } else {
        status = print_out_of_memory(self.name, DIAG_TEXT);
    }
    arena_destroy(s.arena);
    return command_end(self.name, exit_status(status), exit_status(ODLC_ERR_IO));
}
