/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/run_pairs.h"

#include "tools/error_out.h"
#include "tools/text_file.h"
#include "text/text_table.h"

void run_pairs_add(struct run_pairs *p, struct arena *arena, const struct odlc_io *tensor, const float *should,
                   const float *is)
{
    uint32_t place = map_get(&p->places, tensor->name);
    if (place == MAP_NONE) {
        place = (uint32_t)p->list.count;
        map_put(&p->places, tensor->name, place);
        vec_push(arena, &p->list, (struct run_pair){tensor->name, tensor->node, tensor->op, tensor->dtype, {0}});
    }
    quant_error_add(&p->list.data[place].error, should, is, tensor->count);
}

void run_pairs_print(const struct run_pairs *p, struct arena *arena)
{
    static const char *const headers[] = {"SQNR dB", "Cosine", "Max error", "Type", "Op", "Tensor"};
    struct table table = table_create(COUNT_OF(headers), headers);
    for (size_t i = 0; i < p->list.count; i++) {
        const struct run_pair *pair = &p->list.data[i];
        const char *const cells[] = {error_decibels(arena, &pair->error),
                                     arena_printf(arena, "%.6f", quant_error_cosine(&pair->error)),
                                     arena_printf(arena, "%.4g", pair->error.most),
                                     pair->dtype,
                                     pair->op,
                                     pair->tensor};
        struct table_row *row = table_add_row(arena, &table);
        for (size_t k = 0; k < COUNT_OF(cells); k++)
            table_add_line(arena, &table, &row->cells[k], cells[k]);
    }
    table_print(stdout, &table);
}

odlc_status run_pairs_write(const struct run_pairs *p, struct arena *arena, struct diags *diags, const char *path)
{
    struct text_stream file;
    if (!text_stream_open(&file))
        return ODLC_ERR_NOMEM;
    struct json_out j = json_out_to(file.stream, false);
    json_object(&j, NULL);
    json_string(&j, "schema", "opendlc.net-run-compare");
    json_int(&j, "schema_version", 1);
    json_string(&j, "container", p->container);
    json_string(&j, "compared", p->compared);
    json_uint(&j, "inferences", p->inferences);
    json_array(&j, "tensors");
    for (size_t i = 0; i < p->list.count; i++) {
        json_object(&j, NULL);
        json_string(&j, "tensor", p->list.data[i].tensor);
        json_string(&j, "node", p->list.data[i].node);
        json_string(&j, "op", p->list.data[i].op);
        json_string(&j, "dtype", p->list.data[i].dtype);
        json_uint(&j, "values", p->list.data[i].error.count);
        error_json(&j, "error", &p->list.data[i].error);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_end_object(&j);
    return text_file_write(arena, diags, &file, path);
}
