/* SPDX-License-Identifier: Apache-2.0 */
/* Who takes what a package registers in qhpi_init: a function for each version of the interface that there ever was.
 * libopendlc-plugin.so exports `qhpi_odlc_registrar`, which the host calls around qhpi_init, for the calling thread. */
#ifndef PACKAGE_PLUGIN_REGISTRAR_H
#define PACKAGE_PLUGIN_REGISTRAR_H

#include "sdk/QNN/HTP/core/qhpi.h"

struct plugin_registrar {
    uint32_t (*add_v1)(struct plugin_registrar *registrar, uint32_t num_ops, const QHPI_OpInfo_v1 *operators,
                       const char *package);
};

typedef void set_plugin_registrar_fn(struct plugin_registrar *registrar);
#define SET_PLUGIN_REGISTRAR "qhpi_odlc_registrar"

#endif
