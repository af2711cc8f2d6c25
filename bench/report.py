# SPDX-License-Identifier: Apache-2.0
"""Tables of measured runs, as text or as Markdown."""

from measure import medians, paired

HEAD = ["command", "runs", "CPU s", "elapsed s", "CPU ÷ cp", "elapsed ÷ cp", "peak MB", "bytes a node"]
MARGIN = 32_000_000  # Bytes that a process may take apart from its nodes.


def bytes_a_node(peak, nodes):
    """Bytes that a node takes, beyond the margin."""
    return max(0.0, (peak - MARGIN) / nodes)


def row(title, runs, copies, nodes):
    middle = medians(runs)
    ratios = ["", ""] if runs is copies else [str(paired(runs, copies, key)) for key in ("cpu", "wall")]
    return [title, str(len(runs)), f"{middle.cpu:.3f}", f"{middle.wall:.3f}", *ratios, f"{middle.peak / 1e6:.1f}",
            f"{bytes_a_node(middle.peak, nodes):.0f}" if nodes else ""]


def table(measured, failures, nodes):
    """Rows of one model: {title: runs} and {title: what went wrong}. A command that failed has no figures."""
    copies = measured["cp"]
    rows = [row(title, runs, copies, nodes) for title, runs in measured.items()]
    rows += [[title, "", why] for title, why in failures.items()]
    width = len(HEAD) if nodes else len(HEAD) - 1
    return [HEAD[:width], *(cells[:width] for cells in rows)]


def as_text(rows):
    full = [cells for cells in rows if len(cells) == len(rows[0])]
    widths = [max(len(cells[i]) for cells in full) for i in range(len(rows[0]))]
    widths[0] = max(len(cells[0]) for cells in rows)
    lines = []
    for cells in rows:
        if len(cells) < len(rows[0]):
            lines.append(f"  {cells[0]:{widths[0]}}  {cells[-1]}")
        else:
            lines.append("  " + f"{cells[0]:{widths[0]}}" +
                         "".join(f"  {cell:>{width}}" for cell, width in zip(cells[1:], widths[1:])))
    return "\n".join(lines)


def as_markdown(rows):
    width = len(rows[0])
    lines = ["| " + " | ".join(rows[0]) + " |", "|---" + "|---:" * (width - 1) + "|"]
    for cells in rows[1:]:
        cells = [cell.replace("|", "\\|") for cell in cells]
        lines.append("| " + " | ".join(cells + [""] * (width - len(cells))) + " |")
    return "\n".join(lines)
