/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/convert_json.h"

#include "text/json_out.h"

static const char *const statuses[] = {"native", "udo", "unsupported"};

static void write_ops(struct json_out *j, const struct odlc_op_report *ops, size_t count)
{
    json_array(j, "ops");
    for (size_t i = 0; i < count; i++) {
        json_object_inline(j, NULL);
        json_string(j, "status", statuses[ops[i].status]);
        json_string(j, "domain", ops[i].domain);
        json_string(j, "op_type", ops[i].op_type);
        json_int(j, "version", ops[i].version);
        json_string(j, "node", ops[i].node);
        json_string(j, "package", ops[i].package);
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_counts(struct json_out *j, const struct odlc_op_report *ops, size_t count)
{
    size_t of[COUNT_OF(statuses)] = {0};
    for (size_t i = 0; i < count; i++)
        of[ops[i].status]++;
    for (size_t i = 0; i < COUNT_OF(statuses); i++)
        json_uint(j, statuses[i], of[i]);
}

odlc_status convert_print_json(FILE *stream, const struct odlc_conversion *conversion,
                               const struct odlc_convert_options *options, bool converts)
{
    const struct odlc_conversion_summary sum = odlc_conversion_summary(conversion);
    size_t count;
    const struct odlc_op_report *ops = odlc_conversion_ops(conversion, &count);
    if (!ops)
        return ODLC_ERR_NOMEM;
    struct json_out j = json_out_to(stream, false);
    json_object(&j, NULL);
    json_string(&j, "schema", "opendlc.conversion");
    json_int(&j, "schema_version", 1);
    json_string(&j, "model", options->input);
    json_bool(&j, "dry_run", options->dry_run);
    json_bool(&j, "converts", converts);
    json_object_inline(&j, "model_ops");
    write_counts(&j, ops, count);
    json_end_object(&j);
    if (options->dry_run) {
        write_ops(&j, ops, count);
    } else {
        json_string(&j, "container", options->output);
        json_uint(&j, "container_ops", sum.ops);
        json_uint(&j, "container_udo_ops", sum.udo_ops);
        json_uint(&j, "permutes_inserted", sum.permutes_inserted);
        json_uint(&j, "constant_bytes", sum.static_bytes);
    }
    json_end_object(&j);
    return ODLC_OK;
}
