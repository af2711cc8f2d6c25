/* SPDX-License-Identifier: Apache-2.0 */
/* Mutations of messages: what comes out is a message of the schema, and different things happen to it. */
#include "../onnx/onnx_model.h"
#include "converters/frontend/wire.h"
#include "mutate_wire.h"
#include "onnx.pb-c.h"

enum { ROOM = 1 << 14, ROUNDS = 3000 };

static const char *const ops[] = {"Planted"};
static const struct wire_words words[] = {{"NodeProto.op_type", ops, 1}};
static const struct wire_language language = {&onnx__model_proto__descriptor, words, 1};
static const struct wire_schema schema = {.what = "a model", .form = "the wire form"};

/* Nodes in a row, the last one with a branch; op names the last one. */
static struct pb small_model(const char *op)
{
    struct pb g = {0}, w = tensor("w", 1, DIMS(2)), last = node(op, "b w", "y"), ints = attribute("ints", 7),
              branch = attribute("branch", 5), inner = {0};
    pb_text(&g, 2, "graph");
    pb_blob(&w, 9, "12345678", 8);
    pb_add(&g, 5, w);
    pb_add(&g, 1, node("Neg", "x", "a"));
    pb_add(&g, 1, node("Abs", "a", "b"));
    pb_blob(&ints, 8, "\x01\x02\x03", 3);
    pb_add(&last, 5, ints);
    pb_add(&inner, 1, node("Exp", "x", "z"));
    pb_add(&branch, 6, inner);
    pb_add(&last, 5, branch);
    pb_add(&g, 1, last);
    struct pb m = {0}, opset = {0};
    pb_int(&m, 1, 8);
    pb_int(&opset, 2, 18);
    pb_add(&m, 8, opset);
    pb_add(&m, 7, g);
    return m;
}

/* Whether bytes are a model; they must be but for a field that is there twice, or a text with a NUL byte. */
static bool is_model(const uint8_t *bytes, size_t size)
{
    size_t before = diags.list.count;
    if (wire_check(&diags, file_of_memory(arena, "mutated", bytes, size), &schema, language.message) == ODLC_OK)
        return true;
    const char *message = diags.list.data[before].message;
    ck_assert_msg(strstr(message, "occurs again") || strstr(message, "NUL byte"), "%s", message);
    return false;
}

START_TEST(test_lengths_stay_right)
{
    struct pb m = small_model("Add");
    uint8_t bytes[ROOM];
    size_t size = 0, models = 0;
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        if (seed % 4 == 0)
            memcpy(bytes, m.bytes.data, size = m.bytes.count);
        size = mutate_wire(bytes, size, ROOM, seed, &language);
        models += is_model(bytes, size);
    }
    ck_assert_uint_gt(models, ROUNDS * 3 / 4);
}
END_TEST

/* In how many results of a mutation, or of crossing with another model, each of these things is seen. */
struct seen {
    size_t other_nodes, planted, rewired, payload, crossed;
};

static void look(struct seen *seen, const struct pb *m, const uint8_t *bytes, size_t size)
{
    Onnx__ModelProto *model = onnx__model_proto__unpack(NULL, size, bytes);
    const Onnx__GraphProto *g = model ? model->graph : NULL;
    for (size_t i = 0; g && i < g->n_node; i++) {
        const Onnx__NodeProto *n = g->node[i];
        seen->planted += n->op_type && strcmp(n->op_type, "Planted") == 0;
        seen->crossed += n->op_type && strcmp(n->op_type, "Other") == 0;
        seen->rewired +=
            n->op_type && strcmp(n->op_type, "Abs") == 0 && n->n_input == 1 && strcmp(n->input[0], "a") != 0;
    }
    seen->other_nodes += g && g->n_node != 3;
    seen->payload += size == m->bytes.count && !memmem(bytes, size, "12345678", 8);
    if (model)
        onnx__model_proto__free_unpacked(model, NULL);
}

START_TEST(test_much_happens)
{
    struct pb m = small_model("Add"), other = small_model("Other");
    struct seen mutated = {0}, crossed = {0};
    uint8_t bytes[ROOM];
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        memcpy(bytes, m.bytes.data, m.bytes.count);
        look(&mutated, &m, bytes, mutate_wire(bytes, m.bytes.count, ROOM, seed, &language));
        size_t size = cross_wire((const uint8_t *)m.bytes.data, m.bytes.count, (const uint8_t *)other.bytes.data,
                                 other.bytes.count, bytes, ROOM, seed, &language);
        is_model(bytes, size);
        look(&crossed, &m, bytes, size);
    }
    ck_assert_uint_gt(mutated.other_nodes, ROUNDS / 100);
    ck_assert_uint_gt(mutated.planted, ROUNDS / 100);
    ck_assert_uint_gt(mutated.rewired, ROUNDS / 100);
    ck_assert_uint_gt(mutated.payload, ROUNDS / 100);
    ck_assert_uint_eq(mutated.crossed, 0);
    ck_assert_uint_gt(crossed.crossed, ROUNDS / 100);
}
END_TEST

START_TEST(test_room_and_seed)
{
    struct pb m = small_model("Add");
    uint8_t first[ROOM], second[ROOM], untouched[ROOM];
    memset(untouched, 0xEE, ROOM);
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        size_t room = m.bytes.count + seed % 8;
        memcpy(first, untouched, ROOM);
        memcpy(first, m.bytes.data, m.bytes.count);
        memcpy(second, first, ROOM);
        size_t size = mutate_wire(first, m.bytes.count, room, seed, &language);
        ck_assert_uint_le(size, room);
        ck_assert_mem_eq(first + room, untouched + room, ROOM - room);
        ck_assert_uint_eq(mutate_wire(second, m.bytes.count, room, seed, &language), size);
        ck_assert_mem_eq(first, second, size);
    }
    ck_assert_uint_eq(cross_wire(first, 100, second, 100, first, 99, 1, &language), 0);
}
END_TEST

/* Bytes that are no message are changed as far as they can be read, or get fields. */
START_TEST(test_no_message)
{
    uint8_t bytes[ROOM];
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        for (size_t i = 0; i < 64; i++)
            bytes[i] = (uint8_t)(seed * 2654435761u >> i % 24);
        ck_assert_uint_le(mutate_wire(bytes, seed % 64, ROOM, seed, &language), ROOM);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mutations of messages");
    ADD_CASE(suite, "mutate_wire", test_lengths_stay_right, test_much_happens, test_room_and_seed, test_no_message);
    return run_suite(suite);
}
