/* What the user says about a model is put into it before anything else looks at it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "converters/driver/driver.h"
#include "converters/frontend/unknown_name.h"

typedef VEC(const char *) name_list;

static name_list input_names(struct conversion *c)
{
    name_list names = {0};
    for (size_t i = 0; i < c->model->graph.inputs.count; i++)
        if (!c->model->graph.inputs.data[i].frozen)
            vec_push(c->scratch, &names, c->model->graph.inputs.data[i].name);
    return names;
}

static odlc_status not_known(struct conversion *c, const char *code, const char *message, const char *name,
                             const name_list *known, const char *listed_as)
{
    return unknown_name(&c->diags, c->model->path,
                        &(struct unknown_name){.code = code,
                                               .message = message,
                                               .name = name,
                                               .known = known->data,
                                               .n_known = known->count,
                                               .listed_as = listed_as});
}

static void index_inputs(struct conversion *c)
{
    const struct fw_graph *g = &c->model->graph;
    c->knows_inputs = true;
    map_init(&c->input_index, c->model_arena);
    for (size_t i = 0; i < g->inputs.count; i++)
        map_add(&c->input_index, g->inputs.data[i].name, (uint32_t)i);
}

/* NULL: the model has none of that name. */
static struct fw_value *input_of_name(struct conversion *c, const char *name)
{
    struct fw_graph *g = &c->model->graph;
    if (!c->knows_inputs)
        index_inputs(c);
    uint32_t at = map_get(&c->input_index, name);
    return at == MAP_NONE || g->inputs.data[at].frozen ? NULL : &g->inputs.data[at];
}

struct fw_value *find_model_input(struct conversion *c, const char *name, const char *option)
{
    struct fw_value *input = input_of_name(c, name);
    if (input)
        return input;
    struct arena_mark mark = arena_mark(c->scratch);
    const name_list names = input_names(c);
    const char *message = arena_printf(c->scratch, "%s: the model has no input", option);
    (void)not_known(c, "unknown-input", message, name, &names, "graph inputs");
    arena_rewind(c->scratch, mark);
    return NULL;
}

/* "1,3,224,224", or "[]" for a scalar. */
static bool parse_dims(const char *text, int64_t dims[MAX_RANK], uint32_t *rank)
{
    *rank = 0;
    if (strcmp(text, "[]") == 0)
        return true;
    for (const char *p = text; *p && *rank < MAX_RANK; p++) {
        char *end;
        errno = 0;
        long long value = strtoll(p, &end, 10);
        if (end == p || errno || value <= 0 || (*end && *end != ','))
            return false;
        dims[(*rank)++] = value;
        p = end;
        if (!*p)
            return true;
    }
    return false;
}

static odlc_status set_dims(struct conversion *c, struct fw_value *value, const char *text)
{
    int64_t dims[MAX_RANK];
    uint32_t rank;
    if (!parse_dims(text, dims, &rank))
        return diag_error(&c->diags, ODLC_ERR_USAGE,
                          AT(.hint = "positive numbers with commas: 1,3,224,224, or [] for a scalar"), "bad-dims",
                          "--input_dim %s: %s is not a list of dimensions", value->name, text);
    if (value->has_shape && value->rank != rank)
        return diag_error(&c->diags, ODLC_ERR_USAGE, AT(.file = c->model->path), "bad-dims",
                          "--input_dim %s: %u dimensions given, the model's input has %u", value->name, rank,
                          value->rank);
    if (!value->has_shape)
        value->dims = arena_array(c->model_arena, int64_t, rank);
    for (uint32_t i = 0; i < rank; i++) {
        if (value->has_shape && value->dims[i] != DIM_OPEN && value->dims[i] != dims[i]) {
            c->dims_overridden = true;
            diag_warn(&c->diags, AT(.file = c->model->path), "dims-overridden",
                      "input %s: dimension %u is %lld in the model, %lld is used", value->name, i,
                      (long long)value->dims[i], (long long)dims[i]);
        }
        value->dims[i] = dims[i];
    }
    value->has_shape = true;
    value->rank = (uint8_t)rank;
    return ODLC_OK;
}

/* The model has the value, but no output needs it: an option about it does no harm. */
static bool is_unneeded(struct conversion *c, const char *name, const char *option)
{
    size_t length = strcspn(name, ":"); /* of the node's name */
    for (size_t i = 0; !input_of_name(c, name) && i < c->n_unconsumed; i++)
        if (strncmp(c->unconsumed[i], name, length) == 0 && !c->unconsumed[i][length]) {
            diag_note(&c->diags, AT(.file = c->model->path, .node = name), "unneeded-input",
                      "%s %s: no output needs it, so the option has no effect", option, name);
            return true;
        }
    return false;
}

static odlc_status apply_input_options(struct conversion *c)
{
    const struct odlc_convert_options *o = c->options;
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < o->n_input_dims; i++) {
        if (is_unneeded(c, o->input_dims[i].name, "--input_dim"))
            continue;
        struct fw_value *value = find_model_input(c, o->input_dims[i].name, "--input_dim");
        if (!value || set_dims(c, value, o->input_dims[i].value) != ODLC_OK)
            status = ODLC_ERR_USAGE;
    }
    for (size_t i = 0; i < o->n_input_dtypes; i++) {
        if (is_unneeded(c, o->input_dtypes[i].name, "--input_dtype"))
            continue;
        struct fw_value *value = find_model_input(c, o->input_dtypes[i].name, "--input_dtype");
        enum dtype dtype = dtype_from_name(o->input_dtypes[i].value);
        if (value && dtype != DT_NONE)
            value->dtype = dtype;
        else
            status = ODLC_ERR_USAGE;
        if (value && dtype == DT_NONE)
            status =
                diag_error(&c->diags, ODLC_ERR_USAGE, AT(.hint = "float32, float16, int32, int64, uint8, bool, …"),
                           "bad-dtype", "--input_dtype %s: there is no type %s", value->name, o->input_dtypes[i].value);
    }
    for (size_t i = 0; i < o->n_input_layouts; i++)
        if (!is_unneeded(c, o->input_layouts[i].name, "--input_layout") &&
            !find_model_input(c, o->input_layouts[i].name, "--input_layout"))
            status = ODLC_ERR_USAGE;
    return status;
}

/* What --define_symbol is about. */
struct symbols {
    struct map known;   /* of the model's inputs */
    name_list names;    /* these, in their order */
    struct map defined; /* symbol → sizes */
    VEC(int64_t) sizes;
};

static const char *symbol_of(const struct fw_value *v, uint32_t k)
{
    return v->symbols ? v->symbols[k] : NULL;
}

static void list_symbols(struct conversion *c, struct symbols *s)
{
    const struct fw_graph *g = &c->model->graph;
    map_init(&s->known, c->scratch);
    map_init(&s->defined, c->scratch);
    for (size_t i = 0; i < g->inputs.count; i++) {
        const struct fw_value *v = &g->inputs.data[i];
        for (uint32_t k = 0; v->has_shape && k < v->rank; k++)
            if (symbol_of(v, k) && map_add(&s->known, symbol_of(v, k), 1) == MAP_NONE)
                vec_push(c->scratch, &s->names, symbol_of(v, k));
    }
}

static odlc_status define_symbol(struct conversion *c, struct symbols *s, const struct odlc_name_value *given)
{
    int64_t size[MAX_RANK];
    uint32_t rank;
    if (!parse_dims(given->value, size, &rank) || rank != 1)
        return diag_error(&c->diags, ODLC_ERR_USAGE, AT(.file = c->model->path), "bad-symbol",
                          "--define_symbol %s: %s is not a positive number", given->name, given->value);
    if (map_get(&s->known, given->name) == MAP_NONE)
        return not_known(c, "unknown-symbol", "--define_symbol: the model's inputs have no symbolic dimension",
                         given->name, &s->names, "symbols");
    if (map_add(&s->defined, given->name, (uint32_t)s->sizes.count) == MAP_NONE)
        vec_push(c->scratch, &s->sizes, size[0]);
    return ODLC_OK;
}

static odlc_status apply_symbols(struct conversion *c)
{
    const struct odlc_convert_options *o = c->options;
    const struct fw_graph *g = &c->model->graph;
    struct symbols s = {0};
    odlc_status status = ODLC_OK;
    list_symbols(c, &s);
    for (size_t i = 0; i < o->n_symbols; i++)
        if (define_symbol(c, &s, &o->symbols[i]) != ODLC_OK)
            status = ODLC_ERR_USAGE;
    for (size_t i = 0; i < g->inputs.count; i++) {
        const struct fw_value *v = &g->inputs.data[i];
        for (uint32_t k = 0; v->has_shape && k < v->rank; k++) {
            bool open = v->dims[k] == DIM_OPEN && symbol_of(v, k);
            uint32_t size = open ? map_get(&s.defined, symbol_of(v, k)) : MAP_NONE;
            if (size != MAP_NONE)
                v->dims[k] = s.sizes.data[size];
        }
    }
    return status;
}

/* --batch and --define_symbol fill the dimensions that are still open. */
static odlc_status fill_open_dims(struct conversion *c)
{
    const struct odlc_convert_options *o = c->options;
    struct fw_graph *g = &c->model->graph;
    for (size_t i = 0; i < g->inputs.count; i++) {
        struct fw_value *v = &g->inputs.data[i];
        if (o->batch <= 0 || !v->has_shape || v->rank == 0)
            continue;
        c->dims_overridden |= v->dims[0] != DIM_OPEN && v->dims[0] != o->batch;
        v->dims[0] = o->batch;
    }
    return o->n_symbols ? apply_symbols(c) : ODLC_OK;
}

/* ---- what the model declares of its other values ---- */

void note_symbols(struct conversion *c, const struct fw_value *input)
{
    for (uint32_t k = 0; input->has_shape && k < input->rank; k++) {
        if (!symbol_of(input, k) || input->dims[k] == DIM_OPEN)
            continue;
        uint32_t known = map_add(&c->symbols, symbol_of(input, k), (uint32_t)c->symbol_sizes.count);
        if (known == MAP_NONE)
            vec_push(c->model_arena, &c->symbol_sizes, input->dims[k]);
        else if (c->symbol_sizes.data[known] != input->dims[k])
            c->symbol_sizes.data[known] = DIM_OPEN;
    }
}

static void settle_value(const struct conversion *c, struct fw_value *v)
{
    if (c->dims_overridden)
        v->has_shape = false;
    for (uint32_t k = 0; v->has_shape && k < v->rank; k++) {
        bool open = v->dims[k] == DIM_OPEN && symbol_of(v, k);
        uint32_t known = open ? map_get(&c->symbols, symbol_of(v, k)) : MAP_NONE;
        if (known != MAP_NONE)
            v->dims[k] = c->symbol_sizes.data[known];
    }
}

/* Symbols have the sizes that the inputs give them. Where an input is not what the model says, neither are the shapes
 * that follow from it. */
static void settle_declared(const struct conversion *c, struct fw_graph *g)
{
    for (size_t i = 0; i < g->values.count; i++)
        settle_value(c, &g->values.data[i]);
    for (size_t i = 0; i < g->outputs.count; i++)
        settle_value(c, &g->outputs.data[i]);
    for (size_t i = 0; i < g->nodes.count; i++)
        for (size_t k = 0; k < g->nodes.data[i].n_attrs; k++)
            if (fw_attr_graph(&g->nodes.data[i].attrs[k]))
                settle_declared(c, fw_attr_graph(&g->nodes.data[i].attrs[k]));
}

static odlc_status check_input(struct conversion *c, const struct fw_value *v)
{
    if (v->not_a_tensor)
        return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = c->model->path), "input-type",
                          "graph input %s is not a tensor", v->name);
    if (v->dtype == DT_NONE)
        return diag_error(&c->diags, ODLC_ERR_INVALID, AT(.file = c->model->path, .hint = "give it with --input_dtype"),
                          "input-type", "graph input %s has no element type", v->name);
    if (v->dtype == DT_STRING)
        return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, AT(.file = c->model->path), "input-type",
                          "graph input %s holds strings: a container computes on numbers", v->name);
    return ODLC_OK;
}

static bool is_open(const struct fw_value *v)
{
    bool open = !v->has_shape;
    for (uint32_t k = 0; !open && k < v->rank; k++)
        open = v->dims[k] == DIM_OPEN;
    return open;
}

/* What is open of the graph inputs, and how it can be fixed. */
struct open_dims {
    text inputs, dims, symbols; /* each with its dimensions; --input_dim for each; --define_symbol for each */
    struct map known;           /* symbols */
    const struct fw_value *first;
    size_t count;
    bool firsts; /* one of them is open in its first dimension */
};

/* As an option takes them: <N>,<size>,3 */
static void add_option_dims(struct conversion *c, text *to, const struct fw_value *v)
{
    if (!v->has_shape)
        text_add(c->arena, to, "<dimensions, [] for a scalar>");
    for (uint32_t k = 0; v->has_shape && k < v->rank; k++) {
        const char *symbol = symbol_of(v, k), *before = k ? "," : "";
        if (v->dims[k] != DIM_OPEN)
            text_add(c->arena, to, "%s%lld", before, (long long)v->dims[k]);
        else
            text_add(c->arena, to, "%s<%s>", before, symbol ? symbol : "size");
    }
}

static void note_open(struct conversion *c, struct open_dims *open, const struct fw_value *v)
{
    open->first = open->count ? open->first : v;
    text_add(c->arena, &open->inputs, "%s%s [%s]", open->count ? ", " : "", v->name, fw_dims_text(c->arena, v));
    text_add(c->arena, &open->dims, "%s--input_dim %s ", open->count++ ? " " : "", v->name);
    add_option_dims(c, &open->dims, v);
    open->firsts |= v->has_shape && v->dims[0] == DIM_OPEN;
    for (uint32_t k = 0; v->has_shape && k < v->rank; k++) {
        const char *symbol = v->dims[k] == DIM_OPEN ? symbol_of(v, k) : NULL;
        if (symbol && map_add(&open->known, symbol, 1) == MAP_NONE)
            text_add(c->arena, &open->symbols, "%s--define_symbol %s <size>", open->symbols.count ? " " : "", symbol);
    }
}

static odlc_status report_open(struct conversion *c, const struct open_dims *open)
{
    text hint = {0};
    text_add(c->arena, &hint, "give %s (-d)", open->dims.data);
    if (open->symbols.count)
        text_add(c->arena, &hint, ", or %s (-s)", open->symbols.data);
    if (open->firsts)
        text_add(c->arena, &hint, ", or --batch <size> (-b) for the first dimension of every input");
    const struct odlc_diag *at = AT(.file = c->model->path, .hint = hint.data);
    if (open->count > 1)
        return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, at, "open-dims", "%zu graph inputs have open dimensions: %s",
                          open->count, open->inputs.data);
    const char *name = open->first->name;
    return diag_error(&c->diags, ODLC_ERR_UNSUPPORTED, at, "open-dims", "graph input %s has open dimensions: %s", name,
                      open->inputs.data + strlen(name) + 1);
}

/* ---- --out_node: the graph ends at given values or nodes ---- */

static odlc_status unknown_output(struct conversion *c, const char *name)
{
    const struct fw_graph *g = &c->model->graph;
    struct arena_mark mark = arena_mark(c->scratch);
    name_list names = {0};
    for (size_t i = g->nodes.count; i-- > 0;) {
        for (size_t k = 0; k < g->nodes.data[i].n_outputs; k++)
            if (*g->nodes.data[i].outputs[k])
                vec_push(c->scratch, &names, g->nodes.data[i].outputs[k]);
        vec_push(c->scratch, &names, g->nodes.data[i].name);
    }
    odlc_status status = not_known(c, "unknown-output", "--out_node: the model has no value or node", name, &names,
                                   "last values and nodes");
    arena_rewind(c->scratch, mark);
    return status;
}

/* The outputs of the options are being collected. */
struct cut {
    struct map nodes, values; /* name → node, name → number of the name */
    bool *taken;              /* per name */
};

static void add_cut_output(struct conversion *c, struct cut *cut, const char *name, fw_name id)
{
    if (id == FW_NO_NAME || cut->taken[id])
        return;
    cut->taken[id] = true;
    vec_push(c->model_arena, &c->model->graph.outputs, (struct fw_value){.name = name, .id = id});
}

static odlc_status cut_at(struct conversion *c, struct cut *cut, const char *name)
{
    const struct fw_graph *g = &c->model->graph;
    uint32_t node = map_get(&cut->nodes, name), value = map_get(&cut->values, name);
    if (value != MAP_NONE) {
        add_cut_output(c, cut, name, value);
        return ODLC_OK;
    }
    if (node == MAP_NONE)
        return unknown_output(c, name);
    const struct fw_node *n = &g->nodes.data[node];
    for (size_t k = 0; k < n->n_outputs; k++)
        add_cut_output(c, cut, n->outputs[k], fw_out_id(n, k));
    return ODLC_OK;
}

static odlc_status cut_at_outputs(struct conversion *c)
{
    struct fw_graph *g = &c->model->graph;
    const struct odlc_convert_options *o = c->options;
    struct cut cut = {.taken = arena_array(c->model_arena, bool, c->model->n_names)};
    map_init(&cut.nodes, c->model_arena);
    map_init(&cut.values, c->model_arena);
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct fw_node *n = &g->nodes.data[i];
        map_put(&cut.nodes, n->name, (uint32_t)i);
        for (size_t k = 0; k < n->n_outputs; k++)
            if (fw_out_id(n, k) != FW_NO_NAME)
                map_put(&cut.values, n->outputs[k], fw_out_id(n, k));
    }
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < g->outputs.count; i++) /* what they say stays known */
        vec_push(c->model_arena, &g->values, g->outputs.data[i]);
    g->outputs.count = 0;
    for (size_t i = 0; i < o->n_out_names; i++) {
        odlc_status found = cut_at(c, &cut, o->out_names[i]);
        if (found != ODLC_OK)
            status = found;
    }
    return status;
}

static void note_name(void *names, fw_name name)
{
    bool *noted = names;
    noted[name] = true;
}

/* Inputs that only the part left out reads go with it. */
static void drop_unread_inputs(struct conversion *c)
{
    struct fw_graph *g = &c->model->graph;
    bool *read = arena_array(c->scratch, bool, c->model->n_names);
    for (size_t i = 0; i < g->nodes.count; i++)
        if (c->live[i])
            fw_each_read(&g->nodes.data[i], note_name, read);
    size_t kept = 0;
    for (size_t i = 0; i < g->inputs.count; i++)
        if (read[g->inputs.data[i].id])
            g->inputs.data[kept++] = g->inputs.data[i];
    g->inputs.count = kept;
}

/* An unnamed node goes by its type and position, in the container and in diagnostics alike. */
static void name_nodes(struct conversion *c, struct fw_graph *g)
{
    for (size_t i = 0; i < g->nodes.count; i++) {
        struct fw_node *n = &g->nodes.data[i];
        if (!*n->name)
            n->name = arena_printf(c->arena, "%s_%zu", n->op->type, i);
        for (size_t k = 0; k < n->n_attrs; k++)
            if (fw_attr_graph(&n->attrs[k]))
                name_nodes(c, fw_attr_graph(&n->attrs[k]));
    }
}

static void find_live_nodes(struct conversion *c)
{
    const struct fw_graph *g = &c->model->graph;
    bool *needed = arena_array(c->scratch, bool, c->model->n_names);
    c->live = arena_array(c->model_arena, bool, g->nodes.count);
    for (size_t i = 0; i < g->outputs.count; i++)
        needed[g->outputs.data[i].id] = true;
    for (size_t i = g->nodes.count; i-- > 0;) {
        const struct fw_node *n = &g->nodes.data[i];
        c->live[i] = c->options->keep_disconnected_nodes;
        for (size_t k = 0; k < n->n_outputs; k++)
            c->live[i] |= fw_out_id(n, k) != FW_NO_NAME && needed[fw_out_id(n, k)];
        if (c->live[i])
            fw_each_read(n, note_name, needed);
    }
}

/* The names that --preserve_io picks out; those of dropped inputs and outputs are wrong, too. */
static odlc_status check_preserved(struct conversion *c)
{
    const struct odlc_convert_options *o = c->options;
    name_list names = input_names(c);
    odlc_status status = ODLC_OK;
    struct map known;
    map_init(&known, c->scratch);
    for (size_t i = 0; i < c->model->graph.outputs.count; i++)
        vec_push(c->scratch, &names, c->model->graph.outputs.data[i].name);
    for (size_t i = 0; i < names.count; i++)
        map_put(&known, names.data[i], 1);
    for (size_t i = 0; i < o->n_preserve_names; i++)
        if (map_get(&known, o->preserve_names[i]) == MAP_NONE)
            status = not_known(c, "unknown-io", "--preserve_io: the model has no input or output", o->preserve_names[i],
                               &names, "inputs and outputs");
    return status;
}

static odlc_status prepare(struct conversion *c)
{
    name_nodes(c, &c->model->graph);
    TRY(apply_input_options(c));
    TRY(fill_open_dims(c));
    map_init(&c->symbols, c->model_arena);
    for (size_t i = 0; i < c->model->graph.inputs.count; i++)
        note_symbols(c, &c->model->graph.inputs.data[i]);
    TRY(freeze_inputs(c));
    settle_declared(c, &c->model->graph);
    if (c->options->n_out_names)
        TRY(cut_at_outputs(c));
    find_live_nodes(c);
    if (c->options->n_out_names)
        drop_unread_inputs(c);
    if (c->options->n_preserve_names)
        TRY(check_preserved(c));
    return ODLC_OK;
}

odlc_status check_inputs(struct conversion *c)
{
    struct open_dims open = {.count = 0};
    odlc_status status = ODLC_OK;
    map_init(&open.known, c->model_arena);
    for (size_t i = 0; i < c->model->graph.inputs.count; i++) {
        const struct fw_value *v = &c->model->graph.inputs.data[i];
        odlc_status checked = check_input(c, v);
        if (checked != ODLC_OK)
            status = checked; /* all of them are reported */
        if (!v->not_a_tensor && v->dtype != DT_STRING && is_open(v))
            note_open(c, &open, v);
    }
    return open.count ? report_open(c, &open) : status;
}

odlc_status prepare_model(struct conversion *c)
{
    struct arena_mark mark = arena_mark(c->scratch);
    odlc_status status = prepare(c);
    arena_rewind(c->scratch, mark);
    return status;
}
