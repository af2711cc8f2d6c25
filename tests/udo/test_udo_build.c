/* SPDX-License-Identifier: Apache-2.0 */
/* From a framework node to a UDO node: inputs, static data, layouts. */
#include "site_fixture.h"
#include "tests/support/named_param.h"

/* ---- the plain case ---- */

START_TEST(types_per_core_of_every_operand)
{
    struct site_fixture s;
    start(&s, "{'type': 'T', 'inputs': [{'data_type': 'FLOAT_32'},"
              "{'per_core_data_types': {'CPU': 'FLOAT_32', 'GPU': 'FLOAT_16'}}],"
              "'outputs': [{'shape': 'same_as in0', 'per_core_data_types': {'CPU': 'FLOAT_32', 'DSP': 'UINT_8'}},"
              "{'shape': 'same_as in0', 'per_core_data_types': {'CPU': 'INT_32', 'DSP': 'UINT_16'}}],"
              "'core_types': ['CPU', 'GPU', 'DSP']}");
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(2));
    give_tensor(&s, "w", DT_FLOAT32, SHAPE(2));
    s.site.n_out = 2;
    run_ok(&s);
    ck_assert_str_eq(named_string(udo_node(&s), "udo_per_core_data_types", ""),
                     "in1: CPU=FLOAT_32,GPU=FLOAT_16; out0: CPU=FLOAT_32,DSP=UINT_8; out1: CPU=INT_32,DSP=UINT_16");
    end(&s);
}
END_TEST

START_TEST(hard_sigmoid)
{
    struct site_fixture s;
    start(&s, "{'type': 'HardSigmoid', 'inputs': [{'name': 'x', 'per_core_data_types': {'CPU': 'FLOAT_32', 'DSP': "
              "'UINT_8'}}],"
              "'outputs': [{'name': 'y', 'data_type': 'FLOAT_32', 'shape': 'same_as in0'}],"
              "'scalar_params': [{'name': 'alpha', 'data_type': 'FLOAT_32', 'default_value': 0.2},"
              "{'name': 'beta', 'data_type': 'FLOAT_32', 'default_value': 0.5}], 'core_types': ['CPU', 'DSP']}");
    tensor_id x = give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 8, 4, 6));
    give_attr(&s, float_attr("alpha", 0.25f));
    run_ok(&s);
    const struct node *n = udo_node(&s);
    ck_assert_str_eq(n->op->name, "HardSigmoid");
    ck_assert_str_eq(n->op->package, "P");
    ck_assert_uint_eq(n->n_inputs, 1);
    ck_assert_uint_eq(n->inputs[0], x);
    ck_assert_uint_eq(n->outputs[0], s.outs[0]);
    ck_assert(n->forms->in[0].as_stored);
    ck_assert(n->forms->out[0].as_stored);
    ck_assert(named_float(n, "alpha", 0) == 0.25);
    ck_assert(named_float(n, "beta", 0) == 0.5);
    ck_assert_int_eq(named_param(n, "alpha")->dtype, DT_FLOAT32);
    ck_assert_uint_eq(named_param(n, "alpha")->usage, 1);
    ck_assert_str_eq(named_string(n, "udo_core_types", ""), "CPU,DSP");
    ck_assert_str_eq(named_string(n, "udo_per_core_data_types", ""), "in0: CPU=FLOAT_32,DSP=UINT_8");
    ck_assert_uint_eq(named_param(n, "udo_core_types")->usage, 2);
    ck_assert_ptr_null(named_param(n, "udo_dsp_arch_types"));
    ck_assert_str_eq(graph_tensor(s.g, s.outs[0])->name, "y");
    check_shape(&graph_tensor(s.g, s.outs[0])->type->shape, SHAPE(1, 8, 4, 6));
    ck_assert_uint_eq(s.g->order.count, 1);
    ck_assert_int_eq(udo_finish(&s.f.set), ODLC_OK);
    ck_assert_msg(s.f.diags.list.count == 1 && find_diag(&s.f, "udo-no-architecture"), "%s", all_diags(&s.f));
    end(&s);
}
END_TEST

/* ---- {static, dynamic} × layouts × ranks × types ---- */

static const struct shape shapes[] = {{1, {5}}, {2, {3, 4}}, {3, {2, 3, 4}}, {4, {2, 3, 4, 5}}, {5, {2, 3, 2, 1, 2}}};
static const char *const layouts[] = {"", ", 'tensor_layout': 'NCHW'", ", 'tensor_layout': 'NHWC'"};
static const char *const types[] = {"FLOAT_32", "FLOAT_16", "INT_32", "UINT_8"};
static const enum dtype dtypes[] = {DT_FLOAT32, DT_FLOAT16, DT_INT32, DT_UINT8};
enum { CELLS = 5 * 3 * 4 };

/* Element k of the values 0, 1, 2, … of an NCHW tensor, when they are stored as NHWC. */
static uint64_t nhwc_source(const struct shape *nchw, uint64_t k)
{
    uint64_t c_count = (uint64_t)nchw->dims[1], h_count = (uint64_t)nchw->dims[2], w_count = (uint64_t)nchw->dims[3];
    uint64_t c = k % c_count, w = k / c_count % w_count, h = k / c_count / w_count % h_count,
             n = k / c_count / w_count / h_count;
    return ((n * c_count + c) * h_count + h) * w_count + w;
}

START_TEST(static_matrix)
{
    struct shape shape = shapes[_i % 5];
    const char *layout = layouts[_i / 5 % 3], *type = types[_i / 15];
    struct site_fixture s;
    struct arena *arena = arena_create();
    start(&s, arena_printf(arena, DEFINE(X ", {'name': 'w', 'static': true, 'data_type': '%s'%s}", ""), type, layout));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_floats(&s, "w", shape, UINT64_MAX, 0);
    run_ok(&s);
    const struct node *n = udo_node(&s);
    const struct tensor *w = node_input(s.g, n, 1);
    bool moved = shape.rank == 4 && strstr(layout, "NHWC");
    ck_assert_int_eq(w->kind, TENSOR_STATIC);
    ck_assert_int_eq(w->type->dtype, dtypes[_i / 15]);
    check_shape(&w->type->shape, moved ? SHAPE(2, 4, 5, 3) : shape);
    const void *stored = view_load(s.f.arena, w->view, w->type->dtype);
    for (uint64_t k = 0; k < shape_count(&shape); k++) {
        double value;
        convert_elements(&value, DT_FLOAT64, (const uint8_t *)stored + k * dtype_size(w->type->dtype), w->type->dtype,
                         1);
        ck_assert(value == (double)(moved ? nhwc_source(&shape, k) : k));
    }
    bool as_stored = !*layout || (strstr(layout, "NHWC") && shape.rank != 4 && shape.rank > 2);
    ck_assert(!n->forms->in[0].as_stored && n->forms->in[1].as_stored == as_stored);
    ck_assert_uint_eq(s.g->order.count, 1);
    /* x and y are NCHW, of rank 2 */
    ck_assert_uint_eq(count_diags(&s.f, "udo-layout-rank"), *layout && shape.rank < 3 ? 3 : 2);
    ck_assert_uint_eq(s.f.diags.list.count, count_diags(&s.f, "udo-layout-rank"));
    end(&s);
    arena_destroy(arena);
}
END_TEST

START_TEST(dynamic_matrix)
{
    struct shape shape = shapes[_i % 5];
    const char *layout = layouts[_i / 5 % 3], *type = types[_i / 15];
    enum dtype dtype = dtypes[_i / 15];
    struct site_fixture s;
    struct arena *arena = arena_create();
    start(&s, arena_printf(arena,
                           "{'type': 'T', 'inputs': [{'data_type': '%s'%s}],"
                           "'outputs': [{'data_type': '%s'%s, 'shape': 'same_as in0'}]}",
                           type, layout, type, layout));
    tensor_id x = give_tensor(&s, "x", dtype, shape);
    run_ok(&s);
    const struct node *n = udo_node(&s);
    const struct tensor *y = graph_tensor(s.g, s.outs[0]);
    ck_assert_str_eq(y->name, "y");
    ck_assert_int_eq(y->type->dtype, dtype);
    check_shape(&y->type->shape, shape);
    bool moved = shape.rank == 4 && strstr(layout, "NHWC");
    bool as_stored = !*layout || (strstr(layout, "NHWC") && shape.rank != 4 && shape.rank > 2);
    ck_assert(n->forms->in[0].as_stored == as_stored);
    ck_assert(n->forms->out[0].as_stored == as_stored);
    ck_assert_uint_eq(s.g->order.count, moved ? 3 : 1);
    if (moved) {
        const struct tensor *in = node_input(s.g, n, 0), *out = node_output(s.g, n, 0);
        ck_assert_str_eq(in->name, "x.nhwc");
        ck_assert_str_eq(out->name, "y.nhwc");
        check_shape(&in->type->shape, SHAPE(2, 4, 5, 3));
        check_shape(&out->type->shape, SHAPE(2, 4, 5, 3));
        ck_assert(graph_node(s.g, in->producer)->layout_only && graph_node(s.g, y->producer)->layout_only);
    } else {
        ck_assert_uint_eq(n->inputs[0], x);
        ck_assert_uint_eq(n->outputs[0], s.outs[0]);
    }
    ck_assert_uint_eq(count_diags(&s.f, "udo-layout-rank"), *layout && shape.rank < 3 ? 2 : 0);
    ck_assert_uint_eq(s.f.diags.list.count, count_diags(&s.f, "udo-layout-rank"));
    end(&s);
    arena_destroy(arena);
}
END_TEST

/* A framework whose tensors are channels-last: NCHW is what moves. */
START_TEST(channels_last_framework)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'static': true, 'tensor_layout': 'NCHW'}, {'static': true, 'tensor_layout': 'NHWC'}", ""));
    s.site.channels_first = false;
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 4, 6, 3));
    give_floats(&s, "w", SHAPE(1, 1, 2, 3), UINT64_MAX, 0);
    give_floats(&s, "v", SHAPE(1, 1, 2, 3), UINT64_MAX, 0);
    run_ok(&s);
    const struct node *n = udo_node(&s);
    check_shape(&node_input(s.g, n, 0)->type->shape, SHAPE(1, 3, 4, 6));
    ck_assert_str_eq(node_input(s.g, n, 0)->name, "x.nchw");
    check_shape(&node_input(s.g, n, 1)->type->shape, SHAPE(1, 3, 1, 2));
    const float *w = view_load(s.f.arena, node_input(s.g, n, 1)->view, DT_FLOAT32);
    const float expected[] = {0, 3, 1, 4, 2, 5};
    for (int k = 0; k < 6; k++)
        ck_assert(w[k] == expected[k]);
    ck_assert_uint_eq(n->inputs[2], s.in[2]);
    check_shape(&node_output(s.g, n, 0)->type->shape, SHAPE(1, 3, 4, 6));
    check_shape(&graph_tensor(s.g, s.outs[0])->type->shape, SHAPE(1, 4, 6, 3));
    ck_assert_str_eq(graph_tensor(s.g, s.outs[0])->name, "y");
    for (uint32_t i = 0; i < n->n_inputs; i++)
        ck_assert(!n->forms->in[i].as_stored);
    end(&s);
}
END_TEST

/* ---- static data ---- */

START_TEST(same_data_is_shared)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'static': true, 'data_type': 'FLOAT_16'}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_floats(&s, "w", SHAPE(3), UINT64_MAX, 0);
    run_ok(&s);
    tensor_id first = udo_node(&s)->inputs[1];
    ck_assert_str_eq(graph_tensor(s.g, first)->name, "w.float16");
    s.site.label = "n2";
    s.out_names[0] = "y2";
    run_ok(&s);
    ck_assert_uint_eq(graph_node(s.g, graph_tensor(s.g, s.outs[0])->producer)->inputs[1], first);
    end(&s);
}
END_TEST

START_TEST(untyped_data_keeps_its_type)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'static': true}, {'static': true}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    tensor_id w = give_floats(&s, "w", SHAPE(3), UINT64_MAX, 0);
    struct shape shape = SHAPE(2);
    s.in[s.site.n_in++] = build_const_ints(&s.b, "i", DT_INT64, &shape, (const int64_t[]){7, -8});
    run_ok(&s);
    const struct node *n = udo_node(&s);
    ck_assert_uint_eq(n->inputs[1], w);
    const struct tensor *i = node_input(s.g, n, 2);
    ck_assert_int_eq(i->type->dtype, DT_INT32); /* the container has no 64-bit integers */
    const int32_t *values = view_load(s.f.arena, i->view, DT_INT32);
    ck_assert(values[0] == 7 && values[1] == -8);
    end(&s);
}
END_TEST

/* A cast that is still pending in the model's constant comes first. */
START_TEST(pending_cast)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'static': true, 'data_type': 'FLOAT_32'}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    static const float source[] = {2.75f, -1.5f};
    struct shape shape = SHAPE(2);
    struct view view = view_of(source, DT_FLOAT32, &shape);
    s.in[s.site.n_in++] = graph_add_constant(s.g, "c", DT_INT32, &view);
    run_ok(&s);
    const struct tensor *c = node_input(s.g, udo_node(&s), 1);
    const float *values = view_load(s.f.arena, c->view, DT_FLOAT32);
    ck_assert_int_eq(c->type->dtype, DT_FLOAT32);
    ck_assert(values[0] == 2.0f && values[1] == -1.0f);
    end(&s);
}
END_TEST

START_TEST(value_that_does_not_fit)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'name': 'w', 'static': true, 'data_type': 'INT_32', 'tensor_layout': 'NHWC'}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_floats(&s, "w", SHAPE(1, 2, 2, 2), 6, 1.5f);
    const struct odlc_diag *d =
        fails(&s, "udo-value-misfit", "element [0,1,1,0] of input 1 ('w') is 1.5, which does not fit INT_32",
              "declare a data_type that holds all values");
    ck_assert_str_eq(d->file, "m.onnx");
    ck_assert_str_eq(d->attribute, "w");
    end(&s);
}
END_TEST

START_TEST(integer_that_does_not_fit)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'static': true, 'data_type': 'UINT_8'}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    struct shape shape = SHAPE(3);
    s.in[s.site.n_in++] = build_const_ints(&s.b, "i", DT_INT64, &shape, (const int64_t[]){255, 256, -1});
    fails(&s, "udo-value-misfit", "element [1] of input 1 is 256, which does not fit UINT_8", NULL);
    end(&s);
}
END_TEST

START_TEST(half_overflow)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'static': true, 'data_type': 'FLOAT_16'}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_floats(&s, "w", SHAPE(2, 3), 4, 65536.0f);
    fails(&s, "udo-value-misfit", "element [1,1] of input 1 is 65536, which does not fit FLOAT_16", NULL);
    end(&s);
}
END_TEST

START_TEST(half_rounds_to_even)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'static': true, 'data_type': 'FLOAT_16'}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    static const float source[] = {2049.0f, 2051.0f, 0.1f}; /* halves are 2 apart from 2048 on */
    struct shape shape = SHAPE(3);
    s.in[s.site.n_in++] = build_const_floats(&s.b, "w", &shape, source);
    run_ok(&s);
    const uint16_t *halves = view_load(s.f.arena, node_input(s.g, udo_node(&s), 1)->view, DT_FLOAT16);
    ck_assert_uint_eq(halves[0], 0x6800); /* 2048 */
    ck_assert_uint_eq(halves[1], 0x6802); /* 2052 */
    ck_assert_uint_eq(halves[2], 0x2e66);
    end(&s);
}
END_TEST

START_TEST(fixed_point_needs_encodings)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'name': 'w', 'static': true, 'data_type': 'FIXED_8'}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_floats(&s, "w", SHAPE(2), UINT64_MAX, 0);
    fails(&s, "udo-needs-encodings",
          "input 1 ('w') is declared FIXED_8, which needs encodings, but the model gives FLOAT_32", "quantize");
    end(&s);
}
END_TEST

START_TEST(text_for_a_number)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'static': true, 'data_type': 'STRING'}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_floats(&s, "w", SHAPE(2), UINT64_MAX, 0);
    fails(&s, "udo-value-misfit", "input 1 is declared STRING, but the model gives FLOAT_32", NULL);
    end(&s);
}
END_TEST

START_TEST(string_data)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'static': true, 'data_type': 'STRING', 'default_value': ['a', 'b']}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    run_ok(&s);
    const struct tensor *t = node_input(s.g, udo_node(&s), 1);
    ck_assert_int_eq(t->type->dtype, DT_STRING);
    check_shape(&t->type->shape, SHAPE(2));
    ck_assert_str_eq(t->view->strings[1], "b");
    end(&s);
}
END_TEST

/* ---- inputs that are missing, computed, or not static ---- */

START_TEST(default_input)
{
    struct site_fixture s;
    start(&s,
          DEFINE(X ", {'name': 'w', 'static': true, 'data_type': 'UINT_8', 'default_value': [[1, 2], [3, 255]]}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    run_ok(&s);
    const struct tensor *w = node_input(s.g, udo_node(&s), 1);
    ck_assert_str_eq(w->name, "n1.w");
    ck_assert_int_eq(w->type->dtype, DT_UINT8);
    check_shape(&w->type->shape, SHAPE(2, 2));
    const uint8_t *bytes = view_load(s.f.arena, w->view, DT_UINT8);
    ck_assert(bytes[0] == 1 && bytes[2] == 3 && bytes[3] == 255);
    end(&s);
}
END_TEST

START_TEST(optional_inputs)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'optional': true}, {'optional': true}, {'optional': true}", ""));
    tensor_id x = give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_absent(&s);
    tensor_id z = give_tensor(&s, "z", DT_FLOAT32, SHAPE(1, 2));
    give_absent(&s);
    run_ok(&s);
    const struct node *n = udo_node(&s);
    ck_assert_uint_eq(n->n_inputs, 3);
    ck_assert_uint_eq(n->inputs[0], x);
    ck_assert_uint_eq(n->inputs[1], NO_TENSOR);
    ck_assert_uint_eq(n->inputs[2], z);
    end(&s);
}
END_TEST

START_TEST(missing_input)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'name': 'w'}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_absent(&s);
    fails(&s, "udo-missing-input", "input 1 ('w') is missing",
          "give a default_value or \"optional\": true at ops.json:4:78");
    end(&s);
}
END_TEST

START_TEST(missing_static_input)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'name': 'w', 'static': true}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    fails(&s, "udo-missing-input", "input 1 ('w') is missing and must have data", "give a default_value");
    end(&s);
}
END_TEST

START_TEST(attribute_listed_as_input)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'name': 'alpha', 'static': true}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_attr(&s, float_attr("alpha", 1));
    fails(&s, "udo-missing-input", "input 1 ('alpha') is missing and must have data",
          "the node has an attribute 'alpha': list it as a param, not as an input, at ops.json:4:");
    end(&s);
}
END_TEST

START_TEST(static_input_that_is_computed)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'name': 'w', 'static': true, 'default_value': 1}", ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_tensor(&s, "w", DT_FLOAT32, SHAPE(1, 2));
    fails(&s, "udo-static-without-data", "input 1 ('w') is static, but the model computes it when it runs",
          "remove \"static\" at ops.json:4:");
    end(&s);
}
END_TEST

START_TEST(surplus_inputs)
{
    struct site_fixture s;
    start(&s, DEFINE(X, ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_tensor(&s, "z", DT_FLOAT32, SHAPE(1, 2));
    fails(&s, "udo-surplus-inputs", "the node has 2 inputs, but the definition of 'T' lists 1",
          "list every input at ops.json:3:1");
    end(&s);
}
END_TEST

START_TEST(trailing_absent_inputs_do_not_count)
{
    struct site_fixture s;
    start(&s, DEFINE(X, ""));
    give_tensor(&s, "x", DT_FLOAT32, SHAPE(1, 2));
    give_absent(&s);
    run_ok(&s);
    ck_assert_uint_eq(udo_node(&s)->n_inputs, 1);
    end(&s);
}
END_TEST

START_TEST(repeated_inputs)
{
    struct site_fixture s;
    start(&s, DEFINE(X ", {'name': 'rest', 'repeated': true, 'tensor_layout': 'NHWC'}", ""));
    for (int i = 0; i < 70; i++)
        give_tensor(&s, "x", DT_FLOAT32, i == 65 ? SHAPE(1, 2, 3, 4) : SHAPE(1, 2, 3));
    run_ok(&s);
    const struct node *n = udo_node(&s);
    ck_assert_uint_eq(n->n_inputs, 70);
    ck_assert_uint_eq(n->inputs[69], s.in[69]);
    for (uint32_t i = 0; i < 70; i++) /* the first is NCHW, and NHWC means rank 4 */
        ck_assert(n->forms->in[i].as_stored == (i != 0 && i != 65));
    end(&s);
}
END_TEST

static void give_two_constant_nodes(struct site_fixture *s)
{
    start(s, DEFINE("{'name': 'x', 'data_type': 'FLOAT_32'}", ""));
    give_floats(s, "w", SHAPE(2, 3), UINT64_MAX, 0);
    run_ok(s);
    s->site.label = "n2";
    s->out_names[0] = "y2";
    run_ok(s);
    s->site.label = "n3";
    s->out_names[0] = "y3";
    s->site.n_in = 0;
    give_tensor(s, "x", DT_FLOAT32, SHAPE(2, 3));
    run_ok(s);
    ck_assert_msg(s->f.diags.list.count == 1 && find_diag(&s->f, "udo-layout-rank"), "%s", all_diags(&s->f)); /* y */
}

START_TEST(data_for_an_input_that_is_not_static)
{
    struct site_fixture s;
    give_two_constant_nodes(&s);
    ck_assert_int_eq(udo_finish(&s.f.set), ODLC_ERR_INVALID);
    ck_assert_uint_eq(s.f.diags.list.count, 2);
    const struct odlc_diag *d = find_diag(&s.f, "udo-not-static");
    ck_assert_str_eq(d->message,
                     "input 0 ('x') of 'T' is not static, but the model gives data for it, which would be lost, "
                     "for 2 nodes: n1, n2");
    ck_assert_str_eq(d->file, "ops.json");
    ck_assert_uint_eq(d->line, 4);
    ck_assert_uint_eq(d->column, 13);
    ck_assert_str_eq(d->pointer, "/UdoPackage_0/Operators/0/inputs/0");
    ck_assert_ptr_nonnull(strstr(d->hint, "\"static\": true"));
    ck_assert_ptr_nonnull(strstr(d->hint, "--udo_promote_static"));
    end(&s);
}
END_TEST

START_TEST(promoted_static)
{
    struct site_fixture s;
    give_two_constant_nodes(&s);
    s.f.set.promote_static = true;
    ck_assert_int_eq(udo_finish(&s.f.set), ODLC_OK);
    ck_assert_uint_eq(s.f.diags.list.count, 2);
    const struct odlc_diag *d = find_diag(&s.f, "udo-promoted-static");
    ck_assert_int_eq(d->severity, ODLC_WARNING);
    ck_assert_str_eq(d->message,
                     "input 0 ('x') of 'T' is not static, but the data that the model gives for it is serialised, "
                     "for 2 nodes: n1, n2");
    end(&s);
}
END_TEST

/* Data is stored once: as the CPU takes it, or else the first core that is listed. The node has the table. */
START_TEST(data_that_cores_take_in_different_types)
{
    static const struct {
        const char *input, *table;
        enum dtype stored;
    } rows[] = {
        {"'static': true, 'per_core_data_types': {'DSP': 'UINT_8', 'CPU': 'FLOAT_16'}", "in0: CPU=FLOAT_16,DSP=UINT_8",
         DT_FLOAT16},
        {"'static': true, 'per_core_data_types': {'DSP': 'UINT_8', 'GPU': 'FLOAT_16'}", "in0: GPU=FLOAT_16,DSP=UINT_8",
         DT_UINT8},
        {"'per_core_data_types': {'CPU': 'INT_16', 'DSP': 'UINT_8'}", "in0: CPU=INT_16,DSP=UINT_8", DT_INT16},
    };
    struct site_fixture s;
    struct arena *arena = arena_create();
    start(&s, arena_printf(arena, DEFINE("{'name': 'x', %s}", ""), rows[_i].input));
    s.f.set.promote_static = true;
    give_floats(&s, "w", SHAPE(2, 3), UINT64_MAX, 0);
    run_ok(&s);
    const struct tensor *w = node_input(s.g, udo_node(&s), 0);
    ck_assert_int_eq(w->kind, TENSOR_STATIC);
    ck_assert_int_eq(w->type->dtype, rows[_i].stored);
    const float *stored = view_load(s.f.arena, w->view, DT_FLOAT32);
    for (int k = 0; k < 6; k++)
        ck_assert(stored[k] == (float)k);
    ck_assert_str_eq(named_string(udo_node(&s), "udo_per_core_data_types", ""), rows[_i].table);
    end(&s);
    arena_destroy(arena);
}
END_TEST

static void add_tests(TCase *t)
{
    tcase_add_test(t, hard_sigmoid);
    tcase_add_loop_test(t, static_matrix, 0, CELLS);
    tcase_add_loop_test(t, dynamic_matrix, 0, CELLS);
    tcase_add_test(t, channels_last_framework);
    tcase_add_test(t, same_data_is_shared);
    tcase_add_test(t, untyped_data_keeps_its_type);
    tcase_add_test(t, pending_cast);
    tcase_add_test(t, value_that_does_not_fit);
    tcase_add_test(t, integer_that_does_not_fit);
    tcase_add_test(t, half_overflow);
    tcase_add_test(t, half_rounds_to_even);
    tcase_add_test(t, fixed_point_needs_encodings);
    tcase_add_test(t, text_for_a_number);
    tcase_add_test(t, string_data);
    tcase_add_test(t, types_per_core_of_every_operand);
    tcase_add_test(t, default_input);
    tcase_add_test(t, optional_inputs);
    tcase_add_test(t, missing_input);
    tcase_add_test(t, missing_static_input);
    tcase_add_test(t, attribute_listed_as_input);
    tcase_add_test(t, static_input_that_is_computed);
    tcase_add_test(t, surplus_inputs);
    tcase_add_test(t, trailing_absent_inputs_do_not_count);
    tcase_add_test(t, repeated_inputs);
    tcase_add_test(t, data_for_an_input_that_is_not_static);
    tcase_add_test(t, promoted_static);
    tcase_add_loop_test(t, data_that_cores_take_in_different_types, 0, 3);
}

int main(void)
{
    return run_suite("udo_build", add_tests);
}
