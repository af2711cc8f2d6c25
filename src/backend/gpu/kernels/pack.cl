/* SPDX-License-Identifier: Apache-2.0 */
/* What panels.cl computes with. Options: types X and O, PANEL. */

/* The right operand as panels; columns beyond the last are 0. */
kernel void pack(global const X *restrict y, global O *restrict out, const gemm_shape s, const walk batches,
                 const int count)
{
    const int at = get_global_id(0), depth = get_global_id(1), batch = get_global_id(2);
    const int panels = (s.columns + PANEL - 1) / PANEL, panel = at / PANEL, column = at % PANEL;
    int base[1];
    if (panel >= panels || depth >= s.depth || batch >= count)
        return;
    walk_to(&batches, batch, 1, base);
    const int place = ((batch * panels + panel) * s.depth + depth) * PANEL + column;
    STORE(O, out, place, at < s.columns ? LOAD(X, y, base[0] + at * s.y_column + depth * s.y_step) : (real)0);
}
