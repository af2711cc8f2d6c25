/* SPDX-License-Identifier: Apache-2.0 */
/* Each pass of the list by texts: a graph before it and after it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ir/quant.h"
#include "op/graph_text.h"
#include "op/op.h"
#include "op/params.h"
#include "tests/pass/pass_fixture.h"

struct example {
    const char *pass, *before, *after;
    struct pass_options options;
    void (*prepare)(struct graph *g);     /* what texts do not say; NULL: nothing */
    void (*check)(const struct graph *g); /* the same of the graph after the pass */
};

/* ---- what texts do not say ---- */

static tensor_id tensor_called(const struct graph *g, const char *name)
{
    tensor_id id = graph_find_tensor(g, name);
    ck_assert_msg(id != NO_TENSOR, "there is no tensor %s", name);
    return id;
}

static node_id node_called(const struct graph *g, const char *name)
{
    for (size_t i = 0; i < g->order.count; i++)
        if (strcmp(graph_node(g, g->order.data[i])->name, name) == 0)
            return g->order.data[i];
    ck_abort_msg("there is no node %s", name);
    return NO_NODE;
}

/* The node becomes one of a user-defined operation, with the params and the rules of the native one. */
static void make_udo(struct graph *g, node_id id)
{
    struct op *row = arena_memdup(arena, graph_node(g, id)->op, sizeof *row);
    row->id = OP_CUSTOM;
    row->package = "own";
    graph_node(g, id)->op = row;
}

/* The definition of "udo" wants NCHW, and the tensor "x" is stored channels-last; a native node wants it, too. */
static void note_permutes(struct graph *g)
{
    make_udo(g, node_called(g, "udo"));
    const struct layout_permute wanted[] = {
        {.tensor = tensor_called(g, "x"), .name = "x then", .reader = node_called(g, "udo"), .to_first = true},
        {.tensor = tensor_called(g, "x"), .name = "x then", .reader = node_called(g, "native"), .to_first = true}};
    for (size_t i = 0; i < COUNT_OF(wanted); i++)
        vec_push(arena, &context.permutes, wanted[i]);
}

static void check_report(const struct graph *g)
{
    (void)g;
    ck_assert_uint_eq(context.udo_permutes.count, 1);
    const struct pass_permute *permute = &context.udo_permutes.data[0];
    ck_assert_str_eq(permute->node, "udo");
    ck_assert_str_eq(permute->tensor, "x then");
    ck_assert_str_eq(permute->reason, "the definition wants NCHW, and the tensor is stored channels-last");
    ck_assert(permute->to_first && !permute->after);
    ck_assert_uint_eq(diags.list.count, 1);
    ck_assert_str_eq(diags.list.data[0].message, "a permute NHWC → NCHW is inserted for tensor x then before UDO Relu");
}

static void encode(struct graph *g)
{
    static const double by_halves = 0.5, by_quarters = 0.25, middle = 128;
    graph_tensor(g, tensor_called(g, "halves"))->quant =
        quant_create(arena, DT_UFXP8, &by_halves, &middle, 1, false, 0);
    graph_tensor(g, tensor_called(g, "quarters"))->quant =
        quant_create(arena, DT_UFXP8, &by_quarters, &middle, 1, false, 0);
}

/* Integers by halves, which are dequantized and quantized again. */
static void mark_integers(struct graph *g)
{
    static const double half = 0.5;
    const struct quant *read = quant_create(arena, DT_UFXP8, &half, NULL, 1, false, 0);
    graph_tensor(g, tensor_called(g, "x"))->quant = read;
    graph_tensor(g, tensor_called(g, "halves"))->quant = read;
    graph_tensor(g, tensor_called(g, "y"))->quant = quant_create(arena, DT_UFXP8, &half, NULL, 1, false, 0);
}

static void check_fixed(const struct graph *g)
{
    ck_assert(graph_tensor(g, tensor_called(g, "x"))->quant->encodings[0].scale == 0.5);
    ck_assert(graph_tensor(g, tensor_called(g, "y"))->quant->encodings[0].scale == 0.5);
}

/* "a" and "b" are equal, "c" is not, in its middle alone. */
static void fill_constants(struct graph *g)
{
    for (const char *name = "abc"; *name; name++) {
        struct tensor *t = graph_tensor(g, tensor_called(g, (const char[]){*name, 0}));
        const uint64_t count = shape_count(&t->type->shape);
        float *elements = arena_array(arena, float, count);
        for (uint64_t i = 0; i < count; i++)
            elements[i] = (float)i;
        elements[count / 2] += *name == 'c';
        *t->view = view_of(elements, DT_FLOAT32, &t->type->shape);
    }
}

/* "b" is the transposed "a"; "c" is too, but for one element. */
static void fill_transposed(struct graph *g)
{
    float *elements[3];
    for (int k = 0; k < 3; k++) {
        struct tensor *t = graph_tensor(g, tensor_called(g, (const char[]){(char)('a' + k), 0}));
        elements[k] = arena_array(arena, float, shape_count(&t->type->shape));
        *t->view = view_of(elements[k], DT_FLOAT32, &t->type->shape);
    }
    for (int i = 0; i < 33; i++)
        for (int k = 0; k < 64; k++) {
            elements[0][i * 64 + k] = (float)(100 * i + k);
            elements[1][k * 33 + i] = elements[2][k * 33 + i] = (float)(100 * i + k);
        }
    elements[2][40 * 33 + 20] = 1; /* no element that is sampled */
}

static void check_encodings(const struct graph *g)
{
    ck_assert(graph_tensor(g, tensor_called(g, "halves"))->quant->encodings[0].scale == 0.5);
    ck_assert(graph_tensor(g, tensor_called(g, "r"))->quant->encodings[0].scale == 0.25);
}

static void check_overrides(const struct graph *g)
{
    const struct quant *x = graph_tensor(g, tensor_called(g, "x"))->quant;
    const struct quant *y = graph_tensor(g, tensor_called(g, "y"))->quant;
    ck_assert(x && x->overridden && x->encodings[0].scale == 0.5);
    ck_assert(y && y->overridden && y->encodings[0].scale == 0.25);
}

/* Integers of a constant that are still to be scaled, and an encoding that is given. */
static void scale_constant(struct graph *g)
{
    static const int8_t integers[] = {6, -4};
    static const double scale[] = {0.5, 0.25};
    const struct shape two = SHAPE(2);
    struct view view = view_of(integers, DT_INT8, &two);
    view.scale = scale;
    graph_set_view(g, tensor_called(g, "c"), &view);
    encode(g);
    quant_override(g, tensor_called(g, "x"), graph_tensor(g, tensor_called(g, "halves"))->quant);
}

static void check_constant(const struct graph *g)
{
    const struct quant *known = graph_tensor(g, tensor_called(g, "c"))->quant;
    ck_assert(known && known->overridden && known->per_axis && known->axis == 0 && known->count == 2);
    ck_assert(known->encodings[0].scale == 0.5 && known->encodings[1].scale == 0.25);
    ck_assert(graph_tensor(g, tensor_called(g, "x"))->quant->encodings[0].scale == 0.5);
}

/* Nothing computes "halves" any more. */
static void lose_encoding(struct graph *g)
{
    encode(g);
    quant_override(g, tensor_called(g, "halves"), graph_tensor(g, tensor_called(g, "halves"))->quant);
    quant_override(g, tensor_called(g, "quarters"), graph_tensor(g, tensor_called(g, "quarters"))->quant);
    graph_remove_node(g, node_called(g, "a"));
    graph_compact(g);
}

static void check_lost(const struct graph *g)
{
    (void)g;
    ck_assert_uint_eq(diags.list.count, 1);
    ck_assert_str_eq(diags.list.data[0].message,
                     "tensor halves is not in the container: the encoding that the model gives it is not kept");
}

static void want_names(struct graph *g)
{
    graph_tensor(g, tensor_called(g, "folded"))->wanted = "w";
    graph_tensor(g, tensor_called(g, "moved"))->wanted = "b";
}

static int format_of(const struct graph *g, const char *name)
{
    return graph_tensor(g, tensor_called(g, name))->axis_format;
}

/* Of a model with channels last: of inputs by rank, of results by what their axes come from. */
static void check_formats(const struct graph *g)
{
    static const struct {
        const char *name;
        int format;
    } expected[] = {{"x", AXIS_FORMAT_NHWC},       {"w", AXIS_FORMAT_HWIO},    {"b", AXIS_FORMAT_ANY},
                    {"c", AXIS_FORMAT_NHWC},       {"r", AXIS_FORMAT_NHWC},    {"m", AXIS_FORMAT_NHWC},
                    {"i", AXIS_FORMAT_NONTRIVIAL}, {"p", AXIS_FORMAT_NHWC},    {"first", AXIS_FORMAT_NCHW},
                    {"back", AXIS_FORMAT_NHWC},    {"rows", AXIS_FORMAT_NF},   {"turned", AXIS_FORMAT_NONTRIVIAL},
                    {"sum", AXIS_FORMAT_NF},       {"steps", AXIS_FORMAT_NFC}, {"d", AXIS_FORMAT_NONTRIVIAL},
                    {"y", AXIS_FORMAT_NONTRIVIAL}, {"flat", AXIS_FORMAT_ANY},  {"k", AXIS_FORMAT_NONTRIVIAL},
                    {"shifted", AXIS_FORMAT_NFC},  {"same", AXIS_FORMAT_NFC},  {"other", AXIS_FORMAT_NONTRIVIAL}};
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        ck_assert_msg(format_of(g, expected[i].name) == expected[i].format, "%s has axis format %d, not %d",
                      expected[i].name, format_of(g, expected[i].name), expected[i].format);
}

/* The model's order: nothing is known of a tensor of rank 3, and an image op's result is the model's own output. */
static void check_formats_of_first(const struct graph *g)
{
    ck_assert_int_eq(format_of(g, "x"), AXIS_FORMAT_NONTRIVIAL);
    ck_assert_int_eq(format_of(g, "c"), AXIS_FORMAT_NHWC);
    ck_assert_int_eq(format_of(g, "y"), AXIS_FORMAT_NONTRIVIAL);
}

static void check_placed(const struct graph *g)
{
    ck_assert_int_eq(format_of(g, "x"), AXIS_FORMAT_NHWC);
    ck_assert_int_eq(format_of(g, "s"), AXIS_FORMAT_NFC);
    ck_assert_int_eq(format_of(g, "s.ncf"), AXIS_FORMAT_NCF);
    ck_assert_int_eq(format_of(g, "m"), AXIS_FORMAT_NHWC);
    ck_assert_uint_eq(diags.list.count, 3);
    ck_assert_str_eq(diags.list.data[0].message,
                     "graph input x is stored channels-last: [1,3,4,2] instead of [1,2,3,4]");
    ck_assert_str_eq(diags.list.data[0].hint,
                     "--preserve_io layout x or --input_layout x NONTRIVIAL keeps the model's order");
    ck_assert_str_eq(diags.list.data[2].message, "graph output m is stored channels-last: [1,3,4,1]");
    ck_assert_str_eq(diags.list.data[2].hint, "--preserve_io layout m keeps the model's order");
}

/* The owner is the name of the node that a definition replaces. */
static odlc_status replace_node(void *owner, struct graph *g)
{
    make_udo(g, node_called(g, owner));
    return ODLC_OK;
}

static void replace_relu(struct graph *g)
{
    (void)g;
    context.replace_natives = (struct pass_hook){replace_node, "relu"};
}

static struct map only_y;

static void name_y(struct graph *g)
{
    (void)g;
    map_init(&only_y, arena);
    map_put(&only_y, "y", 1);
}

static odlc_status note_type(void *owner, struct graph *g)
{
    node_set_string(g, graph_node(g, node_called(g, owner)), PARAM_bias_op_name, "noted");
    return ODLC_OK;
}

static void declare_types(struct graph *g)
{
    (void)g;
    context.keep_declared_types = (struct pass_hook){note_type, "conv"};
}

/* ---- the texts ---- */

/* Each node on a line of its own, which the formatter would tear apart. */
/* clang-format off */

#define CONV_PARAMS_AND(more) "{stride=[2]{1, 1}, pad_amount=[2,2]{0, 0, 0, 0}, group=1" more "}"
#define CONV_PARAMS CONV_PARAMS_AND("")
/* The texts of a convolution of one channel that gives two, up to its result. */
#define LAYER(w, weights, b, bias, more, out) \
    "graph \"g\"\ninput \"x\" float32[1,2,2,1]\n" \
    "const \"" w "\" float32[1,1,1,2] {" weights "}\nconst \"" b "\" float32[2] {" bias "}\n" \
    "node \"conv\" Conv2d (\"x\", \"" w "\", \"" b "\") " CONV_PARAMS_AND(more) " -> \"" out "\" float32[1,2,2,2]\n"
/* The same without a bias. */
#define LAYER_ALONE(weights, more, out) \
    "graph \"g\"\ninput \"x\" float32[1,2,2,1]\n" \
    "const \"w\" float32[1,1,1,2] {" weights "}\n" \
    "node \"conv\" Conv2d (\"x\", \"w\", -) " CONV_PARAMS_AND(more) " -> \"" out "\" float32[1,2,2,2]\n"
#define BLOCKS(params, result) \
    "node \"conv\" Conv2d (\"s\", \"w\", \"b\") " params " -> \"c\" float32[4,3,3,1]\n" \
    "node \"join\" BatchToSpace (\"c\") {block_size=[2]{2, 2}, crops=[2,2]{1, 0, 0, 0}} -> \"y\" " result "\n"
/* Tensors of which no pass has said how their axes are to be read. */
#define FORMATS                                                                                  \
    "graph \"g\"\n"                                                                             \
    "input \"x\" float32[1,2,2,1]\ninput \"steps\" float32[1,2,3]\ninput \"rows\" float32[2,3]\n"  \
    "const \"w\" float32[1,1,1,2] {2, 3}\nconst \"b\" float32[2] {5, 6}\n"                       \
    "node \"conv\" Conv2d (\"x\", \"w\", \"b\") " CONV_PARAMS " -> \"c\" float32[1,2,2,2]\n"        \
    "node \"relu\" Relu (\"c\") -> \"r\" float32[1,2,2,2]\n"                                      \
    "node \"mean\" ReduceMean (\"r\") {axes=[1]{3}, keep_dims=1} -> \"m\" float32[1,2,2,1]\n"       \
    "node \"plane\" ReduceMean (\"r\") {axes=[1]{3}, keep_dims=0} -> \"i\" float32[1,2,2]\n"        \
    "node \"pair\" Concat (\"r\", \"m\") {axis=3} -> \"p\" float32[1,2,2,3]\n"                     \
    "node \"to first\" Transpose (\"r\") {perm=[4]{0, 3, 1, 2}} -> \"first\" float32[1,2,2,2]\n"    \
    "node \"to last\" Transpose (\"first\") {perm=[4]{0, 2, 3, 1}} -> \"back\" float32[1,2,2,2]\n"  \
    "node \"turn\" Transpose (\"r\") {perm=[4]{0, 2, 1, 3}} -> \"turned\" float32[1,2,2,2]\n"       \
    "node \"plus\" ElementWiseAdd (\"rows\", \"rows\") -> \"sum\" float32[2,3]\n"                  \
    "const \"d\" float32[2,3] {1, 2, 3, 4, 5, 6}\n" \
    "node \"dense\" FullyConnected (\"sum\", \"d\") -> \"y\" float32[2,2]\n"                       \
    "const \"k\" float32[1,1,3] {1, 2, 3}\n" \
    "node \"shift\" ElementWiseAdd (\"k\", \"steps\") -> \"shifted\" float32[1,2,3]\n"             \
    "node \"copy\" Reshape (\"shifted\") {shape=[3]{1, 2, 3}} -> \"same\" float32[1,2,3]\n"         \
    "node \"wide\" Reshape (\"shifted\") {shape=[3]{1, 3, 2}} -> \"other\" float32[1,3,2]\n"        \
    "node \"line\" Reshape (\"shifted\") {shape=[1]{6}} -> \"flat\" float32[6]\n"                   \
    "output \"y\"\n"
#define RELU_OF_LAYER "node \"relu\" Relu (\"c\") -> \"y\" float32[1,2,2,2]\noutput \"y\"\n"
#define PLACED(x, s) "graph \"g\"\ninput \"x\" float32" x "\ninput \"s\" float32" s "\n"
#define PLACED_OUTPUTS "output \"m\"\noutput \"f\"\n"
/* What stays when no input is placed. */
#define PLACED_KEPT                                                                              \
    "node \"mean\" ReduceMean (\"x\") {axes=[1]{1}, keep_dims=1} -> \"m\" float32[1,1,3,4]\n"       \
    "node \"flat\" Reshape (\"s\") {shape=[1]{24}} -> \"f\" float32[24]\n" PLACED_OUTPUTS

#define PRODUCT "{transpose_in0=0, transpose_in1=0}"
#define MATMULS \
    "graph \"g\"\ninput \"i\" int32[1,1,2]\ninput \"x\" float32[1,2,2]\ninput \"y\" float32[2,2]\n" \
    "const \"w\" int32[2,1] {1, 2}\n" \
    "node \"a\" MatMul (\"i\", \"w\") " PRODUCT " -> \"p\" int32[1,1,1]\n" \
    "node \"b\" MatMul (\"x\", \"y\") " PRODUCT " -> \"q\" float32[1,2,2]\n" \
    "const \"v\" float32[1,2,2] {1, 2, 3, 4}\n" \
    "node \"c\" MatMul (\"y\", \"v\") " PRODUCT " -> \"r\" float32[1,2,2]\n" \
    "const \"u\" float32[2,1] {5, 6}\n" \
    "node \"d\" MatMul (\"y\", \"u\") {transpose_in0=1, transpose_in1=0} -> \"s\" float32[2,1]\n" \
    "output \"p\"\noutput \"q\"\noutput \"r\"\noutput \"s\"\n"
/* The norm of x by its steps, up to the last one: its inverse deviation is computed by `inverse`, from "shifted". */
#define RMS_STEPS(square, sum, inverse) \
    "graph \"g\"\ninput \"x\" float32[1,2,4]\n" square " -> \"squares\" float32[1,2,4]\n" \
    "node \"mean\" ReduceMean (\"squares\") {axes=[1]{2}, keep_dims=1} -> \"mean\" float32[1,2,1]\n" \
    "const \"eps\" float32[1] {0.25}\n" sum " -> \"shifted\" float32[1,2,1]\n" inverse
#define RMS_END(product, gamma, last) \
    product " -> \"n\" float32[1,2,4]\n" "const \"gamma\" float32" gamma "\n" \
    last " -> \"y\" float32[1,2,4]\n" "output \"y\"\n"
#define GAMMA "[4] {1, 2, 3, 4}"
#define SQUARE "node \"squares\" ElementWiseMultiply (\"x\", \"x\")"
#define CUBE "const \"three\" float32[1] {3}\nnode \"squares\" ElementWisePower (\"x\", \"three\")"
#define PRODUCT_WITH_ANOTHER \
    "const \"z\" float32[4] {1, 2, 3, 4}\nnode \"squares\" ElementWiseMultiply (\"x\", \"z\")"
#define SUM "node \"sum\" ElementWiseAdd (\"mean\", \"eps\")"
#define TIMES_INVERSE "node \"n\" ElementWiseMultiply (\"x\", \"inverse\")"
#define TIMES_GAMMA "node \"y\" ElementWiseMultiply (\"n\", \"gamma\")"
#define ROOT "node \"root\" ElementWiseSquareRoot (\"shifted\") -> \"root\" float32[1,2,1]\n"
#define INVERSE(node) node " -> \"inverse\" float32[1,2,1]\n"
#define RSQRT INVERSE("node \"inverse\" ElementWiseRsqrt (\"shifted\")")
#define RMS_NORM(gamma) \
    "graph \"g\"\ninput \"x\" float32[1,2,4]\nconst \"" gamma "\" float32[4] {1, 2, 3, 4}\n" \
    "const \"gamma_bias\" float32[4] {0, 0, 0, 0}\n" \
    "node \"rms_norm_y\" RmsNorm (\"x\", \"" gamma "\", \"gamma_bias\") {axes=[1]{2}, epsilon=0.25}" \
    " -> \"y\" float32[1,2,4]\noutput \"y\"\n"
#define RMS_BARE \
    "graph \"g\"\ninput \"x\" float32[1,2,4]\nconst \"mean_weights\" float32[4] {1, 1, 1, 1}\n" \
    "const \"mean_weights_bias\" float32[4] {0, 0, 0, 0}\n" \
    "node \"rms_norm_n\" RmsNorm (\"x\", \"mean_weights\", \"mean_weights_bias\") {axes=[1]{2}, epsilon=0.25}" \
    " -> \"n\" float32[1,2,4]\n"
#define SCALED(node, soft) \
    "graph \"g\"\ninput \"x\" float32[2,3]\nconst \"c\" float32[1] {4}\n" node " -> \"scaled\" float32[2,3]\n" \
    "node \"soft\" " soft " -> \"y\" float32[2,3]\noutput \"y\"\n"
#define NEGATED \
    "graph \"g\"\ninput \"x\" float32[2,3]\nconst \"c\" float32[1] {-4}\n" \
    "node \"by\" ElementWiseMultiply (\"x\", \"c\") -> \"scaled\" float32[2,3]\n" \
    "node \"soft\" Softmax (\"scaled\") {axis=1, beta=1} -> \"y\" float32[2,3]\noutput \"y\"\n"
#define SOFT(input, beta) \
    "graph \"g\"\ninput \"x\" float32[2,3]\nnode \"soft\" " input " {axis=1, beta=" beta "} -> \"y\" float32[2,3]\n" \
    "output \"y\"\n"

static const struct example examples[] = {
#include "tests/pass/texts_fusions.def"
#include "tests/pass/texts_layouts.def"
#include "tests/pass/texts_layers.def"
#include "tests/pass/texts_values.def"
};

/* An image of 4 × 4 in blocks, a convolution of them; one bias is added between, one behind. */
static const char two_biases[] =
    "graph \"g\" input \"x\" float32[1,4,4,1]\n"
    "const \"w\" float32[1,1,1,1] {2} const \"b\" float32[1] {1}\n"
    "const \"inner\" float32[1] {10} const \"outer\" float32[1] {100}\n"
    "node \"split\" SpaceToBatch (\"x\") {block_size=[2]{2, 2}, pad_amount=[2,2]{0, 0, 0, 0}}"
    " -> \"s\" float32[4,2,2,1]\n"
    "node \"conv\" Conv2d (\"s\", \"w\", \"b\") {stride=[2]{1, 1}, pad_amount=[2,2]{0, 0, 0, 0}, group=1}"
    " -> \"c\" float32[4,2,2,1]\n"
    "node \"plus\" ElementWiseAdd (\"c\", \"inner\") -> \"p\" float32[4,2,2,1]\n"
    "node \"join\" BatchToSpace (\"p\") {block_size=[2]{2, 2}, crops=[2,2]{0, 0, 0, 0}} -> \"j\" float32[1,4,4,1]\n"
    "node \"plus too\" ElementWiseAdd (\"j\", \"outer\") -> \"y\" float32[1,4,4,1]\n"
    "output \"y\"";

/* clang-format on */

static const char *dumped_after(const char *pass)
{
    options = (struct pass_options){.dump_after = pass};
    context.dumped = NULL;
    must(pass_run_all(&context, parsed(two_biases)));
    ck_assert_msg(context.dumped, "nothing is dumped after %s", pass);
    return context.dumped;
}

/* Both runs of one function are reached, and each when it runs. */
START_TEST(each_name_is_dumped_at_its_place)
{
    for (size_t i = 0; pass_name(i); i++) {
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(pass_name(k), pass_name(i));
        (void)dumped_after(pass_name(i));
    }
    const char *first = dumped_after("fold_bias"), *second = dumped_after("fold_dilated_bias");
    ck_assert(strstr(first, "{11}") && strstr(first, "BatchToSpace") && strstr(first, "ElementWiseAdd"));
    ck_assert(strstr(second, "{111}") && !strstr(second, "BatchToSpace") && !strstr(second, "ElementWiseAdd"));
    ck_assert(strstr(dumped_after("restore_names"), "SpaceToBatch") == NULL);
    ck_assert(strstr(dumped_after("remove_dead"), "ElementWiseAdd"));
}
END_TEST

static odlc_status refuse(void *owner, struct graph *g)
{
    (void)g;
    ++*(int *)owner;
    return ODLC_ERR_INVALID;
}

static odlc_status tear(void *owner, struct graph *g)
{
    graph_remove_node(g, node_called(g, owner));
    return ODLC_OK;
}

START_TEST(hooks_fail_as_passes_do)
{
    int calls = 0;
    context.replace_natives = context.keep_declared_types = (struct pass_hook){refuse, &calls};
    ck_assert_int_eq(pass_run_all(&context, parsed(two_biases)), ODLC_ERR_INVALID);
    ck_assert_int_eq(calls, 1);
    context.replace_natives = (struct pass_hook){0};
    context.keep_declared_types = (struct pass_hook){tear, "conv"};
    ck_assert_int_eq(pass_run_all(&context, parsed(two_biases)), ODLC_ERR_INTERNAL);
    ck_assert(strstr(diags.list.data[diags.list.count - 1].message, "not valid after keep_declared_types"));
}
END_TEST

START_TEST(an_unknown_pass_is_an_error)
{
    ck_assert_int_eq(pass_run(&context, parsed(two_biases), "no_such_pass"), ODLC_ERR_USAGE);
    ck_assert_str_eq(diags.list.data[0].message, "there is no pass no_such_pass");
}
END_TEST

static void check_example(const struct example *e)
{
    options = e->options;
    struct graph *g = parsed(e->before);
    if (e->prepare)
        e->prepare(g);
    must(pass_run(&context, g, e->pass));
    ck_assert_str_eq(graph_print(arena, g), e->after);
    if (e->check)
        e->check(g);
}

START_TEST(texts_become_others)
{
    check_example(&examples[_i]);
}
END_TEST

START_TEST(each_pass_has_an_example)
{
    for (size_t i = 0; pass_name(i); i++) {
        size_t found = 0;
        while (found < COUNT_OF(examples) && strcmp(examples[found].pass, pass_name(i)) != 0)
            found++;
        ck_assert_msg(found < COUNT_OF(examples), "%s has no example", pass_name(i));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("texts of passes");
    TCase *t = tcase_create("texts");
    tcase_add_checked_fixture(t, start, stop);
    tcase_add_loop_test(t, texts_become_others, 0, COUNT_OF(examples));
    tcase_add_test(t, each_pass_has_an_example);
    tcase_add_test(t, each_name_is_dumped_at_its_place);
    tcase_add_test(t, hooks_fail_as_passes_do);
    tcase_add_test(t, an_unknown_pass_is_an_error);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
