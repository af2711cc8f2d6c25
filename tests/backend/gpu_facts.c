/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu_facts.h"

#include <check.h>

#include "backend/gpu/gpu_device.h"

static struct gpu_device choose(void)
{
    struct arena *arena = arena_create();
    struct gpu_device device;
    struct diags diags;
    diags_init(&diags, arena);
    ck_assert_int_eq(gpu_device_choose(&diags, NULL, &device), ODLC_OK);
    arena_destroy(arena);
    return device;
}

bool device_is_gpu(void)
{
    return choose().is_gpu;
}

bool device_records(void)
{
    const struct gpu_device device = choose();
    return device.has_command_buffers && device.version >= 210;
}
