/* Sliding patches of an image, and patches put back to one: ExtractPatches, Col2Im. Channels are last. */
#include <string.h>

#include "op/families.h"
#include "op/rules.h"
#include "kernel/nd_iterate.h"
#include "op/window.h"

/* The windows over the output image, which is [batch, height, width, channels]; the geometry's `out` counts them. */
static const char *read_patches(struct window *w, const struct node *n, const struct shape *x, const struct shape *y)
{
    uint32_t count;
    const int64_t *kernel = node_ints(n, PARAM_kernel_size, &count);
    if (!kernel || count != 2 || x->rank != 3 || y->rank != 4 || y->dims[0] != x->dims[0])
        return "the input, the output and kernel_size do not fit";
    const char *wrong = window_read(w, n, y, kernel);
    if (!wrong)
        wrong = window_count(w, false);
    if (wrong)
        return wrong;
    int64_t patches = w->axis[1].out * w->axis[2].out, taps, rows;
    if (ckd_mul(&taps, kernel[0], kernel[1]) || ckd_mul(&rows, taps, w->channels) || rows != x->dims[1] ||
        patches != x->dims[2])
        return "the patches do not fit the image";
    return NULL;
}

static odlc_status infer_col2im(const struct infer *c)
{
    const struct type *x = infer_in(c, 0), *known = infer_known_output(c);
    struct window w;
    if (!known)
        return infer_error(c, "the size of the output is not known");
    if (x->dtype == DT_STRING || x->dtype == DT_BOOL)
        return infer_error(c, "elements of type %s cannot be added", dtype_info(x->dtype)->name);
    const char *wrong = read_patches(&w, c->node, &x->shape, &known->shape);
    if (wrong)
        return infer_error(c, "%s (input %s, image %s)", wrong, shape_text(c->diags->arena, &x->shape),
                           shape_text(c->diags->arena, &known->shape));
    c->out[0] = (struct type){x->dtype, known->shape};
    return ODLC_OK;
}

/* Adds one tap of one channel of all patches to an image; `from` holds the patches' values in turn. */
#define ADD_TAP(name, type, sum)                                                                      \
    static void name(const struct window *w, int64_t row, int64_t column, const type *from, type *to) \
    {                                                                                                 \
        const struct window_axis *v = &w->axis[1], *h = &w->axis[2];                                  \
        for (int64_t i = 0; i < v->out; i++)                                                          \
            for (int64_t j = 0; j < h->out; j++, from++) {                                            \
                int64_t y = i * v->stride + row * v->dilation - v->pad_before;                        \
                int64_t x = j * h->stride + column * h->dilation - h->pad_before;                     \
                if (y < 0 || y >= v->in || x < 0 || x >= h->in)                                       \
                    continue;                                                                         \
                type *at = to + (y * h->in + x) * w->channels;                                        \
                *at = sum(*at, *from);                                                                \
            }                                                                                         \
    }

static double add_real(double a, double b)
{
    return a + b;
}

ADD_TAP(add_reals, double, add_real)
ADD_TAP(add_wholes, int64_t, wrap_add)

static odlc_status kernel_col2im(const struct kernel *k)
{
    struct window w;
    if (read_patches(&w, k->node, &k->in[0].shape, &k->out[0].shape))
        return ODLC_ERR_INVALID;
    bool real = k->out[0].dtype == DT_FLOAT64;
    if (k->in[0].dtype != k->out[0].dtype || (!real && k->out[0].dtype != DT_INT64))
        return ODLC_ERR_UNSUPPORTED;
    size_t patches = (size_t)k->in[0].shape.dims[2], from = 0, to = 0;
    memset(k->out[0].data, 0, shape_count(&k->out[0].shape) * sizeof(double));
    for (int64_t b = 0; b < w.batch; b++, to += (size_t)(w.axis[1].in * w.axis[2].in * w.channels))
        for (int64_t c = 0; c < w.channels; c++)
            for (int64_t tap = 0; tap < window_taps(&w); tap++, from += patches) {
                int64_t row = tap / w.axis[2].filter, column = tap % w.axis[2].filter;
                size_t at = to + (size_t)c;
                if (real)
                    add_reals(&w, row, column, (const double *)k->in[0].data + from, (double *)k->out[0].data + at);
                else
                    add_wholes(&w, row, column, (const int64_t *)k->in[0].data + from, (int64_t *)k->out[0].data + at);
            }
    return ODLC_OK;
}

/* ---- ExtractPatches ---- */

enum { PADDING_VALID, PADDING_SAME };

/* An axis of the geometry by the param `padding`; an amount more at the end than before where it is odd. */
static const char *extract_axis(struct window_axis *a, bool same)
{
    int64_t reach = (a->filter - 1) * a->dilation + 1;
    if (!same && reach > a->in)
        return "the patches are larger than the image";
    a->out = same ? (a->in + a->stride - 1) / a->stride : (a->in - reach) / a->stride + 1;
    int64_t padding = same ? max_i64((a->out - 1) * a->stride + reach - a->in, 0) : 0;
    a->pad_before = padding / 2;
    a->pad_after = padding - a->pad_before;
    return NULL;
}

static const char *read_extract(struct window *w, const struct node *n, const struct shape *x)
{
    static const enum param_id params[] = {PARAM_size, PARAM_stride, PARAM_rate};
    const int64_t *lists[COUNT_OF(params)];
    int64_t padding = node_int(n, PARAM_padding, -1);
    if (x->rank != 4)
        return "the input does not have 4 axes";
    if (padding != PADDING_VALID && padding != PADDING_SAME)
        return "padding is neither 0 (valid) nor 1 (same)";
    *w = (struct window){.rank = 2, .batch = x->dims[0], .channels = x->dims[3]};
    for (size_t i = 0; i < COUNT_OF(params); i++) {
        uint32_t count;
        lists[i] = node_ints(n, params[i], &count);
        if (!lists[i] || count != 2)
            return "a param has the wrong number of elements";
        for (uint32_t k = 0; k < 2; k++)
            if (lists[i][k] < 1 || lists[i][k] > INT32_MAX / 2)
                return "a param is out of range";
    }
    for (int i = 0; i < 2; i++) {
        struct window_axis *a = &w->axis[i + 1];
        if (x->dims[i + 1] > INT32_MAX / 2)
            return "an extent is out of range";
        *a = (struct window_axis){
            .in = x->dims[i + 1], .filter = lists[0][i], .stride = lists[1][i], .dilation = lists[2][i]};
        const char *wrong = extract_axis(a, padding == PADDING_SAME);
        if (wrong)
            return wrong;
    }
    return NULL;
}

static odlc_status infer_extract(const struct infer *c)
{
    struct window w;
    const struct type *x = infer_in(c, 0);
    int64_t depth = 0;
    const char *wrong = read_extract(&w, c->node, &x->shape);
    if (!wrong && (ckd_mul(&depth, w.axis[1].filter, w.axis[2].filter) || ckd_mul(&depth, depth, w.channels)))
        wrong = "size is out of range";
    if (wrong)
        return infer_error(c, "%s (input %s)", wrong, shape_text(c->diags->arena, &x->shape));
    c->out[0] = (struct type){x->dtype, SHAPE(w.batch, w.axis[1].out, w.axis[2].out, depth)};
    return ODLC_OK;
}

/* One patch, its rows one after the other; what lies outside of the image stays 0. Elements have 8 bytes. */
static void copy_patch(const struct window *w, const int64_t at[2], const char *image, char *patch)
{
    const struct window_axis *v = &w->axis[1], *h = &w->axis[2];
    size_t size = (size_t)w->channels * sizeof(double);
    for (int64_t row = 0; row < v->filter; row++)
        for (int64_t column = 0; column < h->filter; column++, patch += size) {
            int64_t y = at[0] * v->stride + row * v->dilation - v->pad_before;
            int64_t x = at[1] * h->stride + column * h->dilation - h->pad_before;
            if (y >= 0 && y < v->in && x >= 0 && x < h->in)
                memcpy(patch, image + (size_t)(y * h->in + x) * size, size);
        }
}

static odlc_status kernel_extract(const struct kernel *k)
{
    struct window w;
    if (read_extract(&w, k->node, &k->in[0].shape) || k->in[0].dtype == DT_STRING)
        return ODLC_ERR_INVALID;
    size_t image = (size_t)(w.axis[1].in * w.axis[2].in * w.channels) * sizeof(double);
    size_t patch = (size_t)k->out[0].shape.dims[3] * sizeof(double);
    const char *from = k->in[0].data;
    char *to = k->out[0].data;
    memset(to, 0, shape_count(&k->out[0].shape) * sizeof(double));
    for (int64_t b = 0; b < w.batch; b++, from += image)
        for (int64_t row = 0; row < w.axis[1].out; row++)
            for (int64_t column = 0; column < w.axis[2].out; column++, to += patch)
                copy_patch(&w, (const int64_t[]){row, column}, from, to);
    return ODLC_OK;
}

/* ---- rows ---- */

static const struct param_def params_extract[] = {
    {PARAM_NAMED(size), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(stride), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(rate), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(padding), DT_UINT32, PARAM_REQUIRED, false, false, 0},
};

static const struct param_def params_col2im[] = {
    {PARAM_NAMED(kernel_size), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(stride), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(pad_amount), DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {PARAM_NAMED(dilation), DT_UINT32, PARAM_OPTIONAL, true, false, 0},
};

#define PATCH_ROW(name_, params_, infer_, kernel_)                                                                    \
    {                                                                                                                 \
        .id = OP_##name_, .name = #name_, .dlc_type = #name_, .min_inputs = 1, .max_inputs = 1, .min_outputs = 1,     \
        .max_outputs = 1, .params = params_, .n_params = COUNT_OF(params_), .infer = infer_, .compute = COMPUTE_WIDE, \
        .kernel = kernel_                                                                                             \
    }

const struct op op_rows_patch[] = {
    PATCH_ROW(Col2Im, params_col2im, infer_col2im, kernel_col2im),
    PATCH_ROW(ExtractPatches, params_extract, infer_extract, kernel_extract),
};
const size_t op_rows_patch_count = COUNT_OF(op_rows_patch);
