/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL buffers of the caller's as inputs and results: what they hold, what is copied, and what is refused. Expected
 * values are computed here. */
#include <CL/cl.h>
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/gpu/gpu.h"
#include "backend/gpu/gpu_config.h"
#include "backend/gpu/gpu_context.h"
#include "backend/gpu/gpu_memory.h"
#include "backend/reference/reference.h"
#include "build/build.h"
#include "dlc/record.h"
#include "gpu_facts.h"
#include "ir/quant.h"
#include "op/op.h"
#include "opendlc/gpu.h"
#include "runtime/lend.h"

enum { ROWS = 4, COLUMNS = 8, COUNT = ROWS * COLUMNS };

static const int64_t dims[] = {ROWS, COLUMNS};
static struct arena *arena;
static struct diags diags;
static struct graph *g;
static struct build b;
static char folder[64], path[96];
static odlc_gpu *gpu;
static odlc_run *run;
static struct odlc_gpu_opencl cl;
static cl_command_queue queue;

static void setup(void)
{
    cl_int error;
    arena = arena_create();
    diags_init(&diags, arena);
    g = graph_create(arena, "net");
    build_init(&b, g, &diags);
    strcpy(folder, "/tmp/odlc-gpu-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/net.dlc", folder);
    gpu = odlc_gpu_new();
    ck_assert_int_eq(odlc_gpu_open(gpu, &cl), ODLC_OK);
    queue = clCreateCommandQueueWithProperties(cl.context, cl.device, NULL, &error);
    ck_assert_int_eq(error, CL_SUCCESS);
    run = odlc_run_new();
}

static void teardown(void)
{
    odlc_run_free(run);
    clReleaseCommandQueue(queue);
    odlc_gpu_free(gpu);
    (void)unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
    arena_destroy(arena);
}

/* ---- graphs ---- */

static tensor_id add_input(const char *name, enum dtype dtype)
{
    const struct type type = {dtype, SHAPE(ROWS, COLUMNS)};
    const tensor_id in = graph_add_tensor(g, name, TENSOR_INPUT, &type);
    vec_push(arena, &g->inputs, in);
    return in;
}

static void add_output(tensor_id t)
{
    graph_tensor(g, t)->kind = TENSOR_OUTPUT;
    vec_push(arena, &g->outputs, t);
}

static tensor_id unary(enum op_id op, const char *name, tensor_id x)
{
    tensor_id out;
    ck_assert_int_eq(build_unary(&b, op, x, name, &out), ODLC_OK);
    return out;
}

static tensor_id reshape(const char *name, tensor_id x, int64_t rows)
{
    tensor_id out;
    const struct shape shape = SHAPE(rows, COUNT / rows);
    ck_assert_int_eq(build_reshape(&b, x, &shape, name, &out), ODLC_OK);
    return out;
}

static void expect_ok(odlc_status status)
{
    size_t count, of_gpu;
    const struct odlc_diag *list = odlc_run_diags(run, &count), *others = odlc_gpu_diags(gpu, &of_gpu);
    ck_assert_msg(status == ODLC_OK, "%s; %s", count ? list[count - 1].message : "",
                  of_gpu ? others[of_gpu - 1].message : "");
}

/* Writes the graph, opens it on the GPU alone, and chooses its outputs. */
static void begin(void)
{
    static const char *const names[] = {"gpu"};
    struct arena *scratch = arena_create();
    const odlc_status status = dlc_write(scratch, &diags, g, path, &(struct dlc_write_options){.netp = false});
    ck_assert_msg(status == ODLC_OK, "%s", diags.list.count ? diags.list.data[0].message : "");
    arena_destroy(scratch);
    expect_ok(odlc_run_open(run, path));
    expect_ok(odlc_run_set_backends(run, names, 1));
    expect_ok(odlc_run_set_gpu(run, gpu));
    expect_ok(odlc_run_want_outputs(run));
}

/* y = |-x| */
static void begin_plain(enum dtype dtype)
{
    const tensor_id x = add_input("x", dtype), inner = unary(OP_ElementWiseNeg, "inner", x);
    const tensor_id y = unary(OP_ElementWiseAbs, "y", inner);
    if (dtype_is_fixed(dtype)) {
        const double scale = 0.5, zero = 100;
        const struct quant *quant = quant_create(arena, dtype, &scale, &zero, 1, false, 0);
        const tensor_id all[] = {x, inner, y};
        for (size_t i = 0; i < COUNT_OF(all); i++)
            graph_tensor(g, all[i])->quant = quant;
    }
    add_output(y);
    begin();
}

/* ---- memory ---- */

static cl_mem make_buffer(cl_mem_flags flags, size_t size)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(cl.context, flags, size, NULL, &error);
    ck_assert_int_eq(error, CL_SUCCESS);
    return buffer;
}

static struct odlc_gpu_descriptor describe(cl_mem buffer, const char *dtype)
{
    return (struct odlc_gpu_descriptor){.struct_size = sizeof(struct odlc_gpu_descriptor),
                                        .type = ODLC_GPU_MEM_OPENCL,
                                        .buffer = buffer,
                                        .dtype = dtype,
                                        .rank = 2,
                                        .dims = dims};
}

static odlc_gpu_memory *lend(const char *tensor, cl_mem buffer, const char *dtype)
{
    odlc_gpu_memory *memory;
    const struct odlc_gpu_descriptor d = describe(buffer, dtype);
    expect_ok(odlc_gpu_register(gpu, &d, 1, &memory));
    ck_assert_ptr_nonnull(memory);
    expect_ok(odlc_run_set_memory(run, tensor, memory));
    return memory;
}

static void write_to(cl_mem buffer, const void *bytes, size_t size)
{
    ck_assert_int_eq(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL), CL_SUCCESS);
}

static void read_from(cl_mem buffer, void *bytes, size_t size)
{
    ck_assert_int_eq(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL), CL_SUCCESS);
}

static void give_back(cl_mem *buffers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        clReleaseMemObject(buffers[i]);
}

static void fill(float *x, int seed)
{
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)((i * 37 + seed * 11) % 101 - 50) / 64;
}

static void expect_absolute(const float *y, const float *x)
{
    for (int i = 0; i < COUNT; i++)
        ck_assert_float_eq(y[i], fabsf(x[i]));
}

/* Executes with x in a buffer, and looks at y in another. */
static void try_buffers(cl_mem from, cl_mem to, int seed)
{
    float x[COUNT], y[COUNT];
    fill(x, seed);
    write_to(from, x, sizeof(x));
    expect_ok(odlc_run_execute(run));
    read_from(to, y, sizeof(y));
    expect_absolute(y, x);
}

/* ---- what is computed ---- */

START_TEST(nothing_is_copied)
{
    float x[COUNT], y[COUNT];
    begin_plain(DT_FLOAT32);
    fill(x, 0);
    expect_ok(odlc_run_set_floats(run, 0, x, COUNT));
    expect_ok(odlc_run_execute(run));
    ck_assert_uint_eq(odlc_gpu_count(gpu).copies, 2);
    cl_mem buffers[] = {make_buffer(CL_MEM_READ_ONLY, sizeof(x)), make_buffer(CL_MEM_READ_WRITE, sizeof(y) + 64)};
    odlc_gpu_memory *in = lend("x", buffers[0], "Float_32"), *out = lend("y", buffers[1], "Float_32");
    for (int i = 0; i < 5; i++)
        try_buffers(buffers[0], buffers[1], i);
    ck_assert_uint_eq(odlc_gpu_count(gpu).copies, 2);
    ck_assert_ptr_null(odlc_run_native(run, 0));
    ck_assert_int_eq(odlc_run_get_floats(run, 0, y, COUNT), ODLC_ERR_USAGE);
    odlc_gpu_memory *const both[] = {in, out};
    ck_assert_int_eq(odlc_gpu_deregister(gpu, both, 2), ODLC_ERR_USAGE); /* the run has them */
    expect_ok(odlc_run_set_memory(run, "x", NULL));
    ck_assert_int_eq(odlc_run_execute(run), ODLC_ERR_USAGE); /* there is no input */
    expect_ok(odlc_run_set_floats(run, 0, x, COUNT));
    expect_ok(odlc_run_execute(run));
    ck_assert_uint_eq(odlc_gpu_count(gpu).copies, 3);
    read_from(buffers[1], y, sizeof(y));
    expect_absolute(y, x);
    expect_ok(odlc_run_set_memory(run, "y", NULL));
    expect_ok(odlc_run_execute(run));
    expect_ok(odlc_run_get_floats(run, 0, y, COUNT));
    expect_absolute(y, x);
    expect_ok(odlc_gpu_deregister(gpu, both, 2));
    ck_assert_int_eq(odlc_gpu_deregister(gpu, both, 2), ODLC_ERR_USAGE);
    give_back(buffers, 2);
}
END_TEST

/* As who fills one buffer while the other one is used. */
START_TEST(buffers_take_turns)
{
    const bool records = device_records();
    begin_plain(DT_FLOAT32);
    cl_mem buffers[4];
    odlc_gpu_memory *memories[4];
    for (int i = 0; i < 4; i++) {
        buffers[i] = make_buffer(CL_MEM_READ_WRITE, COUNT * sizeof(float));
        memories[i] = lend(i % 2 ? "y" : "x", buffers[i], "Float_32");
    }
    for (int i = 0; i < 8; i++) {
        const uint64_t replays = odlc_gpu_count(gpu).replays;
        const int k = i % 2 * 2;
        expect_ok(odlc_run_set_memory(run, "x", memories[k]));
        expect_ok(odlc_run_set_memory(run, "y", memories[k + 1]));
        try_buffers(buffers[k], buffers[k + 1], i);
        ck_assert_uint_eq(odlc_gpu_count(gpu).replays, replays + (records && i >= 2)); /* each pair is recorded */
    }
    ck_assert_uint_eq(odlc_gpu_count(gpu).copies, 0);
    give_back(buffers, 4);
}
END_TEST

/* Recordings have buffers in them: those that are gone, and whose addresses others may get, are not used again. */
START_TEST(recordings_end_with_their_buffers)
{
    begin_plain(DT_FLOAT32);
    for (int i = 0; i < 4; i++) {
        cl_mem buffers[] = {make_buffer(0, COUNT * sizeof(float)), make_buffer(0, COUNT * sizeof(float))};
        odlc_gpu_memory *memories[] = {lend("x", buffers[0], "Float_32"), lend("y", buffers[1], "Float_32")};
        const uint64_t replays = odlc_gpu_count(gpu).replays;
        for (int k = 0; k < 3; k++)
            try_buffers(buffers[0], buffers[1], i + k);
        ck_assert_uint_eq(odlc_gpu_count(gpu).replays, replays + (device_records() ? 2 : 0));
        expect_ok(odlc_run_set_memory(run, "x", NULL));
        expect_ok(odlc_run_set_memory(run, "y", NULL));
        expect_ok(odlc_gpu_deregister(gpu, memories, 2));
        give_back(buffers, 2);
    }
}
END_TEST

/* Inputs and results keep their types whatever the precision mode. */
START_TEST(elements_are_of_the_tensors_types)
{
    static const enum odlc_gpu_precision modes[] = {ODLC_GPU_USER_PROVIDED, ODLC_GPU_FP16, ODLC_GPU_HYBRID};
    static const struct {
        enum dtype dtype;
        const char *name;
        uint16_t x[3], y[3]; /* halves and bytes */
    } types[] = {{DT_FLOAT16, "Float_16", {0xC000, 0x8000, 0x3C00}, {0x4000, 0, 0x3C00}},
                 {DT_UFXP8, "uFxp_8", {90, 100, 130}, {110, 100, 130}}};
    const size_t i = (size_t)_i % COUNT_OF(types);
    const size_t size = dtype_size(types[i].dtype), bytes = COUNT * size;
    uint8_t x[COUNT * 2] = {0}, y[COUNT * 2];
    for (size_t k = 0; k < 3; k++)
        memcpy(x + k * size, &types[i].x[k], size);
    const struct odlc_gpu_config config = {.struct_size = sizeof(config),
                                           .precision = modes[(size_t)_i / COUNT_OF(types)]};
    odlc_gpu_free(gpu);
    clReleaseCommandQueue(queue);
    gpu = odlc_gpu_new();
    expect_ok(odlc_gpu_configure(gpu, &config));
    expect_ok(odlc_gpu_open(gpu, &cl));
    queue = clCreateCommandQueueWithProperties(cl.context, cl.device, NULL, &(cl_int){0});
    begin_plain(types[i].dtype);
    cl_mem buffers[] = {make_buffer(CL_MEM_READ_WRITE, bytes), make_buffer(CL_MEM_READ_WRITE, bytes)};
    (void)lend("x", buffers[0], types[i].name);
    (void)lend("y", buffers[1], types[i].name);
    write_to(buffers[0], x, bytes);
    expect_ok(odlc_run_execute(run));
    read_from(buffers[1], y, bytes);
    for (size_t k = 0; k < 3; k++)
        ck_assert_mem_eq(y + k * size, &types[i].y[k], size);
    ck_assert_uint_eq(odlc_gpu_count(gpu).copies, 0);
    give_back(buffers, 2);
}
END_TEST

/* Reshapes have nothing to do by the plan: the same elements lie where one end of them is lent, and go from one buffer
 * to the other where both are. */
START_TEST(reshaped_tensors_are_found)
{
    const tensor_id x = add_input("x", DT_FLOAT32), flat = reshape("flat", x, 1);
    const tensor_id y = reshape("y", unary(OP_ElementWiseAbs, "inner", flat), ROWS);
    const tensor_id z = reshape("z", flat, ROWS);
    float values[COUNT], found[COUNT];
    add_output(y);
    add_output(z);
    begin();
    cl_mem buffers[3];
    for (int i = 0; i < 3; i++)
        buffers[i] = make_buffer(CL_MEM_READ_WRITE, sizeof(values));
    (void)lend("x", buffers[0], "Float_32");
    struct odlc_gpu_descriptor d[] = {describe(buffers[1], "Float_32"), describe(buffers[2], "Float_32")};
    odlc_gpu_memory *memories[2];
    expect_ok(odlc_gpu_register(gpu, d, 2, memories));
    expect_ok(odlc_run_set_memory(run, "y", memories[0]));
    expect_ok(odlc_run_set_memory(run, "z", memories[1]));
    for (int i = 0; i < 3; i++) {
        fill(values, i);
        write_to(buffers[0], values, sizeof(values));
        expect_ok(odlc_run_execute(run));
        read_from(buffers[1], found, sizeof(found));
        expect_absolute(found, values);
        read_from(buffers[2], found, sizeof(found));
        ck_assert_mem_eq(found, values, sizeof(found));
        read_from(buffers[0], found, sizeof(found));
        ck_assert_mem_eq(found, values, sizeof(found)); /* nobody writes to an input */
    }
    ck_assert_uint_eq(odlc_gpu_count(gpu).copies, 0);
    give_back(buffers, 3);
}
END_TEST

/* What a run writes another one may read. */
START_TEST(runs_hand_buffers_to_each_other)
{
    float x[COUNT], y[COUNT];
    begin_plain(DT_FLOAT32);
    odlc_run *const first = run;
    cl_mem buffer = make_buffer(CL_MEM_READ_WRITE, sizeof(x));
    odlc_gpu_memory *memory = lend("y", buffer, "Float_32");
    fill(x, 3);
    expect_ok(odlc_run_set_floats(run, 0, x, COUNT));
    expect_ok(odlc_run_execute(run));
    run = odlc_run_new();
    expect_ok(odlc_run_open(run, path));
    expect_ok(odlc_run_set_backends(run, (const char *const[]){"gpu"}, 1));
    expect_ok(odlc_run_set_gpu(run, gpu));
    expect_ok(odlc_run_want_outputs(run));
    expect_ok(odlc_run_set_memory(run, "x", memory));
    expect_ok(odlc_run_execute(run));
    expect_ok(odlc_run_get_floats(run, 0, y, COUNT));
    expect_absolute(y, x);
    odlc_run_free(first);
    ck_assert_int_eq(odlc_gpu_deregister(gpu, &memory, 1), ODLC_ERR_USAGE);
    expect_ok(odlc_run_want_outputs(run)); /* another choice forgets the memory */
    expect_ok(odlc_gpu_deregister(gpu, &memory, 1));
    clReleaseMemObject(buffer);
}
END_TEST

/* ---- what is refused ---- */

static void expect_refusal(const struct odlc_gpu_descriptor *d, size_t count, odlc_status status, const char *code)
{
    odlc_gpu_memory *memories[] = {(odlc_gpu_memory *)1, (odlc_gpu_memory *)1};
    size_t n_diags;
    ck_assert_int_eq(odlc_gpu_register(gpu, d, count, memories), status);
    for (size_t i = 0; i < count; i++)
        ck_assert_ptr_null(memories[i]);
    const struct odlc_diag *list = odlc_gpu_diags(gpu, &n_diags);
    ck_assert_str_eq(list[n_diags - 1].code, code);
}

/* The second of two is at fault: none is registered, so that the first one can be later. */
START_TEST(all_are_registered_or_none)
{
    const size_t size = COUNT * sizeof(float);
    const int64_t too_many[] = {ROWS, COLUMNS + 1}, none[] = {ROWS, 0}, huge[] = {INT64_MAX / 2, 8};
    cl_int error;
    cl_context other = clCreateContext(NULL, 1, (cl_device_id *)&cl.device, NULL, NULL, &error);
    ck_assert_int_eq(error, CL_SUCCESS);
    cl_mem buffers[] = {make_buffer(0, size), make_buffer(0, size), clCreateBuffer(other, 0, size, NULL, &error)};
    const cl_image_format format = {CL_R, CL_FLOAT};
    const cl_image_desc image_desc = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = ROWS, .image_height = COLUMNS};
    cl_mem image = clCreateImage(cl.context, 0, &format, &image_desc, NULL, &error);
    struct odlc_gpu_descriptor d[] = {describe(buffers[0], "Float_32"), describe(buffers[1], "Float_32")};
    const struct odlc_gpu_descriptor good = d[1];
    odlc_gpu_memory *memories[2];
    d[1].dims = too_many;
    expect_refusal(d, 2, ODLC_ERR_INVALID, "gpu-memory-shape");
    d[1].dims = none;
    expect_refusal(d, 2, ODLC_ERR_INVALID, "gpu-memory-shape");
    d[1].dims = huge;
    expect_refusal(d, 2, ODLC_ERR_INVALID, "gpu-memory-shape");
    d[1] = good, d[1].dtype = "Float_64"; /* twice the bytes */
    expect_refusal(d, 2, ODLC_ERR_INVALID, "gpu-memory-shape");
    d[1] = good, d[1].dtype = "Float_33";
    expect_refusal(d, 2, ODLC_ERR_USAGE, "gpu-memory-argument");
    d[1] = good, d[1].buffer = NULL;
    expect_refusal(d, 2, ODLC_ERR_USAGE, "gpu-memory-argument");
    d[1] = good, d[1].dims = NULL;
    expect_refusal(d, 2, ODLC_ERR_USAGE, "gpu-memory-argument");
    d[1] = good, d[1].struct_size = 0;
    expect_refusal(d, 2, ODLC_ERR_USAGE, "gpu-memory-argument");
    d[1] = good, d[1].type = ODLC_GPU_MEM_NONE;
    expect_refusal(d, 2, ODLC_ERR_UNSUPPORTED, "gpu-memory-type");
    d[1] = good, d[1].buffer = buffers[2];
    expect_refusal(d, 2, ODLC_ERR_USAGE, "gpu-memory-context");
    d[1] = good, d[1].buffer = buffers[0];
    expect_refusal(d, 2, ODLC_ERR_USAGE, "gpu-memory-registered");
    d[1] = good;
    if (image) { /* the device has them */
        d[1].buffer = image;
        expect_refusal(d, 2, ODLC_ERR_UNSUPPORTED, "gpu-memory-type");
        clReleaseMemObject(image);
        d[1] = good;
    }
    void *mapped = clEnqueueMapBuffer(queue, buffers[1], CL_TRUE, CL_MAP_READ, 0, size, 0, NULL, NULL, &error);
    expect_refusal(d, 2, ODLC_ERR_USAGE, "gpu-memory-mapped");
    clEnqueueUnmapMemObject(queue, buffers[1], mapped, 0, NULL, NULL);
    clFinish(queue);
    expect_refusal(d, 0, ODLC_ERR_USAGE, "gpu-memory-argument");
    expect_refusal(NULL, 2, ODLC_ERR_USAGE, "gpu-memory-argument");
    ck_assert_int_eq(odlc_gpu_register(gpu, d, 2, NULL), ODLC_ERR_USAGE);
    expect_ok(odlc_gpu_register(gpu, d, 2, memories));
    expect_refusal(d, 1, ODLC_ERR_USAGE, "gpu-memory-registered");
    expect_ok(odlc_gpu_deregister(gpu, memories, 2));
    expect_ok(odlc_gpu_register(gpu, d, 2, memories)); /* and once more */
    ck_assert_int_eq(odlc_gpu_deregister(gpu, (odlc_gpu_memory *const[]){memories[0], memories[0]}, 2), ODLC_ERR_USAGE);
    give_back(buffers, 3); /* registered ones are held until the object goes */
    clReleaseContext(other);
}
END_TEST

static void expect_unset(const char *tensor, odlc_gpu_memory *memory, odlc_status status, const char *code)
{
    size_t count;
    ck_assert_int_eq(odlc_run_set_memory(run, tensor, memory), status);
    const struct odlc_diag *list = odlc_run_diags(run, &count);
    ck_assert_str_eq(list[count - 1].code, code);
}

START_TEST(runs_refuse_what_does_not_fit)
{
    const size_t size = COUNT * sizeof(float);
    cl_mem buffers[] = {make_buffer(0, size), make_buffer(CL_MEM_READ_ONLY, size), make_buffer(CL_MEM_WRITE_ONLY, size),
                        make_buffer(0, size)};
    odlc_gpu_memory *memories[4], *foreign;
    struct odlc_gpu_descriptor d[4];
    const int64_t turned[] = {COLUMNS, ROWS};
    for (int i = 0; i < 4; i++)
        d[i] = describe(buffers[i], "Float_32");
    d[3].dims = turned;
    expect_ok(odlc_gpu_register(gpu, d, 4, memories));
    ck_assert_int_eq(odlc_run_set_memory(run, "x", memories[0]), ODLC_ERR_USAGE); /* nothing is wanted */
    begin_plain(DT_FLOAT32);
    expect_unset("nothing", memories[0], ODLC_ERR_USAGE, "run-unknown-tensor");
    expect_unset("inner", memories[0], ODLC_ERR_USAGE, "run-order");
    expect_unset("x", memories[3], ODLC_ERR_INVALID, "gpu-memory-shape");
    expect_unset("y", memories[1], ODLC_ERR_USAGE, "gpu-memory-flags");
    expect_unset("x", memories[2], ODLC_ERR_USAGE, "gpu-memory-flags");
    expect_ok(odlc_run_set_memory(run, "x", memories[0]));
    expect_unset("y", memories[0], ODLC_ERR_USAGE, "gpu-memory-used");
    odlc_gpu *other = odlc_gpu_new();
    struct odlc_gpu_opencl its;
    ck_assert_int_eq(odlc_gpu_open(other, &its), ODLC_OK);
    cl_mem its_buffer = clCreateBuffer(its.context, 0, size, NULL, &(cl_int){0});
    const struct odlc_gpu_descriptor of_other = describe(its_buffer, "Float_32");
    ck_assert_int_eq(odlc_gpu_register(other, &of_other, 1, &foreign), ODLC_OK);
    expect_unset("y", foreign, ODLC_ERR_USAGE, "gpu-memory-context");
    odlc_gpu_free(other);
    clReleaseMemObject(its_buffer);
    give_back(buffers, 4);
}
END_TEST

/* ---- other backends beside the GPU ---- */

static bool claim_negations(void *state, const struct claiming *c, node_id id, struct group *group)
{
    group->reason = "it is no Neg";
    return graph_node(c->scope->graph, id)->op->id == OP_ElementWiseNeg && reference_backend.claim(state, c, id, group);
}

/* x is read by the host, too; what the host gives is copied there, and what it reads of the device's is copied back. */
START_TEST(others_get_copies)
{
    struct backend host = reference_backend;
    const struct backend *const backends[] = {&host, &gpu_backend, NULL};
    struct gpu_config config = {.context = NULL};
    struct arena *scratch = arena_create();
    struct executor *e;
    cl_int error;
    float values[COUNT], found[COUNT];
    const tensor_id x = add_input("x", DT_FLOAT32), minus = unary(OP_ElementWiseNeg, "minus", x);
    const tensor_id absolute = unary(OP_ElementWiseAbs, "absolute", x),
                    last = unary(OP_ElementWiseNeg, "last", absolute);
    const tensor_id other = unary(OP_ElementWiseAbs, "other", minus), wanted[] = {absolute, last, minus, other};
    const struct executor_options options = {.backends = backends, .gpu = &config};
    host.claim = claim_negations;
    ck_assert_int_eq(gpu_context_create(&diags, NULL, &config.context), ODLC_OK);
    ck_assert_int_eq(executor_create(arena, scratch, &diags, g, wanted, 4, &options, &e), ODLC_OK);
    cl_command_queue its =
        clCreateCommandQueueWithProperties(config.context->handle, config.context->device.id, NULL, &error);
    const tensor_id lent[] = {x, absolute, minus};
    cl_mem buffers[3];
    for (int i = 0; i < 3; i++) {
        buffers[i] = clCreateBuffer(config.context->handle, 0, sizeof(values), NULL, &error);
        ck_assert(executor_lend(e, &gpu_memory, lent[i], buffers[i]));
    }
    ck_assert(!executor_lend(e, &gpu_memory, last, buffers[0])); /* the host alone has it */
    fill(values, 1);
    ck_assert_int_eq(clEnqueueWriteBuffer(its, buffers[0], CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL),
                     CL_SUCCESS);
    memset(e->buffers[x].data, 0, sizeof(values)); /* it is not what lies there */
    ck_assert_int_eq(executor_run(e), ODLC_OK);
    for (int i = 0; i < COUNT; i++) {
        ck_assert_float_eq(((const float *)e->buffers[last].data)[i], -fabsf(values[i]));
        ck_assert_float_eq(((const float *)e->buffers[other].data)[i], fabsf(values[i]));
    }
    ck_assert_int_eq(clEnqueueReadBuffer(its, buffers[1], CL_TRUE, 0, sizeof(found), found, 0, NULL, NULL), CL_SUCCESS);
    expect_absolute(found, values);
    ck_assert_int_eq(clEnqueueReadBuffer(its, buffers[2], CL_TRUE, 0, sizeof(found), found, 0, NULL, NULL), CL_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        ck_assert_float_eq(found[i], -values[i]);
    ck_assert_uint_eq(config.context->copies, 4); /* x and absolute for the host, minus there, other back */
    give_back(buffers, 3);
    clReleaseCommandQueue(its);
    arena_destroy(arena);
    arena_destroy(scratch);
    gpu_context_destroy(config.context);
    arena = arena_create();
}
END_TEST

/* The fork is of a process that has used the device: drivers of GPUs may find none there, which is an error of its own.
 */
START_TEST(another_process_has_other_memory)
{
    static const char *const names[] = {"gpu"};
    size_t count;
    begin_plain(DT_FLOAT32);
    odlc_run_free(run);
    run = odlc_run_new();
    expect_ok(odlc_run_open(run, path));
    expect_ok(odlc_run_isolate(run, 300));
    expect_ok(odlc_run_set_backends(run, names, 1));
    expect_ok(odlc_run_set_gpu(run, gpu));
    const odlc_status status = odlc_run_want_outputs(run);
    if (status == ODLC_ERR_UNSUPPORTED && device_is_gpu()) {
        ck_assert_str_eq(odlc_run_diags(run, &count)[0].code, "gpu-device");
        return;
    }
    expect_ok(status);
    cl_mem buffer = make_buffer(0, COUNT * sizeof(float));
    odlc_gpu_memory *memory;
    const struct odlc_gpu_descriptor d = describe(buffer, "Float_32");
    expect_ok(odlc_gpu_register(gpu, &d, 1, &memory));
    expect_unset("x", memory, ODLC_ERR_UNSUPPORTED, "gpu-memory-place");
    clReleaseMemObject(buffer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu_memory");
    TCase *tc = tcase_create("gpu_memory");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, nothing_is_copied);
    tcase_add_test(tc, buffers_take_turns);
    tcase_add_test(tc, recordings_end_with_their_buffers);
    tcase_add_loop_test(tc, elements_are_of_the_tensors_types, 0, 6);
    tcase_add_test(tc, reshaped_tensors_are_found);
    tcase_add_test(tc, runs_hand_buffers_to_each_other);
    tcase_add_test(tc, all_are_registered_or_none);
    tcase_add_test(tc, runs_refuse_what_does_not_fit);
    tcase_add_test(tc, others_get_copies);
    tcase_add_test(tc, another_process_has_other_memory);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
