/* SPDX-License-Identifier: Apache-2.0 */
/* Every limit of configs from both sides: what has so much is read, and what has one more is refused and told why. */
#include "udo/expr.h"
#include "text/json.h"
#include "udo/xml.h"
#include "udo_xml.h"

/* Adds a text so many times; the first %zu in it is the number of the copy. */
static void add_copies(struct fixture *f, text *t, size_t count, const char *separator, const char *before,
                       bool numbered, const char *after)
{
    for (size_t i = 0; i < count; i++) {
        text_add(f->arena, t, "%s%s", i ? separator : "", before);
        if (numbered)
            text_add(f->arena, t, "%zu", i);
        text_add(f->arena, t, "%s", after);
    }
}

/* A kind of config whose size is one number. */
struct limit {
    const char *message, *code;
    odlc_status status;
    size_t most;
    void (*make)(struct fixture *f, text *t, size_t count);
    bool read_alone; /* as JSON without a look at what it means */
};

static odlc_status read_sized(struct fixture *f, const struct limit *limit, size_t count)
{
    text t = {0};
    limit->make(f, &t, count);
    if (!limit->read_alone)
        return udo_parse(&f->set, "limits", t.data, t.count);
    struct json *json;
    return json_parse(f->arena, &f->diags, "limits", t.data, t.count, &json);
}

static void check_limit(const struct limit *limit)
{
    struct fixture f;
    fixture_start(&f);
    odlc_status status = read_sized(&f, limit, limit->most);
    ck_assert_msg(status == ODLC_OK && f.diags.errors == 0, "%s: %s", limit->message, all_diags(&f));
    fixture_end(&f);
    fixture_start(&f);
    ck_assert_int_eq(read_sized(&f, limit, limit->most + 1), limit->status);
    const struct odlc_diag *d = find_diag(&f, limit->code);
    ck_assert_msg(d && strcmp(d->message, limit->message) == 0, "%s: %s", limit->message, all_diags(&f));
    ck_assert_str_eq(d->file, "limits");
    fixture_end(&f);
}

/* ---- the forms ---- */

#define PLAIN_JSON "{'A': {'UDO_PACKAGE_NAME': 'P', 'Operators': [{'type': 'T', 'inputs': [{}], 'outputs': [{}]}]}}"

static void make_large_json(struct fixture *f, text *t, size_t count)
{
    const char *json = quoted(f->arena, PLAIN_JSON);
    char *blanks = arena_alloc(f->arena, count);
    memset(blanks, ' ', count);
    text_add(f->arena, t, "%s", json);
    text_add_bytes(f->arena, t, blanks, count - strlen(json));
}

/* Half of the blanks are in the collection, half behind it. */
static void make_large_xml(struct fixture *f, text *t, size_t count)
{
    static const char xml[] = COLLECTION("<OpDefList>" OPDEF("") "</OpDefList>"), end[] = "</OpDefCollection>";
    size_t length = strlen(xml), inside = length - strlen(end), blank = count - length;
    char *blanks = arena_alloc(f->arena, count);
    memset(blanks, ' ', count);
    text_add_bytes(f->arena, t, xml, inside);
    text_add_bytes(f->arena, t, blanks, blank / 2);
    text_add(f->arena, t, "%s", end);
    text_add_bytes(f->arena, t, blanks, blank - blank / 2);
}

static void make_deep_json(struct fixture *f, text *t, size_t count)
{
    add_copies(f, t, count, "", "[", false, "");
    add_copies(f, t, count, "", "]", false, "");
}

/* The list is a value, too. */
static void make_values(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "[");
    add_copies(f, t, count - 1, ",", "0", false, "");
    text_add(f->arena, t, "]");
}

static void make_digits(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "[0.");
    add_copies(f, t, count - 2, "", "1", false, "");
    text_add(f->arena, t, "]");
}

/* In <OpDefCollection>, <OpDefList>, <OpDef> and <Description>. */
static void make_deep_xml(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "<OpDefCollection PackageName='P'><OpDefList><OpDef><Name>T</Name><Description>");
    add_copies(f, t, count - 4, "", "<a>", false, "");
    add_copies(f, t, count - 4, "", "</a>", false, "");
    text_add(f->arena, t, "</Description>" TENSOR("Input", "x", "") TENSOR("Output", "y", ""));
    text_add(f->arena, t, "</OpDef></OpDefList></OpDefCollection>");
}

/* Beside the 17 of the collection, its list, the operation and what is in that. */
static void make_elements(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "<OpDefCollection PackageName='P'><OpDefList>" OPDEF("<Description>"));
    t->count -= strlen("</OpDef>");
    add_copies(f, t, count - 17, "", "<a/>", false, "");
    text_add(f->arena, t, "</Description></OpDef></OpDefList></OpDefCollection>");
}

static void make_attributes(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "<OpDefCollection PackageName='P'");
    add_copies(f, t, count - 1, "", " x:a", true, "=''");
    text_add(f->arena, t, "><OpDefList>" OPDEF("") "</OpDefList></OpDefCollection>");
}

/* Of instructions, too. */
static void make_names(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "<OpDefCollection PackageName='P'><OpDefList>" OPDEF("<Description>"));
    t->count -= strlen("</OpDef>"); /* 12 names so far */
    add_copies(f, t, 20, "", "<?i", true, "?>");
    add_copies(f, t, 30, "", "<a b", true, "=''/>");
    add_copies(f, t, count - 12 - 20 - 31, "", "<e", true, "/>");
    add_copies(f, t, count, "", "<e1/>", false, "");
    text_add(f->arena, t, "</Description></OpDef></OpDefList></OpDefCollection>");
}

static void make_long_name(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "<OpDefCollection PackageName='P' x:");
    add_copies(f, t, count - 2, "", "a", false, "");
    text_add(f->arena, t, "=''><OpDefList>" OPDEF("") "</OpDefList></OpDefCollection>");
}

/* Two in an element, so that there are fewer elements than may be. */
static void make_all_attributes(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "<OpDefCollection PackageName='P'><OpDefList>" OPDEF("<Description>"));
    t->count -= strlen("</OpDef>");
    add_copies(f, t, (count - 1) / 2, "", "<a b='' c=''/>", false, "");
    text_add(f->arena, t, (count - 1) % 2 ? "<a b=''/>" : "");
    text_add(f->arena, t, "</Description></OpDef></OpDefList></OpDefCollection>");
}

static void make_namespaces(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "<OpDefCollection PackageName='P' xmlns='u' xmlns:n='u'><OpDefList>" OPDEF("<Description>"));
    t->count -= strlen("</OpDef>");
    add_copies(f, t, count - 2, "", "<a xmlns:n='u'/>", false, "");
    text_add(f->arena, t, "</Description></OpDef></OpDefList></OpDefCollection>");
}

/* ---- definitions ---- */

static void make_definitions(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "{\"A\": {\"UDO_PACKAGE_NAME\": \"P\", \"Operators\": [");
    add_copies(f, t, count, ",", "{\"type\":\"T", true, "\",\"inputs\":[{}],\"outputs\":[{}]}");
    text_add(f->arena, t, "]}}");
}

/* Half of them in each of two packages. */
static void make_packages(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "{\"A\": {\"UDO_PACKAGE_NAME\": \"P\", \"Operators\": [");
    add_copies(f, t, count / 2, ",", "{\"type\":\"T", true, "\",\"inputs\":[{}],\"outputs\":[{}]}");
    text_add(f->arena, t, "]}, \"B\": {\"UDO_PACKAGE_NAME\": \"Q\", \"Operators\": [");
    add_copies(f, t, count - count / 2, ",", "{\"type\":\"U", true, "\",\"inputs\":[{}],\"outputs\":[{}]}");
    text_add(f->arena, t, "]}}");
}

static void make_operator(struct fixture *f, text *t, const char *list, size_t count, const char *before, bool numbered,
                          const char *after, const char *rest)
{
    text_add(f->arena, t, "{\"A\": {\"UDO_PACKAGE_NAME\": \"P\", \"Operators\": [{\"type\": \"T\", \"%s\": [", list);
    add_copies(f, t, count, ",", before, numbered, after);
    text_add(f->arena, t, "]%s}]}}", quoted(f->arena, rest));
}

static void make_inputs(struct fixture *f, text *t, size_t count)
{
    make_operator(f, t, "inputs", count, "{}", false, "", ", 'outputs': [{}]");
}

static void make_outputs(struct fixture *f, text *t, size_t count)
{
    make_operator(f, t, "outputs", count, "{}", false, "", ", 'inputs': [{}]");
}

static void make_scalars(struct fixture *f, text *t, size_t count)
{
    make_operator(f, t, "scalar_params", count, "{\"name\": \"p", true, "\", \"data_type\": \"INT_32\"}",
                  ", 'inputs': [{}], 'outputs': [{}]");
}

/* One of them a tensor. */
static void make_params(struct fixture *f, text *t, size_t count)
{
    make_operator(f, t, "scalar_params", count - 1, "{\"name\": \"p", true, "\", \"data_type\": \"INT_32\"}",
                  ", 'inputs': [{}], 'outputs': [{}], 'tensor_params': [{'name': 'q', 'data_type': 'INT_32'}]");
}

static void make_archs(struct fixture *f, text *t, size_t count)
{
    make_operator(f, t, "dsp_arch_types", count, "\"v68\"", false, "", ", 'inputs': [{}], 'outputs': [{}]");
}

static void make_rank(struct fixture *f, text *t, size_t count)
{
    text value = {0};
    make_deep_json(f, &value, count);
    make_operator(f, t, "inputs", 1,
                  arena_printf(f->arena, "{\"default_value\": %s, \"data_type\": \"INT_32\"}", value.data), false, "",
                  ", 'outputs': [{}]");
}

static void make_rule(struct fixture *f, text *t, size_t count)
{
    text rule = {0};
    add_copies(f, &rule, count - 1, "", " ", false, "");
    make_operator(f, t, "outputs", 1, arena_printf(f->arena, "{\"shape\": [\"%s1\"]}", rule.data), false, "",
                  ", 'inputs': [{}]");
}

static void make_shape(struct fixture *f, text *t, size_t count)
{
    text dims = {0};
    add_copies(f, &dims, count, ",", "1", false, "");
    make_operator(f, t, "outputs", 1, arena_printf(f->arena, "{\"shape\": [%s]}", dims.data), false, "",
                  ", 'inputs': [{}]");
}

static void make_xml_inputs(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "<OpDefCollection PackageName='P'><OpDefList><OpDef><Name>T</Name>");
    add_copies(f, t, count, "", TENSOR("Input", "x", ""), false, "");
    text_add(f->arena, t, TENSOR("Output", "y", "") "</OpDef></OpDefList></OpDefCollection>");
}

static void make_xml_params(struct fixture *f, text *t, size_t count)
{
    text_add(f->arena, t, "<OpDefCollection PackageName='P'><OpDefList>" OPDEF(""));
    t->count -= strlen("</OpDef>");
    add_copies(
        f, t, count, "", "<Parameter><Name>p", true,
        "</Name><Mandatory>true</Mandatory><Datatype>INT_32</Datatype><Shape><Rank>SCALAR</Rank></Shape></Parameter>");
    text_add(f->arena, t, "</OpDef></OpDefList></OpDefCollection>");
}

static const struct limit limits[] = {
    {"larger than 16 MiB", "udo-too-large", ODLC_ERR_LIMIT, SOURCE_MAX_BYTES, make_large_json, false},
    {"larger than 16 MiB", "udo-too-large", ODLC_ERR_LIMIT, SOURCE_MAX_BYTES, make_large_xml, false},
    {"nested more than 64 levels deep", "json-syntax", ODLC_ERR_INVALID, JSON_MAX_DEPTH, make_deep_json, true},
    {"more than 1048576 values", "json-syntax", ODLC_ERR_INVALID, JSON_MAX_VALUES, make_values, true},
    {"number of more than 60 characters", "json-syntax", ODLC_ERR_INVALID, 60, make_digits, true},
    {"more than 64 levels", "xml-limit", ODLC_ERR_INVALID, XML_MAX_LEVELS, make_deep_xml, false},
    {"more than 524288 elements", "xml-limit", ODLC_ERR_INVALID, XML_MAX_ELEMENTS, make_elements, false},
    {"more than 200 attributes in one tag", "xml-limit", ODLC_ERR_INVALID, 200, make_attributes, false},
    {"more than 524288 attributes", "xml-limit", ODLC_ERR_INVALID, XML_MAX_ATTRS, make_all_attributes, false},
    {"more than 4096 different names of elements and attributes", "xml-limit", ODLC_ERR_INVALID, XML_MAX_NAMES,
     make_names, false},
    {"more than 1024 bytes in a name", "xml-limit", ODLC_ERR_INVALID, XML_MAX_NAME, make_long_name, false},
    {"more than 512 namespace declarations", "xml-limit", ODLC_ERR_INVALID, XML_MAX_NAMESPACES, make_namespaces, false},
    {"more than 65536 Operators", "udo-too-many", ODLC_ERR_INVALID, UDO_MAX_DEFINITIONS, make_definitions, false},
    {"more than 65536 definitions", "udo-too-many", ODLC_ERR_INVALID, UDO_MAX_DEFINITIONS, make_packages, false},
    {"more than 254 inputs", "udo-too-many", ODLC_ERR_INVALID, UDO_MAX_OPERANDS, make_inputs, false},
    {"more than 254 outputs", "udo-too-many", ODLC_ERR_INVALID, UDO_MAX_OPERANDS, make_outputs, false},
    {"more than 254 <Input>", "udo-too-many", ODLC_ERR_INVALID, UDO_MAX_OPERANDS, make_xml_inputs, false},
    {"more than 254 dsp_arch_types", "udo-too-many", ODLC_ERR_INVALID, UDO_MAX_OPERANDS, make_archs, false},
    {"more than 44 scalar_params", "udo-too-many", ODLC_ERR_INVALID, UDO_MAX_PARAMS, make_scalars, false},
    {"more than 44 params", "udo-too-many", ODLC_ERR_INVALID, UDO_MAX_PARAMS, make_params, false},
    {"more than 44 <Parameter>", "udo-too-many", ODLC_ERR_INVALID, UDO_MAX_PARAMS, make_xml_params, false},
    {"value of more than 8 dimensions", "udo-bad-value", ODLC_ERR_INVALID, MAX_RANK, make_rank, false},
    {"a shape is a list of at most 8 dimensions, or \"same_as in<number>\"", "udo-bad-shape", ODLC_ERR_INVALID,
     MAX_RANK, make_shape, false},
    {"rule of more than 200 characters", "udo-bad-shape", ODLC_ERR_INVALID, EXPR_MAX_LENGTH, make_rule, false},
};

START_TEST(both_sides)
{
    check_limit(&limits[_i]);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, both_sides, 0, COUNT_OF(limits));
}

int main(void)
{
    return run_suite("udo_limits", add_tests);
}
