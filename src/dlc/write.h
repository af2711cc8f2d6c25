/* Between the parts of the writer: IR → records → bytes.
 *
 * Records of a graph would take many times the graph's own memory, so they are made one at a time, as often as they are
 * needed: once to lay an entry out, once to write it, once to compare it with what was written. */
#ifndef DLC_WRITE_H
#define DLC_WRITE_H

#include "dlc/fb_build.h"
#include "dlc/record.h"
#include "dlc/zip.h"

enum { CONTAINER_MAJOR = 4, CONTAINER_MINOR = 0 };
enum { ENTRY_METADATA, ENTRY_MODEL, ENTRY_PARAMS };
enum { PAYLOAD_ALIGNMENT = 64 }; /* of each payload in the entry, and of the entry in the file: weights can be mapped */

struct dlc_writing {
    struct arena *arena;
    struct diags *diags;
    const char *path;                /* of the output */
    unsigned threads;                /* that write payloads; 0: as many as pay */
    const struct progress *progress; /* counts bytes of payloads; NULL: nobody wants to know */
};

/* ---- IR → records (from_ir.c) ---- */

/* A tensor param of an op. */
struct dlc_param_place {
    node_id node;
    uint32_t param;
};

/* A walk over the records of a graph. The first walk over the ops gives ids to tensors and finds what cannot be
 * written; what follows it cannot fail for that any more. */
struct dlc_records {
    const struct dlc_writing *w;
    const struct graph *g;
    uint32_t n_ops;
    uint32_t *ids;      /* by tensor_id: the id in the container; 0: not (yet) there */
    tensor_id *tensors; /* those of the container, in the order of their ids; once the ops are walked */
    uint32_t n_tensors;
    VEC(struct dlc_param_place) params; /* in the order of the ops; likewise */
    bool surveyed;                      /* the ops were walked to their end */
    /* the walk: */
    size_t next;      /* in g->order */
    uint32_t walked;  /* ops */
    uint32_t next_id; /* of a tensor */
    struct dlc_op op; /* the one at hand, its arrays in the following, which the next op uses again */
    VEC(struct dlc_attr) attrs;
    VEC(struct dlc_tensor) attr_tensors;
    VEC(uint32_t) sorted; /* params */
    VEC(const char *) names;
    VEC(char) text;
};

odlc_status dlc_records_start(const struct dlc_writing *w, const struct graph *g, struct dlc_records *out) MUST_USE;
/* Back to the first op. */
void dlc_records_again(struct dlc_records *r);
/* The next op, valid until the next call; NULL behind the last. */
odlc_status dlc_next_op(struct dlc_records *r, const struct dlc_op **op) MUST_USE;
/* A tensor of the container as its record. */
struct dlc_tensor dlc_tensor_record(const struct dlc_records *r, tensor_id id);
/* The name of a tensor param in the container, valid until the next call or op. */
const char *dlc_param_name(struct dlc_records *r, const struct dlc_param_place *place);
struct view dlc_param_view(const struct packed_param *p);

/* ---- the entry `model` (write_model.c) ---- */

struct dlc_model {
    struct dlc_records *records;
    uint32_t *ops, *tensors;    /* the positions of their tables */
    uint32_t tensor_list, name; /* the positions of what follows the ops */
    uint64_t size;              /* of the flatbuffer */
};

/* Walks the graph for the first time: errors of the graph are found here. */
odlc_status dlc_lay_out_model(struct dlc_records *records, struct dlc_model *out) MUST_USE;
odlc_status dlc_emit_model(struct dlc_model *model, fb_sink_fn *sink, void *user) MUST_USE;

/* ---- the entry `model.params` (write_params.c): a head and, behind it, payloads ---- */

/* One payload. Not to be copied: its view may be the one inside. */
struct dlc_payload {
    const char *name;        /* for messages: of the constant, or the op whose param it is */
    const struct view *view; /* a constant's: the graph's own; a param's: made here */
    enum dtype dtype;        /* of the elements in the container */
    uint64_t size;
    uint64_t pos; /* of the bytes in the flatbuffer; their length stands before them */
    struct view param;
};

struct dlc_params {
    struct dlc_records *records;
    tensor_id *statics; /* constants, sorted by name */
    uint32_t n_statics;
    uint32_t n_payloads;  /* constants, then params of ops */
    uint64_t *sizes;      /* of the payloads: the constants are far apart in memory when they are sorted */
    bool inline_bytes;    /* NETP instead of NR64 */
    unsigned length_size; /* bytes of the length before a payload: 8 in NR64, 4 in NETP */
    uint32_t *ops;        /* the positions of their tables in NETP */
    uint32_t *data;       /* those of the constants' tables, then (NR64) those of the buffers' tables in the head */
    uint32_t op_list, buffer_list;
    uint64_t netp_size, head_size;
    uint64_t size; /* of the whole flatbuffer */
};

/* netp: inline NETP instead of NR64. */
odlc_status dlc_lay_out_params(struct dlc_records *records, bool netp, struct dlc_params *out) MUST_USE;
/* The head, which leads to the payloads by their positions. */
odlc_status dlc_emit_params_head(struct dlc_params *params, fb_sink_fn *sink, void *user) MUST_USE;

/* Payloads in their order, each with its place. */
struct dlc_payload_walk {
    const struct dlc_params *params;
    uint32_t next;
    uint64_t end; /* of the one before, or of the head */
};
struct dlc_payload_walk dlc_payloads(const struct dlc_params *params);
/* The size and the place of the next payload alone; false behind the last. */
bool dlc_next_place(struct dlc_payload_walk *walk, uint64_t *size, uint64_t *pos);
bool dlc_next_payload(struct dlc_payload_walk *walk, struct dlc_payload *out);

/* ---- the payloads (write_payloads.c) ---- */

/* The payloads, in an entry that got the head. The bytes are the same for any number of threads. */
odlc_status dlc_stream_payloads(const struct dlc_writing *w, const struct dlc_params *params,
                                struct zip_writer *zip) MUST_USE;

/* ---- read_back.c ---- */

/* Reads what was written as a reader would and compares it with the graph. */
odlc_status dlc_read_back(const struct dlc_writing *w, const struct zip_writer *zip, struct dlc_model *model,
                          struct dlc_params *params) MUST_USE;

#endif
