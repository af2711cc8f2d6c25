/* SPDX-License-Identifier: Apache-2.0 */
/* Configs and graphs in a process whose locale writes numbers with commas: what they mean does not change. */
#include "op/graph_text.h"
#include "tests/support/comma_locale.h"
#include "udo/udo_write.h"
#include "udo_xml.h"

#define SCALAR(default_value) PARAM("a", "false", "FLOAT_32", "SCALAR", "<Default>" default_value "</Default>")

static const struct param *default_of(const struct fixture *f)
{
    return f->set.defs.data[0]->scalar_params[0].default_value;
}

START_TEST(xml_default)
{
    struct fixture f;
    fixture_start(&f);
    load_def(&f, COLLECTION("<OpDefList>" OPDEF(SCALAR("-12.5")) "</OpDefList>"));
    ck_assert_double_eq(default_of(&f)->f, -12.5);
    fixture_end(&f);
}
END_TEST

START_TEST(json_default)
{
    struct site_fixture s;
    start(&s, DEFINE(X, ", 'scalar_params': [{'name': 'a', 'data_type': 'FLOAT_32', 'default_value': 0.375}]"));
    ck_assert_double_eq(default_of(&s.f)->f, 0.375);
    end(&s);
}
END_TEST

START_TEST(written_and_read_again)
{
    static const enum udo_form forms[] = {UDO_JSON, UDO_XML};
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct fixture f, again;
        text written;
        fixture_start(&f);
        fixture_start(&again);
        load_def(&f, COLLECTION("<OpDefList>" OPDEF(SCALAR("0.25")) "</OpDefList>"));
        ck_assert_int_eq(udo_write(&f.set, forms[i], &written), ODLC_OK);
        ck_assert_msg(strstr(written.data, "0.25") != NULL, "%s", written.data);
        ck_assert_int_eq(udo_parse(&again.set, "again", written.data, written.count), ODLC_OK);
        ck_assert_double_eq(default_of(&again)->f, 0.25);
        fixture_end(&f);
        fixture_end(&again);
    }
}
END_TEST

START_TEST(graph_text)
{
    static const char model[] = "graph \"g\"\ninput \"x\" float32[2]\nconst \"b\" float32[2] {0.5, -1.25}\n"
                                "node \"n\" Concat (\"x\", \"b\") {axis=0} -> \"y\" float32[4]\noutput \"y\"\n";
    struct fixture f;
    struct graph *g;
    fixture_start(&f);
    odlc_status status = graph_parse(f.arena, &f.diags, op_registry_new(f.arena), model, &g);
    ck_assert_msg(status == ODLC_OK, "%s", all_diags(&f));
    ck_assert_str_eq(graph_print(f.arena, g), model);
    fixture_end(&f);
}
END_TEST

START_TEST(messages)
{
    struct fixture f;
    text t = {0};
    fixture_start(&f);
    text_add(f.arena, &t, "%g of %.3f", 0.5, 2.0);
    ck_assert_str_eq(t.data, "0.5 of 2.000");
    ck_assert_str_eq(arena_printf(f.arena, "%g", 1e-3), "0.001");
    /* The host keeps its own. */
    char hosts[8];
    snprintf(hosts, sizeof hosts, "%.1f", 0.5);
    ck_assert_str_eq(hosts, "0,5");
    fixture_end(&f);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, xml_default);
    tcase_add_test(t, json_default);
    tcase_add_test(t, written_and_read_again);
    tcase_add_test(t, graph_text);
    tcase_add_test(t, messages);
}

enum { SKIPPED = 77 };

int main(void)
{
    return choose_comma_locale() ? run_suite("udo_locale", add_tests) : SKIPPED;
}
