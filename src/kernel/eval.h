/* Executing a node with its row's reference kernel. */
#ifndef KERNEL_EVAL_H
#define KERNEL_EVAL_H

#include "op/op.h"

/* Runs the kernel: in/out buffers have the node's own dtypes and shapes; conversion to what the kernel wants and back
 * happens here. Outputs' data must be allocated. ODLC_ERR_UNSUPPORTED when the row has no kernel. */
odlc_status eval_node(const struct node *n, const struct buffer *in, struct buffer *out, struct arena *scratch,
                      struct diags *diags) MUST_USE;

/* The encoding of element i of a buffer that has encodings; per-axis ones follow their axis. */
const struct encoding *buffer_encoding(const struct buffer *b, uint64_t i);
/* The elements as floats, doubles or int64 (`to`), dequantized where the buffer has encodings; in scratch, or the
 * buffer itself when nothing changes. */
struct buffer buffer_widen(const struct buffer *b, enum dtype to, struct arena *scratch);
/* The way back: fills b->data from a wide buffer of the same shape, quantizing (saturating) where b has encodings. */
void buffer_narrow(const struct buffer *wide, struct buffer *b);

#endif
