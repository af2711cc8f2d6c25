/* SPDX-License-Identifier: Apache-2.0 */
#include "api/isolated.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/message.h"
#include "base/foreign.h"

/* What messages are. Orders have nothing else in them. */
enum message_kind { ORDER_RUN = 1, ANSWER_PREPARED, ANSWER_RUN, ANSWER_SEEN, REPLY_SEEN };

enum { LAST_WORDS = 4096, PLACE = 64, PATIENCE = 10000 /* milliseconds for an end */ };

/* One engine in a process of its own. Both processes have the struct; what they share is in `shared`. */
struct isolated {
    struct engine_request request;
    const struct isolation *isolation;
    struct buffer *buffers; /* per tensor: data in the shared memory, or NULL */
    char *shared;           /* the other process's last words come first */
    size_t shared_size;
    void *seen;    /* the part for a tensor that is observed */
    pid_t process; /* 0: there is none */
    int socket;
    struct odlc_step *steps;
    size_t n_steps;
};

void isolation_add_package(struct arena *arena, struct isolation *isolation, const char *path, const char *provider)
{
    const struct isolated_package package = {arena_strdup(arena, path),
                                             provider ? arena_strdup(arena, provider) : NULL};
    vec_push(arena, &isolation->packages, package);
}

/* ---- shared memory ---- */

static size_t round_up(size_t size)
{
    return (size + PLACE - 1) / PLACE * PLACE;
}

static odlc_status add_place(struct isolated *s, tensor_id id)
{
    const struct tensor *t = graph_tensor(s->request.graph, id);
    struct buffer *b = &s->buffers[id];
    if (b->dtype != DT_NONE)
        return ODLC_OK;
    if (t->type->dtype == DT_STRING)
        return diag_error(s->request.diags, ODLC_ERR_UNSUPPORTED, AT(.attribute = t->name), "isolated-strings",
                          "a tensor of strings cannot go to a process of its own");
    *b = (struct buffer){.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant};
    b->data = (void *)(uintptr_t)s->shared_size; /* until there is memory */
    s->shared_size += round_up(tensor_bytes(t->type));
    return ODLC_OK;
}

/* Places for graph inputs and wanted tensors, and one for whatever is observed. */
static odlc_status lay_out(struct isolated *s)
{
    const struct graph *g = s->request.graph;
    const bool *observed = s->request.options.observed;
    size_t largest = 0;
    s->shared_size = LAST_WORDS;
    for (size_t i = 0; i < g->inputs.count; i++)
        TRY(add_place(s, g->inputs.data[i]));
    for (size_t i = 0; i < s->request.n_wanted; i++)
        TRY(add_place(s, s->request.wanted[i]));
    for (tensor_id id = 0; observed && id < g->tensors.count; id++)
        if (observed[id] && tensor_bytes(graph_tensor(g, id)->type) > largest)
            largest = tensor_bytes(graph_tensor(g, id)->type);
    s->seen = (void *)(uintptr_t)s->shared_size;
    s->shared_size += round_up(largest);
    return ODLC_OK;
}

static odlc_status share_memory(struct isolated *s)
{
    TRY(lay_out(s));
    char *shared = mmap(NULL, s->shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return ODLC_ERR_NOMEM;
    s->shared = shared;
    s->seen = shared + (uintptr_t)s->seen;
    for (tensor_id id = 0; id < s->request.graph->tensors.count; id++)
        if (s->buffers[id].dtype != DT_NONE)
            s->buffers[id].data = shared + (uintptr_t)s->buffers[id].data;
    return ODLC_OK;
}

/* ---- diagnostics ---- */

static void put_diags(struct message *m, const struct diags *diags, size_t first)
{
    message_put(m, diags->list.count - first);
    for (size_t i = first; i < diags->list.count; i++) {
        const struct odlc_diag *d = &diags->list.data[i];
        const char *const texts[] = {d->code,      d->file,    d->pointer, d->node,
                                     d->attribute, d->message, d->hint,    d->excerpt};
        message_put(m, (uint64_t)d->severity);
        message_put(m, (uint64_t)d->line << 32 | d->column);
        message_put(m, d->has_offset ? d->offset + 1 : 0);
        for (size_t k = 0; k < COUNT_OF(texts); k++)
            message_put_text(m, texts[k]);
    }
}

static void get_diag(struct message *m, struct diags *diags)
{
    const char *texts[8];
    const uint64_t severity = message_get(m), position = message_get(m), offset = message_get(m);
    for (size_t k = 0; k < COUNT_OF(texts); k++)
        texts[k] = message_get_text(m);
    if (m->broken || !texts[0] || !texts[5])
        return;
    const struct odlc_diag *place =
        AT(.file = texts[1], .pointer = texts[2], .node = texts[3], .attribute = texts[4], .hint = texts[6],
           .excerpt = texts[7], .line = (uint32_t)(position >> 32), .column = (uint32_t)position,
           .offset = offset ? offset - 1 : 0, .has_offset = offset != 0);
    if (severity == ODLC_ERROR)
        (void)diag_error(diags, ODLC_ERR_INVALID, place, texts[0], "%s", texts[5]);
    else if (severity == ODLC_WARNING)
        diag_warn(diags, place, texts[0], "%s", texts[5]);
    else
        diag_note(diags, place, texts[0], "%s", texts[5]);
}

static void get_diags(struct message *m, struct diags *diags)
{
    for (size_t i = message_get_count(m); i > 0 && !m->broken; i--)
        get_diag(m, diags);
}

/* ---- the other process ---- */

/* Asks this process to show a tensor, and waits for its reply. */
static odlc_status show(void *object, tensor_id id, const struct buffer *value)
{
    struct isolated *s = object;
    struct message m = message_begin(s->request.scratch, ANSWER_SEEN);
    if (value->dtype == DT_STRING)
        return diag_error(s->request.diags, ODLC_ERR_UNSUPPORTED,
                          AT(.attribute = graph_tensor(s->request.graph, id)->name), "isolated-strings",
                          "a tensor of strings cannot come from a process of its own");
    memcpy(s->seen, value->data, shape_count(&value->shape) * dtype_size(value->dtype));
    message_put(&m, id);
    if (!message_send(&m, s->socket) || message_receive(s->request.scratch, s->socket, 0, &m) != RECEIVED ||
        message_get(&m) != REPLY_SEEN)
        return ODLC_ERR_STOPPED;
    return (odlc_status)message_get(&m);
}

static odlc_status load_packages(const struct isolated *s, struct package_set *set)
{
    odlc_status status = ODLC_OK;
    for (size_t i = 0; i < s->isolation->packages.count; i++) {
        const struct isolated_package *p = &s->isolation->packages.data[i];
        const odlc_status loaded =
            package_set_add(s->request.diags->arena, s->request.diags, set, p->path, p->provider);
        status = status == ODLC_OK ? loaded : status; /* the errors of all are reported */
    }
    return status;
}

/* The engine with its packages, which are released behind it. */
struct work {
    struct arena *arena;
    struct package_set packages;
    struct engine engine;
};

static odlc_status prepare(struct isolated *s, struct work *work)
{
    struct engine_request request = s->request;
    request.arena = work->arena;
    if (request.options.packages)
        for (size_t i = 0; i < request.options.packages->packages.count; i++)
            vec_push(work->arena, &work->packages.packages, request.options.packages->packages.data[i]);
    request.options.packages = &work->packages;
    request.options.progress = NULL; /* the other process is told */
    if (request.options.observer.see)
        request.options.observer = (struct observer){s, show};
    TRY(load_packages(s, &work->packages));
    return engine_here(&request, &work->engine);
}

static bool answer_prepared(struct isolated *s, odlc_status status, const struct engine *engine, size_t first_diag)
{
    struct message m = message_begin(s->request.arena, ANSWER_PREPARED);
    message_put(&m, (uint64_t)status);
    put_diags(&m, s->request.diags, first_diag);
    message_put(&m, engine->n_steps);
    for (size_t i = 0; i < engine->n_steps; i++) {
        message_put_text(&m, engine->steps[i].node);
        message_put_text(&m, engine->steps[i].op);
        message_put_text(&m, engine->steps[i].backend);
        message_put(&m, engine->steps[i].n_nodes);
        for (int form = 0; form <= EXPLAIN_JSON; form++)
            message_put_text(&m, engine->explanations ? engine->explanations[i][form] : NULL);
    }
    message_put(&m, engine->n_refusals);
    for (size_t i = 0; i < engine->n_refusals; i++) {
        message_put_text(&m, engine->refusals[i].node);
        message_put_text(&m, engine->refusals[i].op);
        message_put_text(&m, engine->refusals[i].backend);
        message_put_text(&m, engine->refusals[i].reason);
    }
    for (size_t i = 0; status == ODLC_OK && i < s->request.graph->inputs.count; i++)
        message_put(&m, engine->needed[s->request.graph->inputs.data[i]]);
    return message_send(&m, s->socket);
}

/* Between the shared memory and the engine's. */
static void copy_tensor(const struct isolated *s, const struct engine *engine, tensor_id id, bool back)
{
    const struct buffer *here = &s->buffers[id], *there = &engine->buffers[id];
    const size_t size = shape_count(&here->shape) * dtype_size(here->dtype);
    if (there->data && size > 0)
        memcpy(back ? here->data : there->data, back ? there->data : here->data, size);
}

static bool answer_run(struct isolated *s, struct engine *engine)
{
    const struct graph *g = s->request.graph;
    const size_t first_diag = s->request.diags->list.count;
    for (size_t i = 0; i < g->inputs.count; i++)
        copy_tensor(s, engine, g->inputs.data[i], false);
    const odlc_status status = engine->run(engine);
    for (size_t i = 0; status == ODLC_OK && i < s->request.n_wanted; i++)
        copy_tensor(s, engine, s->request.wanted[i], true);
    struct message m = message_begin(s->request.scratch, ANSWER_RUN);
    message_put(&m, (uint64_t)status);
    put_diags(&m, s->request.diags, first_diag);
    for (size_t i = 0; i < engine->n_steps; i++) {
        message_put(&m, engine->steps[i].begin);
        message_put(&m, engine->steps[i].nanoseconds);
    }
    return message_send(&m, s->socket);
}

static void obey(struct isolated *s, struct work *work)
{
    struct message m;
    const size_t first_diag = s->request.diags->list.count;
    const odlc_status status = prepare(s, work);
    bool listens = answer_prepared(s, status, &work->engine, first_diag) && status == ODLC_OK;
    while (listens) {
        const struct arena_mark mark = arena_mark(s->request.scratch);
        listens = message_receive(s->request.scratch, s->socket, 0, &m) == RECEIVED && message_get(&m) == ORDER_RUN &&
                  answer_run(s, &work->engine);
        arena_rewind(s->request.scratch, mark);
    }
}

/* Out of line: its variables live in no frame that a jump comes back to. */
__attribute__((noinline)) static void work_for(struct isolated *s)
{
    struct work work = {.arena = arena_create()};
    if (!work.arena || setjmp(*arena_catch(work.arena)) || setjmp(*arena_catch(s->request.arena)) ||
        setjmp(*arena_catch(s->request.scratch)) || setjmp(*arena_catch(s->request.diags->arena)))
        _exit(EXIT_FAILURE);
    obey(s, &work);
    arena_destroy(work.arena);
    package_set_release(&work.packages);
}

/* Output of the caller that is still to be written is the caller's. */
static _Noreturn void be_process(struct isolated *s, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    __fpurge(stdout);
    __fpurge(stderr);
    foreign_guard_fork(s->shared, LAST_WORDS);
    work_for(s);
    _exit(EXIT_SUCCESS);
}

/* ---- this process ---- */

static void end_process(struct isolated *s, int *status)
{
    if (s->process == 0)
        return;
    close(s->socket);
    while (waitpid(s->process, status, 0) < 0 && errno == EINTR)
        ;
    s->process = 0;
}

static odlc_status begin_process(struct isolated *s)
{
    int sockets[2];
    const pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return diag_error(s->request.diags, ODLC_ERR_IO, AT(.file = NULL), "isolated-process",
                          "a process of its own cannot be spoken with: %s", strerror(errno));
    memset(s->shared, 0, LAST_WORDS);
    s->process = fork();
    s->socket = sockets[s->process == 0];
    if (s->process == 0) {
        close(sockets[0]);
        be_process(s, parent);
    }
    close(sockets[1]);
    if (s->process > 0)
        return ODLC_OK;
    s->process = 0;
    close(sockets[0]);
    return diag_error(s->request.diags, ODLC_ERR_IO, AT(.file = NULL), "isolated-process",
                      "a process of its own cannot be made: %s", strerror(errno));
}

static const char *how_it_ended(struct arena *arena, int status)
{
    if (WIFSIGNALED(status))
        return arena_printf(arena, "signal %d, %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return arena_printf(arena, "status %d", WEXITSTATUS(status));
}

/* The process is gone, or is ended because it does not answer; its last words say in whose code. */
static odlc_status lost(struct isolated *s, bool late)
{
    int status = 0;
    struct arena *arena = s->request.diags->arena;
    if (late)
        kill(s->process, SIGKILL);
    else
        shutdown(s->socket, SHUT_RDWR);
    end_process(s, &status);
    s->shared[LAST_WORDS - 1] = '\0';
    const char *words = arena_strdup(arena, s->shared);
    if (late && *words)
        return diag_error(s->request.diags, ODLC_ERR_INVALID, AT(.file = NULL), "isolated-process",
                          "%s did not return within %u seconds", words, s->isolation->seconds);
    if (late)
        return diag_error(s->request.diags, ODLC_ERR_INVALID, AT(.file = NULL), "isolated-process",
                          "the process that executes did not answer within %u seconds", s->isolation->seconds);
    if (WIFEXITED(status) && WEXITSTATUS(status) == FOREIGN_STATUS && *words)
        return diag_error(s->request.diags, ODLC_ERR_INVALID, AT(.file = NULL), "isolated-process", "%s", words);
    return diag_error(s->request.diags, ODLC_ERR_INVALID, AT(.file = NULL), "isolated-process",
                      "%s%sthe process that executes ended: %s", words, *words ? " was at work when " : "",
                      how_it_ended(arena, status));
}

/* While the process works, who wants to know how far it is may end it. */
static odlc_status wait_for_answer(struct isolated *s)
{
    enum { SLICE = 50 };
    const unsigned seconds = s->isolation->seconds;
    for (uint64_t waited = 0;; waited += SLICE) {
        struct pollfd fd = {.fd = s->socket, .events = POLLIN};
        if (poll(&fd, 1, SLICE) > 0)
            return ODLC_OK;
        const odlc_status status = progress_report(s->request.options.progress, s->request.diags, 0, 0);
        if (status != ODLC_OK) {
            kill(s->process, SIGKILL);
            end_process(s, &(int){0});
            return status;
        }
        if (seconds && waited >= (uint64_t)seconds * 1000)
            return lost(s, true);
    }
}

static odlc_status receive(struct isolated *s, uint64_t *kind, struct message *m)
{
    TRY(wait_for_answer(s));
    const enum receipt receipt = message_receive(s->request.scratch, s->socket, s->isolation->seconds, m);
    if (receipt != RECEIVED)
        return lost(s, receipt == RECEIVED_NOTHING_IN_TIME);
    *kind = message_get(m);
    return ODLC_OK;
}

static const char *get_name(struct message *m, struct arena *arena)
{
    const char *name = message_get_text(m);
    return arena_strdup(arena, name ? name : "");
}

static const char *get_words(struct message *m, struct arena *arena)
{
    const char *words = message_get_text(m);
    return words ? arena_strdup(arena, words) : NULL;
}

static void get_descriptions(struct message *m, struct arena *arena, struct engine *out)
{
    out->n_steps = message_get_count(m);
    out->steps = arena_array(arena, struct odlc_step, out->n_steps);
    out->explanations = arena_calloc(arena, out->n_steps, sizeof *out->explanations);
    for (size_t i = 0; i < out->n_steps; i++) {
        out->steps[i].node = get_name(m, arena);
        out->steps[i].op = get_name(m, arena);
        out->steps[i].backend = get_name(m, arena);
        out->steps[i].n_nodes = message_get(m);
        for (int form = 0; form <= EXPLAIN_JSON; form++)
            out->explanations[i][form] = get_words(m, arena);
    }
    out->n_refusals = message_get_count(m);
    out->refusals = arena_array(arena, struct odlc_refusal, out->n_refusals);
    for (size_t i = 0; i < out->n_refusals; i++) {
        out->refusals[i].node = get_name(m, arena);
        out->refusals[i].op = get_name(m, arena);
        out->refusals[i].backend = get_name(m, arena);
        out->refusals[i].reason = get_name(m, arena);
    }
}

/* Begins a process, which answers with what it prepared. */
static odlc_status begin(struct isolated *s, struct engine *out)
{
    uint64_t kind;
    struct message m;
    const struct graph *g = s->request.graph;
    TRY(begin_process(s));
    TRY(receive(s, &kind, &m));
    const odlc_status status = (odlc_status)message_get(&m);
    get_diags(&m, s->request.diags);
    get_descriptions(&m, s->request.arena, out);
    out->needed = arena_array(s->request.arena, bool, g->tensors.count);
    for (size_t i = 0; status == ODLC_OK && i < g->inputs.count; i++)
        out->needed[g->inputs.data[i]] = message_get(&m) != 0;
    if (kind != ANSWER_PREPARED || m.broken)
        return lost(s, false);
    if (status != ODLC_OK)
        end_process(s, &(int){0});
    return status;
}

/* Shows a tensor that the process computed, and tells it how that went. */
static odlc_status reply_seen(struct isolated *s, struct message *m)
{
    const struct observer *observer = &s->request.options.observer;
    const struct graph *g = s->request.graph;
    const uint64_t id = message_get(m);
    if (m->broken || id >= g->tensors.count || !observer->see || !s->request.options.observed[id])
        return lost(s, false);
    const struct tensor *t = graph_tensor(g, (tensor_id)id);
    const struct buffer value = {.dtype = t->type->dtype, .shape = t->type->shape, .quant = t->quant, .data = s->seen};
    const odlc_status status = observer->see(observer->object, (tensor_id)id, &value);
    struct message reply = message_begin(s->request.scratch, REPLY_SEEN);
    message_put(&reply, (uint64_t)status);
    return message_send(&reply, s->socket) ? ODLC_OK : lost(s, false);
}

static odlc_status run_there(struct isolated *s)
{
    const struct message order = message_begin(s->request.scratch, ORDER_RUN);
    uint64_t kind = ANSWER_SEEN;
    struct message m;
    if (!message_send(&order, s->socket))
        return lost(s, false);
    while (kind == ANSWER_SEEN) {
        TRY(receive(s, &kind, &m));
        if (kind == ANSWER_SEEN)
            TRY(reply_seen(s, &m));
    }
    const odlc_status status = (odlc_status)message_get(&m);
    get_diags(&m, s->request.diags);
    for (size_t i = 0; i < s->n_steps; i++) {
        s->steps[i].begin = message_get(&m);
        s->steps[i].nanoseconds = message_get(&m);
    }
    return kind != ANSWER_RUN || m.broken ? lost(s, false) : status;
}

static odlc_status run_isolated(struct engine *engine)
{
    struct isolated *s = engine->state;
    const struct arena_mark mark = arena_mark(s->request.scratch);
    struct engine again;
    odlc_status status = s->process ? ODLC_OK : begin(s, &again);
    if (status == ODLC_OK)
        status = run_there(s);
    arena_rewind(s->request.scratch, mark);
    return status;
}

/* A process that does not end, once it is told to, is ended. */
static void close_isolated(void *object)
{
    struct isolated *s = object;
    char byte;
    if (s->process) {
        shutdown(s->socket, SHUT_WR);
        struct pollfd fd = {.fd = s->socket, .events = POLLIN};
        if (poll(&fd, 1, s->isolation->seconds ? (int)s->isolation->seconds * 1000 : PATIENCE) <= 0 ||
            recv(s->socket, &byte, 1, 0) != 0)
            kill(s->process, SIGKILL);
    }
    end_process(s, &(int){0});
    if (s->shared)
        munmap(s->shared, s->shared_size);
}

odlc_status engine_isolated(const struct engine_request *request, const struct isolation *isolation, struct engine *out)
{
    struct isolated *s = arena_new(request->arena, struct isolated);
    *s = (struct isolated){.request = *request,
                           .isolation = isolation,
                           .buffers = arena_array(request->arena, struct buffer, request->graph->tensors.count)};
    arena_defer(request->arena, close_isolated, s);
    TRY(share_memory(s));
    *out = (struct engine){.buffers = s->buffers, .state = s, .run = run_isolated};
    TRY(begin(s, out));
    s->steps = out->steps;
    s->n_steps = out->n_steps;
    return ODLC_OK;
}
