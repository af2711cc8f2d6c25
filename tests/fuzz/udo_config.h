/* SPDX-License-Identifier: Apache-2.0 */
/* What follows when a config has been read: nodes are built of its definitions, and it is written and read again. */
#ifndef FUZZ_UDO_CONFIG_H
#define FUZZ_UDO_CONFIG_H

#include <stdint.h>

#include "udo/udo.h"

/* Tries bytes as a config that `parse` reads (udo_parse_json, udo_parse_xml). Aborts where something is wrong. */
void try_config(const uint8_t *bytes, size_t size,
                odlc_status (*parse)(struct udo_set *set, const char *path, const char *text, size_t size));

#endif
