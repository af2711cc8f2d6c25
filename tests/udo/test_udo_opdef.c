/* SPDX-License-Identifier: Apache-2.0 */
/* What XML OpDefs mean: for the definition, and for nodes of it. */
#include "udo_xml.h"
#include "tests/support/named_param.h"

#define FILE_OF(more) COLLECTION("<OpDefList>" OPDEF(more) "</OpDefList>")

/* ---- definitions ---- */

START_TEST(everything)
{
    struct fixture f;
    fixture_start(&f);
    const struct udo_def *def = load_def(
        &f,
        "\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?><!-- c -->\n"
        "<OpDefCollection xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:noNamespaceSchemaLocation='o.xsd' "
        "PackageName='Pack&amp;age' Domain='d' Version='1' UseQHPI='true'><OpDefList Version='2'><OpDef>"
        "<Name> Th<![CDATA[ing]]> </Name><Description><Content>a &lt; b</Content><Code>x</Code></Description>"
        "<Reference Source='s' Url='u'/>"
        "<Input><Name>w</Name><Description/><Constraint id='1' Type='Shape'>c</Constraint><Mandatory>false</Mandatory>"
        "<Datatype>QNN_DATATYPE_FLOAT_16</Datatype><Datatype>FLOAT_32</Datatype><Shape><Rank>4D</Rank>"
        "<Layout>NHWC</Layout><Text>[n]</Text></Shape><Default>{{1,2}}</Default><IsStaticTensor>1</IsStaticTensor>"
        "</Input>" TENSOR("Input", "xs", "<Repeated>true</Repeated>") TENSOR("Output", "y", "") PARAM(
            "mode", "false", "UINT_32", "SCALAR",
            "<Enumeration><Enum>A</Enum><Enum>B</Enum></Enumeration><Default>B</Default>")
            PARAM("sizes", "true", "INT_64", "1D", "") "<UseDefaultTranslation>false</UseDefaultTranslation>"
                                                       "<SupportedBackend>HTP</SupportedBackend><SupportedBackend>CPU</"
                                                       "SupportedBackend></OpDef></OpDefList>"
                                                       "</OpDefCollection>\n");
    ck_assert_str_eq(def->package, "Pack&age");
    ck_assert_str_eq(def->type, "Thing");
    ck_assert_ptr_null(def->domain);
    ck_assert(def->use_qhpi);
    ck_assert_uint_eq(def->cores, 1u << UDO_CPU | 1u << UDO_DSP);
    ck_assert_uint_eq(def->n_inputs, 2);
    const struct udo_tensor *w = &def->inputs[0];
    ck_assert_str_eq(w->name, "w");
    ck_assert_int_eq(w->dtype, DT_FLOAT16);
    ck_assert_uint_eq(w->several, DTYPE_BIT(DT_FLOAT16) | DTYPE_BIT(DT_FLOAT32));
    ck_assert(w->is_static && w->optional && !w->repeated && !w->per_core);
    ck_assert_int_eq(w->layout, UDO_LAYOUT_NHWC);
    ck_assert_str_eq(w->rank, "4D");
    ck_assert_str_eq(w->shape_text, "[n]");
    ck_assert_int_eq(w->default_value->dtype, DT_FLOAT16);
    check_shape(&w->default_value->shape, SHAPE(1, 2));
    ck_assert(w->default_value->floats[1] == 2.0);
    ck_assert(def->inputs[1].repeated && !def->inputs[1].optional);
    ck_assert_uint_eq(def->n_scalar_params, 1);
    ck_assert_uint_eq(def->scalar_params[0].enumeration.count, 2);
    ck_assert_int_eq(def->scalar_params[0].default_value->i, 1);
    ck_assert_uint_eq(def->n_tensor_params, 1);
    ck_assert_int_eq(def->tensor_params[0].dtype, DT_INT64);
    ck_assert_ptr_null(def->tensor_params[0].default_value);
    ck_assert_uint_eq(def->place.line, 2);
    fixture_end(&f);
}
END_TEST

#define SPECIFIC(backends, supplements)                                                                               \
    COLLECTION("<OpDefList><OpDef><Name>T</Name><Input><Name>x</Name><Mandatory>true</Mandatory>"                     \
               "<Datatype>BACKEND_SPECIFIC</Datatype><Shape><Rank>4D</Rank><Layout>BACKEND_SPECIFIC</Layout></Shape>" \
               "</Input>" TENSOR("Output", "y", "") backends "</OpDef></OpDefList>" supplements)
#define CPU "<SupportedBackend>CPU</SupportedBackend>"
#define HTP "<SupportedBackend>HTP</SupportedBackend>"
#define FOR(backend, type, layout)                                                                             \
    "<SupplementalOpDefList Backend='" backend "'><SupplementalOpDef><Name>T</Name><Input><Name>x</Name>" type \
    "<Shape><Layout>" layout "</Layout></Shape></Input></SupplementalOpDef></SupplementalOpDefList>"
#define TYPE(name) "<Datatype>" name "</Datatype>"

START_TEST(backends)
{
    struct fixture f;
    fixture_start(&f);
    const struct udo_def *def = load_def(
        &f, SPECIFIC(HTP CPU, FOR("CPU", TYPE("FLOAT_32"), "NCHW") FOR("HTP", TYPE("UFIXED_POINT_8"), "NCHW")));
    const struct udo_tensor *x = &def->inputs[0];
    ck_assert(x->per_core);
    ck_assert_int_eq(x->dtype, DT_FLOAT32); /* the CPU's */
    ck_assert_int_eq(x->core_dtypes[UDO_CPU], DT_FLOAT32);
    ck_assert_int_eq(x->core_dtypes[UDO_DSP], DT_UFXP8);
    ck_assert_int_eq(x->core_dtypes[UDO_GPU], DT_NONE);
    ck_assert_int_eq(x->layout, UDO_LAYOUT_NCHW);
    ck_assert_ptr_null(x->unresolved);
    fixture_end(&f);

    /* A type that all take needs no table; a supplement of a backend that is not listed is left out. */
    fixture_start(&f);
    def = load_def(&f, SPECIFIC(CPU HTP, FOR("CPU", TYPE("FLOAT_16") TYPE("FLOAT_32"), "NHWC")
                                             FOR("HTP", TYPE("UINT_8") TYPE("FLOAT_32"), "NHWC")));
    x = &def->inputs[0];
    ck_assert(!x->per_core);
    ck_assert_int_eq(x->dtype, DT_FLOAT32);
    ck_assert_uint_eq(x->several, 0);
    fixture_end(&f);
}
END_TEST

/* DSP and HTP are one core: what the first of them that is listed takes is the core's type. */
START_TEST(backends_of_one_core)
{
    static const char *const files[] = {SPECIFIC(CPU HTP "<SupportedBackend>DSP_V66</SupportedBackend>",
                                                 FOR("CPU", TYPE("FLOAT_32"), "NCHW") FOR("DSP", TYPE("UINT_8"), "NCHW")
                                                     FOR("HTP", TYPE("UFIXED_POINT_16"), "NCHW")),
                                        SPECIFIC(CPU "<SupportedBackend>DSP_V66</SupportedBackend>" HTP,
                                                 FOR("CPU", TYPE("FLOAT_32"), "NCHW") FOR("DSP", TYPE("UINT_8"), "NCHW")
                                                     FOR("HTP", TYPE("UFIXED_POINT_16"), "NCHW"))};
    static const enum dtype expected[] = {DT_UFXP16, DT_UINT8};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct fixture f;
        fixture_start(&f);
        const struct udo_tensor *x = &load_def(&f, files[i])->inputs[0];
        ck_assert(x->per_core);
        ck_assert_int_eq(x->core_dtypes[UDO_CPU], DT_FLOAT32);
        ck_assert_int_eq(x->core_dtypes[UDO_DSP], expected[i]);
        fixture_end(&f);
    }
}
END_TEST

/* What no supplement makes concrete is a warning, and an error for a node. */
START_TEST(left_open)
{
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_xml(&f, SPECIFIC(CPU HTP, FOR("CPU", TYPE("FLOAT_32"), "NHWC"))), ODLC_OK);
    ck_assert_uint_eq(count_diags(&f, "udo-backend-specific"), 2); /* type and layout for HTP */
    ck_assert_ptr_nonnull(f.set.defs.data[0]->inputs[0].unresolved);
    fixture_end(&f);
}
END_TEST

START_TEST(supported_ops)
{
    struct fixture f;
    fixture_start(&f);
    const struct udo_def *def = load_def(
        &f,
        COLLECTION("<OpDefList>" OPDEF(CPU) "</OpDefList><SupplementalOpDefList Backend='GPU'>"
                                            "<SupportedOps><OpName>T</OpName></SupportedOps></SupplementalOpDefList>"));
    ck_assert_uint_eq(def->cores, 1u << UDO_CPU | 1u << UDO_GPU);
    fixture_end(&f);
}
END_TEST

/* ---- nodes ---- */

static void start_xml(struct site_fixture *s, const char *xml)
{
    start(s, DEFINE(X, ""));
    udo_set_init(&s->f.set, s->f.arena, &s->f.diags, op_registry_new(s->f.arena));
    s->site.op_type = load_def(&s->f, xml)->type;
}

#define MODE(mandatory, more)                    \
    PARAM("mode", mandatory, "UINT_8", "SCALAR", \
          "<Enumeration><Enum>NEAREST</Enum><Enum>LINEAR</Enum><Enum>CUBIC</Enum></Enumeration>" more)

static int64_t stored_mode(struct param attr)
{
    struct site_fixture s;
    start_xml(&s, FILE_OF(MODE("true", "")));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_attr(&s, attr);
    run_ok(&s);
    const struct packed_param *mode = named_param(udo_node(&s), "mode");
    ck_assert_int_eq(mode->dtype, DT_UINT8);
    ck_assert(!mode->shape);
    int64_t value = mode->i;
    end(&s);
    return value;
}

START_TEST(enumeration)
{
    ck_assert_int_eq(stored_mode(string_attr("mode", "NEAREST")), 0);
    ck_assert_int_eq(stored_mode(string_attr("mode", "CUBIC")), 2);
    ck_assert_int_eq(stored_mode(int_attr("mode", 1)), 1);
    ck_assert_int_eq(stored_mode(float_attr("mode", 2.0f)), 2);
}
END_TEST

static void refuses_mode(struct param attr, const char *message, const char *hint)
{
    struct site_fixture s;
    start_xml(&s, FILE_OF(MODE("true", "")));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_attr(&s, attr);
    ck_assert_int_eq(run(&s), ODLC_ERR_INVALID);
    const struct odlc_diag *d = find_diag(&s.f, "udo-unknown-enum");
    ck_assert_msg(d && strcmp(d->message, message) == 0, "%s", all_diags(&s.f));
    ck_assert_msg(!hint || strncmp(d->hint, hint, strlen(hint)) == 0, "%s", d->hint);
    end(&s);
}

START_TEST(enumeration_refused)
{
    refuses_mode(string_attr("mode", "LINAER"), "'mode' is 'LINAER', which its enumeration does not have",
                 "did you mean 'LINEAR'?");
    refuses_mode(int_attr("mode", 3), "'mode' is 3, but its enumeration has 3 values, from 0 on", NULL);
    refuses_mode(int_attr("mode", -1), "'mode' is -1, but its enumeration has 3 values, from 0 on", NULL);
    refuses_mode(float_attr("mode", 0.5f), "'mode' is an enumeration, but the model gives a fraction", NULL);
}
END_TEST

/* Names in a list become a tensor of numbers. */
START_TEST(enumeration_list)
{
    struct site_fixture s;
    start_xml(
        &s, FILE_OF(PARAM("modes", "true", "INT_32", "1D", "<Enumeration><Enum>A</Enum><Enum>B</Enum></Enumeration>")));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_attr(&s, (struct param){.name = "modes",
                                 .dtype = DT_STRING,
                                 .is_tensor = true,
                                 .shape = SHAPE(3),
                                 .strings = (const char *[]){"B", "A", "B"}});
    run_ok(&s);
    uint32_t count;
    const int64_t *values = named_ints(udo_node(&s), "modes", &count);
    ck_assert_uint_eq(count, 3);
    ck_assert(values[0] == 1 && values[1] == 0 && values[2] == 1);
    end(&s);
}
END_TEST

/* Mandatory decides what an absent attribute means. */
START_TEST(mandatory)
{
    struct site_fixture s;
    start_xml(&s, FILE_OF(MODE("false", "<Default>LINEAR</Default>") PARAM("left", "false", "INT_32", "1D", "")));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    run_ok(&s);
    ck_assert_int_eq(named_int(udo_node(&s), "mode", -1), 1);
    ck_assert_ptr_null(named_param(udo_node(&s), "left"));
    end(&s);

    start_xml(&s, FILE_OF(MODE("true", "<Default>LINEAR</Default>")));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    ck_assert_int_eq(run(&s), ODLC_ERR_INVALID);
    const struct odlc_diag *d = find_diag(&s.f, "udo-missing-param");
    ck_assert_ptr_nonnull(d);
    ck_assert_msg(strstr(d->hint, "<Mandatory> is true at ops.xml:2:"), "%s", d->hint);
    end(&s);
}
END_TEST

#define SEVERAL                                                                              \
    "<Input><Name>w</Name><Mandatory>true</Mandatory>" TYPE("UFIXED_POINT_8") TYPE("INT_32") \
        TYPE("FLOAT_32") "<Shape><Rank>ND</Rank></Shape><IsStaticTensor>true</IsStaticTensor></Input>"

/* Of several types, data keeps the model's own when it is one of them. */
START_TEST(several_types)
{
    struct site_fixture s;
    start_xml(&s,
              COLLECTION("<OpDefList><OpDef><Name>T</Name>" SEVERAL TENSOR("Output", "y", "") "</OpDef></OpDefList>"));
    s.declared_shape[0] = true;
    s.declared[0] = (struct type){.dtype = DT_FLOAT32, .shape = SHAPE(2)};
    give_floats(&s, "w", SHAPE(2), 9, 0);
    run_ok(&s);
    ck_assert_int_eq(graph_tensor(s.g, udo_node(&s)->inputs[0])->type->dtype, DT_FLOAT32);
    const struct udo_tensor *w = &s.f.set.defs.data[0]->inputs[0];
    ck_assert_int_eq(w->dtype, DT_UFXP8);
    ck_assert(w->several == (DTYPE_BIT(DT_UFXP8) | DTYPE_BIT(DT_INT32) | DTYPE_BIT(DT_FLOAT32)));
    ck_assert_uint_eq(s.f.diags.list.count, 0);
    end(&s);
}
END_TEST

#define SEVERAL_TYPES TYPE("INT_32") TYPE("FLOAT_32")
#define PARAM_OF(name, types, rank)                                                                            \
    "<Parameter><Name>" name "</Name><Mandatory>true</Mandatory>" types "<Shape><Rank>" rank "</Rank></Shape>" \
    "</Parameter>"

/* So do params, scalars and tensors alike: each attribute keeps its type. */
START_TEST(params_of_several_types)
{
    struct site_fixture s;
    start_xml(&s, FILE_OF(PARAM_OF("whole", SEVERAL_TYPES, "SCALAR") PARAM_OF("part", SEVERAL_TYPES, "SCALAR")
                              PARAM_OF("parts", SEVERAL_TYPES, "1D") PARAM_OF("wholes", SEVERAL_TYPES, "1D")
                                  PARAM_OF("first", TYPE("FLOAT_32") TYPE("INT_32"), "SCALAR")));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_attr(&s, int_attr("whole", 3));
    give_attr(&s, float_attr("part", 0.5f));
    give_attr(&s, floats_attr("parts", SHAPE(2), (const double[]){0.25, 2}));
    give_attr(&s, ints_attr("wholes", SHAPE(2), (const int64_t[]){7, 8}));
    give_attr(&s, int_attr("first", 16777217)); /* no float */
    run_ok(&s);
    const struct node *n = udo_node(&s);
    static const struct {
        const char *name;
        enum dtype dtype;
    } expected[] = {
        {"whole", DT_INT32}, {"part", DT_FLOAT32}, {"parts", DT_FLOAT32}, {"wholes", DT_INT32}, {"first", DT_INT32}};
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        ck_assert_msg(named_param(n, expected[i].name)->dtype == expected[i].dtype, "%s", expected[i].name);
    ck_assert(named_float(n, "part", 0) == 0.5);
    ck_assert(named_param(n, "parts")->floats[0] == 0.25);
    ck_assert_int_eq(named_int(n, "first", 0), 16777217);
    end(&s);
}
END_TEST

/* Optional outputs at the end that the model does not use are left out. */
START_TEST(optional_outputs)
{
    const char *extra = "<Output><Name>z</Name><Mandatory>false</Mandatory><Datatype>INT_32</Datatype>"
                        "<Shape><Rank>1D</Rank></Shape></Output>";
    for (uint32_t n_out = 1; n_out <= 2; n_out++) {
        struct site_fixture s;
        start(&s, DEFINE(X, ""));
        udo_set_init(&s.f.set, s.f.arena, &s.f.diags, op_registry_new(s.f.arena));
        const char *xml = arena_printf(s.f.arena,
                                       "<OpDefCollection PackageName='P'><OpDefList><OpDef><Name>T</Name>%s%s%s"
                                       "</OpDef></OpDefList></OpDefCollection>",
                                       TENSOR("Input", "x", ""), TENSOR("Output", "y", ""), extra);
        s.site.op_type = load_def(&s.f, xml)->type;
        s.site.n_out = n_out;
        for (int i = 0; i < 2; i++) {
            s.declared_shape[i] = true;
            s.declared[i] = (struct type){.dtype = i ? DT_INT32 : DT_FLOAT32, .shape = SHAPE(2)};
        }
        give_tensor(&s, "x", DT_FLOAT32, SHAPE(2));
        run_ok(&s);
        ck_assert_uint_eq(udo_node(&s)->n_outputs, n_out);
        end(&s);
    }
}
END_TEST

/* A definition that leaves a type open claims its nodes, but they cannot be built. */
START_TEST(open_node)
{
    struct site_fixture s;
    start(&s, DEFINE(X, ""));
    udo_set_init(&s.f.set, s.f.arena, &s.f.diags, op_registry_new(s.f.arena));
    ck_assert_int_eq(load_xml(&s.f, SPECIFIC(CPU, "")), ODLC_OK);
    s.site.op_type = "T";
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2));
    ck_assert_int_eq(run(&s), ODLC_ERR_INVALID);
    ck_assert_msg(s.f.diags.errors == 1, "%s", all_diags(&s.f));
    end(&s);
}
END_TEST

/* The supplemental param that keeps UseQHPI. */
START_TEST(qhpi)
{
    struct site_fixture s;
    start_xml(&s,
              "<OpDefCollection PackageName='P' UseQHPI='1'><OpDefList>" OPDEF("") "</OpDefList></OpDefCollection>");
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    run_ok(&s);
    ck_assert_str_eq(named_string(udo_node(&s), "udo_use_qhpi", ""), "true");
    end(&s);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("udo_opdef");
    TCase *t = tcase_create("meaning");
    tcase_add_test(t, everything);
    tcase_add_test(t, backends);
    tcase_add_test(t, left_open);
    tcase_add_test(t, supported_ops);
    tcase_add_test(t, enumeration);
    tcase_add_test(t, enumeration_refused);
    tcase_add_test(t, enumeration_list);
    tcase_add_test(t, mandatory);
    tcase_add_test(t, several_types);
    tcase_add_test(t, params_of_several_types);
    tcase_add_test(t, backends_of_one_core);
    tcase_add_test(t, optional_outputs);
    tcase_add_test(t, open_node);
    tcase_add_test(t, qhpi);
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
