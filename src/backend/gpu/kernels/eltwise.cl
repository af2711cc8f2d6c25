/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise functions: followers of an operand that is loaded, or of a function of two that are broadcast. */

#ifdef KERNEL_map
kernel void map(global const X *x, global O *out, int count FOLLOW_PARAMS)
{
    const int i = get_global_id(0);
    if (i < count)
        STORE(O, out, i, FOLLOWED(LOAD(X, x, i), i));
}
#endif

/* Operands of any broadcast. The function is compiled in with -DCODE. */
#ifndef CODE
#define CODE code
#endif

#ifdef KERNEL_spread
kernel void spread(global const X *x, global const Y *y, global O *out, int count, int code, walk w FOLLOW_PARAMS)
{
    const int i = get_global_id(0);
    int at[2];
    if (i >= count)
        return;
    walk_to(&w, i, 2, at);
    STORE(O, out, i, FOLLOWED(combine(CODE, LOAD(X, x, at[0]), LOAD(Y, y, at[1])), i));
}
#endif

/* Elements of x where the condition holds, else of y. */
#ifdef KERNEL_choose
kernel void choose(global const flag *condition, global const X *x, global const Y *y, global O *out, int count, walk w)
{
    const int i = get_global_id(0);
    int at[3];
    if (i >= count)
        return;
    walk_to(&w, i, 3, at);
    STORE(O, out, i, condition[at[0]] ? LOAD(X, x, at[1]) : LOAD(Y, y, at[2]));
}
#endif
