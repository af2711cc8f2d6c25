/* SPDX-License-Identifier: Apache-2.0 */
#include "api/quantizer_options.h"

#include <string.h>

#include "base/struct_members.h"
#include "base/struct_size.h"

static const struct odlc_quantize_options defaults = {
    .struct_size = sizeof defaults,
#define ODLC_DECLARE(type, member, initial) .member = (initial),
#include "opendlc/quantize_options.def"
};

void odlc_quantize_defaults(struct odlc_quantize_options *options, size_t struct_size)
{
    struct_set_defaults(options, struct_size, &defaults, sizeof defaults);
}

const struct odlc_member *odlc_quantize_members(size_t *count, size_t *size)
{
    static const struct odlc_member members[] = {
#define ODLC_DECLARE(type, member, initial) \
    {#member, MEMBER_KIND(type), offsetof(struct odlc_quantize_options, member)},
#include "opendlc/quantize_options.def"
    };
    *count = COUNT_OF(members);
    *size = sizeof(struct odlc_quantize_options);
    return members;
}

/* ---- copies ---- */

static void copy_text(struct arena *arena, const char **text)
{
    *text = *text ? arena_strdup(arena, *text) : NULL;
}

static void copy_names(struct arena *arena, const char *const **names, size_t count)
{
    const char **copy = arena_array(arena, const char *, count);
    for (size_t i = 0; i < count; i++)
        copy[i] = arena_strdup(arena, (*names)[i]);
    *names = copy;
}

static void copy_pointers(struct arena *arena, struct odlc_quantize_options *o)
{
    const char **const texts[] = {&o->act_schema,         &o->weights_schema, &o->act_calibrator,
                                  &o->weights_calibrator, &o->overrides,      &o->udo_core};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        copy_text(arena, texts[i]);
    copy_names(arena, &o->keep_float, o->n_keep_float);
    copy_names(arena, &o->keep_io, o->n_keep_io);
    copy_names(arena, &o->widen, o->n_widen);
    copy_names(arena, &o->widen_weights, o->n_widen_weights);
    copy_names(arena, &o->packages, o->n_packages);
}

static odlc_status adopt(struct arena *arena, struct diags *diags, const struct odlc_quantize_options *given,
                         struct odlc_quantize_options *own)
{
    const size_t size = given->struct_size, least = offsetof(struct odlc_quantize_options, act_bits) + sizeof(int);
    *own = defaults;
    if (size < least)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = "odlc_quantize_defaults sets it"), "struct-size",
                          "no version of struct odlc_quantize_options has %zu bytes", size);
    if (struct_says_more(given, sizeof *own, size))
        return diag_error(diags, ODLC_ERR_USAGE,
                          AT(.hint = "run the program with the library that it was compiled for, or a newer one"),
                          "struct-size", "the options have something beyond the %zu bytes that this library knows",
                          sizeof *own);
    memcpy(own, given, size < sizeof *own ? size : sizeof *own);
    copy_pointers(arena, own);
    return ODLC_OK;
}

/* ---- values ---- */

struct word {
    const char *member, *given;
    const char *const *words;
    size_t count;
};

static odlc_status read_word(struct arena *arena, struct diags *diags, const struct word *word, uint32_t *out)
{
    text known = {0};
    if (!word->given)
        return ODLC_OK;
    for (size_t i = 0; i < word->count; i++) {
        text_add(arena, &known, "%s%s", i ? ", " : "", word->words[i]);
        if (strcmp(word->given, word->words[i]) == 0) {
            *out = (uint32_t)i;
            return ODLC_OK;
        }
    }
    return diag_error(diags, ODLC_ERR_USAGE, AT(.hint = known.data), "option-value", "%s: there is no %s", word->member,
                      word->given);
}

static odlc_status read_words(struct arena *arena, struct diags *diags, const struct odlc_quantize_options *o,
                              struct quantize_options *out)
{
    static const char *const schemas[] = {"asymmetric", "symmetric", "unsignedsymmetric"};
    static const char *const calibrators[] = {
#define CALIBRATOR(id, name, function, takes_histogram) name,
#include "quantize/quant_calibrators.def"
    };
    static const char *const cores[] = {"CPU", "GPU", "DSP"};
    uint32_t found[5] = {0, 0, 0, 0, COUNT_OF(cores) - 1};
    const struct word words[] = {
        {"act_schema", o->act_schema, schemas, COUNT_OF(schemas)},
        {"weights_schema", o->weights_schema, schemas, COUNT_OF(schemas)},
        {"act_calibrator", o->act_calibrator, calibrators, COUNT_OF(calibrators)},
        {"weights_calibrator", o->weights_calibrator, calibrators, COUNT_OF(calibrators)},
        {"udo_core", o->udo_core, cores, COUNT_OF(cores)},
    };
    for (size_t i = 0; i < COUNT_OF(words); i++)
        TRY(read_word(arena, diags, &words[i], &found[i]));
    out->act_schema = (enum quantize_schema)found[0];
    out->weights_schema = (enum quantize_schema)found[1];
    out->act_calibrator = (enum quantize_calibrator)found[2];
    out->weights_calibrator = (enum quantize_calibrator)found[3];
    out->udo_core = cores[found[4]];
    return ODLC_OK;
}

struct number {
    const char *member;
    int given;
    int allowed[4]; /* 0 at the end */
};

static odlc_status check_number(struct diags *diags, const struct number *n)
{
    for (size_t i = 0; n->allowed[i]; i++)
        if (n->given == n->allowed[i])
            return ODLC_OK;
    return diag_error(diags, ODLC_ERR_USAGE, AT(.file = NULL), "option-value", "%s: there is no width of %d bits",
                      n->member, n->given);
}

static odlc_status read_numbers(struct diags *diags, const struct odlc_quantize_options *o,
                                struct quantize_options *out)
{
    const int weights = o->weights_bits ? o->weights_bits : o->act_bits;
    const int bias = o->bias_bits ? o->bias_bits : o->product_bias ? 32 : 8;
    const struct number numbers[] = {
        {"act_bits", o->act_bits, {8, 16}},
        {"weights_bits", weights, {4, 8, 16}},
        {"bias_bits", bias, {8, 32}},
        {"float_bits", o->float_bits ? o->float_bits : 32, {16, 32}},
        {"float_bias_bits", o->float_bias_bits ? o->float_bias_bits : 32, {16, 32}},
    };
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        TRY(check_number(diags, &numbers[i]));
    if (!(o->percentile > 50 && o->percentile <= 100))
        return diag_error(diags, ODLC_ERR_USAGE, AT(.file = NULL), "option-value",
                          "percentile: a number above 50, 100 at most, not %g", o->percentile);
    if ((o->least_step || o->greatest_step) &&
        (o->least_step >= 0 || o->least_step < -0x8000 || o->greatest_step <= 0 || o->greatest_step > 0x7FFF))
        return diag_error(diags, ODLC_ERR_USAGE, AT(.file = NULL), "option-value",
                          "least_step and greatest_step: %d to %d is not a range of integers", o->least_step,
                          o->greatest_step);
    if (o->threads < 1 || o->threads > 256)
        return diag_error(diags, ODLC_ERR_USAGE, AT(.file = NULL), "option-value", "threads: 1 to 256, not %d",
                          o->threads);
    out->act_bits = (uint32_t)o->act_bits;
    out->weights_bits = (uint32_t)weights;
    out->bias_bits = (uint32_t)bias;
    out->float_bits = (uint32_t)o->float_bits;
    out->float_bias_bits = (uint32_t)o->float_bias_bits;
    return ODLC_OK;
}

odlc_status quantizer_options_read(struct arena *arena, struct diags *diags, const struct odlc_quantize_options *given,
                                   struct odlc_quantize_options *own, struct quantize_options *out)
{
    TRY(adopt(arena, diags, given ? given : &defaults, own));
    *out = (struct quantize_options){
        .per_channel = own->per_channel,
        .per_row = own->per_row,
        .percentile = own->percentile,
        .improvements = (own->equalize ? IMPROVE_EQUALIZE : 0u) | (own->round_weights ? IMPROVE_ROUND : 0u) |
                        (own->correct_biases ? IMPROVE_CORRECT : 0u),
        .ignore_encodings = own->ignore_encodings,
        .overrides = own->overrides,
        .keep_float = own->keep_float,
        .n_keep_float = own->n_keep_float,
        .float_fallback = own->float_fallback,
        .keep_io = own->keep_io,
        .n_keep_io = own->n_keep_io,
        .keeps_all_io = own->keep_all_io,
        .fixed_weights = own->fixed_weights,
        .float_weights = own->float_weights,
        .fixed_ranges = own->fixed_ranges,
        .product_bias = own->product_bias,
        .per_row_bias = own->per_row_bias,
        .least_step = own->least_step,
        .greatest_step = own->greatest_step,
        .widen = own->widen,
        .n_widen = own->n_widen,
        .widen_weights = own->widen_weights,
        .n_widen_weights = own->n_widen_weights,
        .wide_products = own->wide_products,
        .packs_4_bits = own->pack_4_bits,
    };
    TRY(read_words(arena, diags, own, out));
    return read_numbers(diags, own, out);
}
