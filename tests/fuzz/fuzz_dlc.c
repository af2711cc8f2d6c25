/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a container: read, verified, shown as dlc-info and dlc-viewer show it, and compared with itself and with
 * a whole container as dlc-diff does. Built once per version of the format: mutate_dlc.c keeps the version. */
#include <libdeflate.h>
#include <stdlib.h>

#include "engine.h"
#include "file_of_bytes.h"
#include "report/diff.h"
#include "report/info_details.h"
#include "report/viewer/viewer.h"

/* A failure has a status that says why, and a diagnostic; memory may have run out without one. */
static void check_outcome(const odlc_container *container, odlc_status status)
{
    size_t count, errors = 0;
    const struct odlc_diag *list = odlc_container_diags(container, &count);
    for (size_t i = 0; i < count; i++)
        errors += list[i].severity == ODLC_ERROR;
    if (status == ODLC_ERR_INTERNAL || (status != ODLC_OK && status != ODLC_ERR_NOMEM && !errors))
        abort();
}

static void show_text(struct arena *arena, const odlc_container *container, FILE *nowhere)
{
    const struct info_options options = {.all_encodings = true, .memory = true};
    size_t n_graphs;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &n_graphs);
    info_print_text(nowhere, arena, container, &options);
    for (size_t i = 0; i < n_graphs; i++) {
        for (size_t t = 0; t < graphs[i].n_tensors; t++) {
            const struct info_tensor tensor = {.graph = &graphs[i], .tensor = &graphs[i].tensors[t]};
            info_print_tensor(nowhere, arena, &tensor, &options.form);
        }
    }
}

static void show_model(struct arena *arena, const odlc_container *container)
{
    struct diags diags;
    const char *model;
    size_t n_graphs, size;
    const struct odlc_graph *graphs = odlc_container_graphs(container, &n_graphs);
    text dot = {0};
    diags_init(&diags, arena);
    for (size_t i = 0; i < n_graphs; i++) {
        const struct viewer_subject subject = {.container = container, .shown = &graphs[i]};
        if (viewer_model(arena, &diags, &subject, &model, &size) != ODLC_OK)
            abort();
        viewer_add_dot(arena, &graphs[i], &dot);
    }
}

static const odlc_container *sibling(void)
{
    static odlc_container *container; /* kept for all runs: it never changes */
    if (!container) {
        container = odlc_container_new();
        if (!container || odlc_container_open(container, DLC_SIBLING) != ODLC_OK)
            abort();
    }
    return container;
}

static struct diff compare(struct arena *arena, const odlc_container *first, const odlc_container *second)
{
    static struct diff_options options;
    for (size_t i = 0; i < ODLC_DIFF_CATEGORIES; i++)
        options.selected[i] = true;
    return diff_containers(arena, &options, first, second);
}

/* Printing takes most of the time, so an input is shown in one of the ways, which its bytes choose. */
static void use(struct arena *arena, odlc_container *container, uint32_t way, FILE *nowhere)
{
    const struct info_options options = {.all_encodings = true, .memory = true};
    struct diff d = compare(arena, container, container);
    if (diff_found(&d))
        abort();
    check_outcome(container, odlc_container_verify(container));
    switch (way % 8) {
    case 0:
        show_text(arena, container, nowhere);
        break;
    case 1:
        info_print_json(nowhere, container, &options);
        break;
    case 2:
        show_model(arena, container);
        break;
    case 3:
        d = compare(arena, container, sibling());
        diff_print_json(nowhere, &d);
        break;
    default: /* nothing but the reading */
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static FILE *nowhere;
    struct arena *arena = arena_create();
    odlc_container *container = odlc_container_new();
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    if (!nowhere || !arena || !container)
        abort();
    odlc_status status = odlc_container_open(container, file_of_bytes(bytes, size));
    check_outcome(container, status);
    if (setjmp(*arena_catch(arena)) == 0 && status == ODLC_OK)
        use(arena, container, libdeflate_crc32(0, bytes, size), nowhere);
    arena_destroy(arena);
    odlc_container_free(container);
    return 0;
}
