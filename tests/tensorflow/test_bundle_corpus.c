/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints made by others (see ODLC_SHARED in CONTRIBUTING); skipped where they are not there. Expected numbers were
 * read with TensorFlow. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converters/tensorflow/source/bundle.h"

static struct arena *arena;
static struct diags diags;

static void setup(void)
{
    arena = arena_create();
    diags_init(&diags, arena);
}

static void teardown(void)
{
    arena_destroy(arena);
}

static const char *corpus(const char *name)
{
    const char *shared = getenv("ODLC_SHARED");
    return arena_printf(arena, "%s/corpus/tf/%s", shared ? shared : SOURCE_ROOT "/../shared", name);
}

static struct bundle *opened(const char *prefix)
{
    struct bundle *b = NULL;
    odlc_status status = bundle_open(arena, &diags, model_folder_of(arena, corpus(prefix), false), corpus(prefix), &b);
    ck_assert_msg(status == ODLC_OK, "%s: %s", prefix, diags.errors ? diags.list.data[0].message : "");
    return b;
}

static struct view found(struct bundle *b, const char *key)
{
    struct view view;
    bool is = false;
    odlc_status status = bundle_find(b, key, &is, &view);
    ck_assert_msg(status == ODLC_OK && is, "%s: %s", key, diags.errors ? diags.list.data[0].message : "not there");
    return view;
}

#define VALUE "/.ATTRIBUTES/VARIABLE_VALUE"

static const struct {
    const char *prefix, *key;
    float value;
} scalars[] = {
    {"checkpoint/regression/model", "W", 0.21396178f},
    {"checkpoint/regression/model", "b", 1.04952538f},
    {"saved_model/half-plus-two/variables/variables", "a", 0.5f},
    {"saved_model/half-plus-two/variables/variables", "b", 2.0f},
    {"saved_model/half-plus-two/variables/variables", "c", 3.0f},
    {"saved_model/half-plus-two-tf2/variables/variables", "a" VALUE, 0.5f},
    {"saved_model/half-plus-two-tf2/variables/variables", "b" VALUE, 2.0f},
    {"saved_model/half-plus-two-tf2/variables/variables", "c" VALUE, 3.0f},
};

START_TEST(test_scalars)
{
    struct view v = found(opened(scalars[_i].prefix), scalars[_i].key);
    ck_assert_int_eq(v.dtype, DT_FLOAT32);
    ck_assert_uint_eq(v.shape.rank, 0);
    ck_assert_mem_eq(v.bytes, &scalars[_i].value, sizeof(float));
}
END_TEST

static const struct {
    const char *prefix;
    size_t tensors, bytes; /* but strings */
} bundles[] = {
    {"checkpoint/regression/model", 2, 8},
    {"saved_model/batch-norm-selu/variables/variables", 18, 1073000},
    {"saved_model/half-plus-two/variables/variables", 5, 20},
    {"saved_model/half-plus-two-tf2/variables/variables", 4, 12},
    {"saved_model/multiple-signatures/variables/variables", 3, 8},
    {"saved_model/times-three-float/variables/variables", 2, 4},
};

/* Every tensor is read, and so compared with its CRC. */
START_TEST(test_all_tensors)
{
    struct bundle *b = opened(bundles[_i].prefix);
    size_t n, bytes = 0;
    const char *const *keys = bundle_keys(b, &n);
    ck_assert_uint_eq(n, bundles[_i].tensors);
    for (size_t i = 0; i < n; i++) {
        struct file graph;
        bool is;
        if (strcmp(keys[i], "_CHECKPOINTABLE_OBJECT_GRAPH") == 0) {
            ck_assert_int_eq(bundle_find_bytes(b, keys[i], &is, &graph), ODLC_OK);
            ck_assert(is && graph.size > 20);
        } else {
            struct view v = found(b, keys[i]);
            bytes += v.dtype == DT_STRING ? 0 : view_size(&v, v.dtype);
        }
    }
    ck_assert_uint_eq(bytes, bundles[_i].bytes);
}
END_TEST

int main(void)
{
    setup();
    bool missing = access(corpus(""), R_OK) != 0;
    if (missing)
        printf("SKIP: no real checkpoints at %s\n", corpus(""));
    teardown();
    if (missing)
        return 77;
    Suite *suite = suite_create("checkpoint corpus");
    TCase *tests = tcase_create("checkpoints");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, test_scalars, 0, COUNT_OF(scalars));
    tcase_add_loop_test(tests, test_all_tensors, 0, COUNT_OF(bundles));
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
