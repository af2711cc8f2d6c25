/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the writer: IR → records → bytes. Memory is the arena of struct dlc_writing.
 *
 * Records of a graph would take many times the graph's own memory, so a record is made when it is asked for, and again:
 * to write an entry, and to compare the file with the graph; those of the params' head also to lay it out. */
#ifndef DLC_WRITE_CONTAINER_H
#define DLC_WRITE_CONTAINER_H

#include "dlc/fb_build.h"
#include "dlc/record.h"
#include "dlc/zip.h"

enum { CONTAINER_MAJOR = 4, CONTAINER_MINOR = 0 };
enum { ENTRY_METADATA, ENTRY_MODEL, ENTRY_PARAMS };
/* Of each payload in its entry, and of that entry in the file: weights can be mapped. Small ones are not worth the room
 * between them. */
enum { PAYLOAD_ALIGNMENT = 64, SMALL_PAYLOAD = 1024, SMALL_ALIGNMENT = 16 };

static inline uint64_t payload_alignment(uint64_t size)
{
    return size < SMALL_PAYLOAD ? SMALL_ALIGNMENT : PAYLOAD_ALIGNMENT;
}

struct dlc_writing {
    struct arena *arena;
    struct diags *diags;
    const char *path;                 /* of the output */
    uint32_t release;                 /* whose spellings of ops are used (op/release.h) */
    unsigned threads;                 /* for payloads; 0: one, or two where it pays */
    const struct progress *progress;  /* counts bytes of payloads; NULL: nobody wants to know */
    const struct view *const *packed; /* as in dlc_write_options */
};

/* ---- IR → records (from_ir.c) ---- */

/* A tensor param of an op. */
struct dlc_param_place {
    node_id node;
    uint32_t param;
};

/* The attributes of an op without tensors among them: those of each op of that row which has the same params. */
enum { KNOWN_OPS = 32, FEW_ATTRS = 6 };
struct dlc_known_attrs {
    const struct op *op; /* NULL: none */
    const struct packed_param *params;
    uint32_t n_attrs;
    struct dlc_attr attrs[FEW_ATTRS];
};

/* A walk over the records of a graph. The first walk over the ops gives ids to tensors and finds the ops and tensors
 * that a container cannot hold; the walks after the first do not fail. */
struct dlc_records {
    const struct dlc_writing *w;
    const struct graph *g;
    uint32_t n_ops;
    uint32_t *ids;      /* by tensor_id: the id in the container; 0: not (yet) there */
    tensor_id *tensors; /* the container's, by rising id in the container; complete after the first walk */
    uint32_t n_tensors;
    VEC(struct dlc_param_place) params; /* in the order of the ops; complete after the first walk */
    bool surveyed;                      /* the ops were walked to their end */
    /* the walk: */
    size_t next;      /* in g->order */
    uint32_t walked;  /* ops */
    uint32_t next_id; /* of a tensor */
    struct dlc_op op; /* the last one given; its arrays are the following, which the next op overwrites */
    VEC(struct dlc_attr) attrs;
    struct dlc_known_attrs known[KNOWN_OPS]; /* by hash: most ops say what one before them said */
    VEC(struct dlc_tensor) attr_tensors;
    VEC(uint32_t) sorted; /* params */
    VEC(const char *) names;
    VEC(char) text;
};

/* ODLC_ERR_UNSUPPORTED: an output of the graph is an input or a constant. */
odlc_status dlc_records_start(const struct dlc_writing *w, const struct graph *g, struct dlc_records *out) MUST_USE;
/* Back to the first op. */
void dlc_records_again(struct dlc_records *r);
/* The next op, valid until the next call; NULL behind the last. In the first walk, ODLC_ERR_UNSUPPORTED: a container
 * cannot hold the op or one of its tensors. */
odlc_status dlc_next_op(struct dlc_records *r, const struct dlc_op **op) MUST_USE;
/* The record of a tensor of the container; strings are the graph's. */
struct dlc_tensor dlc_tensor_record(const struct dlc_records *r, tensor_id id);
/* The name of a tensor param in the container, valid until the next call or op. */
const char *dlc_param_name(struct dlc_records *r, const struct dlc_param_place *place);
/* The elements of a tensor param, which stay the graph's. */
struct view dlc_param_view(const struct packed_param *p);

/* ---- the entry `model` (write_model.c) ---- */

struct dlc_model {
    struct dlc_records *records;
    uint32_t *ops, *tensors; /* positions of the ops' and tensors' tables */
    uint64_t size;           /* of the flatbuffer, once it was measured or emitted */
};

void dlc_model_start(struct dlc_records *records, struct dlc_model *out);
/* Both walk the graph. Fail as dlc_next_op does, and as sink and fill do; ODLC_ERR_LIMIT: the flatbuffer passes 2 GiB.
 * Emitting gives the flatbuffer to the sink, in order, and then to `fill` what takes the place of zeros in it. */
odlc_status dlc_measure_model(struct dlc_model *model) MUST_USE;
odlc_status dlc_emit_model(struct dlc_model *model, fb_sink_fn *sink, fb_fill_fn *fill, void *user) MUST_USE;

/* ---- the entry `model.params` (write_params.c): a head and, behind it, payloads ---- */

/* One payload. Not to be copied: `view` may lead to `param`. */
struct dlc_payload {
    const char *name;        /* for messages: of the constant, or the op whose param it is */
    const struct view *view; /* of a constant: the graph's own; of a param: the member `param` */
    enum dtype dtype;        /* of the elements in the container */
    uint64_t size;
    uint64_t pos; /* of the bytes in the flatbuffer; the length stands before the bytes */
    struct view param;
};

struct dlc_params {
    struct dlc_records *records;
    tensor_id *statics; /* constants, sorted by name */
    uint32_t n_statics;
    uint32_t n_payloads;  /* constants, then params of ops */
    uint64_t *sizes;      /* bytes, by payload: sorted constants are far apart in memory, and not looked at again */
    bool inline_bytes;    /* NETP instead of NR64 */
    unsigned length_size; /* bytes of the length before a payload: 8 in NR64, 4 in NETP */
    uint32_t *ops;        /* positions of the ops' tables in NETP */
    uint32_t *data; /* positions of the constants' tables in NETP, then (NR64) of the buffers' tables in the head */
    uint32_t op_list, buffer_list;
    uint64_t netp_size, head_size;
    uint64_t size; /* of the whole flatbuffer */
};

/* After the model was measured or emitted. netp: inline NETP instead of NR64. ODLC_ERR_LIMIT: the format ends at 2 GiB,
 * and head or (NETP) payloads do not fit. */
odlc_status dlc_lay_out_params(struct dlc_records *records, bool netp, struct dlc_params *out) MUST_USE;
/* Gives the head, which leads to the payloads by their positions, to the sink in order. Fails as the sink does. */
odlc_status dlc_emit_params_head(struct dlc_params *params, fb_sink_fn *sink, void *user) MUST_USE;

/* A walk over the payloads in their order. */
struct dlc_payload_walk {
    const struct dlc_params *params;
    uint32_t next;
    uint64_t end; /* of the payload before, or of the head */
};
struct dlc_payload_walk dlc_payloads(const struct dlc_params *params);
/* The size and the position of the next payload; false behind the last. */
bool dlc_next_place(struct dlc_payload_walk *walk, uint64_t *size, uint64_t *pos);
/* The next payload; false behind the last. */
bool dlc_next_payload(struct dlc_payload_walk *walk, struct dlc_payload *out);

/* ---- the payloads (write_payloads.c) ---- */

/* Writes the payloads into the entry that got the head; any number of threads gives the same bytes. ODLC_ERR_IO:
 * writing, or reading a source of weights, failed; ODLC_ERR_STOPPED: progress asked for it. */
odlc_status dlc_stream_payloads(const struct dlc_writing *w, const struct dlc_params *params,
                                struct zip_writer *zip) MUST_USE;

/* ---- read_back.c ---- */

/* Reads the file that was written as a reader would, and compares zip, tables and places of payloads with the graph.
 * ODLC_ERR_INTERNAL, or for a CRC or zip header ODLC_ERR_INVALID: they differ; ODLC_ERR_IO: reading failed. */
odlc_status dlc_read_back(const struct dlc_writing *w, const struct zip_writer *zip, struct dlc_model *model,
                          struct dlc_params *params) MUST_USE;

#endif
