/* SPDX-License-Identifier: Apache-2.0 */
/* A container as records: the content of the file, for v3 and v4 alike, before any meaning is given to its codes.
 * dlc-info and the conversion to IR read records; the v4 writer makes some of a graph. Strings and arrays live in the
 * reader's arena; tensor data stay views of the mapped file. */
#ifndef DLC_RECORD_H
#define DLC_RECORD_H

#include "base/progress.h"
#include "ir/graph.h"

struct op_registry; /* op/registry.h */

struct dlc_entry { /* of the zip */
    const char *name;
    uint64_t offset,
        size;        /* of the data in the file; compressed entries: size once inflated, offset of the packed data */
    uint64_t packed; /* bytes in the file */
    uint64_t header; /* offset of the local header in the file */
    uint32_t crc;
    bool compressed;
};

struct dlc_meta { /* dlc.metadata line, or a leaf of the JSON form as "header.x.y" */
    const char *key, *value;
};

enum dlc_value_kind { DLC_BOOL, DLC_INT, DLC_UINT, DLC_FLOAT, DLC_STRING, DLC_TENSOR, DLC_NESTED };

/* Containers may have millions of tensors and attributes: members that most of them lack, or share, are pointers. */
struct dlc_tensor {
    const char *name;
    const struct shape *shape; /* equal shapes may be one */
    const struct quant *quant; /* NULL: none */
    const struct view *view;   /* the elements; NULL: the container has none. v3: of the params entry */
    uint32_t id;
    uint32_t axis_format;
    uint32_t dtype_code, source_dtype_code; /* as stored */
    uint32_t encoding; /* quantization encoding code of v4: 0 and 1 are in quant, others only named; 0x7FFFFFFF none */
    uint8_t kind;      /* enum dlc_tensor_kind, the stored code */
    uint8_t dtype, source_dtype; /* enum dtype; DT_NONE when the code is not known */
    bool is_quantizable;
};

struct dlc_attr {
    const char *name;
    union {            /* by kind */
        int64_t i;     /* DLC_BOOL, DLC_INT; DLC_UINT: the bits of the uint64_t */
        double f;      /* DLC_FLOAT */
        const char *s; /* DLC_STRING */
        const struct dlc_tensor
            *tensor; /* DLC_TENSOR (v3: int, uint, float and byte lists as rank-1 tensors, string lists as DT_STRING) */
        const struct dlc_attr *nested; /* DLC_NESTED */
    };
    uint32_t n_nested;
    uint32_t dtype_code; /* v4 scalars */
    uint8_t kind;        /* enum dlc_value_kind */
    uint8_t usage;       /* 1 parameter, 2 supplemental; 0 in v3 */
    uint8_t dtype;       /* enum dtype, of scalars; DT_NONE if not known */
};

struct dlc_op {
    const char *name, *type;
    const char **inputs, **outputs; /* tensor names ("" when absent) */
    const struct dlc_attr *attrs;
    const struct dlc_tensor *params; /* v3: the layer's tensors of model.params (bias, weights_0, …) */
    uint32_t id;
    uint32_t n_inputs, n_outputs;
    uint32_t n_attrs, n_params;
};

struct dlc_graph {
    const char *name;
    const struct dlc_op *ops;
    uint32_t n_ops;
    const struct dlc_tensor *tensors; /* v3: made from the layers' outputs and OutputDims */
    uint32_t n_tensors;
    struct map tensor_index; /* name → index */
};

struct dlc_file {
    struct file *file;
    uint32_t major, minor;     /* of the model stream: 3.0, 4.0, 4.1 */
    uint32_t params_version;   /* of the params stream: major << 16 | minor; 0 without one */
    const char *params_format; /* "NR64", "NETP", "bin" (model.params.bin), or "none" */
    const struct dlc_entry *entries;
    uint32_t n_entries;
    const struct dlc_meta *metadata;
    uint32_t n_metadata;
    const struct dlc_graph *graphs;
    uint32_t n_graphs;
    const char *const *stray_params; /* v3: layers that model.params names and model does not */
    size_t n_stray_params;
};

/* Opens and reads a container; verifies every offset, count and size before use. Payload bytes are not touched, and
 * stored entries not compared with their CRCs (dlc_verify does). ODLC_ERR_IO: the file cannot be opened or read;
 * ODLC_ERR_INVALID: it is no container, or damaged; ODLC_ERR_UNSUPPORTED: another version than 3 and 4, or a zip that
 * is encrypted or packed by an unknown method; ODLC_ERR_LIMIT: larger than docs/limits.md says. */
odlc_status dlc_read(struct arena *arena, struct diags *diags, const char *path, struct dlc_file **out) MUST_USE;

/* dlc_read of a file that is open. Of a file with a source nothing but payloads stays to be read, which must be done by
 * view_elements and the functions that know far views (ir/view.h). */
odlc_status dlc_read_file(struct arena *arena, struct diags *diags, struct file *file, struct dlc_file **out) MUST_USE;

/* Entries, metadata and version, without graphs: of a container that dlc_read refuses because of the version. Fails as
 * dlc_read_file does, but for that. */
odlc_status dlc_read_outline(struct arena *arena, struct diags *diags, struct file *file,
                             struct dlc_file **out) MUST_USE;

/* Checks that names resolve and that no constant lacks its data, and compares the entries that dlc_read took in as a
 * whole, the model and the metadata, with their CRCs (a CRC of 0, as v4.1 files have, is skipped). Payload bytes are
 * not touched. ODLC_ERR_INVALID: one of this does not hold; ODLC_ERR_IO: the file cannot be read. */
odlc_status dlc_verify_graphs(struct diags *diags, const struct dlc_file *dlc) MUST_USE;
/* Compares all entries with their CRCs, for which the whole file is read. progress counts bytes; NULL: nobody wants to
 * know. Fails as dlc_verify_graphs does; ODLC_ERR_STOPPED: progress asked for it. */
odlc_status dlc_verify_crcs(struct diags *diags, const struct dlc_file *dlc, const struct progress *progress) MUST_USE;
/* dlc_verify_crcs, then the names and data of dlc_verify_graphs. */
odlc_status dlc_verify(struct diags *diags, const struct dlc_file *dlc, const struct progress *progress) MUST_USE;
/* Looks for oddities in a container that dlc_verify accepts (check_records.c): each finding is reported as an error.
 * The graphs' meaning is left to dlc_to_ir. ODLC_ERR_INVALID: there is a finding; ODLC_ERR_IO: the file cannot be read.
 */
odlc_status dlc_check(struct diags *diags, const struct dlc_file *dlc) MUST_USE;

/* Each NULL when there is none of that name. */
const char *dlc_metadata(const struct dlc_file *dlc, const char *key);
const struct dlc_attr *dlc_attr_find(const struct dlc_op *op, const char *name);
const struct dlc_tensor *dlc_tensor_find(const struct dlc_graph *g, const char *name);

/* ---- IR ↔ container ---- */

struct dlc_write_options {
    bool netp;                     /* inline NETP params instead of NR64 */
    uint32_t release;              /* whose spellings of ops are used (op/release.h); 0: those of 2.18 and 2.20 */
    unsigned threads;              /* for weights, at most 16; 0: one or two. Any number gives the same bytes */
    const char *converter_command; /* metadata values; NULL: "N/A" */
    const char *converter_version, *model_copyright, *model_version, *quantizer_command;
    const struct progress *progress; /* counts bytes of payloads; NULL: nobody wants to know */
    uint64_t
        most_payload; /* bytes of constants; a graph with more is an error before the first is written; 0: no limit */
    /* Called when the file is complete and verified, before the file appears under its name; NULL: nothing. */
    odlc_status (*ready)(void *user);
    void *ready_user;
    /* Not NULL: the container stays in memory, where it lives as long as the diagnostics. The path is its name there.
     */
    struct file **kept;
    /* Per tensor: the bytes that are stored for a constant in place of its elements, or NULL; NULL: of none. */
    const struct view *const *packed;
};

/* For `packed`: fixed-point constants of four bits, two elements in a byte; those with an encoding per channel row by
 * row. In the arena. */
const struct view *const *dlc_pack_4_bits(struct arena *arena, const struct graph *g);

/* Writes the graph as a v4.0 container, laid out like the vendor's release 2.18/2.20 files: streamed, atomic,
 * deterministic. Before the rename, the file is read back and compared with the graph, all but the payloads' bytes.
 * Memory: some 25 bytes a node, 24 a payload, the records of the largest op and a tile.
 * ODLC_ERR_UNSUPPORTED: a container cannot hold the graph; ODLC_ERR_LIMIT: the graph, or its weights, are too large for
 * the format or most_payload; ODLC_ERR_USAGE: path is no name for an output, or an input's; ODLC_ERR_IO: writing, or
 * reading a source of weights, failed; ODLC_ERR_INTERNAL: the file reads back differently; ODLC_ERR_STOPPED: progress
 * asked for it; else the status of `ready`. */
odlc_status dlc_write(struct arena *scratch, struct diags *diags, const struct graph *g, const char *path,
                      const struct dlc_write_options *options) MUST_USE;
/* The errors of the graph that dlc_write would report, with the same status; no file is written. path may be NULL. */
odlc_status dlc_try_write(struct arena *scratch, struct diags *diags, const struct graph *g, const char *path,
                          const struct dlc_write_options *options) MUST_USE;

/* Graph `index` of a v4 container as IR. Ops get the registry's rows; one that nothing describes gets a row without
 * kernel, which is added there (its attributes become its params, and the arena must last as long as the registry).
 * Shapes are the stored ones. Node i is op i of the record; order may be another one. ODLC_ERR_USAGE: there is no graph
 * `index`; ODLC_ERR_UNSUPPORTED: a version 3 container, or a type or role of tensors that the IR does not have;
 * ODLC_ERR_INVALID: ops, params or tensors do not fit together. */
odlc_status dlc_to_ir(struct arena *arena, struct diags *diags, struct op_registry *registry,
                      const struct dlc_file *dlc, uint32_t index, struct graph **out) MUST_USE;

/* Reads a container of one graph, compares it with its CRCs, and makes the graph. `done` is what is to be done with it,
 * for messages: "executed". progress as in dlc_verify. Fails as dlc_read, dlc_verify and dlc_to_ir do;
 * ODLC_ERR_UNSUPPORTED: a version 3 container, or another number of graphs. */
odlc_status dlc_open_graph(struct arena *arena, struct diags *diags, struct op_registry *registry, const char *path,
                           const char *done, const struct progress *progress, const struct dlc_file **dlc,
                           struct graph **out) MUST_USE;
/* How the graph of dlc_open_graph is written for a container that differs from the one it was read from in nothing but
 * what is done to the graph: form of the parameters, spellings of ops, metadata. */
struct dlc_write_options dlc_options_like(const struct dlc_file *dlc, const struct graph *g);

#endif
