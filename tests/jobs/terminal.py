# SPDX-License-Identifier: Apache-2.0
"""Commands on a pseudo-terminal that is theirs, and what a person would see there."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import time

ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR", "TERM")}


def has_terminals():
    """Whether there are pseudo-terminals: a bare root has none."""
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def hold_up(process, after, duration):
    """Stops a process for a while, as a slow disk would."""
    time.sleep(after)
    process.send_signal(signal.SIGSTOP)
    time.sleep(duration)
    process.send_signal(signal.SIGCONT)


class Terminal:
    """A running command whose standard error and input are a terminal of that many columns. Its standard output is
    dropped."""

    def __init__(self, *args, columns=80, **environment):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))

        def own_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(list(map(str, args)), stdin=slave, stdout=subprocess.DEVNULL, stderr=slave,
                                        env={**ENVIRONMENT, "TERM": "xterm", **environment}, preexec_fn=own_terminal)
        os.close(slave)

    def interrupt(self):
        """As the key does."""
        os.write(self.master, b"\x03")

    def read_until(self, word):
        """What is shown up to a word, or to the command's end."""
        shown = b""
        while word not in shown:
            try:
                piece = os.read(self.master, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        return shown.decode()

    def finish(self):
        """The rest of what is shown, and the status."""
        shown = self.read_until(b"\0")
        os.close(self.master)
        return shown, self.process.wait()


def drawn(shown):
    """What was written over and over again: the pieces between carriage returns of the first line."""
    first = shown.replace("\r\n", "\n").split("\n")[0]
    return [piece.rstrip() for piece in first.split("\r") if piece.strip()]


def screen(shown):
    """The lines that are left on the screen."""
    lines = []
    for written in shown.replace("\r\n", "\n").split("\n"):
        cells = []
        for piece in written.split("\r"):
            cells[:len(piece)] = piece
        lines.append("".join(cells).rstrip())
    return lines
