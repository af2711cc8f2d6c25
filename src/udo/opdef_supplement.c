/* SPDX-License-Identifier: Apache-2.0 */
/* What the backends of an OpDef file say beside its OpDefs. */
#include <string.h>

#include "udo/opdef.h"
#include "udo/udo_cores.h"

static const char *const backend_names[BACKENDS] = {
    [BACKEND_CPU] = "CPU", [BACKEND_GPU] = "GPU", [BACKEND_DSP] = "DSP", [BACKEND_HTP] = "HTP", [BACKEND_AIC] = "AIC"};

int opdef_core(enum udo_backend backend)
{
    static const int cores[BACKENDS] = {[BACKEND_CPU] = UDO_CPU,
                                        [BACKEND_GPU] = UDO_GPU,
                                        [BACKEND_DSP] = UDO_DSP,
                                        [BACKEND_HTP] = UDO_DSP,
                                        [BACKEND_AIC] = -1};
    return cores[backend];
}

const char *opdef_core_label(enum udo_backend backend)
{
    return backend == BACKEND_HTP ? "DSP (HTP)" : backend_names[backend];
}

const char *opdef_only_default(struct opdef *o, const struct backends *tensor)
{
    text cores = {0};
    for (uint32_t i = 0; i < tensor->count; i++)
        if (opdef_bool(o, tensor->list[i].node, "OnlyDefaultSupported", false))
            text_add(o->arena, &cores, "%s%s", cores.count ? ", " : "", opdef_core_label(tensor->list[i].backend));
    return cores.data;
}

/* The backend of a name, and the architecture in it: "DSP_V68" is the DSP with "v68". One that is not known concerns
 * nobody here, so it is only a warning. */
static int read_backend(struct opdef *o, size_t offset, const char *name, const char **arch)
{
    const char *dash = strchr(name, '_');
    const char *plain = dash ? arena_strndup(o->arena, name, (size_t)(dash - name)) : name;
    int backend = 0;
    *arch = NULL;
    while (backend < BACKENDS && strcmp(plain, backend_names[backend]) != 0)
        backend++;
    if (backend < BACKENDS && !dash)
        return backend;
    if (backend == BACKEND_DSP || backend == BACKEND_HTP) {
        *arch = udo_find_arch(dash + 1);
        if (!*arch)
            xml_warn(o->xml, offset, "known are V60, V65, V66, V68, V69, V73, V75, V79, V81",
                     "udo-unknown-architecture", "unknown architecture '%s' of %s is ignored", dash + 1, plain);
        return backend;
    }
    const char *nearest = nearest_word(name, backend_names, BACKENDS);
    const char *hint = udo_is_npu(plain) ? "the NPU is the HTP: write HTP"
                       : nearest         ? arena_printf(o->arena, "did you mean %s?", nearest)
                                         : "known are CPU, GPU, DSP, HTP, AIC";
    xml_warn(o->xml, offset, hint, "udo-unknown-backend", "unknown backend '%s' is ignored", name);
    return -1;
}

/* ---- collecting ---- */

static void add(struct opdef *o, struct supplement s)
{
    if (!*s.name->text)
        return; /* reported as an empty name */
    uint32_t index = (uint32_t)o->supplements.count, first = map_add(&o->by_op, s.name->text, index);
    s.next = MAP_NONE;
    for (uint32_t at = first; at != MAP_NONE; at = o->supplements.data[at].next) {
        struct supplement *other = &o->supplements.data[at];
        if (s.supported_only == other->supported_only && other->backend == s.backend) {
            if (s.supported_only)
                return;
            (void)xml_error(o->xml, s.node->offset, NULL, "udo-duplicate-supplement",
                            "second supplement of '%s' for %s", s.name->text, backend_names[s.backend]);
            xml_note(o->xml, other->node->offset, "udo-first", "the first is here");
            return;
        }
        if (other->next == MAP_NONE) {
            other->next = index;
            break;
        }
    }
    vec_push(o->arena, &o->supplements, s);
}

static void collect_list(struct opdef *o, const struct xml_node *list)
{
    const struct xml_attr *a = xml_attr(list, "Backend");
    if (!a || !*a->value)
        (void)xml_error(o->xml, a ? a->offset : list->offset, NULL, "udo-missing-attribute",
                        "'Backend' of <SupplementalOpDefList> is missing");
    const char *arch;
    int backend = a && *a->value ? read_backend(o, a->offset, a->value, &arch) : -1;
    for (const struct xml_node *ops = xml_child(list, "SupportedOps"); ops; ops = xml_next(ops))
        for (const struct xml_node *op = xml_child(ops, "OpName"); op && backend >= 0; op = xml_next(op))
            add(o, (struct supplement){op, op, (enum udo_backend)backend, true, MAP_NONE});
    for (const struct xml_node *op = xml_child(list, "SupplementalOpDef"); op; op = xml_next(op))
        if (opdef_text(o, op, "Name", true) && backend >= 0)
            add(o, (struct supplement){op, xml_child(op, "Name"), (enum udo_backend)backend, false, MAP_NONE});
}

void opdef_collect(struct opdef *o, const struct xml_node *collection)
{
    for (const struct xml_node *list = xml_child(collection, "OpDefList"); list; list = xml_next(list))
        for (const struct xml_node *op = xml_child(list, "OpDef"); op; op = xml_next(op)) {
            const struct xml_node *name = xml_child(op, "Name");
            if (name && map_add(&o->known, name->text, (uint32_t)o->names.count) == MAP_NONE)
                vec_push(o->arena, &o->names, name->text);
        }
    for (const struct xml_node *list = xml_child(collection, "SupplementalOpDefList"); list; list = xml_next(list))
        collect_list(o, list);
}

void opdef_check_supplements(struct opdef *o)
{
    for (size_t i = 0; i < o->supplements.count; i++) {
        const struct supplement *s = &o->supplements.data[i];
        const char *name = s->name->text;
        if (map_get(&o->known, name) != MAP_NONE)
            continue;
        bool shown = source_shows_warnings(&o->xml->source);
        const char *nearest = shown ? nearest_word(name, o->names.data, o->names.count) : NULL;
        const char *hint = nearest ? arena_printf(o->arena, "did you mean '%s'?", nearest) : NULL;
        xml_warn(o->xml, xml_text_offset(o->xml, s->name), hint, "udo-unknown-op",
                 "the file has no OpDef '%s' that %s could go with", name,
                 s->supported_only ? "<SupportedOps>" : "a supplement");
    }
}

/* ---- what the backends of one operation say ---- */

static void add_arch(struct opdef *o, struct backends *out, const char *arch)
{
    for (size_t i = 0; i < out->archs.count; i++)
        if (strcmp(out->archs.data[i], arch) == 0)
            return;
    vec_push(o->arena, &out->archs, arch);
}

static void add_backend(struct backends *out, enum udo_backend backend, const struct xml_node *node)
{
    for (uint32_t i = 0; i < out->count; i++)
        if (out->list[i].backend == backend) {
            out->list[i].node = node ? node : out->list[i].node;
            return;
        }
    out->list[out->count].backend = backend;
    out->list[out->count++].node = node;
}

static void read_supported(struct opdef *o, const struct xml_node *op, struct backends *out)
{
    struct map seen;
    map_init(&seen, o->arena);
    for (const struct xml_node *b = xml_child(op, "SupportedBackend"); b; b = xml_next(b)) {
        size_t at = xml_text_offset(o->xml, b);
        const char *arch;
        int backend = *b->text ? read_backend(o, at, b->text, &arch) : -1;
        if (backend < 0)
            continue;
        if (map_add(&seen, b->text, 0) != MAP_NONE)
            xml_warn(o->xml, at, "remove one", "udo-twice", "second <SupportedBackend> '%s'", b->text);
        else if (arch)
            add_arch(o, out, arch);
        add_backend(out, (enum udo_backend)backend, NULL);
    }
}

void opdef_backends(struct opdef *o, const struct xml_node *op, const char *name, struct backends *out)
{
    *out = (struct backends){.count = 0};
    read_supported(o, op, out);
    bool listed = opdef_child(op, "SupportedBackend") != NULL;
    for (uint32_t at = map_get(&o->by_op, name); at != MAP_NONE; at = o->supplements.data[at].next) {
        const struct supplement *s = &o->supplements.data[at];
        if (s->supported_only)
            add_backend(out, s->backend, NULL);
    }
    for (uint32_t at = map_get(&o->by_op, name); at != MAP_NONE; at = o->supplements.data[at].next) {
        const struct supplement *s = &o->supplements.data[at];
        uint32_t count = out->count;
        if (s->supported_only)
            continue;
        add_backend(out, s->backend, s->node);
        if (!listed || out->count == count)
            continue;
        out->count = count;
        xml_warn(o->xml, s->node->offset,
                 arena_printf(o->arena, "add <SupportedBackend>%s</SupportedBackend> to the OpDef",
                              backend_names[s->backend]),
                 "udo-unsupported-backend", "the supplement of '%s' has no effect: the OpDef does not list %s", name,
                 backend_names[s->backend]);
    }
}

static const struct xml_node *named_child(const struct xml_node *node, const char *kind, const char *name)
{
    const struct xml_node *child = xml_child(node, kind);
    for (; child; child = xml_next(child)) {
        const struct xml_node *own = xml_child(child, "Name");
        if (own && strcmp(own->text, name) == 0)
            return child;
    }
    return NULL;
}

void opdef_tensor_backends(const struct backends *op, const char *kind, const char *name, struct backends *out)
{
    *out = *op;
    for (uint32_t i = 0; i < out->count; i++)
        out->list[i].node = name ? named_child(op->list[i].node, kind, name) : NULL;
}

static void check_override(struct opdef *o, const struct xml_node *op, const struct xml_node *override)
{
    const char *name = opdef_text(o, override, "Name", true);
    if (!name)
        return;
    const struct xml_node *first = named_child(override->parent, override->name, name);
    if (first != override) {
        (void)xml_error(o->xml, override->offset, NULL, "udo-duplicate-supplement", "second <%s> '%s' in a supplement",
                        override->name, name);
        xml_note(o->xml, first->offset, "udo-first", "the first is here");
    }
    if (named_child(op, override->name, name))
        return;
    VEC(const char *) names = {0};
    for (const struct xml_node *t = xml_child(op, override->name); t; t = xml_next(t))
        if (xml_child(t, "Name"))
            vec_push(o->arena, &names, xml_child(t, "Name")->text);
    const char *nearest = nearest_word(name, names.data, names.count);
    (void)xml_error(o->xml, xml_text_offset(o->xml, xml_child(override, "Name")),
                    nearest ? arena_printf(o->arena, "did you mean '%s'?", nearest) : NULL, "udo-unknown-operand",
                    "the OpDef has no <%s> '%s'", override->name, name);
    xml_note(o->xml, op->offset, "udo-original", "the OpDef is here");
}

enum { MAX_OVERRIDES = 2 * UDO_MAX_OPERANDS + 64 };

void opdef_check_overrides(struct opdef *o, const struct xml_node *op, const struct backends *backends)
{
    for (uint32_t i = 0; i < backends->count; i++) {
        const struct xml_node *supplement = backends->list[i].node;
        uint32_t count = 0;
        for (const struct xml_node *child = supplement ? supplement->child : NULL; child; child = child->next)
            if ((strcmp(child->name, "Input") == 0 || strcmp(child->name, "Output") == 0 ||
                 strcmp(child->name, "Parameter") == 0) &&
                ++count <= MAX_OVERRIDES)
                check_override(o, op, child);
        if (count > MAX_OVERRIDES)
            (void)xml_error(o->xml, supplement->offset, NULL, "udo-too-many", "more than %d tensors in a supplement",
                            MAX_OVERRIDES);
    }
}
