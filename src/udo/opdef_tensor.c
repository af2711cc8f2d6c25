/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs, outputs and parameters of OpDefs, with what the backends' supplements make of them. */
#include <string.h>

#include "udo/opdef.h"

/* ---- data types ---- */

/* The schema's types, FLOAT_64, and the guide's names of some; data in 64 bits is stored in 32, as everywhere in a
 * container. */
static const struct {
    const char *name;
    enum dtype dtype;
} types[] = {
    {"BACKEND_SPECIFIC", DT_NONE},
    {"INT_8", DT_INT8},
    {"INT_16", DT_INT16},
    {"INT_32", DT_INT32},
    {"INT_64", DT_INT64},
    {"UINT_8", DT_UINT8},
    {"UINT_16", DT_UINT16},
    {"UINT_32", DT_UINT32},
    {"UINT_64", DT_UINT64},
    {"FLOAT_16", DT_FLOAT16},
    {"FLOAT_32", DT_FLOAT32},
    {"FLOAT_64", DT_FLOAT64},
    {"SFIXED_POINT_4", DT_SFXP4},
    {"SFIXED_POINT_8", DT_SFXP8},
    {"SFIXED_POINT_16", DT_SFXP16},
    {"SFIXED_POINT_32", DT_SFXP32},
    {"UFIXED_POINT_4", DT_UFXP4},
    {"UFIXED_POINT_8", DT_UFXP8},
    {"UFIXED_POINT_16", DT_UFXP16},
    {"UFIXED_POINT_32", DT_UFXP32},
    {"BOOL_8", DT_BOOL},
    {"STRING", DT_STRING},
    {"FIXED_4", DT_UFXP4},
    {"FIXED_8", DT_UFXP8},
    {"FIXED_16", DT_UFXP16},
};

/* The types that a tensor may have, in the order given. */
struct type_list {
    enum dtype list[DT_COUNT];
    uint32_t count;
    uint64_t mask;
    const struct xml_node *specific; /* the BACKEND_SPECIFIC among them */
};

static void add_type(struct type_list *l, enum dtype dtype)
{
    if (!(l->mask & DTYPE_BIT(dtype)))
        l->list[l->count++] = dtype;
    l->mask |= DTYPE_BIT(dtype);
}

static void read_types(struct opdef *o, const struct xml_node *tensor, struct type_list *out)
{
    static const char prefix[] = "QNN_DATATYPE_";
    const char *names[COUNT_OF(types)];
    for (size_t i = 0; i < COUNT_OF(types); i++)
        names[i] = types[i].name;
    *out = (struct type_list){.count = 0};
    for (const struct xml_node *n = xml_child(tensor, "Datatype"); n; n = xml_next(n)) {
        const char *word = n->text;
        if (!*word)
            continue;
        if (strncmp(word, prefix, sizeof prefix - 1) == 0)
            word += sizeof prefix - 1;
        int i = opdef_word(o, xml_text_offset(o->xml, n), word, names, COUNT_OF(names), "data type");
        if (i == 0)
            out->specific = n;
        else if (i > 0)
            add_type(out, types[i].dtype);
    }
}

/* What a backend's supplement says, or else the OpDef. */
static void backend_types(struct opdef *o, const struct xml_node *override, const struct type_list *base,
                          struct type_list *out)
{
    if (opdef_child(override, "Datatype"))
        read_types(o, override, out);
    else
        *out = *base;
}

/* A published config may leave operations open that a model does not use, so that alone is no error. */
static void check_specific(struct opdef *o, const struct xml_node *specific, const char *what, const char *backend,
                           const char **unresolved)
{
    if (!specific)
        return;
    *unresolved = what;
    xml_warn(o->xml, specific->offset, "give it in a <SupplementalOpDef> of the backend", "udo-backend-specific",
             "nothing says what the BACKEND_SPECIFIC %s is for %s", what, backend);
}

static const char *core_name(enum udo_backend backend)
{
    static const char *const names[BACKENDS] = {"CPU", "GPU", "DSP", "HTP", "AIC"};
    return names[backend];
}

struct tensor_types {
    enum dtype dtype; /* the first */
    uint64_t several; /* mask; 0 when there is but one */
    bool per_core;
    enum dtype core_dtypes[UDO_CORES];
    const char *unresolved; /* as in struct udo_tensor */
};

/* The types that all backends take; without such, the CPU's (or the first backend's), and a table per core. */
static void combine(const struct type_list *lists, const struct backends *b, struct tensor_types *out)
{
    uint64_t common = UINT64_MAX;
    uint32_t primary = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        common &= lists[i].mask ? lists[i].mask : UINT64_MAX; /* types that are wrong, or left open, decide nothing */
        if (b->list[i].backend == BACKEND_CPU)
            primary = i;
    }
    const struct type_list *first = &lists[primary];
    uint64_t usable = common ? common : first->mask;
    for (uint32_t i = 0; i < first->count && out->dtype == DT_NONE; i++)
        if (usable & DTYPE_BIT(first->list[i]))
            out->dtype = first->list[i];
    usable &= first->mask;
    out->several = usable & (usable - 1) ? usable : 0;
    out->per_core = !common;
    for (uint32_t i = 0; i < b->count && !common; i++) {
        int core = opdef_core(b->list[i].backend);
        if (core >= 0 && lists[i].count && out->core_dtypes[core] == DT_NONE)
            out->core_dtypes[core] = lists[i].list[0];
    }
}

static void resolve_types(struct opdef *o, const struct xml_node *tensor, const struct backends *b,
                          struct tensor_types *out)
{
    struct type_list base, lists[BACKENDS];
    *out = (struct tensor_types){.dtype = DT_NONE};
    read_types(o, tensor, &base);
    if (!opdef_child(tensor, "Datatype"))
        (void)xml_error(o->xml, tensor->offset, NULL, "udo-missing-element", "<Datatype> is missing in <%s>",
                        tensor->name);
    for (uint32_t i = 0; i < b->count; i++) {
        backend_types(o, b->list[i].node, &base, &lists[i]);
        check_specific(o, lists[i].specific, "data type", core_name(b->list[i].backend), &out->unresolved);
    }
    if (!b->count) {
        static const struct backends none = {.list = {{BACKEND_CPU, NULL}}, .count = 1};
        check_specific(o, base.specific, "data type", "any backend", &out->unresolved);
        combine(&base, &none, out);
        return;
    }
    combine(lists, b, out);
}

/* ---- layouts ---- */

enum { LAYOUT_SPECIFIC = -1 };

/* A Layout's meaning; UDO_LAYOUT_NONE for those that say nothing about channels. */
static int read_layout(struct opdef *o, const struct xml_node *node)
{
    static const struct {
        const char *name;
        int layout;
    } layouts[] = {{"NHWC", UDO_LAYOUT_NHWC},      {"NCHW", UDO_LAYOUT_NCHW},
                   {"NDHWC", UDO_LAYOUT_NHWC},     {"NONTRIVIAL", UDO_LAYOUT_NONE},
                   {"UNDEFINED", UDO_LAYOUT_NONE}, {"BACKEND_SPECIFIC", LAYOUT_SPECIFIC}};
    const char *names[COUNT_OF(layouts)];
    for (size_t i = 0; i < COUNT_OF(layouts); i++)
        names[i] = layouts[i].name;
    size_t at = xml_text_offset(o->xml, node);
    if (strcmp(node->text, "NHCW") == 0) {
        xml_warn(o->xml, at, "write NCHW", "udo-misspelt-layout", "the layout NHCW is taken as NCHW");
        return UDO_LAYOUT_NCHW;
    }
    int i = opdef_word(o, at, node->text, names, COUNT_OF(names), "layout");
    return i < 0 ? UDO_LAYOUT_NONE : layouts[i].layout;
}

static const struct xml_node *layout_node(const struct xml_node *tensor)
{
    return opdef_child(xml_child(tensor, "Shape"), "Layout");
}

/* A tensor has one layout in the graph, so all backends must agree on it. */
static enum udo_layout resolve_layout(struct opdef *o, const struct xml_node *tensor, const struct backends *b,
                                      const char **unresolved)
{
    const struct xml_node *own = layout_node(tensor), *first = NULL;
    int base = own ? read_layout(o, own) : UDO_LAYOUT_NONE, result = LAYOUT_SPECIFIC;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct xml_node *override = layout_node(b->list[i].node), *from = override ? override : own;
        int layout = override ? read_layout(o, override) : base;
        if (layout == LAYOUT_SPECIFIC) {
            check_specific(o, from, "layout", core_name(b->list[i].backend), unresolved);
            continue;
        }
        if (result != LAYOUT_SPECIFIC && layout != result) {
            (void)xml_error(o->xml, from ? from->offset : tensor->offset,
                            "list only backends that agree in <SupportedBackend>, and convert once for each layout",
                            "udo-layouts-differ",
                            "the backends want this tensor in different layouts, but it has only one in the container");
            xml_note(o->xml, first ? first->offset : tensor->offset, "udo-first", "the other is here");
            return UDO_LAYOUT_NONE;
        }
        result = layout;
        first = from;
    }
    if (!b->count)
        result = base;
    if (!b->count && base == LAYOUT_SPECIFIC)
        check_specific(o, own, "layout", "any backend", unresolved);
    return result == LAYOUT_SPECIFIC ? UDO_LAYOUT_NONE : (enum udo_layout)result;
}

/* ---- tensors ---- */

static const char *const ranks[] = {"SCALAR", "0D", "1D", "2D", "3D", "4D", "5D", "ND"};

bool opdef_is_scalar(const struct xml_node *parameter)
{
    const struct xml_node *rank = xml_child(xml_child(parameter, "Shape"), "Rank");
    return rank && strcmp(rank->text, "SCALAR") == 0;
}

/* Whether it has a rank decides only about params. */
static void read_shape(struct opdef *o, const struct xml_node *tensor, bool is_param, struct udo_tensor *out)
{
    const struct xml_node *shape = xml_child(tensor, "Shape"), *rank = opdef_child(shape, "Rank"),
                          *about = opdef_child(shape, "Text");
    if (rank)
        (void)opdef_word(o, xml_text_offset(o->xml, rank), rank->text, ranks, COUNT_OF(ranks), "rank");
    else if (is_param)
        (void)xml_error(o->xml, shape ? shape->offset : tensor->offset,
                        "SCALAR makes it a scalar param, 1D and the like a tensor param", "udo-missing-element",
                        "<Rank> is missing in the <Shape> of a <Parameter>");
    out->rank = rank ? rank->text : NULL;
    out->shape_text = about ? about->text : NULL;
}

static struct udo_words read_enumeration(struct opdef *o, const struct xml_node *parameter)
{
    const struct xml_node *e = xml_child(parameter, "Enumeration");
    struct map seen;
    VEC(const char *) words = {0};
    if (!opdef_child(e, "Enum"))
        return (struct udo_words){.count = 0};
    map_init(&seen, o->arena);
    for (const struct xml_node *word = xml_child(e, "Enum"); word; word = xml_next(word)) {
        if (!*word->text) /* numbers count from the first on */
            (void)xml_error(o->xml, word->offset, "remove it", "udo-missing-element",
                            "<Enum> in <Enumeration> is empty");
        uint32_t first = map_add(&seen, word->text, word->offset);
        if (first != MAP_NONE) {
            (void)xml_error(o->xml, word->offset, NULL, "udo-duplicate-enum", "second <Enum> '%s'", word->text);
            xml_note(o->xml, first, "udo-first", "the first is here");
        }
        vec_push(o->arena, &words, word->text);
    }
    return (struct udo_words){.words = words.data, .count = (uint32_t)words.count};
}

/* Params and defaults hold values, which quantized types cannot: they take the first type that can. */
static enum dtype value_type(const struct tensor_types *t)
{
    enum dtype dtype = t->dtype;
    for (int i = DT_NONE + 1; dtype_is_fixed(dtype) && i < DT_COUNT; i++)
        if (t->several & DTYPE_BIT(i) && !dtype_is_fixed((enum dtype)i))
            dtype = (enum dtype)i;
    return dtype;
}

static const char *kind_of(enum opdef_role role)
{
    static const char *const kinds[] = {"Input", "Output", "Parameter"};
    return kinds[role];
}

static void check_enumeration(struct opdef *o, const struct xml_node *node, const struct udo_words *words,
                              enum dtype dtype)
{
    if (words->count && dtype != DT_NONE && !dtype_is_int(dtype))
        (void)xml_error(o->xml, xml_child(node, "Enumeration")->offset, "UINT_32 is usual", "udo-enum-type",
                        "an enumeration is stored as a number, so its <Datatype> must be an integer type");
}

/* The default, where anything asks for its value; returns the cores that take nothing else. */
static const char *read_default(struct opdef *o, const struct xml_node *node, const struct backends *own,
                                enum dtype dtype, enum opdef_role role, bool optional,
                                const struct udo_words *enumeration, const struct param **value)
{
    const struct xml_node *given = opdef_child(node, "Default");
    const char *only = opdef_only_default(o, own);
    if (only && !given)
        xml_warn(o->xml, node->offset, "give a <Default>", "udo-only-default",
                 "<OnlyDefaultSupported> is said of a <%s> without <Default>", node->name);
    if (given && (only || optional))
        *value = opdef_read_value(o, given, dtype, role != OPDEF_SCALAR, enumeration);
    return only;
}

void opdef_read_tensor(struct opdef *o, const struct xml_node *node, enum opdef_role role,
                       const struct backends *backends, struct udo_tensor *out)
{
    struct tensor_types types;
    struct backends own;
    *out = (struct udo_tensor){.place = opdef_place(o, node)};
    out->name = opdef_text(o, node, "Name", role == OPDEF_PARAM);
    opdef_tensor_backends(backends, kind_of(role), out->name, &own);
    resolve_types(o, node, &own, &types);
    out->dtype = role == OPDEF_PARAM ? value_type(&types) : types.dtype;
    out->several = types.several;
    out->per_core = types.per_core;
    memcpy(out->core_dtypes, types.core_dtypes, sizeof out->core_dtypes);
    out->unresolved = types.unresolved;
    out->layout = resolve_layout(o, node, &own, &out->unresolved);
    out->is_static = role == OPDEF_INPUT && opdef_bool(o, node, "IsStaticTensor", false);
    out->repeated = role != OPDEF_PARAM && opdef_bool(o, node, "Repeated", false);
    out->optional = !opdef_bool(o, node, "Mandatory", true);
    out->enumeration = read_enumeration(o, node);
    read_shape(o, node, role == OPDEF_PARAM, out);
    check_enumeration(o, node, &out->enumeration, out->dtype);
    const struct xml_node *value = opdef_child(node, "Default");
    if (value && role == OPDEF_OUTPUT)
        (void)xml_error(o->xml, value->offset, NULL, "udo-output-default", "an output cannot have a default");
    else
        out->only_default =
            read_default(o, node, &own, value_type(&types), role, out->optional, &out->enumeration, &out->only_value);
    out->default_value = out->optional ? out->only_value : NULL;
    out->unused_default = value && !out->optional;
}

void opdef_read_scalar(struct opdef *o, const struct xml_node *node, const struct backends *backends,
                       struct udo_scalar *out)
{
    struct tensor_types types;
    struct backends own;
    *out = (struct udo_scalar){.place = opdef_place(o, node)};
    out->name = opdef_text(o, node, "Name", true);
    opdef_tensor_backends(backends, "Parameter", out->name, &own);
    resolve_types(o, node, &own, &types);
    out->unresolved = types.unresolved;
    (void)resolve_layout(o, node, &own, &out->unresolved);
    out->per_core = types.per_core;
    memcpy(out->core_dtypes, types.core_dtypes, sizeof out->core_dtypes);
    out->dtype = value_type(&types);
    out->several = types.several;
    out->optional = !opdef_bool(o, node, "Mandatory", true);
    out->enumeration = read_enumeration(o, node);
    check_enumeration(o, node, &out->enumeration, out->dtype);
    const struct xml_node *value = opdef_child(node, "Default");
    out->only_default =
        read_default(o, node, &own, out->dtype, OPDEF_SCALAR, out->optional, &out->enumeration, &out->only_value);
    out->default_value = out->optional ? out->only_value : NULL;
    out->unused_default = value && !out->optional;
}
