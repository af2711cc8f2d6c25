/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of a JSON text: what each value is, where it stands, and what slips leave no doubt about. */
#include "text/json.h"
#include "site_fixture.h"

static const struct json *parse(struct fixture *f, const char *text)
{
    struct json *json;
    ck_assert_msg(json_parse(f->arena, &f->diags, "t.json", text, strlen(text), &json) == ODLC_OK, "%s", all_diags(f));
    return json;
}

static void check_place(const struct json *json, const struct json_value *v, uint32_t line, uint32_t column,
                        const char *pointer)
{
    uint32_t found_line, found_column;
    ck_assert_ptr_nonnull(v);
    source_line_column(&json->source, v->begin, &found_line, &found_column);
    ck_assert_uint_eq(found_line, line);
    ck_assert_uint_eq(found_column, column);
    ck_assert_str_eq(json_pointer(json, v), pointer);
}

START_TEST(kinds_and_places)
{
    struct fixture f;
    fixture_start(&f);
    const struct json *json =
        parse(&f, "{\"a/b\": [1,\n  true, null, \"x\", {}],\n \"~\": {\"c\": -2.5e1}, \"e\": []}\n");
    const struct json_value *root = json->root, *list = json_child(root), *v = json_child(list);
    check_place(json, root, 1, 1, "");
    check_place(json, list, 1, 9, "/a~1b");
    ck_assert_int_eq(list->kind, JSON_ARRAY);
    ck_assert_uint_eq(list->key_begin, 1);
    check_place(json, v, 1, 10, "/a~1b/0");
    ck_assert(json_is(v, JSON_NUMBER) && v->number == 1 && v->parent == list && !v->key);
    ck_assert(json_is(v = v->next, JSON_BOOL) && v->truth);
    check_place(json, v, 2, 3, "/a~1b/1");
    ck_assert(json_is(v = v->next, JSON_NULL));
    ck_assert(json_is(v = v->next, JSON_STRING));
    ck_assert_str_eq(v->string, "x");
    ck_assert(json_is(v = v->next, JSON_OBJECT) && !json_child(v) && !v->next);
    check_place(json, v, 2, 20, "/a~1b/4");
    const struct json_value *c = json_member(json_member(root, "~"), "c");
    check_place(json, c, 3, 13, "/~0/c");
    ck_assert(json_is(c, JSON_NUMBER) && c->number == -25);
    size_t length;
    ck_assert_int_eq(strncmp(json_source(json, c, &length), "-2.5e1", 6), 0);
    ck_assert_uint_eq(length, 6);
    ck_assert_ptr_null(json_member(root, "d"));
    ck_assert_ptr_null(json_member(list, "a")); /* no object */
    ck_assert_ptr_null(json_child(json_member(root, "e")));
    ck_assert_uint_eq(f.diags.list.count, 0);
    fixture_end(&f);
}
END_TEST

START_TEST(escapes)
{
    static const char *const written[] = {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\\u0041\\u00e9\\u20ac", "\\ud83d\\ude00!",
                                          "\\uD83D\\uDE00\\uFFFD", "\xc3\xa9"};
    static const char *const meant[] = {"\"\\/\b\f\n\r\t", "A\xc3\xa9\xe2\x82\xac", "\xf0\x9f\x98\x80!",
                                        "\xf0\x9f\x98\x80\xef\xbf\xbd", "\xc3\xa9"};
    struct fixture f;
    fixture_start(&f);
    const struct json *json = parse(&f, arena_printf(f.arena, "{\"%s\": \"%s\"}", written[_i], written[_i]));
    const struct json_value *v = json_member(json->root, meant[_i]);
    ck_assert_ptr_nonnull(v);
    ck_assert_str_eq(v->string, meant[_i]);
    fixture_end(&f);
}
END_TEST

START_TEST(slips_without_doubt)
{
    struct fixture f;
    fixture_start(&f);
    const struct json *json = parse(&f, "{'a': True, # no\n \"b\": [1 2,,3,] /* no */ \"c\": FALSE,}");
    ck_assert(json_is(json_member(json->root, "a"), JSON_BOOL) && json_member(json->root, "a")->truth);
    ck_assert(json_is(json_member(json->root, "c"), JSON_BOOL) && !json_member(json->root, "c")->truth);
    const struct json_value *v = json_child(json_member(json->root, "b"));
    for (int number = 1; number <= 3; number++, v = v->next)
        ck_assert(json_is(v, JSON_NUMBER) && v->number == number);
    ck_assert_ptr_null(v);
    ck_assert_uint_eq(json->source.errors, 10);
    ck_assert_uint_eq(count_diags(&f, "json-syntax"), 10);
    fixture_end(&f);
}
END_TEST

START_TEST(numbers)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {{"0", 0}, {"-0", 0}, {"0.1", 0.1}, {"123456789012345678", 123456789012345680.0}, {"5e-324", 5e-324}};
    struct fixture f;
    fixture_start(&f);
    const struct json *json = parse(&f, cases[_i].text);
    ck_assert(json_is(json->root, JSON_NUMBER) && json->root->number == cases[_i].value);
    json = parse(&f, "1e999");
    ck_assert(json->root->number > 1.7976931348623157e308);
    fixture_end(&f);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, kinds_and_places);
    tcase_add_loop_test(t, escapes, 0, 5);
    tcase_add_test(t, slips_without_doubt);
    tcase_add_loop_test(t, numbers, 0, 5);
}

int main(void)
{
    return run_suite("json_tree", add_tests);
}
