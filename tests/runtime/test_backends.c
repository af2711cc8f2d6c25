/* SPDX-License-Identifier: Apache-2.0 */
/* The seam between executor and backends, with three toy backends: one computes pairs of nodes as one step, one has a
 * memory that the host cannot read, one works in place. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "op/op.h"
#include "tests/support/reference_only.h"

#define N 4

static struct arena *arena, *scratch;
static struct diags diags;
static struct graph *g;

static odlc_status add_kernel(const struct kernel *k)
{
    const double *a = k->in[0].data, *b = k->in[1].data;
    for (uint64_t i = 0; i < shape_count(&k->out[0].shape); i++)
        ((double *)k->out[0].data)[i] = a[i] + b[i];
    return ODLC_OK;
}

static odlc_status negate_kernel(const struct kernel *k)
{
    for (uint64_t i = 0; i < shape_count(&k->out[0].shape); i++)
        ((double *)k->out[0].data)[i] = -((const double *)k->in[0].data)[i];
    return ODLC_OK;
}

static const struct reference_kernel adds = {COMPUTE_WIDE, add_kernel}, negates = {COMPUTE_WIDE, negate_kernel};
static const struct op add = {.name = "Add", .dlc_type = "Add", .own_kernel = &adds};
static const struct op negate = {.name = "Negate", .dlc_type = "Negate", .own_kernel = &negates};
static const struct op custom = {.name = "Selu", .dlc_type = "Selu", .package = "MyPackage"};

/* ---- a backend that fuses: -(a + b) is one step ---- */

static bool fuse_claim(void *state, const struct claiming *c, node_id id, struct group *group)
{
    const struct graph *graph = c->scope->graph;
    const struct node *n = graph_node(graph, id);
    (void)state;
    group->reason = "it is no Add that a Negate alone reads";
    if (n->op != &add || c->wanted[n->outputs[0]] || c->uses->count[n->outputs[0]] != 1)
        return false;
    node_id reader = c->uses->nodes[c->uses->first[n->outputs[0]]];
    if (graph_node(graph, reader)->op != &negate || !c->is_free[reader])
        return false;
    vec_push(c->scope->arena, &group->nodes, id);
    vec_push(c->scope->arena, &group->nodes, reader);
    return true;
}

struct pair {
    struct step_io io;
};

static odlc_status fuse_prepare(void *state, const struct backend_scope *scope, const struct group *group,
                                const struct step_io *io, void **step)
{
    (void)state;
    ck_assert_uint_eq(group->nodes.count, 2);
    ck_assert_uint_eq(io->n_outputs, 1);
    ck_assert_uint_eq(io->places[2], PLACE_INNER); /* the sum, as the Add's output */
    ck_assert_uint_eq(io->places[3], PLACE_INNER); /* and as the Negate's input */
    ck_assert_uint_eq(io->places[4], io->n_inputs);
    struct pair *pair = arena_new(scope->arena, struct pair);
    pair->io = *io;
    *step = pair;
    return ODLC_OK;
}

static odlc_status fuse_run(void *step, const struct backend_scope *scope, const struct buffer *in, struct buffer *out)
{
    const uint32_t *places = ((const struct pair *)step)->io.places;
    const float *a = in[places[0]].data, *b = in[places[1]].data;
    (void)scope;
    for (int i = 0; i < N; i++)
        ((float *)out[0].data)[i] = -(a[i] + b[i]);
    return ODLC_OK;
}

static const struct backend fuse = {.name = "fuse", .claim = fuse_claim, .prepare = fuse_prepare, .run = fuse_run};

/* ---- a backend with a memory of its own, where every byte is stored inverted ---- */

static struct {
    int open, blocks, steps, uploads, lasting, downloads;
    bool full;
} far_state;

static void *far_take(void *state, uint64_t size)
{
    ck_assert_ptr_eq(state, &far_state);
    if (far_state.full)
        return NULL;
    far_state.blocks++;
    return calloc(1, size);
}

static void far_give(void *state, void *block)
{
    ck_assert_ptr_eq(state, &far_state);
    far_state.blocks--;
    free(block);
}

static void *far_place(void *state, void *block, uint64_t offset, uint64_t size)
{
    (void)state;
    (void)size;
    ck_assert_uint_eq(offset % 128, 0);
    return (uint8_t *)block + offset;
}

static void invert(uint8_t *to, const uint8_t *from, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        to[i] = (uint8_t)~from[i];
}

static odlc_status far_upload(void *state, void *place, const void *host, uint64_t size, bool lasting)
{
    (void)state;
    far_state.lasting += lasting;
    far_state.uploads++;
    invert(place, host, size);
    return ODLC_OK;
}

static odlc_status far_download(void *state, void *host, const void *place, uint64_t size)
{
    (void)state;
    far_state.downloads++;
    invert(host, place, size);
    return ODLC_OK;
}

static const struct memory far_memory = {.name = "far",
                                         .alignment = 128,
                                         .take = far_take,
                                         .give = far_give,
                                         .place = far_place,
                                         .upload = far_upload,
                                         .download = far_download};

static odlc_status far_open(const struct backend_scope *scope, void **state)
{
    (void)scope;
    far_state.open++;
    *state = &far_state;
    return ODLC_OK;
}

static void far_close(void *state)
{
    ck_assert_ptr_eq(state, &far_state);
    ck_assert_int_eq(far_state.blocks, 0); /* blocks and steps go before what made them */
    ck_assert_int_eq(far_state.steps, 0);
    far_state.open--;
}

static bool far_claim(void *state, const struct claiming *c, node_id id, struct group *group)
{
    (void)state;
    group->reason = "it is no Add";
    if (graph_node(c->scope->graph, id)->op != &add)
        return false;
    vec_push(c->scope->arena, &group->nodes, id);
    return true;
}

static odlc_status far_prepare(void *state, const struct backend_scope *scope, const struct group *group,
                               const struct step_io *io, void **step)
{
    (void)state, (void)scope, (void)group;
    far_state.steps++;
    *step = malloc(sizeof *io);
    memcpy(*step, io, sizeof *io);
    return ODLC_OK;
}

static odlc_status far_run(void *step, const struct backend_scope *scope, const struct buffer *in, struct buffer *out)
{
    const uint32_t *places = ((const struct step_io *)step)->places;
    float a[N], b[N], sum[N];
    (void)scope;
    invert((uint8_t *)a, in[places[0]].data, sizeof a);
    invert((uint8_t *)b, in[places[1]].data, sizeof b);
    for (int i = 0; i < N; i++)
        sum[i] = a[i] + b[i];
    invert(out[0].data, (const uint8_t *)sum, sizeof sum);
    return ODLC_OK;
}

static void far_release(void *step)
{
    far_state.steps--;
    free(step);
}

static const struct backend far = {.name = "far",
                                   .memory = &far_memory,
                                   .open = far_open,
                                   .close = far_close,
                                   .claim = far_claim,
                                   .prepare = far_prepare,
                                   .run = far_run,
                                   .release = far_release};

/* ---- a backend that works in place, where it may ---- */

static bool over_claim(void *state, const struct claiming *c, node_id id, struct group *group)
{
    (void)state;
    group->reason = "it is no Negate";
    if (graph_node(c->scope->graph, id)->op != &negate)
        return false;
    vec_push(c->scope->arena, &group->nodes, id);
    group->sharing = SHARING_PLACE;
    return true;
}

static odlc_status over_prepare(void *state, const struct backend_scope *scope, const struct group *group,
                                const struct step_io *io, void **step)
{
    (void)state, (void)scope, (void)group, (void)io;
    *step = NULL;
    return ODLC_OK;
}

static odlc_status over_run(void *step, const struct backend_scope *scope, const struct buffer *in, struct buffer *out)
{
    (void)step, (void)scope;
    for (int i = 0; i < N; i++)
        ((float *)out[0].data)[i] = -((const float *)in[0].data)[i];
    return ODLC_OK;
}

static const struct backend over = {.name = "over", .claim = over_claim, .prepare = over_prepare, .run = over_run};

/* ---- graphs ---- */

static void setup(void)
{
    memset(&far_state, 0, sizeof far_state);
    arena = arena_create();
    scratch = arena_create();
    diags_init(&diags, arena);
    g = graph_create(arena, "test");
}

static void teardown(void)
{
    arena_destroy(arena);
    arena_destroy(scratch);
    ck_assert_int_eq(far_state.open, 0);
}

static tensor_id tensor(const char *name, enum tensor_kind kind)
{
    struct type type = {DT_FLOAT32, SHAPE(N)};
    tensor_id id = graph_add_tensor(g, name, kind, &type);
    if (kind == TENSOR_INPUT)
        vec_push(arena, &g->inputs, id);
    return id;
}

static node_id node(const struct op *op, const char *name, tensor_id a, tensor_id b, tensor_id out)
{
    tensor_id in[] = {a, b};
    node_id id = graph_add_node(g, op, 0, name, in, b == NO_TENSOR ? 1 : 2, &out, 1);
    vec_push(arena, &g->order, id);
    return id;
}

/* x + y = sum, -sum = minus, minus + x = z, z + z = twice */
static struct {
    tensor_id x, y, sum, minus, z, twice;
} t;

static void build_graph(void)
{
    t.x = tensor("x", TENSOR_INPUT);
    t.y = tensor("y", TENSOR_INPUT);
    t.sum = tensor("sum", TENSOR_NATIVE);
    t.minus = tensor("minus", TENSOR_NATIVE);
    t.z = tensor("z", TENSOR_NATIVE);
    t.twice = tensor("twice", TENSOR_OUTPUT);
    node(&add, "sum", t.x, t.y, t.sum);
    node(&negate, "minus", t.sum, NO_TENSOR, t.minus);
    node(&add, "z", t.minus, t.x, t.z);
    node(&add, "twice", t.z, t.z, t.twice);
}

static struct executor *create(const struct backend *first, const tensor_id *wanted, size_t n_wanted,
                               const struct executor_options *more)
{
    struct executor *e;
    struct executor_options *options = arena_new(arena, struct executor_options);
    const struct backend **list = arena_array(arena, const struct backend *, 3);
    *options = more ? *more : (struct executor_options){0};
    list[0] = first;
    list[1] = &reference_backend;
    options->backends = list;
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, wanted, n_wanted, options, &e), ODLC_OK);
    return e;
}

static void run(struct executor *e)
{
    for (int i = 0; i < N; i++) {
        ((float *)e->buffers[t.x].data)[i] = (float)i;
        ((float *)e->buffers[t.y].data)[i] = 10;
    }
    ck_assert_int_eq(executor_run(e), ODLC_OK);
}

static void expect(const struct executor *e, tensor_id id, float at0, float step)
{
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(((const float *)e->buffers[id].data)[i], at0 + step * (float)i);
}

START_TEST(a_group_of_two_is_one_step)
{
    build_graph();
    struct executor *e = create(&fuse, &t.twice, 1, NULL);
    ck_assert_uint_eq(e->plan.steps.count, 3);
    ck_assert_uint_eq(e->plan.steps.data[0].group->nodes.count, 2);
    ck_assert_ptr_null(e->buffers[t.sum].data);     /* the step's own */
    ck_assert_uint_eq(e->claims.refusals.count, 2); /* z and twice */
    ck_assert_str_eq(e->claims.refusals.data[0].reason, "it is no Add that a Negate alone reads");
    run(e);
    expect(e, t.twice, -20, 0);
}
END_TEST

START_TEST(a_group_hides_nothing_that_is_wanted)
{
    tensor_id wanted[2];
    build_graph();
    wanted[0] = t.twice;
    wanted[1] = t.sum;
    struct executor *e = create(&fuse, wanted, 2, NULL);
    ck_assert_uint_eq(e->plan.steps.count, 4);
    run(e);
    expect(e, t.twice, -20, 0);
    expect(e, t.sum, 10, 1);
}
END_TEST

/* The sum dies in the Negate, whose result takes its place: two places are enough for all. */
START_TEST(a_result_takes_the_place_of_a_dying_input)
{
    build_graph();
    struct executor *e = create(&over, &t.twice, 1, NULL);
    ck_assert_ptr_eq(e->buffers[t.minus].data, e->buffers[t.sum].data);
    ck_assert_uint_eq(e->plan.spaces[HOST_SPACE].size, 2 * 64);
    run(e);
    expect(e, t.twice, -20, 0);
}
END_TEST

START_TEST(an_input_that_is_needed_keeps_its_place)
{
    tensor_id wanted[2];
    build_graph();
    tensor_id other = tensor("other", TENSOR_OUTPUT), far_x = tensor("minus x", TENSOR_OUTPUT);
    node(&add, "other", t.sum, t.minus, other);
    node(&negate, "minus x", t.x, NO_TENSOR, far_x);
    wanted[0] = other;
    wanted[1] = far_x;
    struct executor *e = create(&over, wanted, 2, NULL);
    ck_assert_ptr_ne(e->buffers[t.minus].data, e->buffers[t.sum].data);
    ck_assert_ptr_ne(e->buffers[far_x].data, e->buffers[t.x].data);
    run(e);
    expect(e, other, 0, 0);
    expect(e, far_x, 0, -1);
    expect(e, t.x, 0, 1);
}
END_TEST

struct seen {
    tensor_id id[8];
    float first[8];
    int count;
};

static odlc_status see(void *object, tensor_id id, const struct buffer *value)
{
    struct seen *seen = object;
    seen->id[seen->count] = id;
    seen->first[seen->count++] = ((const float *)value->data)[1];
    return ODLC_OK;
}

static void check_observer(const struct backend *backend)
{
    struct seen seen = {.count = 0};
    build_graph();
    bool *observed = arena_array(arena, bool, g->tensors.count);
    observed[t.sum] = observed[t.z] = true;
    struct executor *e =
        create(backend, &t.twice, 1, &(struct executor_options){.observed = observed, .observer = {&seen, see}});
    run(e);
    ck_assert_int_eq(seen.count, 2);
    ck_assert_uint_eq(seen.id[0], t.sum);
    ck_assert_float_eq(seen.first[0], 11);
    ck_assert_uint_eq(seen.id[1], t.z);
    ck_assert_float_eq(seen.first[1], -10);
    expect(e, t.twice, -20, 0);
}

START_TEST(an_observer_sees_what_a_group_would_hide)
{
    check_observer(&fuse);
}
END_TEST

START_TEST(an_observer_sees_what_lies_in_other_memory)
{
    check_observer(&far);
}
END_TEST

static odlc_status refuse_to_see(void *object, tensor_id id, const struct buffer *value)
{
    (void)object, (void)id, (void)value;
    return ODLC_ERR_STOPPED;
}

START_TEST(an_observer_ends_the_run)
{
    build_graph();
    bool *observed = arena_array(arena, bool, g->tensors.count);
    observed[t.sum] = true;
    struct executor *e =
        create(&fuse, &t.twice, 1, &(struct executor_options){.observed = observed, .observer = {NULL, refuse_to_see}});
    ck_assert_int_eq(executor_run(e), ODLC_ERR_STOPPED);
}
END_TEST

/* x, y up; sum; sum down; minus on the host; minus up; z; twice; twice down. x is there already when z reads it, and z
 * stays where it is. */
START_TEST(tensors_are_copied_where_memories_meet)
{
    static const enum step_kind kinds[] = {STEP_UPLOAD, STEP_UPLOAD, STEP_GROUP, STEP_DOWNLOAD, STEP_GROUP,
                                           STEP_UPLOAD, STEP_GROUP,  STEP_GROUP, STEP_DOWNLOAD};
    build_graph();
    struct executor *e = create(&far, &t.twice, 1, NULL);
    ck_assert_uint_eq(e->plan.steps.count, COUNT_OF(kinds));
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        ck_assert_int_eq(e->plan.steps.data[i].kind, kinds[i]);
    for (int i = 1; i <= 2; i++) {
        run(e);
        expect(e, t.twice, -20, 0);
        ck_assert_int_eq(far_state.uploads, 3 * i);
        ck_assert_int_eq(far_state.lasting, 2 * i); /* x and y, not minus */
        ck_assert_int_eq(far_state.downloads, 2 * i);
    }
    ck_assert_ptr_null(e->buffers[t.z].data); /* never in the host's memory */
    ck_assert_int_eq(far_state.blocks, 1);
    ck_assert_int_eq(far_state.steps, 3);
}
END_TEST

START_TEST(wanted_tensors_come_back_to_the_host)
{
    tensor_id wanted[3];
    build_graph();
    wanted[0] = t.z;
    wanted[1] = t.x;
    wanted[2] = t.minus;
    struct executor *e = create(&far, wanted, 3, NULL);
    run(e);
    expect(e, t.z, -10, 0);
    expect(e, t.x, 0, 1);
    expect(e, t.minus, -10, -1);
}
END_TEST

START_TEST(no_room_in_other_memory_is_an_error)
{
    struct executor *e;
    const struct backend *list[] = {&far, &reference_backend, NULL};
    build_graph();
    far_state.full = true;
    ck_assert_int_eq(
        executor_create(arena, scratch, &diags, g, &t.twice, 1, &(struct executor_options){.backends = list}, &e),
        ODLC_ERR_LIMIT);
    ck_assert_str_eq(diags.list.data[0].code, "run-memory");
}
END_TEST

static bool greedy_claim(void *state, const struct claiming *c, node_id id, struct group *group)
{
    (void)state, (void)id;
    for (node_id i = 0; i < c->scope->graph->nodes.count; i += 3) /* the first and the last node, not what is between */
        vec_push(c->scope->arena, &group->nodes, i);
    return true;
}

START_TEST(a_group_that_cannot_stand_together_is_a_defect)
{
    static const struct backend greedy = {.name = "greedy", .claim = greedy_claim};
    const struct backend *list[] = {&greedy, NULL};
    struct executor *e;
    build_graph();
    ck_assert_int_eq(
        executor_create(arena, scratch, &diags, g, &t.twice, 1, &(struct executor_options){.backends = list}, &e),
        ODLC_ERR_INTERNAL);
    ck_assert_str_eq(diags.list.data[0].code, "backend-group");
}
END_TEST

START_TEST(nodes_that_nobody_takes_are_all_reported)
{
    const struct backend *list[] = {&fuse, &reference_backend, NULL};
    struct executor *e;
    build_graph();
    tensor_id a = tensor("a", TENSOR_NATIVE), b = tensor("b", TENSOR_OUTPUT);
    node(&custom, "first", t.twice, NO_TENSOR, a);
    node(&custom, "second", a, NO_TENSOR, b);
    ck_assert_int_eq(
        executor_create(arena, scratch, &diags, g, &b, 1, &(struct executor_options){.backends = list}, &e),
        ODLC_ERR_UNSUPPORTED);
    ck_assert_uint_eq(diags.list.count, 2);
    ck_assert_str_eq(diags.list.data[0].node, "first");
    ck_assert_str_eq(diags.list.data[1].node, "second");
    ck_assert_str_eq(diags.list.data[1].message, "there is no implementation of op Selu (package MyPackage)");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backends");
    TCase *tcase = tcase_create("backends");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_group_of_two_is_one_step);
    tcase_add_test(tcase, a_group_hides_nothing_that_is_wanted);
    tcase_add_test(tcase, a_result_takes_the_place_of_a_dying_input);
    tcase_add_test(tcase, an_input_that_is_needed_keeps_its_place);
    tcase_add_test(tcase, an_observer_sees_what_a_group_would_hide);
    tcase_add_test(tcase, an_observer_sees_what_lies_in_other_memory);
    tcase_add_test(tcase, an_observer_ends_the_run);
    tcase_add_test(tcase, tensors_are_copied_where_memories_meet);
    tcase_add_test(tcase, wanted_tensors_come_back_to_the_host);
    tcase_add_test(tcase, no_room_in_other_memory_is_an_error);
    tcase_add_test(tcase, a_group_that_cannot_stand_together_is_a_defect);
    tcase_add_test(tcase, nodes_that_nobody_takes_are_all_reported);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
