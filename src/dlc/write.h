/* Between the parts of the writer: IR → records → bytes. */
#ifndef DLC_WRITE_H
#define DLC_WRITE_H

#include "dlc/fb_build.h"
#include "dlc/record.h"
#include "dlc/zip.h"

struct dlc_writing {
    struct arena *arena;
    struct diags *diags;
    const char *path; /* of the output */
    const struct progress *progress;
};

/* The graph as the records that its container will hold; payloads stay views. */
odlc_status dlc_from_ir(const struct dlc_writing *w, const struct graph *g, struct dlc_graph *out) MUST_USE;

/* The flatbuffer of the entry `model`. */
odlc_status dlc_build_model(const struct dlc_writing *w, const struct dlc_graph *g, struct fb_build *out) MUST_USE;

/* The entry `model.params`: a head in memory and, behind it, payloads that are streamed. */
struct dlc_payload {
    const struct dlc_tensor *tensor;
    uint64_t size;
    uint64_t pos; /* of the bytes in the flatbuffer; their length stands before them */
};

struct dlc_params {
    struct fb_build head;
    VEC(struct dlc_payload) payloads;
    uint64_t size;        /* of the whole flatbuffer */
    unsigned length_size; /* bytes of the length before a payload: 8 in NR64, 4 in NETP */
};

/* netp: inline NETP instead of NR64. */
odlc_status dlc_build_params(const struct dlc_writing *w, const struct dlc_graph *g, bool netp,
                             struct dlc_params *out) MUST_USE;
odlc_status dlc_stream_params(const struct dlc_writing *w, const struct dlc_params *params,
                              struct zip_writer *zip) MUST_USE;

#endif
