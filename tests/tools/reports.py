# SPDX-License-Identifier: Apache-2.0
"""Reads the text that dlc-info, or the tool that it replaces, prints."""

import re

COLUMNS = ["Id", "Name", "Type", "Inputs", "Outputs", "Out Dims", "Runtimes", "Parameters"]
TENSOR = re.compile(r"(?P<name>.*) \(data type: (?P<dtype>\w+); tensor dimension: \[(?P<dims>[\d,]*)\]; "
                    r"tensor type: (?P<kind>\w+)\)(?P<mark>| \[NW Input\])")


def rows_of(report):
    """The table of nodes: one list of cells a row, each cell a list of lines; and the lines of the report."""
    rows, lines, cut = [], report.splitlines(), False
    start = next(i for i, line in enumerate(lines) if line.startswith("| Id"))
    for line in lines[start + 2:]:
        if line.startswith("---"):
            break
        cells = [cell.strip() for cell in line[1:-1].split("|")]
        if len(cells) != len(COLUMNS):
            cut = True  # where the capture was cut, and the rest of a row may follow
            continue
        if cells[0]:
            rows.append([[] for _ in COLUMNS])
            cut = False
        for column, cell in enumerate(cells):
            if cell and not cut:
                rows[-1][column].append(cell)
    return rows, lines
