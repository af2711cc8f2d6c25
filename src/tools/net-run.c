/* net-run: executes a container on raw input files. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/map.h"
#include "opendlc/run.h"
#include "base/foreign.h"
#include "tools/command.h"
#include "tools/input_list.h"
#include "tools/options.h"
#include "tools/output_dir.h"
#include "tools/text_table.h"

enum {
#define OPTION OPTION_IDS
#include "tools/net-run.def"
};

static const char on_the_host[] = "the host executes the graph, whatever processor is asked for";

static const struct option rows[] = {
#define OPTION OPTION_ROW
#include "tools/net-run.def"
    OPTIONS_COMMON(NULL),
};

static const struct command self = {
    .name = "net-run",
    .summary = "Executes a DLC container and writes its results as raw files",
    .usage = "--container FILE --input_list FILE [options]",
    OPTION_ROWS(rows),
    .epilogue = "Raw files hold the elements in row-major order, little-endian. See net-run(1).",
};

enum { MAX_THREADS = 1024 };

struct session {
    struct arena *arena, *scratch; /* scratch is rewound after each file */
    struct diags diags;
    struct options options;
    odlc_run *run;
    struct input_list list;
    const char *output_dir;
    bool native_inputs, native_outputs;
    int64_t iterations, iteration; /* of each inference, and the one at work */
    size_t number;                 /* of the inference at work */
    uint64_t *node_times;          /* summed over all executions */
};

/* ---- results ---- */

/* Writes a tensor of the inference at work, of whose elements `values` has the form that is written. */
static odlc_status write_tensor(struct session *s, const struct odlc_io *io, const void *values)
{
    struct arena_mark mark = arena_mark(s->scratch);
    const char *folder = arena_printf(s->scratch, "%s/Result_%zu", s->output_dir, s->number), *path;
    if (s->native_outputs && io->count && !io->native_size)
        return diag_error(&s->diags, ODLC_ERR_UNSUPPORTED, AT(.attribute = io->name), "output-strings",
                          "a tensor of strings has no raw form");
    uint64_t size = s->native_outputs ? io->native_size : io->count * sizeof(float);
    TRY(output_path(s->scratch, &s->diags, folder, io->name, &path));
    TRY(output_write(s->scratch, &s->diags, path, values, size));
    arena_rewind(s->scratch, mark);
    return ODLC_OK;
}

/* --debug: each tensor as soon as it is computed, in the last of the iterations. */
static odlc_status write_shown(void *user, const struct odlc_io *io, const void *values)
{
    struct session *s = user;
    return s->iteration + 1 == s->iterations ? write_tensor(s, io, values) : ODLC_OK;
}

static odlc_status write_result(struct session *s, size_t index, const struct odlc_io *io)
{
    if (s->native_outputs)
        return write_tensor(s, io, odlc_run_native(s->run, index));
    float *values = arena_array(s->scratch, float, io->count);
    TRY(odlc_run_get_floats(s->run, index, values, io->count));
    return write_tensor(s, io, values);
}

static odlc_status write_results(struct session *s)
{
    size_t n_results;
    const struct odlc_io *results = odlc_run_results(s->run, &n_results);
    for (size_t i = 0; i < n_results; i++) {
        struct arena_mark mark = arena_mark(s->scratch);
        TRY(write_result(s, i, &results[i]));
        arena_rewind(s->scratch, mark);
    }
    return ODLC_OK;
}

/* ---- what to compute ---- */

struct names {
    VEC(const char *) list;
};

/* The names that an option gives, separated by commas. */
static struct names names_of(struct session *s, int option)
{
    struct names names = {0};
    for (size_t i = 0; i < s->options.uses.count; i++) {
        const struct option_use *use = &s->options.uses.data[i];
        for (size_t k = 0; use->option->id == option && k < use->n_values; k++) {
            const char *name = use->values[k] + strspn(use->values[k], ",");
            for (const char *end; *name; name = end + strspn(end, ",")) {
                end = name + strcspn(name, ",");
                vec_push(s->arena, &names.list, arena_strndup(s->arena, name, (size_t)(end - name)));
            }
        }
    }
    return names;
}

/* A name with a comma in it can be had through the input list. */
static odlc_status want_named(struct session *s)
{
    struct names names = names_of(s, OPT_OUTPUT_TENSORS);
    if (!names.list.count)
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.file = NULL), "option-value",
                          "option --set_output_tensors names no tensors");
    return odlc_run_want(s->run, names.list.data, names.list.count);
}

/* PATH:PROVIDER, or PATH:PROVIDER:TARGET; a target other than the CPU's is for other hosts. */
static odlc_status load_op_package(struct session *s, const char *value)
{
    const char *colon = strchr(value, ':');
    if (!colon || colon == value || !colon[1])
        return diag_error(&s->diags, ODLC_ERR_USAGE,
                          AT(.hint = "LIBRARY:PROVIDER, for example libMine.so:MineInterfaceProvider"), "option-value",
                          "option --op_packages: '%s' names no function that provides the package", value);
    const char *provider = colon + 1, *target = strchr(provider, ':');
    if (target && strcasecmp(target + 1, "cpu") != 0)
        return diag_error(&s->diags, ODLC_ERR_UNSUPPORTED, AT(.hint = "CPU, or no target"), "option-value",
                          "option --op_packages: packages for target %s cannot be executed here", target + 1);
    const size_t length = target ? (size_t)(target - provider) : strlen(provider);
    return odlc_run_add_op_package(s->run, arena_strndup(s->arena, value, (size_t)(colon - value)),
                                   arena_strndup(s->arena, provider, length));
}

static odlc_status load_packages(struct session *s)
{
    struct names registrations = names_of(s, OPT_UDO_PACKAGES), packages = names_of(s, OPT_OP_PACKAGES);
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < registrations.list.count; i++) {
        odlc_status loaded = odlc_run_add_op_package(s->run, registrations.list.data[i], NULL);
        status = status == ODLC_OK ? loaded : status; /* the errors of all are reported */
    }
    for (size_t i = 0; i < packages.list.count; i++) {
        odlc_status loaded = load_op_package(s, packages.list.data[i]);
        status = status == ODLC_OK ? loaded : status;
    }
    return status;
}

static odlc_status choose_backends(struct session *s)
{
    int64_t threads = 1;
    TRY(options_int(&s->options, &s->diags, OPT_THREADS, 1, MAX_THREADS, &threads));
    TRY(odlc_run_set_threads(s->run, (unsigned)threads));
    if (!options_given(&s->options, OPT_BACKEND))
        return ODLC_OK;
    struct names names = names_of(s, OPT_BACKEND);
    return odlc_run_set_backends(s->run, names.list.data, names.list.count);
}

static odlc_status choose_results(struct session *s)
{
    bool named = options_given(&s->options, OPT_OUTPUT_TENSORS), all = options_given(&s->options, OPT_DEBUG);
    bool listed = s->list.choice != LIST_ALL_OUTPUTS;
    if (named + all + listed > 1)
        return diag_error(
            &s->diags, ODLC_ERR_USAGE, AT(.file = listed ? s->list.path : NULL), "outputs-twice",
            "results are chosen in several ways: use one of --set_output_tensors, --debug, and a first line "
            "with # or %% in the input list");
    if (named)
        return want_named(s);
    if (all)
        return odlc_run_want_each(s->run, s->native_outputs ? ODLC_NATIVE : ODLC_FLOATS, write_shown, s);
    if (s->list.choice == LIST_NODES)
        return odlc_run_want_nodes(s->run, s->list.chosen, s->list.n_chosen);
    if (s->list.choice == LIST_TENSORS)
        return odlc_run_want(s->run, s->list.chosen, s->list.n_chosen);
    return odlc_run_want_outputs(s->run);
}

/* ---- inputs ---- */

static const char *dims_text(struct arena *arena, const struct odlc_io *io)
{
    text dims = {0};
    text_add(arena, &dims, "[");
    for (uint32_t i = 0; i < io->rank; i++)
        text_add(arena, &dims, "%s%" PRId64, i ? "," : "", io->dims[i]);
    text_add(arena, &dims, "]");
    return dims.data;
}

static odlc_status load_input(struct session *s, const struct inference *inference, const struct input_item *item)
{
    size_t n_inputs, index = 0;
    const struct odlc_io *inputs = odlc_run_inputs(s->run, &n_inputs);
    if (item->name)
        TRY(odlc_run_find_input(s->run, item->name, &index));
    else if (n_inputs != 1)
        return diag_error(&s->diags, ODLC_ERR_USAGE,
                          AT(.file = s->list.path, .line = inference->line, .hint = "write name:=path for each input"),
                          "input-list", "the graph has %zu inputs", n_inputs);
    const struct odlc_io *io = &inputs[index];
    struct file *file;
    TRY(file_map(s->scratch, &s->diags, item->path, &file));
    uint64_t wanted = s->native_inputs ? io->native_size : io->count * sizeof(float);
    if (file->size != wanted)
        return diag_error(&s->diags, ODLC_ERR_INVALID,
                          AT(.file = item->path, .hint = s->native_inputs || io->native_size != file->size
                                                             ? NULL
                                                             : "this is the size in the input's own type: "
                                                               "--use_native_input_files"),
                          "input-size", "input '%s' (%s, %s) takes %" PRIu64 " bytes%s, and the file has %" PRIu64,
                          io->name, io->dtype, dims_text(s->scratch, io), wanted, s->native_inputs ? "" : " of float32",
                          file->size);
    if (s->native_inputs)
        return odlc_run_set_native(s->run, index, file->data, file->size);
    return odlc_run_set_floats(s->run, index, (const float *)(const void *)file->data, io->count);
}

/* Two names that differ only in slashes would share a file. */
static odlc_status check_result_paths(struct session *s)
{
    size_t n_results;
    const struct odlc_io *results = odlc_run_results(s->run, &n_results);
    struct map taken;
    map_init(&taken, s->arena);
    for (size_t i = 0; i < n_results; i++) {
        const char *path;
        TRY(output_path(s->arena, &s->diags, s->output_dir, results[i].name, &path));
        uint32_t other = map_add(&taken, path, (uint32_t)i);
        if (other != MAP_NONE && strcmp(results[other].name, results[i].name) != 0)
            return diag_error(&s->diags, ODLC_ERR_UNSUPPORTED, AT(.file = path), "output-path",
                              "tensors '%s' and '%s' would be written to the same file", results[other].name,
                              results[i].name);
    }
    return ODLC_OK;
}

/* ---- running ---- */

static odlc_status execute(struct session *s)
{
    size_t n_steps;
    const struct odlc_step *steps = odlc_run_steps(s->run, &n_steps);
    for (s->iteration = 0; s->iteration < s->iterations; s->iteration++) {
        TRY(odlc_run_execute(s->run));
        for (size_t k = 0; k < n_steps; k++)
            s->node_times[k] += steps[k].nanoseconds;
    }
    return ODLC_OK;
}

static odlc_status infer(struct session *s, size_t number)
{
    const struct inference *inference = &s->list.inferences.data[number];
    s->number = number;
    for (size_t i = 0; i < inference->n_items; i++) {
        struct arena_mark mark = arena_mark(s->scratch);
        TRY(load_input(s, inference, &inference->items[i]));
        TRY(fault_check_inputs(&s->diags));
        arena_rewind(s->scratch, mark);
    }
    TRY(execute(s));
    return options_given(&s->options, OPT_DEBUG) ? ODLC_OK : write_results(s);
}

static void print_profile(const struct session *s)
{
    size_t n_steps;
    const struct odlc_step *steps = odlc_run_steps(s->run, &n_steps);
    double runs = (double)s->list.inferences.count * (double)s->iterations, total = 0;
    for (size_t i = 0; i < n_steps; i++)
        total += (double)s->node_times[i];
    printf("%10s %7s  %-24s %s\n", "ms", "%", "Op", "Node");
    for (size_t i = 0; i < n_steps; i++)
        printf("%10.3f %7.2f  %-24s %s\n", (double)s->node_times[i] / runs / 1e6,
               total > 0 ? 100.0 * (double)s->node_times[i] / total : 0.0, steps[i].op,
               printable(s->scratch, steps[i].node));
    printf("%10.3f %7.2f  all of %zu steps, mean of %.0f executions\n", total / runs / 1e6, 100.0, n_steps, runs);
}

static void print_explanation(struct session *s)
{
    size_t n_steps, n_refusals;
    const struct odlc_step *steps = odlc_run_steps(s->run, &n_steps);
    const struct odlc_refusal *refusals = odlc_run_refusals(s->run, &n_refusals);
    printf("%-12s %-24s %s\n", "Backend", "Op", "Node");
    for (size_t i = 0; i < n_steps; i++)
        printf("%-12s %-24s %s\n", steps[i].backend, steps[i].op, printable(s->scratch, steps[i].node));
    for (size_t i = 0; i < n_refusals; i++)
        printf("%s does not take %s (%s): %s\n", refusals[i].backend, printable(s->scratch, refusals[i].node),
               refusals[i].op, refusals[i].reason);
}

/* A graph without inputs is executed once; nobody can name an input of it. */
static odlc_status check_list(struct session *s)
{
    size_t n_inputs;
    odlc_run_inputs(s->run, &n_inputs);
    if (s->list.inferences.count)
        return ODLC_OK;
    if (n_inputs)
        return diag_error(&s->diags, ODLC_ERR_USAGE, AT(.file = s->list.path), "input-list",
                          "the input list names no inputs");
    vec_push(s->arena, &s->list.inferences, (struct inference){0});
    return ODLC_OK;
}

static odlc_status run_session(struct session *s)
{
    size_t n_steps;
    s->output_dir = options_value(&s->options, OPT_OUTPUT_DIR, "./output");
    s->native_inputs = options_given(&s->options, OPT_NATIVE_INPUTS);
    s->native_outputs = options_given(&s->options, OPT_NATIVE_OUTPUTS);
    s->iterations = 1;
    TRY(options_int(&s->options, &s->diags, OPT_ITERATIONS, 1, 1000000, &s->iterations));
    TRY(input_list_read(s->arena, &s->diags, options_value(&s->options, OPT_INPUT_LIST, ""), &s->list));
    TRY(odlc_run_open(s->run, options_value(&s->options, OPT_CONTAINER, "")));
    TRY(check_list(s));
    TRY(load_packages(s));
    TRY(choose_backends(s));
    TRY(choose_results(s));
    TRY(check_result_paths(s));
    if (options_given(&s->options, OPT_EXPLAIN))
        print_explanation(s);
    odlc_run_steps(s->run, &n_steps);
    s->node_times = arena_array(s->arena, uint64_t, n_steps);
    for (size_t i = 0; i < s->list.inferences.count; i++)
        TRY(infer(s, i));
    if (options_given(&s->options, OPT_PROFILE))
        print_profile(s);
    printf("%zu inference%s executed; results are in %s\n", s->list.inferences.count,
           s->list.inferences.count == 1 ? "" : "s", s->output_dir);
    if (fflush(stdout) != 0 || ferror(stdout))
        return diag_error(&s->diags, ODLC_ERR_IO, AT(.file = NULL), "io", "standard output cannot be written");
    return ODLC_OK;
}

static odlc_status run_command(struct session *s, int argc, char **argv)
{
    TRY(options_parse(s->arena, &s->diags, &self, argc, argv, &s->options));
    if (options_answered(&s->options))
        return ODLC_OK;
    return run_session(s);
}

static odlc_status guarded_run(struct session *s, int argc, char **argv)
{
    if (setjmp(*arena_catch(s->arena)))
        return print_out_of_memory(self.name, DIAG_TEXT);
    if (setjmp(*arena_catch(s->scratch)))
        return print_out_of_memory(self.name, DIAG_TEXT);
    odlc_status status = run_command(s, argc, argv);
    if (status != ODLC_OK && !command_inputs_intact(s->arena, self.name, DIAG_TEXT))
        return ODLC_ERR_IO;
    size_t count;
    const struct odlc_diag *list = odlc_run_diags(s->run, &count);
    print_diags(stderr, self.name, list, count, DIAG_TEXT);
    print_diags(stderr, self.name, s->diags.list.data, s->diags.list.count, DIAG_TEXT);
    return status == ODLC_ERR_NOMEM ? print_out_of_memory(self.name, DIAG_TEXT) : status;
}

int main(int argc, char **argv)
{
    foreign_guard_process(self.name);
    command_begin();
    struct session s = {.arena = arena_create(), .scratch = arena_create(), .run = odlc_run_new()};
    odlc_status status = ODLC_ERR_NOMEM;
    if (s.arena && s.scratch && s.run) {
        diags_init(&s.diags, s.arena);
        status = guarded_run(&s, argc, argv);
    } else {
        status = print_out_of_memory(self.name, DIAG_TEXT);
    }
    odlc_run_free(s.run);
    arena_destroy(s.scratch);
    arena_destroy(s.arena);
    return command_end(self.name, exit_status(status), exit_status(ODLC_ERR_IO));
}
