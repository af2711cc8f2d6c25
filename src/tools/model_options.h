/* Options that say how a model is to be converted, for all commands that convert one: the rows stand in
 * tools/model_options.def, which a command's table includes. */
#ifndef TOOLS_MODEL_OPTIONS_H
#define TOOLS_MODEL_OPTIONS_H

#include "opendlc/convert.h"
#include "tools/options.h"

enum {
    MODEL_OPT_DIM = 1000, /* a command's own ids are below */
    MODEL_OPT_BATCH,
    MODEL_OPT_SYMBOL,
    MODEL_OPT_DTYPE,
    MODEL_OPT_FREEZE,
    MODEL_OPT_LAYOUT,
    MODEL_OPT_OUT,
    MODEL_OPT_PRESERVE,
    MODEL_OPT_FOLLOW_LINKS,
    MODEL_OPT_PROMOTE,
    MODEL_OPT_NO_BN,
    MODEL_OPT_KEEP,
    MODEL_OPT_KEEP_QUANT,
    MODEL_OPT_KEEP_INT64,
    MODEL_OPT_TAG, /* tools/saved_model_options.def, of commands that read TensorFlow models */
    MODEL_OPT_SIGNATURE,
    MODEL_OPT_FUNCTION
};

/* Sets the members of out that these options are about. Strings are borrowed from the arguments and the arena. */
odlc_status model_options_read(struct arena *arena, struct diags *diags, const struct options *options,
                               struct odlc_convert_options *out) MUST_USE;

#endif
