/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a file of one tensor: a value for --freeze_input, or raw data for net-run. The first byte says in what
 * form they are (enum form), the second one which input they are for (those below). What is accepted is read to its
 * end. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converters/driver/freeze.h"
#include "converters/onnx/onnx_frontend.h"
#include "converters/tensorflow/tf_frontend.h"
#include "dlc/record.h"
#include "engine.h"
#include "op/graph_text.h"
#include "opendlc/run.h"

enum form { NPY, RAW, ONNX_PB, TENSORFLOW_PB, RUN_FLOATS, RUN_NATIVE, FORMS };

/* ---- --freeze_input ---- */

static int64_t open_dims[] = {DIM_OPEN, 3}, fixed_dims[] = {2, 3}, large_dims[] = {INT64_MAX, INT64_MAX, 0};

static const struct fw_value frozen[] = {
    {.name = "anything"},
    {.name = "open", .dtype = DT_FLOAT32, .has_shape = true, .rank = 2, .dims = open_dims},
    {.name = "fixed", .dtype = DT_FLOAT32, .has_shape = true, .rank = 2, .dims = fixed_dims},
    {.name = "scalar", .dtype = DT_INT64, .has_shape = true},
    {.name = "bytes", .dtype = DT_BOOL, .has_shape = true, .rank = 1, .dims = fixed_dims},
    {.name = "halves", .dtype = DT_FLOAT16, .has_shape = true, .rank = 1, .dims = fixed_dims},
    {.name = "texts", .dtype = DT_STRING, .has_shape = true, .rank = 1, .dims = fixed_dims},
    {.name = "large", .dtype = DT_UINT8, .has_shape = true, .rank = 3, .dims = large_dims},
    {.name = "typeless", .has_shape = true, .rank = 2, .dims = fixed_dims},
};

static void read_all(struct arena *arena, const struct view *view)
{
    enum { MANY = 1 << 20 };
    static volatile double sum;
    const struct shape shape = view_shape(view);
    if (shape_too_large(&shape))
        abort();
    uint64_t count = view->splat ? 1 : shape_count(&shape);
    if (view->dtype == DT_STRING)
        for (uint64_t i = 0; i < count; i++)
            sum = sum + view->strings[i][0];
    if (view->dtype == DT_STRING || shape_count(&shape) > MANY) /* a splat of that many is a few bytes */
        return;
    const double *values = view_load(arena, view, DT_FLOAT64);
    for (uint64_t i = 0; i < shape_count(&shape); i++)
        sum = sum + values[i];
}

static void check_fit(const struct fw_value *input, const struct view *view)
{
    const struct shape shape = view_shape(view);
    if (input->has_shape && input->rank != shape.rank)
        abort();
    for (uint32_t i = 0; input->has_shape && i < shape.rank; i++)
        if (input->dims[i] != DIM_OPEN && input->dims[i] != shape.dims[i])
            abort();
    if (view->dtype == DT_NONE || (input->dtype != DT_NONE && input->dtype != view->dtype))
        abort();
}

static void try_frozen(struct context *c, enum form form, const struct fw_value *input, const uint8_t *bytes,
                       size_t size)
{
    bool message = form == ONNX_PB || form == TENSORFLOW_PB;
    struct view view;
    diags_init(c->diags, c->arena);
    c->frontend = form == ONNX_PB ? &onnx_frontend : &tensorflow_frontend;
    const char *path = message ? "/nonexistent/value.pb" : "/nonexistent/value";
    odlc_status status = read_frozen(c, input, file_of_memory(c->arena, path, bytes, size), &view);
    if ((status == ODLC_OK) != (c->diags->errors == 0) || status == ODLC_ERR_INTERNAL)
        abort();
    if (status != ODLC_OK)
        return;
    check_fit(input, &view);
    read_all(c->arena, &view);
}

static void freeze(enum form form, const struct fw_value *input, const uint8_t *bytes, size_t size)
{
    struct diags diags;
    struct context c = {
        .arena = arena_create(), .model_arena = arena_create(), .scratch = arena_create(), .diags = &diags};
    if (!c.arena || !c.model_arena || !c.scratch)
        abort();
    if (setjmp(*arena_catch(c.arena)) == 0 && setjmp(*arena_catch(c.model_arena)) == 0 &&
        setjmp(*arena_catch(c.scratch)) == 0)
        try_frozen(&c, form, input, bytes, size);
    arena_destroy(c.scratch);
    arena_destroy(c.model_arena);
    arena_destroy(c.arena);
}

/* ---- net-run ---- */

static char container[] = "/dev/shm/odlc-fuzz-tensor-XXXXXX";

static const char graph[] = "graph \"g\"\ninput \"f\" float32[2,3]\ninput \"h\" float16[4]\ninput \"i\" int32[3]\n"
                            "input \"u\" uint8[5]\ninput \"b\" bool[2]\n"
                            "node \"1\" Reshape (\"f\") {shape=[1]{6}} -> \"f2\" float32[6]\n"
                            "node \"2\" Reshape (\"h\") {shape=[2]{2, 2}} -> \"h2\" float16[2,2]\n"
                            "node \"3\" Reshape (\"i\") {shape=[2]{3, 1}} -> \"i2\" int32[3,1]\n"
                            "node \"4\" Reshape (\"u\") {shape=[2]{5, 1}} -> \"u2\" uint8[5,1]\n"
                            "node \"5\" Reshape (\"b\") {shape=[2]{2, 1}} -> \"b2\" bool[2,1]\n"
                            "output \"f2\"\noutput \"h2\"\noutput \"i2\"\noutput \"u2\"\noutput \"b2\"\n";

static void remove_container(void)
{
    unlink(container);
}

/* The first time only. */
static void make_container(void)
{
    static bool made;
    struct arena *arena = made ? NULL : arena_create();
    struct diags diags;
    struct graph *g;
    if (made)
        return;
    int fd = mkstemp(container);
    if (fd < 0 || close(fd) != 0 || !arena || setjmp(*arena_catch(arena)))
        abort();
    atexit(remove_container);
    diags_init(&diags, arena);
    if (graph_parse(arena, &diags, op_registry_new(arena), graph, &g) != ODLC_OK ||
        dlc_write(arena, &diags, g, container, &(struct dlc_write_options){.netp = false}) != ODLC_OK)
        abort();
    arena_destroy(arena);
    made = true;
}

/* An input takes exactly its bytes, and as floats only those that have a value of its type. */
static void set_input(enum form form, size_t which, const uint8_t *bytes, size_t size)
{
    make_container();
    odlc_run *run = odlc_run_new();
    if (!run || odlc_run_open(run, container) != ODLC_OK || odlc_run_want_outputs(run) != ODLC_OK)
        abort();
    size_t n_inputs, n_diags, count = size / sizeof(float);
    const struct odlc_io *inputs = odlc_run_inputs(run, &n_inputs);
    const struct odlc_io *input = &inputs[which % n_inputs];
    float *floats = malloc(size + 1); /* aligned, as those of a mapped file are */
    if (!floats)
        abort();
    memcpy(floats, bytes, size);
    odlc_status status = form == RUN_NATIVE ? odlc_run_set_native(run, which % n_inputs, bytes, size)
                                            : odlc_run_set_floats(run, which % n_inputs, floats, count);
    bool fits = form == RUN_NATIVE ? size == input->native_size : count == input->count;
    (void)odlc_run_diags(run, &n_diags);
    if ((status == ODLC_OK && !fits) || (status == ODLC_OK) != (n_diags == 0) ||
        (form == RUN_NATIVE && (status == ODLC_OK) != fits))
        abort();
    free(floats);
    odlc_run_free(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 2)
        return 0;
    enum form form = (enum form)(bytes[0] % FORMS);
    if (form < RUN_FLOATS)
        freeze(form, &frozen[bytes[1] % COUNT_OF(frozen)], bytes + 2, size - 2);
    else
        set_input(form, bytes[1], bytes + 2, size - 2);
    return 0;
}
