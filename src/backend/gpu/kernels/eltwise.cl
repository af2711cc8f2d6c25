/* SPDX-License-Identifier: Apache-2.0 */
/* Element-wise functions: followers of an operand that is loaded, or of a function of two that are broadcast. */

kernel void map(global const X *x, global O *out, int count FOLLOW_PARAMS)
{
    const int i = get_global_id(0);
    if (i < count)
        STORE(O, out, i, FOLLOWED(LOAD(X, x, i), i));
}

/* Operands of any broadcast. */
kernel void spread(global const X *x, global const Y *y, global O *out, int count, int code, walk w FOLLOW_PARAMS)
{
    const int i = get_global_id(0);
    int at[2];
    if (i >= count)
        return;
    walk_to(&w, i, 2, at);
    STORE(O, out, i, FOLLOWED(combine(code, LOAD(X, x, at[0]), LOAD(Y, y, at[1])), i));
}

/* Elements of x where the condition holds, else of y. */
kernel void choose(global const flag *condition, global const X *x, global const Y *y, global O *out, int count, walk w)
{
    const int i = get_global_id(0);
    int at[3];
    if (i >= count)
        return;
    walk_to(&w, i, 3, at);
    STORE(O, out, i, condition[at[0]] ? LOAD(X, x, at[1]) : LOAD(Y, y, at[2]));
}
