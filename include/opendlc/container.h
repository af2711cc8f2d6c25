/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into a DLC container: versions 3, 4.0 and 4.1 of the model stream.
 *
 *     odlc_container *c = odlc_container_new();
 *     if (odlc_container_open(c, "model.dlc") != ODLC_OK)
 *         … odlc_container_diags(c, &count) says why …
 *     size_t n;
 *     const struct odlc_graph *graphs = odlc_container_graphs(c, &n);
 *     odlc_container_free(c);
 *
 * Everything that is handed out belongs to the container and stays as it is until odlc_container_free. The file is
 * mapped, not read, and must not be changed meanwhile. A container may be used by one thread at a time, several
 * containers by as many threads. Every function here that can fail returns ODLC_ERR_NOMEM when memory runs out; the
 * container is fit for odlc_container_free only then. */
#ifndef OPENDLC_CONTAINER_H
#define OPENDLC_CONTAINER_H

#include "opendlc/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct odlc_container odlc_container;

/* How the elements of a type are to be read. */
typedef enum odlc_class {
    ODLC_CLASS_UNKNOWN,
    ODLC_CLASS_BOOL,
    ODLC_CLASS_INT,
    ODLC_CLASS_UINT,
    ODLC_CLASS_FLOAT,
    ODLC_CLASS_STRING,
    ODLC_CLASS_FIXED /* quantized: real = (q + offset) * scale */
} odlc_class;

/* real = (q + offset) * scale */
struct odlc_encoding {
    uint32_t bitwidth;
    double min, max, scale;
    int32_t offset;
};

struct odlc_tensor {
    uint32_t id; /* as stored; 0 in version 3 */
    const char *name;
    const char *kind;    /* APP_WRITE (graph input), APP_READ (graph output), NATIVE, STATIC, NULL, or UNKNOWN */
    const char *dtype;   /* "Float_32"; "Undefined" when the code is unknown */
    uint32_t dtype_code; /* as stored */
    odlc_class element;
    uint32_t rank;
    const int64_t *dims;
    uint64_t count;        /* the product of dims */
    uint32_t axis_format;  /* as stored */
    uint32_t n_encodings;  /* 0: not quantized */
    int32_t encoding_axis; /* encodings run along this axis; -1: one for the whole tensor */
    const struct odlc_encoding *encodings;
    const void
        *data; /* the elements as stored, row-major and little-endian; NULL when there are none, and for strings */
    uint64_t data_size;
    const void *handle; /* for the functions below */
    int overridden;     /* the encodings are given from outside of the quantizer, which keeps to them */
};

typedef enum odlc_value_kind {
    ODLC_VALUE_BOOL,
    ODLC_VALUE_INT,
    ODLC_VALUE_UINT,
    ODLC_VALUE_FLOAT,
    ODLC_VALUE_STRING,
    ODLC_VALUE_TENSOR,
    ODLC_VALUE_NESTED /* version 3: a list of named values */
} odlc_value_kind;

struct odlc_attribute {
    const char *name;
    odlc_value_kind kind;
    int supplemental;  /* not one of the op's own parameters */
    const char *dtype; /* of a scalar, as for tensors; NULL in version 3 */
    int64_t i;         /* BOOL, INT; UINT as the same bits */
    double f;
    const char *s;
    const struct odlc_tensor *tensor;
    const struct odlc_attribute *nested;
    size_t n_nested;
};

struct odlc_operand {
    const char *name;                 /* "" for an absent optional one */
    const struct odlc_tensor *tensor; /* NULL when it is absent or the graph does not describe it */
};

/* Bits of odlc_op.runtimes. */
enum { ODLC_RUNTIME_CPU = 1, ODLC_RUNTIME_GPU = 2, ODLC_RUNTIME_DSP = 4 };

struct odlc_op {
    uint32_t id;
    const char *name, *type;
    const char *package; /* "qti.aisw" for native ops; NULL when the container does not say */
    const struct odlc_operand *inputs, *outputs;
    size_t n_inputs, n_outputs;
    const struct odlc_attribute *attributes; /* in stored order */
    size_t n_attributes;
    const struct odlc_tensor *params; /* version 3: the layer's own weights and bias */
    size_t n_params;
    uint64_t parameters; /* elements of weights and bias; see odlc_graph.counted */
    uint64_t macs;       /* multiply-accumulates of one inference; see odlc_graph.counted */
    int executable;      /* OpenDLC has a kernel for it, or an op package for the CPU was added */
    unsigned runtimes;   /* the processors that are known to execute it: the CPU if it is executable, and those that
                            op packages have it for */
    const char *operator_name; /* its name in the master list of native operators, which type and params say; NULL: it
                                  is not native, or not known, or the container is of version 3 */
};

/* Processors for which lists of operators are published. */
typedef enum odlc_processor {
    ODLC_PROCESSOR_CPU,
    ODLC_PROCESSOR_GPU,
    ODLC_PROCESSOR_DSP, /* v66 */
    ODLC_PROCESSOR_AIP, /* HTA and DSP */
    ODLC_PROCESSOR_HTP, /* DSP from v68 on */
    ODLC_PROCESSORS     /* how many there are */
} odlc_processor;

/* What a published list says. */
typedef enum odlc_listing {
    ODLC_LISTING_UNKNOWN, /* no list was found that speaks of it */
    ODLC_LISTING_NO,
    ODLC_LISTING_YES
} odlc_listing;

struct odlc_graph {
    const char *name;
    const struct odlc_op *ops;
    size_t n_ops;
    const struct odlc_tensor *tensors;
    size_t n_tensors;
    const struct odlc_tensor *const *inputs, *const *outputs;
    size_t n_inputs, n_outputs;
    int counted;         /* 0: the graph could not be interpreted (a warning says why), the numbers below are 0 */
    uint64_t parameters; /* of all ops; weights that two ops share count twice */
    uint64_t macs;
    /* Estimates in bytes. Activations are the graph's inputs, which live throughout, and the largest set of other
     * tensors that live at once: while op `peak` runs. */
    uint64_t memory; /* of the two */
    uint64_t memory_constants, memory_activations;
    size_t peak; /* index of the op; n_ops when there is none */
};

struct odlc_metadata {
    const char *key, *value;
};

/* A file inside the container. */
struct odlc_entry {
    const char *name;
    uint64_t offset, size; /* of its bytes; a compressed one: offset of the packed bytes, size when unpacked */
    uint32_t crc;          /* as stored; files of 4.1 have 0 */
    int compressed;
    const void *stored; /* its bytes in the file, packed when it is compressed */
    uint64_t stored_size;
};

struct odlc_summary {
    const char *path;
    uint32_t major, minor;     /* version of the model stream */
    const char *params_format; /* "NR64", "NETP", "bin" or "none" */
    const char *model_version, *model_copyright, *converter_command, *quantizer_command,
        *converter_version;               /* or "N/A" */
    const struct odlc_metadata *metadata; /* all of it, in stored order */
    size_t n_metadata;
    const struct odlc_entry *entries;
    size_t n_entries;
};

/* An empty container, which belongs to the caller; NULL when memory runs out. */
ODLC_API odlc_container *odlc_container_new(void);
/* NULL is allowed. */
ODLC_API void odlc_container_free(odlc_container *container);

/* Opens a file; once per container. The parts that are read are checked: the zip, the model and the metadata (with
 * their CRCs), and where the elements of constants lie. The elements themselves stay unread until a function asks for
 * them, and only odlc_container_verify compares the CRC of their entry. After a failure odlc_container_diags,
 * odlc_container_summary and odlc_container_free alone are allowed.
 *
 * ODLC_ERR_USAGE: the container has a file already. ODLC_ERR_IO: the file cannot be read. ODLC_ERR_INVALID: the file is
 * no container, or a damaged one. ODLC_ERR_UNSUPPORTED: a container of a version whose graphs cannot be read; the
 * summary has its path, metadata and entries then. ODLC_ERR_LIMIT: larger than docs/limits.md allows. */
ODLC_API odlc_status odlc_container_open(odlc_container *container, const char *path) ODLC_MUST_USE;

/* The same for a container in memory. The bytes must stay as they are until odlc_container_free; the name, which is the
 * path of the summary and in diagnostics, is copied. */
ODLC_API odlc_status odlc_container_open_bytes(odlc_container *container, const struct odlc_bytes *bytes) ODLC_MUST_USE;

/* Adds what a registration library (lib<Udo><Package>Reg.so) says of an open container's ops: `executable` and
 * `runtimes` of those of its package. The library is loaded, which runs its code in this process, and given back;
 * implementations are not looked for. ODLC_ERR_USAGE: the container is not open. ODLC_ERR_IO: the library is missing or
 * cannot be loaded. ODLC_ERR_UNSUPPORTED: it was compiled with other headers, or has another version of the interface.
 * ODLC_ERR_INVALID: it is no registration library, one of its calls fails, or what it says cannot be. */
ODLC_API odlc_status odlc_container_add_op_package(odlc_container *container, const char *path) ODLC_MUST_USE;

/* Gives back the memory of the file's pages that were read so far; pages that are needed again are read again. For
 * callers that read much of a large container, from time to time. */
ODLC_API void odlc_container_release(const odlc_container *container);

/* Who is told how far odlc_container_verify and odlc_container_page are (opendlc/report.h), in bytes of the file or of
 * constants; may stop them. fn NULL: nobody. The function and its user must last as long as it is set. */
ODLC_API void odlc_container_set_progress(odlc_container *container, odlc_work_fn *fn, void *user);

/* Looks through an open container for all faults beyond those that odlc_container_open refuses: CRCs of all entries,
 * for which the whole file is read, headers of entries, ids, names, order of ops, params against the model, sizes,
 * encodings, shapes that do not follow from their inputs. Each fault is an error among the diagnostics.
 *
 * ODLC_ERR_INVALID: there are faults. ODLC_ERR_USAGE: the container is not open. ODLC_ERR_STOPPED: the progress
 * function asked for it; the container is as before then, but for a diagnostic. Other statuses are those of
 * odlc_container_open. */
ODLC_API odlc_status odlc_container_verify(odlc_container *container) ODLC_MUST_USE;

/* All diagnostics so far, oldest first: errors, and warnings of a successful open. */
ODLC_API const struct odlc_diag *odlc_container_diags(const odlc_container *container, size_t *count);

/* The file as a whole. The path is NULL before odlc_container_open, and after a failure but ODLC_ERR_UNSUPPORTED. */
ODLC_API const struct odlc_summary *odlc_container_summary(const odlc_container *container);
/* The graphs of an open container, in stored order. */
ODLC_API const struct odlc_graph *odlc_container_graphs(const odlc_container *container, size_t *count);

/* By name, of an open container; NULL: there is none of that name, or memory ran out. For graphs NULL is the name of
 * the only one. Tensors of TensorFlow models are found as opendlc/run.h says ("node" for "node:0"). The first look-up
 * of an op makes an index. `graph` is one of odlc_container_graphs. */
ODLC_API const struct odlc_graph *odlc_container_find_graph(const odlc_container *container, const char *name);
ODLC_API const struct odlc_tensor *odlc_container_find_tensor(odlc_container *container, const struct odlc_graph *graph,
                                                              const char *name);
ODLC_API const struct odlc_op *odlc_container_find_op(odlc_container *container, const struct odlc_graph *graph,
                                                      const char *name);

/* "cpu", "gpu", "dsp", "aip", "htp"; NULL for other numbers. The text is static. */
ODLC_API const char *odlc_processor_name(odlc_processor processor);
/* Whether the published lists of the processor have the op's operator (src/op/processors.def says which lists). Pure:
 * any thread may call it. */
ODLC_API odlc_listing odlc_op_listing(const struct odlc_op *op, odlc_processor processor);
/* The dtype ("Float_32") of the first float or fixed-point tensor that the op reads or gives, constants aside, with
 * which the processor is not said to compute; NULL: there is none. Such a type may be right all the same. Pure, as
 * above. */
ODLC_API const char *odlc_op_unlisted_type(const struct odlc_op *op, odlc_processor processor);

/* Element `index` (< count) of a tensor that has data, in the order of its dims. Fixed-point elements are given as
 * stored. The first is for BOOL, INT, UINT (same bits) and FIXED, the second for numbers of any class, the third for
 * STRING. */
ODLC_API int64_t odlc_tensor_int(const struct odlc_tensor *tensor, uint64_t index);
ODLC_API double odlc_tensor_double(const struct odlc_tensor *tensor, uint64_t index);
ODLC_API const char *odlc_tensor_string(const struct odlc_tensor *tensor, uint64_t index);
/* `count` elements from `first` on as odlc_tensor_double gives them; not for STRING. */
ODLC_API void odlc_tensor_doubles(const struct odlc_tensor *tensor, uint64_t first, size_t count, double *out);
/* `count` elements from `first` on as the reals that they stand for: fixed-point ones by the tensor's encodings, or as
 * stored when it has none. Not for STRING. */
ODLC_API void odlc_tensor_reals(const struct odlc_tensor *tensor, uint64_t first, uint64_t count, double *reals);
/* Whether the functions above may be called for a tensor: the container holds its elements, of a known class. */
ODLC_API int odlc_tensor_readable(const struct odlc_tensor *tensor);

#ifdef __cplusplus
}
#endif
#endif
