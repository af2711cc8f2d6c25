/* SPDX-License-Identifier: Apache-2.0 */
/* JSON configs change by whole members and elements. */
#include <string.h>

#include "engine.h"
#include "mutate_text.h"

static const char *const members[] = {
    "\"static\": true",
    "\"optional\": true",
    "\"repeated\": true",
    "\"default_value\": 1",
    "\"default_value\": [[0.5, -1], [2, 3]]",
    "\"default_value\": []",
    "\"default_value\": [\"a\"]",
    "\"shape\": \"same_as in0\"",
    "\"shape\": [1, \"in0[-1] * 2\"]",
    "\"shape\": []",
    "\"tensor_layout\": \"NHWC\"",
    "\"per_core_data_types\": {\"DSP\": \"UINT_8\", \"GPU\": \"FLOAT_16\"}",
    "\"per_core_data_type\": {\"GPU\": \"FLOAT_32\", \"CPU\": \"FLOAT_32\"}",
    "\"quantization_mode\": \"TF\"",
    "\"domain\": \"com.example\"",
    "\"core_types\": [\"CPU\"]",
    "\"dsp_arch_types\": [\"v81\"]",
    "\"tensor_params\": [{\"name\": \"t\", \"data_type\": \"INT_32\", \"default_value\": [1, 2]}]",
    "\"scalar_params\": [{\"name\": \"s\", \"data_type\": \"STRING\", \"default_value\": \"\"}]",
    NULL};

static const char *const elements[] = {"{}",
                                       "[]",
                                       "1",
                                       "\"CPU\"",
                                       "{\"name\": \"p\", \"data_type\": \"FLOAT_32\"}",
                                       "{\"data_type\": \"FIXED_4\"}",
                                       "{\"type\": \"Fuzz\", \"inputs\": [{}], \"outputs\": [{}]}",
                                       NULL};

static const char *const names[] = {"\"type\"",
                                    "\"domain\"",
                                    "\"inputs\"",
                                    "\"outputs\"",
                                    "\"scalar_params\"",
                                    "\"tensor_params\"",
                                    "\"core_types\"",
                                    "\"name\"",
                                    "\"dsp_arch_types\"",
                                    "\"data_type\"",
                                    "\"static\"",
                                    "\"per_core_data_types\"",
                                    "\"tensor_layout\"",
                                    "\"optional\"",
                                    "\"quantization_mode\"",
                                    "\"default_value\"",
                                    "\"repeated\"",
                                    "\"shape\"",
                                    "\"UDO_PACKAGE_NAME\"",
                                    "\"Operators\"",
                                    NULL};

static const char *const values[] = {"0",
                                     "-0",
                                     "1",
                                     "-1",
                                     "0.1",
                                     "1e-400",
                                     "1e400",
                                     "3.4e38",
                                     "255",
                                     "256",
                                     "-129",
                                     "65536",
                                     "2147483648",
                                     "-2147483649",
                                     "4294967296",
                                     "9007199254740993",
                                     "9223372036854775807",
                                     "9223372036854775808",
                                     "true",
                                     "false",
                                     "null",
                                     "\"\"",
                                     "\"FLOAT_16\"",
                                     "\"FLOAT_32\"",
                                     "\"FIXED_4\"",
                                     "\"FIXED_8\"",
                                     "\"FIXED_16\"",
                                     "\"UINT_8\"",
                                     "\"UINT_16\"",
                                     "\"UINT_32\"",
                                     "\"INT_8\"",
                                     "\"INT_16\"",
                                     "\"INT_32\"",
                                     "\"BOOL_8\"",
                                     "\"STRING\"",
                                     "\"NHWC\"",
                                     "\"NCHW\"",
                                     "\"TF\"",
                                     "\"NONE\"",
                                     "\"CPU\"",
                                     "\"GPU\"",
                                     "\"DSP\"",
                                     "\"v68\"",
                                     "\"same_as in0\"",
                                     "\"same_as in1\"",
                                     "\"in0[0]\"",
                                     "\"in1[-1] / 0\"",
                                     "\"min(in0[1], 3) % -2\"",
                                     "\"9223372036854775807 * in0[1]\"",
                                     "\"\\u0001\\ud83d\\ude00\\/\"",
                                     "\"a'b&<c>\"",
                                     NULL};

struct finder {
    const char *text;
    size_t size, at;
    struct piece *pieces;
    size_t count, most;
    unsigned depth;
};

static void add(struct finder *f, size_t start, size_t end, enum piece_kind kind)
{
    if (f->count < f->most && start < end)
        f->pieces[f->count++] = (struct piece){start, end, kind};
}

static void skip_blanks(struct finder *f)
{
    while (f->at < f->size && strchr(" \t\r\n,", f->text[f->at]))
        f->at++;
}

static void skip_string(struct finder *f)
{
    for (f->at++; f->at < f->size && f->text[f->at] != '"'; f->at++)
        f->at += f->text[f->at] == '\\' && f->at + 1 < f->size;
    f->at += f->at < f->size;
}

static void find_value(struct finder *f);

static void find_member(struct finder *f)
{
    size_t start = f->at;
    if (f->text[f->at] == '"')
        skip_string(f);
    add(f, start, f->at, PIECE_NAME);
    skip_blanks(f);
    if (f->at < f->size && f->text[f->at] == ':')
        f->at++;
    find_value(f);
    add(f, start, f->at, PIECE_MEMBER);
}

static void find_container(struct finder *f)
{
    enum { DEEPEST = 80 };
    char close = f->text[f->at++] == '{' ? '}' : ']';
    for (skip_blanks(f); f->at < f->size && f->text[f->at] != close && f->depth < DEEPEST; skip_blanks(f)) {
        size_t start = f->at;
        f->depth++;
        if (close == '}') {
            find_member(f);
        } else {
            find_value(f);
            add(f, start, f->at, PIECE_ELEMENT);
        }
        f->depth--;
        f->at += f->at == start; /* past what is no value */
    }
    f->at += f->at < f->size;
}

static void find_value(struct finder *f)
{
    skip_blanks(f);
    size_t start = f->at;
    if (f->at == f->size)
        return;
    if (f->text[f->at] == '{' || f->text[f->at] == '[') {
        find_container(f);
        return;
    }
    if (f->text[f->at] == '"')
        skip_string(f);
    else
        while (f->at < f->size && !strchr(" \t\r\n,:{}[]\"", f->text[f->at]))
            f->at++;
    add(f, start, f->at, PIECE_VALUE);
}

static size_t find_pieces(const char *text, size_t size, struct piece *pieces, size_t most)
{
    struct finder f = {.text = text, .size = size, .pieces = pieces, .most = most};
    while (f.at < size) {
        find_value(&f);
        f.at += f.at < size && strchr("}]:", text[f.at]);
    }
    return f.count;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    static const struct text_form json = {
        .find = find_pieces, .separator = ",", .words = {members, elements, names, values}};
    return mutate_text(bytes, size, max_size, seed, &json);
}
