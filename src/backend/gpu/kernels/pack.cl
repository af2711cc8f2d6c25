/* What panels.cl computes with. Options: type X, PANEL. */

/* The right operand as panels; columns beyond the last are 0. */
kernel void pack(global const X *restrict y, global float *restrict out, const product_shape s, const walk batches,
                 const int count)
{
    const int at = get_global_id(0), depth = get_global_id(1), batch = get_global_id(2);
    const int panels = (s.columns + PANEL - 1) / PANEL, panel = at / PANEL, column = at % PANEL;
    int base[1];
    if (panel >= panels || depth >= s.depth || batch >= count)
        return;
    walk_to(&batches, batch, 1, base);
    out[((batch * panels + panel) * s.depth + depth) * PANEL + column] =
        at < s.columns ? convert_float(LOAD(X, y, base[0] + at * s.y_column + depth * s.y_step)) : 0.0f;
}
