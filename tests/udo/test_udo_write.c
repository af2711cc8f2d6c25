/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions written in the other form: what is kept is found in the text, and what is not kept is said. And configs
 * whose faults other tests do not have. */
#include "udo_xml.h"

#include "udo/udo_write.h"

#define FILE_OF(more) COLLECTION("<OpDefList>" OPDEF(more) "</OpDefList>")
#define JSON_OP(members) "{'type': 'T', 'inputs': [{'name': 'x', 'data_type': 'FLOAT_32'}], " members "}"
#define JSON_OUT "'outputs': [{'name': 'y', 'data_type': 'FLOAT_32'}]"

struct row {
    const char *config;  /* XML when it starts with '<', else operators of a JSON config */
    const char *message; /* must be reported; NULL: nothing must be */
    const char *written; /* must be in the text, when it is written */
};

static odlc_status load(struct fixture *f, const char *config)
{
    return *config == '<' ? load_xml(f, config) : load_operators(f, config);
}

static void write_as(enum udo_form form, const struct row *row)
{
    struct fixture f;
    text out = {0};
    fixture_start(&f);
    odlc_status status = load(&f, row->config);
    ck_assert_msg(status == ODLC_OK, "%s\n%s", row->config, all_diags(&f));
    status = udo_write(&f.set, form, &out);
    ck_assert_msg((status == ODLC_OK) == (row->written != NULL), "%s\n%s", row->config, all_diags(&f));
    if (row->message)
        ck_assert_msg(strstr(all_diags(&f), row->message) != NULL, "%s\n%s", row->message, all_diags(&f));
    else
        ck_assert_msg(f.diags.list.count == 0, "%s\n%s", row->config, all_diags(&f));
    if (row->written)
        ck_assert_msg(strstr(out.data, quoted(f.arena, row->written)) != NULL, "%s\nnot in\n%s", row->written,
                      out.data);
    fixture_end(&f);
}

#define ENUMERATION \
    PARAM("mode", "true", "UINT_32", "SCALAR", "<Enumeration><Enum>near</Enum><Enum>far</Enum></Enumeration>")

/* A native op that is replaced after the translation. */
#define NATIVE                                                                                                    \
    COLLECTION("<OpDefList><OpDef><Name>Relu</Name>" TENSOR("Input", "x", "") TENSOR(                             \
        "Output", "y",                                                                                            \
        "") "<UseDefaultTranslation>true</UseDefaultTranslation><SupportedBackend>CPU</SupportedBackend></OpDef>" \
            "</OpDefList>")

#define BOTH_BACKENDS "<SupportedBackend>CPU</SupportedBackend><SupportedBackend>HTP</SupportedBackend>"
#define SUPPLEMENT(backend, content)                \
    "<SupplementalOpDefList Backend='" backend "'>" \
    "<SupplementalOpDef><Name>T</Name>" content "</SupplementalOpDef></SupplementalOpDefList>"
#define DIFFERENT_TYPES(element)                                                                \
    SUPPLEMENT("CPU", "<" element "><Name>p</Name><Datatype>FLOAT_32</Datatype></" element ">") \
    SUPPLEMENT("HTP", "<" element "><Name>p</Name><Datatype>FLOAT_16</Datatype></" element ">")

/* Params that two backends take in different types. */
#define TYPED(rank)                                                                 \
    COLLECTION("<OpDefList>" OPDEF(PARAM("p", "true", "BACKEND_SPECIFIC", rank, "") \
                                       BOTH_BACKENDS) "</OpDefList>" DIFFERENT_TYPES("Parameter"))
#define ONLY_DEFAULT                                                                                              \
    COLLECTION("<OpDefList>" OPDEF(                                                                               \
        PARAM("p", "false", "INT_32", "SCALAR", "<Default>1</Default>")                                           \
            BOTH_BACKENDS) "</OpDefList>" SUPPLEMENT("HTP", "<Parameter><Name>p</Name><OnlyDefaultSupported>true" \
                                                            "</OnlyDefaultSupported></Parameter>"))
#define TYPE_FOR(core, type)                                                                                           \
    "  <SupplementalOpDefList Backend='" core "'>\n    <SupplementalOpDef>\n      <Name>T</Name>\n      <Parameter>\n" \
    "        <Name>p</Name>\n        <Datatype>QNN_DATATYPE_" type "</Datatype>\n"

START_TEST(as_xml)
{
    static const struct row rows[] = {
        {FILE_OF(ENUMERATION "<SupportedBackend>CPU</SupportedBackend>"), NULL,
         "        <Enumeration>\n          <Enum>near</Enum>\n          <Enum>far</Enum>\n        </Enumeration>\n"},
        {NATIVE, NULL, "<UseDefaultTranslation>true</UseDefaultTranslation>"},
        {JSON_OP("'core_types': ['CPU'], " JSON_OUT ", 'scalar_params': [{'name': ' a', 'data_type': 'INT_32'}]"),
         "the name ' a' has blanks at its ends, or control characters, which XML does not keep", NULL},
        {JSON_OP("'core_types': ['CPU'], " JSON_OUT ", 'scalar_params': [{'name': 'a\\u0001', 'data_type': 'INT_32'}]"),
         "has blanks at its ends, or control characters, which XML does not keep", NULL},
        {"{'type': 'T', 'core_types': ['CPU'], " JSON_OUT
         ", 'inputs': [{'name': 'x', 'per_core_data_types': {'CPU': 'FLOAT_32', 'DSP': 'FLOAT_16'}}]}",
         "input 'x' of 'T' has a type for a core that core_types does not list", NULL},
        {"{'type': 'T', 'core_types': ['CPU', 'DSP'], " JSON_OUT
         ", 'inputs': [{'name': 'x', 'per_core_data_types': {'CPU': 'FLOAT_32', 'DSP': 'FLOAT_32'}}]}",
         "input 'x' of 'T' has the same type for all cores; XML gives it one type", "QNN_DATATYPE_FLOAT_32"},
        {"{'type': 'T', 'core_types': ['CPU', 'DSP', 'GPU'], " JSON_OUT
         ", 'inputs': [{'name': 'x', 'per_core_data_types': {'CPU': 'FLOAT_32', 'DSP': 'FLOAT_16'}}]}",
         "input 'x' of 'T' has no type for some core; XML gives it FLOAT_32 there", "QNN_DATATYPE_FLOAT_16"},
        {"{'type': 'T', 'core_types': ['CPU', 'DSP'], " JSON_OUT ", 'inputs': [{'name': 'x', 'data_type': 'INT_8'},"
         " {'name': 'x', 'per_core_data_types': {'CPU': 'FLOAT_32', 'DSP': 'FLOAT_16'}}]}",
         "there are two Inputs 'x', of which one has types of its own for cores, which XML finds by name", NULL},
        {JSON_OP("'core_types': ['CPU', 'DSP'], 'dsp_arch_types': ['v73', 'v68'], " JSON_OUT), NULL,
         "      <SupportedBackend>CPU</SupportedBackend>\n      <SupportedBackend>DSP_V73</SupportedBackend>\n"
         "      <SupportedBackend>DSP_V68</SupportedBackend>\n    </OpDef>"},
        {JSON_OP("'core_types': ['CPU'], 'dsp_arch_types': ['v73'], " JSON_OUT),
         "the dsp_arch_types of 'T', which does not run on the DSP, are not written",
         "      <SupportedBackend>CPU</SupportedBackend>\n    </OpDef>"},
        {TYPED("SCALAR"), NULL, TYPE_FOR("CPU", "FLOAT_32")},
        {TYPED("1D"), NULL, TYPE_FOR("DSP", "FLOAT_16")},
        {ONLY_DEFAULT, "<OnlyDefaultSupported> of param 'p' of 'T' is not written", "<Default>1</Default>"},
    };
    write_as(UDO_XML, &rows[_i]);
}
END_TEST

START_TEST(as_json)
{
    static const struct row rows[] = {
        {FILE_OF(ENUMERATION), "param 'mode' of 'T' is an enumeration, whose names JSON cannot give", "'name': 'mode'"},
        {NATIVE, "'Relu' replaces a native op after the translation, which JSON cannot say", NULL},
        {JSON_OP("'domain': 'd', 'core_types': ['CPU'], " JSON_OUT), NULL, "'domain': 'd'"},
        {JSON_OP("'core_types': ['CPU'], " JSON_OUT ", 'scalar_params': [{'name': 'a\\u0001', 'data_type': 'INT_32'}]"),
         NULL, "\\u0001"},
        {TYPED("SCALAR"), "param 'p' of 'T' has types for cores; JSON gives it FLOAT_32",
         "{'name': 'p', 'data_type': 'FLOAT_32'}"},
        {ONLY_DEFAULT, "<OnlyDefaultSupported> of param 'p' of 'T' is not written", "'default_value': 1"},
        {FILE_OF("<SupportedBackend>HTP_V75</SupportedBackend>"), NULL, "'dsp_arch_types': ['v75']"},
    };
    write_as(UDO_JSON, &rows[_i]);
}
END_TEST

START_TEST(nothing)
{
    struct fixture f;
    text out = {0};
    fixture_start(&f);
    ck_assert_int_eq(udo_write(&f.set, UDO_XML, &out), ODLC_ERR_INVALID);
    ck_assert_str_eq(f.diags.list.data[0].message, "there is no definition to write");
    fixture_end(&f);
}
END_TEST

START_TEST(files_that_differ_in_qhpi)
{
    struct fixture f;
    text out = {0};
    fixture_start(&f);
    ck_assert_int_eq(load_xml(&f, FILE_OF("<SupportedBackend>CPU</SupportedBackend>")), ODLC_OK);
    ck_assert_int_eq(
        load_xml(&f, "<OpDefCollection PackageName='P' Domain='d' Version='1' UseQHPI='true'><OpDefList>"
                     "<OpDef><Name>U</Name>" TENSOR("Input", "x", "")
                         TENSOR("Output", "y",
                                "") "<SupportedBackend>CPU</SupportedBackend></OpDef></OpDefList></OpDefCollection>"),
        ODLC_OK);
    ck_assert_int_eq(udo_write(&f.set, UDO_XML, &out), ODLC_ERR_UNSUPPORTED);
    ck_assert_msg(strstr(all_diags(&f), "'U' and 'T' differ in UseQHPI, which XML gives once a file") != NULL, "%s",
                  all_diags(&f));
    fixture_end(&f);
}
END_TEST

/* ---- configs that are refused ---- */

START_TEST(refused)
{
    static const struct row rows[] = {
        {FILE_OF("<Input><Name>i</Name><Mandatory>true</Mandatory><Shape><Rank>ND</Rank></Shape></Input>"),
         "<Datatype> is missing in <Input>", NULL},
        {FILE_OF(PARAM("mode", "true", "UINT_32", "SCALAR", "<Enumeration><Enum/><Enum>a</Enum></Enumeration>")),
         "<Enum> in <Enumeration> is empty", NULL},
        {FILE_OF("<Input><Name>i</Name><Mandatory>true</Mandatory><Datatype>FLOAT_32</Datatype><Shape><Rank>4D</Rank>"
                 "<Layout>QQQQQQQ</Layout></Shape></Input>"),
         "(hint: known are ", NULL},
        {FILE_OF(PARAM("s", "false", "STRING", "1D", "<Default>{\"a, b}</Default>")), "unterminated string", NULL},
        {"<", "ops.xml:1:", NULL},
        {"<!-- only this -->", "ops.xml:1:", NULL},
        {"<OpDefCollection>\xff</OpDefCollection>", "save the file as UTF-8", NULL},
        {COLLECTION("<OpDefList>" OPDEF(PARAM("<!-- a -->p", "true", "UINT_32", "SCALAR", "")
                                            PARAM("<![CDATA[p]]>", "true", "UINT_32", "SCALAR", "")) "</OpDefList>"),
         "'p'", NULL},
        {"{'type': 'T', 'outputs': [], 'scalar_params': [7]}", "a scalar param", NULL},
        {"{7: 1}", "ops.json:3:2", NULL},
    };
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_ne(load(&f, rows[_i].config), ODLC_OK);
    ck_assert_msg(strstr(all_diags(&f), rows[_i].message) != NULL, "%s\n%s", rows[_i].message, all_diags(&f));
    fixture_end(&f);
}
END_TEST

START_TEST(strings_in_single_quotes)
{
    struct fixture f;
    fixture_start(&f);
    const char *json = "{\"UdoPackage_0\": 'P'}";
    ck_assert_int_eq(udo_parse_json(&f.set, "ops.json", json, strlen(json)), ODLC_ERR_INVALID);
    ck_assert_str_eq(f.diags.list.data[0].message, "string in single quotes");
    ck_assert_str_eq(f.diags.list.data[0].hint, "use double quotes");
    fixture_end(&f);
}
END_TEST

START_TEST(an_empty_file)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(udo_parse_xml(&f.set, "ops.xml", "", 0), ODLC_ERR_INVALID);
    ck_assert_str_eq(f.diags.list.data[0].message, "the file is empty");
    fixture_end(&f);
}
END_TEST

/* The same op in two files, which differ in one thing. */
START_TEST(second_definitions)
{
    static const char *const pairs[][2] = {
        {ENUMERATION,
         PARAM("mode", "true", "UINT_32", "SCALAR", "<Enumeration><Enum>near</Enum><Enum>away</Enum></Enumeration>")},
        {PARAM("p", "false", "UINT_32", "SCALAR", "<Default>1</Default>"),
         PARAM("p", "false", "UINT_32", "SCALAR", "<Default>2</Default>")},
        {PARAM("p", "false", "UINT_32", "1D", "<Default>{1, 2}</Default>"),
         PARAM("p", "false", "UINT_32", "1D", "<Default>{1, 3}</Default>")},
        {PARAM("p", "false", "STRING", "1D", "<Default>{a, b }</Default>"),
         PARAM("p", "false", "STRING", "1D", "<Default>{a, c }</Default>")},
    };
    struct fixture f;
    fixture_start(&f);
    for (int i = 0; i < 3; i++) { /* the same once more is no fault */
        const char *more = pairs[_i][i == 2];
        const char *xml = arena_printf(f.arena,
                                       "<OpDefCollection PackageName='P' Domain='d' Version='1'><OpDefList><OpDef>"
                                       "<Name>T</Name>" TENSOR("Input", "x", "")
                                           TENSOR("Output", "y", "") "%s</OpDef>"
                                                                     "</OpDefList></OpDefCollection>",
                                       more);
        odlc_status status = load_xml(&f, xml);
        ck_assert_msg((status == ODLC_OK) == (i < 2), "%s", all_diags(&f));
    }
    ck_assert_msg(find_diag(&f, "udo-duplicate-type") != NULL, "%s", all_diags(&f));
    fixture_end(&f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("udo_write");
    TCase *tc = tcase_create("udo_write");
    tcase_add_loop_test(tc, as_xml, 0, 13);
    tcase_add_loop_test(tc, as_json, 0, 7);
    tcase_add_test(tc, nothing);
    tcase_add_test(tc, files_that_differ_in_qhpi);
    tcase_add_loop_test(tc, refused, 0, 10);
    tcase_add_test(tc, strings_in_single_quotes);
    tcase_add_test(tc, an_empty_file);
    tcase_add_loop_test(tc, second_definitions, 0, 4);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
