/* SPDX-License-Identifier: Apache-2.0 */
/* How an operator sees the order in which the axes of its operands are stored. Used where layouts are tracked
 * (src/pass) and where the driver asks for the layout that a tensor comes from. */
#ifndef OP_LAYOUT_H
#define OP_LAYOUT_H

#include "op/op.h"

/* How the axes of a tensor stand, as far as names and axis formats tell it. */
enum axis_order { ORDER_OTHER, ORDER_CHANNELS_FIRST, ORDER_CHANNELS_LAST };

/* What the name of a tensor ends in that is another one brought into that order for the sake of layout: "nhwc". */
static inline const char *order_suffix(enum axis_order order, uint32_t rank)
{
    static const char *const suffixes[][2] = {{"ncf", "nfc"}, {"nchw", "nhwc"}, {"ncdhw", "ndhwc"}};
    return order == ORDER_OTHER || rank < 3 || rank > 5 ? "perm" : suffixes[rank - 3][order == ORDER_CHANNELS_LAST];
}

/* The axis format of a tensor stored in that order; 0: there is none. */
static inline uint8_t order_format(enum axis_order order, uint32_t rank)
{
    static const uint8_t formats[][2] = {{AXIS_FORMAT_NCF, AXIS_FORMAT_NFC}, {AXIS_FORMAT_NCHW, AXIS_FORMAT_NHWC}};
    return order == ORDER_OTHER || rank < 3 || rank > 4 ? 0 : formats[rank - 3][order == ORDER_CHANNELS_LAST];
}

/* Whether input `input` of such a node has the axes that the operator's axis rule permutes. */
static inline bool carries_axes(const struct op *op, uint32_t input)
{
    return op->permute && (op->permuted == 0 || (input < 32 && op->permuted >> input & 1));
}

/* Whether the definition of a UDO node asks for that input in whatever order the input is stored. */
static inline bool takes_as_stored(const struct node *n, uint32_t input)
{
    return n->forms && n->forms->in[input].as_stored;
}

/* The same of an output: the node gives it in the order of the inputs. */
static inline bool gives_as_stored(const struct node *n, uint32_t output)
{
    return n->forms && n->forms->out[output].as_stored;
}

/* The order that a Transpose for layout leads to. */
static inline enum axis_order order_led_to(const struct node *transpose, const struct perm *perm)
{
    const struct perm last = perm_channels_last(perm->rank);
    if (!transpose->layout_only)
        return ORDER_OTHER;
    return !transpose->to_first && perm_equal(perm, &last) ? ORDER_CHANNELS_LAST : ORDER_CHANNELS_FIRST;
}

/* Whether the permutation moves the channels of a tensor of rank 3 or more from axis 1 to the last one. */
static inline bool is_channels_last(const struct perm *perm)
{
    struct perm last = perm_channels_last(perm->rank);
    return perm->rank >= 3 && perm_equal(perm, &last);
}

#endif
