/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/udo.h"

#include <string.h>

#include "text/source.h"
#include "udo/expr.h"
#include "udo/param_value.h"
#include "udo/udo_row.h"

void udo_set_init(struct udo_set *set, struct arena *arena, struct diags *diags, struct op_registry *registry)
{
    *set = (struct udo_set){.arena = arena, .diags = diags, .registry = registry};
    map_init(&set->types, arena);
    map_init(&set->natives, arena);
    map_init(&set->said, arena);
}

static struct udo_def *first_of_type(const struct udo_set *set, const struct map *types, const char *type)
{
    uint32_t first = map_get(types, type);
    return first == MAP_NONE ? NULL : set->defs.data[first];
}

/* The one of a type's definitions, all of which name a domain, that names this one. */
static struct udo_def *of_domain(const struct udo_set *set, const struct udo_def *first, const char *domain)
{
    uint32_t at = map_get(first->domains, domain);
    return at == MAP_NONE ? NULL : set->defs.data[at];
}

const struct udo_def *udo_find(const struct udo_set *set, const char *op_type, const char *domain)
{
    const struct udo_def *first = first_of_type(set, &set->types, op_type);
    return first && first->domain ? of_domain(set, first, domain) : first;
}

/* ---- the same definition twice ---- */

static bool text_equal(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}

static bool words_equal(const struct udo_words *a, const struct udo_words *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++)
        same = strcmp(a->words[i], b->words[i]) == 0;
    return same;
}

/* With a default, what the model leaves out is there all the same. */
static bool absence_equal(bool optional_a, const struct param *default_a, bool optional_b,
                          const struct param *default_b)
{
    return (optional_a && !default_a) == (optional_b && !default_b) && value_equal(default_a, default_b);
}

static bool scalar_equal(const struct udo_scalar *a, const struct udo_scalar *b)
{
    return text_equal(a->name, b->name) && a->dtype == b->dtype && a->several == b->several &&
           a->per_core == b->per_core && memcmp(a->core_dtypes, b->core_dtypes, sizeof a->core_dtypes) == 0 &&
           absence_equal(a->optional, a->default_value, b->optional, b->default_value) &&
           a->unused_default == b->unused_default && text_equal(a->only_default, b->only_default) &&
           words_equal(&a->enumeration, &b->enumeration);
}

static bool tensor_equal(const struct udo_tensor *a, const struct udo_tensor *b)
{
    bool same = text_equal(a->name, b->name) && a->dtype == b->dtype && a->several == b->several &&
                a->per_core == b->per_core && memcmp(a->core_dtypes, b->core_dtypes, sizeof a->core_dtypes) == 0 &&
                a->is_static == b->is_static &&
                absence_equal(a->optional, a->default_value, b->optional, b->default_value) &&
                a->unused_default == b->unused_default && text_equal(a->only_default, b->only_default) &&
                words_equal(&a->enumeration, &b->enumeration) && a->repeated == b->repeated && a->layout == b->layout &&
                text_equal(a->quantization_mode, b->quantization_mode) && a->same_as == b->same_as &&
                a->same_as_input == b->same_as_input && !a->shape == !b->shape && a->shape_rank == b->shape_rank;
    for (uint32_t i = 0; same && i < a->shape_rank; i++)
        same = expr_equal(a->shape[i], b->shape[i]);
    return same;
}

static bool tensors_equal(const struct udo_tensor *a, uint32_t n_a, const struct udo_tensor *b, uint32_t n_b)
{
    bool same = n_a == n_b;
    for (uint32_t i = 0; same && i < n_a; i++)
        same = tensor_equal(&a[i], &b[i]);
    return same;
}

bool udo_same_definition(const struct udo_def *a, const struct udo_def *b)
{
    bool same = text_equal(a->package, b->package) && text_equal(a->domain, b->domain) &&
                tensors_equal(a->inputs, a->n_inputs, b->inputs, b->n_inputs) &&
                tensors_equal(a->outputs, a->n_outputs, b->outputs, b->n_outputs) &&
                tensors_equal(a->tensor_params, a->n_tensor_params, b->tensor_params, b->n_tensor_params) &&
                a->n_scalar_params == b->n_scalar_params && a->cores == b->cores && a->use_qhpi == b->use_qhpi &&
                a->n_dsp_arch_types == b->n_dsp_arch_types;
    for (uint32_t i = 0; same && i < a->n_scalar_params; i++)
        same = scalar_equal(&a->scalar_params[i], &b->scalar_params[i]);
    for (uint32_t i = 0; same && i < a->n_dsp_arch_types; i++)
        same = strcmp(a->dsp_arch_types[i], b->dsp_arch_types[i]) == 0;
    return same;
}

/* ---- adding ---- */

struct odlc_diag udo_at(const struct udo_place *p, const char *hint)
{
    return (struct odlc_diag){.file = p->file,
                              .line = p->line,
                              .column = p->column,
                              .pointer = p->pointer,
                              .hint = hint,
                              .excerpt = p->source ? source_line(p->source, p->line) : NULL};
}

static odlc_status refuse_second(struct udo_set *set, const struct udo_def *first, const struct udo_def *second)
{
    const struct udo_place *p = &first->place;
    bool both_json = p->pointer && second->place.pointer;
    const char *hint = both_json ? "remove one, or restrict both with \"domain\"" : "remove one";
    struct odlc_diag place = udo_at(&second->place, hint);
    (void)diag_error(set->diags, ODLC_ERR_INVALID, &place, "udo-duplicate-type", "second, different definition of '%s'",
                     second->type);
    place = udo_at(p, NULL);
    diag_note(set->diags, &place, "udo-first", "the first definition of '%s' is here", first->type);
    return ODLC_ERR_INVALID;
}

/* Makes it one of its type's; first is the first of these, or NULL. */
static void list_definition(struct udo_set *set, struct map *types, struct udo_def *first, struct udo_def *def)
{
    if (!first)
        map_put(types, def->type, def->index);
    if (!first && def->domain) {
        def->domains = arena_new(set->arena, struct map);
        map_init(def->domains, set->arena);
    }
    if (def->domain)
        map_put(first ? first->domains : def->domains, def->domain, def->index);
}

odlc_status udo_add(struct udo_set *set, struct udo_def *def)
{
    struct map *types = def->replaces_native ? &set->natives : &set->types;
    struct udo_def *first = first_of_type(set, types, def->type);
    struct udo_def *other = first && first->domain && def->domain ? of_domain(set, first, def->domain) : first;
    if (other && !udo_same_definition(other, def))
        return refuse_second(set, other, def);
    if (other)
        return ODLC_OK;
    struct odlc_diag place = udo_at(&def->place, NULL);
    if (set->defs.count == UDO_MAX_DEFINITIONS)
        return diag_error(set->diags, ODLC_ERR_LIMIT, &place, "udo-too-many", "more than %d definitions",
                          UDO_MAX_DEFINITIONS);
    def->index = (uint32_t)set->defs.count;
    udo_add_row(set->registry, set->arena, def);
    list_definition(set, types, first, def);
    struct udo_use use = {.not_static = arena_array(set->arena, struct udo_nodes, def->n_inputs)};
    vec_push(set->arena, &set->defs, def);
    vec_push(set->arena, &set->uses, use);
    return ODLC_OK;
}

/* ---- the model's operators ---- */

static void say_unmatched(struct udo_set *set, const struct udo_def *def, const char *hint)
{
    const struct odlc_diag place = udo_at(&def->place, hint);
    diag_warn(set->diags, &place, "udo-unused", "the definition of '%s' matches no node of the model", def->type);
}

/* The operator that is meant, most likely: of that type in another domain, or of nearly that type. */
static const char *unmatched_hint(struct udo_set *set, const struct udo_def *def, const struct udo_operator *operators,
                                  const char *const *types, size_t count)
{
    for (size_t i = 0; i < count && def->domain; i++)
        if (strcmp(types[i], def->type) == 0)
            return arena_printf(set->arena, "the model has '%s' in domain '%s'", def->type,
                                *operators[i].domain ? operators[i].domain : "ai.onnx");
    const char *nearest = nearest_word(def->type, types, count);
    return nearest ? arena_printf(set->arena, "did you mean '%s'?", nearest) : NULL;
}

void udo_match(struct udo_set *set, const struct udo_operator *operators, size_t count)
{
    enum { HINTED = 100 };
    bool *matched = arena_array(set->arena, bool, set->defs.count);
    const char **types = arena_array(set->arena, const char *, count);
    size_t hinted = 0;
    for (size_t i = 0; i < count; i++) {
        const struct udo_def *def = udo_find(set, operators[i].type, operators[i].domain);
        types[i] = operators[i].type;
        if (def)
            matched[def->index] = true;
    }
    for (size_t i = 0; i < set->defs.count; i++) {
        const struct udo_def *def = set->defs.data[i];
        if (matched[i] || def->replaces_native)
            continue;
        set->uses.data[i].unmatched = true;
        say_unmatched(set, def, hinted++ < HINTED ? unmatched_hint(set, def, operators, types, count) : NULL);
    }
}

/* ---- reports that come once ---- */

/* "a, b, c and 4 more" */
static const char *listed(struct arena *arena, const char *const *names, size_t count)
{
    enum { SHOWN = 16 };
    text t = {0};
    for (size_t i = 0; i < count && i < SHOWN; i++)
        text_add(arena, &t, "%s%s", i ? ", " : "", names[i]);
    if (count > SHOWN)
        text_add(arena, &t, " and %zu more", count - SHOWN);
    return t.data;
}

/* Data for an input that is not static: one report per input, with all its nodes. */
static odlc_status finish_input(struct udo_set *set, const struct udo_def *def, uint32_t i,
                                const struct udo_nodes *nodes)
{
    const struct udo_tensor *input = &def->inputs[i];
    const char *called = input->name ? arena_printf(set->arena, " ('%s')", input->name) : "";
    const char *where = listed(set->arena, nodes->labels.data, nodes->labels.count);
    const char *plural = nodes->labels.count > 1 ? "s" : "";
    if (set->promote_static) {
        struct odlc_diag place = udo_at(
            &input->place, udo_words_of(&input->place, "set \"static\": true to say that this is meant",
                                        "give it <IsStaticTensor>true</IsStaticTensor> to say that this is meant"));
        diag_warn(set->diags, &place, "udo-promoted-static",
                  "input %u%s of '%s' is not static, but the data that the model gives for it is serialised, for %zu "
                  "node%s: %s",
                  i, called, def->type, nodes->labels.count, plural, where);
        return ODLC_OK;
    }
    struct odlc_diag place = udo_at(
        &input->place,
        udo_words_of(&input->place, "set \"static\": true, or give --udo_promote_static to serialise it all the same",
                     "give it <IsStaticTensor>true</IsStaticTensor>, or give --udo_promote_static to serialise it "
                     "all the same"));
    return diag_error(
        set->diags, ODLC_ERR_INVALID, &place, "udo-not-static",
        "input %u%s of '%s' is not static, but the model gives data for it, which would be lost, for %zu node%s: %s", i,
        called, def->type, nodes->labels.count, plural, where);
}

static odlc_status finish_definition(struct udo_set *set, const struct udo_def *def, const struct udo_use *use,
                                     bool all_seen)
{
    odlc_status status = ODLC_OK;
    for (uint32_t i = 0; i < def->n_inputs; i++)
        if (use->not_static[i].labels.count && finish_input(set, def, i, &use->not_static[i]) != ODLC_OK)
            status = ODLC_ERR_INVALID;
    struct odlc_diag place = udo_at(&def->place, NULL);
    if (!use->nodes && all_seen && !use->unmatched)
        say_unmatched(set, def, NULL);
    if (use->unnamed.count) {
        place.hint =
            udo_words_of(&def->place, "list them under scalar_params or tensor_params if the operation needs them",
                         "list them as <Parameter> if the operation needs them");
        diag_warn(set->diags, &place, "udo-unnamed-attribute",
                  "attributes of '%s' nodes that the definition does not name are not serialised: %s", def->type,
                  listed(set->arena, use->unnamed.data, use->unnamed.count));
    }
    return status;
}

odlc_status udo_finish(struct udo_set *set)
{
    odlc_status status = ODLC_OK;
    /* Nodes behind one that failed were never looked at. */
    bool all_seen = set->diags->errors == 0;
    for (size_t i = 0; i < set->defs.count; i++)
        if (!set->defs.data[i]->replaces_native &&
            finish_definition(set, set->defs.data[i], &set->uses.data[i], all_seen) != ODLC_OK)
            status = ODLC_ERR_INVALID;
    return status;
}
