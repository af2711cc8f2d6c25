/* SPDX-License-Identifier: Apache-2.0 */
/* Configs: what they mean, and where and how they are refused. */
#include "op/op.h"
#include "udo_fixture.h"

#include <stdlib.h>

/* ---- errors with their places ---- */

struct fault {
    const char *text; /* ' stands for " */
    const char *message;
    uint32_t line, column;
    const char *pointer; /* NULL: none */
};

/* The only error of the text, at the given place. */
static void check_fault(const struct fault *fault, odlc_severity severity)
{
    struct fixture f;
    fixture_start(&f);
    odlc_status status = load_text(&f, "c.json", fault->text);
    ck_assert_msg(f.diags.errors + f.diags.warnings == 1, "%s\n%s", fault->text, all_diags(&f));
    const struct odlc_diag *d = &f.diags.list.data[0];
    ck_assert_int_eq(status, severity == ODLC_ERROR ? ODLC_ERR_INVALID : ODLC_OK);
    ck_assert_int_eq(d->severity, severity);
    ck_assert_str_eq(d->message, fault->message);
    ck_assert_str_eq(d->file, "c.json");
    ck_assert_msg(d->line == fault->line && d->column == fault->column, "%s\nexpected %u:%u\n%s", fault->text,
                  fault->line, fault->column, all_diags(&f));
    ck_assert_pstr_eq(d->pointer, fault->pointer);
    fixture_end(&f);
}

static const struct fault syntax_faults[] = {
    {"", "the text ends where a value is due", 1, 1, NULL},
    {"{", "unclosed brace", 1, 1, NULL},
    {"{\n 'a': [1, 2\n", "unclosed bracket", 2, 7, NULL},
    {"{'a': [1, 2}}", "'}' where ']' is due", 1, 12, NULL},
    {"{'a':\n  'bc\n}", "unterminated string", 2, 3, NULL},
    {"{'a': ['b, 'c']}\n", "unterminated string", 1, 8, NULL},
    {"{'a': 1,}", "trailing comma before '}'", 1, 8, NULL},
    {"{'a': [1, 2,\n ]}", "trailing comma before ']'", 1, 12, NULL},
    {"{'a': 1\n 'b': 2}", "missing comma", 1, 8, NULL},
    {"{'a': [1 2]}", "missing comma", 1, 9, NULL},
    {"{'a': [,1]}", "nothing before this comma", 1, 8, NULL},
    {"{'a' 1}", "missing ':' after a key", 1, 5, NULL},
    {"{'a'}", "missing ':' and value after a key", 1, 5, NULL},
    {"{'a': }", "missing value", 1, 7, NULL},
    {"{a: 1}", "key without quotes", 1, 2, NULL},
    {"{'a': True}", "bad literal 'True'", 1, 7, NULL},
    {"{'a': nan}", "bad literal 'nan'", 1, 7, NULL},
    {"{'a': 01}", "malformed number", 1, 7, NULL},
    {"{'a': 1.}", "malformed number", 1, 7, NULL},
    {"{'a': -}", "malformed number", 1, 7, NULL},
    {"{'a': 1e}", "malformed number", 1, 7, NULL},
    {"{'a': 0x10}", "malformed number", 1, 7, NULL},
    {"{'a': 1234567890123456789012345678901234567890123456789012345678901}", "number of more than 60 characters", 1, 7,
     NULL},
    {"{'a': '\\q'}", "unknown escape in a string", 1, 8, NULL},
    {"{'a': '\\u12g4'}", "\\u needs four hexadecimal digits", 1, 8, NULL},
    {"{'a': '\\u0000'}", "a string must not hold the character \\u0000", 1, 8, NULL},
    {"{'a': '\\ud800x'}", "half of a surrogate pair in a string", 1, 8, NULL},
    {"{'a': '\\udc00'}", "half of a surrogate pair in a string", 1, 8, NULL},
    {"{'a': 'x\ty'}", "control character in a string", 1, 9, NULL},
    {"{'a': '\xc3('}", "bytes that are not UTF-8 in a string", 1, 8, NULL},
    {"// c\n{}", "JSON has no comments", 1, 1, NULL},
    {"{} x", "text after the end of the value", 1, 4, NULL},
    {"{'a': @}", "unexpected '@'", 1, 7, NULL},
    {"{'P': {'Operators': [],\n\n 'UDO_PACKAGE_NAME': 'P', 'Operators': 1}}", "duplicate key 'Operators'", 3, 27,
     "/P/Operators"},
    {"{'x/y': {'Operators': [], 'UDO_PACKAGE_NAME': 'P', 'Operators': []}}", "duplicate key 'Operators'", 1, 52,
     "/x~1y/Operators"},
};

/* The first error of the text, and the only one of its form: where it can be mended, others say what the text means. */
START_TEST(syntax)
{
    const struct fault *fault = &syntax_faults[_i];
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_text(&f, "c.json", fault->text), ODLC_ERR_INVALID);
    ck_assert_msg(count_diags(&f, "json-syntax") + count_diags(&f, "json-duplicate-key") == 1, "%s\n%s", fault->text,
                  all_diags(&f));
    const struct odlc_diag *d = &f.diags.list.data[0];
    ck_assert_str_eq(d->message, fault->message);
    ck_assert_msg(d->line == fault->line && d->column == fault->column, "%s\nexpected %u:%u\n%s", fault->text,
                  fault->line, fault->column, all_diags(&f));
    ck_assert_pstr_eq(d->pointer, fault->pointer);
    fixture_end(&f);
}
END_TEST

struct place {
    const char *message, *hint;
    uint32_t line, column;
};

static void check_places(struct fixture *f, const char *text, const struct place *expected, size_t count)
{
    ck_assert_int_eq(udo_parse(&f->set, "c.json", text, strlen(text)), ODLC_ERR_INVALID);
    ck_assert_msg(f->diags.list.count == count, "%s\n%s", text, all_diags(f));
    for (size_t i = 0; i < count; i++) {
        const struct odlc_diag *d = &f->diags.list.data[i];
        ck_assert_str_eq(d->message, expected[i].message);
        ck_assert_msg(d->line == expected[i].line && d->column == expected[i].column, "%s\n%s", text, all_diags(f));
        if (expected[i].hint)
            ck_assert_msg(d->hint && strstr(d->hint, expected[i].hint), "%s\n%s", text, all_diags(f));
    }
}

/* Comments, single quotes, commas and words of other languages hide nothing, of the text or of its meaning. */
START_TEST(behind_slips)
{
    static const char text[] = "{ // a comment, with \"quotes\n"
                               " 'A': {\"UDO_PACKAGE_NAME\": \"P\", # another\n"
                               "  \"Operators\": [,{\"type\": 'T' /* a\n"
                               "   third */ \"inputs\": [{\"static\": True\n"
                               "     \"tensor_layout\": 'nhwc',}],\n"
                               "   \"outputs\": [{\"data_type\": \"float32\"}, {'data_type': 'FLOAT_32'}]}]}}";
    static const struct place expected[] = {{"JSON has no comments", "remove it", 1, 3},
                                            {"string in single quotes", "use double quotes", 2, 2},
                                            {"JSON has no comments", "remove it", 2, 33},
                                            {"nothing before this comma", "remove it", 3, 17},
                                            {"string in single quotes", NULL, 3, 27},
                                            {"JSON has no comments", NULL, 3, 31},
                                            {"missing comma", NULL, 3, 30},
                                            {"bad literal 'True'", "did you mean true?", 4, 35},
                                            {"missing comma", NULL, 4, 39},
                                            {"string in single quotes", NULL, 5, 23},
                                            {"trailing comma before '}'", "remove it", 5, 29},
                                            {"string in single quotes", NULL, 6, 43},
                                            {"string in single quotes", NULL, 6, 56},
                                            {"unknown tensor layout 'nhwc'", "did you mean NHWC?", 5, 23},
                                            {"unknown data type 'float32'", "did you mean FLOAT_32?", 6, 30}};
    struct fixture f;
    fixture_start(&f);
    check_places(&f, text, expected, COUNT_OF(expected));
    ck_assert_str_eq(f.diags.list.data[13].pointer, "/A/Operators/0/inputs/0/tensor_layout");
    fixture_end(&f);
}
END_TEST

/* What cannot be mended does not hide other slips. */
START_TEST(unmended)
{
    static const struct {
        const char *text;
        struct place places[3];
        size_t count;
    } cases[] = {
        {"{\"a\": None,\n \"b\": [NaN, -Infinity,]}",
         {{"bad literal 'None'", "leave the key out", 1, 7},
          {"bad literal 'NaN'", "finite", 2, 8},
          {"malformed number", "finite", 2, 13}},
         4},
        {"{'it\"s': 1, # c\n 'b\\'c': 2,}",
         {{"string in single quotes", NULL, 1, 2},
          {"JSON has no comments", NULL, 1, 13},
          {"string in single quotes", NULL, 2, 2}},
         4},
        {"[1\"a\" 'b\n, /* c",
         {{"missing comma", NULL, 1, 3},
          {"missing comma", NULL, 1, 6},
          {"unterminated string", "use double quotes", 1, 7}},
         5},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f;
        fixture_start(&f);
        ck_assert_int_eq(udo_parse(&f.set, "c.json", cases[i].text, strlen(cases[i].text)), ODLC_ERR_INVALID);
        ck_assert_msg(f.diags.list.count == cases[i].count, "%s\n%s", cases[i].text, all_diags(&f));
        for (size_t k = 0; k < COUNT_OF(cases[i].places); k++) {
            const struct odlc_diag *d = &f.diags.list.data[k];
            const struct place *p = &cases[i].places[k];
            ck_assert_str_eq(d->message, p->message);
            ck_assert_msg(d->line == p->line && d->column == p->column, "%s", all_diags(&f));
            ck_assert_msg(!p->hint || strstr(d->hint, p->hint), "%s", all_diags(&f));
        }
        fixture_end(&f);
    }
}
END_TEST

START_TEST(surrogates_as_bytes)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_text(&f, "c.json", "{'a': '\xed\xa0\x80'}"), ODLC_ERR_INVALID);
    ck_assert_uint_eq(f.diags.errors, 3); /* one for each byte */
    ck_assert_str_eq(f.diags.list.data[0].message, "bytes that are not UTF-8 in a string");
    fixture_end(&f);
}
END_TEST

START_TEST(nested_too_deep)
{
    char text[200];
    memset(text, '[', 65);
    text[65] = '\0';
    check_fault(&(struct fault){text, "nested more than 64 levels deep", 1, 65, NULL}, ODLC_ERROR);
}
END_TEST

/* All faults of a text like the guide's own sample, in one run, with the lines for carets. */
START_TEST(guide_sample)
{
    struct fixture f;
    fixture_start(&f);
    const char *text = "{ 'UdoPackage_0': {\n"
                       "  'Operators': [{\n"
                       "     'type': 'Scale',\n"
                       "     'inputs': [{'name': 'x', 'tensor_layout': 'NHWC},\n"
                       "     ],\n"
                       "     'outputs': [{'name': 'y' 'data_type': 'FLOAT_32'}],\n"
                       "     'core_types': ['CPU', 'GPU', 'DSP]\n"
                       "  }],\n"
                       "  'UDO_PACKAGE_NAME': 'Mine',\n"
                       "} }\n";
    ck_assert_int_eq(load_text(&f, "ops.json", text), ODLC_ERR_INVALID);
    static const struct fault expected[] = {
        {NULL, "unterminated string", 4, 48, NULL},
        {NULL, "trailing comma before ']'", 4, 54, NULL},
        {NULL, "missing comma", 6, 30, NULL},
        {NULL, "unterminated string", 7, 35, NULL},
        {NULL, "trailing comma before '}'", 9, 29, NULL},
    };
    ck_assert_msg(f.diags.list.count == COUNT_OF(expected), "%s", all_diags(&f));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const struct odlc_diag *d = &f.diags.list.data[i];
        ck_assert_str_eq(d->message, expected[i].message);
        ck_assert_msg(d->line == expected[i].line && d->column == expected[i].column, "%s", all_diags(&f));
    }
    ck_assert_str_eq(f.diags.list.data[4].excerpt, "  \"UDO_PACKAGE_NAME\": \"Mine\",");
    fixture_end(&f);
}
END_TEST

/* ---- errors of meaning ---- */

#define OP(members) "{'A': {'UDO_PACKAGE_NAME': 'P', 'Operators': [\n{" members "}]}}"
#define IO "'inputs': [{}], 'outputs': [{}]"
#define INPUT(members) OP("'type': 'T', 'outputs': [{}], 'inputs': [\n {" members "}]")
#define OUTPUT(members) OP("'type': 'T', 'inputs': [{}, {}], 'outputs': [\n {" members "}]")
#define SCALAR(members) OP("'type': 'T', " IO ", 'scalar_params': [\n {" members "}]")
#define TENSOR(members) OP("'type': 'T', " IO ", 'tensor_params': [\n {" members "}]")

static const struct fault meaning_faults[] = {
    {"[]", "the file must hold an object with one member per package", 1, 1, ""},
    {"{}", "the file holds no package", 1, 1, ""},
    {"{'A': 1}", "a package must be an object", 1, 7, "/A"},
    {"{'A': {'Operators': []}}", "'UDO_PACKAGE_NAME' is missing", 1, 7, "/A"},
    {"{'': {'Operators': [], 'UDO_PACKAGE_NAME': ''}}", "'UDO_PACKAGE_NAME' must be a non-empty string", 1, 44,
     "//UDO_PACKAGE_NAME"},
    {"{'A': {'UDO_PACKAGE_NAME': 'P'}}", "'Operators' is missing", 1, 7, "/A"},
    {"{'A': {'UDO_PACKAGE_NAME': 'P', 'Operators': {}}}", "'Operators' must be an array", 1, 46, "/A/Operators"},
    {"{'A': {'UDO_PACKAGE_NAME': 'P', 'Operators': [\n 7]}}", "an operator must be an object", 2, 2, "/A/Operators/0"},
    {OP(IO), "'type' is missing", 2, 1, "/A/Operators/0"},
    {OP("'type': 3, " IO), "'type' must be a non-empty string", 2, 10, "/A/Operators/0/type"},
    {OP("'type': 'T', 'outputs': [{}]"), "'inputs' is missing", 2, 1, "/A/Operators/0"},
    {OP("'type': 'T', 'inputs': [{}]"), "'outputs' is missing", 2, 1, "/A/Operators/0"},
    {OP("'type': 'T', 'inputs': [], 'outputs': [{}]"), "'inputs' needs at least one entry", 2, 25,
     "/A/Operators/0/inputs"},
    {OP("'type': 'T', 'inputs': {}, 'outputs': [{}]"), "'inputs' must be an array", 2, 25, "/A/Operators/0/inputs"},
    {OP("'type': 'T', 'inputs': [1], 'outputs': [{}]"), "an input must be an object", 2, 26, "/A/Operators/0/inputs/0"},
    {OP("'type': 'T', 'inputs': [{'repeated': true}, {}, {'repeated': true}], 'outputs': [{}]"),
     "only one of the inputs may be repeated", 2, 50, "/A/Operators/0/inputs/2"},
    {OP("'type': 'T', 'domain': 1, " IO), "'domain' must be a string", 2, 25, "/A/Operators/0/domain"},
    {OP("'type': 'T', " IO ", 'core_types': ['CPU', 'DPS']"), "unknown core type 'DPS'", 2, 70,
     "/A/Operators/0/core_types/1"},
    {OP("'type': 'T', " IO ", 'core_types': 'CPU'"), "'core_types' must be an array", 2, 62,
     "/A/Operators/0/core_types"},
    {OP("'type': 'T', " IO ", 'dsp_arch_types': ['v67']"), "unknown DSP architecture 'v67'", 2, 67,
     "/A/Operators/0/dsp_arch_types/0"},
    {INPUT("'name': 5"), "'name' must be a non-empty string", 3, 11, "/A/Operators/0/inputs/0/name"},
    {INPUT("'data_type': 'FLOAT32'"), "unknown data type 'FLOAT32'", 3, 16, "/A/Operators/0/inputs/0/data_type"},
    {INPUT("'data_type': 32"), "the data type must be a string", 3, 16, "/A/Operators/0/inputs/0/data_type"},
    {INPUT("'data_type': 'INT_8', 'per_core_data_types': {'CPU': 'INT_8'}"),
     "'data_type' and 'per_core_data_types' at once", 3, 25, "/A/Operators/0/inputs/0/per_core_data_types"},
    {INPUT("'per_core_data_types': {'CPU': 'INT_8'}, 'per_core_data_type': {'CPU': 'INT_8'}"),
     "'per_core_data_types' and 'per_core_data_type' at once", 3, 44, "/A/Operators/0/inputs/0/per_core_data_type"},
    {INPUT("'per_core_data_types': {'HTP': 'INT_8'}"), "unknown core type 'HTP'", 3, 27,
     "/A/Operators/0/inputs/0/per_core_data_types/HTP"},
    {INPUT("'per_core_data_type': {}"), "'per_core_data_type' must be an object with a type per core", 3, 25,
     "/A/Operators/0/inputs/0/per_core_data_type"},
    {INPUT("'static': 1"), "'static' must be true or false", 3, 13, "/A/Operators/0/inputs/0/static"},
    {INPUT("'tensor_layout': 'NHCW'"), "unknown tensor layout 'NHCW'", 3, 20, "/A/Operators/0/inputs/0/tensor_layout"},
    {INPUT("'quantization_mode': 'ENHANCED'"), "unknown quantization mode 'ENHANCED'", 3, 24,
     "/A/Operators/0/inputs/0/quantization_mode"},
    {INPUT("'default_value': [[1], [2, 3]]"), "lists of different lengths", 3, 26,
     "/A/Operators/0/inputs/0/default_value/1"},
    {INPUT("'default_value': [1, [2]]"), "lists of different depths", 3, 24, "/A/Operators/0/inputs/0/default_value/1"},
    {INPUT("'default_value': [1, 'a']"), "text and numbers in one value", 3, 24,
     "/A/Operators/0/inputs/0/default_value/1"},
    {INPUT("'default_value': null"), "a value must be a number, true, false, a string, or lists of these", 3, 20,
     "/A/Operators/0/inputs/0/default_value"},
    {INPUT("'default_value': 1e999"), "number too large", 3, 20, "/A/Operators/0/inputs/0/default_value"},
    {INPUT("'default_value': [[[[[[[[[1]]]]]]]]]"), "value of more than 8 dimensions", 3, 20,
     "/A/Operators/0/inputs/0/default_value"},
    {INPUT("'data_type': 'UINT_8', 'default_value': [1, 300]"), "element 1, 300, does not fit UINT_8", 3, 43,
     "/A/Operators/0/inputs/0/default_value"},
    {OUTPUT("'default_value': 1"), "an output cannot have a default", 3, 3, "/A/Operators/0/outputs/0/default_value"},
    {OUTPUT("'static': true"), "an output cannot be static", 3, 3, "/A/Operators/0/outputs/0/static"},
    {OUTPUT("'shape': 'in0'"), "a shape is a list of dimensions, or \"same_as in<number>\"", 3, 13,
     "/A/Operators/0/outputs/0/shape"},
    {OUTPUT("'shape': 'same_as in2'"), "there is no input 2", 3, 21, "/A/Operators/0/outputs/0/shape"},
    {OUTPUT("'shape': 'same_as in'"), "the number of an input is missing", 3, 23, "/A/Operators/0/outputs/0/shape"},
    {OUTPUT("'shape': 3"), "a shape is a list of at most 8 dimensions, or \"same_as in<number>\"", 3, 12,
     "/A/Operators/0/outputs/0/shape"},
    {OUTPUT("'shape': [1, -1]"), "a dimension must be a whole number or a rule in a string", 3, 16,
     "/A/Operators/0/outputs/0/shape/1"},
    {OUTPUT("'shape': [1.5]"), "a dimension must be a whole number or a rule in a string", 3, 13,
     "/A/Operators/0/outputs/0/shape/0"},
    {OUTPUT("'shape': ['in0[0]', 'in0[1] * x']"), "an integer, a dimension such as in0[1], or '(' is due here", 3, 33,
     "/A/Operators/0/outputs/0/shape/1"},
    {OUTPUT("'shape': ['in5[0]']"), "there is no input 5", 3, 14, "/A/Operators/0/outputs/0/shape/0"},
    {SCALAR("'name': 'a'"), "'data_type' is missing", 3, 2, "/A/Operators/0/scalar_params/0"},
    {SCALAR("'data_type': 'INT_32'"), "'name' is missing", 3, 2, "/A/Operators/0/scalar_params/0"},
    {SCALAR("'name': 'a', 'data_type': 'INT_32', 'default_value': 1.5"), "1.5 does not fit INT_32", 3, 56,
     "/A/Operators/0/scalar_params/0/default_value"},
    {SCALAR("'name': 'a', 'data_type': 'INT_32', 'default_value': 2147483648"), "2147483648 does not fit INT_32", 3, 56,
     "/A/Operators/0/scalar_params/0/default_value"},
    {SCALAR("'name': 'a', 'data_type': 'BOOL_8', 'default_value': 2"), "2 does not fit BOOL_8", 3, 56,
     "/A/Operators/0/scalar_params/0/default_value"},
    {SCALAR("'name': 'a', 'data_type': 'FLOAT_16', 'default_value': 1e6"), "1000000 does not fit FLOAT_16", 3, 58,
     "/A/Operators/0/scalar_params/0/default_value"},
    {SCALAR("'name': 'a', 'data_type': 'FLOAT_32', 'default_value': '1'"), "FLOAT_32 cannot hold text", 3, 58,
     "/A/Operators/0/scalar_params/0/default_value"},
    {SCALAR("'name': 'a', 'data_type': 'STRING', 'default_value': 1"), "STRING cannot hold a number", 3, 56,
     "/A/Operators/0/scalar_params/0/default_value"},
    {SCALAR("'name': 'a', 'data_type': 'FIXED_8', 'default_value': 1"),
     "FIXED_8 data needs encodings, which only quantization provides", 3, 57,
     "/A/Operators/0/scalar_params/0/default_value"},
    {SCALAR("'name': 'a', 'data_type': 'INT_32', 'default_value': [1, 2]"), "a scalar param takes one value", 3, 56,
     "/A/Operators/0/scalar_params/0/default_value"},
    {SCALAR("'name': 'packageName', 'data_type': 'INT_32'"), "the name 'packageName' is the container's own", 3, 2,
     "/A/Operators/0/scalar_params/0"},
    {SCALAR("'name': 'a', 'data_type': 'INT_32'},\n {'name': 'a', 'data_type': 'INT_32'"), "second param 'a'", 4, 2,
     "/A/Operators/0/scalar_params/1"},
    {TENSOR("'data_type': 'INT_32'"), "'name' is missing", 3, 2, "/A/Operators/0/tensor_params/0"},
    {OP("'type': 'T', " IO ", 'core_types': ['NPU']"), "unknown core type 'NPU'", 2, 63, "/A/Operators/0/core_types/0"},
    {OP("'type': 'T', " IO ", 'core_types': []},\n {'type': 'T', " IO ", 'core_types': ['CPU']"),
     "second, different definition of 'T'", 3, 2, "/A/Operators/1"},
};

START_TEST(meaning)
{
    check_fault(&meaning_faults[_i], ODLC_ERROR);
}
END_TEST

static const struct fault warned[] = {
    {"{'A': {'UDO_PACKAGE_NAME': 'P', 'Operators': [],\n 'udo_package_path': 'x'}}",
     "unknown key 'udo_package_path' is ignored", 2, 2, "/A/udo_package_path"},
    {OP("'type': 'T', " IO ", 'core_type': []"), "unknown key 'core_type' is ignored", 2, 48,
     "/A/Operators/0/core_type"},
    {INPUT("'shape': [1]"), "unknown key 'shape' is ignored", 3, 3, "/A/Operators/0/inputs/0/shape"},
    {OUTPUT("'Optional': true"), "unknown key 'Optional' is ignored", 3, 3, "/A/Operators/0/outputs/0/Optional"},
    {SCALAR("'name': 'a', 'data_type': 'INT_32', 'default': 1"), "unknown key 'default' is ignored", 3, 39,
     "/A/Operators/0/scalar_params/0/default"},
};

START_TEST(warnings)
{
    check_fault(&warned[_i], ODLC_WARNING);
}
END_TEST

START_TEST(hints)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_operators(&f, "{'type': 'T', 'inputs': [{'data_type': 'FLOAT32', 'tensor_layot': 'NCHW'}],"
                                        " 'outputs': [{'data_type': 'complex'}]}"),
                     ODLC_ERR_INVALID);
    ck_assert_uint_eq(f.diags.list.count, 3);
    ck_assert_str_eq(f.diags.list.data[0].hint, "did you mean 'tensor_layout'?");
    ck_assert_str_eq(f.diags.list.data[1].hint,
                     "did you mean FLOAT_32? Known are FLOAT_16, FLOAT_32, FIXED_4, FIXED_8, FIXED_16, "
                     "UINT_8, UINT_16, UINT_32, INT_8, INT_16, INT_32, BOOL_8, STRING, INT_64, UINT_64, FLOAT_64");
    ck_assert_ptr_nonnull(strstr(f.diags.list.data[2].hint, "known are FLOAT_16, FLOAT_32, FIXED_4"));
    fixture_end(&f);
}
END_TEST

/* One run shows every fault, and the sound definition is there all the same. */
START_TEST(all_faults_at_once)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_operators(&f, "{'type': 'A', 'inputs': [{'static': 0}], 'outputs': []},\n"
                                        "{'type': 'B', 'inputs': [{}], 'outputs': [{}]},\n"
                                        "{'inputs': [{'tensor_layout': 'X'}], 'outputs': [{}]}"),
                     ODLC_ERR_INVALID);
    ck_assert_uint_eq(f.diags.errors, 4);
    ck_assert_ptr_null(udo_find(&f.set, "A", ""));
    ck_assert_ptr_nonnull(udo_find(&f.set, "B", ""));
    fixture_end(&f);
}
END_TEST

START_TEST(many_errors_are_cut)
{
    struct fixture f;
    fixture_start(&f);
    text t = {0};
    for (int i = 0; i < 150; i++)
        text_add(f.arena, &t, "%s5", i ? "," : "");
    ck_assert_int_eq(load_operators(&f, t.data), ODLC_ERR_INVALID);
    ck_assert_uint_eq(f.diags.errors, 100);
    ck_assert_str_eq(f.diags.list.data[100].message, "further errors of this file are not shown");
    fixture_end(&f);
}
END_TEST

/* ---- what configs mean ---- */

static const char full[] =
    "\xef\xbb\xbf{\n"
    " '': {'UDO_PACKAGE_NAME': 'First', 'UDO_PACKAGE_PATH': '/x', 'SNPE_UDO_ROOT': '/y', 'Operators': [\n"
    "  {'type': 'Full', 'domain': 'ai.onnx',\n"
    "   'inputs': [{'name': 'x', 'per_core_data_types': {'DSP': 'UINT_8', 'CPU': 'FLOAT_32'}, 'tensor_layout': "
    "'NCHW',\n"
    "               'quantization_mode': 'TF'},\n"
    "              {'static': true, 'data_type': 'INT_32', 'default_value': [[1, 2, 3], [4, 5, 6]]},\n"
    "              {'name': '', 'per_core_data_type': {'DSP': 'UINT_8', 'GPU': 'FLOAT_16'}, 'optional': true,\n"
    "               'repeated': true}],\n"
    "   'outputs': [{'name': 'y', 'data_type': 'FLOAT_16', 'tensor_layout': 'NHWC', 'shape': [1, 'in0[1]']},\n"
    "               {'shape': 'same_as in1'}],\n"
    "   'scalar_params': [{'name': 'alpha', 'data_type': 'FLOAT_32', 'default_value': 0.1},\n"
    "                     {'name': 'big', 'data_type': 'INT_32', 'default_value': -2147483648},\n"
    "                     {'name': 'flag', 'data_type': 'BOOL_8', 'default_value': true},\n"
    "                     {'name': 'mode', 'data_type': 'STRING', 'default_value': 'R\\u00e4\\n\\ud83d\\ude00'},\n"
    "                     {'name': 'none', 'data_type': 'UINT_32'}],\n"
    "   'tensor_params': [{'name': 'pads', 'data_type': 'INT_32', 'default_value': [0, 1]},\n"
    "                     {'name': 'one', 'data_type': 'FLOAT_32', 'default_value': 2}],\n"
    "   'core_types': ['DSP', 'CPU'], 'dsp_arch_types': ['v68', 'v73']}]},\n"
    " 'Other': {'UDO_PACKAGE_NAME': 'Second', 'Operators': [{'type': 'Small', 'inputs': [{}], 'outputs': [{}]}]}}\n";

static void load_full(struct fixture *f)
{
    fixture_start(f);
    ck_assert_msg(load_text(f, "full.json", full) == ODLC_OK, "%s", all_diags(f));
    /* The repeated input has a type for the GPU, and the DSP. */
    ck_assert_msg(f->diags.list.count == 3 && find_diag(f, "udo-unlisted-core") && find_diag(f, "udo-repeated-dsp") &&
                      find_diag(f, "udo-layout-rank"),
                  "%s", all_diags(f));
    ck_assert_uint_eq(f->set.defs.count, 2);
}

START_TEST(full_definition)
{
    struct fixture f;
    load_full(&f);
    const struct udo_def *d = f.set.defs.data[0];
    ck_assert_str_eq(d->package, "First");
    ck_assert_str_eq(d->type, "Full");
    ck_assert_str_eq(d->domain, "");
    ck_assert_uint_eq(d->place.line, 3);
    ck_assert_uint_eq(d->place.column, 3);
    ck_assert_str_eq(d->place.pointer, "//Operators/0");
    ck_assert_uint_eq(d->cores, 1 << UDO_CPU | 1 << UDO_DSP);
    ck_assert_uint_eq(d->n_dsp_arch_types, 2);
    ck_assert_str_eq(f.set.defs.data[1]->package, "Second");
    ck_assert_ptr_null(f.set.defs.data[1]->domain);
    fixture_end(&f);
}
END_TEST

START_TEST(full_tensors)
{
    struct fixture f;
    load_full(&f);
    const struct udo_def *d = f.set.defs.data[0];
    const struct udo_tensor *x = &d->inputs[0], *w = &d->inputs[1], *rest = &d->inputs[2];
    ck_assert_uint_eq(d->n_inputs, 3);
    ck_assert_str_eq(x->name, "x");
    ck_assert_int_eq(x->dtype, DT_FLOAT32); /* the CPU's, though it is listed second */
    ck_assert_int_eq(x->core_dtypes[UDO_DSP], DT_UINT8);
    ck_assert_int_eq(x->core_dtypes[UDO_GPU], DT_NONE);
    ck_assert_int_eq(x->layout, UDO_LAYOUT_NCHW);
    ck_assert_str_eq(x->quantization_mode, "TF");
    ck_assert_ptr_null(w->name);
    ck_assert(w->is_static && !w->per_core && w->layout == UDO_LAYOUT_NONE);
    struct shape expected = SHAPE(2, 3);
    ck_assert(shape_equal(&w->default_value->shape, &expected));
    for (int64_t k = 0; k < 6; k++)
        ck_assert_int_eq(w->default_value->ints[k], k + 1);
    ck_assert_ptr_null(rest->name);
    ck_assert_int_eq(rest->dtype, DT_UINT8); /* no CPU: the first listed */
    ck_assert(rest->optional && rest->repeated);
    ck_assert_int_eq(d->outputs[0].layout, UDO_LAYOUT_NHWC);
    ck_assert_uint_eq(d->outputs[0].shape_rank, 2);
    ck_assert(d->outputs[1].same_as && d->outputs[1].same_as_input == 1);
    fixture_end(&f);
}
END_TEST

START_TEST(full_params)
{
    struct fixture f;
    load_full(&f);
    const struct udo_def *d = f.set.defs.data[0];
    ck_assert_uint_eq(d->n_scalar_params, 5);
    ck_assert(d->scalar_params[0].default_value->f == (double)0.1f);
    ck_assert_int_eq(d->scalar_params[1].default_value->i, INT32_MIN);
    ck_assert_int_eq(d->scalar_params[2].default_value->i, 1);
    ck_assert_str_eq(d->scalar_params[3].default_value->s, "R\xc3\xa4\n\xf0\x9f\x98\x80");
    ck_assert_ptr_null(d->scalar_params[4].default_value);
    ck_assert_int_eq(d->scalar_params[4].dtype, DT_UINT32);
    ck_assert_uint_eq(d->n_tensor_params, 2);
    ck_assert_int_eq(d->tensor_params[0].default_value->ints[1], 1);
    ck_assert(d->tensor_params[1].default_value->is_tensor);
    ck_assert(d->tensor_params[1].default_value->floats[0] == 2.0);
    fixture_end(&f);
}
END_TEST

START_TEST(run_time_row)
{
    struct fixture f;
    load_full(&f);
    const struct udo_def *d = f.set.defs.data[0];
    const char *const names[] = {"alpha",
                                 "big",
                                 "flag",
                                 "mode",
                                 "none",
                                 "pads",
                                 "one",
                                 "udo_core_types",
                                 "udo_dsp_arch_types",
                                 "udo_per_core_data_types",
                                 "udo_data_types"};
    ck_assert_uint_eq(d->row->n_params, COUNT_OF(names));
    for (uint32_t i = 0; i < COUNT_OF(names); i++) {
        ck_assert_str_eq(d->row->params[i].name, names[i]);
        ck_assert_int_eq(d->row->params[i].is_tensor, i == 5 || i == 6);
        ck_assert_int_eq(d->row->params[i].supplemental, i >= 7);
    }
    ck_assert_str_eq(d->row->name, "Full");
    ck_assert_str_eq(d->row->dlc_type, "Full");
    ck_assert_str_eq(d->row->package, "First");
    ck_assert_ptr_eq(d->row->udo, d);
    ck_assert_uint_eq(d->row->min_inputs, 2);
    ck_assert_uint_eq(d->row->max_inputs, VARIADIC);
    ck_assert_uint_eq(d->row->max_outputs, 2);
    ck_assert_str_eq(d->supplemental[0].s, "CPU,DSP");
    ck_assert_str_eq(d->supplemental[1].s, "v68,v73");
    ck_assert_str_eq(d->supplemental[2].s, "in0: CPU=FLOAT_32,DSP=UINT_8; in2: GPU=FLOAT_16,DSP=UINT_8");
    ck_assert_uint_eq(f.set.defs.data[1]->n_supplemental, 0);
    fixture_end(&f);
}
END_TEST

/* Doubles would round these: the text of a number is what counts. */
START_TEST(exact_integers)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_operators(&f, "{'type': 'T', 'inputs': [{}], 'outputs': [{}], 'scalar_params': ["
                                        "{'name': 'a', 'data_type': 'FLOAT_32', 'default_value': 16777217}]}"),
                     ODLC_ERR_INVALID);
    ck_assert_str_eq(find_diag(&f, "udo-bad-value")->message, "16777217 does not fit FLOAT_32");
    ck_assert_int_eq(load_operators(&f, "{'type': 'U', 'inputs': [{}], 'outputs': [{'shape': [9007199254740993]}]}"),
                     ODLC_OK);
    fixture_end(&f);
}
END_TEST

/* ---- several definitions of a type ---- */

START_TEST(same_twice)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_text(&f, "a.json", full), ODLC_OK);
    ck_assert_int_eq(load_text(&f, "b.json", full), ODLC_OK);
    ck_assert_uint_eq(f.set.defs.count, 2);
    ck_assert_uint_eq(f.diags.errors, 0);
    fixture_end(&f);
}
END_TEST

START_TEST(conflict_names_both_places)
{
    struct fixture f;
    fixture_start(&f);
    const char *form =
        "{'A': {'UDO_PACKAGE_NAME': 'P',\n 'Operators': [{'type': 'T', 'inputs': [{}], 'outputs': [%s]}]}}";
    ck_assert_int_eq(load_text(&f, "a.json", arena_printf(f.arena, form, "{}")), ODLC_OK);
    ck_assert_int_eq(load_text(&f, "b.json", arena_printf(f.arena, form, "{'data_type': 'INT_8'}")), ODLC_ERR_INVALID);
    const struct odlc_diag *d = find_diag(&f, "udo-duplicate-type");
    ck_assert_str_eq(d->file, "b.json");
    ck_assert_uint_eq(d->line, 2);
    ck_assert_uint_eq(d->column, 16);
    ck_assert_str_eq(d->hint, "remove one, or restrict both with \"domain\"");
    ck_assert_str_eq(d->excerpt, " \"Operators\": [{\"type\": \"T\", \"inputs\": [{}], \"outputs\": "
                                 "[{\"data_type\": \"INT_8\"}]}]}}");
    ck_assert_int_eq(d[1].severity, ODLC_NOTE);
    ck_assert_str_eq(d[1].file, "a.json");
    ck_assert_uint_eq(d[1].line, 2);
    ck_assert_uint_eq(d[1].column, 16);
    ck_assert_str_eq(d[1].excerpt, " \"Operators\": [{\"type\": \"T\", \"inputs\": [{}], \"outputs\": [{}]}]}}");
    fixture_end(&f);
}
END_TEST

/* Errors that are about two places: the note comes right after the error. */
static const struct {
    const char *text, *code, *note;
    uint32_t line, column; /* of the note */
} pairs[] = {
    {"{'a': 1,\n 'a': 2}", "json-duplicate-key", "it is first given here", 1, 2},
    {"{'a': [1,\n 2}", "json-syntax", "this is still open", 1, 7},
    {"{'P': {'UDO_PACKAGE_NAME': 'P', 'Operators': [{'type': 'T', 'inputs': [{\n'data_type': 'INT_8', "
     "'per_core_data_types': {'CPU': 'INT_8'}}], 'outputs': [{}]}]}}",
     "udo-two-types", "the other type is here", 2, 14},
    {"{'P': {'UDO_PACKAGE_NAME': 'P', 'Operators': [{'type': 'T', 'inputs': [{}], 'outputs': [{}], 'scalar_params': "
     "[\n {'name': 'a', 'data_type': 'INT_8'}], 'tensor_params': [{'name': 'a'}]}]}}",
     "udo-duplicate-param", "the first is here", 2, 2},
};

START_TEST(notes_show_the_other_place)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_text(&f, "c.json", pairs[_i].text), ODLC_ERR_INVALID);
    const struct odlc_diag *d = find_diag(&f, pairs[_i].code);
    ck_assert_ptr_nonnull(d);
    ck_assert_int_eq(d->severity, ODLC_ERROR);
    ck_assert_uint_gt(f.diags.list.count, (size_t)(d - f.diags.list.data) + 1);
    ck_assert_int_eq(d[1].severity, ODLC_NOTE);
    ck_assert_str_eq(d[1].message, pairs[_i].note);
    ck_assert_uint_eq(d[1].line, pairs[_i].line);
    ck_assert_uint_eq(d[1].column, pairs[_i].column);
    ck_assert_ptr_nonnull(d[1].excerpt);
    fixture_end(&f);
}
END_TEST

START_TEST(domains)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_operators(&f, "{'type': 'T', 'domain': 'a', 'inputs': [{}], 'outputs': [{}]},"
                                        "{'type': 'T', 'domain': 'b', 'inputs': [{}, {}], 'outputs': [{}]},"
                                        "{'type': 'Any', 'inputs': [{}], 'outputs': [{}]}"),
                     ODLC_OK);
    ck_assert_uint_eq(udo_find(&f.set, "T", "a")->n_inputs, 1);
    ck_assert_uint_eq(udo_find(&f.set, "T", "b")->n_inputs, 2);
    ck_assert_ptr_null(udo_find(&f.set, "T", ""));
    ck_assert_ptr_null(udo_find(&f.set, "t", "a"));
    ck_assert_ptr_nonnull(udo_find(&f.set, "Any", ""));
    ck_assert_ptr_nonnull(udo_find(&f.set, "Any", "some.domain"));
    ck_assert_int_eq(load_operators(&f, "{'type': 'T', 'inputs': [{}, {}, {}], 'outputs': [{}]}"), ODLC_ERR_INVALID);
    fixture_end(&f);
}
END_TEST

START_TEST(unused)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_operators(&f, "{'type': 'Erf', 'inputs': [{}], 'outputs': [{}]}"), ODLC_OK);
    ck_assert_int_eq(udo_finish(&f.set), ODLC_OK);
    ck_assert_uint_eq(f.diags.warnings, 1);
    const struct odlc_diag *d = find_diag(&f, "udo-unused");
    ck_assert_str_eq(d->message, "the definition of 'Erf' matches no node of the model");
    ck_assert_uint_eq(d->line, 3);
    ck_assert_uint_eq(d->column, 1);
    fixture_end(&f);
}
END_TEST

/* After an error not all nodes have been looked at, so nothing can be said about those that are missing. */
START_TEST(unused_is_not_said_after_errors)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_operators(&f, "{'type': 'Erf', 'inputs': [{}], 'outputs': [{}]}"), ODLC_OK);
    (void)diag_error(&f.diags, ODLC_ERR_INVALID, AT(.node = "n"), "some-error", "a node failed");
    ck_assert_int_eq(udo_finish(&f.set), ODLC_OK);
    ck_assert_ptr_null(find_diag(&f, "udo-unused"));
    fixture_end(&f);
}
END_TEST

/* ---- files ---- */

START_TEST(missing_file)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(udo_load(&f.set, "no/such/config.json"), ODLC_ERR_IO);
    ck_assert_uint_eq(f.diags.errors, 1);
    fixture_end(&f);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("udo_json");
    TCase *t = tcase_create("faults");
    tcase_add_loop_test(t, syntax, 0, COUNT_OF(syntax_faults));
    tcase_add_test(t, behind_slips);
    tcase_add_test(t, unmended);
    tcase_add_test(t, surrogates_as_bytes);
    tcase_add_test(t, nested_too_deep);
    tcase_add_test(t, guide_sample);
    tcase_add_loop_test(t, meaning, 0, COUNT_OF(meaning_faults));
    tcase_add_loop_test(t, warnings, 0, COUNT_OF(warned));
    tcase_add_test(t, hints);
    tcase_add_test(t, all_faults_at_once);
    tcase_add_test(t, many_errors_are_cut);
    suite_add_tcase(s, t);
    t = tcase_create("meaning");
    tcase_add_test(t, full_definition);
    tcase_add_test(t, full_tensors);
    tcase_add_test(t, full_params);
    tcase_add_test(t, run_time_row);
    tcase_add_test(t, exact_integers);
    tcase_add_test(t, same_twice);
    tcase_add_test(t, conflict_names_both_places);
    tcase_add_loop_test(t, notes_show_the_other_place, 0, COUNT_OF(pairs));
    tcase_add_test(t, domains);
    tcase_add_test(t, unused);
    tcase_add_test(t, unused_is_not_said_after_errors);
    tcase_add_test(t, missing_file);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
