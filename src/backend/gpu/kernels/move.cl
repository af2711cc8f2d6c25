/* SPDX-License-Identifier: Apache-2.0 */
/* Elements are brought from one place to another. */

kernel void move(global const X *x, global O *out, int count, walk w)
{
    const int i = get_global_id(0);
    int at[2];
    if (i >= count)
        return;
    walk_to(&w, i, 2, at);
    STORE(O, out, at[1], LOAD(X, x, at[0]));
}

/* As struct gpu_pads: the result is x inside of a border. */
typedef struct {
    int rank, scheme;
    int out[8], in[8], before[8], strides[8];
} pads;

/* The index of an axis of x that index `at` of the result less the border shows; -1: the constant. */
static inline int pad_source(int scheme, int at, int dim)
{
    if (at >= 0 && at < dim)
        return at;
    switch (scheme) {
    case 1: /* symmetric */
        return at < 0 ? -at - 1 : 2 * dim - 1 - at;
    case 2: /* reflect */
        return at < 0 ? -at : 2 * dim - 2 - at;
    case 3: /* edge */
        return at < 0 ? 0 : dim - 1;
    default:
        return -1;
    }
}

kernel void pad(global const X *x, global O *out, int count, global const X *constant_value, pads p)
{
    const int i = get_global_id(0);
    int place = 0, rest = i;
    if (i >= count)
        return;
    for (int axis = p.rank - 1; axis >= 0 && place >= 0; axis--) {
        const int before = rest / p.out[axis];
        const int at = pad_source(p.scheme, rest - before * p.out[axis] - p.before[axis], p.in[axis]);
        place = at < 0 ? -1 : place + at * p.strides[axis];
        rest = before;
    }
    STORE(O, out, i, place < 0 ? LOAD(X, constant_value, 0) : LOAD(X, x, place));
}

/* Element (before, index, behind) of the result is (before, indices[index], behind) of x, whose axis has `dim` indices;
 * negative ones count from its end. One outside of it is reported in `fault`. */
kernel void gather(global const X *x, global const Y *indices, global O *out, int count, int dim, int n_indices,
                   int behind, global int *fault, int step)
{
    const int i = get_global_id(0);
    if (i >= count)
        return;
    const int row = i / behind, before = row / n_indices;
    const long index = indices[row - before * n_indices];
    const long at = index < 0 ? index + dim : index;
    if (at < 0 || at >= dim)
        *fault = step;
    const int inside = at < 0 || at >= dim ? 0 : (int)at;
    STORE(O, out, i, LOAD(X, x, (before * dim + inside) * behind + i - row * behind));
}
