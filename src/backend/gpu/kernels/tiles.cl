/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices in tiles, and convolutions as such: the left operand's rows are then the windows of an image.
 *
 * A work-group computes ROWS x COLUMNS elements, DEPTH of the depth at a time in local memory, each work-item R x C of them in
 * registers. SLICES sets of work-items share the depth of a tile, each a piece of it; the first set adds their sums up, in
 * order. Options: types X, Y, B and O; X_RUN and Y_RUN (1 or 4: elements that are read together), X_ALONG and Y_ALONG
 * (which way these stand: 1 along the depth, 0 along rows or columns); GATHER: x is an image; BIAS; OUT_RUN (1 or 4: results that are written together); PARTS: results are
 * parts of sums, which parts.cl adds up. LANES: work-items that stand next to each other in a row of a warp. */
#define K_UNROLL 8 /* positions along the depth between jumps: more of them are built longer, and are hardly faster */
#define ITEMS_C (COLUMNS / C)
#define SLICE_ITEMS (ITEMS_C * (ROWS / R))
#define ITEMS (SLICE_ITEMS * SLICES)
#define LANE_ROWS (32 / LANES)
#define R_RUN (R < 4 ? R : 4)
#define C_RUN (C < 4 ? C : 4)
/* Rows of a tile are apart so that stores along the depth meet in few banks. */
#define X_PITCH (ROWS + (X_ALONG ? 4 : 0))
#define Y_PITCH (COLUMNS + (Y_ALONG ? 4 : 0))
#define X_LOADS (ROWS * DEPTH / X_RUN / ITEMS)
#define Y_LOADS (COLUMNS * DEPTH / Y_RUN / ITEMS)
#define X_SIZE (DEPTH * X_PITCH)
#define Y_SIZE (DEPTH * Y_PITCH)

/* Which elements of a tile of `rows` the item loads: the first, and how far the next is. */
#define FIRST_DEPTH(along, run, rows) ((along) ? item % (DEPTH / (run)) * (run) : item / ((rows) / (run)))
#define FIRST_ROW(along, run, rows) ((along) ? item / (DEPTH / (run)) : item % ((rows) / (run)) * (run))
#define NEXT_DEPTH(along, run, rows) ((along) ? 0 : ITEMS * (run) / (rows))
#define NEXT_ROW(along, run) ((along) ? ITEMS * (run) / DEPTH : 0)

#define RUN_TYPE(run) PASTE(run_, run)
typedef real run_1;
typedef real4 run_4;
#define LOAD_1(type, p, i) LOAD(type, p, i)
#define LOAD_4(type, p, i) LOAD4(type, p, i)
#define PUT_1(tile, pitch, along, depth, row, v) (tile)[(depth) * (pitch) + (row)] = (v)
#define PUT_4(tile, pitch, along, depth, row, v)                                                                       \
    if (along) {                                                                                                       \
        (tile)[(depth) * (pitch) + (row)] = (v).x;                                                                     \
        (tile)[((depth) + 1) * (pitch) + (row)] = (v).y;                                                               \
        (tile)[((depth) + 2) * (pitch) + (row)] = (v).z;                                                               \
        (tile)[((depth) + 3) * (pitch) + (row)] = (v).w;                                                               \
    } else                                                                                                             \
        *(local real4 *)&(tile)[(depth) * (pitch) + (row)] = (v)

/* The operands that a work-item multiplies: runs of R_RUN (C_RUN) elements of the tile's row. */
#define GET_RUN(tile, out, size, run, tile_rows, at)                                                                   \
    UNROLL for (int g = 0; g < (size) / (run); g++)                                                                    \
    {                                                                                                                  \
        local const real *from = (tile) + g * ((tile_rows) / ((size) / (run))) + (at) * (run);                          \
        if ((run) == 4) {                                                                                              \
            const real4 v = *(local const real4 *)from;                                                                \
            (out)[g * 4] = v.x, (out)[g * 4 + 1] = v.y, (out)[g * 4 + 2] = v.z, (out)[g * 4 + 3] = v.w;                \
        } else                                                                                                         \
            UNROLL for (int i = 0; i < (run); i++)(out)[g * (run) + i] = from[i];                                      \
    }

/* Results leave the kernel: parts as they are, sums with the bias and what follows. */
#if defined(PARTS)
#define BIASED(v, i) (v)
#define RESULT(v, place) (v)
#else
#ifdef BIAS
#define BIASED(v, i) ((v) + LOAD(B, bias, i))
#else
#define BIASED(v, i) (v)
#endif
#define RESULT(v, place) FOLLOWED(v, place)
#endif
#define RESULT_AT(at, bias_at, v, j) RESULT(BIASED((v)[j], (bias_at) + (j)), (at) + (j))
#if OUT_RUN == 4
#define PUT_OUT(at, bias_at, v)                                                                                        \
    {                                                                                                                  \
        const int place = at, bias_place = bias_at;                                                                    \
        const real four[4] = {(v)[0], (v)[1], (v)[2], (v)[3]};                                                         \
        STORE4(O, out, place,                                                                                          \
               ((real4)(RESULT_AT(place, bias_place, four, 0), RESULT_AT(place, bias_place, four, 1),                  \
                        RESULT_AT(place, bias_place, four, 2), RESULT_AT(place, bias_place, four, 3))));               \
    }
#else
#define PUT_OUT(at, bias_at, v)                                                                                        \
    {                                                                                                                  \
        const int place = at, bias_place = bias_at;                                                                    \
        STORE(O, out, place, RESULT_AT(place, bias_place, v, 0));                                                      \
    }
#endif
#ifdef GATHER
#define WINDOW_PARAM , const window w
#else
#define WINDOW_PARAM
#endif

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
product(global const X *restrict x, global const Y *restrict y, global const B *restrict bias,
        global O *restrict out, const gemm_shape s, const walk batches WINDOW_PARAM FOLLOW_PARAMS)
{
    local real tiles[2 * (X_SIZE + Y_SIZE)] __attribute__((aligned(32)));
    local real *const x_tile = tiles, *const y_tile = tiles + 2 * X_SIZE;
    const int item = get_local_id(0), slice = item / SLICE_ITEMS, in_slice = item % SLICE_ITEMS;
    const int lane = in_slice % 32, warp = in_slice / 32;
    const int item_c = warp % (ITEMS_C / LANES) * LANES + lane % LANES;
    const int item_r = warp / (ITEMS_C / LANES) * LANE_ROWS + lane / LANES;
    const int batch = get_group_id(2) / s.parts, part = get_group_id(2) % s.parts;
    const int column_0 = get_group_id(0) * COLUMNS, row_0 = get_group_id(1) * ROWS;
    const int begin = part * s.part_depth, end = min(s.depth, begin + s.part_depth);
    const int x_depth = FIRST_DEPTH(X_ALONG, X_RUN, ROWS), x_row = FIRST_ROW(X_ALONG, X_RUN, ROWS);
    const int y_depth = FIRST_DEPTH(Y_ALONG, Y_RUN, COLUMNS), y_column = FIRST_ROW(Y_ALONG, Y_RUN, COLUMNS);
    int base[3];
    walk_to(&batches, batch, 3, base);

    real sums[R][C];
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int j = 0; j < C; j++)
            sums[i][j] = 0;
    RUN_TYPE(X_RUN) x_run[X_LOADS];
    RUN_TYPE(Y_RUN) y_run[Y_LOADS];

#ifdef GATHER
    int corner[X_LOADS][3], origin[X_LOADS]; /* of each row's window */
    UNROLL for (int i = 0; i < X_LOADS; i++)
    {
        const int row = row_0 + x_row + i * NEXT_ROW(X_ALONG, X_RUN);
        origin[i] = base[0] + window_corner(&w, row, s.images, corner[i]);
    }
    taps at = taps_at(&w, s.tap_depth, begin + x_depth);
#define X_FETCH(depth_0)                                                                                               \
    {                                                                                                                  \
        const int offset = taps_offset(&w, &at);                                                                        \
        UNROLL for (int i = 0; i < X_LOADS; i++)                                                                       \
            x_run[i] = (depth_0) + x_depth < end && taps_are_inside(&w, &at, corner[i])                                  \
                           ? PASTE(LOAD_, X_RUN)(X, x, origin[i] + offset)                                             \
                           : (RUN_TYPE(X_RUN))(0);                                                                     \
        taps_advance(&w, s.tap_depth, &at, DEPTH);                                                                                  \
    }
#else
#define X_FETCH(depth_0)                                                                                               \
    UNROLL for (int i = 0; i < X_LOADS; i++)                                                                           \
    {                                                                                                                  \
        const int depth = (depth_0) + x_depth + i * NEXT_DEPTH(X_ALONG, X_RUN, ROWS);                                  \
        const int row = row_0 + x_row + i * NEXT_ROW(X_ALONG, X_RUN);                                                  \
        x_run[i] = depth < end && row < s.rows                                                                         \
                       ? PASTE(LOAD_, X_RUN)(X, x, base[0] + row * s.x_row + depth * s.x_step)                         \
                       : (RUN_TYPE(X_RUN))(0);                                                                         \
    }
#endif
#define Y_FETCH(depth_0)                                                                                               \
    UNROLL for (int i = 0; i < Y_LOADS; i++)                                                                           \
    {                                                                                                                  \
        const int depth = (depth_0) + y_depth + i * NEXT_DEPTH(Y_ALONG, Y_RUN, COLUMNS);                               \
        const int column = column_0 + y_column + i * NEXT_ROW(Y_ALONG, Y_RUN);                                         \
        y_run[i] = depth < end && column < s.columns                                                                   \
                       ? PASTE(LOAD_, Y_RUN)(Y, y, base[1] + column * s.y_column + depth * s.y_step)                   \
                       : (RUN_TYPE(Y_RUN))(0);                                                                         \
    }
#define PUT(which)                                                                                                     \
    UNROLL for (int i = 0; i < X_LOADS; i++)                                                                           \
    {                                                                                                                  \
        PASTE(PUT_, X_RUN)                                                                                             \
        (x_tile + (which) * X_SIZE, X_PITCH, X_ALONG, x_depth + i * NEXT_DEPTH(X_ALONG, X_RUN, ROWS),                              \
         x_row + i * NEXT_ROW(X_ALONG, X_RUN), x_run[i]);                                                              \
    }                                                                                                                  \
    UNROLL for (int i = 0; i < Y_LOADS; i++)                                                                           \
    {                                                                                                                  \
        PASTE(PUT_, Y_RUN)                                                                                             \
        (y_tile + (which) * Y_SIZE, Y_PITCH, Y_ALONG, y_depth + i * NEXT_DEPTH(Y_ALONG, Y_RUN, COLUMNS),                           \
         y_column + i * NEXT_ROW(Y_ALONG, Y_RUN), y_run[i]);                                                           \
    }

    X_FETCH(begin)
    Y_FETCH(begin)
    PUT(0)
    barrier(CLK_LOCAL_MEM_FENCE);
    int which = 0;
    for (int depth_0 = begin; depth_0 < end; depth_0 += DEPTH) {
        const bool more = depth_0 + DEPTH < end; /* the next tiles are on their way while these are multiplied */
        if (more) {
            X_FETCH(depth_0 + DEPTH)
            Y_FETCH(depth_0 + DEPTH)
        }
        local const real *const x_now = x_tile + which * X_SIZE + slice * (X_SIZE / SLICES);
        local const real *const y_now = y_tile + which * Y_SIZE + slice * (Y_SIZE / SLICES);
        UNROLL_BY(K_UNROLL) for (int k = 0; k < DEPTH / SLICES; k++)
        {
            real a[R], b[C];
            GET_RUN(x_now + k * X_PITCH, a, R, R_RUN, ROWS, item_r)
            GET_RUN(y_now + k * Y_PITCH, b, C, C_RUN, COLUMNS, item_c)
            UNROLL for (int i = 0; i < R; i++)
                UNROLL for (int j = 0; j < C; j++)
                    sums[i][j] = MULTIPLY_ADD(a[i], b[j], sums[i][j]);
        }
        if (more) {
            which ^= 1;
            PUT(which)
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }

#if SLICES > 1
    barrier(CLK_LOCAL_MEM_FENCE); /* the tiles are done with: sums lie there now */
    UNROLL for (int i = 0; i < R; i++)
        UNROLL for (int j = 0; j < C; j++)
            if (slice > 0)
                tiles[((slice - 1) * R * C + i * C + j) * SLICE_ITEMS + in_slice] = sums[i][j];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice > 0)
        return;
    for (int other = 0; other < SLICES - 1; other++)
        UNROLL for (int i = 0; i < R; i++)
            UNROLL for (int j = 0; j < C; j++)
                sums[i][j] += tiles[(other * R * C + i * C + j) * SLICE_ITEMS + in_slice];
#endif

    UNROLL for (int i = 0; i < R; i++)
    {
        const int row = row_0 + i / R_RUN * (ROWS / (R / R_RUN)) + item_r * R_RUN + i % R_RUN;
        if (row >= s.rows)
            continue;
        UNROLL for (int j = 0; j < C; j += OUT_RUN)
        {
            const int column = column_0 + j / C_RUN * (COLUMNS / (C / C_RUN)) + item_c * C_RUN + j % C_RUN;
            if (column < s.columns)
                PUT_OUT(part * s.out_size + base[2] + row * s.out_row + column,
                        batch * s.bias_batch + column, &sums[i][j])
        }
    }
}
