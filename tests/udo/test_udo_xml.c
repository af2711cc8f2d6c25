/* SPDX-License-Identifier: Apache-2.0 */
/* XML OpDefs: what they mean, and where and how they are refused. */
#include "udo_xml.h"

/* ---- errors with their places ---- */

struct fault {
    const char *text, *message;
    uint32_t line, column;
    const char *hint; /* NULL: none */
};

/* The only error or warning of the text, at the given place. */
static void check_fault(const struct fault *fault, odlc_severity severity)
{
    struct fixture f;
    fixture_start(&f);
    odlc_status status = load_xml(&f, fault->text);
    ck_assert_msg(f.diags.errors + f.diags.warnings == 1, "%s\n%s", fault->text, all_diags(&f));
    const struct odlc_diag *d = &f.diags.list.data[0];
    ck_assert_int_eq(status, severity == ODLC_ERROR ? ODLC_ERR_INVALID : ODLC_OK);
    ck_assert_int_eq(d->severity, severity);
    ck_assert_str_eq(d->message, fault->message);
    ck_assert_str_eq(d->file, "ops.xml");
    ck_assert_msg(d->line == fault->line && d->column == fault->column, "%s\nexpected %u:%u\n%s", fault->text,
                  fault->line, fault->column, all_diags(&f));
    ck_assert_pstr_eq(d->hint, fault->hint);
    fixture_end(&f);
}

#define WRITE_ENTITIES "write a plain < as &lt; and a plain & as &amp;"
#define WRITE_VALUE "write name=\"value\""

static const struct fault syntax_faults[] = {
    {"<OpDefCollection>\n<OpDefList>\n</OpDefCollection>", "</OpDefCollection> where </OpDefList> is due", 3, 1,
     "each element ends with its own name: case counts"},
    {"<OpDefCollection", "the tag is not closed", 1, 17, "end it with '>'"},
    {"<OpDefCollection>\n", "the text ends inside of <OpDefCollection>", 2, 1, "add the missing end tags"},
    {"<!DOCTYPE OpDefCollection SYSTEM 'http://example.com/x.dtd'>\n<OpDefCollection/>",
     "a DOCTYPE is not allowed: nothing outside the file is read, and no entities are defined", 1, 1,
     "remove it; &lt; &gt; &amp; &quot; and &apos; work without"},
    {"<a>&other;</a>", "the entity 'other' is not defined", 1, 11,
     "only &lt; &gt; &amp; &quot; and &apos; are known; write a plain & as &amp;"},
    {"<a>a & b</a>", "a name is missing", 1, 7, WRITE_ENTITIES},
    {"<a>a &lt b</a>", "';' is missing behind an entity", 1, 9, "write a plain & as &amp;"},
    {"<a>1 < 2</a>", "a name is missing", 1, 7, WRITE_ENTITIES},
    {" <", "a name is missing", 1, 3, WRITE_ENTITIES},
    {"<a b=1/>", "the value of an attribute must stand in quotes", 1, 6, WRITE_VALUE},
    {"<a b/>", "the attribute 'b' has no value", 1, 5, WRITE_VALUE},
    {"<a b='x/>", "the value of an attribute does not end", 1, 10, "end it with its quote"},
    {"<a b='<'/>", "'<' in the value of an attribute", 1, 7, "write it as &lt;, or end the value with its quote"},
    {"<a>\n<b c='1' x:c='3' c='2'/></a>", "second attribute 'c' in a tag", 2, 1, "remove one"},
    {"<a/><b/>", "text after the end of the outermost element", 1, 5, "remove it, or an end tag too many"},
    {"<a><!-- x", "a comment does not end", 1, 10, "end it with -->"},
    {"<a><!-- x -- y --></a>", "'--' in a comment", 1, 11, "a comment ends with -->, and has no -- before"},
    {"<a><![CDATA[x</a>", "a CDATA section does not end", 1, 18, "end it with ]]>"},
    {"<a>&#xZ;</a>", "a character reference is malformed", 1, 7, "it looks like &#x41;"},
    {" <?xml version='1.0'?><a/>", "<?xml ?> is allowed at the very beginning of the file alone", 1, 7,
     "remove what stands before it"},
    {"<!-- c -->", "an element must begin here", 1, 11, "the form is <OpDefCollection PackageName=\"…\"><OpDefList>…"},
    {"<a>\x01\x02 b</a>", "a control character in the text", 1, 4, "remove it"},
    {"<a>\xe4\xf6</a>", "bytes that are not UTF-8", 1, 4, "save the file as UTF-8"},
};

START_TEST(syntax)
{
    struct fault fault = syntax_faults[_i];
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_xml(&f, fault.text), ODLC_ERR_INVALID);
    const struct odlc_diag *d = &f.diags.list.data[0];
    ck_assert_msg(strcmp(d->message, fault.message) == 0 && d->line == fault.line && d->column == fault.column,
                  "%s\nexpected %u:%u %s\n%s", fault.text, fault.line, fault.column, fault.message, all_diags(&f));
    ck_assert_pstr_eq(d->hint, fault.hint);
    fixture_end(&f);
}
END_TEST

/* Bytes that are no text do not hide what else is wrong. */
START_TEST(behind_bad_bytes)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_xml(&f, "<a>\n<!-- gr\xfc\xdf -->\n&u;\n<b x=1/>\n\x02\n</a>"), ODLC_ERR_INVALID);
    static const struct fault expected[] = {{NULL, "bytes that are not UTF-8", 2, 8, NULL},
                                            {NULL, "a control character in the text", 5, 1, NULL},
                                            {NULL, "the entity 'u' is not defined", 3, 4, NULL},
                                            {NULL, "the value of an attribute must stand in quotes", 4, 6, NULL}};
    ck_assert_msg(f.diags.list.count == COUNT_OF(expected), "%s", all_diags(&f));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const struct odlc_diag *d = &f.diags.list.data[i];
        ck_assert_str_eq(d->message, expected[i].message);
        ck_assert_msg(d->line == expected[i].line && d->column == expected[i].column, "%s", all_diags(&f));
    }
    fixture_end(&f);
}
END_TEST

/* Attributes are found in the order of the text, beside namespaces and others of their names. */
START_TEST(places_of_attributes)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(
        load_xml(&f, "<OpDefCollection xmlns:Verzion='u' a:Verzion='&lt;Backnd=&quot;'\n Verzion='1' "
                     "PackageName='Backnd=' xmlnsx = 'P'>\n<OpDefList>" OPDEF("") "</OpDefList></OpDefCollection>"),
        ODLC_OK);
    ck_assert_msg(f.diags.list.count == 2, "%s", all_diags(&f));
    ck_assert_str_eq(f.diags.list.data[0].message, "unknown attribute 'Verzion' of <OpDefCollection> is ignored");
    ck_assert_msg(f.diags.list.data[0].line == 2 && f.diags.list.data[0].column == 2, "%s", all_diags(&f));
    ck_assert_str_eq(f.diags.list.data[1].message, "unknown attribute 'xmlnsx' of <OpDefCollection> is ignored");
    ck_assert_msg(f.diags.list.data[1].line == 2 && f.diags.list.data[1].column == 36, "%s", all_diags(&f));
    fixture_end(&f);
}
END_TEST

START_TEST(utf16)
{
    static const struct {
        const char *text;
        size_t size;
    } texts[] = {{"\xff\xfe<\0O\0", 6}, {"\xfe\xff\0<\0O", 6}, {"{\0 \0", 4}, {"\0<\0O\0p", 6}, {"\xff\xfe", 2}};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct fixture f;
        fixture_start(&f);
        ck_assert_int_eq(udo_parse(&f.set, "u", texts[i].text, texts[i].size), ODLC_ERR_INVALID);
        ck_assert_msg(f.diags.list.count == 1, "%s", all_diags(&f));
        ck_assert_str_eq(f.diags.list.data[0].message, "the file is UTF-16 text");
        ck_assert_str_eq(f.diags.list.data[0].hint, "save it as UTF-8");
        fixture_end(&f);
    }
}
END_TEST

#define BAD(more) COLLECTION("<OpDefList>\n" more "</OpDefList>\n")

static const struct fault meaning_faults[] = {
    {"<Config/>", "the outermost element must be <OpDefCollection>, not <Config>", 1, 1,
     "the form is <OpDefCollection PackageName=\"…\"><OpDefList>…"},
    {"<OpDefList/>", "a lone <OpDefList> does not say which package it belongs to; put it into an <OpDefCollection>", 1,
     1, "the form is <OpDefCollection PackageName=\"…\"><OpDefList>…"},
    {"<OpDefCollection PackageName=''>\n<OpDefList>" OPDEF("") "</OpDefList></OpDefCollection>",
     "'PackageName' of <OpDefCollection> is missing", 1, 18, NULL},
    {COLLECTION(""), "the file holds no <OpDef> in an <OpDefList>", 1, 1, NULL},
    {COLLECTION("<OpDefList/>\n"), "the file holds no <OpDef> in an <OpDefList>", 2, 1, NULL},
    {"<OpDefCollection PackageName='P' UseQHPI='yes'><OpDefList>" OPDEF("") "</OpDefList></OpDefCollection>",
     "'UseQHPI' must be true or false, not 'yes'", 1, 34, NULL},
    {BAD("<OpDef>\n" TENSOR("Input", "x", "") TENSOR("Output", "y", "") "</OpDef>"), "<Name> is missing in <OpDef>", 3,
     1, NULL},
    {BAD("<OpDef>\n<Name> </Name>" TENSOR("Input", "x", "") TENSOR("Output", "y", "") "</OpDef>"),
     "<Name> in <OpDef> is empty", 4, 1, NULL},
    {BAD("<OpDef><Name>T</Name>" TENSOR("Output", "y", "") "</OpDef>"), "an OpDef needs at least one <Input>", 3, 1,
     NULL},
    {BAD("<OpDef><Name>T</Name>" TENSOR("Input", "y", "") "</OpDef>"), "an OpDef needs at least one <Output>", 3, 1,
     NULL},
    {BAD("<OpDef><Name>T</Name>\n<Name>U</Name>" TENSOR("Input", "x", "") TENSOR("Output", "y", "") "</OpDef>"),
     "second <Name> in <OpDef>", 4, 1, NULL},
    {BAD(OPDEF("\n" TENSOR("Input", "z", "\n<Repeated>maybe</Repeated>"))),
     "<Repeated> must be true or false, not 'maybe'", 5, 11, NULL},
    {BAD("<OpDef><Name>T</Name>\n" TENSOR("Input", "r", "<Repeated>TRUE</Repeated>") TENSOR("Input", "x", "")
             TENSOR("Input", "s", "\n<Repeated>1</Repeated>") TENSOR("Output", "y", "") "</OpDef>"),
     "only one <Input> may be repeated", 5, 1, "the node tells how many one of them stands for, not two"},
    {BAD(OPDEF("\n" TENSOR("Output", "z", "\n<Default>1</Default>"))), "an output cannot have a default", 5, 1, NULL},
    {BAD(OPDEF("\n" PARAM("a", "true", "FLOAT_23", "SCALAR", ""))), "unknown data type 'FLOAT_23'", 4, 63,
     "did you mean FLOAT_32? Known are BACKEND_SPECIFIC, INT_8, INT_16, INT_32, INT_64, UINT_8, UINT_16, UINT_32, "
     "UINT_64, FLOAT_16, FLOAT_32, FLOAT_64, SFIXED_POINT_4, SFIXED_POINT_8, SFIXED_POINT_16, SFIXED_POINT_32, "
     "UFIXED_POINT_4, UFIXED_POINT_8, UFIXED_POINT_16, UFIXED_POINT_32, BOOL_8, STRING, FIXED_4, "
     "FIXED_8, FIXED_16"},
    {BAD(OPDEF("\n<Parameter><Name>a</Name><Datatype>INT_32</Datatype>\n<Shape/></Parameter>")),
     "<Rank> is missing in the <Shape> of a <Parameter>", 5, 1,
     "SCALAR makes it a scalar param, 1D and the like a tensor param"},
    {BAD(OPDEF("\n" PARAM("a", "true", "INT_32", "4", ""))), "unknown rank '4'", 4, 93,
     "did you mean 4D? Known are SCALAR, 0D, 1D, 2D, 3D, 4D, 5D, ND"},
    {BAD(OPDEF(PARAM("a", "true", "INT_32", "1D", "") "\n" PARAM("a", "true", "INT_32", "SCALAR", ""))),
     "second param 'a'", 4, 18, NULL},
    {BAD(OPDEF("\n" PARAM("packageName", "true", "INT_32", "1D", ""))), "the name 'packageName' is the container's own",
     4, 18, NULL},
    {BAD(OPDEF(PARAM("a", "true", "FLOAT_32", "SCALAR", "\n<Enumeration><Enum>A</Enum></Enumeration>"))),
     "an enumeration is stored as a number, so its <Datatype> must be an integer type", 4, 1, "UINT_32 is usual"},
    {BAD(OPDEF(PARAM("a", "true", "UINT_32", "SCALAR", "<Enumeration><Enum>A</Enum>\n<Enum>A</Enum></Enumeration>"))),
     "second <Enum> 'A'", 4, 1, NULL},
    {BAD("<OpDef>\n<Name>Conv2D</Name>" TENSOR("Input", "x", "")
             TENSOR("Output", "y", "") "<UseDefaultTranslation>true</UseDefaultTranslation></OpDef>"),
     "with <UseDefaultTranslation>, <Name> must be a native op, which 'Conv2D' is not", 4, 7, "did you mean 'Conv2d'?"},
    {BAD(OPDEF("") "\n" OPDEF("<SupportedBackend>CPU</SupportedBackend>")), "second, different definition of 'T'", 4, 1,
     "remove one"},
};

START_TEST(meaning)
{
    check_fault(&meaning_faults[_i], ODLC_ERROR);
}
END_TEST

#define DEFAULT(type, rank, value) BAD(OPDEF("\n" PARAM("a", "false", type, rank, "\n<Default>" value "</Default>")))

static const struct fault default_faults[] = {
    {DEFAULT("INT_32", "SCALAR", "1.5"), "1.5 does not fit INT_32", 5, 10, NULL},
    {DEFAULT("UINT_8", "SCALAR", "300"), "300 does not fit UINT_8", 5, 10, NULL},
    {DEFAULT("BOOL_8", "SCALAR", "2"), "2 does not fit BOOL_8", 5, 10, NULL},
    {DEFAULT("FLOAT_32", "SCALAR", "half"), "'half' is no FLOAT_32 value", 5, 10, NULL},
    {DEFAULT("FLOAT_32", "SCALAR", "1e999"), "number too large", 5, 10, NULL},
    {DEFAULT("INT_32", "SCALAR", "99999999999999999999"), "1e+20 does not fit INT_32", 5, 10, NULL},
    {DEFAULT("INT_32", "SCALAR", "{1, 2}"), "a scalar param takes one value", 5, 10,
     "a list needs another <Rank> than SCALAR"},
    {DEFAULT("INT_32", "1D", " {1, 2"), "'{' is not closed", 5, 11, NULL},
    {DEFAULT("INT_32", "1D", "{1, 2]"), "expected ',' or '}'", 5, 15, NULL},
    {DEFAULT("INT_32", "1D", "{1, , 2}"), "a value is missing", 5, 14, "write values between the commas"},
    {DEFAULT("INT_32", "1D", "{1, 2,}"), "a value is missing", 5, 16, "write values between the commas"},
    {DEFAULT("INT_32", "1D", "{1} 2"), "text after the end of the value", 5, 13, NULL},
    {DEFAULT("INT_32", "2D", "{{1, 2}, {3}}"), "lists of different lengths", 5, 19, "the first at this depth has 2"},
    {DEFAULT("INT_32", "2D", "{{1, 2}, 3}"), "lists of different depths", 5, 19, NULL},
    {DEFAULT("INT_32", "2D", "{1, {2}}"), "lists of different depths", 5, 14, NULL},
    {DEFAULT("INT_32", "1D", "{{{{{{{{{1}}}}}}}}}"), "value of more than 8 dimensions", 5, 18, NULL},
    {DEFAULT("UFIXED_POINT_8", "SCALAR", "1"), "FIXED_8 data needs encodings, which only quantization provides", 5, 10,
     NULL},
    {BAD(OPDEF("\n" PARAM("a", "false", "UINT_32", "SCALAR",
                          "<Enumeration><Enum>NEAREST</Enum><Enum>LINEAR</Enum>"
                          "</Enumeration>\n<Default>LINAER</Default>"))),
     "'LINAER' is none of the <Enum> values, and no number", 5, 10, "did you mean 'LINEAR'?"},
    {BAD(OPDEF("\n" PARAM("a", "false", "UINT_32", "SCALAR",
                          "<Enumeration><Enum>NEAREST</Enum><Enum>LINEAR</Enum>"
                          "</Enumeration>\n<Default>2</Default>"))),
     "the enumeration has 2 values, from 0 on", 5, 10, NULL},
};

START_TEST(defaults_refused)
{
    check_fault(&default_faults[_i], ODLC_ERROR);
}
END_TEST

/* ---- supplements ---- */

#define WITH(op, supplement)                                                                       \
    COLLECTION("<OpDefList>" op "</OpDefList>\n<SupplementalOpDefList Backend='HTP'>\n" supplement \
               "</SupplementalOpDefList>\n")
#define HTP "<SupportedBackend>HTP</SupportedBackend>"
#define SAY(content) "<SupplementalOpDef><Name>T</Name>\n" content "</SupplementalOpDef>"

static const struct fault supplement_faults[] = {
    {WITH(OPDEF(HTP), SAY("<Input><Name>z</Name><Datatype>INT_8</Datatype></Input>")), "the OpDef has no <Input> 'z'",
     5, 14, "did you mean 'x'?"},
    {WITH(OPDEF(HTP), SAY("<Input><Name>x</Name><Mandatory>false</Mandatory></Input>")),
     "a supplement cannot override <Mandatory> of <Input>", 5, 22,
     "a supplement gives Name, Constraint, Datatype, QuantParam, Shape, OnlyDefaultSupported"},
    {WITH(OPDEF(HTP), SAY("<Input><Name>x</Name><Shape><Rank>4D</Rank></Shape></Input>")),
     "a supplement cannot override <Rank> of <Shape>", 5, 29, "a supplement gives Layout, Text"},
    {WITH(OPDEF(HTP), SAY("<Input><Name>x</Name></Input>\n<Input><Name>x</Name></Input>")),
     "second <Input> 'x' in a supplement", 6, 1, NULL},
    {WITH(OPDEF(HTP), SAY("") "\n" SAY("")), "second supplement of 'T' for HTP", 6, 1, NULL},
    {COLLECTION("<OpDefList>" OPDEF("") "</OpDefList>\n<SupplementalOpDefList>" SAY("") "</SupplementalOpDefList>"),
     "'Backend' of <SupplementalOpDefList> is missing", 3, 1, NULL},
    {COLLECTION("<OpDefList>" OPDEF(
         "<SupportedBackend>CPU</SupportedBackend>" HTP) "</OpDefList>\n"
                                                         "<SupplementalOpDefList Backend='HTP'>" SAY(
                                                             "<Output><Name>y</Name><Shape>\n<Layout>NCHW</Layout>"
                                                             "</Shape></Output>") "</SupplementalOpDefList>"),
     "the backends want this tensor in different layouts, but it has only one in the container", 5, 1,
     "list only backends that agree in <SupportedBackend>, and convert once for each layout"},
};

START_TEST(supplements_refused)
{
    check_fault(&supplement_faults[_i], ODLC_ERROR);
}
END_TEST

static const struct fault warnings[] = {
    {BAD("<OpDef><Name>T</Name>" TENSOR("Input", "x", "\n<IsStaticTenser>true</IsStaticTenser>")
             TENSOR("Output", "y", "") "</OpDef>"),
     "unknown element <IsStaticTenser> in <Input> is ignored", 4, 1, "did you mean <IsStaticTensor>?"},
    {"<OpDefCollection PackageName='P' Verzion='1'><OpDefList>" OPDEF("") "</OpDefList></OpDefCollection>",
     "unknown attribute 'Verzion' of <OpDefCollection> is ignored", 1, 34, "did you mean 'Version'?"},
    {BAD(OPDEF("\n<SupportedBackend>HPT</SupportedBackend>")), "unknown backend 'HPT' is ignored", 4, 19,
     "did you mean HTP?"},
    {BAD("<OpDef>\nsomething<Name>T</Name>" TENSOR("Input", "x", "") TENSOR("Output", "y", "") "</OpDef>"),
     "text in <OpDef> is ignored", 4, 1, NULL},
    {DEFAULT("FLOAT_32", "SCALAR", "N-1"), "'N-1' is a formula and no value: there is no default", 5, 10,
     "give a number to have a default"},
    {WITH(OPDEF(HTP), "<SupportedOps><OpName>Q</OpName></SupportedOps>"),
     "the file has no OpDef 'Q' that <SupportedOps> could go with", 4, 23, "did you mean 'T'?"},
    {WITH(OPDEF("<SupportedBackend>CPU</SupportedBackend>"), SAY("")),
     "the supplement of 'T' has no effect: the OpDef does not list HTP", 4, 1,
     "add <SupportedBackend>HTP</SupportedBackend> to the OpDef"},
    {BAD("<OpDef><Name>T</Name>" TENSOR(
         "Output", "y",
         "") "<Input><Name>x</Name><Mandatory>true</Mandatory>"
             "<Datatype>FLOAT_32</Datatype><Shape><Rank>4D</Rank>\n<Layout>NHCW</Layout></Shape></Input></OpDef>"),
     "the layout NHCW is taken as NCHW", 4, 9, "write NCHW"},
};

START_TEST(warned)
{
    check_fault(&warnings[_i], ODLC_WARNING);
}
END_TEST

/* A note points at the other place. */
START_TEST(notes)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_xml(&f, supplement_faults[0].text), ODLC_ERR_INVALID);
    ck_assert_uint_eq(f.diags.list.count, 2);
    const struct odlc_diag *note = &f.diags.list.data[1];
    ck_assert_int_eq(note->severity, ODLC_NOTE);
    ck_assert_str_eq(note->message, "the OpDef is here");
    ck_assert_uint_eq(note->line, 2);
    ck_assert_uint_eq(note->column, 12);
    ck_assert_ptr_nonnull(note->excerpt);
    fixture_end(&f);
}
END_TEST

/* All faults of a file come in one run: of its text, and of its meaning. */
START_TEST(all_faults)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_xml(&f, "<a>\n<b x=1/>\n&u;\n</a>"), ODLC_ERR_INVALID);
    ck_assert_uint_ge(f.diags.errors, 2);
    fixture_end(&f);
    fixture_start(&f);
    ck_assert_int_eq(load_xml(&f, COLLECTION("<OpDefList>" OPDEF(PARAM("a", "no", "INT", "0", "")) OPDEF(
                                      "<SupportedBackend>CPU</SupportedBackend>") OPDEF("") "</OpDefList>")),
                     ODLC_ERR_INVALID);
    ck_assert_msg(f.diags.errors == 4, "%s", all_diags(&f));
    fixture_end(&f);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("udo_xml");
    TCase *t = tcase_create("faults");
    tcase_add_loop_test(t, syntax, 0, COUNT_OF(syntax_faults));
    tcase_add_test(t, behind_bad_bytes);
    tcase_add_test(t, places_of_attributes);
    tcase_add_test(t, utf16);
    tcase_add_loop_test(t, meaning, 0, COUNT_OF(meaning_faults));
    tcase_add_loop_test(t, defaults_refused, 0, COUNT_OF(default_faults));
    tcase_add_loop_test(t, supplements_refused, 0, COUNT_OF(supplement_faults));
    tcase_add_loop_test(t, warned, 0, COUNT_OF(warnings));
    tcase_add_test(t, notes);
    tcase_add_test(t, all_faults);
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
