# SPDX-License-Identifier: Apache-2.0
"""OpenDLC from Python: DLC containers, converted, inspected, compared, executed and quantized.

    import opendlc

    made = opendlc.convert("digits.onnx")                 # in memory
    with made.open() as container:
        print(container.graph().ops_table())
    with opendlc.Run(made.container) as run:
        scores = run({"image": image})["scores"]

Functions release the GIL while the library works; an object is for one thread at a time, several objects for as many
threads. Ctrl-C ends a long call at its next step.
"""

from ._convert import Conversion, convert
from ._diff import Diff, diff
from ._errors import (Diagnostic, Error, InternalError, InvalidError, IOFailedError, LimitError, StoppedError,
                      UnsupportedError, UsageError)
from ._inspect import Container, Graph, Op, Tensor
from ._library import version
from ._quantize import Quantized, quantize
from ._run import Run, run

__version__ = version()

__all__ = [
    "Container", "Conversion", "Diagnostic", "Diff", "Error", "Graph", "IOFailedError", "InternalError", "InvalidError",
    "LimitError", "Op", "Quantized", "Run", "StoppedError", "Tensor", "UnsupportedError", "UsageError", "convert", "diff",
    "quantize", "run", "version",
]
