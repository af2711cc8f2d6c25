/* SPDX-License-Identifier: Apache-2.0 */
/* The library without files: models, configs and containers in memory, what is found by name, compared, reported and
 * quantized, and long work that is stopped. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opendlc/convert.h"
#include "opendlc/diff.h"
#include "opendlc/quantize.h"
#include "opendlc/report.h"
#include "opendlc/run.h"
#include "opendlc/udo.h"

#define EXAMPLES SOURCE_ROOT "/examples/"

/* A file's bytes at an odd address. */
struct odd {
    char *block;
    struct odlc_bytes bytes;
};

static struct odd read_odd(const char *path, const char *name)
{
    struct odd odd = {.bytes.name = name};
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    fseek(f, 0, SEEK_END);
    odd.bytes.size = (size_t)ftell(f);
    rewind(f);
    odd.block = malloc(odd.bytes.size + 1);
    ck_assert_uint_eq(fread(odd.block + 1, 1, odd.bytes.size, f), odd.bytes.size);
    fclose(f);
    odd.bytes.data = odd.block + 1;
    return odd;
}

static struct odlc_conversion *convert(const struct odlc_convert_options *options, odlc_status expected)
{
    struct odlc_conversion *conversion;
    ck_assert_int_eq(odlc_convert(ODLC_ONNX, options, &conversion), expected);
    return conversion;
}

/* The container of the digits' model, in memory; the model is there as well. */
static struct odlc_conversion *digits(struct odd *model)
{
    struct odlc_convert_options o;
    *model = read_odd(EXAMPLES "digits/digits.onnx", "digits.onnx");
    odlc_convert_defaults(&o, sizeof o);
    o.input = "digits.onnx";
    o.buffers = &model->bytes;
    o.n_buffers = 1;
    o.in_memory = 1;
    return convert(&o, ODLC_OK);
}

static struct odlc_bytes container_of(const struct odlc_conversion *conversion)
{
    struct odlc_bytes bytes = {.name = "made.dlc"};
    bytes.data = odlc_conversion_container(conversion, &bytes.size);
    ck_assert_ptr_nonnull(bytes.data);
    return bytes;
}

static void read_digit(float image[256])
{
    struct odd raw = read_odd(EXAMPLES "digits/digit.raw", "raw");
    ck_assert_uint_eq(raw.bytes.size, 256 * sizeof *image);
    memcpy(image, raw.bytes.data, raw.bytes.size);
    free(raw.block);
}

START_TEST(memory_gives_the_bytes_of_files)
{
    char path[] = "/tmp/odlc-memory-XXXXXX";
    struct odd model;
    struct odlc_convert_options o;
    size_t n_inputs;
    close(mkstemp(path));
    odlc_convert_defaults(&o, sizeof o);
    o.input = EXAMPLES "digits/digits.onnx";
    o.output = path;
    struct odlc_conversion *filed = convert(&o, ODLC_OK), *made;
    model = read_odd(o.input, "digits.onnx");
    o.input = "digits.onnx";
    o.buffers = &model.bytes;
    o.n_buffers = 1;
    o.in_memory = 1;
    made = convert(&o, ODLC_OK);
    struct odlc_bytes bytes = container_of(made);
    struct odd file = read_odd(path, path);
    ck_assert_uint_eq(bytes.size, file.bytes.size);
    ck_assert_mem_eq(bytes.data, file.bytes.data, bytes.size);
    (void)odlc_conversion_inputs(made, &n_inputs);
    ck_assert_uint_eq(n_inputs, 0); /* no file was read */
    ck_assert_ptr_null(odlc_conversion_container(filed, &n_inputs));
    odlc_conversion_free(filed);
    odlc_conversion_free(made);
    free(file.block);
    free(model.block);
    unlink(path);
}
END_TEST

START_TEST(configs_and_errors_in_memory)
{
    struct odd files[2] = {read_odd(EXAMPLES "example.onnx", "example.onnx"), read_odd(EXAMPLES "ops.json", "ops")};
    const struct odlc_bytes buffers[] = {files[0].bytes, files[1].bytes};
    const char *configs[] = {"ops"};
    struct odlc_convert_options o;
    size_t count;
    odlc_convert_defaults(&o, sizeof o);
    o.input = "example.onnx";
    o.buffers = buffers;
    o.n_buffers = 2;
    o.in_memory = 1;
    struct odlc_conversion *refused = convert(&o, ODLC_ERR_UNSUPPORTED);
    const struct odlc_diag *d = odlc_conversion_diags(refused, &count);
    ck_assert_str_eq(d[0].hint, "describe it as a UDO (`udo_configs`); a config to start from comes by `dry_run`");
    o.command_words = 1;
    struct odlc_conversion *spelled = convert(&o, ODLC_ERR_UNSUPPORTED);
    ck_assert_str_eq(odlc_conversion_diags(spelled, &count)[0].hint,
                     "describe it as a UDO (--udo_config_paths); a config to start from comes by --udo_stub");
    o.udo_configs = configs;
    o.n_udo_configs = 1;
    struct odlc_conversion *made = convert(&o, ODLC_OK);
    ck_assert_uint_eq(odlc_conversion_summary(made).udo_ops, 1);
    odlc_udo *udo = odlc_udo_new();
    ck_assert_int_eq(odlc_udo_load_bytes(udo, &buffers[1]), ODLC_OK);
    ck_assert_str_eq(odlc_udo_definitions(udo, &count)[0].type, "SoftClamp");
    ck_assert_str_eq(odlc_udo_definitions(udo, &count)[0].file, "ops");
    odlc_udo_free(udo);
    odlc_conversion_free(refused);
    odlc_conversion_free(spelled);
    odlc_conversion_free(made);
    free(files[0].block);
    free(files[1].block);
}
END_TEST

START_TEST(things_are_found_by_name)
{
    struct odd model;
    struct odlc_conversion *made = digits(&model);
    const struct odlc_bytes bytes = container_of(made);
    odlc_container *c = odlc_container_new();
    ck_assert_ptr_null(odlc_container_find_graph(c, NULL));
    ck_assert_int_eq(odlc_container_open_bytes(c, &bytes), ODLC_OK);
    ck_assert_str_eq(odlc_container_summary(c)->path, "made.dlc");
    const struct odlc_graph *g = odlc_container_find_graph(c, NULL);
    ck_assert_ptr_eq(g, odlc_container_find_graph(c, "digits"));
    ck_assert_ptr_null(odlc_container_find_graph(c, "digit"));
    for (size_t i = 0; i < g->n_tensors; i++)
        ck_assert_ptr_eq(odlc_container_find_tensor(c, g, g->tensors[i].name), &g->tensors[i]);
    for (size_t i = 0; i < g->n_ops; i++)
        ck_assert_ptr_eq(odlc_container_find_op(c, g, g->ops[i].name), &g->ops[i]);
    ck_assert_ptr_eq(odlc_container_find_tensor(c, g, "image:0"), odlc_container_find_tensor(c, g, "image"));
    ck_assert_ptr_null(odlc_container_find_tensor(c, g, "imag"));
    ck_assert_ptr_null(odlc_container_find_op(c, g, ""));
    odlc_container_free(c);
    odlc_conversion_free(made);
    free(model.block);
}
END_TEST

struct told {
    uint64_t calls, last, total, stop_at;
};

static int hear(void *user, uint64_t done, uint64_t total)
{
    struct told *told = user;
    told->calls++;
    told->last = done;
    told->total = total;
    return told->stop_at && told->calls >= told->stop_at;
}

/* Numbers that ONNX Runtime computed. */
static void check_scores(odlc_run *run)
{
    float scores[10];
    size_t result;
    FILE *expected = fopen(EXAMPLES "digits/digit-onnxruntime.txt", "r");
    ck_assert_int_eq(odlc_run_find_result(run, "score", &result), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_run_find_result(run, "scores", &result), ODLC_OK);
    ck_assert_int_eq(odlc_run_get_floats(run, result, scores, 10), ODLC_OK);
    for (size_t i = 0; i < 10; i++) {
        float value;
        ck_assert_int_eq(fscanf(expected, "%f", &value), 1);
        ck_assert_float_eq_tol(scores[i], value, 1e-4f);
    }
    fclose(expected);
}

START_TEST(executions_are_told_and_stopped)
{
    struct odd model;
    struct odlc_conversion *made = digits(&model);
    const struct odlc_bytes bytes = container_of(made);
    struct told told = {.stop_at = 3};
    float image[256];
    size_t count, n_steps;
    odlc_run *run = odlc_run_new();
    read_digit(image);
    ck_assert_int_eq(odlc_run_open_bytes(run, &bytes), ODLC_OK);
    if (_i)
        ck_assert_int_eq(odlc_run_isolate(run, 0), ODLC_OK);
    ck_assert_int_eq(odlc_run_want_outputs(run), ODLC_OK);
    ck_assert_int_eq(odlc_run_set_floats(run, 0, image, 256), ODLC_OK);
    (void)odlc_run_steps(run, &n_steps);
    if (!_i) { /* in a process of its own only time counts, and this takes none */
        odlc_run_set_progress(run, hear, &told);
        ck_assert_int_eq(odlc_run_execute(run), ODLC_ERR_STOPPED);
        ck_assert_uint_eq(told.last, 2);
        ck_assert_uint_eq(told.total, n_steps);
        ck_assert_str_eq(odlc_run_diags(run, &count)[0].code, "stopped");
        told.stop_at = 0;
    }
    ck_assert_int_eq(odlc_run_execute(run), ODLC_OK);
    check_scores(run);
    odlc_run_free(run);
    odlc_conversion_free(made);
    free(model.block);
}
END_TEST

static odlc_status observe_all(odlc_quantizer *q, const float *image, size_t *passes)
{
    int observes;
    odlc_status status = odlc_quantizer_next(q, &observes);
    for (*passes = 0; status == ODLC_OK && observes; ++*passes) {
        if (odlc_quantizer_set_floats(q, 0, image, 256) != ODLC_OK || odlc_quantizer_observe(q) != ODLC_OK)
            return ODLC_ERR_INTERNAL;
        status = odlc_quantizer_next(q, &observes);
    }
    return status;
}

START_TEST(containers_are_quantized)
{
    struct odd model;
    struct odlc_conversion *made = digits(&model);
    const struct odlc_bytes bytes = container_of(made);
    struct odlc_quantize_options o;
    struct told told = {0};
    struct odlc_bytes fixed = {.name = "fixed.dlc"};
    float image[256], scores[10], floats[10] = {-9.808512f, -8.837038f, 8.607005f};
    size_t passes, count;
    int observes;
    read_digit(image);
    odlc_quantize_defaults(&o, sizeof o);
    o.correct_biases = _i;
    odlc_quantizer *q = odlc_quantizer_new();
    odlc_quantizer_set_progress(q, hear, &told);
    ck_assert_int_eq(odlc_quantizer_next(q, &observes), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_quantizer_open_bytes(q, &bytes, &o), ODLC_OK);
    ck_assert_uint_gt(told.calls, 0);
    ck_assert_uint_eq(odlc_quantizer_inputs(q, &count)->count, 256);
    ck_assert_int_eq(odlc_quantizer_set_floats(q, 0, image, 256), ODLC_ERR_USAGE);
    ck_assert_int_eq(observe_all(q, image, &passes), ODLC_OK);
    ck_assert_uint_ge(passes, 1u + (unsigned)_i);
    ck_assert_int_eq(odlc_quantizer_write_bytes(q, "how", &fixed.data, &fixed.size), ODLC_OK);
    odlc_run *run = odlc_run_new();
    ck_assert_int_eq(odlc_run_open_bytes(run, &fixed), ODLC_OK);
    ck_assert_int_eq(odlc_run_want_outputs(run), ODLC_OK);
    ck_assert_str_eq(odlc_run_inputs(run, &count)->dtype, "uFxp_8");
    ck_assert_int_eq(odlc_run_set_floats(run, 0, image, 256), ODLC_OK);
    ck_assert_int_eq(odlc_run_execute(run), ODLC_OK);
    ck_assert_int_eq(odlc_run_get_floats(run, 0, scores, 10), ODLC_OK);
    for (size_t i = 0; i < 3; i++) /* a step of 8 bits of a range of about 20 is 0.08 */
        ck_assert_float_eq_tol(scores[i], floats[i], 0.5f);
    odlc_run_free(run);
    odlc_quantizer_free(q);
    odlc_conversion_free(made);
    free(model.block);
}
END_TEST

START_TEST(quantizations_say_what_is_wrong)
{
    struct odd model;
    struct odlc_conversion *made = digits(&model);
    const struct odlc_bytes bytes = container_of(made);
    struct odlc_quantize_options o;
    struct told told = {.stop_at = 2};
    size_t count;
    int observes;
    odlc_quantize_defaults(&o, sizeof o);
    const struct {
        int act_bits;
        const char *schema;
        int threads;
        const char *message;
    } wrong[] = {{7, NULL, 1, "act_bits: there is no width of 7 bits"},
                 {8, "odd", 1, "act_schema: there is no odd"},
                 {8, NULL, 0, "threads: 1 to 256, not 0"}};
    for (size_t i = 0; i < 3; i++) {
        odlc_quantizer *q = odlc_quantizer_new();
        o.act_bits = wrong[i].act_bits;
        o.act_schema = wrong[i].schema;
        o.threads = wrong[i].threads;
        ck_assert_int_eq(odlc_quantizer_open_bytes(q, &bytes, &o), ODLC_ERR_USAGE);
        ck_assert_str_eq(odlc_quantizer_diags(q, &count)[0].message, wrong[i].message);
        odlc_quantizer_free(q);
    }
    odlc_quantizer *q = odlc_quantizer_new();
    ck_assert_int_eq(odlc_quantizer_open_bytes(q, &bytes, NULL), ODLC_OK);
    ck_assert_int_eq(odlc_quantizer_next(q, &observes), ODLC_OK);
    ck_assert_int_eq(observes, 1);
    ck_assert_int_eq(odlc_quantizer_observe(q), ODLC_ERR_USAGE); /* no input is set */
    ck_assert_int_eq(odlc_quantizer_next(q, &observes), ODLC_ERR_USAGE);
    odlc_quantizer_free(q);
    q = odlc_quantizer_new();
    odlc_quantizer_set_progress(q, hear, &told);
    ck_assert_int_eq(odlc_quantizer_open_bytes(q, &bytes, NULL), ODLC_ERR_STOPPED);
    odlc_quantizer_free(q);
    odlc_conversion_free(made);
    free(model.block);
}
END_TEST

START_TEST(containers_are_compared_and_reported)
{
    struct odd model;
    struct odlc_conversion *made = digits(&model);
    const struct odlc_bytes bytes = container_of(made);
    odlc_container *c[] = {odlc_container_new(), odlc_container_new(), odlc_container_new()};
    const struct odlc_diff_options options = {.struct_size = sizeof options, .categories = 1 << ODLC_DIFF_LAYERS};
    odlc_diff *same, *other;
    char *text;
    size_t count, size;
    uint64_t compared, differing;
    ck_assert_int_eq(odlc_container_open_bytes(c[0], &bytes), ODLC_OK);
    ck_assert_int_eq(odlc_diff_new(c[0], c[2], NULL, &same), ODLC_ERR_USAGE);
    ck_assert_int_eq(odlc_container_open(c[1], SOURCE_ROOT "/testdata/nr64.dlc"), ODLC_OK);
    ck_assert_int_eq(odlc_diff_new(c[0], c[0], NULL, &same), ODLC_OK);
    ck_assert_int_eq(odlc_diff_same(same), 1);
    (void)odlc_diff_list(same, &count);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(odlc_diff_new(c[0], c[1], &options, &other), ODLC_OK);
    ck_assert_int_eq(odlc_diff_same(other), 0);
    ck_assert_int_eq(odlc_diff_list(other, &count)[0].category, ODLC_DIFF_LAYERS);
    odlc_diff_count(other, ODLC_DIFF_LAYERS, &compared, &differing);
    ck_assert_uint_eq(differing, count);
    odlc_diff_count(other, ODLC_DIFF_WEIGHTS, &compared, &differing);
    ck_assert_uint_eq(compared, 0);
    ck_assert_int_eq(odlc_diff_json(other, &text, &size), ODLC_OK);
    ck_assert_uint_eq(strlen(text), size);
    ck_assert_ptr_nonnull(strstr(text, "\"opendlc.dlc-diff\""));
    odlc_text_free(text);
    ck_assert_int_eq(odlc_container_json(c[0], NULL, &text, &size), ODLC_OK);
    ck_assert_ptr_nonnull(strstr(text, "\"file\": \"made.dlc\""));
    odlc_text_free(text);
    ck_assert_int_eq(odlc_container_json(c[2], NULL, &text, &size), ODLC_ERR_USAGE);
    ck_assert_ptr_null(odlc_diff_category_name(ODLC_DIFF_CATEGORIES));
    odlc_diff_free(same);
    odlc_diff_free(other);
    for (size_t i = 0; i < 3; i++)
        odlc_container_free(c[i]);
    odlc_conversion_free(made);
    free(model.block);
}
END_TEST

START_TEST(diagnostics_are_formatted)
{
    const struct odlc_diag d = {.severity = ODLC_ERROR,
                                .code = "bad",
                                .file = "a.json",
                                .line = 2,
                                .column = 3,
                                .message = "no\x1b",
                                .hint = "yes",
                                .excerpt = "x {y"};
    const char whole[] = "a.json:2:3: error: no\\x1b\n    x {y\n      ^\n  hint: yes\n";
    const struct odlc_diag plain = {.severity = ODLC_NOTE, .code = "c", .message = "m"};
    char text[200];
    ck_assert_uint_eq(odlc_diag_format(&d, ODLC_DIAG_TEXT, NULL, NULL, 0), strlen(whole));
    ck_assert_uint_eq(odlc_diag_format(&d, ODLC_DIAG_TEXT, NULL, text, sizeof text), strlen(whole));
    ck_assert_str_eq(text, whole);
    ck_assert_uint_eq(odlc_diag_format(&d, ODLC_DIAG_TEXT, NULL, text, 5), strlen(whole));
    ck_assert_str_eq(text, "a.js");
    (void)odlc_diag_format(&plain, ODLC_DIAG_TEXT, "me", text, sizeof text);
    ck_assert_str_eq(text, "me: note: m\n");
    (void)odlc_diag_format(&plain, ODLC_DIAG_JSON, "me", text, sizeof text);
    ck_assert_str_eq(text, "{\"severity\":\"note\",\"code\":\"c\",\"message\":\"m\"}\n");
}
END_TEST

/* Members by their names are those of the struct. */
START_TEST(options_say_their_members)
{
    size_t count, size;
    struct odlc_convert_options o;
    struct odlc_quantize_options q;
    const struct odlc_member *m = odlc_convert_members(&count, &size);
    ck_assert_uint_eq(size, sizeof o);
    ck_assert_str_eq(m[0].name, "input");
    ck_assert_uint_eq(m[0].offset, offsetof(struct odlc_convert_options, input));
    ck_assert_int_eq(m[0].kind, ODLC_MEMBER_TEXT);
    ck_assert_str_eq(m[count - 1].name, "block_weights");
    m = odlc_quantize_members(&count, &size);
    ck_assert_uint_eq(size, sizeof q);
    ck_assert_str_eq(m[0].name, "act_bits");
    ck_assert_int_eq(m[0].kind, ODLC_MEMBER_INT);
    ck_assert_str_eq(m[count - 1].name, "n_buffers");
    ck_assert_uint_eq(m[count - 1].offset, offsetof(struct odlc_quantize_options, n_buffers));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tcase = tcase_create("memory");
    tcase_add_test(tcase, memory_gives_the_bytes_of_files);
    tcase_add_test(tcase, configs_and_errors_in_memory);
    tcase_add_test(tcase, things_are_found_by_name);
    tcase_add_loop_test(tcase, executions_are_told_and_stopped, 0, 2);
    tcase_add_loop_test(tcase, containers_are_quantized, 0, 2);
    tcase_add_test(tcase, quantizations_say_what_is_wrong);
    tcase_add_test(tcase, containers_are_compared_and_reported);
    tcase_add_test(tcase, diagnostics_are_formatted);
    tcase_add_test(tcase, options_say_their_members);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
