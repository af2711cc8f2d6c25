/* The functions of a saved program, of which each may be the model: for saved models without signatures. */
#ifndef CONVERTERS_TENSORFLOW_NORMALIZE_SAVED_FUNCTIONS_H
#define CONVERTERS_TENSORFLOW_NORMALIZE_SAVED_FUNCTIONS_H

#include "converters/tensorflow/source/tf_source.h"

/* Makes the function of that name the model's: names are attributes with dots ("encoder.call") and, where that means
 * several functions, those that they have in the library. meta: of the graph. */
odlc_status choose_function(struct tf_model *m, const struct sections *meta, const char *name,
                            struct tf_source *out) MUST_USE;
/* The error for a saved model without signatures, which lists the functions. */
odlc_status report_no_signature(struct tf_model *m, const struct sections *meta) MUST_USE;

/* What the model's function took from around it as its argument; *bound false: the argument is an input. */
odlc_status bound_value(struct flatten *f, uint32_t arg, bool *bound, struct view *out) MUST_USE;
/* Type and shape of an argument, as far as the function says them. */
odlc_status tf_describe_argument(struct tf_model *m, const struct tf_function *function, uint32_t arg,
                                 struct fw_value *out) MUST_USE;

#endif
