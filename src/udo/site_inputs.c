/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/site.h"

#include <string.h>

#include "ir/quant.h"
#include "udo/param_value.h"

static enum dtype stored_dtype(const struct udo_tensor *in, enum dtype model)
{
    return dtype_narrowed(in->dtype == DT_NONE ? model : udo_pick_dtype(in->dtype, in->several, model));
}

/* "[0,2]" of element k. */
static const char *index_text(struct arena *arena, const struct shape *shape, uint64_t k)
{
    struct shape index = {.rank = shape->rank};
    for (uint32_t i = shape->rank; i-- > 0; k /= (uint64_t)shape->dims[i])
        index.dims[i] = (int64_t)(k % (uint64_t)shape->dims[i]);
    return shape_text(arena, &index);
}

static void value_error(struct site_build *s, const struct udo_tensor *in, const char *label, const struct view *view,
                        enum dtype to, uint64_t bad)
{
    const uint8_t *elements = view_load(s->arena, view, view->dtype);
    struct shape shape = view_shape(view);
    const char *shown;
    if (dtype_is_float(view->dtype)) {
        double value;
        convert_elements(&value, DT_FLOAT64, elements + bad * dtype_size(view->dtype), view->dtype, 1);
        shown = arena_printf(s->arena, "%.9g", value);
    } else {
        int64_t value;
        convert_elements(&value, DT_INT64, elements + bad * dtype_size(view->dtype), view->dtype, 1);
        shown = arena_printf(s->arena, "%lld", (long long)value);
    }
    site_error(s, in->name, "declare a data_type that holds all values", "udo-value-misfit",
               "element %s of %s is %s, which does not fit %s", index_text(s->arena, &shape, bad), label, shown,
               udo_type_name(to));
}

/* Integers that the model dequantizes, of the declared width: they are stored with their encodings. */
static bool has_encodings(const struct site_build *s, const struct view *view, enum dtype to)
{
    enum dtype fixed = quant_dtype(view->dtype);
    return fixed != DT_NONE && dtype_value_bits(fixed) == dtype_value_bits(to) && quant_of_view(s->arena, view);
}

/* Whether the type can hold the data. */
static bool check_data(struct site_build *s, const char *label, const struct udo_tensor *in, const struct view *view,
                       enum dtype to)
{
    if (dtype_is_fixed(to)) {
        if (has_encodings(s, view, to))
            return true;
        site_error(s, in->name, "declare FLOAT_32 and quantize the container", "udo-needs-encodings",
                   "%s is declared %s, which needs encodings, but the model gives %s", label, udo_type_name(to),
                   udo_type_name(view->dtype));
        return false;
    }
    if ((view->dtype == DT_STRING) != (to == DT_STRING)) {
        site_error(s, in->name, NULL, "udo-value-misfit", "%s is declared %s, but the model gives %s", label,
                   udo_type_name(to), udo_type_name(view->dtype));
        return false;
    }
    uint64_t bad;
    if (to == DT_STRING || view_fits(s->arena, view, to, &bad))
        return true;
    value_error(s, in, label, view, to, bad);
    return false;
}

/* A constant with just this value: one made for another node, or a new one. */
static tensor_id shared_constant(struct site_build *s, const char *name, enum dtype dtype, const struct view *view)
{
    struct graph *g = s->b->graph;
    tensor_id id = graph_find_tensor(g, name);
    if (id != NO_TENSOR) {
        const struct tensor *t = graph_tensor(g, id);
        if (t->kind == TENSOR_STATIC && t->type->dtype == dtype && t->view->bytes == view->bytes &&
            t->view->strings == view->strings && t->view->scale == view->scale && t->view->zero == view->zero &&
            shape_equal(&t->view->shape, &view->shape) && perm_equal(&t->view->perm, &view->perm))
            return id;
    }
    return graph_add_constant(g, name, dtype, view);
}

/* The constant in the declared type and layout. */
static tensor_id serialise(struct site_build *s, const char *label, const struct udo_tensor *in, tensor_id id)
{
    const struct tensor *t = graph_tensor(s->b->graph, id);
    struct view view = *t->view;
    enum dtype to = stored_dtype(in, t->type->dtype);
    bool keeps_integers = dtype_is_fixed(to) && has_encodings(s, &view, to);
    if (view.dtype != t->type->dtype && to != t->type->dtype && !keeps_integers) {
        /* A cast that is pending already counts: 2.7 cast to int32 is 2 for us. */
        struct shape shape = view_shape(&view);
        view = view_of(view_load(s->arena, &view, t->type->dtype), t->type->dtype, &shape);
    }
    if (!check_data(s, label, in, &view, to))
        return id;
    if (keeps_integers)
        to = t->type->dtype; /* until nodes are quantized */
    struct perm perm;
    bool moved = layout_perm(s->site, in->layout, t->type->shape.rank, &perm);
    if (!moved && to == t->type->dtype)
        return id;
    if (moved)
        view_permute(&view, &perm);
    const char *name = t->name;
    if (to != t->type->dtype)
        name = arena_printf(s->arena, "%s.%s", name, dtype_info(to)->name);
    if (moved)
        name = arena_printf(s->arena, "%s.%s", name, layout_suffix(in->layout, t->type->shape.rank));
    return shared_constant(s, name, to, &view);
}

/* The tensor in the declared layout. */
static tensor_id take(struct site_build *s, const struct udo_tensor *in, tensor_id id)
{
    const struct tensor *t = graph_tensor(s->b->graph, id);
    struct perm perm;
    if (s->errors || !layout_perm(s->site, in->layout, t->type->shape.rank, &perm))
        return id;
    tensor_id moved;
    const char *name = arena_printf(s->arena, "%s.%s", t->name, layout_suffix(in->layout, t->type->shape.rank));
    if (build_transpose(s->b, id, &perm, name, &moved) != ODLC_OK) {
        s->errors++; /* reported already */
        return id;
    }
    struct node *transpose = graph_node(s->b->graph, graph_tensor(s->b->graph, moved)->producer);
    transpose->layout_only = true;
    transpose->to_first = in->layout == UDO_LAYOUT_NCHW;
    return moved;
}

/* An operand that the model leaves out. */
static tensor_id substitute(struct site_build *s, const char *label, uint32_t i, const struct udo_tensor *in)
{
    s->inputs[i].origin = in->default_value ? ODLC_UDO_DEFAULT : in->optional ? ODLC_UDO_ABSENT : ODLC_UDO_FAILED;
    if (in->default_value) {
        struct view view = value_view(s->arena, in->default_value);
        const char *name = in->name ? in->name : arena_printf(s->arena, "input_%u", i);
        return graph_add_constant(s->b->graph, arena_printf(s->arena, "%s.%s", s->site->label, name), view.dtype,
                                  &view);
    }
    if (in->optional)
        return NO_TENSOR;
    const char *place = site_place(s, &in->place), *hint;
    if (in->name && site_attr(s, in->name))
        hint = arena_printf(s->arena, "the node has an attribute '%s': list it as a param, not as an input, at %s",
                            in->name, place);
    else if (in->unused_default)
        hint = arena_printf(s->arena, "<Mandatory> is true at %s, so that the <Default> is not used", place);
    else if (!in->place.pointer)
        hint = arena_printf(s->arena, "make <Mandatory> false at %s, or give a <Default> as well", place);
    else
        hint = arena_printf(s->arena, "give a default_value or \"optional\": true at %s", place);
    site_error(s, in->name, hint, "udo-missing-input", "%s is missing%s", label,
               in->is_static ? " and must have data" : "");
    return NO_TENSOR;
}

/* Data other than the default that some core takes alone; what the model computes may be any. */
static void check_only_default(struct site_build *s, const char *label, const struct udo_tensor *in, tensor_id id)
{
    if (!in->only_default || !in->only_value)
        return;
    const struct tensor *t = graph_tensor(s->b->graph, id);
    bool same = false;
    if (build_is_const(s->b, id) && t->type->dtype != DT_STRING && in->only_value->dtype != DT_STRING) {
        struct view only = value_view(s->arena, in->only_value);
        struct shape given = view_shape(t->view), asked = view_shape(&only);
        same = shape_equal(&given, &asked) &&
               memcmp(view_load(s->arena, t->view, DT_FLOAT64), view_load(s->arena, &only, DT_FLOAT64),
                      shape_count(&given) * sizeof(double)) == 0;
    }
    if (!same && site_first(s, "only default", label))
        site_warn(s, in->name,
                  arena_printf(s->arena, "<OnlyDefaultSupported> is said of %s", site_place(s, &in->place)),
                  "udo-only-default", "the model gives %s, but its default is all that is supported on %s", label,
                  in->only_default);
}

static tensor_id classify(struct site_build *s, uint32_t i, const struct udo_tensor *in, tensor_id id)
{
    const char *label = operand_label(s, "input", i, in);
    if (id == NO_TENSOR)
        return substitute(s, label, i, in);
    check_only_default(s, label, in, id);
    s->inputs[i].tensor = graph_tensor(s->b->graph, id)->name;
    if (build_is_const(s->b, id)) {
        s->inputs[i].origin = in->is_static            ? ODLC_UDO_STATIC
                              : s->set->promote_static ? ODLC_UDO_PROMOTED
                                                       : ODLC_UDO_NOT_STATIC;
        if (!in->is_static) {
            const char *node = arena_strdup(s->set->arena, s->site->label);
            vec_push(s->set->arena, &s->use->not_static[in - s->def->inputs].labels, node);
        }
        return serialise(s, label, in, id);
    }
    if (in->is_static) {
        site_error(s, in->name,
                   arena_printf(s->arena, "remove %s at %s, or make the model give it as an initializer",
                                udo_words_of(&in->place, "\"static\"", "<IsStaticTensor>"), site_place(s, &in->place)),
                   "udo-static-without-data", "%s is static, but the model computes it when it runs", label);
        return id;
    }
    s->inputs[i].origin = ODLC_UDO_DYNAMIC;
    return take(s, in, id);
}

/* What comes after the last input of the definition. */
static void check_surplus(struct site_build *s, uint32_t n_in)
{
    if (n_in <= s->def->n_inputs || repeated_of(s->def->inputs, s->def->n_inputs) < s->def->n_inputs)
        return;
    site_error(s, NULL,
               arena_printf(s->arena, "list every input at %s; one that holds data needs %s",
                            site_place(s, &s->def->place),
                            udo_words_of(&s->def->place, "\"static\": true", "<IsStaticTensor>")),
               "udo-surplus-inputs", "the node has %u inputs, but the definition of '%s' lists %u", n_in, s->def->type,
               s->def->n_inputs);
}

/* Dims of each operand for shape rules. */
static void note_shapes(struct site_build *s, struct site_operands *in, const tensor_id *ids)
{
    struct shape *model = arena_array(s->scratch, struct shape, in->count);
    in->shapes = arena_array(s->scratch, struct shape, in->count);
    in->known = arena_array(s->scratch, bool, in->count);
    for (uint32_t i = 0; i < in->count; i++) {
        if (in->ids[i] == NO_TENSOR)
            continue;
        const struct udo_tensor *declared = site_input(s, i);
        /* A default stands in the definition's layout already. */
        bool from_model = ids[i] != NO_TENSOR;
        struct perm perm;
        in->known[i] = true;
        model[i] = in->shapes[i] = build_type(s->b, from_model ? ids[i] : in->ids[i])->shape;
        bool moved = layout_perm(s->site, declared->layout, model[i].rank, &perm);
        if (moved && from_model) {
            in->shapes[i] = perm_apply(&perm, &model[i]);
            s->inputs[i].permuted = build_is_const(s->b, ids[i]);
        } else if (moved) {
            perm = perm_inverse(&perm);
            model[i] = perm_apply(&perm, &in->shapes[i]);
        }
        report_type(&s->inputs[i], build_type(s->b, in->ids[i])->dtype, &in->shapes[i]);
    }
    in->model_shapes = model;
}

void site_take_inputs(struct site_build *s, struct site_operands *in)
{
    uint32_t n_in = s->site->n_in;
    while (n_in > 0 && s->site->in[n_in - 1] == NO_TENSOR)
        n_in--;
    check_surplus(s, n_in);
    uint32_t total = s->n_in;
    in->ids = arena_array(s->scratch, tensor_id, total);
    in->forms = arena_array(s->arena, struct operand_form, total);
    tensor_id *model = arena_array(s->scratch, tensor_id, total);
    report_inputs(s, total);
    for (uint32_t i = 0; i < total; i++) {
        const struct udo_tensor *declared = site_input(s, i);
        model[i] = i < n_in ? s->site->in[i] : NO_TENSOR;
        in->ids[i] = classify(s, i, declared, model[i]);
        uint32_t rank = in->ids[i] == NO_TENSOR ? 0 : build_rank(s->b, in->ids[i]);
        in->forms[i] = form_of(s->site, declared, rank);
    }
    in->count = total;
    while (in->count > 0 && in->ids[in->count - 1] == NO_TENSOR)
        in->count--;
    note_shapes(s, in, model);
}
