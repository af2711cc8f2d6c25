/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/onnx/decode/onnx_opsets.h"

#include <inttypes.h>

const char *decode_domain(const char *domain)
{
    return strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

static void warn_of_newer_opset(struct decode *d, int64_t version)
{
    if (version > ONNX_MAX_OPSET && !d->warned_opset)
        diag_warn(d->diags, AT(IN_MODEL(d)), "onnx-opset",
                  "the model uses opset %" PRId64 ", newer than the newest known one, %d, whose meanings are used",
                  version, ONNX_MAX_OPSET);
    d->warned_opset |= version > ONNX_MAX_OPSET;
}

static void import_opset(struct decode *d, struct opsets *opsets, const char *domain, int64_t version)
{
    if (version <= 0)
        decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-opset",
                     "the import of domain '%s' has version %" PRId64, domain, version);
    else if (!domain[0])
        warn_of_newer_opset(d, version);
    uint32_t known = map_add(&opsets->index, domain, (uint32_t)opsets->versions.count);
    if (known == MAP_NONE)
        vec_push(d->memory.scratch, &opsets->versions, version);
    else if (opsets->versions.data[known] != version)
        decode_error(d, ODLC_ERR_INVALID, AT(IN_MODEL(d)), "onnx-opset",
                     "domain '%s' is imported with the versions %" PRId64 " and %" PRId64, domain,
                     opsets->versions.data[known], version);
}

static struct opsets no_opsets(struct decode *d)
{
    struct opsets opsets = {.number = d->n_opsets++};
    map_init(&opsets.index, d->memory.scratch);
    return opsets;
}

void assume_opset(struct decode *d, int64_t version, struct opsets *out)
{
    *out = no_opsets(d);
    import_opset(d, out, "", version);
}

void decode_opsets(struct decode *d, const struct sections *s, uint32_t number, struct opsets *out)
{
    struct wire imports = wire_section(d->file, s, number);
    struct wire_field import, f;
    *out = no_opsets(d);
    while (wire_next_of(&imports, number, &import)) {
        const char *domain = "";
        int64_t version = 0;
        struct wire w = wire_in(d->file, &import);
        while (wire_next(&w, &f)) {
            if (f.number == OPSET_DOMAIN)
                domain = decode_domain(names_text(&d->names, decode_name(d, &f)));
            else if (f.number == OPSET_VERSION)
                version = (int64_t)f.value;
        }
        import_opset(d, out, domain, version);
    }
}

int64_t opsets_version(const struct opsets *opsets, const char *domain)
{
    uint32_t i = map_get(&opsets->index, domain);
    return i == MAP_NONE ? 0 : opsets->versions.data[i];
}
