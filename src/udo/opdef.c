/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/opdef.h"

#include "op/op.h"

/* ---- operations ---- */

/* The children of that name; more than `most` are an error, and none is read then. */
static uint32_t count_children(struct opdef *o, const struct xml_node *node, const char *name, uint32_t most)
{
    uint32_t count = 0;
    for (const struct xml_node *child = xml_child(node, name); child; child = xml_next(child))
        count++;
    if (count <= most)
        return count;
    (void)xml_error(o->xml, node->offset, NULL, "udo-too-many", "more than %u <%s>", most, name);
    return 0;
}

static const struct udo_tensor *read_operands(struct opdef *o, const struct xml_node *op, enum opdef_role role,
                                              const struct backends *backends, uint32_t *count)
{
    const char *kind = role == OPDEF_INPUT ? "Input" : "Output";
    *count = count_children(o, op, kind, UDO_MAX_OPERANDS);
    if (!xml_child(op, kind))
        (void)xml_error(o->xml, op->offset, NULL, "udo-no-operands", "an OpDef needs at least one <%s>", kind);
    struct udo_tensor *tensors = arena_array(o->arena, struct udo_tensor, *count);
    const struct xml_node *node = xml_child(op, kind);
    bool repeated = false;
    for (uint32_t i = 0; i < *count; i++, node = xml_next(node)) {
        opdef_read_tensor(o, node, role, backends, &tensors[i]);
        if (tensors[i].repeated && repeated)
            (void)xml_error(o->xml, xml_child(node, "Repeated")->offset,
                            "the node tells how many one of them stands for, not two", "udo-two-repeated",
                            "only one <%s> may be repeated", kind);
        repeated = repeated || tensors[i].repeated;
    }
    return tensors;
}

/* Params are found by name, and share the names with what the container itself records. */
static void check_param_names(struct opdef *o, const struct xml_node *op)
{
    struct map seen;
    map_init(&seen, o->arena);
    for (const struct xml_node *p = xml_child(op, "Parameter"); p; p = xml_next(p)) {
        const struct xml_node *name = xml_child(p, "Name");
        if (!name || !*name->text)
            continue;
        size_t at = xml_text_offset(o->xml, name);
        if (udo_name_is_reserved(name->text))
            (void)xml_error(o->xml, at, NULL, "udo-reserved-name", "the name '%s' is the container's own", name->text);
        uint32_t first = map_add(&seen, name->text, p->offset);
        if (first == MAP_NONE)
            continue;
        (void)xml_error(o->xml, at, NULL, "udo-duplicate-param", "second param '%s'", name->text);
        xml_note(o->xml, first, "udo-first", "the first is here");
    }
}

static void read_params(struct opdef *o, const struct xml_node *op, const struct backends *backends,
                        struct udo_def *def)
{
    uint32_t count = count_children(o, op, "Parameter", (uint32_t)UDO_MAX_PARAMS);
    struct udo_scalar *scalars = arena_array(o->arena, struct udo_scalar, count);
    struct udo_tensor *tensors = arena_array(o->arena, struct udo_tensor, count);
    const struct xml_node *node = xml_child(op, "Parameter");
    for (uint32_t i = 0; i < count; i++, node = xml_next(node)) {
        if (opdef_is_scalar(node))
            opdef_read_scalar(o, node, backends, &scalars[def->n_scalar_params++]);
        else
            opdef_read_tensor(o, node, OPDEF_PARAM, backends, &tensors[def->n_tensor_params++]);
    }
    def->scalar_params = scalars;
    def->tensor_params = tensors;
    check_param_names(o, op);
}

/* Ops are found by the names of the master list: ElementWiseAdd, Conv2d. */
static void unknown_native(struct opdef *o, const struct xml_node *op, const char *type)
{
    VEC(const char *) names = {0};
    bool shown = o->xml->source.errors < SOURCE_MAX_REPORTS; /* others need no look for a near name */
    for (size_t i = 0; shown && op_at(i); i++)
        vec_push(o->arena, &names, op_at(i)->name);
    const char *nearest = nearest_word(type, names.data, names.count);
    (void)xml_error(o->xml, xml_text_offset(o->xml, xml_child(op, "Name")),
                    nearest ? arena_printf(o->arena, "did you mean '%s'?", nearest)
                            : "to claim an operator of the model, say false in <UseDefaultTranslation>",
                    "udo-unknown-native", "with <UseDefaultTranslation>, <Name> must be a native op, which '%s' is not",
                    type);
}

static void read_op(struct opdef *o, const struct xml_node *op)
{
    size_t errors = o->xml->source.errors;
    struct udo_def *def = arena_new(o->arena, struct udo_def);
    struct backends backends = {.count = 0};
    def->place = opdef_place(o, op);
    def->package = o->package;
    def->use_qhpi = o->use_qhpi;
    def->type = opdef_text(o, op, "Name", true);
    if (def->type)
        opdef_backends(o, op, def->type, &backends);
    opdef_check_overrides(o, op, &backends);
    def->inputs = read_operands(o, op, OPDEF_INPUT, &backends, &def->n_inputs);
    def->outputs = read_operands(o, op, OPDEF_OUTPUT, &backends, &def->n_outputs);
    read_params(o, op, &backends, def);
    for (uint32_t i = 0; i < backends.count; i++) {
        def->backends |= 1u << backends.list[i].backend;
        if (opdef_core(backends.list[i].backend) >= 0)
            def->cores |= 1u << opdef_core(backends.list[i].backend);
    }
    def->dsp_arch_types = backends.archs.data;
    def->n_dsp_arch_types = (uint32_t)backends.archs.count;
    def->replaces_native = opdef_bool(o, op, "UseDefaultTranslation", false);
    if (def->replaces_native && def->type && !op_find(def->type))
        unknown_native(o, op, def->type);
    if (o->xml->source.errors != errors || !o->package)
        return;
    udo_advise(o->set, &o->xml->source, def, def->backends >> BACKEND_DSP & 1);
    if (udo_add(o->set, def) != ODLC_OK)
        o->xml->source.errors++;
}

/* ---- the file ---- */

static bool read_qhpi(struct opdef *o, const struct xml_attr *a)
{
    bool value = false;
    if (a && *a->value && !opdef_is_bool(a->value, &value))
        (void)xml_error(o->xml, a->offset, NULL, "udo-wrong-type", "'UseQHPI' must be true or false, not '%s'",
                        a->value);
    return value;
}

static void read_collection(struct opdef *o, const struct xml_node *root)
{
    const struct xml_attr *package = xml_attr(root, "PackageName");
    if (package && *package->value)
        o->package = package->value;
    else
        (void)xml_error(o->xml, package ? package->offset : root->offset, NULL, "udo-missing-attribute",
                        "'PackageName' of <OpDefCollection> is missing");
    o->use_qhpi = read_qhpi(o, xml_attr(root, "UseQHPI"));
    opdef_collect(o, root);
    opdef_check_supplements(o);
    const struct xml_node *list = xml_child(root, "OpDefList");
    if (!list || !xml_child(list, "OpDef"))
        (void)xml_error(o->xml, list ? list->offset : root->offset, NULL, "udo-missing-element",
                        "the file holds no <OpDef> in an <OpDefList>");
    for (const struct xml_node *op = xml_child(list, "OpDef"); op; op = xml_next(op))
        read_op(o, op);
}

odlc_status udo_parse_xml(struct udo_set *set, const char *path, const char *text, size_t size)
{
    struct opdef o = {.set = set, .arena = set->arena};
    TRY(xml_parse(set->arena, set->diags, path, text, size, &o.xml));
    map_init(&o.known, set->arena);
    map_init(&o.by_op, set->arena);
    if (opdef_check(&o))
        read_collection(&o, o.xml->root);
    return o.xml->source.errors ? ODLC_ERR_INVALID : ODLC_OK;
}
