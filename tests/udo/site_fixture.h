/* SPDX-License-Identifier: Apache-2.0 */
/* A node at a definition: what the tests of udo_build share. */
#ifndef TESTS_UDO_SITE_FIXTURE_H
#define TESTS_UDO_SITE_FIXTURE_H

#include <stdlib.h>

#include "op/op.h"
#include "udo_fixture.h"

struct site_fixture {
    struct fixture f;
    struct graph *g;
    struct build b;
    struct udo_site site;
    tensor_id in[80];
    struct param attrs[10];
    struct type declared[4];
    bool declared_shape[4];
    const char *out_names[4];
    tensor_id outs[4];
};

/* One operator is defined; the node is of that type, has no input yet and one output "y". */
static inline void start(struct site_fixture *s, const char *definition)
{
    *s = (struct site_fixture){.out_names = {"y", "z", "u", "v"}};
    fixture_start(&s->f);
    ck_assert_msg(load_operators(&s->f, definition) == ODLC_OK, "%s", all_diags(&s->f));
    s->g = graph_create(s->f.arena, "g");
    build_init(&s->b, s->g, &s->f.diags);
    s->site = (struct udo_site){.scratch = s->f.arena,
                                .path = "m.onnx",
                                .label = "n1",
                                .op_type = s->f.set.defs.data[0]->type,
                                .domain = "",
                                .in = s->in,
                                .attrs = s->attrs,
                                .out_names = s->out_names,
                                .declared = s->declared,
                                .declared_shape = s->declared_shape,
                                .n_out = 1,
                                .channels_first = true};
}

static inline void end(struct site_fixture *s)
{
    fixture_end(&s->f);
}

static inline tensor_id give_tensor(struct site_fixture *s, const char *name, enum dtype dtype, struct shape shape)
{
    struct type type = {.dtype = dtype, .shape = shape};
    tensor_id id = graph_add_tensor(s->g, name, TENSOR_INPUT, &type);
    s->in[s->site.n_in++] = id;
    return id;
}

/* Values 0, 1, 2, …, one of which may be replaced. */
static inline tensor_id give_floats(struct site_fixture *s, const char *name, struct shape shape, uint64_t at,
                                    float special)
{
    uint64_t count = shape_count(&shape);
    float *values = arena_array(s->f.arena, float, count + 1);
    for (uint64_t k = 0; k < count; k++)
        values[k] = k == at ? special : (float)k;
    tensor_id id = build_const_floats(&s->b, name, &shape, values);
    s->in[s->site.n_in++] = id;
    return id;
}

static inline void give_absent(struct site_fixture *s)
{
    s->in[s->site.n_in++] = NO_TENSOR;
}

static inline void give_attr(struct site_fixture *s, struct param attr)
{
    s->attrs[s->site.n_attrs++] = attr;
}

static inline struct param int_attr(const char *name, int64_t value)
{
    return (struct param){.name = name, .dtype = DT_INT64, .i = value};
}

static inline struct param float_attr(const char *name, float value)
{
    return (struct param){.name = name, .dtype = DT_FLOAT32, .f = value};
}

static inline struct param string_attr(const char *name, const char *value)
{
    return (struct param){.name = name, .dtype = DT_STRING, .s = value};
}

static inline struct param ints_attr(const char *name, struct shape shape, const int64_t *values)
{
    return (struct param){.name = name, .dtype = DT_INT64, .is_tensor = true, .shape = shape, .ints = values};
}

static inline struct param floats_attr(const char *name, struct shape shape, const double *values)
{
    return (struct param){.name = name, .dtype = DT_FLOAT32, .is_tensor = true, .shape = shape, .floats = values};
}

static inline odlc_status run(struct site_fixture *s)
{
    const struct udo_def *def = udo_find(&s->f.set, s->site.op_type, s->site.domain);
    ck_assert_ptr_nonnull(def);
    return udo_build(&s->f.set, def, &s->b, &s->site, s->outs);
}

static inline void run_ok(struct site_fixture *s)
{
    odlc_status status = run(s);
    ck_assert_msg(status == ODLC_OK, "%s", all_diags(&s->f));
}

/* The UDO node: the one whose op has a package. */
static inline const struct node *udo_node(const struct site_fixture *s)
{
    const struct node *found = NULL;
    for (size_t i = 0; i < s->g->nodes.count; i++) {
        if (!s->g->nodes.data[i].op || !s->g->nodes.data[i].op->package)
            continue;
        ck_assert_ptr_null(found);
        found = &s->g->nodes.data[i];
    }
    ck_assert_ptr_nonnull(found);
    return found;
}

static inline void check_shape(const struct shape *shape, struct shape expected)
{
    ck_assert_msg(shape_equal(shape, &expected), "rank %u, dims %lld %lld %lld %lld", shape->rank,
                  (long long)shape->dims[0], (long long)shape->dims[1], (long long)shape->dims[2],
                  (long long)shape->dims[3]);
}

/* The node fails with this error alone; hint is a part of the hint, or NULL. */
static inline const struct odlc_diag *fails(struct site_fixture *s, const char *code, const char *message,
                                            const char *hint)
{
    ck_assert_int_eq(run(s), ODLC_ERR_INVALID);
    ck_assert_msg(s->f.diags.errors == 1, "%s", all_diags(&s->f));
    const struct odlc_diag *d = find_diag(&s->f, code);
    ck_assert_msg(d != NULL, "%s", all_diags(&s->f));
    ck_assert_str_eq(d->message, message);
    ck_assert_str_eq(d->node, "n1");
    if (hint)
        ck_assert_msg(d->hint && strstr(d->hint, hint), "%s", all_diags(&s->f));
    return d;
}

#define X "{'name': 'x', 'data_type': 'FLOAT_32', 'tensor_layout': 'NCHW'}"
#define Y "{'name': 'y', 'data_type': 'FLOAT_32', 'tensor_layout': 'NCHW', 'shape': 'same_as in0'}"
#define DEFINE(inputs, rest) "{'type': 'T',\n 'inputs': [" inputs "],\n 'outputs': [" Y "]" rest "}"

static inline int run_suite(const char *name, void (*add_tests)(TCase *))
{
    Suite *s = suite_create(name);
    TCase *t = tcase_create(name);
    add_tests(t);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
