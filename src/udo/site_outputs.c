/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/site.h"

#include "udo/expr.h"
#include "udo/param_value.h"
#include "udo/udo_row.h"

/* An error in the definition's rule as this node has it. */
static void rule_error(struct site_build *s, const struct udo_tensor *out, const char *message)
{
    struct odlc_diag place = udo_at(&out->place, NULL);
    place.pointer = arena_printf(s->arena, "%s/shape", out->place.pointer);
    place.node = s->site->label;
    s->errors++;
    (void)diag_error(s->set->diags, ODLC_ERR_INVALID, &place, "udo-shape-rule", "the shape rule cannot be used: %s",
                     message);
}

/* The shape that the definition's rule gives, in its own layout. */
static bool rule_shape(struct site_build *s, const struct site_operands *in, const struct udo_tensor *out,
                       struct shape *shape)
{
    const char *message;
    struct expr_inputs inputs = {.shapes = in->shapes, .known = in->known, .count = in->count};
    *shape = (struct shape){.rank = out->shape_rank};
    for (uint32_t i = 0; i < out->shape_rank; i++) {
        if (!expr_eval(s->arena, out->shape[i], &inputs, &shape->dims[i], &message)) {
            rule_error(s, out, message);
            return false;
        }
        if (shape->dims[i] < 0) {
            rule_error(s, out, arena_printf(s->arena, "dimension %u becomes %lld", i, (long long)shape->dims[i]));
            return false;
        }
    }
    if (!shape_too_large(shape))
        return true;
    rule_error(s, out, arena_printf(s->arena, "the shape %s is too large", shape_text(s->arena, shape)));
    return false;
}

/* In the definition's layout → in the model's order, and back. */
static struct shape reorder(const struct udo_site *site, enum udo_layout layout, const struct shape *shape,
                            bool to_model)
{
    struct perm perm;
    if (!layout_perm(site, layout, shape->rank, &perm))
        return *shape;
    if (to_model)
        perm = perm_inverse(&perm);
    return perm_apply(&perm, shape);
}

enum outcome { KNOWN, UNKNOWN, FAILED };

/* The definition's own rule, in the model's order. */
static enum outcome by_rule(struct site_build *s, const struct site_operands *in, const struct udo_tensor *out,
                            struct shape *shape)
{
    if (out->same_as) {
        uint32_t i = out->same_as_input;
        if (i >= in->count || !in->known[i]) {
            rule_error(s, out, arena_printf(s->arena, "the node has no input %u", i));
            return FAILED;
        }
        *shape = in->model_shapes[i];
        return KNOWN;
    }
    if (!out->shape)
        return UNKNOWN;
    struct shape own;
    if (!rule_shape(s, in, out, &own))
        return FAILED;
    *shape = reorder(s->site, out->layout, &own, true);
    return KNOWN;
}

/* What the model says of the shape of output j, which leaves dimensions open; rank 0: nothing. */
static struct shape partial_shape(const struct site_build *s, uint32_t j)
{
    const struct udo_site *site = s->site;
    return site->partial && j < site->n_out ? site->partial[j] : (struct shape){.rank = 0};
}

/* "[1,?,3]" */
static const char *open_text(struct arena *arena, const struct shape *partial)
{
    text t = {0};
    for (uint32_t i = 0; i < partial->rank; i++) {
        text_add(arena, &t, i ? "," : "[");
        if (partial->dims[i] < 0)
            text_add(arena, &t, "?");
        else
            text_add(arena, &t, "%lld", (long long)partial->dims[i]);
    }
    text_add(arena, &t, "]");
    return t.data;
}

static bool fits(const struct shape *shape, const struct shape *partial)
{
    bool same = partial->rank == 0 || partial->rank == shape->rank;
    for (uint32_t i = 0; same && i < partial->rank; i++)
        same = partial->dims[i] < 0 || partial->dims[i] == shape->dims[i];
    return same;
}

/* What a library tells, in the model's order. */
static enum outcome by_library(struct site_build *s, const struct udo_tensor *out, uint32_t j, const char *label,
                               struct shape *shape)
{
    struct shape own;
    const struct shape partial = partial_shape(s, j);
    if (!told_shape(s, j, label, &own))
        return FAILED;
    *shape = reorder(s->site, out->layout, &own, true);
    if (fits(shape, &partial))
        return KNOWN;
    told_shape_error(s, arena_printf(s->scratch, "gives %s the shape %s, but the model leaves only %s open", label,
                                     shape_text(s->scratch, shape), open_text(s->scratch, &partial)));
    return FAILED;
}

/* One input and one output: the input's shape is a guess worth a warning, where nothing speaks against it. */
static enum outcome by_input(struct site_build *s, const struct site_operands *in, uint32_t total, const char *name,
                             const char *label, struct shape *shape)
{
    const struct shape partial = partial_shape(s, 0);
    if (in->count != 1 || total != 1 || !in->known[0] || !fits(&in->model_shapes[0], &partial))
        return UNKNOWN;
    *shape = in->model_shapes[0];
    if (site_first(s, "same-shape", label))
        site_warn(s, name,
                  udo_words_of(&s->def->place, "give a \"shape\" in the definition: \"same_as in0\" if this is right",
                               "give the output's shape in the model (value_info) if this is wrong"),
                  "udo-shape-assumed", "nothing tells the shape of %s of '%s'; the input's is taken", label,
                  s->def->type);
    return KNOWN;
}

bool site_declares(const struct udo_tensor *t, enum dtype model)
{
    bool suits = t->dtype == DT_NONE || udo_type_suits(t->dtype, model);
    for (int i = DT_NONE + 1; i < DT_COUNT && !suits; i++)
        suits = (t->several & DTYPE_BIT(i)) && udo_type_suits((enum dtype)i, model);
    for (int core = 0; core < UDO_CORES && !suits; core++)
        suits = t->core_dtypes[core] != DT_NONE && udo_type_suits(t->core_dtypes[core], model);
    return suits;
}

static void contradicted(struct site_build *s, const struct udo_tensor *out, const char *label,
                         const struct udo_demand *demand)
{
    struct odlc_diag place = udo_at(&out->place, arena_printf(s->arena, "declare %s, or no type: the model tells it",
                                                              udo_type_name(demand->dtype)));
    place.node = s->site->label;
    s->errors++;
    (void)diag_error(s->set->diags, ODLC_ERR_INVALID, &place, "udo-type-contradicted",
                     "%s of '%s' is declared %s, but node '%s' takes it as %s", label, s->def->type,
                     udo_type_name(out->dtype), demand->reader, udo_type_name(demand->dtype));
}

/* The type of an output of which the definition alone speaks. What quantization makes of real numbers is real before
 * that, where the node computes on any. */
static enum dtype declared_dtype(const struct site_build *s, const struct udo_tensor *out)
{
    const struct udo_site *site = s->site;
    enum dtype first = DT_NONE, real = DT_NONE;
    for (uint32_t i = site->n_in; i-- > 0;) {
        enum dtype in = site->in[i] == NO_TENSOR ? DT_NONE : build_type(s->b, site->in[i])->dtype;
        real = dtype_is_float(in) ? in : real;
        first = i == 0 ? in : DT_NONE;
    }
    /* Of several types, that of the first input is the most likely. */
    enum dtype dtype = udo_pick_dtype(out->dtype, out->several, first);
    if (dtype == DT_NONE || dtype == DT_FLOAT32 || !udo_type_suits(dtype, DT_FLOAT32) || dtype == DT_FLOAT64)
        return dtype == DT_NONE ? DT_FLOAT32 : dtype;
    if (real != DT_NONE)
        return real;
    return dtype_is_int(dtype) ? dtype : DT_FLOAT32;
}

/* The type of one output: activations have the framework's own type, whatever a processor's kernel gets. `model` is
 * what the model, or the native op of the name, says of it. */
static enum dtype output_dtype(struct site_build *s, const struct udo_tensor *out, const char *label, enum dtype model,
                               const struct udo_demand *demand)
{
    if (model != DT_NONE)
        return model;
    if (demand->dtype != DT_NONE) {
        if (!site_declares(out, demand->dtype))
            contradicted(s, out, label, demand);
        return demand->dtype;
    }
    if (demand->likely != DT_NONE && site_declares(out, demand->likely) &&
        (!demand->real || dtype_is_float(demand->likely)))
        return demand->likely;
    enum dtype dtype = declared_dtype(s, out);
    if (demand->real && !dtype_is_float(dtype)) {
        const struct udo_demand real = {.dtype = DT_FLOAT32, .reader = demand->reader};
        return output_dtype(s, out, label, model, &real);
    }
    return dtype;
}

bool site_output_absent(const struct site_build *s, uint32_t j)
{
    const struct udo_tensor *out = site_output(s, j);
    bool asked_for = j < s->site->n_out && *s->site->out_names[j];
    return j > 0 && out->optional && !asked_for;
}

static void unknown_shape(struct site_build *s, const struct udo_tensor *out, uint32_t j, const char *label)
{
    const struct shape model = partial_shape(s, j), partial = reorder(s->site, out->layout, &model, false);
    text rule = {0};
    for (uint32_t i = 0; i < partial.rank; i++) {
        text_add(s->arena, &rule, i ? ", " : "");
        if (partial.dims[i] < 0)
            text_add(s->arena, &rule, "\"in0[%u]\"", i);
        else
            text_add(s->arena, &rule, "%lld", (long long)partial.dims[i]);
    }
    const char *example = rule.data ? arena_printf(s->arena, "[%s]", rule.data) : "\"same_as in0\" or [\"in0[0]\", 10]";
    const char *hint = udo_words_of(
        &out->place, arena_printf(s->arena, "add \"shape\" at %s, such as %s", site_place(s, &out->place), example),
        "give it in the model (value_info), or describe the operation in JSON with a \"shape\"");
    const char *asked = s->set->oracle ? arena_printf(s->arena, ", nor does a %sShapeInference of %s", s->def->type,
                                                      s->set->oracle->libraries)
                                       : "";
    site_error(s, out->name, hint, "udo-unknown-shape", "nothing tells the shape of %s%s%s%s", label, asked,
               rule.data ? ": the model leaves it open, " : "", rule.data ? open_text(s->arena, &partial) : "");
}

/* False: a library tells one that cannot be. */
static bool find_dtype(struct site_build *s, const struct udo_tensor *out, uint32_t j, const char *label,
                       enum dtype *dtype)
{
    const struct udo_site *site = s->site;
    const bool asked_for = j < site->n_out;
    const struct udo_demand none = {.dtype = DT_NONE};
    const struct udo_demand *demand = site->demands && asked_for ? &site->demands[j] : &none;
    enum dtype model = asked_for ? site->declared[j].dtype : DT_NONE;
    if (model == DT_NONE && s->told && s->told->types_by && !told_type(s, j, label, demand, &model))
        return false;
    if (model == DT_NONE && site->native && asked_for)
        model = site->native[j].dtype;
    *dtype = output_dtype(s, out, label, model, demand);
    return true;
}

static void one_type(struct site_build *s, const struct site_operands *in, uint32_t j, uint32_t total,
                     struct type *type)
{
    const struct udo_site *site = s->site;
    const struct type *native = site->native;
    const struct udo_tensor *out = site_output(s, j);
    const char *label = operand_label(s, "output", j, out);
    bool declared = j < site->n_out && site->declared_shape[j];
    struct odlc_udo_value *value = &s->outputs[j];
    struct shape shape;
    enum outcome outcome = by_rule(s, in, out, &shape);
    if (outcome == FAILED)
        return;
    value->origin = outcome == KNOWN ? ODLC_UDO_RULE : ODLC_UDO_LIKE_INPUT;
    if (outcome == KNOWN && declared && !shape_equal(&shape, &site->declared[j].shape))
        site_warn(s, out->name, NULL, "udo-shape-differs", "the shape rule gives %s for %s, but the model declares %s",
                  shape_text(s->arena, &shape), label, shape_text(s->arena, &site->declared[j].shape));
    if (outcome == UNKNOWN && declared) {
        shape = site->declared[j].shape;
        outcome = KNOWN;
        value->origin = ODLC_UDO_DECLARED;
    } else if (outcome == UNKNOWN && s->told && s->told->shapes_by) {
        outcome = by_library(s, out, j, label, &shape);
        value->origin = outcome == KNOWN ? ODLC_UDO_LIBRARY : ODLC_UDO_FAILED;
        if (outcome == FAILED)
            return;
    } else if (outcome == UNKNOWN && native && j < site->n_out) {
        shape = native[j].shape;
        outcome = KNOWN;
        value->origin = ODLC_UDO_NATIVE;
    }
    if (outcome == UNKNOWN && by_input(s, in, total, out->name, label, &shape) == UNKNOWN) {
        unknown_shape(s, out, j, label);
        value->origin = ODLC_UDO_FAILED;
        return;
    }
    if (!find_dtype(s, out, j, label, &type->dtype))
        return;
    type->shape = reorder(site, out->layout, &shape, false);
    report_type(value, dtype_narrowed(type->dtype), &type->shape);
}

bool site_shape_open(const struct site_build *s, uint32_t j)
{
    const struct udo_tensor *out = site_output(s, j);
    return !out->same_as && !out->shape && (j >= s->site->n_out || !s->site->declared_shape[j]);
}

bool site_type_open(const struct site_build *s, uint32_t j)
{
    return j >= s->site->n_out || s->site->declared[j].dtype == DT_NONE;
}

bool udo_needs_native(const struct udo_def *def, const struct udo_site *site)
{
    const struct site_build s = {.def = def, .site = site, .n_out = site_count_outputs(def, site)};
    for (uint32_t j = 0; j < site->n_out && j < s.n_out; j++) {
        if (site_output_absent(&s, j))
            continue;
        if (site_shape_open(&s, j) || site_type_open(&s, j))
            return true;
    }
    return false;
}

void site_output_types(struct site_build *s, const struct site_operands *in, struct type *types, uint32_t total)
{
    const struct udo_site *site = s->site;
    uint32_t used = site->n_out;
    report_outputs(s, total);
    while (used > 0 && !*site->out_names[used - 1])
        used--;
    if (used > total) {
        site_error(s, NULL, arena_printf(s->arena, "list every output at %s", site_place(s, &s->def->place)),
                   "udo-surplus-outputs", "the node has %u outputs, but the definition of '%s' lists %u", used,
                   s->def->type, s->def->n_outputs);
        return;
    }
    if (site->outputs_open && repeated_of(s->def->outputs, s->def->n_outputs) + 1 < s->def->n_outputs)
        site_error(s, NULL, arena_printf(s->arena, "list each output at %s", site_place(s, &s->def->place)),
                   "udo-open-outputs",
                   "the model does not tell how many outputs the node has, so none can stand behind a repeated one");
    if (s->errors > (s->set->oracle ? 0 : s->param_errors))
        return; /* what follows would only repeat that an input is missing, or what libraries need to tell */
    for (uint32_t j = 0; j < total; j++)
        if (site_output_absent(s, j))
            s->outputs[j].origin = ODLC_UDO_ABSENT;
        else
            one_type(s, in, j, total, &types[j]);
}

uint32_t site_count_outputs(const struct udo_def *def, const struct udo_site *site)
{
    uint32_t total = def->n_outputs, used = site->n_out;
    while (used > 0 && !*site->out_names[used - 1])
        used--;
    uint32_t repeated = repeated_of(def->outputs, total);
    if (repeated < total && (repeated + 1 < total ? site->n_out : used) > total)
        return site->n_out;
    while (total > least_outputs(def) && total > used)
        total--;
    return total;
}
