/* SPDX-License-Identifier: Apache-2.0 */
/* Files that nobody means well with: a clear error, within 64 MiB. The time is only printed. */
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "udo_fixture.h"

enum { MEGABYTE = 1 << 20, LIMIT = 64 * MEGABYTE };

#if defined(__SANITIZE_ADDRESS__)
enum { LIMITED = 0 }; /* the sanitizer's own memory is beyond any limit */
#else
enum { LIMITED = 1 };
#endif

/* Lets the process have no more than `bytes` beyond what it has. */
static void limit_memory(size_t bytes)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    ck_assert(f && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &(struct rlimit){most, RLIM_INFINITY}), 0);
}

/* The first error of a text, which must be refused. */
static void refused(const char *what, const char *text, size_t size, const char *code)
{
    struct fixture f;
    if (LIMITED)
        limit_memory(LIMIT);
    fixture_start(&f);
    clock_t start = clock();
    if (setjmp(*arena_catch(f.arena)))
        ck_abort_msg("%s: memory is exhausted", what);
    odlc_status status = udo_parse(&f.set, "hostile", text, size);
    printf("%s: %zu bytes, %.3f s\n", what, size, (double)(clock() - start) / CLOCKS_PER_SEC);
    ck_assert_int_ne(status, ODLC_OK);
    const struct odlc_diag *d = &f.diags.list.data[0];
    ck_assert_uint_le(f.diags.list.count, 210);
    ck_assert_msg(!code || strcmp(d->code, code) == 0, "%s: [%s] %s", what, d->code, d->message);
    fixture_end(&f);
}

static char *repeated(const char *piece, size_t size, size_t *length)
{
    size_t step = strlen(piece);
    char *text = malloc(size + step + 1);
    ck_assert_ptr_nonnull(text);
    for (*length = 0; *length < size; *length += step)
        memcpy(text + *length, piece, step);
    text[*length] = '\0';
    return text;
}

static void refused_file(const char *what, const char *before, const char *piece, size_t size, const char *after,
                         const char *code)
{
    size_t length;
    char *middle = repeated(piece, size, &length);
    size_t total = strlen(before) + length + strlen(after);
    char *text = malloc(total + 1);
    ck_assert_ptr_nonnull(text);
    memcpy(text, before, strlen(before));
    memcpy(text + strlen(before), middle, length);
    memcpy(text + strlen(before) + length, after, strlen(after) + 1);
    free(middle);
    refused(what, text, total, code);
    free(text);
}

START_TEST(billion_laughs)
{
    const char *text =
        "<?xml version='1.0'?>\n<!DOCTYPE lolz [<!ENTITY lol 'lol'><!ENTITY a '&lol;&lol;&lol;&lol;&lol;'>"
        "<!ENTITY b '&a;&a;&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;&b;&b;'>]><OpDefCollection>&c;"
        "</OpDefCollection>";
    refused("billion laughs", text, strlen(text), "xml-doctype");
}
END_TEST

START_TEST(external_entity)
{
    const char *text = "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><OpDefCollection>&x;</OpDefCollection>";
    refused("external entity", text, strlen(text), "xml-doctype");
}
END_TEST

START_TEST(deep)
{
    refused_file("deep elements", "", "<OpDefCollection>", 10 * MEGABYTE, "", "xml-limit");
    refused_file("deep lists", "", "[", MEGABYTE, "", "json-syntax");
    refused_file("deep default",
                 "<OpDefCollection PackageName='P'><OpDefList><OpDef><Name>T</Name><Parameter><Name>a</Name><Mandatory>"
                 "false</Mandatory><Datatype>INT_32</Datatype><Shape><Rank>1D</Rank></Shape><Default>",
                 "{", MEGABYTE, "</Default></Parameter></OpDef></OpDefList></OpDefCollection>", NULL);
}
END_TEST

START_TEST(many)
{
    refused_file("many elements", "<OpDefCollection>", "<a/>", 10 * MEGABYTE, "</OpDefCollection>", NULL);
    refused_file("many attributes", "<OpDefCollection ", "a='1' ", MEGABYTE, "/>", "xml-limit");
    refused_file("many tags with attributes", "<OpDefCollection>", "<a b='' c=''/>", 15 * MEGABYTE,
                 "</OpDefCollection>", "xml-limit");
    refused_file("many namespaces", "<OpDefCollection>", "<a xmlns:b=''/>", 15 * MEGABYTE, "</OpDefCollection>",
                 "xml-limit");
    refused_file("many definitions", "<OpDefCollection PackageName='P'><OpDefList>", "<OpDef/>", MEGABYTE,
                 "</OpDefList></OpDefCollection>", NULL);
    refused_file("many supplements", "<OpDefCollection><SupplementalOpDefList Backend='HTP'>",
                 "<SupplementalOpDef><Name>T</Name></SupplementalOpDef>", MEGABYTE,
                 "</SupplementalOpDefList></OpDefCollection>", NULL);
}
END_TEST

/* Names that all differ, 16 to 24 bytes each. */
static void refused_names(const char *what, const char *format)
{
    static const char end[] = "</OpDefCollection>";
    enum { LONGEST = 24, NAMES = 15 * MEGABYTE / LONGEST };
    char *text = malloc(NAMES * LONGEST + 64);
    ck_assert_ptr_nonnull(text);
    size_t length = (size_t)sprintf(text, "<OpDefCollection>");
    for (unsigned i = 0; i < NAMES; i++)
        length += (size_t)sprintf(text + length, format, i);
    memcpy(text + length, end, sizeof end);
    refused(what, text, length + sizeof end - 1, "xml-limit");
    free(text);
}

START_TEST(many_names)
{
    refused_names("names of attributes", "<a b%07x=''/>");
    refused_names("names of elements", "<a%07x/>");
    refused_names("names of instructions", "<?a%07x?>");
    refused_names("names behind what looks like a comment", "<?a <!--?><c%x/>");
    refused_names("prefixes", "<a%07x:b/>");
}
END_TEST

START_TEST(long_words)
{
    refused_file("a long name", "<", "a", 10 * MEGABYTE, "/>", "xml-limit");
    refused_file("a long number",
                 "<OpDefCollection PackageName='P'><OpDefList><OpDef><Name>T</Name><Parameter><Name>a</Name><Mandatory>"
                 "false</Mandatory><Datatype>INT_32</Datatype><Shape><Rank>SCALAR</Rank></Shape><Default>",
                 "9", MEGABYTE, "</Default></Parameter></OpDef></OpDefList></OpDefCollection>", NULL);
}
END_TEST

START_TEST(bytes)
{
    static const char nul[] = "<OpDefCollection\0PackageName='P'/>";
    refused("a NUL byte", nul, sizeof nul - 1, "xml-syntax");
    static const char utf16[] = "\xff\xfe<\0O\0p\0>\0";
    refused("UTF-16", utf16, sizeof utf16 - 1, NULL);
    refused("bytes that are not UTF-8", "<a>\xc3(\x80</a>", 11, "xml-syntax");
    refused("nothing", "", 0, "json-syntax");
    refused("only a bracket", "<", 1, "xml-syntax");
}
END_TEST

START_TEST(garbage)
{
    size_t size = 10 * MEGABYTE;
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    uint32_t seed = 1;
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        text[i] = (char)(seed >> 24);
    }
    refused("garbage", text, size, NULL);
    text[0] = '<';
    refused("garbage after <", text, size, NULL);
    for (size_t i = 0; i < size; i++)
        text[i] = "<>/='\"& a1\n;![]-"[(unsigned char)text[i] % 16];
    text[0] = '<';
    text[1] = 'a';
    refused("garbage of markup", text, size, NULL);
    free(text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("udo_hostile");
    TCase *t = tcase_create("hostile");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, billion_laughs);
    tcase_add_test(t, external_entity);
    tcase_add_test(t, deep);
    tcase_add_test(t, many);
    tcase_add_test(t, many_names);
    tcase_add_test(t, long_words);
    tcase_add_test(t, bytes);
    tcase_add_test(t, garbage);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
