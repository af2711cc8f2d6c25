/* SPDX-License-Identifier: Apache-2.0 */
#include "backend/gpu/gpu_device.h"

#include <string.h>

/* More platforms or devices than anybody has. */
enum { MAX_LISTED = 32, EXTENSIONS_SIZE = 16384 };

/* ---- errors ---- */

const char *gpu_error_text(struct arena *arena, cl_int error)
{
    static const struct {
        cl_int code;
        const char *name;
    } names[] = {
#define NAMED(name) {name, #name}
        NAMED(CL_DEVICE_NOT_AVAILABLE),
        NAMED(CL_COMPILER_NOT_AVAILABLE),
        NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
        NAMED(CL_OUT_OF_RESOURCES),
        NAMED(CL_OUT_OF_HOST_MEMORY),
        NAMED(CL_BUILD_PROGRAM_FAILURE),
        NAMED(CL_MISALIGNED_SUB_BUFFER_OFFSET),
        NAMED(CL_INVALID_VALUE),
        NAMED(CL_INVALID_BUFFER_SIZE),
        NAMED(CL_INVALID_KERNEL_NAME),
        NAMED(CL_INVALID_ARG_INDEX),
        NAMED(CL_INVALID_ARG_VALUE),
        NAMED(CL_INVALID_ARG_SIZE),
        NAMED(CL_INVALID_KERNEL_ARGS),
        NAMED(CL_INVALID_WORK_GROUP_SIZE),
        NAMED(CL_INVALID_GLOBAL_WORK_SIZE),
#undef NAMED
    };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (names[i].code == error)
            return arena_printf(arena, "%s (%d)", names[i].name, (int)error);
    return arena_printf(arena, "error %d", (int)error);
}

/* ---- what a device says ---- */

static void read_text(cl_device_id id, cl_device_info what, char *text, size_t size)
{
    text[0] = '\0';
    if (clGetDeviceInfo(id, what, size, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    text[size - 1] = '\0';
}

/* A number of one of the types that OpenCL has for them; 0: the device does not say. */
static uint64_t read_number(cl_device_id id, cl_device_info what)
{
    union {
        cl_uint narrow;
        cl_ulong wide;
    } number = {.wide = 0};
    size_t size = 0;
    if (clGetDeviceInfo(id, what, sizeof(number), &number, &size) != CL_SUCCESS)
        return 0;
    return size == sizeof(cl_uint) ? number.narrow : number.wide;
}

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = strstr(words, word); at; at = strstr(at + length, word))
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* Of "OpenCL 1.2 …". */
static uint32_t read_version(cl_device_id id)
{
    char text[GPU_NAME_SIZE];
    read_text(id, CL_DEVICE_VERSION, text, sizeof(text));
    const size_t prefix = strlen("OpenCL ");
    if (strlen(text) < prefix + 3 || text[prefix + 1] != '.')
        return 100;
    return 100 * (uint32_t)(text[prefix] - '0') + 10 * (uint32_t)(text[prefix + 2] - '0');
}

static void read_extensions(cl_device_id id, struct gpu_device *d)
{
    char words[EXTENSIONS_SIZE];
    read_text(id, CL_DEVICE_EXTENSIONS, words, sizeof(words));
    d->has_half = has_word(words, "cl_khr_fp16");
    d->has_double = has_word(words, "cl_khr_fp64");
    d->has_subgroups = has_word(words, "cl_khr_subgroups");
    d->has_command_buffers = has_word(words, "cl_khr_command_buffer");
    d->has_priorities = has_word(words, "cl_khr_priority_hints");
    d->has_throttles = has_word(words, "cl_khr_throttle_hints");
}

static void describe(cl_platform_id platform, cl_device_id id, struct gpu_device *d)
{
    *d = (struct gpu_device){.platform = platform, .id = id};
    read_text(id, CL_DEVICE_NAME, d->name, sizeof(d->name));
    read_text(id, CL_DRIVER_VERSION, d->driver, sizeof(d->driver));
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(d->platform_name), d->platform_name, NULL) != CL_SUCCESS)
        d->platform_name[0] = '\0';
    d->platform_name[GPU_NAME_SIZE - 1] = '\0';
    d->version = read_version(id);
    d->is_gpu = read_number(id, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU;
    d->has_images = read_number(id, CL_DEVICE_IMAGE_SUPPORT);
    read_extensions(id, d);
    d->max_group = (size_t)read_number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    size_t items[8] = {1, 1, 1};
    if (clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(items), items, NULL) == CL_SUCCESS)
        memcpy(d->max_items, items, sizeof(d->max_items));
    d->units = (uint32_t)read_number(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    d->vector = (uint32_t)read_number(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT);
    d->local_memory = read_number(id, CL_DEVICE_LOCAL_MEM_SIZE);
    d->memory = read_number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    d->max_block = read_number(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    d->alignment = read_number(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
}

/* ---- the choice ---- */

/* Whether the device is better than the best one before it. */
static bool is_better(const struct gpu_device *d, const struct gpu_device *best, const char *wanted)
{
    if (wanted && !strstr(d->name, wanted) && !strstr(d->platform_name, wanted))
        return false;
    return !best->id || (d->is_gpu && !best->is_gpu);
}

static odlc_status no_device(struct diags *diags, const char *wanted)
{
    const char *hint = "install the OpenCL driver of the device (or PoCL, which runs on any processor); clinfo lists "
                       "what there is";
    if (wanted)
        return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.hint = hint), "gpu-device",
                          "there is no OpenCL device with \"%s\" in its name or its platform's", wanted);
    return diag_error(diags, ODLC_ERR_UNSUPPORTED, AT(.hint = hint), "gpu-device",
                      "backend gpu needs an OpenCL device, and there is none on this machine");
}

odlc_status gpu_device_choose(struct diags *diags, const char *wanted, struct gpu_device *out)
{
    cl_platform_id platforms[MAX_LISTED];
    cl_uint n_platforms = 0;
    struct gpu_device best = {.id = NULL};
    if (clGetPlatformIDs(MAX_LISTED, platforms, &n_platforms) != CL_SUCCESS)
        n_platforms = 0;
    for (cl_uint p = 0; p < n_platforms && p < MAX_LISTED; p++) {
        cl_device_id devices[MAX_LISTED];
        cl_uint n_devices = 0;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_LISTED, devices, &n_devices) != CL_SUCCESS)
            n_devices = 0;
        for (cl_uint i = 0; i < n_devices && i < MAX_LISTED; i++) {
            struct gpu_device device;
            describe(platforms[p], devices[i], &device);
            if (is_better(&device, &best, wanted))
                best = device;
        }
    }
    if (!best.id)
        return no_device(diags, wanted);
    *out = best;
    return ODLC_OK;
}
