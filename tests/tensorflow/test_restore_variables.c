/* SPDX-License-Identifier: Apache-2.0 */
/* The second stage: variables become constants, whose values are in the checkpoint. */
#include <stdio.h>
#include <unistd.h>

#include "bundle_writer.h"
#include "normalized.h"

static char folder[] = "/tmp/test_restore_variables_XXXXXX";
static const char *prefix;

static void save(const char *path, text bytes)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes.data, 1, bytes.count, file), bytes.count);
    fclose(file);
}

/* A checkpoint of the tensors "first" {1.5, -2} and "second" {8, 16}. */
static void write_checkpoint(void)
{
    static const char *const keys[] = {"first", "second"};
    static const float values[][2] = {{1.5f, -2.0f}, {8.0f, 16.0f}};
    const int64_t dims[] = {2};
    struct table_writer w = {.arena = arena};
    text shard = {0};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    prefix = arena_printf(arena, "%s/model", folder);
    table_add(&w, "", 0, header_of(arena, 1, 0, 0));
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        const int64_t offset = (int64_t)shard.count;
        put(arena, &shard, values[i], sizeof values[i]);
        table_add(&w, keys[i], strlen(keys[i]),
                  entry_of(arena, 1, dims, 1, 0, offset, 8, masked(plain_crc32c(0, values[i], sizeof values[i]))));
    }
    save(arena_printf(arena, "%s.index", prefix), table_end(&w));
    save(arena_printf(arena, "%s.data-00000-of-00001", prefix), shard);
}

static void remove_checkpoint(void)
{
    remove(arena_printf(arena, "%s.index", prefix));
    remove(arena_printf(arena, "%s.data-00000-of-00001", prefix));
    remove(folder);
}

static void expect(const char *graph, size_t n_stages, const char *expected)
{
    write_checkpoint();
    expect_graph(&(struct example){.graph = graph, .n_stages = n_stages, .outputs = {"end"}, .checkpoint = prefix},
                 expected);
    remove_checkpoint();
}

#define VARIABLE(name) NODE(name, "VariableV2", ATTR("dtype", "type: DT_FLOAT"))
#define READ(name) PLACEHOLDER("in", "DT_FLOAT") VARIABLE(name) NODE("end", "AddV2", IN("in") IN(name))
#define TEXTS(text) ATTR("value", "tensor { dtype: DT_STRING tensor_shape { dim { size: 1 } } string_val: '" text "' }")
/* What assigns a tensor of the checkpoint to the variable. */
#define RESTORED(name, key)                                             \
    NODE("prefix", "Const", SCALAR("DT_STRING", "string_val: 'model'")) \
    NODE("keys", "Const", TEXTS(key))                                   \
    NODE("slices", "Const", TEXTS(""))                                  \
    NODE("restore", "RestoreV2", IN("prefix") IN("keys") IN("slices"))  \
    NODE("assign", "Assign", IN(name) IN("restore"))

START_TEST(test_a_variable_is_what_was_saved_under_its_name)
{
    expect(READ("first"), UP_TO_VARIABLES,
           "input \"in:0\" float32[2]\n"
           "const \"first:0\" float32[2] {1.5, -2}\n"
           "node \"end\" AddV2 (\"in:0\", \"first:0\") -> \"end:0\"\n"
           "output \"end:0\"\n");
}
END_TEST

START_TEST(test_a_variable_is_what_the_graph_restores)
{
    expect(READ("first") RESTORED("first", "second"), UP_TO_VARIABLES,
           "input \"in:0\" float32[2]\n"
           "const \"first:0\" float32[2] {8, 16}\n"
           "node \"end\" AddV2 (\"in:0\", \"first:0\") -> \"end:0\"\n"
           "output \"end:0\"\n");
}
END_TEST

/* A handle stands for the value; what reads it is lowered as Identity. */
START_TEST(test_handles_of_variables)
{
    expect(NODE("first", "VarHandleOp", "") NODE("end", "ReadVariableOp", IN("first")), UP_TO_VARIABLES,
           "const \"first:0\" float32[2] {1.5, -2}\n"
           "node \"end\" ReadVariableOp (\"first:0\") -> \"end:0\"\n"
           "output \"end:0\"\n");
}
END_TEST

START_TEST(test_before_the_stage_variables_are_nodes)
{
    expect(READ("first"), UP_TO_CALLS,
           "input \"in:0\" float32[2]\n"
           "node \"first\" VariableV2 () {dtype=1} -> \"first:0\"\n"
           "node \"end\" AddV2 (\"in:0\", \"first:0\") -> \"end:0\"\n"
           "output \"end:0\"\n");
}
END_TEST

START_TEST(test_variables_that_were_not_saved)
{
    write_checkpoint();
    expect_error(
        &(struct example){
            .graph = READ("third"), .n_stages = UP_TO_VARIABLES, .outputs = {"end"}, .checkpoint = prefix},
        ODLC_ERR_INVALID, "variable-not-saved", "", "the checkpoint has no tensor for the variable third");
    remove_checkpoint();
}
END_TEST

START_TEST(test_graphs_without_a_checkpoint)
{
    expect_error(&(struct example){.graph = READ("first"), .n_stages = UP_TO_VARIABLES, .outputs = {"end"}},
                 ODLC_ERR_INVALID, "no-checkpoint", "first", "the model has no checkpoint");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        test_a_variable_is_what_was_saved_under_its_name,
        test_a_variable_is_what_the_graph_restores,
        test_handles_of_variables,
        test_before_the_stage_variables_are_nodes,
        test_variables_that_were_not_saved,
        test_graphs_without_a_checkpoint,
    };
    return run_tests("restore_variables", tests, COUNT_OF(tests));
}
