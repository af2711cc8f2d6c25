/* SPDX-License-Identifier: Apache-2.0 */
/* Files of one tensor change in their form: headers of .npy files stay headers, messages stay messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "engine.h"
#include "mutate_wire.h"
#include "onnx.pb-c.h"
#include "tensorflow.pb-c.h"

enum { HEAD = 2, LONGEST = 256 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#define PICK(state, list) (list)[next_random(state) % COUNT_OF(list)]

/* A dictionary, mostly a whole one. Returns how many bytes its elements take. */
static uint64_t make_header(char *text, uint32_t *state)
{
    static const char *const types[] = {"|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4",
                                        "<u8", "<f2", "<f4", "<f8", ">f4", "|O",  "<c8", "<f16"};
    static const char *const orders[] = {"False", "True", "False", "True", "None", ""};
    static const char *const dims[] = {
        "0", "1", "2", "3", "7", "1", "2", "3", "-1", "4294967296", "9223372036854775807"};
    static const char *const forms[] = {"{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }",
                                        "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }",
                                        "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }",
                                        "{ 'descr' :'%s','fortran_order' :%s,'shape' :(%s)}",
                                        "{'descr': '%s', 'fortran_order': %s, 'shape': (%s"};
    char shape[LONGEST] = "";
    const char *type = PICK(state, types);
    uint64_t size = (uint64_t)(type[2] - '0');
    for (uint32_t rank = next_random(state) % 4 == 0 ? next_random(state) % 10 : next_random(state) % 4; rank > 0;
         rank--) {
        const char *dim = PICK(state, dims);
        size *= (uint64_t)strtoll(dim, NULL, 10);
        strcat(strcat(shape, dim), ", ");
    }
    const char *form = PICK(state, forms);
    snprintf(text, 2 * LONGEST, form, type, PICK(state, orders), shape);
    return size;
}

static size_t make_npy(uint8_t *bytes, size_t size, size_t max_size, uint32_t *state)
{
    char text[2 * LONGEST];
    uint64_t wanted = make_header(text, state);
    uint8_t version = next_random(state) % 8 ? (uint8_t)(1 + next_random(state) % 3) : (uint8_t)next_random(state);
    size_t width = version == 1 ? 2 : 4, length = strlen(text), start = 8 + width + length;
    if (start > max_size)
        return LLVMFuzzerMutate(bytes, size, max_size);
    size_t told = next_random(state) % 8 ? length : length + next_random(state) % 5 - 2;
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = version;
    for (size_t i = 0; i < 1 + width; i++)
        bytes[7 + i] = i ? (uint8_t)(told >> (8 * (i - 1))) : 0;
    memcpy(bytes + 8 + width, text, length);
    uint64_t data = wanted <= max_size - start ? wanted : max_size - start;
    data = next_random(state) % 8 || !data ? data : data - 1;
    for (uint64_t i = 0; i < data; i++)
        bytes[start + i] = (uint8_t)next_random(state);
    return start + data;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    enum { NPY = 0, ONNX_PB = 2, TENSORFLOW_PB = 3, FORMS = 6 };
    static const struct wire_language languages[FORMS] = {
        [ONNX_PB] = {.message = &onnx__tensor_proto__descriptor},
        [TENSORFLOW_PB] = {.message = &tensorflow__tensor_proto__descriptor}};
    uint32_t state = seed;
    if (size < HEAD || max_size < HEAD || next_random(&state) % 16 == 0)
        return LLVMFuzzerMutate(bytes, size, max_size);
    if (next_random(&state) % 4 == 0)
        bytes[1] = (uint8_t)next_random(&state); /* another input */
    uint8_t *file = bytes + HEAD;
    unsigned form = bytes[0] % FORMS;
    if (form == NPY && next_random(&state) % 2)
        return HEAD + make_npy(file, size - HEAD, max_size - HEAD, &state);
    if (languages[form].message && next_random(&state) % 4)
        return HEAD + mutate_wire(file, size - HEAD, max_size - HEAD, next_random(&state), &languages[form]);
    return HEAD + LLVMFuzzerMutate(file, size - HEAD, max_size - HEAD);
}
