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

static void check_formats(const struct graph *g)
{
    ck_assert_int_eq(graph_tensor(g, tensor_called(g, "w"))->axis_format, AXIS_FORMAT_HWIO);
    ck_assert_int_eq(graph_tensor(g, tensor_called(g, "x"))->axis_format, AXIS_FORMAT_NONTRIVIAL);
    ck_assert_int_eq(graph_tensor(g, tensor_called(g, "b"))->axis_format, 0);
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
    {.pass = "remove_dead",
     .before = "graph \"g\" input \"x\" float32[2]\n"
               "node \"a\" Relu (\"x\") -> \"y\" float32[2]\n"
               "node \"b\" Tanh (\"x\") -> \"unread\" float32[2]\n"
               "node \"c\" Sigmoid (\"unread\") -> \"unread too\" float32[2]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2]\n"
              "node \"a\" Relu (\"x\") -> \"y\" float32[2]\n"
              "output \"y\"\n"},
    {.pass = "remove_dead",
     .options = {.keep_disconnected = true},
     .before = "graph \"g\" input \"x\" float32[2]\n"
               "node \"a\" Relu (\"x\") -> \"y\" float32[2]\n"
               "node \"b\" Tanh (\"x\") -> \"unread\" float32[2]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2]\n"
              "node \"a\" Relu (\"x\") -> \"y\" float32[2]\n"
              "node \"b\" Tanh (\"x\") -> \"unread\" float32[2]\n"
              "output \"y\"\n"},
    {.pass = "keep_encodings",
     .options = {.keep_encodings = true},
     .prepare = encode,
     .check = check_overrides,
     .before = "graph \"g\" input \"x\" float32[2]\n"
               "node \"a\" Quantize (\"x\") -> \"halves\" ufxp8[2]\n"
               "node \"b\" Dequantize (\"halves\") -> \"d\" float32[2]\n"
               "node \"c\" Sigmoid (\"d\") -> \"r\" float32[2]\n"
               "node \"e\" Quantize (\"r\") -> \"quarters\" ufxp8[2]\n"
               "node \"f\" Dequantize (\"quarters\") -> \"y\" float32[2]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2]\n"
              "node \"c\" Sigmoid (\"x\") -> \"y\" float32[2]\n"
              "output \"y\"\n"},
    /* The convolution's Transposes go; the Reshape, which would tear the channels apart, needs one of its own. */
    {.pass = "track_axes",
     .before = "graph \"g\" input \"x\" float32[1,2,2,2]\n"
               "const \"w\" float32[1,1,2,3] {1, 2, 3, 4, 5, 6} const \"b\" float32[3] {7, 8, 9}\n"
               "node \"in\" Transpose (\"x\") {perm=[4]{0, 2, 3, 1}} layout_only -> \"last\" float32[1,2,2,2]\n"
               "node \"conv\" Conv2d (\"last\", \"w\", \"b\") " CONV_PARAMS " -> \"c\" float32[1,2,2,3]\n"
               "node \"out\" Transpose (\"c\") {perm=[4]{0, 3, 1, 2}} layout_only -> \"first\" float32[1,3,2,2]\n"
               "node \"soft\" Softmax (\"first\") {axis=1, beta=1} -> \"s\" float32[1,3,2,2]\n"
               "node \"flat\" Reshape (\"s\") {shape=[2]{1, 12}} -> \"y\" float32[1,12]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[1,2,2,2]\n"
              "const \"w\" float32[1,1,2,3] {1, 2, 3, 4, 5, 6}\n"
              "const \"b\" float32[3] {7, 8, 9}\n"
              "node \"conv\" Conv2d (\"x\", \"w\", \"b\") " CONV_PARAMS " -> \"c\" float32[1,2,2,3]\n"
              "node \"soft\" Softmax (\"c\") {axis=3, beta=1} -> \"s\" float32[1,2,2,3]\n"
              "node \"s.nchw\" Transpose (\"s\") {perm=[4]{0, 3, 1, 2}} -> \"s.nchw\" float32[1,3,2,2]\n"
              "node \"flat\" Reshape (\"s.nchw\") {shape=[2]{1, 12}} -> \"y\" float32[1,12]\n"
              "output \"y\"\n"},
    {.pass = "report_permutes",
     .prepare = note_permutes,
     .check = check_report,
     .before = "graph \"g\" input \"x\" float32[1,2,3,4]\n"
               "node \"t\" Transpose (\"x\") {perm=[4]{0, 3, 1, 2}} -> \"f\" float32[1,4,2,3]\n"
               "node \"udo\" Relu (\"f\") -> \"u\" float32[1,4,2,3]\n"
               "node \"native\" Relu (\"f\") -> \"y\" float32[1,4,2,3]\n"
               "output \"u\" output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[1,2,3,4]\n"
              "node \"t\" Transpose (\"x\") {perm=[4]{0, 3, 1, 2}} -> \"f\" float32[1,4,2,3]\n"
              "node \"udo\" own::Relu (\"f\") -> \"u\" float32[1,4,2,3]\n"
              "node \"native\" Relu (\"f\") -> \"y\" float32[1,4,2,3]\n"
              "output \"u\"\n"
              "output \"y\"\n"},
    {.pass = "merge_transposes",
     .before = "graph \"g\" input \"x\" float32[2,3,4]\n"
               "node \"a\" Transpose (\"x\") {perm=[3]{2, 0, 1}} -> \"y\" float32[4,2,3]\n"
               "node \"b\" Transpose (\"y\") {perm=[3]{2, 1, 0}} -> \"z\" float32[3,2,4]\n"
               "node \"c\" Transpose (\"y\") {perm=[3]{1, 2, 0}} -> \"w\" float32[2,3,4]\n"
               "node \"d\" Relu (\"w\") -> \"v\" float32[2,3,4]\n"
               "output \"z\" output \"v\" output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2,3,4]\n"
              "node \"a\" Transpose (\"x\") {perm=[3]{2, 0, 1}} -> \"y\" float32[4,2,3]\n"
              "node \"b\" Transpose (\"x\") {perm=[3]{1, 0, 2}} -> \"z\" float32[3,2,4]\n"
              "node \"d\" Relu (\"x\") -> \"v\" float32[2,3,4]\n"
              "output \"z\"\n"
              "output \"v\"\n"
              "output \"y\"\n"},
    /* The rows of both products follow what they read, the later one's first; the vector becomes the bias. */
    {.pass = "match_fully_connected",
     .before = "graph \"g\" input \"x\" float32[1,2,3]\n"
               "const \"w\" float32[3,2] {1, 2, 3, 4, 5, 6} const \"b\" float32[1,2] {7, 8}\n"
               "node \"relu\" Relu (\"x\") -> \"r\" float32[1,2,3]\n"
               "node \"p\" MatMul (\"r\", \"w\") " PRODUCT " -> \"m\" float32[1,2,2]\n"
               "node \"plus\" ElementWiseAdd (\"b\", \"m\") -> \"y\" float32[1,2,2]\n"
               "node \"q\" MatMul (\"r\", \"w\") " PRODUCT " -> \"z\" float32[1,2,2]\n"
               "output \"y\" output \"z\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[1,2,3]\n"
              "node \"relu\" Relu (\"x\") -> \"r\" float32[1,2,3]\n"
              "node \"q_pre_reshape\" Reshape (\"r\") {shape=[2]{2, 3}} -> \"q_pre_reshape\" float32[2,3]\n"
              "node \"p_pre_reshape\" Reshape (\"r\") {shape=[2]{2, 3}} -> \"p_pre_reshape\" float32[2,3]\n"
              "const \"w.1\" float32[2,3] {1, 3, 5, 2, 4, 6}\n"
              "const \"b.1\" float32[2] {7, 8}\n"
              "node \"p\" FullyConnected (\"p_pre_reshape\", \"w.1\", \"b.1\") {bias_op_name=\"plus\"}"
              " -> \"y_fc\" float32[2,2]\n"
              "node \"p_post_reshape\" Reshape (\"y_fc\") {shape=[3]{1, 2, 2}} -> \"y\" float32[1,2,2]\n"
              "node \"q\" FullyConnected (\"q_pre_reshape\", \"w.1\", -) {bias_op_name=\"\"} -> \"z_fc\" float32[2,2]\n"
              "node \"q_post_reshape\" Reshape (\"z_fc\") {shape=[3]{1, 2, 2}} -> \"z\" float32[1,2,2]\n"
              "output \"y\"\n"
              "output \"z\"\n"},
    /* A matrix needs no Reshapes. What is added to each column, to a product that is read elsewhere, or makes the sum
       larger, is no bias. */
    {.pass = "match_fully_connected",
     .before = "graph \"g\" input \"x\" float32[2,3]\n"
               "const \"w\" float32[2,3] {1, 2, 3, 4, 5, 6} const \"column\" float32[2,1] {7, 8}\n"
               "const \"row\" float32[2] {9, 10} const \"deep\" float32[1,1,2] {11, 12}\n"
               "node \"p\" MatMul (\"x\", \"w\") {transpose_in0=0, transpose_in1=1} -> \"m\" float32[2,2]\n"
               "node \"plus\" ElementWiseAdd (\"m\", \"column\") -> \"u\" float32[2,2]\n"
               "node \"q\" MatMul (\"x\", \"w\") {transpose_in0=0, transpose_in1=1} -> \"n\" float32[2,2]\n"
               "node \"plus too\" ElementWiseAdd (\"n\", \"row\") -> \"v\" float32[2,2]\n"
               "node \"r\" MatMul (\"x\", \"w\") {transpose_in0=0, transpose_in1=1} -> \"o\" float32[2,2]\n"
               "node \"plus more\" ElementWiseAdd (\"o\", \"deep\") -> \"t\" float32[1,2,2]\n"
               "output \"u\" output \"v\" output \"n\" output \"t\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2,3]\n"
              "const \"w\" float32[2,3] {1, 2, 3, 4, 5, 6}\n"
              "node \"p\" FullyConnected (\"x\", \"w\", -) {bias_op_name=\"\"} -> \"m\" float32[2,2]\n"
              "const \"column\" float32[2,1] {7, 8}\n"
              "node \"plus\" ElementWiseAdd (\"m\", \"column\") -> \"u\" float32[2,2]\n"
              "node \"q\" FullyConnected (\"x\", \"w\", -) {bias_op_name=\"\"} -> \"n\" float32[2,2]\n"
              "const \"row\" float32[2] {9, 10}\n"
              "node \"plus too\" ElementWiseAdd (\"n\", \"row\") -> \"v\" float32[2,2]\n"
              "node \"r\" FullyConnected (\"x\", \"w\", -) {bias_op_name=\"\"} -> \"o\" float32[2,2]\n"
              "const \"deep\" float32[1,1,2] {11, 12}\n"
              "node \"plus more\" ElementWiseAdd (\"o\", \"deep\") -> \"t\" float32[1,2,2]\n"
              "output \"u\"\n"
              "output \"v\"\n"
              "output \"n\"\n"
              "output \"t\"\n"},
    /* Not of integers, of matrices that are computed, of those that lie side by side, or with a transposed input. */
    {.pass = "match_fully_connected",
     .before = MATMULS,
     .after = MATMULS},
    {.pass = "align_matmul_ranks",
     .before = MATMULS,
     .after = "graph \"g\"\n"
              "input \"i\" int32[1,1,2]\n"
              "input \"x\" float32[1,2,2]\n"
              "input \"y\" float32[2,2]\n"
              "const \"w.1\" int32[1,2,1] {1, 2}\n"
              "node \"a\" MatMul (\"i\", \"w.1\") " PRODUCT " -> \"p\" int32[1,1,1]\n"
              "node \"b_pre_reshape\" Reshape (\"y\") {shape=[3]{1, 2, 2}} -> \"b_pre_reshape\" float32[1,2,2]\n"
              "node \"b\" MatMul (\"x\", \"b_pre_reshape\") " PRODUCT " -> \"q\" float32[1,2,2]\n"
              "node \"c_pre_reshape\" Reshape (\"y\") {shape=[3]{1, 2, 2}} -> \"c_pre_reshape\" float32[1,2,2]\n"
              "const \"v\" float32[1,2,2] {1, 2, 3, 4}\n"
              "node \"c\" MatMul (\"c_pre_reshape\", \"v\") " PRODUCT " -> \"r\" float32[1,2,2]\n"
              "const \"u\" float32[2,1] {5, 6}\n"
              "node \"d\" MatMul (\"y\", \"u\") {transpose_in0=1, transpose_in1=0} -> \"s\" float32[2,1]\n"
              "output \"p\"\n"
              "output \"q\"\n"
              "output \"r\"\n"
              "output \"s\"\n"},
    /* 5 and 6 are the bias of a layer that has none, and go by their own name, which is taken as yet. */
    /* 5 and 6 are the bias of a layer that has none, and go by their own name, which is taken as yet; the layer notes
       who added them. */
    {.pass = "fold_bias",
     .options = {.fold_bias = true},
     .before = LAYER_ALONE("2, 3", ", bias_op_name=\"\"", "c")
               "const \"bias\" float32[2] {5, 6}\n"
               "node \"plus\" ElementWiseAdd (\"c\", \"bias\") -> \"y\" float32[1,2,2,2]\n"
               "output \"y\"\n",
     .after = LAYER("w", "2, 3", "bias.1", "5, 6", ", bias_op_name=\"plus\"", "y") "output \"y\"\n"},
    /* The bias that is there already keeps its name and its note. */
    {.pass = "fold_bias",
     .options = {.fold_bias = true},
     .before = LAYER("w", "2, 3", "b", "1, 1", ", bias_op_name=\"first\"", "c")
               "const \"more\" float32[2] {5, 6}\n"
               "node \"plus\" ElementWiseAdd (\"c\", \"more\") -> \"y\" float32[1,2,2,2]\n"
               "output \"y\"\n",
     .after = LAYER("w", "2, 3", "b.1", "6, 7", ", bias_op_name=\"first\"", "y") "output \"y\"\n"},
    /* Factors leave a layer without a bias. */
    {.pass = "fold_bias",
     .options = {.fold_bias = true},
     .before = LAYER_ALONE("2, 3", "", "c")
               "const \"factors\" float32[2] {4, -1}\n"
               "node \"times\" ElementWiseMultiply (\"c\", \"factors\") -> \"y\" float32[1,2,2,2]\n"
               "output \"y\"\n",
     .after = "graph \"g\"\ninput \"x\" float32[1,2,2,1]\nconst \"w.1\" float32[1,1,1,2] {8, -3}\n"
              "node \"conv\" Conv2d (\"x\", \"w.1\", -) " CONV_PARAMS " -> \"y\" float32[1,2,2,2]\noutput \"y\"\n"},
    {.pass = "fold_bias",
     .before = LAYER("w", "2, 3", "b", "1, 1", "", "c")
               "const \"bias\" float32[2] {5, 6}\n"
               "node \"plus\" ElementWiseAdd (\"c\", \"bias\") -> \"y\" float32[1,2,2,2]\n"
               "output \"y\"\n",
     .after = LAYER("w", "2, 3", "b", "1, 1", "", "c")
              "const \"bias\" float32[2] {5, 6}\n"
              "node \"plus\" ElementWiseAdd (\"c\", \"bias\") -> \"y\" float32[1,2,2,2]\n"
              "output \"y\"\n"},
    /* The padding of the image less what is cut off; blocks of 2 are a dilation of 2. */
    {.pass = "fold_dilation",
     .before = "graph \"g\" input \"x\" float32[1,6,6,3]\n"
               "const \"w\" float32[2,2,3,1] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12} const \"b\" float32[1] {7}\n"
               "node \"split\" SpaceToBatch (\"x\") {block_size=[2]{2, 2}, pad_amount=[2,2]{1, 1, 2, 0}}"
               " -> \"s\" float32[4,4,4,3]\n" BLOCKS(CONV_PARAMS, "float32[1,5,6,1]")
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[1,6,6,3]\n"
              "node \"split\" SpaceToBatch (\"x\") {block_size=[2]{2, 2}, pad_amount=[2,2]{1, 1, 2, 0}}"
              " -> \"s\" float32[4,4,4,3]\n" /* goes with remove_unread */
              "const \"w\" float32[2,2,3,1] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}\n"
              "const \"b\" float32[1] {7}\n"
              "node \"conv\" Conv2d (\"x\", \"w\", \"b\") {stride=[2]{1, 1}, pad_amount=[2,2]{0, 1, 2, 0}, group=1, "
              "dilation=[2]{2, 2}, padding_size_strategy=5} -> \"y\" float32[1,5,6,1]\n"
              "output \"y\"\n"},
    /* Factors of the channels: 2 · 4 and 3 · -1; 5 · 4 and 6 · -1. */
    {.pass = "fold_dilated_bias",
     .options = {.fold_bias = true},
     .before = LAYER("w", "2, 3", "b", "5, 6", "", "c")
               "const \"factors\" float32[2] {4, -1}\n"
               "node \"times\" ElementWiseMultiply (\"c\", \"factors\") -> \"y\" float32[1,2,2,2]\n"
               "output \"y\"\n",
     .after = LAYER("w.1", "8, -3", "b.1", "20, -6", "", "y") "output \"y\"\n"},
    /* 2 · 0.5 and 3 · -3; 1 · 0.5 + 1 and 1 · -3 + 0.25 */
    {.pass = "fold_batchnorm",
     .before = LAYER("w", "2, 3", "b", "1, 1", "", "c")
               "const \"factors\" float32[2] {0.5, -3} const \"offsets\" float32[2] {1, 0.25}\n"
               "node \"norm\" Batchnorm (\"c\", \"factors\", \"offsets\") -> \"y\" float32[1,2,2,2]\n"
               "output \"y\"\n",
     .after = LAYER("w.1", "1, -9", "b.1", "1.5, -2.75", "", "y") "output \"y\"\n"},
    /* A layer without a bias gets one that goes by the layer's name, and the normalization's own scale and offset. */
    {.pass = "fold_batchnorm",
     .before = LAYER_ALONE("2, 3", ", bias_op_name=\"\"", "c")
               "const \"factors\" float32[2] {0.5, -3} const \"offsets\" float32[2] {1, 0.25}\n"
               "node \"norm\" Batchnorm (\"c\", \"factors\", \"offsets\") {beta=[2]{7, 8}, gamma=[2]{-4, 9}}"
               " -> \"y\" float32[1,2,2,2]\n"
               "output \"y\"\n",
     .after = LAYER("w.1", "1, -9", "conv_bias", "1, 0.25",
                    ", bias_op_name=\"\", beta=[2]{7, 8}, gamma=[2]{-4, 9}", "y") "output \"y\"\n"},
    /* One that stays keeps nothing for a layer. */
    {.pass = "fold_batchnorm",
     .options = {.no_batchnorm_folding = true},
     .before = LAYER_ALONE("2, 3", "", "c")
               "const \"factors\" float32[2] {0.5, -3} const \"offsets\" float32[2] {1, 0.25}\n"
               "node \"norm\" Batchnorm (\"c\", \"factors\", \"offsets\") {beta=[2]{7, 8}, gamma=[2]{-4, 9}}"
               " -> \"y\" float32[1,2,2,2]\n"
               "output \"y\"\n",
     .after = LAYER_ALONE("2, 3", "", "c")
              "const \"factors\" float32[2] {0.5, -3}\nconst \"offsets\" float32[2] {1, 0.25}\n"
              "node \"norm\" Batchnorm (\"c\", \"factors\", \"offsets\") -> \"y\" float32[1,2,2,2]\n"
              "output \"y\"\n"},
    {.pass = "give_bias",
     .options = {.target_release = RELEASE(2, 20)},
     .before = LAYER_ALONE("2, 3", "", "y") "output \"y\"\n",
     .after = LAYER_ALONE("2, 3", "", "y") "output \"y\"\n"},
    /* One that there is stays; fully connected layers have none to miss. */
    {.pass = "give_bias",
     .options = {.target_release = RELEASE(2, 22)},
     .before = LAYER_ALONE("2, 3", "", "c")
               "const \"v\" float32[1,1,2,1] {4, 5} const \"b\" float32[1] {6}\n"
               "node \"next\" Conv2d (\"c\", \"v\", \"b\") " CONV_PARAMS " -> \"d\" float32[1,2,2,1]\n"
               "const \"m\" float32[3,4] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}\n"
               "node \"dense\" FullyConnected (\"d\", \"m\", -) -> \"y\" float32[1,3]\n"
               "output \"y\"\n",
     .after = LAYER("w", "2, 3", "conv_bias", "0, 0", "", "c")
              "const \"v\" float32[1,1,2,1] {4, 5}\nconst \"b\" float32[1] {6}\n"
              "node \"next\" Conv2d (\"c\", \"v\", \"b\") " CONV_PARAMS " -> \"d\" float32[1,2,2,1]\n"
              "const \"m\" float32[3,4] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}\n"
              "node \"dense\" FullyConnected (\"d\", \"m\", -) -> \"y\" float32[1,3]\n"
              "output \"y\"\n"},
    {.pass = "narrow_types",
     .before = "graph \"g\" input \"x\" int64[2]\n"
               "const \"one\" int64[1] {1}\n"
               "node \"a\" ElementWiseAdd (\"x\", \"one\") -> \"y\" int64[2]\n"
               "node \"b\" Cast (\"y\") -> \"z\" float64[2]\n"
               "output \"z\"",
     .after = "graph \"g\"\n"
              "input \"x\" int32[2]\n"
              "const \"one\" int32[1] {1}\n"
              "node \"a\" ElementWiseAdd (\"x\", \"one\") -> \"y\" int32[2]\n"
              "node \"b\" Cast (\"y\") -> \"z\" float32[2]\n"
              "output \"z\"\n"},
    {.pass = "narrow_types",
     .options = {.preserve_dtype = true},
     .before = "graph \"g\" input \"x\" int64[2]\n"
               "node \"a\" ElementWiseAdd (\"x\", \"x\") -> \"y\" int64[2]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" int64[2]\n"
              "node \"x.cast\" Cast (\"x\") -> \"x.cast\" int32[2]\n"
              "node \"a\" ElementWiseAdd (\"x.cast\", \"x.cast\") -> \"y.cast\" int32[2]\n"
              "node \"Cast\" Cast (\"y.cast\") -> \"y\" int64[2]\n"
              "output \"y\"\n"},
    {.pass = "remove_identity",
     .before = "graph \"g\" input \"x\" float32[1,2]\n"
               "node \"a\" Reshape (\"x\") {shape=[2]{1, 2}} -> \"y\" float32[1,2]\n"
               "node \"b\" Cast (\"y\") -> \"z\" float32[1,2]\n"
               "node \"c\" Relu (\"z\") -> \"r\" float32[1,2]\n"
               "node \"d\" Transpose (\"r\") {perm=[2]{0, 1}} -> \"out\" float32[1,2]\n"
               "output \"out\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[1,2]\n"
              "node \"c\" Relu (\"x\") -> \"out\" float32[1,2]\n"
              "output \"out\"\n"},
    /* An input that is an output stays a copy. */
    {.pass = "remove_identity",
     .before = "graph \"g\" input \"x\" float32[2]\n"
               "node \"a\" Reshape (\"x\") {shape=[1]{2}} -> \"y\" float32[2]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2]\n"
              "node \"a\" Reshape (\"x\") {shape=[1]{2}} -> \"y\" float32[2]\n"
              "output \"y\"\n"},
    /* A Where whose condition is always true gives back its first choice, unless the other one makes it larger. */
    {.pass = "remove_identity",
     .before = "graph \"g\" input \"x\" float32[2] input \"z\" float32[2,2]\n"
               "const \"all\" bool[2] {1, 1} const \"some\" bool[2] {1, 0}\n"
               "node \"a\" ElementWiseSelect (\"all\", \"x\", \"x\") -> \"y\" float32[2]\n"
               "node \"b\" Relu (\"y\") -> \"r\" float32[2]\n"
               "node \"c\" ElementWiseSelect (\"some\", \"x\", \"r\") -> \"u\" float32[2]\n"
               "node \"e\" Tanh (\"u\") -> \"t\" float32[2]\n"
               "node \"d\" ElementWiseSelect (\"all\", \"x\", \"z\") -> \"v\" float32[2,2]\n"
               "output \"t\" output \"v\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2]\n"
              "input \"z\" float32[2,2]\n"
              "node \"b\" Relu (\"x\") -> \"r\" float32[2]\n"
              "const \"some\" bool[2] {1, 0}\n"
              "node \"c\" ElementWiseSelect (\"some\", \"x\", \"r\") -> \"u\" float32[2]\n"
              "node \"e\" Tanh (\"u\") -> \"t\" float32[2]\n"
              "const \"all\" bool[2] {1, 1}\n"
              "node \"d\" ElementWiseSelect (\"all\", \"x\", \"z\") -> \"v\" float32[2,2]\n"
              "output \"t\"\n"
              "output \"v\"\n"},
    /* Three are one, called as the first; two that cancel out are none; one that is read twice stays. */
    {.pass = "merge_reshapes",
     .before = "graph \"g\" input \"x\" float32[2,3]\n"
               "node \"a\" Reshape (\"x\") {shape=[1]{6}} -> \"p\" float32[6]\n"
               "node \"b\" Reshape (\"p\") {shape=[3]{1, 3, 2}} -> \"q\" float32[1,3,2]\n"
               "node \"c\" Reshape (\"q\") {shape=[2]{3, 2}} -> \"y\" float32[3,2]\n"
               "node \"d\" Reshape (\"x\") {shape=[1]{6}} -> \"r\" float32[6]\n"
               "node \"e\" Reshape (\"r\") {shape=[2]{2, 3}} -> \"s\" float32[2,3]\n"
               "node \"f\" Relu (\"s\") -> \"z\" float32[2,3]\n"
               "node \"g\" Reshape (\"x\") {shape=[1]{6}} -> \"t\" float32[6]\n"
               "node \"h\" Reshape (\"t\") {shape=[2]{1, 6}} -> \"u\" float32[1,6]\n"
               "node \"i\" Relu (\"t\") -> \"v\" float32[6]\n"
               "output \"y\" output \"z\" output \"u\" output \"v\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2,3]\n"
              "node \"a\" Reshape (\"x\") {shape=[2]{3, 2}} -> \"y\" float32[3,2]\n"
              "node \"f\" Relu (\"x\") -> \"z\" float32[2,3]\n"
              "node \"g\" Reshape (\"x\") {shape=[1]{6}} -> \"t\" float32[6]\n"
              "node \"h\" Reshape (\"t\") {shape=[2]{1, 6}} -> \"u\" float32[1,6]\n"
              "node \"i\" Relu (\"t\") -> \"v\" float32[6]\n"
              "output \"y\"\n"
              "output \"z\"\n"
              "output \"u\"\n"
              "output \"v\"\n"},
    /* The forms in which exporters write the norm. */
    {.pass = "fuse_rms_norm",
     .options = {.target_release = RELEASE(2, 47)},
     .before = RMS_STEPS(SQUARE, SUM, RSQRT) RMS_END(TIMES_INVERSE, GAMMA, TIMES_GAMMA),
     .after = RMS_NORM("gamma")},
    {.pass = "fuse_rms_norm",
     .options = {.target_release = RELEASE(2, 48)},
     .before = RMS_STEPS("const \"two\" float32[1] {2}\nnode \"squares\" ElementWisePower (\"x\", \"two\")",
                         "node \"sum\" ElementWiseAdd (\"eps\", \"mean\")",
                         ROOT "const \"one\" float32[] {1}\n"
                         INVERSE("node \"inverse\" ElementWiseDivide (\"one\", \"root\")"))
               RMS_END("node \"n\" ElementWiseMultiply (\"inverse\", \"x\")", "[1,1,4] {1, 2, 3, 4}",
                       "node \"y\" ElementWiseMultiply (\"gamma\", \"n\")"),
     .after = RMS_NORM("gamma.1")},
    {.pass = "fuse_rms_norm",
     .options = {.target_release = RELEASE(2, 47)},
     .before = RMS_STEPS(SQUARE, SUM, ROOT)
               RMS_END("node \"n\" ElementWiseDivide (\"x\", \"root\")", GAMMA, TIMES_GAMMA),
     .after = RMS_NORM("gamma")},
    {.pass = "fuse_rms_norm",
     .options = {.target_release = RELEASE(2, 47)},
     .before = RMS_STEPS(SQUARE, SUM, ROOT INVERSE("node \"inverse\" ElementWiseReciprocal (\"root\")"))
               RMS_END(TIMES_INVERSE, GAMMA, TIMES_GAMMA),
     .after = RMS_NORM("gamma")},
    {.pass = "fuse_rms_norm",
     .options = {.target_release = RELEASE(2, 47)},
     .before = RMS_STEPS(SQUARE, SUM, "const \"minus half\" float32[1] {-0.5}\n"
                         INVERSE("node \"inverse\" ElementWisePower (\"shifted\", \"minus half\")"))
               RMS_END(TIMES_INVERSE, GAMMA, TIMES_GAMMA),
     .after = RMS_NORM("gamma")},
    /* An older release has no such operator. A step that is an output is one that someone wants, x ** 3 and x · z are
       no squares, and what differs from row to row is no gamma. */
    {.pass = "fuse_rms_norm",
     .options = {.target_release = RELEASE(2, 46)},
     .before = RMS_STEPS(SQUARE, SUM, RSQRT) RMS_END(TIMES_INVERSE, GAMMA, TIMES_GAMMA),
     .after = RMS_STEPS(SQUARE, SUM, RSQRT) RMS_END(TIMES_INVERSE, GAMMA, TIMES_GAMMA)},
    {.pass = "fuse_rms_norm",
     .options = {.target_release = RELEASE(2, 47)},
     .before = RMS_STEPS(SQUARE, SUM, RSQRT) RMS_END(TIMES_INVERSE, GAMMA, TIMES_GAMMA) "output \"mean\"\n",
     .after = RMS_STEPS(SQUARE, SUM, RSQRT) RMS_END(TIMES_INVERSE, GAMMA, TIMES_GAMMA) "output \"mean\"\n"},
    {.pass = "fuse_rms_norm",
     .options = {.target_release = RELEASE(2, 47)},
     .before = RMS_STEPS(PRODUCT_WITH_ANOTHER, SUM, RSQRT) RMS_END(TIMES_INVERSE, GAMMA, TIMES_GAMMA),
     .after = RMS_STEPS(PRODUCT_WITH_ANOTHER, SUM, RSQRT) RMS_END(TIMES_INVERSE, GAMMA, TIMES_GAMMA)},
    {.pass = "fuse_rms_norm",
     .options = {.target_release = RELEASE(2, 47)},
     .before = RMS_STEPS(CUBE, SUM, RSQRT)
               RMS_END(TIMES_INVERSE, GAMMA, TIMES_GAMMA),
     .after = RMS_STEPS(CUBE, SUM, RSQRT)
              RMS_END(TIMES_INVERSE, GAMMA, TIMES_GAMMA)},
    {.pass = "fuse_rms_norm",
     .options = {.target_release = RELEASE(2, 47)},
     .before = RMS_STEPS(SQUARE, SUM, RSQRT) RMS_END(TIMES_INVERSE, "[2,1] {1, 2}", TIMES_GAMMA),
     .after = RMS_STEPS(SQUARE, SUM, RSQRT) RMS_END(TIMES_INVERSE, "[2,1] {1, 2}", TIMES_GAMMA)},
    {.pass = "fold_softmax_factor",
     .before = SCALED("node \"by\" ElementWiseMultiply (\"c\", \"x\")", "Softmax (\"scaled\") {axis=1, beta=0.5}"),
     .after = SOFT("Softmax (\"x\")", "2")},
    {.pass = "fold_softmax_factor",
     .before = SCALED("node \"by\" ElementWiseDivide (\"x\", \"c\")", "LogSoftmax (\"scaled\") {axis=1, beta=1}"),
     .after = SOFT("LogSoftmax (\"x\")", "0.25")},
    /* A constant that is divided is no factor, and what a beta of 0 or less means is not ours to say. */
    {.pass = "fold_softmax_factor",
     .before = SCALED("node \"by\" ElementWiseDivide (\"c\", \"x\")", "Softmax (\"scaled\") {axis=1, beta=1}"),
     .after = SCALED("node \"by\" ElementWiseDivide (\"c\", \"x\")", "Softmax (\"scaled\") {axis=1, beta=1}")},
    {.pass = "fold_softmax_factor",
     .before = NEGATED,
     .after = NEGATED},
    {.pass = "promote_scalars",
     .before = "graph \"g\" input \"x\" float32[]\n"
               "const \"c\" float32[] {2}\n"
               "node \"a\" ElementWiseMultiply (\"x\", \"c\") -> \"y\" float32[]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[1]\n"
              "const \"c\" float32[1] {2}\n"
              "node \"a\" ElementWiseMultiply (\"x\", \"c\") -> \"y\" float32[1]\n"
              "output \"y\"\n"},
    {.pass = "quantize",
     .prepare = encode,
     .check = check_encodings,
     .before = "graph \"g\" input \"x\" float32[2]\n"
               "node \"a\" Quantize (\"x\") -> \"halves\" ufxp8[2]\n"
               "node \"b\" Dequantize (\"halves\") -> \"d\" float32[2]\n"
               "node \"c\" Sigmoid (\"d\") -> \"r\" float32[2]\n"
               "node \"e\" Quantize (\"r\") -> \"quarters\" ufxp8[2]\n"
               "node \"f\" Dequantize (\"quarters\") -> \"y\" float32[2]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2]\n"
              "node \"a\" Quantize (\"x\") -> \"halves\" ufxp8[2]\n"
              "node \"b\" Dequantize (\"halves\") -> \"d\" float32[2]\n"
              "node \"c\" Sigmoid (\"halves\") -> \"r\" ufxp8[2]\n"
              "node \"f\" Dequantize (\"r\") -> \"y\" float32[2]\n"
              "output \"y\"\n"},
    {.pass = "quantize",
     .options = {.keep_encodings = true},
     .prepare = scale_constant,
     .check = check_constant,
     .before = "graph \"g\" input \"x\" float32[2] const \"c\" float32[2] {3, -1}\n"
               "node \"a\" Quantize (\"x\") -> \"halves\" ufxp8[2]\n"
               "node \"b\" Quantize (\"x\") -> \"quarters\" ufxp8[2]\n"
               "node \"d\" ElementWiseMultiply (\"x\", \"c\") -> \"y\" float32[2]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2]\n"
              "node \"a\" Quantize (\"x\") -> \"halves\" ufxp8[2]\n"
              "node \"b\" Quantize (\"x\") -> \"quarters\" ufxp8[2]\n"
              "const \"c\" float32[2] {3, -1}\n"
              "node \"d\" ElementWiseMultiply (\"x\", \"c\") -> \"y\" float32[2]\n"
              "output \"y\"\n"},
    /* The Reshape moves the integers. */
    {.pass = "quantize",
     .prepare = encode,
     .check = check_encodings,
     .before = "graph \"g\" input \"x\" float32[2]\n"
               "node \"a\" Quantize (\"x\") -> \"halves\" ufxp8[2]\n"
               "node \"b\" Dequantize (\"halves\") -> \"d\" float32[2]\n"
               "node \"c\" Sigmoid (\"d\") -> \"r\" float32[2]\n"
               "node \"move\" Reshape (\"r\") {shape=[2]{1, 2}} -> \"m\" float32[1,2]\n"
               "node \"turn\" Transpose (\"m\") {perm=[2]{1, 0}} -> \"t\" float32[2,1]\n"
               "node \"e\" Quantize (\"t\") -> \"quarters\" ufxp8[2,1]\n"
               "node \"f\" Dequantize (\"quarters\") -> \"y\" float32[2,1]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2]\n"
              "node \"a\" Quantize (\"x\") -> \"halves\" ufxp8[2]\n"
              "node \"b\" Dequantize (\"halves\") -> \"d\" float32[2]\n"
              "node \"c\" Sigmoid (\"halves\") -> \"r\" ufxp8[2]\n"
              "node \"move\" Reshape (\"r\") {shape=[2]{1, 2}} -> \"m\" ufxp8[1,2]\n"
              "node \"turn\" Transpose (\"m\") {perm=[2]{1, 0}} -> \"t\" ufxp8[2,1]\n"
              "node \"f\" Dequantize (\"t\") -> \"y\" float32[2,1]\n"
              "output \"y\"\n"},
    {.pass = "remove_unread",
     .before = "graph \"g\" input \"x\" float32[2,3]\n"
               "node \"a\" Transpose (\"x\") {perm=[2]{1, 0}} -> \"unread\" float32[3,2]\n"
               "node \"b\" Relu (\"x\") -> \"y\" float32[2,3]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2,3]\n"
              "node \"b\" Relu (\"x\") -> \"y\" float32[2,3]\n"
              "output \"y\"\n"},
    {.pass = "report_encodings",
     .options = {.keep_encodings = true},
     .prepare = lose_encoding,
     .check = check_lost,
     .before = "graph \"g\" input \"x\" float32[2]\n"
               "node \"a\" Sigmoid (\"x\") -> \"halves\" float32[2]\n"
               "node \"b\" Tanh (\"x\") -> \"quarters\" float32[2]\n"
               "output \"quarters\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2]\n"
              "node \"b\" Tanh (\"x\") -> \"quarters\" float32[2]\n"
              "output \"quarters\"\n"},
    /* Nobody reads "w" any more, but "b". */
    {.pass = "restore_names",
     .prepare = want_names,
     .before = "graph \"g\" input \"x\" float32[2]\n"
               "const \"w\" float32[2] {1, 2} const \"folded\" float32[2] {3, 4}\n"
               "const \"b\" float32[2] {5, 6} const \"moved\" float32[2] {7, 8}\n"
               "node \"times\" ElementWiseMultiply (\"x\", \"folded\") -> \"p\" float32[2]\n"
               "node \"plus\" ElementWiseAdd (\"p\", \"moved\") -> \"q\" float32[2]\n"
               "node \"minus\" ElementWiseSubtract (\"q\", \"b\") -> \"y\" float32[2]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2]\n"
              "const \"w\" float32[2] {3, 4}\n"
              "node \"times\" ElementWiseMultiply (\"x\", \"w\") -> \"p\" float32[2]\n"
              "const \"moved\" float32[2] {7, 8}\n"
              "node \"plus\" ElementWiseAdd (\"p\", \"moved\") -> \"q\" float32[2]\n"
              "const \"b\" float32[2] {5, 6}\n"
              "node \"minus\" ElementWiseSubtract (\"q\", \"b\") -> \"y\" float32[2]\n"
              "output \"y\"\n"},
    {.pass = "set_axis_formats",
     .check = check_formats,
     .before = LAYER("w", "2, 3", "b", "5, 6", "", "y") "output \"y\"\n",
     .after = LAYER("w", "2, 3", "b", "5, 6", "", "y") "output \"y\"\n"},
    {.pass = "replace_natives",
     .prepare = replace_relu,
     .before = "graph \"g\" input \"x\" float32[2]\n"
               "node \"relu\" Relu (\"x\") -> \"r\" float32[2]\n"
               "node \"tanh\" Tanh (\"r\") -> \"y\" float32[2]\n"
               "output \"y\"",
     .after = "graph \"g\"\n"
              "input \"x\" float32[2]\n"
              "node \"relu\" own::Relu (\"x\") -> \"r\" float32[2]\n"
              "node \"tanh\" Tanh (\"r\") -> \"y\" float32[2]\n"
              "output \"y\"\n"},
    {.pass = "keep_declared_types",
     .prepare = declare_types,
     .before = LAYER("w", "2, 3", "b", "5, 6", "", "y") "output \"y\"\n",
     .after = LAYER("w", "2, 3", "b", "5, 6", ", bias_op_name=\"noted\"", "y") "output \"y\"\n"},
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
    options = (struct pass_options){.fold_bias = true, .dump_after = pass};
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
    context.keep_declared_types = (struct pass_hook){tear, "plus too"};
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
