# SPDX-License-Identifier: Apache-2.0
"""The structs of the C headers (include/opendlc), member for member."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

WORK_FN = CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64)


class Bytes(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("data", c_void_p), ("size", c_size_t)]


class NameValue(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class Member(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("offset", c_size_t)]


class Diag(ctypes.Structure):
    _fields_ = [("severity", c_int), ("code", c_char_p), ("file", c_char_p), ("line", c_uint32), ("column", c_uint32),
                ("pointer", c_char_p), ("node", c_char_p), ("attribute", c_char_p), ("offset", c_uint64),
                ("has_offset", c_int), ("message", c_char_p), ("hint", c_char_p), ("excerpt", c_char_p)]


class Encoding(ctypes.Structure):
    _fields_ = [("bitwidth", c_uint32), ("min", c_double), ("max", c_double), ("scale", c_double), ("offset", c_int32)]


class Tensor(ctypes.Structure):
    _fields_ = [("id", c_uint32), ("name", c_char_p), ("kind", c_char_p), ("dtype", c_char_p), ("dtype_code", c_uint32),
                ("element", c_int), ("rank", c_uint32), ("dims", POINTER(c_int64)), ("count", c_uint64),
                ("axis_format", c_uint32), ("n_encodings", c_uint32), ("encoding_axis", c_int32),
                ("encodings", POINTER(Encoding)), ("data", c_void_p), ("data_size", c_uint64), ("handle", c_void_p),
                ("overridden", c_int)]


class Attribute(ctypes.Structure):
    pass


Attribute._fields_ = [("name", c_char_p), ("kind", c_int), ("supplemental", c_int), ("dtype", c_char_p), ("i", c_int64),
                      ("f", c_double), ("s", c_char_p), ("tensor", POINTER(Tensor)), ("nested", POINTER(Attribute)),
                      ("n_nested", c_size_t)]


class Operand(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("tensor", POINTER(Tensor))]


class Op(ctypes.Structure):
    _fields_ = [("id", c_uint32), ("name", c_char_p), ("type", c_char_p), ("package", c_char_p),
                ("inputs", POINTER(Operand)), ("outputs", POINTER(Operand)), ("n_inputs", c_size_t),
                ("n_outputs", c_size_t), ("attributes", POINTER(Attribute)), ("n_attributes", c_size_t),
                ("params", POINTER(Tensor)), ("n_params", c_size_t), ("parameters", c_uint64), ("macs", c_uint64),
                ("executable", c_int), ("runtimes", c_uint), ("operator_name", c_char_p)]


class Graph(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("ops", POINTER(Op)), ("n_ops", c_size_t), ("tensors", POINTER(Tensor)),
                ("n_tensors", c_size_t), ("inputs", POINTER(POINTER(Tensor))), ("outputs", POINTER(POINTER(Tensor))),
                ("n_inputs", c_size_t), ("n_outputs", c_size_t), ("counted", c_int), ("parameters", c_uint64),
                ("macs", c_uint64), ("memory", c_uint64), ("memory_constants", c_uint64),
                ("memory_activations", c_uint64), ("peak", c_size_t)]


class Metadata(ctypes.Structure):
    _fields_ = [("key", c_char_p), ("value", c_char_p)]


class Summary(ctypes.Structure):
    _fields_ = [("path", c_char_p), ("major", c_uint32), ("minor", c_uint32), ("params_format", c_char_p),
                ("model_version", c_char_p), ("model_copyright", c_char_p), ("converter_command", c_char_p),
                ("quantizer_command", c_char_p), ("converter_version", c_char_p), ("metadata", POINTER(Metadata)),
                ("n_metadata", c_size_t), ("entries", c_void_p), ("n_entries", c_size_t)]


class OpReport(ctypes.Structure):
    _fields_ = [("node", c_char_p), ("op_type", c_char_p), ("domain", c_char_p), ("version", c_int64), ("status", c_int),
                ("package", c_char_p)]


class ConversionSummary(ctypes.Structure):
    _fields_ = [("model_nodes", c_uint32), ("ops", c_uint32), ("udo_ops", c_uint32), ("permutes_inserted", c_uint32),
                ("static_bytes", c_uint64)]


class Progress(ctypes.Structure):
    _fields_ = [("stage", c_int), ("done", c_uint64), ("total", c_uint64)]


class IO(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("dtype", c_char_p), ("rank", c_uint32), ("dims", POINTER(c_int64)),
                ("count", c_uint64), ("native_size", c_uint64), ("node", c_char_p), ("op", c_char_p), ("needed", c_int)]


class Step(ctypes.Structure):
    _fields_ = [("node", c_char_p), ("op", c_char_p), ("backend", c_char_p), ("n_nodes", c_size_t), ("begin", c_uint64),
                ("nanoseconds", c_uint64)]


class DiffStatistics(ctypes.Structure):
    _fields_ = [("elements", c_uint64), ("differing", c_uint64), ("has_stored", c_int), ("stored", c_uint64),
                ("numbers", c_int), ("special", c_uint64), ("max_absolute", c_double), ("max_relative", c_double),
                ("cosine", c_double), ("worst", c_uint64), ("worst_values", c_double * 2)]


class Difference(ctypes.Structure):
    _fields_ = [("category", c_int), ("graph", c_char_p), ("layer", c_char_p), ("subject", c_char_p), ("same", c_int),
                ("values", c_char_p * 2), ("statistics", POINTER(DiffStatistics))]


class DiffOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("categories", c_uint), ("by_id", c_int), ("hits", c_int), ("progress", WORK_FN),
                ("progress_user", c_void_p)]


class ReportOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("nodes", c_char_p), ("targets", c_uint), ("all_encodings", c_int),
                ("memory", c_int), ("compact", c_int), ("width", c_size_t), ("colours", c_int)]


class PageOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("graph", c_char_p), ("before", c_void_p), ("report", POINTER(Bytes)),
                ("explanation", POINTER(Bytes))]


# Structs by their names in C, for the test that compares them with the headers.
BY_NAME = {
    "odlc_bytes": Bytes, "odlc_name_value": NameValue, "odlc_member": Member, "odlc_diag": Diag, "odlc_encoding": Encoding,
    "odlc_tensor": Tensor, "odlc_attribute": Attribute, "odlc_operand": Operand, "odlc_op": Op, "odlc_graph": Graph,
    "odlc_metadata": Metadata, "odlc_summary": Summary, "odlc_op_report": OpReport,
    "odlc_conversion_summary": ConversionSummary, "odlc_progress": Progress, "odlc_io": IO, "odlc_step": Step,
    "odlc_diff_statistics": DiffStatistics, "odlc_difference": Difference, "odlc_diff_options": DiffOptions,
    "odlc_report_options": ReportOptions, "odlc_page_options": PageOptions,
}
