/* SPDX-License-Identifier: Apache-2.0 */
#include "converters/tensorflow/source/saved_program.h"

#include <string.h>

#include "converters/frontend/unknown_name.h"
#include "converters/tensorflow/schema/tf_fields.h"

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
    struct tf_source *source;
    struct wire_field message;
    VEC(struct object) objects;
    VEC(struct candidate) candidates;
};

static const char *text_of(const struct program *p, const struct wire_field *f)
{
    return wire_text(p->source->memory.kept, p->source->file, f);
}

/* The attributes that lead from the root to the object. */
static const char *const *path_of(const struct program *p, uint32_t object, uint32_t *count)
{
    *count = 0;
    for (uint32_t at = object; at != 0; at = p->objects.data[at].parent)
        ++*count;
    const char **path = arena_array(p->source->memory.scratch, const char *, *count);
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
        text_add(p->source->memory.scratch, &t, "%s%s", i ? "." : "", path[i]);
    return t.count ? t.data : "";
}

/* One that means several functions is no name: they go by those in the library. */
static void add_candidates(struct program *p, uint32_t object, const struct wire_field *function)
{
    struct wire w = wire_in(p->source->file, function);
    struct wire_field f;
    const size_t first = p->candidates.count;
    const char *name = dotted(p, object);
    while (wire_next_of(&w, FUNCTION_CONCRETE, &f)) {
        const char *concrete = text_of(p, &f);
        vec_push(p->source->memory.scratch, &p->candidates, (struct candidate){concrete, concrete});
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
    vec_push(p->source->memory.scratch, &open, 0);
    for (size_t next = 0; next < open.count; next++) {
        const uint32_t at = open.data[next];
        const struct sections s = wire_sections_of(p->source->file, &p->objects.data[at].message);
        struct wire children = wire_section(p->source->file, &s, OBJECT_CHILD);
        struct wire_field child;
        while (wire_next_of(&children, OBJECT_CHILD, &child)) {
            const struct sections c = wire_sections_of(p->source->file, &child);
            const struct wire_field node = wire_only(p->source->file, &c, CHILD_NODE),
                                    name = wire_only(p->source->file, &c, CHILD_NAME);
            struct object *object = node.value < p->objects.count ? &p->objects.data[node.value] : NULL;
            if (!object || object->name || p->objects.data[at].depth == MAX_DEPTH)
                continue;
            object->parent = at;
            object->depth = p->objects.data[at].depth + 1;
            object->name = text_of(p, &name);
            vec_push(p->source->memory.scratch, &open, (uint32_t)node.value);
        }
        const uint32_t kinds[] = {OBJECT_FUNCTION, OBJECT_BARE_FUNCTION};
        for (size_t i = 0; i < COUNT_OF(kinds); i++)
            if (s.of[kinds[i]].count) {
                const struct wire_field function = wire_only(p->source->file, &s, kinds[i]);
                add_candidates(p, at, &function);
            }
    }
}

static struct program read_program(struct tf_source *source)
{
    struct program p = {.source = source, .message = wire_only(source->file, &source->meta, META_OBJECTS)};
    struct wire w = wire_in(source->file, &p.message);
    struct wire_field f;
    while (wire_next_of(&w, SAVED_OBJECT, &f))
        vec_push(source->memory.scratch, &p.objects, (struct object){.message = f});
    follow_objects(&p);
    return p;
}

/* ---- choosing ---- */

typedef VEC(const char *) name_list;

/* Each function by the first name that was found, which is the shortest. */
static name_list names_of(struct program *p)
{
    name_list names = {0};
    struct map seen;
    map_init(&seen, p->source->memory.scratch);
    for (size_t i = 0; i < p->candidates.count; i++)
        if (map_add(&seen, p->candidates.data[i].concrete, 1) == MAP_NONE)
            vec_push(p->source->memory.scratch, &names, p->candidates.data[i].name);
    return names;
}

static odlc_status unknown_function(struct program *p, const char *name)
{
    const name_list known = names_of(p);
    return unknown_name(p->source->diags, p->source->file->path,
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
    const struct sections s = wire_sections_of(p->source->file, &p->objects.data[object].message);
    if (s.of[OBJECT_VARIABLE].count && p->objects.data[object].name) {
        bound.kind = BOUND_VARIABLE;
        bound.path = path_of(p, (uint32_t)object, &bound.n_path);
    } else if (s.of[OBJECT_CONSTANT].count) {
        const struct wire_field constant = wire_only(p->source->file, &s, OBJECT_CONSTANT);
        const struct sections c = wire_sections_of(p->source->file, &constant);
        const struct wire_field node = wire_only(p->source->file, &c, CONSTANT_OPERATION);
        bound.kind = BOUND_CONSTANT;
        bound.node = text_of(p, &node);
    }
    return bound;
}

static odlc_status read_bound(const struct program *p, const char *concrete)
{
    struct wire w = wire_in(p->source->file, &p->message);
    struct wire_field f;
    uint64_t object;
    while (wire_next_of(&w, SAVED_CONCRETE, &f)) {
        const struct sections entry = wire_sections_of(p->source->file, &f);
        const struct wire_field key = wire_only(p->source->file, &entry, ENTRY_KEY),
                                value = wire_only(p->source->file, &entry, ENTRY_VALUE);
        if (strcmp(text_of(p, &key), concrete) != 0)
            continue;
        struct wire_list list = wire_list_of(wire_in(p->source->file, &value), CONCRETE_BOUND, 0);
        while (wire_list_next(&list, &object))
            vec_push(p->source->memory.scratch, &p->source->bound, bound_of(p, object));
        return ODLC_OK;
    }
    return diag_error(p->source->diags, ODLC_ERR_INVALID, AT(.file = p->source->file->path), "tensorflow-function",
                      "the saved model does not say what the function %s takes from around it", concrete);
}

odlc_status choose_function(struct tf_source *source, const char *name)
{
    struct program p = read_program(source);
    for (size_t i = 0; i < p.candidates.count; i++) {
        const struct candidate *c = &p.candidates.data[i];
        if (strcmp(name, c->name) != 0 && strcmp(name, c->concrete) != 0)
            continue;
        source->function = c->concrete;
        return read_bound(&p, c->concrete);
    }
    return unknown_function(&p, name);
}

odlc_status report_no_signature(struct tf_source *source)
{
    enum { NAMES_SHOWN = 20 };
    struct program p = read_program(source);
    text hint = {0};
    const name_list names = names_of(&p);
    if (names.count == 0)
        return diag_error(source->diags, ODLC_ERR_USAGE,
                          AT(.file = source->file->path, .hint = "name nodes of its graph with --out_node"),
                          "no-signature", "the saved model has no signatures and no functions");
    text_add(source->diags->arena, &hint, "name a function with --saved_model_function; the functions are: ");
    for (size_t i = 0; i < names.count && i < NAMES_SHOWN; i++)
        text_add(source->diags->arena, &hint, "%s%s", i ? ", " : "", names.data[i]);
    if (names.count > NAMES_SHOWN)
        text_add(source->diags->arena, &hint, ", … (%zu in all)", names.count);
    return diag_error(source->diags, ODLC_ERR_USAGE, AT(.file = source->file->path, .hint = hint.data), "no-signature",
                      "the saved model has no signatures");
}
