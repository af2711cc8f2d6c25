# SPDX-License-Identifier: Apache-2.0
"""The progress line: on a terminal, for long work, and nowhere else; nothing of it is left."""

import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import Checks, command  # noqa: E402
from dlc_reader import read_container  # noqa: E402
from job_models import large_model  # noqa: E402
from terminal import ENVIRONMENT, Terminal, drawn, has_terminals, hold_up, screen  # noqa: E402

LINE = re.compile(r"(reading the model|checking ops|lowering|passes|writing)"
                  r"(: [\d.]+ of [\d.]+( MB| GB| nodes)?(, \d+ %(, \d+ MB/s)?(, [\d:]+ left)?)?)?$")
SUMMARY = re.compile(r"out\.dlc: \d+ ops from \d+ nodes, .*")
PAUSE = 0.8
IN_BACKGROUND = f"""import os, subprocess, sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
from job_models import large_model  # noqa: E402
from terminal import hold_up
job = subprocess.Popen(sys.argv[3:], preexec_fn=lambda: os.setpgid(0, 0))
hold_up(job, float(sys.argv[1]), float(sys.argv[2]))
job.wait()
"""


class Shop:
    """A folder with a model whose conversion is held up until it counts as long work."""

    def __init__(self, checks, folder):
        self.checks, self.folder = checks, pathlib.Path(folder)
        self.args = [command("onnx-to-dlc"), "-i", self.folder / "large.onnx", "-o", self.folder / "out.dlc"]
        large_model(self.folder / "large.onnx", 64)
        self.after = 0.01

    def drawn_run(self, **more):
        """A run that was held up when it had begun and had something left to do. When that is depends on the machine and
        on what else it does."""
        delays = [0.002 * 1.3 ** i for i in range(25)]
        for delay in [self.after, *delays[5:], *delays[:5]] * 3:
            shown, status = self.held(delay, *self.args, **more)
            if len(drawn(shown)) > 1:
                self.after = delay
                break
        return shown, status

    @staticmethod
    def held(after, *args, **more):
        terminal = Terminal(*args, **more)
        hold_up(terminal.process, after, PAUSE)
        return terminal.finish()

    def run(self, *more, **environment):
        return self.held(self.after, *self.args, *more, **environment)


def shown_line(shop):
    for columns in (80, 40, 26, 12):
        shown, status = shop.drawn_run(columns=columns)
        lines = drawn(shown)[:-1]
        shop.checks.equal(f"{columns} columns: status", status, 0)
        shop.checks.check(f"{columns} columns: there is a line", lines, shown)
        shop.checks.check(f"{columns} columns: it fits", all(len(piece) < columns for piece in lines), lines)
        shop.checks.check(f"{columns} columns: nothing but \\r", "\x1b" not in shown, shown)
        left = screen(shown)
        shop.checks.equal(f"{columns} columns: lines left", len(left), 2)
        shop.checks.check(f"{columns} columns: only the summary is left",
                          SUMMARY.fullmatch(pathlib.Path(left[0]).name) and left[1] == "", left)
        if columns == 80:
            shop.checks.check("words", all(LINE.match(piece) for piece in lines), lines)
            shop.checks.check("it is not drawn without end", len(lines) <= 2 + 10 * (PAUSE + 5), len(lines))


def silent(shop):
    for label, more, environment, lines in (("--quiet", ["--quiet"], {}, 0), ("--json", ["--json"], {}, 0),
                                            ("a dumb terminal", [], {"TERM": "dumb"}, 1)):
        shown, status = shop.run(*more, **environment)
        shop.checks.equal(f"{label}: status", status, 0)
        shop.checks.equal(f"{label}: lines", shown.count("\n"), lines)
        shop.checks.check(f"{label}: no progress", "\r" not in shown.replace("\r\n", "\n"), shown)
    shown, _ = Terminal(sys.executable, "-c", IN_BACKGROUND, shop.after, PAUSE, *shop.args).finish()
    shop.checks.check("in the background: the summary", "out.dlc: " in shown, shown)
    shop.checks.check("in the background: no progress", "\r" not in shown.replace("\r\n", "\n"), shown)


def not_a_terminal(shop):
    running = subprocess.Popen(list(map(str, shop.args)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=ENVIRONMENT)
    hold_up(running, shop.after, PAUSE)
    shown = running.communicate()[0].decode()
    shop.checks.equal("a pipe: status", running.returncode, 0)
    shop.checks.check("a pipe: only the summary", shown.count("\n") == 1 and "\r" not in shown, shown)


def erased_before_errors(shop):
    """An output that turns out to be impossible late: its folder is taken away."""
    folder = shop.folder / "gone"
    folder.mkdir()
    args = [*shop.args[:-1], folder / "out.dlc"]
    terminal = Terminal(*args)
    terminal.process.send_signal(signal.SIGSTOP)
    shutil.rmtree(folder)
    terminal.process.send_signal(signal.SIGCONT)
    shown, status = terminal.finish()
    shop.checks.equal("error: status", status, 1)
    shop.checks.check("error: nothing before it", 
                      re.sub(r"\x1b\[[0-9;]*m", "", screen(shown)[0]).startswith(f"{folder}/out.dlc: error: "), shown)


def interrupted(shop):
    """The key ends the command as a signal does, and takes the line with it."""
    out = shop.folder / "out.dlc"
    for label, before in (("above nothing", None), ("above an older one", b"older container")):
        for _ in range(20):
            out.unlink(missing_ok=True)
            if before:
                out.write_bytes(before)
            terminal = Terminal(*shop.args)
            hold_up(terminal.process, shop.after, PAUSE)
            shown = terminal.read_until(b"writing")
            terminal.interrupt()
            rest, status = terminal.finish()
            if status:
                break
        if not shop.checks.equal(f"{label}: ended by the signal", status, -signal.SIGINT):
            continue
        shop.checks.equal(f"{label}: the screen is empty", [line for line in screen(shown + rest) if line], [])
        found = {path.name for path in shop.folder.iterdir()}
        shop.checks.equal(f"{label}: files", found - {"out.dlc"}, {"large.onnx"})
        kept = out.read_bytes() if out.exists() else None
        # The signal may come in the instant after the container got its name.
        shop.checks.check(f"{label}: complete or untouched", kept == before or read_container(out, data=False))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        if has_terminals():
            shop = Shop(checks, folder)
            for part in (shown_line, silent, not_a_terminal, erased_before_errors, interrupted):
                part(shop)
        else:
            checks.skip("progress", "the system has no pseudo-terminals")
    checks.finish()


main()
