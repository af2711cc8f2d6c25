/* Sliding patches put back to an image: Col2Im. */
#include <string.h>

#include "op/families.h"
#include "op/rules.h"
#include "op/walk.h"
#include "op/window.h"

/* The windows over the output image, which is [batch, height, width, channels]; the geometry's `out` counts them. */
static const char *read_patches(struct window *w, const struct node *n, const struct shape *x, const struct shape *y)
{
    uint32_t count;
    const int64_t *kernel = node_ints(n, "kernel_size", &count);
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

static const struct param_def params_col2im[] = {
    {"kernel_size", DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {"stride", DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {"pad_amount", DT_UINT32, PARAM_REQUIRED, true, false, 0},
    {"dilation", DT_UINT32, PARAM_OPTIONAL, true, false, 0},
};

const struct op op_rows_patch[] = {
    {.name = "Col2Im",
     .dlc_type = "Col2Im",
     .min_inputs = 1,
     .max_inputs = 1,
     .min_outputs = 1,
     .max_outputs = 1,
     .params = params_col2im,
     .n_params = COUNT_OF(params_col2im),
     .infer = infer_col2im,
     .compute = COMPUTE_WIDE,
     .kernel = kernel_col2im},
};
const size_t op_rows_patch_count = COUNT_OF(op_rows_patch);
