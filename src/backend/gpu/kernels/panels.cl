/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices without local memory, for processors whose work-items are loops: an item computes R rows of a panel of
 * the right operand, PANEL columns that lie together at each step of the depth. The windows of a convolution lie in the
 * image altogether. Options: types X, Y (of panels), B and O, R, PANEL, VECTOR; GATHER: x is an image; BIAS. */
#define VECTORS (PANEL / VECTOR)
#define VEC PASTE(REAL, VECTOR)
#define VLOAD(p) PASTE(convert_, VEC)(PASTE(vload, VECTOR)(0, (p)))
#define VSTORE PASTE(vstore, VECTOR)

#ifdef GATHER
#define WINDOW_PARAM , const window w
#else
#define WINDOW_PARAM
#endif

/* Sums of a run of the depth: from x, steps of `step`, and from the panel. */
static inline void add_run(global const X *x, const int *at, int step, global const Y *panel, int count,
                           VEC sums[R][VECTORS])
{
    for (int k = 0; k < count; k++) {
        VEC y[VECTORS];
        UNROLL for (int j = 0; j < VECTORS; j++)
            y[j] = VLOAD(panel + k * PANEL + j * VECTOR);
        UNROLL for (int i = 0; i < R; i++)
        {
            const real a = LOAD(X, x, at[i] + k * step);
            UNROLL for (int j = 0; j < VECTORS; j++)
                sums[i][j] = MULTIPLY_ADD((VEC)(a), y[j], sums[i][j]);
        }
    }
}

kernel void product(global const X *restrict x, global const Y *restrict y, global const B *restrict bias,
                    global O *restrict out, const gemm_shape s, const walk batches WINDOW_PARAM FOLLOW_PARAMS)
{
    const int panel = get_global_id(0), row_0 = get_global_id(1) * R, batch = get_global_id(2);
    int base[3], at[R];
    walk_to(&batches, batch, 3, base);
    y += base[1] + (size_t)panel * s.depth * PANEL;

    VEC sums[R][VECTORS];
    UNROLL for (int i = 0; i < R; i++)
    {
        const int row = min(row_0 + i, s.rows - 1); /* the last again, where there are no more */
#ifdef GATHER
        int corner[3];
        at[i] = base[0] + window_corner(&w, row, s.images, corner);
#else
        at[i] = base[0] + row * s.x_row;
#endif
        UNROLL for (int j = 0; j < VECTORS; j++)
            sums[i][j] = (VEC)(0);
    }
#ifdef GATHER
    taps tap = taps_at(&w, s.tap_depth, 0);
    for (int depth = 0; depth < s.depth; depth += s.tap_depth) {
        int from[R];
        UNROLL for (int i = 0; i < R; i++)
            from[i] = at[i] + taps_offset(&w, &tap);
        add_run(x, from, 1, y + (size_t)depth * PANEL, s.tap_depth, sums);
        taps_next(&w, &tap);
    }
#else
    add_run(x, at, s.x_step, y, s.depth, sums);
#endif

    UNROLL for (int i = 0; i < R; i++)
    {
        real values[PANEL];
        UNROLL for (int j = 0; j < VECTORS; j++)
            VSTORE(sums[i][j], 0, values + j * VECTOR);
        const int column_0 = panel * PANEL, row = row_0 + i;
        const int count = row < s.rows ? min(PANEL, s.columns - column_0) : 0;
        for (int j = 0; j < count; j++) {
            const int place = base[2] + row * s.out_row + column_0 + j;
            real v = values[j];
#ifdef BIAS
            v += LOAD(B, bias, batch * s.bias_batch + column_0 + j);
#endif
            STORE(O, out, place, FOLLOWED(v, place));
        }
    }
}
