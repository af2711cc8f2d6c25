/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as locations, offsets and lengths of external data: a model of two tensors in a folder with files, links in all
 * directions and things that are no files. What is opened is a regular file of the folder, both ways of opening agree
 * on what leads out, and all descriptors are closed again. An input is up to six texts with a NUL byte after each: for
 * each tensor its location, offset and length, of which empty ones are left out. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converters/frontend/model_folder.h"
#include "converters/onnx/decode/onnx_load.h"
#include "engine.h"
#include "onnx.pb-c.h"

/* ---- the folder ---- */

enum { TENSORS = 2, TEXTS = 3 * TENSORS, MAX_INSIDE = 16, FILE_SIZE = 16 };

static char base[] = "/dev/shm/odlc-fuzz-external-XXXXXX";
static char folder[sizeof base + 8];

/* Made in this order, and removed the other way round. A link's target that begins with a slash is relative to base. */
static const struct entry {
    enum { FOLDER, REGULAR, LINK, PIPE } what;
    const char *path, *target;
} entries[] = {
    {FOLDER, "outside", NULL},
    {REGULAR, "secret", NULL},
    {REGULAR, "outside/w", NULL},
    {FOLDER, "model", NULL},
    {REGULAR, "model/w", NULL},
    {FOLDER, "model/data", NULL},
    {REGULAR, "model/data/w", NULL},
    {FOLDER, "model/data/deep", NULL},
    {REGULAR, "model/data/deep/w", NULL},
    {LINK, "model/in", "w"},
    {LINK, "model/in2", "data/deep/../w"},
    {LINK, "model/dir", "data"},
    {LINK, "model/data/back", "../w"},
    {LINK, "model/data/round", "../data/deep"},
    {LINK, "model/out", "../secret"},
    {LINK, "model/data/out", "../../secret"},
    {LINK, "model/data/deep/out", "../../out"},
    {LINK, "model/up", ".."},
    {LINK, "model/outdir", "../outside"},
    {LINK, "model/abs", "/secret"},
    {LINK, "model/absin", "/model/w"},
    {LINK, "model/root", "/../../.."},
    {LINK, "model/again", "../model/w"},
    {LINK, "model/gone", "nothing"},
    {LINK, "model/self", "self"},
    {LINK, "model/one", "two"},
    {LINK, "model/two", "one"},
    {PIPE, "model/pipe", NULL},
    {LINK, "model/inpipe", "pipe"},
};

static struct stat inside[MAX_INSIDE]; /* of what lies in the model's folder */
static size_t n_inside;

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", base, name);
    return path;
}

static void remove_folder(void)
{
    for (size_t i = COUNT_OF(entries); i-- > 0;)
        (void)remove(path_of(entries[i].path));
    (void)remove(base);
}

static bool make_regular(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool made = fd >= 0 && write(fd, "0123456789abcdef", FILE_SIZE) == FILE_SIZE;
    close(fd);
    return made;
}

static bool make_link(const struct entry *e, const char *path)
{
    char target[256];
    snprintf(target, sizeof target, "%s%s", e->target[0] == '/' ? base : "", e->target);
    return symlink(target, path) == 0;
}

static void make_entry(const struct entry *e)
{
    const char *path = path_of(e->path);
    struct stat st;
    bool made = e->what == FOLDER    ? mkdir(path, 0700) == 0
                : e->what == REGULAR ? make_regular(path)
                : e->what == LINK    ? make_link(e, path)
                                     : mkfifo(path, 0600) == 0;
    if (!made || lstat(path, &st) != 0)
        abort();
    if (strncmp(e->path, "model", 5) == 0 && e->what != LINK) {
        if (n_inside == MAX_INSIDE)
            abort();
        inside[n_inside++] = st;
    }
}

static void make_folder(void)
{
    if (*folder)
        return;
    if (!mkdtemp(base))
        abort();
    atexit(remove_folder);
    for (size_t i = 0; i < COUNT_OF(entries); i++)
        make_entry(&entries[i]);
    snprintf(folder, sizeof folder, "%s/model", base);
}

/* Aborts when a descriptor is of something that does not lie in the model's folder. */
static struct stat check_inside(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        abort();
    for (size_t i = 0; i < n_inside; i++)
        if (inside[i].st_dev == st.st_dev && inside[i].st_ino == st.st_ino)
            return st;
    abort();
}

/* ---- opening ---- */

/* Whether a path is one for open_beneath_stepwise. */
static bool is_clean(const char *path)
{
    for (;;) {
        size_t length = strcspn(path, "/");
        if (length == 0 || (length == 2 && memcmp(path, "..", 2) == 0))
            return false;
        if (!path[length])
            return true;
        path += length + 1;
    }
}

static void try_opening(const char *path)
{
    int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = open_beneath(at, path), cause = errno;
    struct stat st = {0};
    if (fd >= 0)
        st = check_inside(fd);
    if (is_clean(path)) {
        int stepwise = open_beneath_stepwise(at, path);
        if (stepwise >= 0) {
            struct stat same = check_inside(stepwise);
            if (fd < 0 || same.st_ino != st.st_ino)
                abort();
            close(stepwise);
        } else if (fd < 0 && cause == EXDEV && errno != ELOOP && errno != ENOTDIR) {
            abort(); /* it follows no links, so it stops at the first (which is no folder) and is not led astray */
        }
    }
    if (fd >= 0)
        close(fd);
    close(at);
}

/* ---- loading ---- */

static char location_key[] = "location", offset_key[] = "offset", length_key[] = "length";
static char *const keys[] = {location_key, offset_key, length_key};
static char first_name[] = "a", second_name[] = "b", result_name[] = "y", sum_type[] = "Sum";
static char *names[TENSORS] = {first_name, second_name}, *results[] = {result_name};
static int64_t dims[TENSORS] = {4, 1};

struct external_tensor {
    Onnx__TensorProto tensor;
    Onnx__StringStringEntryProto pairs[COUNT_OF(keys)], *list[COUNT_OF(keys)];
};

static void describe_tensor(struct external_tensor *t, size_t index, char *const texts[])
{
    onnx__tensor_proto__init(&t->tensor);
    t->tensor.name = names[index];
    t->tensor.n_dims = 1;
    t->tensor.dims = &dims[index];
    t->tensor.has_data_type = t->tensor.data_type = 1;
    t->tensor.has_data_location = t->tensor.data_location = 1;
    t->tensor.external_data = t->list;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        Onnx__StringStringEntryProto *pair = &t->pairs[i];
        onnx__string_string_entry_proto__init(pair);
        pair->key = keys[i];
        pair->value = texts[i];
        if (i == 0 || *pair->value)
            t->list[t->tensor.n_external_data++] = pair;
    }
}

/* y = Sum(a, b). */
static void describe_graph(Onnx__GraphProto *graph)
{
    static Onnx__NodeProto sum = ONNX__NODE_PROTO__INIT, *nodes[] = {&sum};
    static Onnx__ValueInfoProto y = ONNX__VALUE_INFO_PROTO__INIT, *outputs[] = {&y};
    sum.n_input = TENSORS;
    sum.input = names;
    sum.n_output = 1;
    sum.output = results;
    sum.op_type = sum_type;
    y.name = result_name;
    graph->n_node = graph->n_output = 1;
    graph->node = nodes;
    graph->output = outputs;
}

/* A model whose tensors have those texts. */
static struct file *make_model(struct arena *arena, char *const texts[TEXTS])
{
    struct external_tensor tensors[TENSORS];
    Onnx__TensorProto *initializers[TENSORS];
    Onnx__GraphProto graph = ONNX__GRAPH_PROTO__INIT;
    describe_graph(&graph);
    graph.n_initializer = TENSORS;
    graph.initializer = initializers;
    for (size_t i = 0; i < TENSORS; i++) {
        describe_tensor(&tensors[i], i, texts + i * COUNT_OF(keys));
        initializers[i] = &tensors[i].tensor;
    }
    Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets[] = {&opset};
    opset.has_version = 1;
    opset.version = 18;
    Onnx__ModelProto model = ONNX__MODEL_PROTO__INIT;
    model.has_ir_version = 1;
    model.ir_version = 8;
    model.graph = &graph;
    model.n_opset_import = 1;
    model.opset_import = opsets;
    size_t size = onnx__model_proto__get_packed_size(&model);
    uint8_t *bytes = arena_alloc(arena, size);
    onnx__model_proto__pack(&model, bytes);
    return file_of_memory(arena, arena_printf(arena, "%s/m.onnx", folder), bytes, size);
}

static void check_tensor(const struct view *v)
{
    volatile uint8_t sum = 0;
    uint64_t size = shape_count(&v->shape) * dtype_size(v->dtype);
    if (!v->file || !S_ISREG(check_inside(v->file->fd).st_mode) || v->file->size != FILE_SIZE ||
        v->bytes < v->file->data || v->bytes + size > v->file->data + v->file->size)
        abort();
    for (uint64_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + v->bytes[i]);
}

static void load(const struct fw_memory *memory, char *const texts[TEXTS])
{
    struct diags diags;
    struct fw_model *model;
    diags_init(&diags, memory->kept);
    odlc_status status = onnx_load_file(memory, &diags, make_model(memory->kept, texts), NULL, &model);
    if ((status == ODLC_OK) != (diags.errors == 0) || status == ODLC_ERR_INTERNAL)
        abort();
    for (size_t i = 0; status == ODLC_OK && i < model->graph.initializers.count; i++)
        check_tensor(&model->graph.initializers.data[i].view);
}

/* A descriptor that is not used: the same number before and after, when all that were opened are closed. */
static int free_descriptor(void)
{
    int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    make_folder();
    const struct fw_memory memory = {.kept = arena_create(), .graph = arena_create(), .scratch = arena_create()};
    if (!memory.kept || !memory.graph || !memory.scratch)
        abort();
    int unused = free_descriptor();
    if (setjmp(*arena_catch(memory.kept)) == 0 && setjmp(*arena_catch(memory.graph)) == 0 &&
        setjmp(*arena_catch(memory.scratch)) == 0) {
        char *texts[TEXTS], *all = arena_strndup(memory.kept, (const char *)bytes, size), *end = all + size;
        for (size_t i = 0; i < TEXTS; i++) {
            texts[i] = all;
            all += strlen(all) + (all + strlen(all) < end);
        }
        try_opening(texts[0]);
        load(&memory, texts);
    }
    arena_destroy(memory.scratch);
    arena_destroy(memory.graph);
    arena_destroy(memory.kept);
    if (free_descriptor() != unused)
        abort();
    return 0;
}
