/* SPDX-License-Identifier: Apache-2.0 */
/* Configs in the form of published templates, and what is odd in a definition without being wrong. */
#include "udo_xml.h"
#include "tests/support/named_param.h"

/* ---- templates ---- */

/* Every list has two entries, and types per core where they may stand. */
static const char json_template[] =
    "{\n 'UdoPackage_0': {\n  'Operators': [{\n"
    "   'type': 'Blend',\n"
    "   'inputs': [\n"
    "    {'name': 'x', 'per_core_data_types': {'CPU': 'FLOAT_32', 'GPU': 'FLOAT_32', 'DSP': 'UINT_8'},\n"
    "     'static': false, 'tensor_layout': 'NHWC'},\n"
    "    {'name': 'w', 'per_core_data_types': {'CPU': 'FLOAT_32', 'GPU': 'FLOAT_16', 'DSP': 'UINT_8'},\n"
    "     'static': true, 'tensor_layout': 'NHWC'}],\n"
    "   'outputs': [\n"
    "    {'name': 'y', 'per_core_data_types': {'CPU': 'FLOAT_32', 'GPU': 'FLOAT_32', 'DSP': 'UINT_8'},\n"
    "     'tensor_layout': 'NHWC'}],\n"
    "   'scalar_params': [{'name': 'alpha', 'data_type': 'FLOAT_32'}, {'name': 'count', 'data_type': 'INT_32'}],\n"
    "   'tensor_params': [{'name': 'sizes', 'data_type': 'UINT_32', 'tensor_layout': 'NHWC'},\n"
    "                     {'name': 'scales', 'per_core_data_types': {'CPU': 'FLOAT_32', 'DSP': 'FLOAT_16'}}],\n"
    "   'core_types': ['CPU', 'GPU', 'DSP'],\n"
    "   'dsp_arch_types': ['v66', 'v68', 'v69', 'v73']}],\n"
    "  'UDO_PACKAGE_NAME': 'BlendPackage'\n }\n}\n";

#define NO_TEXT "<Description>\n<Content></Content>\n</Description>"

/* Every element of the form, those that are optional and not filled in as well. */
static const char xml_template[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<OpDefCollection PackageName=\"BlendPackage\" Domain=\"\" Version=\"1.0\">\n<OpDefList>\n<OpDef>\n"
    "<Name>Blend</Name>\n" NO_TEXT "<Reference Source=\"\" Url=\"\"/>\n"
    "<Input>\n<Name>x</Name>" NO_TEXT "<Mandatory>True</Mandatory>\n<Datatype>FLOAT_32</Datatype>\n"
    "<Datatype>FIXED_8</Datatype><Shape><Rank>4D</Rank><Layout>NHWC</Layout><Text></Text></Shape>\n"
    "<Default></Default><IsStaticTensor>False</IsStaticTensor><Repeated></Repeated></Input>\n"
    "<Input>\n<Name>w</Name>" NO_TEXT "<Mandatory>TRUE</Mandatory>\n<Datatype>BACKEND_SPECIFIC</Datatype>\n"
    "<Shape><Rank>4D</Rank><Layout></Layout><Text>[h, w]</Text></Shape>\n"
    "<Default/><IsStaticTensor>true</IsStaticTensor><Repeated/></Input>\n"
    "<Output>\n<Name>y</Name>" NO_TEXT "<Mandatory></Mandatory>\n<Datatype>QNN_DATATYPE_FIXED_16</Datatype>\n"
    "<Shape><Rank>4D</Rank><Layout>NHWC</Layout></Shape><Repeated/></Output>\n"
    "<Parameter>\n<Name>alpha</Name>" NO_TEXT "<Mandatory>FALSE</Mandatory>\n<Datatype>FLOAT_32</Datatype>\n"
    "<Shape><Rank>SCALAR</Rank><Layout></Layout></Shape><Default>0.5</Default>\n"
    "<Enumeration>\n<Enum></Enum>\n<Enum></Enum>\n</Enumeration></Parameter>\n"
    "<UseDefaultTranslation></UseDefaultTranslation>\n"
    "<SupportedBackend>CPU</SupportedBackend>\n<SupportedBackend>DSP_V68</SupportedBackend>\n"
    "<SupportedBackend>HTP_V73</SupportedBackend>\n<SupportedBackend></SupportedBackend>\n</OpDef>\n</OpDefList>\n"
    "<SupplementalOpDefList Backend=\"CPU\">\n<SupportedOps><OpName></OpName></SupportedOps>\n"
    "<SupplementalOpDef><Name>Blend</Name>\n"
    "<Input><Name>x</Name><Datatype></Datatype><Shape><Layout></Layout><Text/></Shape>\n"
    "<OnlyDefaultSupported></OnlyDefaultSupported></Input>\n"
    "<Input><Name>w</Name><Datatype>FLOAT_16</Datatype></Input></SupplementalOpDef>\n</SupplementalOpDefList>\n"
    "<SupplementalOpDefList Backend=\"HTP_V73\"><SupplementalOpDef><Name>Blend</Name>\n"
    "<Input><Name>w</Name><Datatype>QNN_DATATYPE_UINT_8</Datatype></Input></SupplementalOpDef>\n"
    "</SupplementalOpDefList>\n"
    "<SupplementalOpDefList Backend=\"DSP_V68\"><SupplementalOpDef><Name>Blend</Name>\n"
    "<Input><Name>w</Name><Datatype>QNN_DATATYPE_UINT_8</Datatype></Input></SupplementalOpDef>\n"
    "</SupplementalOpDefList>\n</OpDefCollection>\n";

static void give_blend(struct site_fixture *s)
{
    static const int64_t sizes[] = {3, 5};
    static const double scales[] = {0.1, 2};
    s->site.op_type = "Blend";
    s->declared_shape[0] = true;
    s->declared[0] = (struct type){.dtype = DT_FLOAT32, .shape = SHAPE(1, 2, 3, 4)};
    give_tensor(s, "x", DT_FLOAT32, SHAPE(1, 2, 3, 4));
    give_floats(s, "w", SHAPE(1, 1, 3, 2), UINT64_MAX, 0);
    give_attr(s, float_attr("alpha", 0.25f));
    give_attr(s, int_attr("count", 7));
    give_attr(s, ints_attr("sizes", SHAPE(2), sizes));
    give_attr(s, floats_attr("scales", SHAPE(2), scales));
    run_ok(s);
}

START_TEST(template_in_json)
{
    struct site_fixture s;
    start(&s, DEFINE(X, ""));
    udo_set_init(&s.f.set, s.f.arena, &s.f.diags, op_registry_new(s.f.arena));
    ck_assert_msg(load_text(&s.f, "guide.json", json_template) == ODLC_OK, "%s", all_diags(&s.f));
    ck_assert_msg(s.f.diags.list.count == 0, "%s", all_diags(&s.f));
    give_blend(&s);
    const struct node *n = udo_node(&s);
    const struct tensor *w = node_input(s.g, n, 1);
    ck_assert_int_eq(w->type->dtype, DT_FLOAT32);
    check_shape(&w->type->shape, SHAPE(1, 3, 2, 1));
    const float *stored = view_load(s.f.arena, w->view, DT_FLOAT32);
    for (int k = 0; k < 6; k++)
        ck_assert(stored[k] == (float)k);
    ck_assert_int_eq(named_param(n, "scales")->dtype, DT_FLOAT32);
    ck_assert(named_param(n, "scales")->floats[0] == (double)0.1f);
    ck_assert_str_eq(named_string(n, "udo_per_core_data_types", ""),
                     "in0: CPU=FLOAT_32,GPU=FLOAT_32,DSP=UINT_8; in1: CPU=FLOAT_32,GPU=FLOAT_16,DSP=UINT_8; "
                     "out0: CPU=FLOAT_32,GPU=FLOAT_32,DSP=UINT_8; param scales: CPU=FLOAT_32,DSP=FLOAT_16");
    end(&s);
}
END_TEST

START_TEST(template_in_xml)
{
    struct site_fixture s;
    start(&s, DEFINE(X, ""));
    udo_set_init(&s.f.set, s.f.arena, &s.f.diags, op_registry_new(s.f.arena));
    const struct udo_def *def = load_def(&s.f, xml_template);
    ck_assert_uint_eq(def->n_inputs, 2);
    ck_assert_int_eq(def->inputs[0].dtype, DT_FLOAT32);
    ck_assert_uint_eq(def->inputs[0].several, DTYPE_BIT(DT_FLOAT32) | DTYPE_BIT(DT_UFXP8));
    ck_assert(!def->inputs[0].is_static && !def->inputs[0].repeated && !def->inputs[0].optional);
    ck_assert(def->inputs[1].is_static && !def->inputs[1].repeated && !def->inputs[1].default_value);
    ck_assert_int_eq(def->inputs[1].layout, UDO_LAYOUT_NONE);
    ck_assert_int_eq(def->outputs[0].dtype, DT_UFXP16);
    ck_assert(!def->outputs[0].optional);
    ck_assert(def->scalar_params[0].optional && def->scalar_params[0].default_value->f == 0.5);
    ck_assert_uint_eq(def->scalar_params[0].enumeration.count, 0);
    ck_assert(!def->replaces_native);
    ck_assert_uint_eq(def->cores, 1u << UDO_CPU | 1u << UDO_DSP);
    give_blend(&s);
    const struct node *n = udo_node(&s);
    const struct tensor *w = node_input(s.g, n, 1);
    ck_assert_int_eq(w->type->dtype, DT_FLOAT16);
    const float *stored = view_load(s.f.arena, w->view, DT_FLOAT32);
    for (int k = 0; k < 6; k++)
        ck_assert(stored[k] == (float)k);
    ck_assert_str_eq(named_string(n, "udo_core_types", ""), "CPU,DSP");
    ck_assert_str_eq(named_string(n, "udo_dsp_arch_types", ""), "v68,v73");
    ck_assert_str_eq(named_string(n, "udo_per_core_data_types", ""), "in1: CPU=FLOAT_16,DSP=UINT_8");
    ck_assert(named_float(n, "alpha", 0) == 0.25);
    end(&s);
}
END_TEST

/* ---- what is odd ---- */

#define CONFIG(members) "{'P': {'UDO_PACKAGE_NAME': 'P', 'Operators': [{'type': 'T', " members "}]}}"
#define IO "'inputs': [{'name': 'x'}], 'outputs': [{}]"
#define FILE_OF(more) COLLECTION("<OpDefList>" OPDEF(more) "</OpDefList>")
#define BACKEND(name) "<SupportedBackend>" name "</SupportedBackend>"
#define SHAPED(kind, mandatory, rank, layout)                                                                     \
    "<" kind "><Name>z</Name><Mandatory>" mandatory "</Mandatory><Datatype>FLOAT_32</Datatype><Shape><Rank>" rank \
    "</Rank><Layout>" layout "</Layout></Shape></" kind ">"

static const struct {
    const char *config, *code, *message, *hint; /* no message: nothing is odd */
} odd[] = {
    {CONFIG(IO ", 'core_types': ['DSP']"), "udo-no-architecture",
     "'T' runs on the DSP, but does not say on which architectures of it", "dsp_arch_types"},
    {CONFIG(IO ", 'core_types': ['CPU'], 'dsp_arch_types': ['v68']"), "udo-no-dsp",
     "'T' has dsp_arch_types, but core_types does not list DSP", "add \"DSP\""},
    {CONFIG(IO ", 'dsp_arch_types': ['v68']"), "udo-no-dsp", "'T' has dsp_arch_types, but core_types does not list DSP",
     "add \"DSP\""},
    {CONFIG(IO ", 'core_types': ['CPU', 'GPU', 'CPU']"), "udo-twice", "second 'CPU' in core_types", "remove one"},
    {CONFIG(IO ", 'core_types': ['DSP'], 'dsp_arch_types': ['v68', 'v73', 'v68']"), "udo-twice",
     "second 'v68' in dsp_arch_types", "remove one"},
    {CONFIG("'inputs': [{'per_core_data_types': {'CPU': 'INT_8', 'GPU': 'INT_8'}}], 'outputs': [{}], 'core_types': "
            "['CPU']"),
     "udo-unlisted-core", "input 0 of 'T' has a type for GPU, which core_types does not list", "list the core"},
    {CONFIG("'inputs': [{'per_core_data_types': {'CPU': 'INT_8', 'GPU': 'INT_8'}}], 'outputs': [{}]"), NULL, NULL,
     NULL},
    {CONFIG("'inputs': [{}], 'outputs': [{'tensor_layout': 'NHWC', 'shape': [1, 'in0[1]']}]"), "udo-layout-rank",
     "output 0 of 'T' is declared NHWC, but has rank 2", "rank 3 to 5"},
    {CONFIG("'inputs': [{}], 'outputs': [{'tensor_layout': 'NHWC', 'shape': [1, 'in0[1]', 1]}]"), NULL, NULL, NULL},
    {CONFIG("'inputs': [{}], 'outputs': [{'optional': true}, {}]"), "udo-optional-output",
     "the first output of 'T' is optional, but each node gives it", "behind"},
    {CONFIG("'inputs': [{'name': 'x', 'repeated': true}], 'outputs': [{}], 'core_types': ['CPU', 'DSP'], "
            "'dsp_arch_types': ['v68']"),
     "udo-repeated-dsp", "input 0 ('x') of 'T' is repeated, which packages for the DSP do not support", "list as many"},
    {CONFIG("'inputs': [{'name': 'x', 'repeated': true}], 'outputs': [{}], 'core_types': ['CPU', 'GPU']"), NULL, NULL,
     NULL},
    {FILE_OF(BACKEND("DSP")), "udo-no-architecture",
     "'T' runs on the DSP, but does not say on which architectures of it", "DSP_V68"},
    {FILE_OF(BACKEND("HTP")), NULL, NULL, NULL},
    {FILE_OF(BACKEND("DSP") BACKEND("DSP_v66")), NULL, NULL, NULL},
    {FILE_OF(BACKEND("CPU") BACKEND("CPU")), "udo-twice", "second <SupportedBackend> 'CPU'", "remove one"},
    {FILE_OF(BACKEND("HTP_V99")), "udo-unknown-architecture", "unknown architecture 'V99' of HTP is ignored",
     "known are V60"},
    {FILE_OF(BACKEND("GPU_V68")), "udo-unknown-backend", "unknown backend 'GPU_V68' is ignored", "known are CPU"},
    {FILE_OF(BACKEND("NPU")), "udo-unknown-backend", "unknown backend 'NPU' is ignored", "write HTP"},
    {FILE_OF(BACKEND("HTA")), "udo-unknown-backend", "unknown backend 'HTA' is ignored", "write HTP"},
    {FILE_OF(BACKEND("cpu")), "udo-unknown-backend", "unknown backend 'cpu' is ignored", "did you mean CPU?"},
    {FILE_OF(SHAPED("Input", "true", "2D", "NCHW")), "udo-layout-rank",
     "input 1 ('z') of 'T' is declared NCHW, but has rank 2", "rank 3 to 5"},
    {FILE_OF(SHAPED("Input", "true", "5D", "NDHWC")), NULL, NULL, NULL},
    {COLLECTION("<OpDefList><OpDef><Name>T</Name>" TENSOR("Input", "x", "") SHAPED("Output", "false", "4D", "NHWC")
                    TENSOR("Output", "y", "") "</OpDef></OpDefList>"),
     "udo-optional-output", "the first output of 'T' is optional, but each node gives it", "behind"},
    {FILE_OF(TENSOR("Input", "z", "<Repeated>true</Repeated>") BACKEND("DSP_V66")), "udo-repeated-dsp",
     "input 1 ('z') of 'T' is repeated, which packages for the DSP do not support", "list as many"},
    {FILE_OF(TENSOR("Input", "z", "<Repeated>true</Repeated>") BACKEND("HTP")), NULL, NULL, NULL},
};

START_TEST(oddities)
{
    struct fixture f;
    fixture_start(&f);
    const char *config = odd[_i].config;
    odlc_status status = *config == '<' ? load_xml(&f, config) : load_text(&f, "ops.json", config);
    ck_assert_msg(status == ODLC_OK && f.diags.list.count == (odd[_i].message != NULL), "%s\n%s", config,
                  all_diags(&f));
    if (odd[_i].message) {
        const struct odlc_diag *d = &f.diags.list.data[0];
        ck_assert_int_eq(d->severity, ODLC_WARNING);
        ck_assert_str_eq(d->code, odd[_i].code);
        ck_assert_str_eq(d->message, odd[_i].message);
        ck_assert_msg(d->hint && strstr(d->hint, odd[_i].hint), "%s", all_diags(&f));
        ck_assert_uint_gt(d->line, 0);
    }
    fixture_end(&f);
}
END_TEST

/* A layout that says nothing of a tensor is found at the node where the definition does not tell the rank. */
START_TEST(layout_of_a_node)
{
    struct site_fixture s;
    start(&s,
          "{'type': 'T', 'inputs': [{'name': 'x', 'tensor_layout': 'NHWC'}], 'outputs': [{'shape': 'same_as in0'}]}");
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2, 3));
    run_ok(&s);
    s.site.label = "n2";
    run_ok(&s);
    ck_assert_msg(s.f.diags.list.count == 1, "%s", all_diags(&s.f)); /* said once */
    ck_assert_str_eq(find_diag(&s.f, "udo-layout-rank")->message,
                     "input 0 ('x') of 'T' is declared NHWC, but has rank 2");
    ck_assert_str_eq(find_diag(&s.f, "udo-layout-rank")->node, "n1");
    end(&s);
}
END_TEST

/* ---- repeated operands before others ---- */

static const char repeated_first[] =
    "{'type': 'T', 'inputs': [{'name': 'a'}, {'name': 'xs', 'repeated': true}, {'name': 'w', 'static': true},"
    " {'name': 'b', 'optional': true}], 'outputs': [{'name': 'ys', 'repeated': true, 'shape': 'same_as in0'},"
    " {'name': 'z', 'data_type': 'INT_32', 'shape': [7]}]}";

START_TEST(repeated_before_others)
{
    /* a, so many xs, w, b; of which b may be absent as long as it is listed. */
    for (uint32_t count = 1; count <= 3; count++)
        for (int with_b = 0; with_b < 2; with_b++) {
            struct site_fixture s;
            start(&s, repeated_first);
            give_tensor(&s, "a", DT_FLOAT32, SHAPE(1, 2));
            for (uint32_t i = 0; i < count; i++)
                give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
            give_floats(&s, "w", SHAPE(3), UINT64_MAX, 0);
            if (with_b)
                give_tensor(&s, "b", DT_FLOAT32, SHAPE(1, 2));
            else
                give_absent(&s);
            s.site.n_out = 1 + count;
            run_ok(&s);
            const struct node *n = udo_node(&s);
            ck_assert_uint_eq(n->n_inputs, count + 2 + (uint32_t)with_b);
            ck_assert_int_eq(node_input(s.g, n, count + 1)->kind, TENSOR_STATIC);
            ck_assert_uint_eq(n->n_outputs, 1 + count);
            for (uint32_t j = 0; j < count; j++)
                check_shape(&graph_tensor(s.g, n->outputs[j])->type->shape, SHAPE(1, 2));
            check_shape(&graph_tensor(s.g, n->outputs[count])->type->shape, SHAPE(7));
            ck_assert_int_eq(graph_tensor(s.g, n->outputs[count])->type->dtype, DT_INT32);
            ck_assert_msg(s.f.diags.list.count == 0, "%s", all_diags(&s.f));
            end(&s);
        }
}
END_TEST

/* Where the model tells only the outputs that it reads, none can be counted from the end. */
START_TEST(repeated_outputs_of_an_open_list)
{
    struct site_fixture s;
    start(&s, repeated_first);
    give_tensor(&s, "a", DT_FLOAT32, SHAPE(1, 2));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_floats(&s, "w", SHAPE(3), UINT64_MAX, 0);
    s.site.n_out = 2;
    s.site.outputs_open = true;
    fails(&s, "udo-open-outputs",
          "the model does not tell how many outputs the node has, so none can stand behind a repeated one",
          "list each output at ops.json:3:1");
    end(&s);
}
END_TEST

/* ---- cores that take just the default ---- */

#define ONLY(kind, name) "<" kind "><Name>" name "</Name><OnlyDefaultSupported>true</OnlyDefaultSupported></" kind ">"
#define SUPPLEMENT(backend, content)                                                         \
    "<SupplementalOpDefList Backend='" backend "'><SupplementalOpDef><Name>T</Name>" content \
    "</SupplementalOpDef></SupplementalOpDefList>"
#define DEFAULT_INPUT                                                                                              \
    "<Input><Name>w</Name><Mandatory>false</Mandatory><Datatype>FLOAT_32</Datatype><Shape><Rank>1D</Rank></Shape>" \
    "<Default>{0, 1}</Default><IsStaticTensor>true</IsStaticTensor></Input>"
#define LIMITED(mandatory)                                                                                         \
    COLLECTION("<OpDefList>" OPDEF(                                                                                \
        DEFAULT_INPUT PARAM("mode", mandatory, "INT_32", "SCALAR", "<Default>1</Default>") BACKEND("CPU") BACKEND( \
            "HTP") BACKEND("GPU")) "</OpDefList>" SUPPLEMENT("HTP", ONLY("Parameter", "mode") ONLY("Input", "w"))  \
                   SUPPLEMENT("GPU", ONLY("Parameter", "mode")))

static void run_limited(struct site_fixture *s, const char *xml, int64_t mode, bool give_mode, float second)
{
    start(s, DEFINE(X, ""));
    udo_set_init(&s->f.set, s->f.arena, &s->f.diags, op_registry_new(s->f.arena));
    s->site.op_type = load_def(&s->f, xml)->type;
    s->declared_shape[0] = true;
    s->declared[0] = (struct type){.dtype = DT_FLOAT32, .shape = SHAPE(2)};
    give_tensor(s, "x", DT_FLOAT32, SHAPE(2));
    give_floats(s, "w", SHAPE(2), 1, second);
    if (give_mode)
        give_attr(s, int_attr("mode", mode));
    run_ok(s);
}

START_TEST(only_default)
{
    struct site_fixture s;
    run_limited(&s, LIMITED("false"), 1, true, 1);
    ck_assert_msg(s.f.diags.list.count == 0, "%s", all_diags(&s.f));
    end(&s);
    run_limited(&s, LIMITED("false"), 0, false, 1);
    ck_assert_msg(s.f.diags.list.count == 0, "%s", all_diags(&s.f));
    end(&s);
    run_limited(&s, LIMITED("true"), 2, true, 1);
    ck_assert_msg(s.f.diags.list.count == 1, "%s", all_diags(&s.f));
    ck_assert_str_eq(find_diag(&s.f, "udo-only-default")->message,
                     "'mode' is 2 in the model, but its default, 1, is all that is supported on DSP (HTP), GPU");
    ck_assert_int_eq(named_int(udo_node(&s), "mode", 0), 2);
    end(&s);
    run_limited(&s, LIMITED("false"), 1, true, 0.5f);
    ck_assert_msg(s.f.diags.list.count == 1, "%s", all_diags(&s.f));
    ck_assert_str_eq(find_diag(&s.f, "udo-only-default")->message,
                     "the model gives input 1 ('w'), but its default is all that is supported on DSP (HTP)");
    end(&s);
}
END_TEST

/* ---- definitions without nodes ---- */

START_TEST(unmatched)
{
    static const struct udo_operator operators[] = {{"Conv", ""}, {"Softplus", ""}, {"Mine", "a.b"}, {"Used", ""}};
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_operators(&f, "{'type': 'SoftPlus', 'inputs': [{}], 'outputs': [{}]},\n"
                                        "{'type': 'Mine', 'domain': 'c', 'inputs': [{}], 'outputs': [{}]},\n"
                                        "{'type': 'Used', 'inputs': [{}], 'outputs': [{}]},\n"
                                        "{'type': 'NothingLikeIt', 'inputs': [{}], 'outputs': [{}]}"),
                     ODLC_OK);
    udo_match(&f.set, operators, COUNT_OF(operators));
    static const char *const types[] = {"SoftPlus", "Mine", "NothingLikeIt"},
                             *const hints[] = {"did you mean 'Softplus'?", "the model has 'Mine' in domain 'a.b'",
                                               NULL};
    static const uint32_t lines[] = {3, 4, 6};
    ck_assert_msg(f.diags.list.count == COUNT_OF(types), "%s", all_diags(&f));
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        const struct odlc_diag *d = &f.diags.list.data[i];
        ck_assert_str_eq(d->message,
                         arena_printf(f.arena, "the definition of '%s' matches no node of the model", types[i]));
        ck_assert_pstr_eq(d->hint, hints[i]);
        ck_assert_uint_eq(d->line, lines[i]);
    }
    /* At the end there is a word for what the model has, but no node was made of. */
    ck_assert_int_eq(udo_finish(&f.set), ODLC_OK);
    ck_assert_msg(f.diags.list.count == COUNT_OF(types) + 1, "%s", all_diags(&f));
    ck_assert_str_eq(f.diags.list.data[3].message, "the definition of 'Used' matches no node of the model");
    fixture_end(&f);
}
END_TEST

/* A param and an attribute of nearly one name. */
START_TEST(near_attribute)
{
    struct site_fixture s;
    start(&s, DEFINE(X, ", 'tensor_params': [{'name': 'axis', 'data_type': 'INT_32'}]"));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2, 3, 4));
    give_attr(&s, ints_attr("axes", SHAPE(1), (const int64_t[]){2}));
    fails(&s, "udo-missing-param", "the node has no attribute 'axis', and the definition no default for it",
          "the node has an attribute 'axes'");
    end(&s);
}
END_TEST

/* Words in the other case, in lists and in tables; a wrong core does not hide its type. */
START_TEST(case_slips)
{
    static const char *const hints[] = {
        "did you mean FLOAT_32?", "did you mean CPU?",
        "did you mean UINT_8?",   "write DSP: it stands for the whole of the NPU, HTP and HTA included",
        "did you mean FLOAT_16?", "did you mean NCHW?",
        "did you mean CPU?",      "write DSP: it stands for the whole of the NPU, HTP and HTA included",
        "did you mean v68?"};
    struct fixture f;
    fixture_start(&f);
    ck_assert_int_eq(load_text(&f, "c.json",
                               CONFIG("'inputs': [{'data_type': 'float32'}, {'per_core_data_types': {'cpu': 'uint8',"
                                      "'HTA': 'Float_16'}}], 'outputs': [{'tensor_layout': 'nchw'}],"
                                      "'core_types': ['cpu', 'NPU'], 'dsp_arch_types': ['V68']")),
                     ODLC_ERR_INVALID);
    ck_assert_msg(f.diags.list.count == COUNT_OF(hints), "%s", all_diags(&f));
    for (size_t i = 0; i < COUNT_OF(hints); i++)
        ck_assert_msg(strstr(f.diags.list.data[i].hint, hints[i]), "%s\n%s", hints[i], all_diags(&f));
    fixture_end(&f);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, template_in_json);
    tcase_add_test(t, template_in_xml);
    tcase_add_loop_test(t, oddities, 0, COUNT_OF(odd));
    tcase_add_test(t, layout_of_a_node);
    tcase_add_test(t, repeated_before_others);
    tcase_add_test(t, repeated_outputs_of_an_open_list);
    tcase_add_test(t, only_default);
    tcase_add_test(t, unmatched);
    tcase_add_test(t, near_attribute);
    tcase_add_test(t, case_slips);
}

int main(void)
{
    return run_suite("udo_templates", add_tests);
}
