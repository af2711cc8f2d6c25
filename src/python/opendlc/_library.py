# SPDX-License-Identifier: Apache-2.0
"""Finds libopendlc and declares its functions."""

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p

from . import _structs as c

NAME = "libopendlc.so.0"
LEAST_VERSION = 1000  # 0.1.0
_LIST = POINTER(c_char_p)
WORK_FN = c.WORK_FN
PROGRESS_FN = CFUNCTYPE(c_int, c_void_p, POINTER(c.Progress))

_SIZE = POINTER(c_size_t)
_FUNCTIONS = {
    "odlc_version": (c_char_p, []),
    "odlc_version_number": (c_int, []),
    "odlc_status_name": (c_char_p, [c_int]),
    "odlc_diag_format": (c_size_t, [POINTER(c.Diag), c_int, c_char_p, c_char_p, c_size_t]),
    "odlc_text_free": (None, [c_void_p]),
    "odlc_convert_defaults": (None, [c_void_p, c_size_t]),
    "odlc_convert_members": (POINTER(c.Member), [_SIZE, _SIZE]),
    "odlc_convert": (c_int, [c_int, c_void_p, POINTER(c_void_p)]),
    "odlc_conversion_free": (None, [c_void_p]),
    "odlc_conversion_diags": (POINTER(c.Diag), [c_void_p, _SIZE]),
    "odlc_conversion_ops": (POINTER(c.OpReport), [c_void_p, _SIZE]),
    "odlc_conversion_inputs": (_LIST, [c_void_p, _SIZE]),
    "odlc_conversion_udo_stub": (c_char_p, [c_void_p]),
    "odlc_conversion_container": (c_void_p, [c_void_p, _SIZE]),
    "odlc_conversion_summary": (c.ConversionSummary, [c_void_p]),
    "odlc_stage_name": (c_char_p, [c_int]),
    "odlc_container_new": (c_void_p, []),
    "odlc_container_free": (None, [c_void_p]),
    "odlc_container_open": (c_int, [c_void_p, c_char_p]),
    "odlc_container_open_bytes": (c_int, [c_void_p, POINTER(c.Bytes)]),
    "odlc_container_set_progress": (None, [c_void_p, WORK_FN, c_void_p]),
    "odlc_container_verify": (c_int, [c_void_p]),
    "odlc_container_diags": (POINTER(c.Diag), [c_void_p, _SIZE]),
    "odlc_container_summary": (POINTER(c.Summary), [c_void_p]),
    "odlc_container_graphs": (POINTER(c.Graph), [c_void_p, _SIZE]),
    "odlc_container_find_graph": (POINTER(c.Graph), [c_void_p, c_char_p]),
    "odlc_container_find_tensor": (POINTER(c.Tensor), [c_void_p, POINTER(c.Graph), c_char_p]),
    "odlc_container_find_op": (POINTER(c.Op), [c_void_p, POINTER(c.Graph), c_char_p]),
    "odlc_container_json": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), _SIZE]),
    "odlc_container_text": (c_int, [c_void_p, POINTER(c.ReportOptions), POINTER(c_void_p), _SIZE]),
    "odlc_container_csv": (c_int, [c_void_p, POINTER(c.ReportOptions), POINTER(c_void_p), _SIZE]),
    "odlc_container_tensor_json": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), _SIZE]),
    "odlc_container_tensor_text": (c_int, [c_void_p, c_char_p, POINTER(c.ReportOptions), POINTER(c_void_p), _SIZE]),
    "odlc_container_findings_json": (c_int, [c_void_p, POINTER(c_void_p), _SIZE]),
    "odlc_container_findings_text": (c_int, [c_void_p, POINTER(c.ReportOptions), POINTER(c_void_p), _SIZE]),
    "odlc_container_page": (c_int, [c_void_p, POINTER(c.PageOptions), POINTER(c_void_p), _SIZE]),
    "odlc_tensor_int": (c_int64, [POINTER(c.Tensor), c_uint64]),
    "odlc_tensor_string": (c_char_p, [POINTER(c.Tensor), c_uint64]),
    "odlc_tensor_doubles": (None, [POINTER(c.Tensor), c_uint64, c_size_t, POINTER(c_double)]),
    "odlc_tensor_reals": (None, [POINTER(c.Tensor), c_uint64, c_uint64, POINTER(c_double)]),
    "odlc_tensor_readable": (c_int, [POINTER(c.Tensor)]),
    "odlc_diff_new": (c_int, [c_void_p, c_void_p, POINTER(c.DiffOptions), POINTER(c_void_p)]),
    "odlc_diff_free": (None, [c_void_p]),
    "odlc_diff_same": (c_int, [c_void_p]),
    "odlc_diff_list": (POINTER(c.Difference), [c_void_p, _SIZE]),
    "odlc_diff_notes": (_LIST, [c_void_p, _SIZE]),
    "odlc_diff_count": (None, [c_void_p, c_int, POINTER(c_uint64), POINTER(c_uint64)]),
    "odlc_diff_json": (c_int, [c_void_p, POINTER(c_void_p), _SIZE]),
    "odlc_diff_text": (c_int, [c_void_p, POINTER(c.ReportOptions), POINTER(c_void_p), _SIZE]),
    "odlc_diff_csv": (c_int, [c_void_p, POINTER(c_void_p), _SIZE]),
    "odlc_diff_category_name": (c_char_p, [c_int]),
    "odlc_run_new": (c_void_p, []),
    "odlc_run_free": (None, [c_void_p]),
    "odlc_run_open": (c_int, [c_void_p, c_char_p]),
    "odlc_run_open_bytes": (c_int, [c_void_p, POINTER(c.Bytes)]),
    "odlc_run_set_progress": (None, [c_void_p, WORK_FN, c_void_p]),
    "odlc_run_graph_name": (c_char_p, [c_void_p]),
    "odlc_backend_names": (_LIST, []),
    "odlc_run_set_backends": (c_int, [c_void_p, _LIST, c_size_t]),
    "odlc_run_set_threads": (c_int, [c_void_p, c_uint]),
    "odlc_run_isolate": (c_int, [c_void_p, c_uint]),
    "odlc_run_add_op_package": (c_int, [c_void_p, c_char_p, c_char_p]),
    "odlc_run_diags": (POINTER(c.Diag), [c_void_p, _SIZE]),
    "odlc_run_want_outputs": (c_int, [c_void_p]),
    "odlc_run_want": (c_int, [c_void_p, _LIST, c_size_t]),
    "odlc_run_want_all": (c_int, [c_void_p]),
    "odlc_run_want_nodes": (c_int, [c_void_p, _LIST, c_size_t]),
    "odlc_run_inputs": (POINTER(c.IO), [c_void_p, _SIZE]),
    "odlc_run_find_input": (c_int, [c_void_p, c_char_p, _SIZE]),
    "odlc_run_set_floats": (c_int, [c_void_p, c_size_t, c_void_p, c_size_t]),
    "odlc_run_set_native": (c_int, [c_void_p, c_size_t, c_void_p, c_size_t]),
    "odlc_run_execute": (c_int, [c_void_p]),
    "odlc_run_results": (POINTER(c.IO), [c_void_p, _SIZE]),
    "odlc_run_get_floats": (c_int, [c_void_p, c_size_t, c_void_p, c_size_t]),
    "odlc_run_native": (c_void_p, [c_void_p, c_size_t]),
    "odlc_run_steps": (POINTER(c.Step), [c_void_p, _SIZE]),
    "odlc_quantize_defaults": (None, [c_void_p, c_size_t]),
    "odlc_quantize_members": (POINTER(c.Member), [_SIZE, _SIZE]),
    "odlc_quantizer_new": (c_void_p, []),
    "odlc_quantizer_free": (None, [c_void_p]),
    "odlc_quantizer_set_progress": (None, [c_void_p, WORK_FN, c_void_p]),
    "odlc_quantizer_open": (c_int, [c_void_p, c_char_p, c_void_p]),
    "odlc_quantizer_open_bytes": (c_int, [c_void_p, POINTER(c.Bytes), c_void_p]),
    "odlc_quantizer_inputs": (POINTER(c.IO), [c_void_p, _SIZE]),
    "odlc_quantizer_next": (c_int, [c_void_p, POINTER(c_int)]),
    "odlc_quantizer_set_floats": (c_int, [c_void_p, c_size_t, c_void_p, c_size_t]),
    "odlc_quantizer_set_native": (c_int, [c_void_p, c_size_t, c_void_p, c_size_t]),
    "odlc_quantizer_observe": (c_int, [c_void_p]),
    "odlc_quantizer_write": (c_int, [c_void_p, c_char_p, c_char_p]),
    "odlc_quantizer_write_bytes": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), _SIZE]),
    "odlc_quantizer_diags": (POINTER(c.Diag), [c_void_p, _SIZE]),
}


def _load():
    path = os.environ.get("OPENDLC_LIBRARY", NAME)
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"libopendlc was not found: {error}. Install OpenDLC (the package libopendlc0, or meson install and ldconfig), "
            "or set OPENDLC_LIBRARY to the path of libopendlc.so") from None
    for name, (result, arguments) in _FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} is too old a library for this package: it has no {name}") from None
        function.restype, function.argtypes = result, arguments
    if library.odlc_version_number() < LEAST_VERSION:
        raise ImportError(f"{path} is version {library.odlc_version().decode()}, and too old for this package")
    return library


lib = _load()


def version() -> str:
    """The version of the library that is used, "0.1.0"."""
    return lib.odlc_version().decode()


def text(value):
    """A C string as str; bytes that are no UTF-8 are kept as surrogates. None stays None."""
    return None if value is None else value.decode("utf-8", "surrogateescape")


def raw(value):
    """A str, path or bytes as a C string; None stays None."""
    if value is None:
        return None
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise ValueError("a name must not have a NUL")
    return encoded


def listed(function, *arguments):
    """The elements of an array that a function returns, whose count it puts where its last argument points."""
    count = c_size_t()
    first = function(*arguments, ctypes.byref(count))
    return [first[i] for i in range(count.value)]


def names(values):
    """An array of C strings, and its length."""
    if isinstance(values, (str, bytes)):
        raise TypeError("a list of names is wanted, not one name")
    encoded = [raw(value) for value in values]
    return (c_char_p * len(encoded))(*encoded), len(encoded)


def taken_text(function, *arguments):
    """(status, text) of a function that makes a text for its caller."""
    address, size = c_void_p(), c_size_t()
    status = function(*arguments, ctypes.byref(address), ctypes.byref(size))
    if status:
        return status, None
    try:
        return status, ctypes.string_at(address, size.value).decode("utf-8")
    finally:
        lib.odlc_text_free(address)
