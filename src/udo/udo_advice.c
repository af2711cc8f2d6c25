/* SPDX-License-Identifier: Apache-2.0 */
/* What is odd about a definition without being wrong: its author most likely means something else. */
#include "text/source.h"
#include "udo/site.h"
#include "udo/udo_cores.h"

struct advice {
    struct udo_set *set;
    struct source *source;
    const struct udo_def *def;
    bool dsp;
};

static void advise(const struct advice *a, const struct udo_place *place, const char *hint, const char *code,
                   const char *format, ...) PRINTF_LIKE(5, 6);

static void advise(const struct advice *a, const struct udo_place *place, const char *hint, const char *code,
                   const char *format, ...)
{
    bool shown = source_shows_warnings(a->source);
    a->source->warnings++;
    if (!shown)
        return;
    va_list args;
    va_start(args, format);
    const char *message = arena_vprintf(a->set->arena, format, args);
    va_end(args);
    const struct odlc_diag at = udo_at(place, hint);
    diag_warn(a->set->diags, &at, code, "%s", message);
}

static const char *label_of(const struct advice *a, const char *kind, uint32_t i, const struct udo_tensor *t)
{
    return t->name ? arena_printf(a->set->arena, "%s %u ('%s')", kind, i, t->name)
                   : arena_printf(a->set->arena, "%s %u", kind, i);
}

static void advise_tensors(const struct advice *a, const char *kind, const struct udo_tensor *tensors, uint32_t count)
{
    const struct udo_def *def = a->def;
    for (uint32_t i = 0; i < count; i++) {
        const struct udo_tensor *t = &tensors[i];
        const char *label = label_of(a, kind, i, t);
        int rank = declared_rank(t);
        for (int core = 0; core < UDO_CORES; core++)
            if (def->cores && t->core_dtypes[core] != DT_NONE && !(def->cores & 1u << core))
                advise(a, &t->place, "list the core, or remove its type", "udo-unlisted-core",
                       "%s of '%s' has a type for %s, which core_types does not list", label, def->type,
                       udo_core_names[core]);
        if (rank >= 0 && !layout_fits(t->layout, (uint32_t)rank))
            advise(a, &t->place, "layouts are those of images, of rank 3 to 5: the tensor is taken as it is",
                   "udo-layout-rank", "%s of '%s' is declared %s, but has rank %d", label, def->type,
                   t->layout == UDO_LAYOUT_NCHW ? "NCHW" : "NHWC", rank);
        if (t->repeated && a->dsp)
            advise(a, &t->place, "list as many as the nodes have", "udo-repeated-dsp",
                   "%s of '%s' is repeated, which packages for the DSP do not support", label, def->type);
    }
}

void udo_advise(struct udo_set *set, struct source *source, const struct udo_def *def, bool dsp)
{
    const struct advice a = {set, source, def, dsp};
    if (dsp && !def->n_dsp_arch_types)
        advise(&a, &def->place,
               udo_words_of(&def->place, "give \"dsp_arch_types\", such as [\"v68\", \"v73\"]",
                            "name it in <SupportedBackend>, such as DSP_V68"),
               "udo-no-architecture", "'%s' runs on the DSP, but does not say on which architectures of it", def->type);
    if (def->n_dsp_arch_types && !(def->cores & 1u << UDO_DSP))
        advise(&a, &def->place, "add \"DSP\" to core_types, or remove them", "udo-no-dsp",
               "'%s' has dsp_arch_types, but core_types does not list DSP", def->type);
    if (def->outputs[0].optional)
        advise(&a, &def->outputs[0].place, "put it behind one that each node has", "udo-optional-output",
               "the first output of '%s' is optional, but each node gives it", def->type);
    advise_tensors(&a, "input", def->inputs, def->n_inputs);
    advise_tensors(&a, "output", def->outputs, def->n_outputs);
    advise_tensors(&a, "param", def->tensor_params, def->n_tensor_params);
}
