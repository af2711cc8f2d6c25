/* SPDX-License-Identifier: Apache-2.0 */
#include "udo/udo_cores.h"

#include "base/c_locale.h"

const char *const udo_core_names[UDO_CORES] = {[UDO_CPU] = "CPU", [UDO_GPU] = "GPU", [UDO_DSP] = "DSP"};

const char *const udo_archs[] = {"v60", "v65", "v66", "v68", "v69", "v73", "v75", "v79", "v81"};
const size_t udo_n_archs = COUNT_OF(udo_archs);

/* The word among those in small letters that has the same letters, or NULL. */
static const char *find_folded(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (words[i][at] && c_tolower(word[at]) == words[i][at])
            at++;
        if (!words[i][at] && !word[at])
            return words[i];
    }
    return NULL;
}

const char *udo_find_arch(const char *word)
{
    return find_folded(udo_archs, udo_n_archs, word);
}

bool udo_is_npu(const char *word)
{
    static const char *const names[] = {"npu", "htp", "hta", "aip", "cdsp", "hexagon"};
    return find_folded(names, COUNT_OF(names), word) != NULL;
}
