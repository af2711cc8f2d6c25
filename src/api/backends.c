#include "api/backends.h"

#include "backend/reference/reference.h"
#include "opendlc/run.h"

const struct backend *const default_backends[] = {&reference_backend, NULL};

const struct backend *const all_backends[] = {&reference_backend, NULL};

const char *const *odlc_backend_names(void)
{
    static const char *const names[] = {"reference", NULL};
    return names;
}
