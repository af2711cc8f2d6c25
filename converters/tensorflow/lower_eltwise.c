/* TensorFlow operators that work element by element, and those that give back what they get. */
#include "converters/lowering/steps.h"
#include "converters/tensorflow/rows.h"

/* Operators that do nothing at inference; a sequence or a resource passes, too. */
odlc_status tf_identity(struct lower *l)
{
    if (l->n_in && l->values[0].kind != VALUE_TENSOR)
        l->results[0] = l->values[0];
    else
        TRY(lower_need(l, 0, "input", &l->out[0]));
    return ODLC_OK;
}

odlc_status tf_unary(struct lower *l)
{
    tensor_id x;
    TRY(lower_need(l, 0, "x", &x));
    return steps_end_unary(&(struct steps){.l = l}, l->arg, x);
}
