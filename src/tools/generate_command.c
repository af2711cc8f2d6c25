/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/generate_command.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/terminal.h"

static const char *output_folder(const struct generate_session *s)
{
    const char *environment = s->of->default_variable ? getenv(s->of->default_variable) : NULL;
    return options_value(&s->options, s->of->output, environment && *environment ? environment : ".");
}

static void report(const struct generate_session *s, const struct gen_packages *packages, const char *folder,
                   const struct gen_result *result)
{
    if (terminal_is_quiet())
        return;
    for (size_t i = 0; options_given(&s->options, s->of->debug) && i < result->written.count; i++)
        printf("%s\n", result->written.data[i]);
    for (size_t i = 0; i < result->kept.count; i++)
        printf("%s is kept as it is\n", result->kept.data[i]);
    for (size_t i = 0; i < packages->list.count; i++)
        printf("package %s is in %s/%s\n", packages->list.data[i].name, folder, packages->list.data[i].name);
}

static odlc_status generate(struct generate_session *s)
{
    struct gen_packages packages = {0};
    struct gen_result result = {0};
    const struct gen_options options = {.folder = output_folder(s), .force = options_given(&s->options, s->of->force)};
    TRY(s->of->describe(s, &packages));
    TRY(gen_write(s->arena, &s->diags, &packages, &options, &result));
    report(s, &packages, options.folder, &result);
    return ODLC_OK;
}

static odlc_status run_command(struct generate_session *s, int argc, char **argv)
{
    TRY(options_parse(s->arena, &s->diags, s->of->self, argc, argv, &s->options));
    return options_answered(&s->options) ? ODLC_OK : generate(s);
}

static odlc_status guarded_run(struct generate_session *s, int argc, char **argv)
{
    const char *name = s->of->self->name;
    if (setjmp(*arena_catch(s->arena)))
        return print_out_of_memory(name, DIAG_TEXT);
    odlc_status status = run_command(s, argc, argv);
    if (!command_inputs_intact(s->arena, name, DIAG_TEXT))
        return ODLC_ERR_IO;
    print_diags(stderr, name, s->diags.list.data, s->diags.list.count, DIAG_TEXT);
    return status;
}

int generate_main(const struct generate_command *of, int argc, char **argv)
{
    command_begin();
    struct generate_session s = {.arena = arena_create(), .of = of};
    odlc_status status = ODLC_ERR_NOMEM;
    if (s.arena) {
        diags_init(&s.diags, s.arena);
        status = guarded_run(&s, argc, argv);
    } else {
        status = print_out_of_memory(of->self->name, DIAG_TEXT);
    }
    arena_destroy(s.arena);
    return command_end(of->self->name, exit_status(status), exit_status(ODLC_ERR_IO));
}
