/* SPDX-License-Identifier: Apache-2.0 */
#include "opendlc/container.h"

#include <stdlib.h>
#include <string.h>

#include "api/container_work.h"
#include "api/cost.h"
#include "api/memory.h"
#include "api/stored.h"
#include "base/foreign.h"
#include "dlc/schema.h"
#include "ir/tensor_name.h"
#include "op/registry.h"
#include "package/package.h"
#include "package/registered_ops.h"
#include "runtime/check_types.h"

/* A part of the diagnostics. */
struct part {
    size_t first, count;
};

struct odlc_container {
    struct arena *arena;
    struct arena *scratch; /* rewound after each piece of work; diagnostics are in the other one */
    struct diags diags;
    struct part opened, verified;
    const char *given_path;     /* NULL: nothing was asked for yet */
    const struct dlc_file *dlc; /* NULL until it is open */
    struct odlc_summary summary;
    struct odlc_graph *graphs;
    struct map *op_names; /* per graph: name → index; without memory until it is asked for */
    size_t n_graphs;
    struct told_work told;
    struct progress progress;
};

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = {"APP_WRITE", "APP_READ", "UNKNOWN", "NATIVE", "STATIC", "NULL"};
    return kind < COUNT_OF(names) ? names[kind] : "UNKNOWN";
}

static odlc_class class_of(enum dtype dtype)
{
    static const odlc_class classes[] = {
        [CLASS_NONE] = ODLC_CLASS_UNKNOWN, [CLASS_BOOL] = ODLC_CLASS_BOOL,   [CLASS_INT] = ODLC_CLASS_INT,
        [CLASS_UINT] = ODLC_CLASS_UINT,    [CLASS_FLOAT] = ODLC_CLASS_FLOAT, [CLASS_STRING] = ODLC_CLASS_STRING,
        [CLASS_SFXP] = ODLC_CLASS_FIXED,   [CLASS_UFXP] = ODLC_CLASS_FIXED};
    return classes[dtype_info(dtype)->cls];
}

static void fill_encodings(struct arena *arena, const struct quant *quant, struct odlc_tensor *to)
{
    uint32_t count = quant->per_axis ? quant->count : 1;
    struct odlc_encoding *encodings = arena_array(arena, struct odlc_encoding, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct encoding *e = &quant->encodings[i];
        encodings[i] = (struct odlc_encoding){e->bitwidth, e->min, e->max, e->scale, e->offset};
    }
    to->n_encodings = count;
    to->overridden = quant->overridden;
    to->encoding_axis = quant->per_axis ? (int32_t)quant->axis : -1;
    to->encodings = encodings;
}

/* `from` must stay where it is: the elements are read through it. */
static void fill_tensor(struct arena *arena, const struct dlc_tensor *from, struct odlc_tensor *to)
{
    const struct dtype_info *dtype = dtype_info((enum dtype)from->dtype);
    *to = (struct odlc_tensor){.id = from->id,
                               .name = from->name,
                               .kind = kind_name(from->kind),
                               .dtype = dtype->display,
                               .dtype_code = from->dtype_code,
                               .element = class_of((enum dtype)from->dtype),
                               .rank = from->shape->rank,
                               .dims = from->shape->dims,
                               .count = shape_count(from->shape),
                               .axis_format = from->axis_format,
                               .encoding_axis = -1,
                               .handle = from};
    if (from->quant)
        fill_encodings(arena, from->quant, to);
    if (from->view && from->dtype != DT_STRING) {
        to->data = from->view->bytes;
        to->data_size = view_size(from->view, from->view->dtype);
    }
}

static odlc_value_kind value_kind(enum dlc_value_kind kind)
{
    static const odlc_value_kind kinds[] = {
        [DLC_BOOL] = ODLC_VALUE_BOOL,    [DLC_INT] = ODLC_VALUE_INT,       [DLC_UINT] = ODLC_VALUE_UINT,
        [DLC_FLOAT] = ODLC_VALUE_FLOAT,  [DLC_STRING] = ODLC_VALUE_STRING, [DLC_TENSOR] = ODLC_VALUE_TENSOR,
        [DLC_NESTED] = ODLC_VALUE_NESTED};
    return kinds[kind];
}

static const struct odlc_attribute *copy_attributes(struct arena *arena, const struct dlc_attr *from, uint32_t count);

/* The reader bounds the nesting. */
static void copy_value(struct arena *arena, const struct dlc_attr *from, struct odlc_attribute *to)
{
    if (from->kind == DLC_TENSOR) {
        struct odlc_tensor *tensor = arena_new(arena, struct odlc_tensor);
        fill_tensor(arena, from->tensor, tensor);
        to->tensor = tensor;
    } else if (from->kind == DLC_NESTED) {
        to->nested = copy_attributes(arena, from->nested, from->n_nested);
        to->n_nested = from->n_nested;
    } else if (from->kind == DLC_STRING) {
        to->s = from->s;
    } else if (from->kind == DLC_FLOAT) {
        to->f = from->f;
    } else {
        to->i = from->i;
    }
}

static const struct odlc_attribute *copy_attributes(struct arena *arena, const struct dlc_attr *from, uint32_t count)
{
    struct odlc_attribute *to = arena_array(arena, struct odlc_attribute, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct dlc_attr *a = &from[i];
        to[i] = (struct odlc_attribute){.name = a->name,
                                        .kind = value_kind((enum dlc_value_kind)a->kind),
                                        .supplemental = a->usage == 2,
                                        .dtype = a->usage ? dtype_info((enum dtype)a->dtype)->display : NULL};
        copy_value(arena, a, &to[i]);
    }
    return to;
}

static const struct odlc_operand *copy_operands(struct arena *arena, const struct dlc_graph *g,
                                                const struct odlc_tensor *tensors, const char *const *names,
                                                uint32_t count)
{
    struct odlc_operand *operands = arena_array(arena, struct odlc_operand, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = *names[i] ? map_get(&g->tensor_index, names[i]) : MAP_NONE;
        operands[i] = (struct odlc_operand){names[i], index == MAP_NONE ? NULL : &tensors[index]};
    }
    return operands;
}

static const char *package_of(const struct dlc_op *op)
{
    static const char *const names[] = {"packageName", "package_name"}; /* version 4, UDO layers of version 3 */
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct dlc_attr *attr = dlc_attr_find(op, names[i]);
        if (attr && attr->kind == DLC_STRING)
            return attr->s;
    }
    return NULL;
}

/* Fills all but what the op costs. */
static void fill_op(struct arena *arena, const struct dlc_graph *g, const struct odlc_tensor *tensors,
                    const struct dlc_op *from, struct odlc_op *to)
{
    struct odlc_tensor *params = arena_array(arena, struct odlc_tensor, from->n_params);
    for (uint32_t i = 0; i < from->n_params; i++)
        fill_tensor(arena, &from->params[i], &params[i]);
    to->id = from->id;
    to->name = from->name;
    to->type = from->type;
    to->package = package_of(from);
    if (!to->operator_name && to->package && strcmp(to->package, NATIVE_PACKAGE) == 0)
        to->operator_name = from->type;
    to->inputs = copy_operands(arena, g, tensors, from->inputs, from->n_inputs);
    to->outputs = copy_operands(arena, g, tensors, from->outputs, from->n_outputs);
    to->n_inputs = from->n_inputs;
    to->n_outputs = from->n_outputs;
    to->attributes = copy_attributes(arena, from->attrs, from->n_attrs);
    to->n_attributes = from->n_attrs;
    to->params = params;
    to->n_params = from->n_params;
}

static const struct odlc_tensor *const *tensors_of_kind(struct arena *arena, const struct odlc_graph *graph,
                                                        const char *kind, size_t *count)
{
    VEC(const struct odlc_tensor *) found = {0};
    for (size_t i = 0; i < graph->n_tensors; i++)
        if (strcmp(graph->tensors[i].kind, kind) == 0)
            vec_push(arena, &found, &graph->tensors[i]);
    *count = found.count;
    return found.data;
}

/* The costs come first: what they take to be found out is given back before the rest is made. */
static void fill_graph(odlc_container *c, const struct dlc_file *dlc, uint32_t index, struct odlc_graph *to)
{
    const struct dlc_graph *from = &dlc->graphs[index];
    struct odlc_op *ops = arena_array(c->arena, struct odlc_op, from->n_ops);
    *to = (struct odlc_graph){.name = from->name, .ops = ops, .n_ops = from->n_ops};
    struct arena_mark mark = arena_mark(c->scratch);
    count_graph(c->scratch, &c->diags, dlc, index, to, ops);
    arena_rewind(c->scratch, mark);
    measure_memory(c->scratch, from, to);
    arena_rewind(c->scratch, mark);
    struct odlc_tensor *tensors = arena_array(c->arena, struct odlc_tensor, from->n_tensors);
    for (uint32_t i = 0; i < from->n_tensors; i++)
        fill_tensor(c->arena, &from->tensors[i], &tensors[i]);
    for (uint32_t i = 0; i < from->n_ops; i++)
        fill_op(c->arena, from, tensors, &from->ops[i], &ops[i]);
    to->tensors = tensors;
    to->n_tensors = from->n_tensors;
    to->inputs = tensors_of_kind(c->arena, to, "APP_WRITE", &to->n_inputs);
    to->outputs = tensors_of_kind(c->arena, to, "APP_READ", &to->n_outputs);
}

static const char *metadata_or_none(const struct dlc_file *dlc, const char *key)
{
    const char *value = dlc_metadata(dlc, key);
    return value ? value : "N/A";
}

static void fill_summary(odlc_container *c, const struct dlc_file *dlc)
{
    struct odlc_metadata *metadata = arena_array(c->arena, struct odlc_metadata, dlc->n_metadata);
    struct odlc_entry *entries = arena_array(c->arena, struct odlc_entry, dlc->n_entries);
    for (uint32_t i = 0; i < dlc->n_metadata; i++)
        metadata[i] = (struct odlc_metadata){dlc->metadata[i].key, dlc->metadata[i].value};
    for (uint32_t i = 0; i < dlc->n_entries; i++)
        entries[i] = (struct odlc_entry){
            dlc->entries[i].name,       dlc->entries[i].offset,
            dlc->entries[i].size,       dlc->entries[i].crc,
            dlc->entries[i].compressed, dlc->file->data ? dlc->file->data + dlc->entries[i].offset : NULL,
            dlc->entries[i].packed};
    c->summary = (struct odlc_summary){.path = dlc->file->path,
                                       .major = dlc->major,
                                       .minor = dlc->minor,
                                       .params_format = dlc->params_format,
                                       .model_version = metadata_or_none(dlc, "model-version"),
                                       .model_copyright = metadata_or_none(dlc, "model-copyright"),
                                       .converter_command = metadata_or_none(dlc, "converter-command"),
                                       .quantizer_command = metadata_or_none(dlc, "quantizer-command"),
                                       .converter_version = metadata_or_none(dlc, "converter-version"),
                                       .metadata = metadata,
                                       .n_metadata = dlc->n_metadata,
                                       .entries = entries,
                                       .n_entries = dlc->n_entries};
}

odlc_container *odlc_container_new(void)
{
    odlc_container *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->arena = arena_create();
    c->scratch = arena_create();
    if (!c->arena || !c->scratch) {
        odlc_container_free(c);
        return NULL;
    }
    diags_init(&c->diags, c->arena);
    c->progress = (struct progress){progress_tell, &c->told};
    return c;
}

void odlc_container_free(odlc_container *container)
{
    if (!container)
        return;
    arena_destroy(container->scratch);
    arena_destroy(container->arena);
    free(container);
}

void odlc_container_set_progress(odlc_container *container, odlc_work_fn *fn, void *user)
{
    container->told = (struct told_work){fn, user};
}

/* Of a version that cannot be read: what can be said of it all the same. Its own troubles are not worth a word. */
static void fill_outline(odlc_container *c, struct file *file)
{
    struct diags attempt;
    struct dlc_file *dlc;
    diags_init(&attempt, c->arena);
    if (dlc_read_outline(c->arena, &attempt, file, &dlc) == ODLC_OK && dlc->major != 3 && dlc->major != 4)
        fill_summary(c, dlc);
}

static odlc_status open_file(odlc_container *c, struct file *file)
{
    struct dlc_file *dlc;
    odlc_status status = dlc_read_file(c->arena, &c->diags, file, &dlc);
    if (status == ODLC_ERR_UNSUPPORTED)
        fill_outline(c, file);
    TRY(status);
    TRY(dlc_verify_graphs(&c->diags, dlc));
    fill_summary(c, dlc);
    struct odlc_graph *graphs = arena_array(c->arena, struct odlc_graph, dlc->n_graphs);
    for (uint32_t i = 0; i < dlc->n_graphs; i++)
        fill_graph(c, dlc, i, &graphs[i]);
    c->graphs = graphs;
    c->op_names = arena_array(c->arena, struct map, dlc->n_graphs);
    c->n_graphs = dlc->n_graphs;
    c->dlc = dlc;
    return ODLC_OK;
}

static struct part since(const odlc_container *c, size_t first)
{
    return (struct part){first, c->diags.list.count - first};
}

static odlc_status open_container(odlc_container *c, const char *path)
{
    const size_t first = c->diags.list.count;
    struct file *file;
    if (c->summary.path)
        return diag_error(&c->diags, ODLC_ERR_USAGE, AT(.file = path), "open-twice",
                          "an object opens one container only");
    c->given_path = arena_strdup(c->arena, path);
    odlc_status status = file_map(c->arena, &c->diags, path, &file);
    if (status == ODLC_OK)
        status = open_file(c, file);
    c->opened = since(c, first);
    return status;
}

odlc_status odlc_container_open(odlc_container *container, const char *path)
{
    if (setjmp(*arena_catch(container->arena)))
        return ODLC_ERR_NOMEM;
    if (setjmp(*arena_catch(container->scratch)))
        return ODLC_ERR_NOMEM;
    return open_container(container, path);
}

odlc_status odlc_container_open_bytes(odlc_container *container, const struct odlc_bytes *bytes)
{
    if (setjmp(*arena_catch(container->arena)))
        return ODLC_ERR_NOMEM;
    if (setjmp(*arena_catch(container->scratch)))
        return ODLC_ERR_NOMEM;
    diags_take_buffer(&container->diags, bytes);
    return open_container(container, bytes->name);
}

odlc_status container_open_source(odlc_container *container, const char *name, struct file_source *source)
{
    if (setjmp(*arena_catch(container->arena)))
        return ODLC_ERR_NOMEM;
    if (setjmp(*arena_catch(container->scratch)))
        return ODLC_ERR_NOMEM;
    return open_file(container, file_of_source(container->arena, name, source));
}

void odlc_container_release(const odlc_container *container)
{
    file_drop(container->dlc->file, 0, container->dlc->file->size);
}

/* What net-run cannot do is no fault of the container. */
static void add_runtimes(void *user, const char *package, const SnpeUdo_OperationInfo_t *info, uint32_t cores)
{
    const odlc_container *c = user;
    const unsigned runtimes = (cores & SNPE_UDO_CORETYPE_CPU ? ODLC_RUNTIME_CPU : 0u) |
                              (cores & SNPE_UDO_CORETYPE_GPU ? ODLC_RUNTIME_GPU : 0u) |
                              (cores & SNPE_UDO_CORETYPE_DSP ? ODLC_RUNTIME_DSP : 0u);
    for (size_t i = 0; i < c->n_graphs; i++)
        for (size_t k = 0; k < c->graphs[i].n_ops; k++) {
            struct odlc_op *op = (struct odlc_op *)&c->graphs[i].ops[k];
            if (!op->package || !package_names_match(op->package, package) ||
                strcmp(op->type, info->operationType) != 0)
                continue;
            op->runtimes |= runtimes;
            op->executable = (op->runtimes & ODLC_RUNTIME_CPU) != 0;
        }
}

odlc_status odlc_container_add_op_package(odlc_container *c, const char *path)
{
    if (setjmp(*arena_catch(c->arena))) {
        foreign_end();
        return ODLC_ERR_NOMEM;
    }
    if (!c->dlc)
        return diag_error(&c->diags, ODLC_ERR_USAGE, AT(.file = path), "usage", "no container is open");
    return registered_ops_tell(c->arena, &c->diags, path, add_runtimes, c);
}

static bool is_limit(const struct odlc_diag *d)
{
    return strcmp(d->code, "run-encoding") == 0;
}

/* Errors of the attempt, as findings in this file. */
static void add_findings(odlc_container *c, const struct diags *attempt)
{
    for (size_t i = 0; i < attempt->list.count; i++) {
        struct odlc_diag d = attempt->list.data[i];
        if (d.severity != ODLC_ERROR || is_limit(&d))
            continue;
        d.file = c->summary.path;
        diag_error(&c->diags, ODLC_ERR_INVALID, &d, d.code, "%s", d.message);
    }
}

static odlc_status check_all(odlc_container *c, struct diags *diags, const struct graph *ir)
{
    struct needed needed = needed_nodes(c->scratch, ir, ir->outputs.data, ir->outputs.count);
    return plan_check(c->scratch, diags, ir, &needed);
}

/* What only the operators' rules tell: params that miss or are of another nature, numbers of operands, shapes and types
 * that do not follow from the inputs. */
static void verify_meaning(odlc_container *c, uint32_t index)
{
    struct diags attempt;
    struct graph *ir;
    struct arena_mark mark = arena_mark(c->scratch);
    diags_init(&attempt, c->arena);
    if (dlc_to_ir(c->scratch, &attempt, op_registry_new(c->scratch), c->dlc, index, &ir) != ODLC_OK ||
        check_all(c, &attempt, ir) != ODLC_OK)
        add_findings(c, &attempt);
    arena_rewind(c->scratch, mark);
}

static odlc_status verify_container(odlc_container *c)
{
    size_t before = c->diags.errors;
    if (!c->dlc)
        return diag_error(&c->diags, ODLC_ERR_USAGE, AT(.file = NULL), "not-open",
                          "there is no open container to verify");
    TRY(dlc_verify_crcs(&c->diags, c->dlc, &c->progress)); /* what follows from damaged bytes would say nothing new */
    odlc_status status = dlc_check(&c->diags, c->dlc);
    if (status != ODLC_OK && status != ODLC_ERR_INVALID)
        return status;
    /* The rules need graphs whose records are in order. */
    for (uint32_t i = 0; i < c->dlc->n_graphs && c->dlc->major == 4 && c->diags.errors == before; i++)
        verify_meaning(c, i);
    return c->diags.errors == before ? ODLC_OK : ODLC_ERR_INVALID;
}

odlc_status odlc_container_verify(odlc_container *container)
{
    if (setjmp(*arena_catch(container->arena)))
        return ODLC_ERR_NOMEM;
    if (setjmp(*arena_catch(container->scratch)))
        return ODLC_ERR_NOMEM;
    const size_t first = container->diags.list.count;
    const odlc_status status = verify_container(container);
    container->verified = since(container, first);
    return status;
}

struct diags *container_diags(odlc_container *container)
{
    return &container->diags;
}

const char *container_given_path(const odlc_container *container)
{
    return container->given_path;
}

const struct odlc_diag *container_finding(const odlc_container *container, size_t index)
{
    const struct part *opened = &container->opened, *verified = &container->verified;
    if (index < opened->count)
        return &container->diags.list.data[opened->first + index];
    index -= opened->count;
    return index < verified->count ? &container->diags.list.data[verified->first + index] : NULL;
}

const char *container_other_spelling(struct arena *arena, const char *name)
{
    return tensor_name_respelled(arena, name);
}

const struct progress *container_progress(const odlc_container *container)
{
    return &container->progress;
}

const struct odlc_diag *odlc_container_diags(const odlc_container *container, size_t *count)
{
    *count = container->diags.list.count;
    return container->diags.list.data;
}

const struct odlc_summary *odlc_container_summary(const odlc_container *container)
{
    return &container->summary;
}

const struct odlc_graph *odlc_container_graphs(const odlc_container *container, size_t *count)
{
    *count = container->n_graphs;
    return container->graphs;
}

/* ---- by name ---- */

const struct odlc_graph *odlc_container_find_graph(const odlc_container *container, const char *name)
{
    if (!name)
        return container->n_graphs == 1 ? container->graphs : NULL;
    for (size_t i = 0; i < container->n_graphs; i++)
        if (strcmp(container->graphs[i].name, name) == 0)
            return &container->graphs[i];
    return NULL;
}

/* MAP_NONE: the graph has no tensor of that name, in none of its spellings. */
static uint32_t tensor_index(odlc_container *c, const struct map *names, const char *name)
{
    const uint32_t found = map_get(names, name);
    const struct arena_mark mark = arena_mark(c->scratch);
    const uint32_t other = found == MAP_NONE ? map_get(names, tensor_name_respelled(c->scratch, name)) : found;
    arena_rewind(c->scratch, mark);
    return other;
}

const struct odlc_tensor *odlc_container_find_tensor(odlc_container *container, const struct odlc_graph *graph,
                                                     const char *name)
{
    if (setjmp(*arena_catch(container->scratch)))
        return NULL;
    const struct dlc_graph *records = &container->dlc->graphs[graph - container->graphs];
    const uint32_t index = tensor_index(container, &records->tensor_index, name);
    return index == MAP_NONE ? NULL : &graph->tensors[index];
}

static const struct map *names_of_ops(odlc_container *c, const struct odlc_graph *graph)
{
    struct map *names = &c->op_names[graph - c->graphs];
    if (names->arena)
        return names;
    struct map made;
    map_init(&made, c->arena);
    map_reserve(&made, graph->n_ops);
    for (size_t i = 0; i < graph->n_ops; i++)
        (void)map_add(&made, graph->ops[i].name, (uint32_t)i);
    *names = made;
    return names;
}

const struct odlc_op *odlc_container_find_op(odlc_container *container, const struct odlc_graph *graph,
                                             const char *name)
{
    if (setjmp(*arena_catch(container->arena)))
        return NULL;
    const uint32_t index = map_get(names_of_ops(container, graph), name);
    return index == MAP_NONE ? NULL : &graph->ops[index];
}

/* ---- elements ---- */

static const struct view *view_of_tensor(const struct odlc_tensor *tensor)
{
    return ((const struct dlc_tensor *)tensor->handle)->view;
}

static void read_element(const struct odlc_tensor *tensor, uint64_t index, enum dtype as, void *out)
{
    const struct view *view = view_of_tensor(tensor);
    uint64_t element;
    convert_elements(out, as, view_elements(view, view->splat ? 0 : index, 1, &element), view->dtype, 1);
}

int64_t odlc_tensor_int(const struct odlc_tensor *tensor, uint64_t index)
{
    int64_t value = 0;
    read_element(tensor, index, DT_INT64, &value);
    return value;
}

double odlc_tensor_double(const struct odlc_tensor *tensor, uint64_t index)
{
    double value = 0;
    read_element(tensor, index, DT_FLOAT64, &value);
    return value;
}

/* Whoever reads through a large constant has no more than a few pieces of it resident: with the last byte of one, the
 * one before it is given back. */
static void release_behind(const struct view *view, uint64_t first, uint64_t count)
{
    enum { PIECE = 4 << 20 };
    uint64_t size = dtype_size(view->dtype);
    if (!view->file || !view->bytes)
        return;
    uint64_t start = (uint64_t)(view->bytes - view->file->data);
    uint64_t from = (start + first * size) / PIECE, to = (start + (first + count) * size) / PIECE;
    if (from < to && from)
        file_drop(view->file, (from - 1) * PIECE, (to - from) * PIECE);
}

void odlc_tensor_doubles(const struct odlc_tensor *tensor, uint64_t first, size_t count, double *out)
{
    const struct view *view = view_of_tensor(tensor);
    if (view->splat) {
        for (size_t i = 0; i < count; i++)
            out[i] = odlc_tensor_double(tensor, 0);
        return;
    }
    for (size_t done = 0, n; done < count; done += n) {
        uint64_t buffer[512];
        n = view_is_far(view) ? min_u64(COUNT_OF(buffer), count - done) : count;
        convert_elements(out + done, DT_FLOAT64, view_elements(view, first + done, n, buffer), view->dtype, n);
    }
    release_behind(view, first, count);
}

const char *odlc_tensor_string(const struct odlc_tensor *tensor, uint64_t index)
{
    const struct view *view = view_of_tensor(tensor);
    return view->strings[view->splat ? 0 : index];
}

static void dequantize(const struct odlc_tensor *tensor, uint64_t first, uint64_t count, double *reals)
{
    uint64_t run = tensor->n_encodings > 1 ? 1 : UINT64_MAX; /* elements of one encoding, side by side */
    for (uint32_t i = tensor->rank; run != UINT64_MAX && i-- > (uint32_t)tensor->encoding_axis + 1;)
        run *= (uint64_t)tensor->dims[i];
    uint64_t channel = first / run % tensor->n_encodings, left = run - first % run;
    for (uint64_t i = 0; i < count; left = run) {
        const struct odlc_encoding *e = &tensor->encodings[channel];
        for (uint64_t end = i + min_u64(left, count - i); i < end; i++)
            reals[i] = (reals[i] + e->offset) * e->scale;
        channel = channel + 1 < tensor->n_encodings ? channel + 1 : 0;
    }
}

void odlc_tensor_reals(const struct odlc_tensor *tensor, uint64_t first, uint64_t count, double *reals)
{
    odlc_tensor_doubles(tensor, first, count, reals);
    if (count && tensor->n_encodings && tensor->element == ODLC_CLASS_FIXED)
        dequantize(tensor, first, count, reals);
}

int odlc_tensor_readable(const struct odlc_tensor *tensor)
{
    const struct dlc_tensor *t = tensor->handle;
    if (!t->view || t->dtype == DT_NONE)
        return 0;
    return t->dtype == DT_STRING ? t->view->strings != NULL : t->view->bytes != NULL || view_is_far(t->view);
}

struct stored stored_elements(const struct odlc_tensor *tensor)
{
    return (struct stored){.bytes = tensor->data, .size = tensor->data_size, .view = view_of_tensor(tensor)};
}

struct stored stored_entry(const odlc_container *container, const struct odlc_entry *entry)
{
    return (struct stored){
        .bytes = entry->stored, .size = entry->stored_size, .file = container->dlc->file, .offset = entry->offset};
}

const void *stored_bytes(const struct stored *stored, uint64_t at, size_t size, void *buffer)
{
    if (stored->bytes)
        return (const uint8_t *)stored->bytes + at;
    if (stored->view) {
        const uint64_t element = dtype_size(stored->view->dtype);
        return view_elements(stored->view, at / element, size / element, buffer);
    }
    if (file_read_at(stored->file, stored->offset + at, buffer, size) != 0)
        memset(buffer, 0, size);
    return buffer;
}
