/* SPDX-License-Identifier: Apache-2.0 */
/* The words of configs for cores and for architectures of the DSP. */
#ifndef UDO_UDO_CORES_H
#define UDO_UDO_CORES_H

#include "udo/udo.h"

/* Of XML configs, which tell the DSP's generations apart. */
enum udo_backend { BACKEND_CPU, BACKEND_GPU, BACKEND_DSP, BACKEND_HTP, BACKEND_AIC, BACKENDS };

extern const char *const udo_core_names[UDO_CORES]; /* "CPU", "GPU", "DSP" */

extern const char *const udo_archs[]; /* "v68" */
extern const size_t udo_n_archs;
/* The architecture of that name, in letters of either case; NULL: none. */
const char *udo_find_arch(const char *word);

/* Whether a word that names no core is another name of the NPU, or of a part of it: NPU, HTA, cDSP. */
bool udo_is_npu(const char *word);

#endif
