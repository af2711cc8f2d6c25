/* SPDX-License-Identifier: Apache-2.0 */
/* Images of other extents. Each place of the result takes from some places along each axis, by tables. */

/* As struct gpu_tables: place p of an axis takes elements first + p * width and on of the tables. */
typedef struct {
    int in[3], out[3], width[3], first[3], channels;
} tables;

/* The place of the result in each axis; gives the batch. */
static inline int tables_at(const tables *t, int place, int *at)
{
    for (int axis = 2; axis >= 0; axis--) {
        const int before = place / t->out[axis];
        at[axis] = t->first[axis] + (place - before * t->out[axis]) * t->width[axis];
        place = before;
    }
    return place;
}

#ifdef KERNEL_resize
kernel void resize(global const X *x, global O *out, int count, global const int *indices, global const number *weights,
                   tables t FOLLOW_PARAMS)
{
    const int i = get_global_id(0);
    int at[3];
    if (i >= count)
        return;
    const int channel = i % t.channels, batch = tables_at(&t, i / t.channels, at);
    real sum = 0;
    for (int a = at[0]; a < at[0] + t.width[0]; a++)
        for (int b = at[1]; b < at[1] + t.width[1]; b++)
            for (int c = at[2]; c < at[2] + t.width[2]; c++) {
                const int row = (batch * t.in[0] + indices[a]) * t.in[1] + indices[b];
                const int place = (row * t.in[2] + indices[c]) * t.channels + channel;
                const real weight = TO_REAL(weights[a]) * TO_REAL(weights[b]) * TO_REAL(weights[c]);
                if (weight != 0)
                    sum += weight * LOAD(X, x, place);
            }
    STORE(O, out, i, FOLLOWED(sum, i));
}
#endif

/* Elements are moved. */
#ifdef KERNEL_resize_nearest
kernel void resize_nearest(global const X *x, global O *out, int count, global const int *indices, tables t FOLLOW_PARAMS)
{
    const int i = get_global_id(0);
    int at[3];
    if (i >= count)
        return;
    const int channel = i % t.channels, batch = tables_at(&t, i / t.channels, at);
    const int row = (batch * t.in[0] + indices[at[0]]) * t.in[1] + indices[at[1]];
    STORE(O, out, i, FOLLOWED(LOAD(X, x, (row * t.in[2] + indices[at[2]]) * t.channels + channel), i));
}
#endif
