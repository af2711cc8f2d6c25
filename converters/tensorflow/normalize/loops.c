#include "converters/tensorflow/normalize/loops.h"

#include <stdlib.h>
#include <string.h>

#include "converters/tensorflow/normalize/conditions.h"

enum { MAX_NESTING = 64 }; /* of loops */
enum { MAX_SCOPES = 256 }; /* in a name that is inside of calls: each is looked up */

/* The loops of one body that give something the outputs need. */
struct loops {
    VEC(struct loop) list;
    uint32_t *of_cond; /* per node: the loop of a LoopCond is list[of_cond - 1] */
    uint32_t *mark;    /* per node: the loop, + 1, that was seen to need it last */
};

static const struct tf_node *node_at(const struct frame *frame, uint32_t node)
{
    return &frame->body->nodes.data[node];
}

static bool is_enter(const char *op)
{
    return strcmp(op, "Enter") == 0 || strcmp(op, "RefEnter") == 0;
}

static bool is_exit(const char *op)
{
    return strcmp(op, "Exit") == 0 || strcmp(op, "RefExit") == 0;
}

static bool is_next(const char *op)
{
    return strcmp(op, "NextIteration") == 0 || strcmp(op, "RefNextIteration") == 0;
}

static odlc_status bad_loop(const struct flatten *f, const char *node, const char *what)
{
    return diag_error(f->m->diags, ODLC_ERR_INVALID, AT(IN_MODEL(f->m), .node = node), "tensorflow-loop", "%s: %s",
                      node, what);
}

static uint32_t node_called(const struct flatten *f, const struct frame *frame, const char *name, size_t length)
{
    struct arena_mark mark = arena_mark(f->m->memory.scratch);
    uint32_t node = map_get(&frame->body->index, arena_strndup(f->m->memory.scratch, name, length));
    arena_rewind(f->m->memory.scratch, mark);
    return node;
}

uint32_t body_node(const struct flatten *f, const struct frame *frame, const char *input)
{
    const char *name = input + (*input == '^');
    return node_called(f, frame, name, strcspn(name, ":"));
}

uint32_t holding_node(const struct flatten *f, const struct frame *frame, const char *name, size_t *length)
{
    size_t scopes = 0;
    for (const char *at = name; *at; at++)
        scopes += *at == '/';
    while (scopes <= MAX_SCOPES && *length > 0) {
        if (name[--*length] != '/')
            continue;
        uint32_t node = node_called(f, frame, name, *length);
        if (node != MAP_NONE)
            return node;
    }
    return MAP_NONE;
}

/* The node behind input k, whose operator must be of that kind; MAP_NONE when it is not. */
static uint32_t behind(const struct flatten *f, const struct frame *frame, uint32_t node, uint32_t k,
                       bool (*is_kind)(const char *))
{
    const struct tf_node *n = node_at(frame, node);
    uint32_t found = k < n->n_inputs ? body_node(f, frame, n->inputs[k]) : MAP_NONE;
    return found != MAP_NONE && is_kind(node_at(frame, found)->op) ? found : MAP_NONE;
}

static odlc_status enter_attrs(struct flatten *f, struct frame *frame, uint32_t node, const char **frame_name,
                               bool *is_constant)
{
    const struct fw_attr *attrs;
    uint32_t count;
    TRY(node_attrs(f, frame, node, &attrs, &count));
    *frame_name = "";
    *is_constant = false;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(attrs[i].name, "frame_name") == 0 && attrs[i].kind == FW_STRING)
            *frame_name = attrs[i].s;
        if (strcmp(attrs[i].name, "is_constant") == 0 && attrs[i].kind == FW_BOOL)
            *is_constant = attrs[i].i != 0;
    }
    if (!**frame_name || node_at(frame, node)->n_inputs == 0)
        return bad_loop(f, node_at(frame, node)->name, "it enters no loop");
    return ODLC_OK;
}

/* ---- which loops there are ---- */

/* What is left to look at, of a search back over what nodes read. */
typedef VEC(uint32_t) node_list;

static void push_inputs(const struct flatten *f, const struct frame *frame, uint32_t node, node_list *open)
{
    const struct tf_node *n = node_at(frame, node);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        uint32_t input = n->inputs[i][0] == '^' ? MAP_NONE : body_node(f, frame, n->inputs[i]);
        if (input != MAP_NONE)
            vec_push(f->m->memory.scratch, open, input);
    }
}

/* The node of the model's own graph that an output is of, or is inside of. */
static uint32_t output_node(const struct flatten *f, const struct frame *frame, const char *output)
{
    uint32_t node = body_node(f, frame, output);
    size_t length = strlen(output);
    return node == MAP_NONE ? holding_node(f, frame, output, &length) : node;
}

static node_list results(const struct flatten *f, const struct frame *frame)
{
    node_list list = {0};
    bool whole = frame->function && frame != f->root; /* all its results may be needed */
    size_t count = whole ? frame->function->rets.count : f->n_outputs;
    for (size_t i = 0; i < count; i++) {
        uint32_t node =
            whole ? body_node(f, frame, frame->function->rets.data[i]) : output_node(f, frame, f->outputs[i]);
        if (node != MAP_NONE)
            vec_push(f->m->memory.scratch, &list, node);
    }
    return list;
}

static void mark_needed(const struct flatten *f, const struct frame *frame, bool *needed)
{
    node_list open = results(f, frame);
    while (open.count) {
        uint32_t node = open.data[--open.count];
        if (needed[node])
            continue;
        needed[node] = true;
        push_inputs(f, frame, node, &open);
    }
}

static odlc_status leaves_nothing(const struct flatten *f, const struct frame *frame, uint32_t exit)
{
    return bad_loop(f, node_at(frame, exit)->name, "it leaves no loop: no Switch with a LoopCond is before it");
}

odlc_status check_exit(const struct flatten *f, const struct frame *frame, uint32_t node, const struct source *s)
{
    return is_exit(node_at(frame, node)->op) && !s->is_loop ? leaves_nothing(f, frame, node) : ODLC_OK;
}

/* An Exit that is needed: its loop, made when it is the first one. */
static odlc_status note_exit(struct flatten *f, struct frame *frame, uint32_t exit)
{
    struct loops *loops = frame->loops;
    uint32_t the_switch = behind(f, frame, exit, 0, is_switch);
    uint32_t cond = MAP_NONE;
    if (the_switch != MAP_NONE && node_at(frame, the_switch)->n_inputs > 1)
        cond = body_node(f, frame, node_at(frame, the_switch)->inputs[1]);
    if (!is_loop_cond(frame, cond))
        return leaves_nothing(f, frame, exit);
    if (!loops->of_cond[cond]) {
        vec_push(f->m->memory.scratch, &loops->list, (struct loop){.cond = cond});
        loops->of_cond[cond] = (uint32_t)loops->list.count;
    }
    loops->list.data[loops->of_cond[cond] - 1].n_exits++;
    return ODLC_OK;
}

static odlc_status find_loops(struct flatten *f, struct frame *frame)
{
    struct arena *arena = f->m->memory.scratch;
    size_t count = frame->body->nodes.count;
    bool *needed = arena_array(arena, bool, count);
    node_list exits = {0};
    frame->loops = arena_new(arena, struct loops);
    *frame->loops =
        (struct loops){.of_cond = arena_array(arena, uint32_t, count), .mark = arena_array(arena, uint32_t, count)};
    mark_needed(f, frame, needed);
    for (uint32_t i = 0; i < count; i++) {
        if (!needed[i] || !is_exit(node_at(frame, i)->op))
            continue;
        TRY(note_exit(f, frame, i));
        vec_push(arena, &exits, i);
    }
    for (size_t i = 0; i < frame->loops->list.count; i++) {
        struct loop *loop = &frame->loops->list.data[i];
        loop->exits = arena_array(arena, uint32_t, loop->n_exits);
        loop->n_exits = 0;
    }
    for (size_t i = 0; i < exits.count; i++) {
        uint32_t the_switch = behind(f, frame, exits.data[i], 0, is_switch);
        uint32_t cond = body_node(f, frame, node_at(frame, the_switch)->inputs[1]);
        struct loop *loop = &frame->loops->list.data[frame->loops->of_cond[cond] - 1];
        loop->exits[loop->n_exits++] = exits.data[i];
    }
    return ODLC_OK;
}

/* ---- what a loop is made of ---- */

/* The name that the loop's Enters have: that of the variable that an Exit is of. */
static odlc_status name_loop(struct flatten *f, struct frame *frame, struct loop *loop)
{
    const char *exit = node_at(frame, loop->exits[0])->name;
    uint32_t the_switch = behind(f, frame, loop->exits[0], 0, is_switch);
    uint32_t merge = behind(f, frame, the_switch, 0, is_merge), enter = MAP_NONE;
    bool is_constant;
    for (uint32_t k = 0; merge != MAP_NONE && enter == MAP_NONE && k < 2; k++)
        enter = behind(f, frame, merge, k, is_enter);
    if (enter == MAP_NONE)
        return bad_loop(f, exit, "nothing enters the loop that it leaves");
    return enter_attrs(f, frame, enter, &loop->frame_name, &is_constant);
}

/* The nodes that the loop's Exits need, as far as the Enters of the loop; loops inside of it are part of it. */
static odlc_status collect(struct flatten *f, struct frame *frame, const struct loop *loop, node_list *merges,
                           node_list *enters)
{
    struct arena *arena = f->m->memory.scratch;
    uint32_t *mark = frame->loops->mark, own = frame->loops->of_cond[loop->cond];
    node_list open = {0};
    for (size_t i = 0; i < loop->n_exits; i++)
        push_inputs(f, frame, loop->exits[i], &open);
    while (open.count) {
        uint32_t node = open.data[--open.count];
        const char *op = node_at(frame, node)->op, *name = "";
        bool is_constant;
        if (mark[node] == own)
            continue;
        mark[node] = own;
        TRY(note_expansion(f, 1, node_at(frame, node)->name));
        if (is_enter(op))
            TRY(enter_attrs(f, frame, node, &name, &is_constant));
        if (strcmp(name, loop->frame_name) == 0) {
            vec_push(arena, enters, node);
            continue;
        }
        if (is_merge(op))
            vec_push(arena, merges, node);
        push_inputs(f, frame, node, &open);
    }
    return ODLC_OK;
}

/* Whether the Merge is of a variable of the loop itself, and what gives the variable. */
static odlc_status read_variable(struct flatten *f, struct frame *frame, const struct loop *loop, uint32_t merge,
                                 bool *out, struct loop_variable *v)
{
    const struct tf_node *n = node_at(frame, merge);
    const char *name = "";
    bool is_constant;
    *out = false;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t enter = behind(f, frame, merge, k, is_enter), next = behind(f, frame, merge, 1 - k, is_next);
        if (enter == MAP_NONE)
            continue;
        TRY(enter_attrs(f, frame, enter, &name, &is_constant));
        if (strcmp(name, loop->frame_name) != 0)
            continue;
        if (next == MAP_NONE || n->n_inputs < 2 || node_at(frame, next)->n_inputs == 0)
            return bad_loop(f, n->name, "the variable of a loop has no NextIteration");
        *out = true;
        *v = (struct loop_variable){
            .merge = merge, .first = node_at(frame, enter)->inputs[0], .next = node_at(frame, next)->inputs[0]};
    }
    return ODLC_OK;
}

static int compare_nodes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int compare_variables(const void *a, const void *b)
{
    const struct loop_variable *x = a, *y = b;
    return compare_nodes(&x->merge, &y->merge);
}

static odlc_status scan(struct flatten *f, struct frame *frame, struct loop *loop)
{
    struct arena *arena = f->m->memory.scratch;
    node_list merges = {0}, enters = {0};
    bool own;
    loop->scanned = true;
    TRY(name_loop(f, frame, loop));
    TRY(collect(f, frame, loop, &merges, &enters));
    if (merges.count > 1)
        qsort(merges.data, merges.count, sizeof *merges.data, compare_nodes);
    if (enters.count > 1)
        qsort(enters.data, enters.count, sizeof *enters.data, compare_nodes);
    struct loop_variable *variables = arena_array(arena, struct loop_variable, merges.count);
    for (size_t i = 0; i < merges.count; i++) {
        TRY(read_variable(f, frame, loop, merges.data[i], &own, &variables[loop->n_variables]));
        loop->n_variables += own;
    }
    loop->variables = variables;
    loop->reads = arena_array(arena, const char *, loop->n_variables + enters.count);
    for (uint32_t i = 0; i < loop->n_variables; i++)
        loop->reads[loop->n_reads++] = variables[i].first;
    for (size_t i = 0; i < enters.count; i++) {
        const char *name;
        TRY(enter_attrs(f, frame, enters.data[i], &name, &own));
        if (own)
            loop->reads[loop->n_reads++] = node_at(frame, enters.data[i])->inputs[0];
    }
    return ODLC_OK;
}

const struct loop *find_loop(const struct frame *frame, uint32_t cond)
{
    return &frame->loops->list.data[frame->loops->of_cond[cond] - 1];
}

/* ---- through the parts of loops ---- */

/* Behind a loop: the variable of the Switch that s is. */
static odlc_status leave(struct flatten *f, struct source *s, uint32_t cond)
{
    struct frame *frame = s->frame;
    const char *name = source_node(s)->name;
    if (!frame->loops)
        TRY(find_loops(f, frame));
    if (!frame->loops->of_cond[cond])
        return bad_loop(f, name, "it is inside of a loop: only an Exit gives what it is at the end");
    struct loop *loop = &frame->loops->list.data[frame->loops->of_cond[cond] - 1];
    if (!loop->scanned)
        TRY(scan(f, frame, loop));
    const struct loop_variable wanted = {.merge = behind(f, frame, s->node, 0, is_merge)};
    const struct loop_variable *v =
        bsearch(&wanted, loop->variables, loop->n_variables, sizeof wanted, compare_variables);
    if (!v)
        return bad_loop(f, name, "it switches no variable of the loop");
    *s = (struct source){.frame = frame, .node = cond, .output = (uint32_t)(v - loop->variables), .is_loop = true};
    return ODLC_OK;
}

/* Inside of a loop: a variable is its Merge. */
static odlc_status switched(struct flatten *f, struct source *s, uint32_t cond)
{
    uint32_t merge = behind(f, s->frame, s->node, 0, is_merge);
    if (s->output == 0)
        return leave(f, s, cond);
    if (merge == MAP_NONE)
        return bad_loop(f, source_node(s)->name, "it switches no variable of the loop");
    *s = (struct source){.frame = s->frame, .node = merge};
    return ODLC_OK;
}

odlc_status see_through_loops(struct flatten *f, struct source *s, const char *reader)
{
    for (int hops = 0; !s->is_arg && !s->cut; hops++) {
        const struct tf_node *n = source_node(s);
        const char *name;
        bool is_constant;
        if (hops == MAX_NESTING)
            return bad_loop(
                f, n->name,
                arena_printf(f->m->diags->arena, "loops within loops nest deeper than %d levels", MAX_NESTING));
        uint32_t cond = is_switch(n->op) && n->n_inputs > 1 ? body_node(f, s->frame, n->inputs[1]) : MAP_NONE;
        if (is_loop_cond(s->frame, cond))
            return switched(f, s, cond);
        if (is_next(n->op))
            return bad_loop(f, reader, "it reads from inside of a loop what only the loop's next trip may");
        if (!is_enter(n->op))
            return ODLC_OK;
        TRY(enter_attrs(f, s->frame, s->node, &name, &is_constant));
        if (!is_constant)
            return bad_loop(f, reader, "it reads from inside of a loop, of which only an Exit gives something");
        TRY(find_source(f, s->frame, n->inputs[0], n->name, s));
    }
    return ODLC_OK;
}
