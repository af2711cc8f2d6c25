/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the folder of a saved model: its graph and signature are chosen, variables are found in the checkpoint,
 * and it is converted as far as that goes, or refused with a diagnostic; no container is written. An input is a byte
 * that says with which options, the length of saved_model.pb in 4 bytes, that file, and a checkpoint as fuzz_bundle.c
 * takes it; without one the model has no variables. */
#include "base/reader.h"
#include "conversion.h"
#include "engine.h"
#include "scratch.h"

enum {
    WITH_TAG = 1,
    WITH_SIGNATURE = 2,
    WITH_OUTPUT = 4,
    WITH_DIMS = 8,
    AS_META = 16,
    OTHER_OPTIONS = 32,
    WITH_FUNCTION = 64
};

static void save_checkpoint(const uint8_t *bytes, size_t size, const char *prefix)
{
    char index[40], shard[60];
    snprintf(index, sizeof index, "%s.index", prefix);
    snprintf(shard, sizeof shard, "%s.data-00000-of-00001", prefix);
    if (size < 4) {
        unlink(scratch_path(index));
        return;
    }
    size_t length = (size_t)min_u64(load_le(bytes, 4), size - 4);
    scratch_save(index, bytes + 4, length);
    scratch_save(shard, bytes + 4 + length, size - 4 - length);
}

static void convert(const char *input, uint8_t how)
{
    static const char *const outputs[] = {"y"};
    static const struct odlc_name_value dims[] = {{"x", "2,3"}};
    struct odlc_convert_options options;
    odlc_convert_defaults(&options, sizeof options);
    options.input = input;
    options.saved_model_tag = how & WITH_TAG ? "serve,gpu" : NULL;
    options.signature_key = how & WITH_SIGNATURE ? "second" : NULL;
    options.saved_model_function = how & WITH_FUNCTION ? "both" : NULL;
    options.out_names = outputs;
    options.n_out_names = how & WITH_OUTPUT ? 1 : 0;
    options.input_dims = dims;
    options.n_input_dims = how & WITH_DIMS ? 1 : 0;
    options.preserve_layout = how & OTHER_OPTIONS;
    options.keep_disconnected_nodes = how & OTHER_OPTIONS;
    if (try_conversion(ODLC_TENSORFLOW, &options) != ODLC_OK)
        return;
    options.dry_run = 1;
    if (try_conversion(ODLC_TENSORFLOW, &options) != ODLC_OK)
        abort(); /* it says what a conversion would */
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { HEAD = 5 };
    static int made;
    if (size < HEAD)
        return 0;
    if (!made && (mkdir(scratch_path("model"), 0700) != 0 || mkdir(scratch_path("model/variables"), 0700) != 0))
        abort();
    made = 1;
    bool as_meta = bytes[0] & AS_META;
    size_t model = (size_t)min_u64(load_le(bytes + 1, 4), size - HEAD);
    scratch_save(as_meta ? "net.meta" : "model/saved_model.pb", bytes + HEAD, model);
    save_checkpoint(bytes + HEAD + model, size - HEAD - model, as_meta ? "net" : "model/variables/variables");
    convert(scratch_path(as_meta ? "net.meta" : "model"), bytes[0]);
    return 0;
}
