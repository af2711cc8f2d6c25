/* SPDX-License-Identifier: Apache-2.0 */
/* What an op gives, and findings about that: of kernels of each core alike. */
#ifndef TRIAL_OUTPUTS_H
#define TRIAL_OUTPUTS_H

#include "kernel/buffer.h"
#include "trial/contained.h"

/* Outputs whose bytes lie one after the other in what follows; dtype DT_NONE: an absent one, of no bytes. */
struct outputs {
    const struct buffer *list;
    uint32_t count;
    const char *label; /* of the made node, in findings */
};

/* What outputs hold before an execution, so that it shows what is not written. */
enum { FILL_A = 0xA5, FILL_B = 0x5A };

uint64_t outputs_size(const struct outputs *o);
/* "element 3 of output 0", for a byte of them. */
const char *outputs_place(struct arena *arena, const struct outputs *o, uint64_t byte);

/* Whether two executions gave the same bytes; if not that is noted: "gives another result <what>: …". */
bool outputs_same(struct contained *c, struct arena *arena, const struct outputs *o, const uint8_t *first,
                  const uint8_t *second, const char *what);
/* Notes what was not written, or read before it was: a and b are the bytes after executions on outputs that held FILL_A
 * and FILL_B, first those of one on zeros. */
void outputs_compare_fills(struct contained *c, struct arena *arena, const struct outputs *o, const uint8_t *first,
                           const uint8_t *a, const uint8_t *b);

/* How far an element may be from what is expected: times its size where that is above 1, or as it is. */
struct tolerance {
    double most;
    bool is_absolute;
};

/* Notes kernel-differs where output number `output` is not what `with` ("native operator Relu") gives, and the largest
 * difference. */
void outputs_compare(struct contained *c, struct arena *arena, const struct outputs *o, uint32_t output,
                     const struct buffer *expected, const struct buffer *found, struct tolerance tolerance,
                     const char *with);

/* Says in c, where nothing says so yet, whether NaN, an infinity and a denormal number come to output 0 of the node
 * with that label. results: executes with `value` in the place of the first element; NULL: there is none, or no
 * float32. */
void outputs_try_odd_numbers(struct contained *c, const char *label,
                             const float *(*results)(void *user, float value, uint64_t *count), void *user);

#endif
