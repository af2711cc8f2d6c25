/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines: every spelling, every mistake. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tools/options.h"

enum { OPT_INPUT, OPT_DIM, OPT_UDO, OPT_DEBUG, OPT_DRY_RUN, OPT_DEPTH, OPT_OLD };

static const struct option rows[] = {
    {.id = OPT_INPUT,
     .section = "Files",
     .name = "input_network",
     .shorts = {"i"},
     .min = 1,
     .max = 1,
     .required = true,
     .values = "FILE",
     .help = "the model"},
    {.id = OPT_DIM,
     .section = "Files",
     .name = "input_dim",
     .shorts = {"d"},
     .min = 2,
     .max = 2,
     .repeatable = true,
     .values = "NAME DIMS",
     .help = "dimensions of an input"},
    {.id = OPT_UDO,
     .section = "Files",
     .name = "udo_config_paths",
     .shorts = {"udo"},
     .min = 1,
     .max = MANY_VALUES,
     .repeatable = true,
     .values = "FILE...",
     .help = "descriptions of user-defined ops, a sentence that is long enough to be wrapped by the "
             "printer of the help"},
    {.id = OPT_DEBUG, .section = "Files", .name = "debug", .min = 0, .max = 1, .values = "[N]", .help = "say more"},
    {.id = OPT_DRY_RUN, .section = "Files", .name = "dry_run", .help = "write nothing"},
    {.id = OPT_DEPTH,
     .section = "Files",
     .name = "depth",
     .aliases = {"level"},
     .min = 1,
     .max = 1,
     .values = "N",
     .help = "a number"},
    {.id = OPT_OLD, .section = "Files", .name = "strict", .min = 0, .max = 1, .ignored = true, .help = "nothing"},
    OPTIONS_COMMON("Files"),
};

static const struct command self = {
    .name = "tool", .summary = "Does things", .usage = "-i FILE", OPTION_ROWS(rows), .epilogue = "The end."};

static struct arena *arena;
static struct diags diags;
static struct options options;

static void setup(void)
{
    arena = arena_create();
    diags_init(&diags, arena);
    options = (struct options){0};
}

static void teardown(void)
{
    arena_destroy(arena);
}

/* Parses words separated by single spaces. */
static odlc_status parse(const char *line)
{
    char *argv[32] = {"tool"};
    int argc = 1;
    for (char *word = strtok(arena_strdup(arena, line), " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    char **kept = arena_memdup(arena, argv, sizeof argv);
    return options_parse(arena, &diags, &self, argc, kept, &options);
}

static void expect_error(const char *line, const char *code, const char *message)
{
    ck_assert_int_eq(parse(line), ODLC_ERR_USAGE);
    ck_assert_uint_ge(diags.list.count, 1);
    ck_assert_str_eq(diags.list.data[0].code, code);
    ck_assert_str_eq(diags.list.data[0].message, message);
}

START_TEST(long_names_prefixes_and_equals)
{
    ck_assert_int_eq(parse("--input_network a.onnx"), ODLC_OK);
    ck_assert_str_eq(options_value(&options, OPT_INPUT, NULL), "a.onnx");
    ck_assert_int_eq(parse("--input_network=b.onnx"), ODLC_OK);
    ck_assert_str_eq(options_value(&options, OPT_INPUT, NULL), "b.onnx");
    ck_assert_int_eq(parse("--input_n=c=d.onnx --deb"), ODLC_OK);
    ck_assert_str_eq(options_value(&options, OPT_INPUT, NULL), "c=d.onnx");
    ck_assert(options_given(&options, OPT_DEBUG));
    ck_assert_ptr_null(options_value(&options, OPT_DEBUG, NULL));
    ck_assert(!options_given(&options, OPT_DRY_RUN));
    ck_assert_uint_eq(diags.list.count, 0);
}
END_TEST

START_TEST(short_forms)
{
    ck_assert_int_eq(parse("-i a.onnx -udo one.json two.json --debug 3 -udo=three.json"), ODLC_OK);
    ck_assert_str_eq(options_value(&options, OPT_INPUT, NULL), "a.onnx");
    ck_assert_str_eq(options_value(&options, OPT_DEBUG, NULL), "3");
    ck_assert_uint_eq(options.uses.count, 4);
    const struct option_use *first = &options.uses.data[1], *last = &options.uses.data[3];
    ck_assert_int_eq(first->option->id, OPT_UDO);
    ck_assert_uint_eq(first->n_values, 2);
    ck_assert_str_eq(first->values[0], "one.json");
    ck_assert_str_eq(first->values[1], "two.json");
    ck_assert_uint_eq(last->n_values, 1);
    ck_assert_str_eq(last->values[0], "three.json");
}
END_TEST

START_TEST(several_values)
{
    ck_assert_int_eq(parse("-i m -d x 1,3,4 --input_dim=y 2,-1"), ODLC_OK);
    ck_assert_uint_eq(options.uses.count, 3);
    ck_assert_str_eq(options.uses.data[1].values[1], "1,3,4");
    ck_assert_str_eq(options.uses.data[2].values[0], "y");
    ck_assert_str_eq(options.uses.data[2].values[1], "2,-1");
    ck_assert_int_eq(parse("-i m -d x -1"), ODLC_OK);
    ck_assert_str_eq(options.uses.data[1].values[1], "-1");
}
END_TEST

START_TEST(alias_and_exact_name_win)
{
    ck_assert_int_eq(parse("-i m --level 7"), ODLC_OK);
    int64_t depth = 1;
    ck_assert_int_eq(options_int(&options, &diags, OPT_DEPTH, 0, 10, &depth), ODLC_OK);
    ck_assert_int_eq(depth, 7);
    ck_assert_int_eq(options_int(&options, &diags, OPT_DEPTH, 0, 6, &depth), ODLC_ERR_USAGE);
    ck_assert_str_eq(diags.list.data[0].message, "option --depth takes an integer from 0 to 6, not '7'");
    ck_assert_int_eq(depth, 7);
    ck_assert_int_eq(parse("-i m --level 7x"), ODLC_OK);
    ck_assert_int_eq(options_int(&options, &diags, OPT_DEPTH, 0, 10, &depth), ODLC_ERR_USAGE);
}
END_TEST

START_TEST(completion_needs_no_required_option)
{
    ck_assert_int_eq(parse("--completion fish"), ODLC_OK);
    ck_assert_str_eq(options_value(&options, OPT_COMPLETION, NULL), "fish");
    expect_error("--completion csh", "option-value", "option --completion: there is no script for csh");
    ck_assert_str_eq(diags.list.data[0].hint, "bash, zsh or fish");
}
END_TEST

START_TEST(mistakes_are_named)
{
    expect_error("-i m --de 4", "option-ambiguous", "option --de is ambiguous");
    ck_assert_str_eq(diags.list.data[0].hint, "it could be --debug, --depth");
    diags_init(&diags, arena);
    expect_error("-i m --dry_rum", "option-unknown", "unknown option --dry_rum");
    ck_assert_str_eq(diags.list.data[0].hint, "did you mean --dry_run?");
    diags_init(&diags, arena);
    expect_error("-i m -x 3", "option-unknown", "unknown option -x");
    diags_init(&diags, arena);
    expect_error("-i", "option-value", "option --input_network needs a value");
    diags_init(&diags, arena);
    expect_error("-i m -d x", "option-value", "option --input_dim needs 2 values");
    diags_init(&diags, arena);
    expect_error("-i m --dry_run=yes", "option-value", "option --dry_run takes no value");
    diags_init(&diags, arena);
    expect_error("-i m --dry_run yes", "argument-stray", "unexpected argument 'yes'");
    diags_init(&diags, arena);
    expect_error("--dry_run", "option-missing", "option --input_network is required");
}
END_TEST

START_TEST(all_mistakes_are_reported_at_once)
{
    ck_assert_int_eq(parse("stray --dry_rum --bogus 1 2 -i"), ODLC_ERR_USAGE);
    ck_assert_uint_eq(diags.errors, 4);
}
END_TEST

START_TEST(last_use_counts_with_a_warning)
{
    ck_assert_int_eq(parse("-i a -i b"), ODLC_OK);
    ck_assert_str_eq(options_value(&options, OPT_INPUT, NULL), "b");
    ck_assert_uint_eq(diags.warnings, 1);
    ck_assert_str_eq(diags.list.data[0].code, "option-repeated");
}
END_TEST

START_TEST(ignored_options_say_so_once)
{
    ck_assert_int_eq(parse("-i a --strict --strict 3"), ODLC_OK);
    ck_assert(!options_given(&options, OPT_OLD));
    ck_assert_uint_eq(diags.list.count, 1);
    ck_assert_int_eq(diags.list.data[0].severity, ODLC_NOTE);
    ck_assert_str_eq(diags.list.data[0].message, "option --strict has no effect");
}
END_TEST

START_TEST(help_needs_nothing_else)
{
    ck_assert_int_eq(parse("--help"), ODLC_OK);
    ck_assert(options_given(&options, OPT_HELP));
    ck_assert_int_eq(parse("--vers"), ODLC_OK);
    ck_assert(options_given(&options, OPT_VERSION));
}
END_TEST

START_TEST(help_lists_every_row)
{
    char *printed = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&printed, &size);
    options_print_help(stream, &self);
    fclose(stream);
    ck_assert_str_eq(printed,
                     "Usage: tool -i FILE\n"
                     "\n"
                     "Does things.\n"
                     "\n"
                     "Files:\n"
                     "  -i, --input_network FILE        the model\n"
                     "  -d, --input_dim NAME DIMS       dimensions of an input\n"
                     "  -udo, --udo_config_paths FILE...\n"
                     "                                  descriptions of user-defined ops, a sentence that is "
                     "long enough\n"
                     "                                  to be wrapped by the printer of the help\n"
                     "  --debug [N]                     say more\n"
                     "  --dry_run                       write nothing\n"
                     "  --depth N                       a number\n"
                     "  --strict                        nothing\n"
                     "  -q, --quiet                     results, errors and warnings only: no notes, no summary, no\n"
                     "                                  progress\n"
                     "  -h, --help                      print this help\n"
                     "  --version                       print the version\n"
                     "  --completion bash|zsh|fish      print the completion script for a shell\n"
                     "\n"
                     "The end.\n");
    free(printed);
}
END_TEST

START_TEST(exit_statuses)
{
    ck_assert_int_eq(exit_status(ODLC_OK), 0);
    ck_assert_int_eq(exit_status(ODLC_ERR_USAGE), 2);
    ck_assert_int_eq(exit_status(ODLC_ERR_INVALID), 1);
    ck_assert_int_eq(exit_status(ODLC_ERR_INTERNAL), 1);
}
END_TEST

static bool mentions(const char *line, int id)
{
    char *argv[32] = {"tool"};
    int argc = 1;
    for (char *word = strtok(arena_strdup(arena, line), " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    return options_mention(arena, &self, argc, argv, id);
}

START_TEST(mentioned_in_a_line_that_is_wrong)
{
    ck_assert(mentions("--nonsense -x --dry_run", OPT_DRY_RUN));
    ck_assert(mentions("stray --dry", OPT_DRY_RUN)); /* unique prefix */
    ck_assert(mentions("--level=3", OPT_DEPTH));     /* alias */
    ck_assert(mentions("-i=m", OPT_INPUT));
    ck_assert(!mentions("--d", OPT_DRY_RUN)); /* it could be another */
    ck_assert(!mentions("dry_run -i dry_run", OPT_DRY_RUN));
    ck_assert(!mentions("", OPT_DRY_RUN));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *tcase = tcase_create("options");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, long_names_prefixes_and_equals);
    tcase_add_test(tcase, short_forms);
    tcase_add_test(tcase, several_values);
    tcase_add_test(tcase, alias_and_exact_name_win);
    tcase_add_test(tcase, completion_needs_no_required_option);
    tcase_add_test(tcase, mistakes_are_named);
    tcase_add_test(tcase, all_mistakes_are_reported_at_once);
    tcase_add_test(tcase, last_use_counts_with_a_warning);
    tcase_add_test(tcase, ignored_options_say_so_once);
    tcase_add_test(tcase, help_needs_nothing_else);
    tcase_add_test(tcase, help_lists_every_row);
    tcase_add_test(tcase, exit_statuses);
    tcase_add_test(tcase, mentioned_in_a_line_that_is_wrong);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
