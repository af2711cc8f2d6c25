# SPDX-License-Identifier: Apache-2.0
"""Runs built commands many times at the price of one start: of programs with sanitizers, loading and setting up takes longer
than most cases of the tests. prestarted.c says how.

What a run does is what a process of its own would do, but that addresses are the same from run to run. With ODLC_LONG=1,
and where the library is not built, each run is a process of its own."""

import array
import atexit
import os
import signal
import socket
import subprocess
import threading

import checks
from checks import BUILD, LONG, asan_options, command, looks_for_leaks

LIBRARY = BUILD / "tests" / "support" / "prestarted.so"


class Servers(threading.local):
    """A thread's own, by process, command, whether leaks are looked for, and environment."""

    def __init__(self):
        self.known = {}


SERVERS = Servers()


class Server:
    """A command that waits before main. Runs come one after another."""

    def __init__(self, name, leaks):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        options = asan_options(leaks, ":verify_asan_link_order=0")
        env = {**os.environ, "LD_PRELOAD": str(LIBRARY), "ASAN_OPTIONS": options, "PRESTARTED_SOCKET": str(theirs.fileno())}
        self.process = subprocess.Popen([command(name)], env=env, pass_fds=[theirs.fileno()])
        theirs.close()
        atexit.register(self.close)

    def close(self):
        self.socket.close()
        self.process.wait()

    def number(self):
        """The next answer."""
        data = self.socket.recv(4)
        if len(data) != 4:
            raise RuntimeError(f"{self.process.args[0]} ended before main")
        return array.array("i", data)[0]

    def run(self, arguments, folder, streams, timeout):
        """The status; streams: descriptors that get standard output and error."""
        request = b"".join(os.fsencode(text) + b"\0" for text in (folder, *arguments))
        socket.send_fds(self.socket, [request], streams)
        copy = self.number()
        self.socket.settimeout(timeout)
        try:
            return os.waitstatus_to_exitcode(self.number())
        except TimeoutError:
            os.kill(copy, signal.SIGKILL)
            self.socket.settimeout(None)
            self.number()
            raise subprocess.TimeoutExpired(arguments, timeout) from None
        finally:
            self.socket.settimeout(None)


def server_of(name, leaks):
    key = (os.getpid(), name, leaks, tuple(sorted(os.environ.items())))
    if key not in SERVERS.known:
        SERVERS.known[key] = Server(name, leaks)
    return SERVERS.known[key]


def content(stream, errors):
    data = os.pread(stream, os.fstat(stream).st_size, 0)
    return data.decode(errors=errors).replace("\r\n", "\n").replace("\r", "\n")


def run(name, *args, cwd=None, timeout=None, errors="strict", **more):
    """As checks.run: a completed process with text output. With another argument (env, …) it has a process of its own."""
    if LONG or more or not LIBRARY.exists():
        return checks.run(name, *args, cwd=cwd, timeout=timeout, errors=errors, **more)
    arguments = [command(name), *map(str, args)]
    streams = [os.memfd_create("output") for _ in range(2)]
    try:
        server = server_of(name, looks_for_leaks())
        status = server.run(arguments, os.path.abspath(cwd or "."), streams, timeout)
        return subprocess.CompletedProcess(arguments, status, *(content(stream, errors) for stream in streams))
    finally:
        for stream in streams:
            os.close(stream)
