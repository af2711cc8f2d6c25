/* SPDX-License-Identifier: Apache-2.0 */
/* udo-check's report as text: columns that are aligned among the lines that belong together. */
#include <stdlib.h>
#include <string.h>

#include "tools/check.h"
#include "text/text_table.h"
#include "tools/terminal.h"

enum { COLUMNS = 6, USUAL_WIDTH = 100, LEAST_WIDTH = 60, WIDEST_CELL = 32 };

struct line {
    const char *cells[COLUMNS]; /* NULL: empty */
};

/* The last cell takes what is left of the width, and goes on in further lines. */
struct grid {
    struct arena *arena;
    size_t indent, width;
    VEC(struct line) lines;
};

/* Of the terminal, or what a file's reader is spared from scrolling. */
static size_t page_width(FILE *stream)
{
    size_t columns = terminal_columns(stream);
    if (!columns)
        return USUAL_WIDTH;
    return columns > LEAST_WIDTH ? columns : LEAST_WIDTH;
}

static void add_line(struct grid *g, struct line line)
{
    for (size_t i = 0; i < COLUMNS; i++)
        line.cells[i] = line.cells[i] ? printable(g->arena, line.cells[i]) : "";
    vec_push(g->arena, &g->lines, line);
}

/* Words from `column` on, where the cursor stands; further lines begin there, too. */
static void print_wrapped(FILE *stream, const char *words, size_t column, size_t width)
{
    size_t at = column;
    while (*words) {
        size_t bytes = strcspn(words, " ");
        char *word = strndup(words, bytes);
        size_t length = word ? display_width(word) : bytes;
        free(word);
        if (at > column && at + 1 + length > width) {
            fprintf(stream, "\n%*s", (int)column, "");
            at = column;
        } else if (at > column) {
            fputc(' ', stream);
            at++;
        }
        fwrite(words, 1, bytes, stream);
        at += length;
        words += bytes + strspn(words + bytes, " ");
    }
    fputc('\n', stream);
}

static void print_line(FILE *stream, const struct grid *g, const struct line *line, const size_t *widths)
{
    size_t at = 0, due = g->indent, last = COLUMNS - 1;
    while (last > 0 && !*line->cells[last])
        last--;
    for (size_t i = 0; i < last; i++) {
        if (widths[i]) {
            at += (size_t)fprintf(stream, "%*s", (int)(due > at ? due - at : i ? 2 : 0), "");
            fputs(line->cells[i], stream);
            at += display_width(line->cells[i]);
            due += widths[i] + 2;
        }
    }
    at += (size_t)fprintf(stream, "%*s", (int)(due > at ? due - at : last ? 2 : 0), "");
    print_wrapped(stream, line->cells[last], at, g->width);
}

static void print_grid(FILE *stream, const struct grid *g)
{
    size_t widths[COLUMNS] = {0};
    for (size_t k = 0; k < g->lines.count; k++)
        for (size_t i = 0; i < COLUMNS; i++) {
            size_t width = display_width(g->lines.data[k].cells[i]);
            width = width < WIDEST_CELL ? width : WIDEST_CELL;
            widths[i] = width > widths[i] ? width : widths[i];
        }
    for (size_t k = 0; k < g->lines.count; k++)
        print_line(stream, g, &g->lines.data[k], widths);
}

static struct grid grid_of(struct arena *arena, FILE *stream, size_t indent)
{
    return (struct grid){.arena = arena, .indent = indent, .width = page_width(stream)};
}

/* ---- definitions ---- */

static const char *operand_remarks(struct arena *arena, const struct odlc_udo_operand *o)
{
    const struct {
        int holds;
        const char *word;
    } remarks[] = {{o->is_static, "static"},
                   {o->is_repeated, "repeated"},
                   {o->is_optional, "optional"},
                   {o->has_default, "default"},
                   {o->has_shape, "shape rule"}};
    text t = {0};
    for (size_t i = 0; i < COUNT_OF(remarks); i++)
        if (remarks[i].holds)
            text_add(arena, &t, "%s%s", t.count ? ", " : "", remarks[i].word);
    return t.data;
}

static void add_operands(struct grid *g, const char *kind, bool counted, const struct odlc_udo_operand *list,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_line(g, (struct line){{kind, counted ? arena_printf(g->arena, "%zu", i) : NULL, list[i].name,
                                   list[i].data_type ? list[i].data_type : "any type", list[i].layout,
                                   operand_remarks(g->arena, &list[i])}});
}

static void print_heading(FILE *stream, struct arena *arena, const struct odlc_udo_definition *d)
{
    text t = {0};
    text_add(arena, &t, "package %s, %s:%u:%u", d->package, d->file, d->line, d->column);
    if (d->domain)
        text_add(arena, &t, ", domain %s only", *d->domain ? d->domain : "ai.onnx");
    if (d->replaces_native)
        text_add(arena, &t, ", replaces the native op");
    if (d->core_types)
        text_add(arena, &t, ", cores %s", d->core_types);
    if (d->dsp_arch_types)
        text_add(arena, &t, ", DSP %s", d->dsp_arch_types);
    struct grid g = grid_of(arena, stream, 0);
    add_line(&g, (struct line){{d->type, t.data}});
    fputc('\n', stream);
    print_grid(stream, &g);
}

/* ---- nodes ---- */

static const char *origin_text(enum odlc_udo_origin origin)
{
    static const char *const texts[] = {[ODLC_UDO_FAILED] = "error",
                                        [ODLC_UDO_DYNAMIC] = "dynamic",
                                        [ODLC_UDO_STATIC] = "static",
                                        [ODLC_UDO_PROMOTED] = "promoted",
                                        [ODLC_UDO_NOT_STATIC] = "not static",
                                        [ODLC_UDO_DEFAULT] = "default",
                                        [ODLC_UDO_ABSENT] = "absent",
                                        [ODLC_UDO_ATTRIBUTE] = "attribute",
                                        [ODLC_UDO_SCHEMA] = "op's default",
                                        [ODLC_UDO_RULE] = "shape by rule",
                                        [ODLC_UDO_DECLARED] = "shape by model",
                                        [ODLC_UDO_NATIVE] = "shape by native op",
                                        [ODLC_UDO_LIKE_INPUT] = "shape of input",
                                        [ODLC_UDO_LIBRARY] = "shape by library"};
    return texts[origin];
}

static const char *type_text(struct arena *arena, const struct odlc_udo_value *v)
{
    text t = {0};
    if (!v->data_type)
        return NULL;
    text_add(arena, &t, "%s", v->data_type);
    for (uint32_t i = 0; v->is_tensor && i < v->rank; i++)
        text_add(arena, &t, "%s%lld", i ? "," : " [", (long long)v->dims[i]);
    if (v->is_tensor)
        text_add(arena, &t, "%s", v->rank ? "]" : " []");
    return t.data;
}

static const char *value_remarks(struct arena *arena, const struct odlc_udo_value *v)
{
    text t = {0};
    if (v->tensor)
        text_add(arena, &t, "%s", v->tensor);
    else if (v->text)
        text_add(arena, &t, "%s", v->text);
    if (v->layout)
        text_add(arena, &t, "%s%s%s", t.count ? ", " : "", v->permuted ? "permuted to " : "", v->layout);
    return t.data;
}

static void add_values(struct grid *g, const char *kind, bool counted, const struct odlc_udo_value *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_line(g, (struct line){{kind, counted ? arena_printf(g->arena, "%zu", i) : NULL, list[i].name,
                                   origin_text(list[i].origin), type_text(g->arena, &list[i]),
                                   value_remarks(g->arena, &list[i])}});
}

static void print_permutes(FILE *stream, struct arena *arena, const struct odlc_udo_report *report)
{
    struct grid g = grid_of(arena, stream, 4);
    for (size_t i = 0; i < report->n_permutes; i++) {
        const struct odlc_udo_permute *p = &report->permutes[i];
        const char *what = arena_printf(arena, "%s -> %s %s it, of %s: %s", p->from, p->to,
                                        p->after ? "after" : "before", p->tensor, p->reason);
        add_line(&g, (struct line){{"permute", what}});
    }
    print_grid(stream, &g);
}

static void print_node(FILE *stream, struct arena *arena, const struct check_node *node)
{
    fprintf(stream, "  node %s%s\n", printable(arena, node->name),
            !node->report          ? ": not looked at, because of the errors"
            : node->report->failed ? ": has errors"
                                   : "");
    if (!node->report)
        return;
    struct grid g = grid_of(arena, stream, 4);
    add_values(&g, "input", true, node->report->inputs, node->report->n_inputs);
    add_values(&g, "output", true, node->report->outputs, node->report->n_outputs);
    add_values(&g, "param", false, node->report->params, node->report->n_params);
    print_grid(stream, &g);
    print_permutes(stream, arena, node->report);
}

static void print_definition(FILE *stream, struct arena *arena, const struct check_report *r, size_t i)
{
    const struct odlc_udo_definition *d = &r->definitions[i];
    struct grid g = grid_of(arena, stream, 2);
    print_heading(stream, arena, d);
    add_operands(&g, "input", true, d->inputs, d->n_inputs);
    add_operands(&g, "output", true, d->outputs, d->n_outputs);
    add_operands(&g, "scalar", false, d->scalar_params, d->n_scalar_params);
    add_operands(&g, "tensor", false, d->tensor_params, d->n_tensor_params);
    print_grid(stream, &g);
    if (!r->looked_at)
        return;
    const struct check_nodes *nodes = &r->nodes[i];
    if (!nodes->count)
        fprintf(stream, "  claims no node\n");
    for (size_t k = 0; k < nodes->count; k++)
        print_node(stream, arena, &nodes->data[k]);
}

/* ---- the whole ---- */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void print_model(FILE *stream, struct arena *arena, const struct check_report *r)
{
    size_t count, of[3] = {0};
    if (!r->looked_at) {
        fprintf(stream, "%s: not looked at, because of the errors\n", printable(arena, r->model));
        return;
    }
    const struct odlc_op_report *ops = odlc_conversion_ops(r->conversion, &count);
    for (size_t i = 0; i < count; i++)
        of[ops[i].status]++;
    fprintf(stream, "%s: %zu node%s: %zu native, %zu UDO, %zu unsupported; %s\n", printable(arena, r->model), count,
            plural(count), of[ODLC_OP_NATIVE], of[ODLC_OP_UDO], of[ODLC_OP_UNSUPPORTED],
            r->convertible ? "it converts" : "it does not convert");
}

void check_print_text(FILE *stream, struct arena *arena, const struct check_report *r)
{
    fprintf(stream, "%zu file%s, %zu definition%s: %zu error%s, %zu warning%s\n", r->n_files, plural(r->n_files),
            r->n_definitions, plural(r->n_definitions), r->errors, plural(r->errors), r->warnings, plural(r->warnings));
    if (r->model)
        print_model(stream, arena, r);
    for (size_t i = 0; i < r->n_definitions; i++)
        print_definition(stream, arena, r, i);
    check_print_trials(stream, r->tried);
}
