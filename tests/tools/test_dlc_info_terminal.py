# SPDX-License-Identifier: Apache-2.0
"""dlc-info on a terminal: reports fit its width and lose nothing, colours are for terminals; containers of version 2; the
memory of graphs counted by hand."""

import csv
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import dlc_writer as w  # noqa: E402
import schema  # noqa: E402
from checks import SHARED, Checks, command, run  # noqa: E402

CONTAINERS = SHARED / "corpus" / "dlc"
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR", "TERM")}
LONG = "a/name/without/any/blank/that/is/longer/than/a/column/may/be/größer"


def chain(name):
    """x [4] → big [256] → small [2] → y [8], and a constant of 16 elements, in float32."""
    graph = w.Graph(name)
    graph.tensor("x", w.APP_WRITE, w.FLOAT_32, [4])
    graph.tensor("c", w.STATIC, w.FLOAT_32, [16])
    graph.tensor("big", w.NATIVE, w.FLOAT_32, [256])
    graph.tensor("small", w.NATIVE, w.FLOAT_32, [2])
    graph.tensor("y", w.APP_READ, w.FLOAT_32, [8])
    package = w.text("packageName", "Pack")
    graph.op("first", "A", ["x"], ["big"], [package])
    graph.op(LONG, "B", ["big", "c"], ["small"], [package])
    graph.op("last", "C", ["small"], ["y"], [package])
    return graph


def has_terminals():
    """Whether there are pseudo-terminals: a bare root has none."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def on_terminal(*args, columns=100, **more):
    """What a command prints on a terminal of that width."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen([command("dlc-info"), *map(str, args)], stdout=slave, stderr=subprocess.DEVNULL,
                               env={**ENVIRONMENT, "TERM": "xterm", **more})
    os.close(slave)
    pieces = []
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(master)
    process.wait()
    return b"".join(pieces).decode().replace("\r\n", "\n")


def columns_of(lines):
    """The text of each column of the table of nodes, without blanks and breaks."""
    start = next(i for i, line in enumerate(lines) if "| Id" in line)
    columns = [""] * 8
    for line in lines[start + 2:]:
        if line.startswith("---"):
            break
        for i, cell in enumerate(line.strip("|").split("|")):
            columns[i] += cell.replace(" ", "")
    return columns


def width(checks, path):
    free = run("dlc-info", "-i", path, env=ENVIRONMENT).stdout.splitlines()
    for columns in (90, 120, 200):
        fitted = run("dlc-info", "-i", path, "--wide", env={**ENVIRONMENT, "COLUMNS": str(columns)}).stdout.splitlines()
        tables = [line for line in fitted if line.startswith(("|", "---", "==="))]
        checks.equal(f"{columns} columns: widest line", max(map(len, tables)) <= columns, True)
        checks.equal(f"{columns} columns: nothing is lost", columns_of(fitted), columns_of(free))
        checks.equal(f"{columns} columns: bars are straight", {len(line) for line in tables if line.count("|") == 9},
                     {next(len(line) for line in tables if "| Id" in line)})
    checks.check("the table is wider", max(map(len, free)) > 200)
    narrow = run("dlc-info", "-i", path, "-w", env={**ENVIRONMENT, "COLUMNS": "10"})
    checks.equal("no room at all", (narrow.returncode, columns_of(narrow.stdout.splitlines())), (0, columns_of(free)))
    for nonsense in ("0", "-5", "80x", "", "99999999999999999999"):
        done = run("dlc-info", "-i", path, env={**ENVIRONMENT, "COLUMNS": nonsense})
        checks.equal(f"COLUMNS={nonsense!r} is no width", done.stdout.splitlines(), free)


def terminal(checks, path):
    plain = run("dlc-info", "-i", path, env=ENVIRONMENT).stdout
    checks.check("no colours in a pipe", "\x1b" not in plain)
    shown = on_terminal("-i", path, "--wide")
    checks.check("colours on a terminal", "\x1b[1mInfo of graph: chain\x1b[0m" in shown, shown)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    checks.check("width of the terminal", max(len(line) for line in bare if line.startswith(("|", "-"))) <= 100)
    checks.equal("nothing is lost", columns_of(bare), columns_of(plain.splitlines()))
    checks.check("NO_COLOR", "\x1b" not in on_terminal("-i", path, NO_COLOR="1"))
    checks.check("an empty NO_COLOR is none", "\x1b" in on_terminal("-i", path, NO_COLOR=""))
    checks.check("a terminal without colours", "\x1b" not in on_terminal("-i", path, TERM="dumb"))
    checks.check("JSON has no colours", json.loads(on_terminal("-i", path, "--json"))["graphs"][0]["name"] == "chain")
    checks.check("findings", "\x1b[1;32mnothing found\x1b[0m" in on_terminal("-i", path, "--verify"))
    checks.check("statistics", "\x1b[1m| Values" in on_terminal("-i", path, "--tensor", "c"))


def compact(checks, path):
    """A line for each node, at any width that has room for the costs."""
    for columns in (80, 100):
        lines = run("dlc-info", path, env={**ENVIRONMENT, "COLUMNS": str(columns)}).stdout.splitlines()
        checks.check(f"compact: {columns} columns", max(len(line) for line in lines if line.startswith(("|", "---", "==="))) <= columns, lines)
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if re.match(r"\| \d", line)]
        limit = columns - 63
        name = LONG if len(LONG) <= limit else "..." + LONG[-(limit - 3):]
        checks.equal(f"compact: {columns} columns: rows", rows, [["0", "first", "A", "256", "", ""],
                                                                 ["1", name, "B", "2", "", ""],
                                                                 ["2", "last", "C", "8", "", ""]])
        checks.check("compact: says how to see the rest", any("--wide shows" in line for line in lines), lines)
    long = run("dlc-info", path, env={**ENVIRONMENT, "COLUMNS": "20"}).stdout.splitlines()
    checks.equal("compact: headings are cut", [line for line in long if line.startswith("DLC created")], ["DLC created with ..."])


def memory(checks, path):
    graph = json.loads(run("dlc-info", "-i", path, "--json").stdout)["graphs"][0]
    # the constant; the input, which stays; big and small, while the second op runs
    checks.equal("memory", (graph["memory_constants"], graph["memory_activations"], graph["memory"], graph["memory_peak"]),
                 (16 * 4, (4 + 256 + 2) * 4, (16 + 4 + 256 + 2) * 4, LONG))
    lines = run("dlc-info", "-i", path, "-m").stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Est. Steady-State Memory"))
    checks.equal("memory as text", lines[start:start + 3],
                 ["Est. Steady-State Memory Needed to Run: 0.0 MiB",
                  "  parameters and other constants: 0.0 MiB (64 bytes)",
                  f"  inputs and largest live set of activations: 0.0 MiB (1048 bytes), at {LONG}"])


def memory_of_version_3(checks):
    graph = json.loads(run("dlc-info", "-i", CONTAINERS / "selu-udo.v3.dlc", "--json").stdout)["graphs"][0]
    # input 28x28; then the convolution's result of 26x26x28 with the pooled 13x13x28, in float32
    checks.equal("memory of version 3", graph["memory_activations"], 4 * (28 * 28 + 26 * 26 * 28 + 13 * 13 * 28))
    checks.equal("weights of version 3", graph["memory_constants"], 4 * graph["parameters"])


def patterns(checks, path):
    done = run("dlc-info", "-i", path, "--nodes", "*ast")
    checks.equal("pattern", [line.split("|")[2].strip() for line in done.stdout.splitlines() if re.match(r"\| \d", line)],
                 ["last"])
    checks.equal("no warning", done.stderr, "")
    done = run("dlc-info", "-i", path, "--nodes", "nobody")
    checks.equal("nothing matches", (done.returncode, "no node has a name that matches nobody" in done.stderr), (0, True))


def two_graphs(checks, folder):
    path, table = folder / "two.dlc", folder / "two.csv"
    w.write_container(path, chain("one"), chain("two"))
    done = run("dlc-info", "-i", path, "-s", table)
    checks.equal("graph by graph", [line for line in done.stdout.splitlines() if line.startswith("Info of graph")],
                 ["Info of graph: one", "Info of graph: two"])
    names = [row[1] for row in csv.reader(table.open(newline=""))]
    checks.equal("rows of both, headers once", names, ["Name", "first", LONG, "last", "first", LONG, "last"])
    checks.equal("no finding", run("dlc-info", "-i", path, "--verify").returncode, 0)
    w.write_container(path, chain("one"), chain("one"))
    done = run("dlc-info", "-i", path, "--verify")
    checks.equal("two of one name", (done.returncode, "two graphs are named one" in done.stdout), (1, True))


def version_2(checks, folder):
    path = folder / "old.dlc"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model", struct.pack("<4H", 0x0AD5, 2, 0, 0) + bytes(64))
        archive.writestr("dlc.metadata", "converter-version=1.0.1\nmodel-version=seven\n")
        archive.writestr("aip.metadata0", b"12345")
    done = run("dlc-info", "-i", path)
    lines = done.stdout.splitlines()
    for line in ("Model Version: seven", "Converter command: N/A", "DLC created with converter version: 1.0.1",
                 "DLC format: 2.0, parameters: none", "| aip.metadata0 | 5     |"):
        checks.check(f"version 2 has '{line}'", line in lines, done.stdout)
    checks.equal("version 2 status", done.returncode, 1)
    checks.check("version 2 sentence", "this is a version 2 container, whose layout is not documented" in done.stderr)
    done = run("dlc-info", "-i", path, "--json")
    report = json.loads(done.stdout)
    checks.equal("version 2 schema", schema.faults(report), [])
    checks.equal("version 2 JSON", (done.returncode, report["format"], report["graphs"], report["metadata"][0]),
                 (1, {"major": 2, "minor": 0, "params": "none"}, [], {"key": "converter-version", "value": "1.0.1"}))
    done = run("dlc-info", "-i", path, "--verify")
    checks.equal("version 2 cannot be verified", (done.returncode, "1 finding" in done.stdout), (1, True))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = folder / "chain.dlc"
        w.write_container(path, chain("chain"))
        width(checks, path)
        compact(checks, path)
        if has_terminals():
            terminal(checks, path)
        else:
            checks.skip("terminals", "the system has no pseudo-terminals")
        memory(checks, path)
        patterns(checks, path)
        two_graphs(checks, folder)
        version_2(checks, folder)
        if CONTAINERS.is_dir():
            memory_of_version_3(checks)
        else:
            checks.skip("real containers", f"{CONTAINERS} is not there")
    checks.finish()


main()
