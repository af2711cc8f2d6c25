/* SPDX-License-Identifier: Apache-2.0 */
/* What the GPU backend does around its kernels: programs and weights that graphs share, types of inner tensors, faults
 * that kernels report, fused nodes, and numbers that are none. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/gpu/gpu.h"
#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_kernels.h"
#include "backend/gpu/gpu_step.h"
#include "backend/gpu/gpu_weights.h"
#include "build/build.h"
#include "ir/quant.h"
#include "op/op.h"
#include "op/slices.h"
#include "gpu_facts.h"
#include "runtime/device_ops.h"
#include "runtime/executor.h"

static const struct backend *const gpu_alone[] = {&gpu_backend, NULL};

static struct arena *arena, *scratch;
static struct diags diags;
static struct graph *g;
static struct build b;
static struct gpu_config config;

static void begin(void)
{
    arena = arena_create();
    scratch = arena_create();
    diags_init(&diags, arena);
    config = (struct gpu_config){.context = NULL};
    g = graph_create(arena, "test");
    build_init(&b, g, &diags);
}

/* The executions go before their context does. */
static void end_context(void)
{
    struct gpu_context *context = config.context;
    arena_destroy(arena);
    gpu_context_destroy(context);
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
    arena_destroy(scratch);
}

/* ---- graphs ---- */

static tensor_id input(const char *name, enum dtype dtype, struct shape shape)
{
    const struct type type = {dtype, shape};
    return graph_add_tensor(g, name, TENSOR_INPUT, &type);
}

static tensor_id unary(enum op_id op, const char *name, tensor_id x)
{
    tensor_id out;
    build_op(&b, op, name);
    build_in(&b, x);
    ck_assert_int_eq(build_end(&b, name, &out), ODLC_OK);
    return out;
}

static tensor_id binary(enum op_id op, const char *name, tensor_id x, tensor_id y)
{
    tensor_id out;
    build_op(&b, op, name);
    build_in(&b, x);
    build_in(&b, y);
    ck_assert_int_eq(build_end(&b, name, &out), ODLC_OK);
    return out;
}

static tensor_id numbers(const char *name, const float *values, int64_t count)
{
    return build_const_floats(&b, name, &SHAPE(count), values);
}

static struct executor *prepare(tensor_id wanted)
{
    const struct executor_options options = {.backends = gpu_alone, .gpu = &config};
    struct executor *e = NULL;
    const odlc_status status = executor_create(arena, scratch, &diags, g, &wanted, 1, &options, &e);
    ck_assert_msg(status == ODLC_OK, "%s", diags.list.count ? diags.list.data[0].message : "");
    return e;
}

static const float *run(struct executor *e, tensor_id out)
{
    const odlc_status status = executor_run(e);
    ck_assert_msg(status == ODLC_OK, "%s", diags.list.count ? diags.list.data[0].message : "");
    return e->buffers[out].data;
}

/* ---- the context ---- */

START_TEST(graphs_of_a_context_share_programs_and_weights)
{
    const float weights[] = {1, 2, 3, 4};
    ck_assert_int_eq(gpu_context_create(&diags, NULL, &config.context), ODLC_OK);
    const tensor_id x = input("x", DT_FLOAT32, SHAPE(4));
    const tensor_id sum = binary(OP_ElementWiseAdd, "sum", x, numbers("w", weights, 4));
    const tensor_id product = binary(OP_ElementWiseMultiply, "product", x, numbers("v", weights, 4));
    (void)prepare(sum);
    const uint64_t builds = config.context->builds, uploads = config.context->uploads;
    ck_assert_uint_gt(builds, 0);
    ck_assert_uint_eq(uploads, 1);
    struct executor *e = prepare(product);
    ck_assert_uint_eq(config.context->builds, builds + device_is_gpu()); /* GPUs have a program for each */
    ck_assert_uint_eq(config.context->uploads, uploads);
    const float values[] = {5, 6, 7, 8}, expected[] = {5, 12, 21, 32};
    memcpy(e->buffers[x].data, values, sizeof(values));
    ck_assert_mem_eq(run(e, product), expected, sizeof(expected));
    struct gpu_context *context = config.context;
    arena_destroy(arena);
    ck_assert_ptr_null(context->weights); /* nobody needs them any more */
    gpu_context_destroy(context);
    arena = arena_create();
}
END_TEST

/* All bytes count, wherever two weights differ; those that many others look like may lie there twice. */
START_TEST(weights_of_the_same_bytes_lie_there_once)
{
    enum { SIZE = 3000001, OTHERS = 20 };
    static uint8_t bytes[SIZE], found[SIZE];
    struct gpu_context *context;
    cl_mem first, again, others[OTHERS];
    cl_int error;
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 253);
    ck_assert_int_eq(gpu_context_create(&diags, NULL, &context), ODLC_OK);
    ck_assert_int_eq(gpu_weights_take(context, &diags, bytes, SIZE, &first), ODLC_OK);
    ck_assert_int_eq(gpu_weights_take(context, &diags, bytes, SIZE, &again), ODLC_OK);
    ck_assert_ptr_eq(again, first);
    ck_assert_int_eq(gpu_weights_take(context, &diags, bytes, SIZE - 1, &again), ODLC_OK);
    ck_assert_ptr_ne(again, first);
    ck_assert_uint_eq(context->uploads, 2);
    cl_command_queue queue = clCreateCommandQueue(context->handle, context->device.id, 0, &error);
    ck_assert_int_eq(error, CL_SUCCESS);
    for (size_t i = 0; i < OTHERS; i++) {
        const size_t at = (SIZE - 1) / (OTHERS - 1) * i;
        bytes[at] ^= 1;
        ck_assert_int_eq(gpu_weights_take(context, &diags, bytes, SIZE, &others[i]), ODLC_OK);
        for (size_t k = 0; k < i; k++)
            ck_assert_ptr_ne(others[k], others[i]);
        ck_assert_ptr_ne(others[i], first);
        ck_assert_int_eq(clEnqueueReadBuffer(queue, others[i], CL_TRUE, 0, SIZE, found, 0, NULL, NULL), CL_SUCCESS);
        ck_assert(memcmp(found, bytes, SIZE) == 0);
        bytes[at] ^= 1;
    }
    ck_assert_uint_eq(context->uploads, 2 + OTHERS);
    clReleaseCommandQueue(queue);
    gpu_weights_give(context, first);
    gpu_weights_give(context, first);
    gpu_context_destroy(context);
}
END_TEST

START_TEST(a_device_that_is_not_there_is_one_clear_error)
{
    const tensor_id out = unary(OP_Relu, "relu", input("x", DT_FLOAT32, SHAPE(4)));
    const struct executor_options options = {.backends = gpu_alone, .gpu = &config};
    struct executor *e = NULL;
    config.device = "no such device";
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, &out, 1, &options, &e), ODLC_ERR_UNSUPPORTED);
    ck_assert_uint_eq(diags.list.count, 1);
    ck_assert_str_eq(diags.list.data[0].code, "gpu-device");
    ck_assert_ptr_nonnull(strstr(diags.list.data[0].message, "no such device"));
    ck_assert_ptr_nonnull(strstr(diags.list.data[0].hint, "clinfo"));
}
END_TEST

/* ---- precision ---- */

START_TEST(inner_tensors_alone_change_their_type)
{
    static const struct {
        enum gpu_precision precision;
        enum dtype inner;
    } modes[] = {{GPU_PRECISION_USER_PROVIDED, DT_FLOAT32},
                 {GPU_PRECISION_FP32, DT_FLOAT32},
                 {GPU_PRECISION_FP16, DT_FLOAT16},
                 {GPU_PRECISION_HYBRID, DT_FLOAT16}};
    const tensor_id x = input("x", DT_FLOAT32, SHAPE(2)), inner = unary(OP_ElementWiseNeg, "inner", x);
    const tensor_id out = unary(OP_ElementWiseAbs, "out", inner);
    const float values[] = {-1.0009765625F, 2049}; /* halves near 2049 are even */
    config.no_fusion = true;
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        config.precision = modes[i].precision;
        struct executor *e = prepare(out);
        memcpy(e->buffers[x].data, values, sizeof(values));
        const float *found = run(e, out);
        ck_assert_int_eq(e->buffers[inner].dtype, modes[i].inner);
        ck_assert_int_eq(e->buffers[out].dtype, DT_FLOAT32);
        ck_assert_float_eq(found[0], 1.0009765625F);
        ck_assert_float_eq(found[1], modes[i].inner == DT_FLOAT16 ? 2048 : 2049);
    }
}
END_TEST

START_TEST(halves_become_floats_where_floats_are_asked_for)
{
    const tensor_id x = input("x", DT_FLOAT16, SHAPE(1)), inner = binary(OP_ElementWiseAdd, "inner", x, x);
    const tensor_id out = unary(OP_ElementWiseAbs, "out", inner);
    config = (struct gpu_config){.precision = GPU_PRECISION_FP32, .no_fusion = true};
    struct executor *e = prepare(out);
    *(uint16_t *)e->buffers[x].data = float_to_half(-1.5F);
    const void *found = run(e, out);
    ck_assert_int_eq(e->buffers[inner].dtype, DT_FLOAT32);
    ck_assert_int_eq(e->buffers[out].dtype, DT_FLOAT16);
    ck_assert_float_eq(half_to_float(*(const uint16_t *)found), 3);
}
END_TEST

/* ---- faults ---- */

START_TEST(an_index_outside_is_an_error_of_the_run_alone)
{
    const float rows[] = {10, 20, 30};
    tensor_id out;
    const tensor_id table = numbers("table", rows, 3), at = input("at", DT_INT32, SHAPE(2));
    build_op(&b, OP_Gather, "lookup");
    build_in(&b, table);
    build_in(&b, at);
    build_int(&b, PARAM_axis, 0);
    ck_assert_int_eq(build_end(&b, NULL, &out), ODLC_OK);
    struct executor *e = prepare(out);
    int32_t *indices = e->buffers[at].data;
    indices[0] = 2, indices[1] = -3;
    ck_assert_float_eq(run(e, out)[0], 30);
    ck_assert_float_eq(((const float *)e->buffers[out].data)[1], 10);
    indices[1] = 3;
    ck_assert_int_eq(executor_run(e), ODLC_ERR_INVALID);
    ck_assert_str_eq(diags.list.data[0].node, "lookup");
    indices[1] = 1;
    ck_assert_float_eq(run(e, out)[1], 20);
}
END_TEST

/* ---- fused nodes ---- */

struct seen {
    size_t calls;
    cl_ulong nanoseconds;
};

static void see(void *object, const struct gpu_step *step, const struct gpu_call *call, cl_event event)
{
    struct seen *seen = object;
    cl_ulong begin_at = 0, end_at = 0;
    ck_assert_ptr_nonnull(step->node);
    ck_assert_ptr_nonnull(strchr(call->name, '.'));
    ck_assert_int_eq(clWaitForEvents(1, &event), CL_SUCCESS);
    ck_assert_int_eq(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(begin_at), &begin_at, NULL),
                     CL_SUCCESS);
    ck_assert_int_eq(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end_at), &end_at, NULL),
                     CL_SUCCESS);
    seen->calls++;
    seen->nanoseconds += end_at - begin_at;
}

START_TEST(nodes_are_fused_unless_it_is_switched_off)
{
    const float scales[] = {2, -3};
    const tensor_id x = input("x", DT_FLOAT32, SHAPE(2, 2));
    const tensor_id scaled = binary(OP_ElementWiseMultiply, "scaled", x, numbers("scales", scales, 2));
    const tensor_id out = unary(OP_Relu, "relu", binary(OP_ElementWiseAdd, "sum", scaled, x));
    const float values[] = {1, 2, -3, -4}, expected[] = {3, 0, 0, 8};
    for (size_t steps = 1; steps <= 3; steps += 2) {
        struct seen seen = {0};
        const struct gpu_profile profile = {&seen, see};
        config.no_fusion = steps == 3;
        config.profile = &profile;
        struct executor *e = prepare(out);
        memcpy(e->buffers[x].data, values, sizeof(values));
        ck_assert_mem_eq(run(e, out), expected, sizeof(expected));
        ck_assert_uint_eq(seen.calls, steps);
        ck_assert_uint_gt(seen.nanoseconds, 0);
    }
}
END_TEST

/* x + 1, times its own sigmoid, less x: the gate's two nodes are one function. */
START_TEST(a_gate_is_fused_into_what_it_opens)
{
    const float one = 1, values[] = {-2, 0, 3, INFINITY};
    const tensor_id x = input("x", DT_FLOAT32, SHAPE(4));
    const tensor_id sum = binary(OP_ElementWiseAdd, "sum", x, numbers("one", &one, 1));
    const tensor_id gate = unary(OP_Sigmoid, "gate", sum);
    const tensor_id opened = binary(OP_ElementWiseMultiply, "opened", gate, sum);
    const tensor_id out = binary(OP_ElementWiseSubtract, "out", opened, x);
    struct seen seen = {0};
    const struct gpu_profile profile = {&seen, see};
    config.profile = &profile;
    struct executor *e = prepare(out);
    memcpy(e->buffers[x].data, values, sizeof(values));
    const float *found = run(e, out);
    for (int i = 0; i < 3; i++) {
        const double y = (double)values[i] + 1;
        ck_assert_double_eq_tol(found[i], y / (1 + exp(-y)) - (double)values[i], 1e-6);
    }
    ck_assert(isnan(found[3])); /* inf - inf */
    ck_assert_uint_eq(seen.calls, 1);
}
END_TEST

/* ---- products with Transposes around them ---- */

static tensor_id transpose(const char *name, tensor_id x, const struct perm *perm)
{
    tensor_id out;
    ck_assert_int_eq(build_transpose(&b, x, perm, name, &out), ODLC_OK);
    return out;
}

enum { TOKENS = 5, HEADS = 3, DEPTH = 4 };

/* The heads' scores are those of q k'; what they take of v goes back to the tokens. Plain loops over the inputs. */
static void attend(const float *q, const float *k, const float *v, float *out)
{
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < TOKENS; i++)
            for (int d = 0; d < DEPTH; d++) {
                double sum = 0;
                for (int j = 0; j < TOKENS; j++) {
                    double score = 0;
                    for (int e = 0; e < DEPTH; e++)
                        score += (double)q[(i * HEADS + h) * DEPTH + e] * (double)k[(j * HEADS + h) * DEPTH + e];
                    sum += score * (double)v[(j * HEADS + h) * DEPTH + d];
                }
                const int at = (i * HEADS + h) * DEPTH + d;
                out[at] = (float)(sum < 0 ? 0 : sum); /* Relu, behind a Reshape */
            }
}

/* By panels and by tiles, and with `all` without fusion and by kernels for their followers, too; results are at most so
 * far apart, relative to the largest. */
static void expect_attention(enum dtype dtype, enum gpu_precision precision, double apart, bool all)
{
    enum { COUNT = TOKENS * HEADS * DEPTH };
    const struct shape split = SHAPE(1, TOKENS, HEADS, DEPTH);
    const tensor_id in[] = {input("q", dtype, split), input("k", dtype, split), input("v", dtype, split)};
    const struct perm heads = {.rank = 4, .axis = {0, 2, 1, 3}}, turned = {.rank = 4, .axis = {0, 2, 3, 1}};
    const tensor_id q = transpose("q.heads", in[0], &heads), k = transpose("k.heads", in[1], &turned);
    const tensor_id scores = binary(OP_MatMul, "scores", q, k);
    const tensor_id mixed = binary(OP_MatMul, "mixed", scores, transpose("v.heads", in[2], &heads));
    const tensor_id back = transpose("back", mixed, &heads);
    float values[3][COUNT], expected[COUNT], found[COUNT], largest = 0;
    tensor_id joined;
    ck_assert_int_eq(build_reshape(&b, back, &SHAPE(TOKENS, HEADS * DEPTH), "joined", &joined), ODLC_OK);
    const tensor_id out = unary(OP_Relu, "out", joined);
    for (int i = 0; i < 3; i++)
        for (int at = 0; at < COUNT; at++)
            values[i][at] = (float)((at * (7 + i) + 3 * i) % 11 - 5) / 4;
    attend(values[0], values[1], values[2], expected);
    for (int at = 0; at < COUNT; at++)
        largest = fmaxf(largest, expected[at]);
    for (int way = 0; way < 4; way += all ? 1 : 2) {
        struct seen seen = {0};
        const struct gpu_profile profile = {&seen, see};
        config = (struct gpu_config){.profile = &profile,
                                     .precision = precision,
                                     .no_fusion = way == 3,
                                     .specializes = way == 1,
                                     .products = way == 2 ? GPU_PRODUCTS_TILES : GPU_PRODUCTS_BY_DEVICE};
        struct executor *e = prepare(out);
        for (int i = 0; i < 3; i++)
            convert_elements(e->buffers[in[i]].data, dtype, values[i], DT_FLOAT32, COUNT);
        convert_elements(found, DT_FLOAT32, run(e, out), dtype, COUNT);
        for (int at = 0; at < COUNT; at++)
            ck_assert_double_eq_tol(found[at], expected[at], apart * (double)largest);
        const bool in_tiles = way == 2 || device_is_gpu();
        const size_t packing = in_tiles ? 0 : 2; /* in panels, right operands are packed in each run */
        ck_assert_uint_eq(seen.calls, way == 3 ? 7 + packing : 2 + packing);
    }
}

/* Tensors that nobody sees are halves in two modes, and all are where the container has them so. */
START_TEST(products_read_and_write_through_transposes)
{
    static const struct {
        enum dtype dtype;
        enum gpu_precision precision;
        double apart;
    } cases[] = {
        {DT_FLOAT32, GPU_PRECISION_USER_PROVIDED, 1e-5},
        {DT_FLOAT32, GPU_PRECISION_HYBRID, 2e-3},
        {DT_FLOAT32, GPU_PRECISION_FP16, 1e-2},
        {DT_FLOAT16, GPU_PRECISION_USER_PROVIDED, 2e-3},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (i > 0) {
            end();
            begin();
        }
        expect_attention(cases[i].dtype, cases[i].precision, cases[i].apart, i == 0);
    }
}
END_TEST

/* ---- norms ---- */

/* Along the last axis or the first one; expected by a plain loop. */
static void expect_norm(int64_t rows, int64_t columns, uint32_t axis, size_t kernels)
{
    struct seen seen = {0};
    const struct gpu_profile profile = {&seen, see};
    const char *name = arena_printf(arena, "norm %d %d %u", (int)rows, (int)columns, axis);
    const tensor_id x = input(arena_printf(arena, "x of %s", name), DT_FLOAT32, SHAPE(rows, columns));
    tensor_id out;
    build_op(&b, OP_LayerNorm, name);
    build_in(&b, x);
    build_ints(&b, PARAM_axes, (const int64_t[]){axis}, 1);
    build_float(&b, PARAM_epsilon, 0.01);
    ck_assert_int_eq(build_end(&b, name, &out), ODLC_OK);
    config.profile = &profile;
    struct executor *e = prepare(out);
    float *values = e->buffers[x].data;
    for (int64_t i = 0; i < rows * columns; i++)
        values[i] = (float)(i * 7 % 11 - i % 5);
    const float *found = run(e, out);
    const int64_t count = axis ? columns : rows, step = axis ? 1 : columns, next = axis ? columns : 1;
    for (int64_t line = 0; line < rows * columns / count; line += 17) {
        double mean = 0, squares = 0;
        for (int64_t i = 0; i < count; i++)
            mean += (double)values[line * next + i * step] / (double)count;
        for (int64_t i = 0; i < count; i++)
            squares += pow((double)values[line * next + i * step] - mean, 2) / (double)count;
        for (int64_t i = 0; i < count; i++) {
            const int64_t at = line * next + i * step;
            ck_assert_double_eq_tol((double)found[at], ((double)values[at] - mean) / sqrt(squares + 0.01), 1e-5);
        }
    }
    ck_assert_uint_eq(seen.calls, kernels);
}

START_TEST(norms_are_one_kernel_unless_long_lines_lie_apart)
{
    expect_norm(3, 40, 1, 1);
    expect_norm(40, 3, 0, 1);
    expect_norm(64, 4100, 1, 1);
    expect_norm(514, 512, 0, 2);
}
END_TEST

/* ---- builds ---- */

/* Threads build several programs of a graph at once. */
START_TEST(programs_of_a_graph_are_built_by_threads)
{
    ck_assert_int_eq(gpu_context_create(&diags, NULL, &config.context), ODLC_OK);
    config.context->builders.most = 3;
    config.no_fusion = config.specializes = true;
    const tensor_id x = input("x", DT_FLOAT32, SHAPE(2));
    const enum op_id ops[] = {OP_ElementWiseNeg, OP_ElementWiseAbs, OP_ElementWiseSquareRoot, OP_ElementWiseFloor};
    tensor_id out = x;
    for (size_t i = 0; i < COUNT_OF(ops); i++)
        out = unary(ops[i], arena_printf(arena, "node%zu", i), out);
    struct executor *e = prepare(out);
    ck_assert_uint_eq(config.context->builds, COUNT_OF(ops));
    ck_assert_uint_ge(config.context->builders.n_threads, 1);
    const float values[] = {10, -4}, expected[] = {3, 2};
    memcpy(e->buffers[x].data, values, sizeof(values));
    ck_assert_mem_eq(run(e, out), expected, sizeof(expected));
    end_context();
}
END_TEST

/* A package's op with one kernel: the node's name begins with the number of the kernel's source. */
static const struct op of_package = {.name = "Step", .dlc_type = "Step", .package = "Shop"};
#define STEP_OF(value)                                                 \
    "__kernel void move(__global const float *x, __global float *y)\n" \
    "{ const int i = get_global_id(0); y[i] = " value "; }\n"
static const char *const step_sources[] = {STEP_OF("2 * x[i]"), STEP_OF("x[i] + 3"), STEP_OF("-x[i]")};

static odlc_status open_shop(const struct backend_scope *scope)
{
    (void)scope;
    return ODLC_OK;
}

static const char *refuse_none(const struct backend_scope *scope, const struct node *n)
{
    (void)scope, (void)n;
    return NULL;
}

static odlc_status create_step(const struct backend_scope *scope, const struct node *n, struct device_op **out)
{
    static const struct device_arg args[] = {{.kind = DEVICE_ARG_INPUT}, {.kind = DEVICE_ARG_OUTPUT}};
    struct device_kernel *kernel = arena_new(scope->arena, struct device_kernel);
    *kernel = (struct device_kernel){.name = "move",
                                     .source = step_sources[n->name[0] - '0'],
                                     .options = "",
                                     .dims = 1,
                                     .global = {2},
                                     .args = args,
                                     .n_args = COUNT_OF(args)};
    struct buffer *input = arena_new(scope->arena, struct buffer);
    *input = scope->constants[n->inputs[0]];
    input->data = NULL; /* it is no constant */
    *out = arena_new(scope->arena, struct device_op);
    **out = (struct device_op){.package = "Shop",
                               .library = "shop.so",
                               .hash = "",
                               .inputs = input,
                               .outputs = &scope->constants[n->outputs[0]],
                               .kernels = kernel,
                               .n_kernels = 1};
    return ODLC_OK;
}

/* What is queued and built when all steps are prepared: then the first one is asked for again. */
struct watched {
    uint64_t last, builds;
    uint32_t queued;
    bool is_over;
};

static bool watch(void *user, uint64_t done, uint64_t total)
{
    struct watched *w = user;
    (void)total;
    if (!w->is_over && done < w->last) {
        w->is_over = true;
        (void)pthread_mutex_lock(&config.context->lock);
        w->builds = config.context->builds;
        w->queued = config.context->builders.n_queued;
        (void)pthread_mutex_unlock(&config.context->lock);
    }
    w->last = done;
    return true;
}

/* Each is built once; without threads, when all are known. */
START_TEST(programs_of_packages_are_built_by_the_same_threads)
{
    static const struct device_ops shop = {open_shop, refuse_none, create_step};
    const struct type type = {DT_FLOAT32, SHAPE(2)};
    const float values[] = {5, -1}, expected[] = {-26, -2}; /* -(2 x + 3) * 2 */
    struct watched watched = {0};
    const struct progress progress = {watch, &watched};
    const struct executor_options options = {
        .backends = gpu_alone, .gpu = &config, .device_ops = &shop, .progress = &progress};
    ck_assert_int_eq(gpu_context_create(&diags, NULL, &config.context), ODLC_OK);
    config.context->builders.most = _i ? 3 : 0;
    const tensor_id x = input("x", DT_FLOAT32, SHAPE(2));
    tensor_id last = x;
    for (const char *const *name = (const char *const[]){"0 first", "1", "2", "0 again", NULL}; *name; name++) {
        const tensor_id out = graph_add_tensor(g, *name, TENSOR_NATIVE, &type);
        vec_push(arena, &g->order, graph_add_node(g, &of_package, 0, *name, &last, 1, &out, 1));
        last = out;
    }
    struct executor *e = NULL;
    const odlc_status status = executor_create(arena, scratch, &diags, g, &last, 1, &options, &e);
    ck_assert_msg(status == ODLC_OK, "%s", diags.list.count ? diags.list.data[0].message : "");
    ck_assert(watched.is_over);
    if (_i == 0) {
        ck_assert_uint_eq(watched.queued, COUNT_OF(step_sources));
        ck_assert_uint_eq(watched.builds, 0);
    }
    ck_assert_uint_eq(config.context->builds, COUNT_OF(step_sources));
    ck_assert_int_eq(config.context->builders.n_threads > 0, _i);
    memcpy(e->buffers[x].data, values, sizeof(values));
    ck_assert_mem_eq(run(e, last), expected, sizeof(expected));
    end_context();
}
END_TEST

/* Whoever asks for a program hears of that one, and who asks again has it built again. */
START_TEST(programs_that_are_not_built_say_why)
{
    static const struct gpu_source sources[] = {{"first", "#error FIRST_FAULT\n"}, {"second", "#error SECOND_FAULT\n"}};
    static const char *const faults[] = {"FIRST_FAULT", "SECOND_FAULT"};
    struct gpu_program *programs[2], *again;
    struct gpu_context *context;
    cl_kernel kernel;
    ck_assert_int_eq(gpu_context_create(&diags, NULL, &context), ODLC_OK);
    for (uint32_t most = 0; most < 4; most += 3) {
        context->builders.most = most;
        for (int i = 0; i < 2; i++)
            ck_assert_int_eq(gpu_program_take(context, &sources[i], "", true, &programs[i]), ODLC_OK);
        for (int i = 1; i >= 0; i--) {
            ck_assert_int_eq(gpu_program_kernel(context, &diags, programs[i], "none", &kernel), ODLC_ERR_INTERNAL);
            ck_assert_ptr_nonnull(strstr(diags.list.data[diags.list.count - 1].message, faults[i]));
        }
        ck_assert_int_eq(gpu_program_take(context, &sources[0], "", true, &again), ODLC_OK);
        ck_assert_ptr_ne(again, programs[0]);
    }
    ck_assert_uint_eq(context->builds, 0);
    gpu_context_destroy(context); /* while a program may be in work, or waits for it */
}
END_TEST

/* ---- numbers ---- */

static void expect_bits(const float *found, const float *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(isnan(found[i]) != 0, isnan(expected[i]) != 0);
        if (!isnan(expected[i])) {
            ck_assert_float_eq(found[i], expected[i]);
            ck_assert_int_eq(signbit(found[i]) != 0, signbit(expected[i]) != 0);
        }
    }
}

START_TEST(zeros_keep_their_sign_and_no_number_stays_none)
{
    const float values[] = {-0.0F, 0, NAN, -1}, others[] = {0, -0.0F, 1, NAN};
    const float relu[] = {-0.0F, 0, NAN, 0}, product[] = {-0.0F, -0.0F, NAN, NAN}, most[] = {0, -0.0F, NAN, NAN};
    const tensor_id x = input("x", DT_FLOAT32, SHAPE(4)), y = input("y", DT_FLOAT32, SHAPE(4));
    const tensor_id outs[] = {unary(OP_Relu, "relu", x), binary(OP_ElementWiseMultiply, "product", x, y),
                              binary(OP_ElementWiseMaximum, "most", x, y)};
    const float *expected[] = {relu, product, most};
    for (size_t i = 0; i < COUNT_OF(outs); i++) {
        struct executor *e = prepare(outs[i]);
        memcpy(e->buffers[x].data, values, sizeof(values));
        if (e->buffers[y].data)
            memcpy(e->buffers[y].data, others, sizeof(others));
        expect_bits(run(e, outs[i]), expected[i], 4);
    }
}
END_TEST

/* As by a sum that is a float16: 2048 + 1 is 2048. */
START_TEST(updates_of_halves_are_rounded_one_by_one)
{
    enum { UPDATES = 8 };
    const uint16_t one = 0x3C00, many = 0x6800; /* 2048 */
    const tensor_id x = input("x", DT_FLOAT16, SHAPE(1)), at = input("at", DT_INT32, SHAPE(UPDATES));
    const tensor_id updates = input("updates", DT_FLOAT16, SHAPE(UPDATES));
    tensor_id out;
    build_op(&b, OP_ScatterElements, "scatter");
    build_in(&b, x);
    build_in(&b, at);
    build_in(&b, updates);
    build_int(&b, PARAM_reduction, SCATTER_ADD);
    ck_assert_int_eq(build_end(&b, "out", &out), ODLC_OK);
    struct executor *e = prepare(out);
    memcpy(e->buffers[x].data, &many, sizeof(many));
    for (size_t i = 0; i < UPDATES; i++) {
        ((int32_t *)e->buffers[at].data)[i] = 0;
        ((uint16_t *)e->buffers[updates].data)[i] = one;
    }
    ck_assert_mem_eq(run(e, out), &many, sizeof(many));
}
END_TEST

/* Whatever a device converts it to. */
START_TEST(no_number_is_the_integer_zero)
{
    const float values[] = {NAN, 1e30F, -1e30F, -2.75F};
    const int64_t longs[] = {0, INT64_MAX, INT64_MIN, -2};
    const int32_t ints[] = {0, INT32_MAX, INT32_MIN, -2};
    const uint8_t bytes[] = {0, 255, 0, 0}, roots[] = {0, 116, 132, 100};
    const int8_t squares[] = {-16, 16, 64, 0};
    const struct {
        enum dtype dtype;
        const void *expected;
    } casts[] = {{DT_INT64, longs}, {DT_INT32, ints}, {DT_UINT8, bytes}};
    const tensor_id x = input("x", DT_FLOAT32, SHAPE(4)), square = input("square", DT_SFXP8, SHAPE(4));
    for (size_t i = 0; i < COUNT_OF(casts); i++) {
        tensor_id out;
        ck_assert_int_eq(build_cast(&b, x, casts[i].dtype, dtype_info(casts[i].dtype)->name, &out), ODLC_OK);
        struct executor *e = prepare(out);
        memcpy(e->buffers[x].data, values, sizeof(values));
        ck_assert_mem_eq(run(e, out), casts[i].expected, 4 * dtype_size(casts[i].dtype));
    }
    const double scale = 0.0625, zeros[] = {0, 100};
    const tensor_id root = unary(OP_ElementWiseSquareRoot, "root", square);
    graph_set_dtype(g, root, DT_UFXP8);
    graph_tensor(g, square)->quant = quant_create(arena, DT_SFXP8, &scale, &zeros[0], 1, false, 0);
    graph_tensor(g, root)->quant = quant_create(arena, DT_UFXP8, &scale, &zeros[1], 1, false, 0);
    struct executor *e = prepare(root);
    memcpy(e->buffers[square].data, squares, sizeof(squares));
    ck_assert_mem_eq(run(e, root), roots, sizeof(roots));
}
END_TEST

/* Of types that kernels compute with, and of others: of each a few elements, which stay as they are stored. */
START_TEST(elements_of_any_type_are_reshaped)
{
    static const enum dtype dtypes[] = {DT_FLOAT64, DT_UINT64, DT_INT64, DT_BFLOAT16, DT_INT4, DT_UFXP4, DT_BOOL};
    for (size_t i = 0; i < COUNT_OF(dtypes); i++) {
        const char *name = dtype_info(dtypes[i])->name;
        const tensor_id x = input(name, dtypes[i], SHAPE(2, 3));
        tensor_id out;
        build_op(&b, OP_Reshape, arena_printf(arena, "reshape.%s", name));
        build_in(&b, x);
        build_ints(&b, PARAM_shape, (const int64_t[]){3, 2}, 2);
        ck_assert_int_eq(build_end(&b, arena_printf(arena, "out.%s", name), &out), ODLC_OK);
        struct executor *e = prepare(out);
        uint8_t *bytes = e->buffers[x].data, expected[6 * sizeof(double)];
        const size_t size = 6 * dtype_size(dtypes[i]);
        for (size_t k = 0; k < size; k++)
            bytes[k] = expected[k] = dtypes[i] == DT_BOOL ? k % 2 : (uint8_t)(k % 7);
        ck_assert_mem_eq(run(e, out), expected, size);
    }
}
END_TEST

/* Equal elements in the order of their places; what is no number is the best for TopK, and nothing for Argmax but at
 * the beginning. */
START_TEST(ties_and_no_numbers_are_found_as_by_the_reference)
{
    const float values[] = {1, 3, NAN, 3, -INFINITY, NAN, 5, INFINITY, -0.0F, 0};
    const int32_t most[] = {1, 0}, places[] = {2, 1, 3, 0, 2, 1};
    const tensor_id x = input("x", DT_FLOAT32, SHAPE(2, 5));
    tensor_id outs[2];
    build_op(&b, OP_TopK, "top");
    build_in(&b, x);
    build_int(&b, PARAM_k, 3);
    ck_assert_int_eq(build_end_n(&b, (const char *[]){"", ""}, 2, outs), ODLC_OK);
    tensor_id extreme;
    build_op(&b, OP_Argmax, "most");
    build_in(&b, x);
    build_int(&b, PARAM_axis, 1);
    ck_assert_int_eq(build_end(&b, "most", &extreme), ODLC_OK);
    struct executor *e = prepare(extreme);
    memcpy(e->buffers[x].data, values, sizeof(values));
    ck_assert_mem_eq(run(e, extreme), most, sizeof(most));
    e = prepare(outs[1]);
    memcpy(e->buffers[x].data, values, sizeof(values));
    ck_assert_mem_eq(run(e, outs[1]), places, sizeof(places));
}
END_TEST

/* Of two updates of one element the later one stays, whichever work-item is the first. */
START_TEST(the_last_update_of_an_element_stays)
{
    enum { UPDATES = 512 };
    const int32_t axes = 2;
    const tensor_id x = input("x", DT_FLOAT32, SHAPE(2)), at = input("at", DT_INT32, SHAPE(UPDATES, 1));
    const tensor_id updates = input("updates", DT_FLOAT32, SHAPE(UPDATES));
    tensor_id out;
    build_op(&b, OP_ScatterNd, "scatter");
    build_in(&b, x);
    build_in(&b, at);
    build_in(&b, updates);
    ck_assert_int_eq(build_end(&b, "out", &out), ODLC_OK);
    struct executor *e = prepare(out);
    for (int32_t i = 0; i < UPDATES; i++) {
        ((int32_t *)e->buffers[at].data)[i] = i % axes;
        ((float *)e->buffers[updates].data)[i] = (float)i;
    }
    const float expected[] = {UPDATES - 2, UPDATES - 1};
    ck_assert_mem_eq(run(e, out), expected, sizeof(expected));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu");
    TCase *tc = tcase_create("gpu");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_test(tc, graphs_of_a_context_share_programs_and_weights);
    tcase_add_test(tc, weights_of_the_same_bytes_lie_there_once);
    tcase_add_test(tc, a_device_that_is_not_there_is_one_clear_error);
    tcase_add_test(tc, inner_tensors_alone_change_their_type);
    tcase_add_test(tc, halves_become_floats_where_floats_are_asked_for);
    tcase_add_test(tc, an_index_outside_is_an_error_of_the_run_alone);
    tcase_add_test(tc, nodes_are_fused_unless_it_is_switched_off);
    tcase_add_test(tc, a_gate_is_fused_into_what_it_opens);
    tcase_add_test(tc, products_read_and_write_through_transposes);
    tcase_add_test(tc, norms_are_one_kernel_unless_long_lines_lie_apart);
    tcase_add_test(tc, programs_of_a_graph_are_built_by_threads);
    tcase_add_loop_test(tc, programs_of_packages_are_built_by_the_same_threads, 0, 2);
    tcase_add_test(tc, programs_that_are_not_built_say_why);
    tcase_add_test(tc, ties_and_no_numbers_are_found_as_by_the_reference);
    tcase_add_test(tc, the_last_update_of_an_element_stays);
    tcase_add_test(tc, elements_of_any_type_are_reshaped);
    tcase_add_test(tc, no_number_is_the_integer_zero);
    tcase_add_test(tc, updates_of_halves_are_rounded_one_by_one);
    tcase_add_test(tc, zeros_keep_their_sign_and_no_number_stays_none);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
