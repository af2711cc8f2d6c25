/* SPDX-License-Identifier: Apache-2.0 */
/* What the public API tells of a conversion. */
#include "converters/driver/conversion.h"
#include "pass/pass.h"

void odlc_conversion_free(struct odlc_conversion *conversion)
{
    if (!conversion)
        return;
    struct arena *arena = conversion->shared.arena;
    arena_destroy(conversion->shared.scratch);
    arena_destroy(conversion->shared.model_arena);
    arena_destroy(arena);
}

const struct odlc_diag *odlc_conversion_diags(const struct odlc_conversion *conversion, size_t *count)
{
    *count = conversion->diags.list.count;
    return conversion->diags.list.data;
}

static struct odlc_op_report *report_ops(struct arena *arena, const struct support *support)
{
    struct odlc_op_report *ops = arena_array(arena, struct odlc_op_report, support->notes.count);
    for (size_t i = 0; i < support->notes.count; i++) {
        const struct op_note *note = &support->notes.data[i];
        ops[i] = support->ops[note->op];
        ops[i].node = note->node;
        if (note->refused && ops[i].status == ODLC_OP_NATIVE)
            ops[i].status = ODLC_OP_UNSUPPORTED;
    }
    return ops;
}

/* Few ask for them, and a report is larger than what else is known of most nodes. */
const struct odlc_op_report *odlc_conversion_ops(const struct odlc_conversion *conversion, size_t *count)
{
    struct arena *arena = conversion->shared.arena;
    *count = 0;
    if (setjmp(*arena_catch(arena)))
        return NULL;
    if (!*conversion->op_reports)
        *conversion->op_reports = report_ops(arena, &conversion->support);
    *count = conversion->support.notes.count;
    return *conversion->op_reports;
}

const struct odlc_udo_report *odlc_conversion_udo_nodes(const struct odlc_conversion *conversion, size_t *count)
{
    *count = conversion->udos.reports.count;
    return conversion->udos.reports.data;
}

const void *odlc_conversion_container(const struct odlc_conversion *conversion, size_t *size)
{
    const struct file *container = conversion->container;
    *size = container ? container->size : 0;
    return container ? container->data : NULL;
}

const char *const *odlc_conversion_inputs(const struct odlc_conversion *conversion, size_t *count)
{
    *count = conversion->input.files.paths.count;
    return conversion->input.files.paths.data;
}

const char *const *odlc_conversion_unconsumed(const struct odlc_conversion *conversion, size_t *count)
{
    *count = conversion->input.n_unconsumed;
    return conversion->input.unconsumed;
}

const char *odlc_conversion_udo_stub(const struct odlc_conversion *conversion)
{
    return conversion->outcome.udo_stub;
}

const char *odlc_conversion_target_stub(const struct odlc_conversion *conversion)
{
    return conversion->outcome.target_stub;
}

const char *odlc_conversion_dump(const struct odlc_conversion *conversion)
{
    return conversion->outcome.dumped;
}

struct odlc_conversion_summary odlc_conversion_summary(const struct odlc_conversion *conversion)
{
    return conversion->outcome.summary;
}

const char *odlc_stage_name(enum odlc_stage stage)
{
    static const char *const names[] = {[ODLC_STAGE_READ] = "reading the model",
                                        [ODLC_STAGE_CHECK] = "checking ops",
                                        [ODLC_STAGE_LOWER] = "lowering",
                                        [ODLC_STAGE_PASSES] = "passes",
                                        [ODLC_STAGE_WRITE] = "writing"};
    return names[stage];
}

const char *odlc_pass_name(size_t i)
{
    return pass_name(i);
}
