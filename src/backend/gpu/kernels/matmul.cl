/* Products of matrices, and what follows them. */

/* Element (row, column) of product `batch`: rows of the left operand are `x_row` apart, its elements `x_step`; columns of
 * the right one `y_column`, their elements `y_step`. */
kernel void product(global const X *x, global const Y *y, global const B *bias, global O *out, int rows, int columns,
                    int depth, int x_row, int x_step, int y_column, int y_step, int has_bias, int count, walk batches FOLLOW_PARAMS)
{
    const int column = get_global_id(0), row = get_global_id(1), batch = get_global_id(2);
    int at[2];
    if (column >= columns || row >= rows || batch >= count)
        return;
    walk_to(&batches, batch, 2, at);
    at[0] += row * x_row;
    at[1] += column * y_column;
    real sum = 0;
    for (int k = 0; k < depth; k++)
        sum += LOAD(X, x, at[0] + k * x_step) * LOAD(Y, y, at[1] + k * y_step);
    if (has_bias)
        sum += LOAD(B, bias, column);
    const int i = (batch * rows + row) * columns + column;
    STORE(O, out, i, FOLLOWED(sum, i));
}
