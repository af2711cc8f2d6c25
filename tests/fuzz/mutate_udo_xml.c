/* SPDX-License-Identifier: Apache-2.0 */
/* XML configs change by whole elements. */
#include <stdbool.h>
#include <string.h>

#include "engine.h"
#include "mutate_text.h"

static const char *const elements[] = {
    "<Repeated>true</Repeated>",
    "<IsStaticTensor>1</IsStaticTensor>",
    "<Mandatory>false</Mandatory>",
    "<Default>{{1, 2}, {3, 4}}</Default>",
    "<Default>[0.5, -1e3]</Default>",
    "<Default>0.5f</Default>",
    "<Default>{}</Default>",
    "<Default>N-1</Default>",
    "<Default>\"a\"</Default>",
    "<Datatype>BACKEND_SPECIFIC</Datatype>",
    "<Datatype>STRING</Datatype>",
    "<Datatype>INT_32</Datatype>",
    "<Datatype>SFIXED_POINT_4</Datatype>",
    "<Shape><Rank>SCALAR</Rank></Shape>",
    "<Shape><Rank>1D</Rank></Shape>",
    "<Layout>NCHW</Layout>",
    "<Layout>BACKEND_SPECIFIC</Layout>",
    "<Text><b>t</b></Text>",
    "<Enumeration><Enum>A</Enum><Enum>B</Enum></Enumeration>",
    "<SupportedBackend>AIC</SupportedBackend>",
    "<SupportedBackend>CPU</SupportedBackend>",
    "<SupportedBackend>DSP</SupportedBackend>",
    "<UseDefaultTranslation>true</UseDefaultTranslation>",
    "<OnlyDefaultSupported>true</OnlyDefaultSupported>",
    "<Name>Conv2d</Name>",
    "<Constraint id=\"0\">c</Constraint>",
    "<Input><Name>n</Name><Mandatory>true</Mandatory><Datatype>FLOAT_16</Datatype><Shape><Rank>ND</Rank></Shape></"
    "Input>",
    "<Parameter><Name>q</Name><Mandatory>false</Mandatory><Datatype>INT_32</Datatype><Shape><Rank>SCALAR</Rank></Shape>"
    "<Default>-1</Default></Parameter>",
    "<SupplementalOpDefList Backend=\"GPU\"><SupportedOps><OpName>T</OpName></SupportedOps></SupplementalOpDefList>",
    "<!-- c -->",
    "<?p <!-- ?>",
    "<![CDATA[<a b=''/>]]>",
    "<Repeated/>",
    "<Layout></Layout>",
    "<SupportedBackend>DSP_V68</SupportedBackend>",
    "<b xmlns:n='u' n:c='' d=''/>",
    NULL};

static const char *const values[] = {"T",
                                     "x",
                                     "y",
                                     "true",
                                     "false",
                                     "0",
                                     "1",
                                     "-1",
                                     "0.1",
                                     "1e400",
                                     "256",
                                     "N-1",
                                     "65536",
                                     "2147483648",
                                     "9223372036854775807",
                                     "9223372036854775808",
                                     "18446744073709551616",
                                     "{",
                                     "{1,{2}}",
                                     "{,}",
                                     "\"a\"",
                                     "'",
                                     "&lt;",
                                     "&#x10FFFF;",
                                     "<![CDATA[<]]>",
                                     "INT_8",
                                     "INT_16",
                                     "INT_32",
                                     "INT_64",
                                     "UINT_8",
                                     "UINT_16",
                                     "UINT_32",
                                     "UINT_64",
                                     "FLOAT_16",
                                     "FLOAT_32",
                                     "BOOL_8",
                                     "STRING",
                                     "QNN_DATATYPE_UFIXED_POINT_8",
                                     "SFIXED_POINT_4",
                                     "SFIXED_POINT_16",
                                     "UFIXED_POINT_32",
                                     "BACKEND_SPECIFIC",
                                     "SCALAR",
                                     "0D",
                                     "1D",
                                     "4D",
                                     "ND",
                                     "NHWC",
                                     "NCHW",
                                     "NHCW",
                                     "NDHWC",
                                     "NONTRIVIAL",
                                     "CPU",
                                     "GPU",
                                     "DSP",
                                     "HTP",
                                     "AIC",
                                     "Concat",
                                     "Conv2d",
                                     "UNDEFINED",
                                     NULL};

static const char *const names[] = {"PackageName", "Domain",  "Version",  "UseQHPI",
                                    "Backend",     "Runtime", "xml:lang", NULL};

struct finder {
    const char *text;
    size_t size;
    struct piece *pieces;
    size_t count, most;
};

static void add(struct finder *f, size_t start, size_t end, enum piece_kind kind)
{
    if (f->count < f->most && start < end)
        f->pieces[f->count++] = (struct piece){start, end, kind};
}

static size_t find_char(const struct finder *f, size_t at, char c)
{
    const char *found = at < f->size ? memchr(f->text + at, c, f->size - at) : NULL;
    return found ? (size_t)(found - f->text) : f->size;
}

/* Names and values of the attributes between a tag's name and its end. */
static void find_attrs(struct finder *f, size_t at, size_t end)
{
    while (at < end && f->text[at] != ' ')
        at++;
    while (at < end) {
        size_t start = at + 1, equals = find_char(f, at, '=');
        if (equals + 1 >= end)
            return;
        size_t close = find_char(f, equals + 2, f->text[equals + 1]);
        if (close >= end)
            return;
        add(f, start, equals, PIECE_NAME);
        add(f, equals + 2, close, PIECE_VALUE);
        at = close + 1;
    }
}

static size_t find_pieces(const char *text, size_t size, struct piece *pieces, size_t most)
{
    enum { DEEPEST = 80 };
    struct finder f = {.text = text, .size = size, .pieces = pieces, .most = most};
    size_t open[DEEPEST], depth = 0;
    for (size_t at = find_char(&f, 0, '<'); at < size;) {
        size_t end = find_char(&f, at, '>');
        bool closes = at + 1 < size && text[at + 1] == '/', single = end > at && text[end - 1] == '/';
        end += end < size;
        if (single || (at + 1 < size && strchr("!?", text[at + 1]))) {
            add(&f, at, end, PIECE_ELEMENT);
        } else if (!closes && depth < DEEPEST) {
            find_attrs(&f, at, end);
            open[depth++] = at;
        } else if (closes && depth) {
            add(&f, open[--depth], end, PIECE_ELEMENT);
        }
        at = find_char(&f, end, '<');
        add(&f, end, at, PIECE_VALUE);
    }
    return f.count;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    static const struct text_form xml = {
        .find = find_pieces, .separator = "", .words = {NULL, elements, names, values}};
    return mutate_text(bytes, size, max_size, seed, &xml);
}
