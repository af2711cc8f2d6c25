/* SPDX-License-Identifier: Apache-2.0 */
#include "package/registered_ops.h"

#include "base/foreign.h"
#include "package/registration.h"

static uint32_t cores_of(const SnpeUdo_RegInfo_t *info, const SnpeUdo_OperationInfo_t *op)
{
    uint32_t cores = op->numOfCoreInfo ? 0 : info->supportedByCores;
    for (uint32_t i = 0; i < op->numOfCoreInfo; i++)
        cores |= (uint32_t)op->coreInfo[i].coreType;
    return cores;
}

odlc_status registered_ops_tell(struct arena *arena, struct diags *diags, const char *path, registered_op_fn *tell,
                                void *user)
{
    struct library library;
    struct registration registration = {0};
    foreign_begin(arena_printf(arena, "loading package %s", path));
    odlc_status status = library_open(arena, diags, path, &library);
    if (status == ODLC_OK) {
        status = registration_begin(diags, &library, &registration);
        if (status != ODLC_OK)
            library_close(&library);
    }
    foreign_end();
    const SnpeUdo_RegInfo_t *info = registration.info;
    for (uint32_t i = 0; info && i < info->numOfOperations; i++)
        tell(user, info->packageName, &info->operationsInfo[i], cores_of(info, &info->operationsInfo[i]));
    foreign_begin(arena_printf(arena, "unloading package %s", path));
    registration_end(&registration);
    foreign_end();
    return status;
}
