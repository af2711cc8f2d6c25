/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a product whose depth was cut into parts. Options: types X, B and O; BIAS. */

/* Adds up the parts of each element, in order. */
kernel void sum(global const X *restrict parts, global const B *restrict bias, global O *restrict out,
                const gemm_shape s FOLLOW_PARAMS)
{
    const int i = get_global_id(0);
    if (i >= s.out_size)
        return;
    real total = LOAD(X, parts, i);
    for (int part = 1; part < s.parts; part++)
        total += LOAD(X, parts, part * s.out_size + i);
#ifdef BIAS
    total += LOAD(B, bias, i % s.bias_period);
#endif
    STORE(O, out, i, FOLLOWED(total, i));
}
