/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the quantizer. */
#ifndef QUANTIZE_QUANTIZER_H
#define QUANTIZE_QUANTIZER_H

#include "encoding/encoding_file.h"
#include "quantize/quant_calibrators.h"
#include "runtime/executor.h"

/* What a tensor is to the quantizer. Of a constant with several readers it is the greatest. */
enum quant_role {
    ROLE_NONE,    /* it stays what it is */
    ROLE_WEIGHTS, /* parameters of a layer */
    ROLE_CONSTANT,
    ROLE_BIAS,
    ROLE_ACTIVATION
};

#define NO_AXIS UINT32_MAX

struct quant_item {
    uint8_t role;              /* enum quant_role */
    uint8_t bits;              /* of its integers */
    uint32_t axis;             /* which has an encoding per index; NO_AXIS: one encoding */
    tensor_id as;              /* whose encoding the tensor has: itself, for most */
    const struct quant *quant; /* NULL: not known yet */
    bool given;                /* … because it is from outside */
    bool sized;                /* its width is from outside, the range is not */
    bool whole;                /* a file says that ops compute it in Int_32 */
    bool is_seen;              /* the range is one of values */
    double min, max;
    struct histogram *histogram;  /* of what was observed; NULL where none is needed */
    const struct node *masked_by; /* puts masks among scores that Softmax alone reads; NULL: nothing does */
    uint64_t row;                 /* … of so many elements at most */
    bool keeps_type;              /* an input or output of the graph that the options name */
    uint8_t float_bits;           /* a file says that the tensor is to be a float of so many; 0: none does */
    /* Of a constant: */
    const struct view *floats;  /* its values; NULL: it is not encoded */
    const struct view *bounded; /* … with the farthest floats for infinities; NULL: it has none */
    const struct view *encoded; /* what its integers are made of: these values, or better ones */
    const struct view *reals;   /* what stands for them */
    uint8_t *integers;          /* … which are these … */
    enum dtype stored;          /* … of this type */
    bool is_restricted;         /* … from options.least_step to greatest_step, with zero between */
};

struct quantizer {
    struct arena *arena, *scratch;
    struct diags *diags;
    const char *path;
    const struct quantize_options *options;
    const struct dlc_file *dlc;
    struct graph *g;
    struct uses uses;
    struct dlc_write_options writing;
    bool is_half;             /* the container has floats of 16 bits */
    struct quant_item *items; /* per tensor */
    uint8_t *floats;          /* per node: the bits of the floats that the node computes with; 0: of fixed-point */
    size_t n_nodes;           /* of the container */
    bool *whole;              /* per node: it computes in Int_32 */
    uint8_t **udo_bits;       /* per node of a package: of each input, then output: the width; 0: a float. Else NULL */
    struct encoding_file *file; /* what is given from outside; NULL: nothing is */
    struct executor *executor;
    bool *is_given;                        /* per tensor: an input that has values for the next observation */
    const struct odlc_diag *place;         /* of the observation at work */
    size_t observed;                       /* observations */
    size_t unrestricted;                   /* weights that options.least_step and greatest_step are not for */
    struct quant_improvement *improvement; /* at work, or done (quant_improve.c); NULL: neither */
};

/* Decides what each tensor is, and whose encoding it has (quant_roles.c). */
odlc_status quant_assign(struct quantizer *q) MUST_USE;
/* The file of encodings, if there is one (quant_given.c). */
odlc_status quant_read_file(struct quantizer *q) MUST_USE;
/* The encodings that are given: the container's, and over them those of the file (quant_given.c). */
odlc_status quant_take_given(struct quantizer *q) MUST_USE;
/* Floats of 16 bits are ones of 32 until the graph is rewritten (quant_floats.c). */
void quant_widen_halves(struct quantizer *q);
/* What user-defined ops take and give (quant_udo.c). */
odlc_status quant_read_udos(struct quantizer *q) MUST_USE;
/* Errors for the ops of packages, where there are none. */
odlc_status quant_need_packages(const struct quantizer *q) MUST_USE;
/* The widths of their results and constants, where roles are assigned. */
void quant_size_udos(struct quantizer *q);
/* Decides by the options and the file which nodes compute in floats (quant_floats.c). */
odlc_status quant_choose_floats(struct quantizer *q) MUST_USE;
/* The node computes in floats of that many bits, unless that was said before. To be called before roles are assigned.
 */
void quant_keep_float(struct quantizer *q, node_id id, uint32_t bits);
/* Something has to be given where the rest is to be float. */
odlc_status quant_check_fallback(const struct quantizer *q) MUST_USE;
/* Nodes that need a range that nothing gives compute in floats from now on; whether there were any. */
bool quant_fall_back(struct quantizer *q);
/* Tensors that only nodes in floats read and give have no role. */
void quant_leave_floats(struct quantizer *q);
/* The bits of the floats as which input i of the node is read; 0: fixed-point. */
uint32_t quant_wanted_bits(const struct quantizer *q, node_id id, uint32_t i);
/* The bits of the floats that the tensor is of; 0: fixed-point, or no real at all. */
uint32_t quant_float_bits(const struct quantizer *q, tensor_id id);
/* Whether the graph input or output is to keep its type. */
bool quant_keeps_io(const struct quantizer *q, tensor_id id);
/* What an option does to the nodes that it names: whether that changes one. */
typedef bool quant_take_fn(struct quantizer *q, node_id id);
struct quant_naming {
    const char *option, *rule; /* of diagnostics */
    quant_take_fn *take;
    const char *lack; /* why a name changes nothing, where it does not */
};
/* For the nodes of these names, or of ops of these types. ODLC_ERR_USAGE: a name is none of both. */
odlc_status quant_each_named(struct quantizer *q, const struct quant_naming *naming, const char *const *names,
                             size_t count) MUST_USE;

/* Widths (quant_widths.c). The nodes of options.widen and options.widen_weights get theirs. Fails as
 * quant_each_named. */
odlc_status quant_widen_named(struct quantizer *q) MUST_USE;
/* Constants that are no parameters get the greatest width of those that read them. */
void quant_size_constants(struct quantizer *q);
/* The bits in which the node reads its fixed-point input i. */
uint32_t quant_read_width(const struct quantizer *q, node_id at, uint32_t i);
/* The tensor's encoding in so many bits, once ranges are known: its own where it has these, or one per channel; NULL:
 * it has none. From 8 to 16 bits every integer stands for the same real as before, but for the scale's rounding to
 * float32. */
const struct quant *quant_of_width(struct quantizer *q, tensor_id id, uint32_t bits);
/* Decides which nodes compute in Int_32, when all that is given is known; constants of theirs alone have no role. */
void quant_choose_whole(struct quantizer *q);
/* After the rewriting: errors for such nodes whose ops do not take Int_32. */
odlc_status quant_check_whole(struct quantizer *q) MUST_USE;
/* Whether a node that computes in Int_32 reads or gives the tensor; whether it is a constant that only such ones read.
 */
bool quant_meets_whole(const struct quantizer *q, tensor_id id);
bool quant_is_only_whole(const struct quantizer *q, tensor_id id);
/* Ops (quant_ops.c). Whether the op cuts its operand off, and changes nothing else; whether each real of its results is
 * one of its first operand, between two of them, or zero. */
bool quant_is_clamp(const struct node *n);
bool quant_is_mover(const struct node *n);
/* What input i is of an op, where it is a constant. */
enum quant_role quant_role_of(const struct op *op, uint32_t input);

/* Masks (quant_masks.c). Finds the tensors that Softmax alone reads and that may be masked, when it is known which
 * tensors share encodings. */
void quant_find_masked(struct quantizer *q);
/* Those of the values that are no masks: the values themselves, or a copy on the scratch arena; *count becomes theirs.
 */
const float *quant_scores(const struct quantizer *q, const struct quant_item *item, const float *values,
                          uint64_t *count);
/* How far the range of scores is to reach below them, once ranges are known; 0: nothing masks them. */
double quant_mask_margin(const struct quantizer *q, const struct quant_item *item);

/* Encodings that rules fix (quant_fixed.c): of what Softmax, Sigmoid and Tanh give; of weights, by the options' steps,
 * where these are of the item's encoding. */
void quant_fix_ranges(struct quantizer *q);
void quant_restrict_steps(struct quantizer *q, struct quant_item *item);
/* 32-bit biases get the product of the scales of what is multiplied, when all ranges are known (quant_bias.c). Fails as
 * quant_encode_constant. */
odlc_status quant_multiply_scales(struct quantizer *q) MUST_USE;

/* Makes the graph one of fixed-point tensors, and of those that stay float (quant_rewrite.c). */
void quant_rewrite(struct quantizer *q);
/* Encodings and integers of constants, which stand for these from now on (quant_constants.c). */
odlc_status quant_encode_constants(struct quantizer *q) MUST_USE;
/* The same for one, of the values that it has now. */
odlc_status quant_encode_constant(struct quantizer *q, tensor_id id) MUST_USE;
/* Other integers of what one was encoded of, by other encodings. Fails as quant_encode_constant. */
odlc_status quant_encode_again(struct quantizer *q, tensor_id id, const struct quant *quant) MUST_USE;
/* The least and the greatest integer that a constant may have by one of its encodings. */
void quant_integers_range(const struct quantizer *q, const struct quant_item *item, const struct encoding *e,
                          double *low, double *high);

/* Whether the range of a tensor has to be observed. */
bool quant_is_unknown(const struct quantizer *q, tensor_id id);
/* Makes the histogram of such a tensor where it takes one and has none. */
void quant_prepare_histogram(struct quantizer *q, tensor_id id);
/* Says which tensors were zero whenever they were observed. */
void quant_note_zeros(const struct quantizer *q);
/* Whether encodings of the tensor are made of a histogram, too. */
bool quant_takes_histogram(const struct quantizer *q, const struct quant_item *item);
/* The encoding of values of that range by the options for the tensor's role, with numbers that a container can hold;
 * histogram NULL: none is taken. */
struct encoding quant_encoding(const struct quantizer *q, const struct quant_item *item, struct quant_range seen,
                               const struct histogram *histogram);
/* The encoding that the tensor has, or shares, once ranges are known; NULL: it has no range. */
const struct quant *quant_encoded(struct quantizer *q, tensor_id id);
/* The fixed-point type of the integers of encodings. */
enum dtype quant_type(const struct quant *quant);
/* Improvements that go by observations (quant_improve.c). Layers without a bias get one of zeros, where biases are to
 * be corrected, before anything is known of the graph. */
void quant_give_biases(struct quantizer *q);
/* Whether what is observed is for improvements. */
bool quant_is_improving(const struct quantizer *q);
/* Computes the graph for these. Fails as quantizer_observe. */
odlc_status quant_improve_observe(struct quantizer *q) MUST_USE;
/* ODLC_ERR_USAGE: improvements are wanted, and nothing was observed for them. */
odlc_status quant_check_improved(const struct quantizer *q) MUST_USE;

/* The nearest integer, ties to even, of a number below 2^51, as rint gives it, but in loops that the compiler
 * vectorizes: the sum has no room for digits behind the point. */
static inline double quant_nearest(double value)
{
    const double shift = 0x1.8p52;
    return (value + shift) - shift;
}

/* The error of a value that is none; of the observation at work. */
odlc_status quant_not_finite(struct quantizer *q, tensor_id id, const float *values, size_t bad);
/* The range [*min, *max] is widened to have the values; false where one is not finite: *bad is its index. */
bool quant_widen(const float *values, size_t count, double *min, double *max, size_t *bad);

#endif
