#include "converters/tensorflow/normalize/saved_functions.h"

#include <string.h>

#include "converters/frontend/unknown_name.h"
#include "converters/tensorflow/source/tf_fields.h"
#include "converters/tensorflow/decode/tf_types.h"
#include "converters/tensorflow/normalize/variables.h"

/* ---- the objects of the saved program ---- */

enum { MAX_DEPTH = 100 }; /* of objects within objects: what is deeper has no name */

struct object {
    struct wire_field message;
    uint32_t parent; /* that led to it first */
    uint32_t depth;
    const char *name; /* the parent's attribute; NULL: nothing led to it yet */
};

/* A name that a user may give, and the function in the library. */
struct candidate {
    const char *name, *concrete;
};

struct program {
    struct tf_model *m;
    struct wire_field message;
    VEC(struct object) objects;
    VEC(struct candidate) candidates;
};

static struct sections sections_of(const struct program *p, const struct wire_field *message)
{
    return wire_sections(p->m->file, message->content, message->content + message->size);
}

/* The attributes that lead from the root to the object. */
static const char *const *path_of(const struct program *p, uint32_t object, uint32_t *count)
{
    *count = 0;
    for (uint32_t at = object; at != 0; at = p->objects.data[at].parent)
        ++*count;
    const char **path = arena_array(p->m->memory.scratch, const char *, *count);
    for (uint32_t at = object, k = *count; at != 0; at = p->objects.data[at].parent)
        path[--k] = p->objects.data[at].name;
    return path;
}

static const char *dotted(const struct program *p, uint32_t object)
{
    uint32_t count;
    const char *const *path = path_of(p, object, &count);
    text t = {0};
    for (uint32_t i = 0; i < count; i++)
        text_add(p->m->memory.scratch, &t, "%s%s", i ? "." : "", path[i]);
    return t.count ? t.data : "";
}

/* One that means several functions is no name: they go by those in the library. */
static void add_candidates(struct program *p, uint32_t object, const struct wire_field *function)
{
    struct wire w = wire_in(p->m->file, function);
    struct wire_field f;
    const size_t first = p->candidates.count;
    const char *name = dotted(p, object);
    while (wire_next_of(&w, FUNCTION_CONCRETE, &f)) {
        const char *concrete = tf_text(p->m, &f);
        vec_push(p->m->memory.scratch, &p->candidates, (struct candidate){concrete, concrete});
    }
    if (p->candidates.count == first + 1)
        p->candidates.data[first].name = name;
}

/* Breadth first, so that names are short. */
static void follow_objects(struct program *p)
{
    VEC(uint32_t) open = {0};
    if (p->objects.count == 0)
        return;
    p->objects.data[0].name = "";
    vec_push(p->m->memory.scratch, &open, 0);
    for (size_t next = 0; next < open.count; next++) {
        const uint32_t at = open.data[next];
        const struct sections s = sections_of(p, &p->objects.data[at].message);
        struct wire children = wire_section(p->m->file, &s, OBJECT_CHILD);
        struct wire_field child;
        while (wire_next_of(&children, OBJECT_CHILD, &child)) {
            const struct sections c = sections_of(p, &child);
            const struct wire_field node = wire_only(p->m->file, &c, CHILD_NODE),
                                    name = wire_only(p->m->file, &c, CHILD_NAME);
            struct object *object = node.value < p->objects.count ? &p->objects.data[node.value] : NULL;
            if (!object || object->name || p->objects.data[at].depth == MAX_DEPTH)
                continue;
            object->parent = at;
            object->depth = p->objects.data[at].depth + 1;
            object->name = tf_text(p->m, &name);
            vec_push(p->m->memory.scratch, &open, (uint32_t)node.value);
        }
        const uint32_t kinds[] = {OBJECT_FUNCTION, OBJECT_BARE_FUNCTION};
        for (size_t i = 0; i < COUNT_OF(kinds); i++)
            if (s.of[kinds[i]].count) {
                const struct wire_field function = wire_only(p->m->file, &s, kinds[i]);
                add_candidates(p, at, &function);
            }
    }
}

static void read_program(struct tf_model *m, const struct sections *meta, struct program *p)
{
    struct wire_field f;
    *p = (struct program){.m = m, .message = wire_only(m->file, meta, META_OBJECTS)};
    struct wire w = wire_in(m->file, &p->message);
    while (wire_next_of(&w, SAVED_OBJECT, &f))
        vec_push(m->memory.scratch, &p->objects, (struct object){.message = f});
    follow_objects(p);
}

/* ---- choosing ---- */

typedef VEC(const char *) name_list;

/* Each function by the first name that was found, which is the shortest. */
static name_list names_of(struct program *p)
{
    name_list names = {0};
    struct map seen;
    map_init(&seen, p->m->memory.scratch);
    for (size_t i = 0; i < p->candidates.count; i++)
        if (map_add(&seen, p->candidates.data[i].concrete, 1) == MAP_NONE)
            vec_push(p->m->memory.scratch, &names, p->candidates.data[i].name);
    return names;
}

static odlc_status unknown_function(struct program *p, const char *name)
{
    const name_list known = names_of(p);
    return unknown_name(p->m->diags, p->m->file->path,
                        &(struct unknown_name){.code = "unknown-function",
                                               .message = "--saved_model_function: the saved model has no function",
                                               .name = name,
                                               .known = known.data,
                                               .n_known = known.count,
                                               .listed_as = "functions"});
}

static struct tf_bound bound_of(const struct program *p, uint64_t object)
{
    struct tf_bound bound = {.kind = BOUND_OTHER};
    if (object >= p->objects.count)
        return bound;
    const struct sections s = sections_of(p, &p->objects.data[object].message);
    if (s.of[OBJECT_VARIABLE].count && p->objects.data[object].name) {
        bound.kind = BOUND_VARIABLE;
        bound.path = path_of(p, (uint32_t)object, &bound.n_path);
    } else if (s.of[OBJECT_CONSTANT].count) {
        const struct wire_field constant = wire_only(p->m->file, &s, OBJECT_CONSTANT);
        const struct sections c = sections_of(p, &constant);
        const struct wire_field node = wire_only(p->m->file, &c, CONSTANT_OPERATION);
        bound.kind = BOUND_CONSTANT;
        bound.node = tf_text(p->m, &node);
    }
    return bound;
}

static odlc_status read_bound(const struct program *p, const char *concrete, struct tf_source *out)
{
    struct wire w = wire_in(p->m->file, &p->message);
    struct wire_field f;
    uint64_t object;
    while (wire_next_of(&w, SAVED_CONCRETE, &f)) {
        const struct sections entry = sections_of(p, &f);
        const struct wire_field key = wire_only(p->m->file, &entry, ENTRY_KEY),
                                value = wire_only(p->m->file, &entry, ENTRY_VALUE);
        if (strcmp(tf_text(p->m, &key), concrete) != 0)
            continue;
        struct wire_list list = wire_list_of(wire_in(p->m->file, &value), CONCRETE_BOUND, 0);
        while (wire_list_next(&list, &object))
            vec_push(p->m->memory.scratch, &out->bound, bound_of(p, object));
        return ODLC_OK;
    }
    return diag_error(p->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(p->m)), "tensorflow-function",
                      "the saved model does not say what the function %s takes from around it", concrete);
}

odlc_status choose_function(struct tf_model *m, const struct sections *meta, const char *name, struct tf_source *out)
{
    struct program p;
    read_program(m, meta, &p);
    for (size_t i = 0; i < p.candidates.count; i++) {
        const struct candidate *c = &p.candidates.data[i];
        if (strcmp(name, c->name) != 0 && strcmp(name, c->concrete) != 0)
            continue;
        out->function = c->concrete;
        return read_bound(&p, c->concrete, out);
    }
    return unknown_function(&p, name);
}

odlc_status report_no_signature(struct tf_model *m, const struct sections *meta)
{
    enum { NAMES_SHOWN = 20 };
    struct program p;
    text hint = {0};
    read_program(m, meta, &p);
    const name_list names = names_of(&p);
    if (names.count == 0)
        return diag_error(m->diags, ODLC_ERR_USAGE, AT(IN_MODEL(m), .hint = "name nodes of its graph with --out_node"),
                          "no-signature", "the saved model has no signatures and no functions");
    text_add(m->diags->arena, &hint, "name a function with --saved_model_function; the functions are: ");
    for (size_t i = 0; i < names.count && i < NAMES_SHOWN; i++)
        text_add(m->diags->arena, &hint, "%s%s", i ? ", " : "", names.data[i]);
    if (names.count > NAMES_SHOWN)
        text_add(m->diags->arena, &hint, ", … (%zu in all)", names.count);
    return diag_error(m->diags, ODLC_ERR_USAGE, AT(IN_MODEL(m), .hint = hint.data), "no-signature",
                      "the saved model has no signatures");
}

/* ---- arguments ---- */

static odlc_status constant_value(struct flatten *f, const char *name, struct view *out)
{
    const uint32_t node = map_get(&f->top->body->index, name);
    const struct fw_attr *attrs;
    uint32_t count = 0;
    if (node != MAP_NONE)
        TRY(node_attrs(f, f->top, node, &attrs, &count));
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(attrs[i].name, "value") == 0 && attrs[i].kind == FW_TENSOR) {
            *out = attrs[i].tensor->view;
            return ODLC_OK;
        }
    return diag_error(f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(f->m), .node = name), "tensorflow-function",
                      "the graph has no constant %s, which the function takes", name);
}

odlc_status bound_value(struct flatten *f, uint32_t arg, bool *bound, struct view *out)
{
    const struct tf_source *source = f->source;
    const size_t n_args = f->root->function->arg_names.count;
    const char *name = f->root->function->arg_names.data[arg];
    *bound = arg + source->bound.count >= n_args;
    if (!*bound)
        return ODLC_OK;
    if (source->bound.count > n_args)
        return diag_error(f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(f->m)), "tensorflow-function",
                          "function %s takes more from around it than it has arguments", source->function);
    const struct tf_bound *b = &source->bound.data[arg + source->bound.count - n_args];
    f->n_variables += b->kind == BOUND_VARIABLE;
    if (b->kind == BOUND_VARIABLE)
        return variable_at_path(f->variables, b->path, b->n_path, name, out);
    if (b->kind == BOUND_CONSTANT)
        return constant_value(f, b->node, out);
    return diag_error(f->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(f->m)), "tensorflow-function",
                      "function %s takes %s from around it, which is neither a variable nor a constant",
                      source->function, name);
}

/* The shape in the attributes of the argument. */
static odlc_status describe_shape(struct tf_model *m, const struct wire_field *attrs, const char *name,
                                  struct fw_value *out)
{
    struct wire w = wire_in(m->file, attrs);
    struct wire_field f, list, shape;
    while (wire_next_of(&w, ARG_ATTRS_ATTR, &f)) {
        const struct sections entry = wire_sections(m->file, f.content, f.content + f.size);
        const struct wire_field key = wire_only(m->file, &entry, ENTRY_KEY),
                                value = wire_only(m->file, &entry, ENTRY_VALUE);
        if (strcmp(tf_text(m, &key), "_output_shapes") != 0)
            continue;
        struct wire in = wire_in(m->file, &value);
        if (!wire_next_of(&in, ATTR_LIST, &list))
            continue;
        struct wire shapes = wire_in(m->file, &list);
        if (wire_next_of(&shapes, ATTR_SHAPE, &shape))
            TRY(tf_decode_shape(m, &shape, name, out));
    }
    return ODLC_OK;
}

odlc_status tf_describe_argument(struct tf_model *m, const struct tf_function *function, uint32_t arg,
                                 struct fw_value *out)
{
    const struct sections s =
        wire_sections(m->file, function->message.content, function->message.content + function->message.size);
    const struct wire_field signature = wire_only(m->file, &s, FUNCTION_SIGNATURE);
    struct wire args = wire_in(m->file, &signature), attrs = wire_section(m->file, &s, FUNCTION_ARG_ATTR);
    struct wire_field f;
    for (uint32_t i = 0; i <= arg && wire_next_of(&args, OP_DEF_INPUT_ARG, &f); i++) {
        const struct sections a = wire_sections(m->file, f.content, f.content + f.size);
        if (i == arg)
            out->dtype = tf_dtype((int64_t)wire_only(m->file, &a, ARG_TYPE).value);
    }
    while (wire_next_of(&attrs, FUNCTION_ARG_ATTR, &f)) {
        const struct sections entry = wire_sections(m->file, f.content, f.content + f.size);
        const struct wire_field value = wire_only(m->file, &entry, ENTRY_VALUE);
        if (wire_only(m->file, &entry, ENTRY_KEY).value == arg)
            TRY(describe_shape(m, &value, function->arg_names.data[arg], out));
    }
    return ODLC_OK;
}
