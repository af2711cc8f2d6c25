/* SPDX-License-Identifier: Apache-2.0 */
/* Which tensor of the checkpoint a variable has is what the graph itself says: one of its nodes assigns to it what
 * RestoreV2 reads under a name. In saved models of the second version these are inside of a function, which the node
 * that the saver names calls; variables and what is saved have different names there. Where the graph restores nothing,
 * the checkpoint may say it. */
#include "converters/tensorflow/normalize/variables.h"

#include <stdlib.h>
#include <string.h>

#include "converters/frontend/unknown_name.h"
#include "converters/tensorflow/normalize/inline_calls.h"
#include "converters/tensorflow/source/bundle.h"
#include "converters/tensorflow/schema/tf_fields.h"
#include "converters/tensorflow/schema/tf_schema.h"
#include "tensorflow.pb-c.h"

enum { MAX_HOPS = 16 }; /* through Identity, from an assignment to its variable or to what restores it */

/* A tensor of the checkpoint, as RestoreV2 asks for it. */
struct saved {
    const char *key, *slice; /* slice: "" for all of it */
};

struct variables {
    struct normalize *nz;
    const struct tf_source *source;
    struct bundle *bundle; /* NULL: not opened yet */
    bool traced, knows_objects;
    struct map index; /* name of a variable's node → saved */
    VEC(struct saved) saved;
    struct map objects; /* name of a variable → object_keys */
    VEC(const char *) object_keys;
};

struct variables *variables_create(struct normalize *nz, const struct tf_source *source)
{
    struct variables *v = arena_new(nz->m->memory.scratch, struct variables);
    *v = (struct variables){.nz = nz, .source = source};
    map_init(&v->index, nz->m->memory.scratch);
    map_init(&v->objects, nz->m->memory.scratch);
    return v;
}

bool is_variable(const char *op)
{
    return op_is(op, "VarHandleOp") || op_is(op, "VariableV2") || op_is(op, "Variable");
}

/* ---- what the graph would restore ---- */

static bool is_op(const struct source *s, const char *op)
{
    return s->frame && !s->is_arg && strcmp(source_node(s)->op, op) == 0;
}

/* What gives input k of the node, seen through Identity. */
static odlc_status operand(struct variables *v, const struct source *node, uint32_t k, struct source *out)
{
    struct source at = *node;
    for (int hops = 0; hops < MAX_HOPS; hops++) {
        const struct tf_node *n = source_node(&at);
        if (k >= n->n_inputs || n->inputs[k][0] == '^')
            break;
        TRY(find_source(v->nz, at.frame, n->inputs[k], n->name, out));
        if (!is_op(out, "Identity"))
            return ODLC_OK;
        at = *out;
        k = 0;
    }
    *out = (struct source){0};
    return ODLC_OK;
}

/* The text number `at` of a constant input; NULL when there is none. */
static odlc_status constant_text(struct variables *v, const struct source *node, uint32_t k, uint32_t at,
                                 const char **out)
{
    struct source constant;
    const struct fw_attr *attrs;
    uint32_t count;
    *out = NULL;
    TRY(operand(v, node, k, &constant));
    if (!is_op(&constant, "Const"))
        return ODLC_OK;
    TRY(node_attrs(v->nz, constant.frame, constant.node, &attrs, &count));
    for (uint32_t i = 0; i < count; i++) {
        const struct view *view = attrs[i].kind == FW_TENSOR ? &attrs[i].tensor->view : NULL;
        if (view && view->dtype == DT_STRING && at < shape_count(&view->shape))
            *out = view->strings[view->splat ? 0 : at];
    }
    return ODLC_OK;
}

static odlc_status trace_assignment(struct variables *v, const struct source *assign)
{
    struct source variable, restore;
    struct saved saved;
    TRY(operand(v, assign, 0, &variable));
    TRY(operand(v, assign, 1, &restore));
    if (!variable.frame || variable.frame != v->nz->top || !is_variable(source_node(&variable)->op) ||
        !is_op(&restore, "RestoreV2"))
        return ODLC_OK;
    TRY(constant_text(v, &restore, 1, restore.output, &saved.key));
    TRY(constant_text(v, &restore, 2, restore.output, &saved.slice));
    if (!saved.key || !saved.slice)
        return ODLC_OK;
    map_put(&v->index, source_node(&variable)->name, (uint32_t)v->saved.count);
    vec_push(v->nz->m->memory.scratch, &v->saved, saved);
    return ODLC_OK;
}

static odlc_status trace_body(struct variables *v, struct frame *frame)
{
    for (uint32_t i = 0; i < frame->body->nodes.count; i++) {
        const struct source node = {.frame = frame, .node = i};
        if (is_op(&node, "Assign") || is_op(&node, "AssignVariableOp"))
            TRY(trace_assignment(v, &node));
    }
    return ODLC_OK;
}

static odlc_status trace_all(struct variables *v)
{
    struct frame *top = v->nz->top, *restoring = NULL;
    uint32_t node = tf_body_find(top->body, v->source->restore_op);
    TRY(trace_body(v, top));
    if (node != MAP_NONE)
        TRY(call_frame(v->nz, top, node, &restoring));
    return restoring ? trace_body(v, restoring) : ODLC_OK;
}

/* Nodes that cannot be followed restore nothing that is known: names are what remains. */
static void trace(struct variables *v)
{
    struct diags *diags = v->nz->m->diags, quiet;
    diags_init(&quiet, v->nz->m->memory.scratch);
    v->traced = true;
    v->nz->m->diags = &quiet;
    (void)trace_all(v);
    v->nz->m->diags = diags;
}

/* ---- what the checkpoint says ---- */

static void add_attribute(struct variables *v, const struct file *file, const struct wire_field *attribute)
{
    const struct sections s = wire_sections(file, attribute->content, attribute->content + attribute->size);
    struct wire names = wire_section(file, &s, SERIALIZED_FULL_NAME), keys = wire_section(file, &s, SERIALIZED_KEY);
    struct arena *arena = v->nz->m->memory.scratch;
    struct wire_field name, key;
    if (!wire_next_of(&names, SERIALIZED_FULL_NAME, &name) || !wire_next_of(&keys, SERIALIZED_KEY, &key))
        return;
    map_add(&v->objects, arena_strndup(arena, wire_bytes(file, &name), name.size), (uint32_t)v->object_keys.count);
    vec_push(arena, &v->object_keys, arena_strndup(arena, wire_bytes(file, &key), key.size));
}

/* Checkpoints of the second version list the objects that were saved, and the keys of their variables. */
static odlc_status read_objects(struct variables *v)
{
    bool found;
    struct file file;
    struct wire_field node, attribute;
    v->knows_objects = true;
    TRY(bundle_find_bytes(v->bundle, "_CHECKPOINTABLE_OBJECT_GRAPH", &found, &file));
    if (!found)
        return ODLC_OK;
    TRY(wire_check(v->nz->m->diags, &file, &tensorflow_schema, &tensorflow__trackable_object_graph__descriptor));
    for (struct wire w = wire_of(&file, 0, file.size); wire_next_of(&w, OBJECTS_NODE, &node);)
        for (struct wire in = wire_in(&file, &node); wire_next_of(&in, OBJECT_ATTRIBUTE, &attribute);)
            add_attribute(v, &file, &attribute);
    return ODLC_OK;
}

/* The key of a variable whose name is none. */
static odlc_status object_key(struct variables *v, const char *name, const char **key)
{
    if (!v->knows_objects)
        TRY(read_objects(v));
    uint32_t at = map_get(&v->objects, name);
    *key = at == MAP_NONE ? name : v->object_keys.data[at];
    return ODLC_OK;
}

/* ---- slices ---- */

/* One axis of a part: "-" is all of it, "2,3" the three elements from the third on. */
static bool read_extent(const char **at, int64_t dim, int64_t *start, int64_t *count)
{
    char *end;
    *start = 0;
    *count = dim;
    if (**at == '-') {
        ++*at;
        return true;
    }
    *start = strtoll(*at, &end, 10);
    if (end == *at || *end != ',')
        return false;
    *at = end + 1;
    *count = strtoll(*at, &end, 10);
    bool said = end > *at;
    *at = end;
    return said && *start >= 0 && *count >= 0 && *start <= dim && *count <= dim - *start;
}

/* "10 2 0,5:-" is rows 0 to 4 of a tensor of shape [10, 2]: partitioned variables are saved as one. Rows are all that
 * is cut here. */
static bool cut_rows(struct view *view, const char *slice)
{
    const char *space = strrchr(slice, ' '), *at = space ? space + 1 : slice;
    int64_t start = 0, count = 0, first = 0;
    bool understood = view->dtype != DT_STRING && view->shape.rank > 0;
    for (uint32_t i = 0; understood && i < view->shape.rank; i++) {
        bool separated = i == 0 || *at++ == ':';
        understood = separated && read_extent(&at, view->shape.dims[i], &start, &count) &&
                     (i == 0 || count == view->shape.dims[i]);
        if (i == 0 && understood) {
            first = start;
            view->shape.dims[0] = count;
        }
    }
    view->bytes +=
        understood ? (uint64_t)first * shape_count_range(&view->shape, 1, view->shape.rank) * dtype_size(view->dtype)
                   : 0;
    return understood && !*at;
}

/* ---- values ---- */

static odlc_status open_checkpoint(struct variables *v, const char *name)
{
    if (v->bundle)
        return ODLC_OK;
    const char *hint = "freeze the graph, or give the saved model's folder or the .meta file beside the checkpoint";
    if (!v->source->checkpoint)
        return diag_error(v->nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(v->nz->m), .node = name, .hint = hint),
                          "no-checkpoint", "variable %s has no value: the model has no checkpoint", name);
    return bundle_open(v->nz->m->memory.kept, v->nz->m->diags, v->source->folder, v->source->checkpoint, &v->bundle);
}

/* The name that the variable is saved under where nothing says otherwise. */
static odlc_status own_name(struct variables *v, const struct source *node, const char **out)
{
    const struct fw_attr *attrs;
    uint32_t count;
    *out = source_node(node)->name;
    TRY(node_attrs(v->nz, node->frame, node->node, &attrs, &count));
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(attrs[i].name, "shared_name") == 0 && attrs[i].kind == FW_STRING && *attrs[i].s)
            *out = attrs[i].s;
    return ODLC_OK;
}

/* The value of the variable that the node is: that which the graph's own nodes would read into it, or else that of its
 * name. The checkpoint is opened when the first one is asked for. */
static odlc_status variable_value(struct variables *v, const struct source *node, struct view *out)
{
    const char *name = source_node(node)->name, *slice = "", *key;
    bool found;
    TRY(open_checkpoint(v, name));
    if (!v->traced)
        trace(v);
    uint32_t at = node->frame == v->nz->top ? map_get(&v->index, name) : MAP_NONE;
    if (at != MAP_NONE) {
        key = v->saved.data[at].key;
        slice = v->saved.data[at].slice;
    } else {
        TRY(own_name(v, node, &key));
    }
    TRY(bundle_find(v->bundle, key, &found, out));
    if (!found && at == MAP_NONE) {
        TRY(object_key(v, key, &key));
        TRY(bundle_find(v->bundle, key, &found, out));
    }
    if (found && *slice && !cut_rows(out, slice))
        return diag_error(v->nz->m->diags, ODLC_ERR_UNSUPPORTED, AT(IN_MODEL(v->nz->m), .node = name), "variable-slice",
                          "the variable is the part \"%s\" of a saved tensor, which is not supported", slice);
    if (found)
        return ODLC_OK;
    size_t count;
    const char *const *keys = bundle_keys(v->bundle, &count);
    return unknown_name(v->nz->m->diags, v->nz->m->file->path,
                        &(struct unknown_name){.status = ODLC_ERR_INVALID,
                                               .code = "variable-not-saved",
                                               .message = "the checkpoint has no tensor for the variable",
                                               .name = key,
                                               .known = keys,
                                               .n_known = count,
                                               .listed_as = "saved tensors"});
}

/* ---- by the objects of a saved program ---- */

/* The object that the attribute of the object leads to; false: none. */
static bool child_of(const struct file *file, const struct wire_field *object, const char *name, uint64_t *out)
{
    struct wire_field child;
    for (struct wire w = wire_in(file, object); wire_next_of(&w, OBJECT_CHILD, &child);) {
        const struct sections s = wire_sections(file, child.content, child.content + child.size);
        const struct wire_field node = wire_only(file, &s, CHILD_NODE), local = wire_only(file, &s, CHILD_NAME);
        if (local.size == strlen(name) && memcmp(wire_bytes(file, &local), name, local.size) == 0) {
            *out = node.value;
            return true;
        }
    }
    return false;
}

static bool object_at(const struct file *file, uint64_t index, struct wire_field *out)
{
    struct wire w = wire_of(file, 0, file->size);
    while (wire_next_of(&w, OBJECTS_NODE, out))
        if (index-- == 0)
            return true;
    return false;
}

/* The key of the object's value; NULL: the checkpoint has none. */
static odlc_status key_at_path(struct variables *v, const char *const *path, uint32_t n_path, const char **key)
{
    bool found;
    struct file file;
    struct wire_field object, attribute;
    *key = NULL;
    TRY(bundle_find_bytes(v->bundle, "_CHECKPOINTABLE_OBJECT_GRAPH", &found, &file));
    if (!found)
        return ODLC_OK;
    TRY(wire_check(v->nz->m->diags, &file, &tensorflow_schema, &tensorflow__trackable_object_graph__descriptor));
    uint64_t index = 0;
    for (uint32_t i = 0; i < n_path; i++)
        if (!object_at(&file, index, &object) || !child_of(&file, &object, path[i], &index))
            return ODLC_OK;
    if (!object_at(&file, index, &object))
        return ODLC_OK;
    for (struct wire w = wire_in(&file, &object); !*key && wire_next_of(&w, OBJECT_ATTRIBUTE, &attribute);) {
        const struct sections s = wire_sections(&file, attribute.content, attribute.content + attribute.size);
        const struct wire_field text = wire_only(&file, &s, SERIALIZED_KEY);
        *key = arena_strndup(v->nz->m->memory.scratch, wire_bytes(&file, &text), text.size);
    }
    return ODLC_OK;
}

odlc_status variable_at_path(struct variables *v, const char *const *path, uint32_t n_path, const char *name,
                             struct view *out)
{
    const char *key;
    bool found = false;
    text attributes = {0};
    TRY(open_checkpoint(v, name));
    TRY(key_at_path(v, path, n_path, &key));
    if (key)
        TRY(bundle_find(v->bundle, key, &found, out));
    if (found)
        return ODLC_OK;
    for (uint32_t i = 0; i < n_path; i++)
        text_add(v->nz->m->diags->arena, &attributes, "%s%s", i ? "." : "", path[i]);
    return diag_error(v->nz->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(v->nz->m)), "variable-not-saved",
                      "the checkpoint has no value for the variable %s", attributes.count ? attributes.data : name);
}

void variables_list_files(const struct variables *v)
{
    size_t count = 0;
    const char *const *files = v->bundle ? bundle_files(v->bundle, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        vec_push(v->nz->m->memory.graph, &v->nz->model->files, files[i]);
}

/* ---- the stage ---- */

static odlc_status make(struct walk *w, struct visit *v, bool *made)
{
    const struct source s = visited(v);
    *made = is_variable(source_node(&s)->op);
    if (!*made)
        return ODLC_OK;
    struct fw_tensor t = {.name = source_name(w->nz, &s), .id = source_id(w->nz, &s)};
    w->nz->n_variables++;
    TRY(variable_value(w->nz->variables, &s, &t.view));
    walk_constant(w, t);
    return ODLC_OK;
}

const struct stage restore_variables = {.make = make};
