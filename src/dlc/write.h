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
    unsigned threads; /* that write payloads; 0: as many as pay */
};

/* The graph as the records that its container will hold; payloads stay views. */
odlc_status dlc_from_ir(const struct dlc_writing *w, const struct graph *g, struct dlc_graph *out) MUST_USE;

/* The flatbuffer of the entry `model`. */
odlc_status dlc_build_model(const struct dlc_writing *w, const struct dlc_graph *g, struct fb_build *out) MUST_USE;

enum { PAYLOAD_ALIGNMENT = 64 }; /* of each payload in the entry, and of the entry in the file: weights can be mapped */

/* The entry `model.params`: a head in memory and, behind it, payloads that are streamed. */
struct dlc_payload_place {
    const struct dlc_tensor *tensor;
    uint64_t size;
    uint64_t pos; /* of the bytes in the flatbuffer; their length stands before them */
};

struct dlc_params {
    struct fb_build head;
    VEC(struct dlc_payload_place) payloads;
    uint64_t size;        /* of the whole flatbuffer */
    unsigned length_size; /* bytes of the length before a payload: 8 in NR64, 4 in NETP */
};

/* Payloads in their order, each with its place. */
struct dlc_payload {
    const char *name; /* of the tensor, for messages */
    struct view view;
    enum dtype dtype; /* of the elements in the container */
    uint64_t size, pos;
};

struct dlc_payload_walk {
    const struct dlc_params *params;
    uint32_t next;
    uint64_t end; /* of the one before, or of the head */
};

struct dlc_payload_walk dlc_payloads(const struct dlc_params *params);
bool dlc_next_payload(struct dlc_payload_walk *walk, struct dlc_payload *out);

/* netp: inline NETP instead of NR64. */
odlc_status dlc_build_params(const struct dlc_writing *w, const struct dlc_graph *g, bool netp,
                             struct dlc_params *out) MUST_USE;
/* The payloads, in an entry that got the head. The bytes are the same for any number of threads. */
odlc_status dlc_stream_payloads(const struct dlc_writing *w, const struct dlc_params *params,
                                struct zip_writer *zip) MUST_USE;

#endif
