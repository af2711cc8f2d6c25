/* SPDX-License-Identifier: Apache-2.0 */
/* The text form as wire bytes: read back by protobuf-c, which knows the wire and nothing of the text. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "converters/tensorflow/source/pbtxt.h"
#include "converters/frontend/wire.h"
#include "tests/support/comma_locale.h"
#include "tensorflow.pb-c.h"

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

static struct file *file_of(const void *bytes, size_t size)
{
    int fd = memfd_create("text", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
    struct file *file;
    ck_assert_int_eq(file_map_fd(arena, &diags, "model.pbtxt", fd, &file), ODLC_OK);
    return file;
}

static odlc_status wire_of_bytes(const void *bytes, size_t size, const ProtobufCMessageDescriptor *message,
                                 struct file **out)
{
    return pbtxt_to_wire(arena, &diags, file_of(bytes, size), message, out);
}

static void free_message(void *message)
{
    protobuf_c_message_free_unpacked(message, NULL);
}

static const struct wire_schema schema = {.what = "a message", .form = "the wire form"};

static void *read_bytes_of(const void *bytes, size_t size, const ProtobufCMessageDescriptor *message)
{
    struct file *wire = NULL;
    odlc_status status = wire_of_bytes(bytes, size, message, &wire);
    ck_assert_msg(status == ODLC_OK, "%s", diags.errors ? diags.list.data[diags.list.count - 1].message : "");
    ck_assert_str_eq(wire->path, "model.pbtxt");
    ck_assert_int_eq(wire_check(&diags, wire, &schema, message), ODLC_OK);
    ProtobufCMessage *m = protobuf_c_message_unpack(message, NULL, wire->size, wire->data);
    ck_assert_ptr_nonnull(m);
    ck_assert_uint_eq(m->n_unknown_fields, 0);
    arena_defer(arena, free_message, m);
    return m;
}

static void *read_text(const char *text, const ProtobufCMessageDescriptor *message)
{
    return read_bytes_of(text, strlen(text), message);
}

static Tensorflow__NodeDef *node_of(const char *text)
{
    return read_text(text, &tensorflow__node_def__descriptor);
}

static Tensorflow__TensorProto *tensor_of(const char *text)
{
    return read_text(text, &tensorflow__tensor_proto__descriptor);
}

/* ---- fields ---- */

START_TEST(test_a_node_has_its_fields)
{
    Tensorflow__NodeDef *n = node_of("name: \"conv\"\n"
                                     "op: \"Conv2D\"\n"
                                     "input: \"x\"\n"
                                     "input: \"w:1\"\n"
                                     "attr {\n"
                                     "  key: \"T\"\n"
                                     "  value {\n"
                                     "    type: DT_FLOAT\n"
                                     "  }\n"
                                     "}\n"
                                     "attr {\n"
                                     "  key: \"strides\"\n"
                                     "  value {\n"
                                     "    list {\n"
                                     "      i: 1\n"
                                     "      i: 2\n"
                                     "      i: -3\n"
                                     "    }\n"
                                     "  }\n"
                                     "}\n");
    ck_assert_str_eq(n->name, "conv");
    ck_assert_str_eq(n->op, "Conv2D");
    ck_assert_uint_eq(n->n_input, 2);
    ck_assert_str_eq(n->input[1], "w:1");
    ck_assert_uint_eq(n->n_attr, 2);
    ck_assert_str_eq(n->attr[0]->key, "T");
    ck_assert_int_eq(n->attr[0]->value->type, TENSORFLOW__DATA_TYPE__DT_FLOAT);
    ck_assert_uint_eq(n->attr[1]->value->list->n_i, 3);
    ck_assert_int_eq(n->attr[1]->value->list->i[1], 2);
    ck_assert_int_eq(n->attr[1]->value->list->i[2], -3);
}
END_TEST

START_TEST(test_all_ways_to_write_fields_are_read)
{
    static const char *const texts[] = {
        "name: 'a' attr { key: 'k' value { list { i: 1 i: 2 } } } attr { key: 'l' }",
        "name:'a'attr:{key:'k'value:{list:{i:1,i:2;}}}attr<key:'l'>",
        "name: 'a', attr: < key: 'k'; value < list { i: [1, 2] } >, >; attr { key: 'l' },",
        "attr [ { key: 'k' value { list { i: [ 1 ] i: [ ] i: [ 2 ] } } }, < key: 'l' > ] name: 'a'",
        "# a comment: {\n\tname # another\r\n :\v'a'\f attr: [{key:'k' value{list{i:[1,2]}}}] attr: {key:'l'} #",
        "\xef\xbb\xbfname: 'a' attr: [] attr { key: 'k' value { list { i: [0x1, 02] } } } attr { key: 'l' }\n#",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        Tensorflow__NodeDef *n = node_of(texts[i]);
        ck_assert_str_eq(n->name, "a");
        ck_assert_uint_eq(n->n_attr, 2);
        ck_assert_str_eq(n->attr[0]->key, "k");
        ck_assert_uint_eq(n->attr[0]->value->list->n_i, 2);
        ck_assert_int_eq(n->attr[0]->value->list->i[0], 1);
        ck_assert_int_eq(n->attr[0]->value->list->i[1], 2);
        ck_assert_str_eq(n->attr[1]->key, "l");
        ck_assert_ptr_null(n->attr[1]->value);
    }
}
END_TEST

START_TEST(test_an_empty_text_is_an_empty_message)
{
    struct file *wire;
    ck_assert_int_eq(wire_of_bytes("", 0, &tensorflow__graph_def__descriptor, &wire), ODLC_OK);
    ck_assert_uint_eq(wire->size, 0);
    ck_assert_uint_eq(((Tensorflow__GraphDef *)read_text(" # nothing\n", &tensorflow__graph_def__descriptor))->n_node,
                      0);
}
END_TEST

START_TEST(test_fields_of_no_schema_are_skipped)
{
    Tensorflow__NodeDef *n =
        node_of("device: '/cpu:0' 'x' name: 'a'\n"
                "experimental_debug_info { original_node_names: [ 'b', \"c\\\"}\" ] x < y: -inf > }\n"
                "some_number: -1.5e3f other: SOME_NAME more: [1, 0x2, .5, nan] list [ { }, < > ]\n"
                "[my.package.extension]: 3 [type.googleapis.com/a.B] { c { d: 1 } }\n"
                "a_name_that_is_far_longer_than_any_name_that_a_schema_of_ours_has_in_it: 1\n"
                "op: 'Relu'");
    ck_assert_str_eq(n->name, "a");
    ck_assert_str_eq(n->op, "Relu");
    ck_assert_uint_eq(n->n_input, 0);
}
END_TEST

/* ---- strings ---- */

START_TEST(test_strings_have_all_escapes)
{
    static const struct {
        const char *text, *bytes;
        size_t size;
    } cases[] = {
        {"''", "", 0},
        {"'it is \"it\"'", "it is \"it\"", 10},
        {"\"it's\"", "it's", 4},
        {"'a' \"b\"\n# between\n'c'", "abc", 3},
        {"'\\a\\b\\f\\n\\r\\t\\v\\?\\\\\\'\\\"'", "\a\b\f\n\r\t\v?\\'\"", 11},
        {"'\\0\\7\\101\\1018\\377'", "\0\7AA8\377", 6},
        {"'\\x1\\x41\\X4a2\\xfFg'", "\1AJ2\377g", 6},
        {"'\\u0041\\u00e9\\u20ac\\U0001F600'", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10},
        {"'\\ud83d\\ude00'", "\xf0\x9f\x98\x80", 4},
        {"'\xc3\xa9\xff\t'", "\xc3\xa9\xff\t", 4},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Tensorflow__TensorProto *t = tensor_of(arena_printf(arena, "tensor_content: %s", cases[i].text));
        ck_assert_uint_eq(t->tensor_content.len, cases[i].size);
        if (cases[i].size > 0)
            ck_assert_mem_eq(t->tensor_content.data, cases[i].bytes, cases[i].size);
    }
    Tensorflow__TensorProto *t = tensor_of("string_val: ['a' 'b', 'c'] string_val: ''");
    ck_assert_uint_eq(t->n_string_val, 3);
    ck_assert_uint_eq(t->string_val[0].len, 2);
    ck_assert_mem_eq(t->string_val[1].data, "c", 1);
    ck_assert_uint_eq(t->string_val[2].len, 0);
}
END_TEST

/* ---- numbers ---- */

START_TEST(test_reals_are_those_of_protobuf)
{
    static const struct {
        const char *text;
        float value;
    } cases[] = {
        {"0", 0.0f},
        {"-0", -0.0f},
        {"0f", 0.0f},
        {"0.5e0", 0.5f},
        {"1", 1.0f},
        {"-1.5", -1.5f},
        {".5", 0.5f},
        {"5.", 5.0f},
        {"1f", 1.0f},
        {"2.5F", 2.5f},
        {"1e3", 1000.0f},
        {"1E+3f", 1000.0f},
        {"25e-2", 0.25f},
        {"- 7", -7.0f},
        {"0.1", 0.1f},
        {"16777217", 16777216.0f},
        {"123456789012345678901234567890", 1.2345679e29f},
        {"1e-50", 0.0f},
        {"1e50", INFINITY},
        {"inf", INFINITY},
        {"-Infinity", -INFINITY},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        Tensorflow__TensorProto *t = tensor_of(arena_printf(arena, "float_val: %s double_val: %s float_val: [%s]",
                                                            cases[i].text, cases[i].text, cases[i].text));
        ck_assert_uint_eq(t->n_float_val, 2);
        ck_assert_mem_eq(&t->float_val[0], &cases[i].value, sizeof(float));
        ck_assert_mem_eq(&t->float_val[1], &cases[i].value, sizeof(float));
        ck_assert_uint_eq(t->n_double_val, 1);
    }
    Tensorflow__TensorProto *t = tensor_of("double_val: [0.1, 1e300, -1e-300] float_val: [NaN, -nan]");
    ck_assert_double_eq(t->double_val[0], 0.1);
    ck_assert_double_eq(t->double_val[1], 1e300);
    ck_assert_double_eq(t->double_val[2], -1e-300);
    ck_assert(isnan(t->float_val[0]) && isnan(t->float_val[1]));
}
END_TEST

START_TEST(test_a_number_may_have_many_digits)
{
    char text[1200] = "double_val: 0.";
    memset(text + strlen(text), '3', 1000);
    ck_assert_double_eq(tensor_of(text)->double_val[0], 1.0 / 3.0);
}
END_TEST

START_TEST(test_integers_reach_their_limits)
{
    Tensorflow__TensorProto *t = tensor_of("version_number: -2147483648\n"
                                           "int_val: [2147483647, -0x80000000, 017, 0, -1]\n"
                                           "int64_val: [9223372036854775807, -9223372036854775808, -01]\n"
                                           "uint32_val: [4294967295, 0xFFFFffff]\n"
                                           "uint64_val: [18446744073709551615, 01777777777777777777777]\n"
                                           "bool_val: [true, false, True, False, t, f, 1, 0, 0x1]\n"
                                           "half_val: 15360");
    static const int32_t ints[] = {INT32_MAX, INT32_MIN, 15, 0, -1};
    static const protobuf_c_boolean bools[] = {1, 0, 1, 0, 1, 0, 1, 0, 1};
    ck_assert_int_eq(t->version_number, INT32_MIN);
    ck_assert_uint_eq(t->n_int_val, COUNT_OF(ints));
    ck_assert_mem_eq(t->int_val, ints, sizeof ints);
    ck_assert_int_eq(t->int64_val[0], INT64_MAX);
    ck_assert_int_eq(t->int64_val[1], INT64_MIN);
    ck_assert_int_eq(t->int64_val[2], -1);
    ck_assert_uint_eq(t->uint32_val[0], UINT32_MAX);
    ck_assert_uint_eq(t->uint32_val[1], UINT32_MAX);
    ck_assert_uint_eq(t->uint64_val[0], UINT64_MAX);
    ck_assert_uint_eq(t->uint64_val[1], UINT64_MAX);
    ck_assert_uint_eq(t->n_bool_val, COUNT_OF(bools));
    ck_assert_mem_eq(t->bool_val, bools, sizeof bools);
    ck_assert_int_eq(t->half_val[0], 15360);
    Tensorflow__BundleEntryProto *e =
        read_text("crc32c: 4294967295 dtype: DT_BFLOAT16_REF", &tensorflow__bundle_entry_proto__descriptor);
    ck_assert_uint_eq(e->crc32c, UINT32_MAX);
    ck_assert_int_eq(e->dtype, 114);
}
END_TEST

START_TEST(test_values_of_enumerations_have_names_and_numbers)
{
    Tensorflow__ListValue *l = read_text("type: [DT_HALF, 1, 777, -1]", &tensorflow__list_value__descriptor);
    ck_assert_uint_eq(l->n_type, 4);
    ck_assert_int_eq(l->type[0], TENSORFLOW__DATA_TYPE__DT_HALF);
    ck_assert_int_eq(l->type[1], TENSORFLOW__DATA_TYPE__DT_FLOAT);
    ck_assert_int_eq((int)l->type[2], 777);
    ck_assert_int_eq((int)l->type[3], -1);
}
END_TEST

START_TEST(test_numbers_do_not_depend_on_the_locale)
{
    if (choose_comma_locale())
        ck_assert_double_eq(tensor_of("double_val: 1.5")->double_val[0], 1.5);
    setlocale(LC_ALL, "C");
}
END_TEST

/* ---- errors ---- */

static const struct odlc_diag *text_fails(const void *text, size_t size, odlc_status status)
{
    struct file *wire = NULL;
    size_t before = diags.list.count;
    ck_assert_msg(wire_of_bytes(text, size, &tensorflow__graph_def__descriptor, &wire) == status, "%s",
                  (const char *)text);
    ck_assert_ptr_null(wire);
    ck_assert_uint_eq(diags.list.count, before + 1);
    ck_assert_str_eq(diags.list.data[before].file, "model.pbtxt");
    return &diags.list.data[before];
}

START_TEST(test_errors_say_where_and_what)
{
    static const struct {
        const char *text;
        uint32_t line, column;
        const char *message;
    } cases[] = {
        {"node {\n  name: 'a\n}", 2, 9, "a string has no end on its line"},
        {"node { name: 'a", 1, 14, "a string has no end on its line"},
        {"node { name: 'a\\", 1, 16, "unknown escape in a string"},
        {"node { name: '\\q' }", 1, 15, "unknown escape in a string"},
        {"node { name: '\\400' }", 1, 15, "unknown escape in a string"},
        {"node { name: '\\xg' }", 1, 15, "unknown escape in a string"},
        {"node { name: '\\u12' }", 1, 15, "\\u needs 4 hexadecimal digits"},
        {"node { name: '\\U0001F60' }", 1, 15, "\\U needs 8 hexadecimal digits"},
        {"node { name: '\\ud83d' }", 1, 15, "\\u does not name a character"},
        {"node { name: '\\ud83d\\u0041' }", 1, 15, "\\u does not name a character"},
        {"node { name: '\\ud83d\\ud83d' }", 1, 15, "\\u does not name a character"},
        {"node { name: '\\ud83d\\ue000' }", 1, 15, "\\u does not name a character"},
        {"node { name: '\\udc00' }", 1, 15, "\\u does not name a character"},
        {"node { name: '\\U00110000' }", 1, 15, "\\U does not name a character"},
        {"node { name: 'a\\000b' }", 1, 14, "the field 'name' takes a string without NUL bytes"},
        {"node {\n\n  name: 'a'\n", 1, 6, "a message has no end: '}' is missing"},
        {"node {\n node <\n  name: 'a'\n", 2, 7, "a message has no end: '>' is missing"},
        {"node { name: 'a' >", 1, 18, "'>' where a name is due"},
        {"node < name: 'a' }", 1, 18, "'}' where a name is due"},
        {"}", 1, 1, "'}' where a name is due"},
        {"\x0a\x12\x03", 2, 1, "the byte 0x12 where a name is due"},
        {"node { 5: 1 }", 1, 8, "'5' where a name is due"},
        {"node { name 'a' }", 1, 13, "''' where ':' is due"},
        {"node { name: }", 1, 14, "the field 'name' takes a string, in quotation marks"},
        {"node { name: a }", 1, 14, "the field 'name' takes a string, in quotation marks"},
        {"node { name: { } }", 1, 14, "the field 'name' takes a single value, not a message"},
        {"node { name: ['a'] }", 1, 14, "the field 'name' takes one value, not a list"},
        {"node { name: 'a' name: 'b' }", 1, 18, "the field 'name' can occur once in a message, and occurs again"},
        {"library { } library { }", 1, 13, "the field 'library' can occur once in a message, and occurs again"},
        {"node: 1", 1, 7, "the field 'node' takes a message, in braces"},
        {"node 1", 1, 6, "'1' where '{' is due"},
        {"node", 1, 5, "the text ends where '{' is due"},
        {"unknown", 1, 8, "the text ends where ':' is due"},
        {"unknown:", 1, 9, "the text ends where a value is due"},
        {"unknown: }", 1, 10, "'}' where a value is due"},
        {"unknown [1]", 1, 10, "'1' where ':' is due"},
        {"unknown: [1 2]", 1, 13, "'2' where ',' or ']' is due"},
        {"unknown: [1,]", 1, 13, "']' where a value is due"},
        {"unknown: [[1]]", 1, 11, "'[' where a value is due"},
        {"node [{ }", 1, 10, "the text ends where ',' or ']' is due"},
        {"[a.b", 1, 5, "the text ends where ']' is due"},
        {"[]: 1", 1, 2, "']' where a name is due"},
        {"versions { producer: 2147483648 }", 1, 22, "the field 'producer' takes no such large number"},
        {"versions { producer: -2147483649 }", 1, 22, "the field 'producer' takes no such large number"},
        {"versions { producer: 99999999999999999999 }", 1, 22, "the field 'producer' takes no such large number"},
        {"versions { producer: 1.0 }", 1, 22, "the field 'producer' takes an integer"},
        {"versions { producer: inf }", 1, 22, "the field 'producer' takes an integer"},
        {"versions { producer: '1' }", 1, 22, "the field 'producer' takes an integer"},
        {"versions { producer: 08 }", 1, 22, "malformed number"},
        {"node{attr{value{f: 08.5}}}", 1, 20, "malformed number"},
        {"versions { producer: 0x }", 1, 22, "malformed number"},
        {"versions { producer: 12ab }", 1, 22, "malformed number"},
        {"versions { producer: 1e }", 1, 22, "malformed number"},
        {"versions { producer: . }", 1, 22, "malformed number"},
        {"versions { producer: 1.2.3 }", 1, 22, "malformed number"},
        {"versions { producer: - }", 1, 24, "'}' where a number is due"},
        {"unknown: -word", 1, 10, "malformed number"},
        {"node{attr{value{type: DT_FLOT}}}", 1, 23, "the field 'type' takes a value of DataType, or its number"},
        {"node{attr{value{b: yes}}}", 1, 20, "the field 'b' takes true or false"},
        {"node{attr{value{b: 2}}}", 1, 20, "the field 'b' takes true or false"},
        {"node{attr{value{f: 0x10}}}", 1, 20, "the field 'f' takes a decimal number"},
        {"node{attr{value{f: '1'}}}", 1, 20, "''' where a number is due"},
        {"node{attr{value{tensor{uint32_val: -1}}}}", 1, 36, "the field 'uint32_val' takes no negative number"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct odlc_diag *d = text_fails(cases[i].text, strlen(cases[i].text), ODLC_ERR_INVALID);
        ck_assert_str_eq(d->message, cases[i].message);
        ck_assert_msg(d->line == cases[i].line && d->column == cases[i].column, "%s: line %u, column %u", cases[i].text,
                      d->line, d->column);
    }
    ck_assert_str_eq(text_fails("node \0{ }", 9, ODLC_ERR_INVALID)->message, "the byte 0x00 where '{' is due");
    ck_assert_str_eq(text_fails("\0", 1, ODLC_ERR_INVALID)->hint, "a file in the binary form is to be called .pb");
}
END_TEST

/* `depth` messages, one in another: of fields of the schema where known, else of one that it does not have. */
static text nested(uint32_t depth, bool known)
{
    text t = {0};
    for (uint32_t i = 0; i < depth; i++) {
        static const char *const around[] = {"value", "func", "attr"};
        const char *name = i == 0 ? "node" : i == 1 ? "attr" : around[(i - 2) % 3];
        text_add(arena, &t, "%s{", known ? name : "unknown");
    }
    for (uint32_t i = 0; i < depth; i++)
        text_add(arena, &t, "}");
    return t;
}

START_TEST(test_messages_nest_as_deep_as_on_the_wire)
{
    for (int known = 0; known < 2; known++) {
        text good = nested(WIRE_MAX_DEPTH, known), deep = nested(WIRE_MAX_DEPTH + 1, known);
        text deepest = nested(1000000, known);
        struct file *wire;
        ck_assert_int_eq(wire_of_bytes(good.data, good.count, &tensorflow__graph_def__descriptor, &wire), ODLC_OK);
        ck_assert_int_eq(wire_check(&diags, wire, &schema, &tensorflow__graph_def__descriptor), ODLC_OK);
        ck_assert_str_eq(text_fails(deep.data, deep.count, ODLC_ERR_INVALID)->code, "model-depth");
        ck_assert_str_eq(text_fails(deepest.data, deepest.count, ODLC_ERR_INVALID)->code, "model-depth");
    }
}
END_TEST

START_TEST(test_a_text_of_four_gibibytes_is_refused)
{
    int fd = memfd_create("text", MFD_CLOEXEC);
    struct file *file, *wire = NULL;
    ck_assert_int_eq(ftruncate(fd, (off_t)PBTXT_MAX_BYTES), 0);
    ck_assert_int_eq(file_map_fd(arena, &diags, "model.pbtxt", fd, &file), ODLC_OK);
    ck_assert_int_eq(pbtxt_to_wire(arena, &diags, file, &tensorflow__graph_def__descriptor, &wire), ODLC_ERR_LIMIT);
    ck_assert_str_eq(diags.list.data[0].message, "texts of models have less than 4 GiB");
}
END_TEST

/* ---- size ---- */

START_TEST(test_memory_is_of_the_order_of_the_text)
{
    enum { NODES = 300000 };
    text t = {0};
    for (int i = 0; i < NODES; i++)
        text_add(arena, &t, "node{name:'%d' attr{value{list{i:[-1,-1]}}}}", i);
    struct file *file = file_of(t.data, t.count), *wire;
    struct arena *own = arena_create();
    ck_assert_int_eq(pbtxt_to_wire(own, &diags, file, &tensorflow__graph_def__descriptor, &wire), ODLC_OK);
    ck_assert_uint_lt(wire->size, 2 * t.count);
    ck_assert_uint_lt(arena_size(own), 4 * t.count);
    Tensorflow__GraphDef *g = tensorflow__graph_def__unpack(NULL, wire->size, wire->data);
    ck_assert_uint_eq(g->n_node, NODES);
    ck_assert_str_eq(g->node[NODES - 1]->name, "299999");
    ck_assert_int_eq(g->node[NODES - 1]->attr[0]->value->list->i[1], -1);
    tensorflow__graph_def__free_unpacked(g, NULL);
    arena_destroy(own);
}
END_TEST

START_TEST(test_bytes_in_memory_stay_when_pages_are_dropped)
{
    size_t size = 4 << 20;
    uint8_t *bytes = arena_alloc(arena, size), read[16];
    memset(bytes, 7, size);
    struct file *file = file_of_memory(arena, "text", bytes, size);
    file_drop(file, 0, size);
    ck_assert_uint_eq(bytes[0], 7);
    ck_assert_uint_eq(bytes[size - 1], 7);
    ck_assert(file_populate(file, 0, size));
    bytes[size - 1] = 9;
    ck_assert_int_eq(file_read(file, &diags, size - sizeof read, read, sizeof read), ODLC_OK);
    ck_assert_uint_eq(read[0], 7);
    ck_assert_uint_eq(read[sizeof read - 1], 9);
}
END_TEST

/* ---- a real file ---- */

/* The numbers were counted in the file with protobuf's own reader of texts. */
START_TEST(test_a_saved_model_of_the_corpus)
{
    const char *shared = getenv("ODLC_SHARED");
    const char *path = arena_printf(arena, "%s/corpus/tf/saved_model/batch-norm-selu/saved_model.pbtxt",
                                    shared ? shared : SOURCE_ROOT "/../shared");
    struct file *file, *wire;
    if (access(path, R_OK) != 0) {
        printf("SKIP: no %s\n", path);
        return;
    }
    ck_assert_int_eq(file_map(arena, &diags, path, &file), ODLC_OK);
    ck_assert_int_eq(pbtxt_to_wire(arena, &diags, file, &tensorflow__saved_model__descriptor, &wire), ODLC_OK);
    ck_assert_int_eq(wire_check(&diags, wire, &schema, &tensorflow__saved_model__descriptor), ODLC_OK);
    Tensorflow__SavedModel *m = tensorflow__saved_model__unpack(NULL, wire->size, wire->data);
    ck_assert_ptr_nonnull(m);
    ck_assert_uint_eq(m->n_meta_graphs, 1);
    const Tensorflow__MetaGraphDef *meta = m->meta_graphs[0];
    size_t inputs = 0, attrs = 0, shapes = 0;
    for (size_t i = 0; i < meta->graph_def->n_node; i++) {
        const Tensorflow__NodeDef *n = meta->graph_def->node[i];
        inputs += n->n_input;
        attrs += n->n_attr;
        for (size_t k = 0; strcmp(n->name, "hidden1/kernel/Initializer/truncated_normal/shape") == 0 && k < n->n_attr;
             k++)
            if (strcmp(n->attr[k]->key, "value") == 0) {
                ck_assert_uint_eq(n->attr[k]->value->tensor->tensor_content.len, 8);
                ck_assert_mem_eq(n->attr[k]->value->tensor->tensor_content.data, "\x10\x03\0\0,\x01\0\0", 8);
                shapes++;
            }
    }
    ck_assert_uint_eq(shapes, 1);
    ck_assert_uint_eq(meta->graph_def->n_node, 945);
    ck_assert_uint_eq(inputs, 1397);
    ck_assert_uint_eq(attrs, 2903);
    ck_assert_uint_eq(meta->meta_info_def->stripped_op_list->n_op, 56);
    ck_assert_str_eq(meta->meta_info_def->tags[0], "serve");
    ck_assert_str_eq(meta->signature_def[0]->value->outputs[0]->value->name,
                     "dnn/batch_normalization_3/batchnorm/add_1:0");
    ck_assert_int_eq(meta->signature_def[0]->value->inputs[0]->value->tensor_shape->dim[1]->size, 784);
    tensorflow__saved_model__free_unpacked(m, NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pbtxt");
    const TTest *const tests[] = {
        test_a_node_has_its_fields,
        test_all_ways_to_write_fields_are_read,
        test_an_empty_text_is_an_empty_message,
        test_fields_of_no_schema_are_skipped,
        test_strings_have_all_escapes,
        test_reals_are_those_of_protobuf,
        test_a_number_may_have_many_digits,
        test_integers_reach_their_limits,
        test_values_of_enumerations_have_names_and_numbers,
        test_numbers_do_not_depend_on_the_locale,
        test_errors_say_where_and_what,
        test_messages_nest_as_deep_as_on_the_wire,
        test_a_text_of_four_gibibytes_is_refused,
        test_memory_is_of_the_order_of_the_text,
        test_bytes_in_memory_stay_when_pages_are_dropped,
        test_a_saved_model_of_the_corpus,
    };
    TCase *tests_of = tcase_create("pbtxt");
    tcase_add_checked_fixture(tests_of, setup, teardown);
    tcase_set_timeout(tests_of, 120);
    for (size_t i = 0; i < COUNT_OF(tests); i++)
        tcase_add_test(tests_of, tests[i]);
    suite_add_tcase(suite, tests_of);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
