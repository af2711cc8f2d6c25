/* SPDX-License-Identifier: Apache-2.0 */
#include "package/registration.h"

#include <string.h>

#include "package/status_text.h"

static odlc_status failed(struct diags *diags, const struct library *library, const char *function,
                          SnpeUdo_ErrorType_t error)
{
    return library_error(diags, ODLC_ERR_INVALID, library, "package-call", NULL, "%s gives %s", function,
                         udo_error_text(diags->arena, error));
}

static odlc_status find(struct diags *diags, const struct library *library, const char *name, void *out)
{
    void *symbol = library_symbol(library, name);
    if (!symbol)
        return library_error(diags, ODLC_ERR_INVALID, library, "package-symbol", NULL,
                             "the registration library does not export %s", name);
    memcpy(out, &symbol, sizeof symbol);
    return ODLC_OK;
}

static odlc_status check_version(struct diags *diags, const struct library *library,
                                 SnpeUdo_ErrorType_t (*get)(SnpeUdo_LibVersion_t **))
{
    SnpeUdo_LibVersion_t *version = NULL;
    SnpeUdo_ErrorType_t error = get(&version);
    if (error != SNPE_UDO_NO_ERROR)
        return failed(diags, library, "SnpeUdo_getVersion", error);
    const SnpeUdo_Version_t *api = version ? &version->apiVersion : NULL;
    if (!api || api->major != API_VERSION_MAJOR || api->minor > API_VERSION_MINOR)
        return library_error(diags, ODLC_ERR_UNSUPPORTED, library, "package-version", NULL,
                             "the library is of version %u.%u.%u of the interface, and %d.%d.%d is known",
                             api ? api->major : 0, api ? api->minor : 0, api ? api->teeny : 0, API_VERSION_MAJOR,
                             API_VERSION_MINOR, API_VERSION_TEENY);
    return ODLC_OK;
}

/* What the library tells is read by others without further questions. */
static odlc_status check_info(struct diags *diags, const struct library *library, const SnpeUdo_RegInfo_t *info)
{
    if (!info || !info->packageName || !*info->packageName)
        return library_error(diags, ODLC_ERR_INVALID, library, "package-info", NULL,
                             "the registration library does not say the package's name");
    if ((info->numOfOperations && !info->operationsInfo) || (info->numOfImplementationLib && !info->implementationLib))
        return library_error(diags, ODLC_ERR_INVALID, library, "package-info", NULL,
                             "the registration library counts operations or libraries that it does not list");
    for (uint32_t i = 0; i < info->numOfOperations; i++) {
        const SnpeUdo_OperationInfo_t *op = &info->operationsInfo[i];
        if (!op->operationType || (op->numOfStaticParams && !op->staticParams) ||
            (op->numOfCoreInfo && !op->coreInfo) || (op->numOfInputs && !op->inputInfos) ||
            (op->numOfOutputs && !op->outputInfos))
            return library_error(diags, ODLC_ERR_INVALID, library, "package-info", NULL,
                                 "operation %u of the registration library has no type, or lists less than it counts",
                                 i);
    }
    for (uint32_t i = 0; i < info->numOfImplementationLib; i++)
        if (!info->implementationLib[i].libraryName)
            return library_error(diags, ODLC_ERR_INVALID, library, "package-info", NULL,
                                 "implementation library %u of the registration library has no name", i);
    return ODLC_OK;
}

static odlc_status read_info(struct diags *diags, const struct library *library, struct registration *r)
{
    SnpeUdo_ErrorType_t (*get)(SnpeUdo_RegInfo_t **), (*version)(SnpeUdo_LibVersion_t **);
    SnpeUdo_RegInfo_t *info = NULL;
    TRY(find(diags, library, "SnpeUdo_getVersion", &version));
    TRY(find(diags, library, "SnpeUdo_getRegInfo", &get));
    TRY(check_version(diags, library, version));
    SnpeUdo_ErrorType_t error = get(&info);
    if (error != SNPE_UDO_NO_ERROR)
        return failed(diags, library, "SnpeUdo_getRegInfo", error);
    TRY(check_info(diags, library, info));
    r->info = info;
    return ODLC_OK;
}

odlc_status registration_begin(struct diags *diags, const struct library *library, struct registration *out)
{
    struct registration r = {.library = *library};
    SnpeUdo_ErrorType_t (*init)(void);
    if (!library_symbol(library, "SnpeUdo_initRegLibrary"))
        return library_error(diags, ODLC_ERR_INVALID, library, "package-symbol",
                             "an op package without one is named together with its provider, LIBRARY:PROVIDER",
                             "this is no registration library: it does not export SnpeUdo_initRegLibrary");
    TRY(find(diags, library, "SnpeUdo_initRegLibrary", &init));
    TRY(find(diags, library, "SnpeUdo_terminateRegLibrary", &r.terminate));
    void *validate = library_symbol(library, "SnpeUdo_validateOperation");
    memcpy(&r.validate, &validate, sizeof validate);
    SnpeUdo_ErrorType_t error = init();
    if (error != SNPE_UDO_NO_ERROR)
        return failed(diags, library, "SnpeUdo_initRegLibrary", error);
    odlc_status status = read_info(diags, library, &r);
    if (status == ODLC_OK)
        *out = r;
    else
        r.terminate();
    return status;
}

void registration_end(struct registration *registration)
{
    if (!registration->library.handle)
        return;
    registration->terminate();
    library_close(&registration->library);
}

const SnpeUdo_OperationInfo_t *registration_operation(const struct registration *registration, const char *type)
{
    const SnpeUdo_RegInfo_t *info = registration->info;
    for (uint32_t i = 0; info && i < info->numOfOperations; i++)
        if (strcmp(info->operationsInfo[i].operationType, type) == 0)
            return &info->operationsInfo[i];
    return NULL;
}

bool registration_is_for(const SnpeUdo_OperationInfo_t *op, SnpeUdo_CoreType_t core)
{
    bool found = op->numOfCoreInfo == 0;
    for (uint32_t i = 0; i < op->numOfCoreInfo; i++)
        found = found || op->coreInfo[i].coreType == core;
    return found;
}

const char *registration_library(const struct registration *registration, SnpeUdo_CoreType_t core)
{
    for (uint32_t i = 0; i < registration->info->numOfImplementationLib; i++)
        if (registration->info->implementationLib[i].coreType == core)
            return registration->info->implementationLib[i].libraryName;
    return NULL;
}
