/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a config in the XML form: read or refused with a diagnostic, and then used and written. */
#include "engine.h"
#include "udo_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    try_config(bytes, size, udo_parse_xml);
    return 0;
}
