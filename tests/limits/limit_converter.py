# SPDX-License-Identifier: Apache-2.0
"""What the tests of limits share: a model is converted, or refused for the limit."""

import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "reference")]
from checks import LONG, run  # noqa: E402, F401


class Converter:
    def __init__(self, checks, folder, command, model):
        self.checks, self.folder, self.command = checks, folder, command
        self.model, self.dlc = folder / model, folder / "model.dlc"

    def convert(self, model, *options):
        if isinstance(model, bytes):
            self.model.write_bytes(model)
        elif model is not None:
            model.save(self.model)
        return run(self.command, "-i", self.model, "-o", self.dlc, "--json", *options)

    def passes(self, name, model, *options):
        done = self.convert(model, *options)
        self.checks.check(f"{name} converts", done.returncode == 0, done.stderr[-500:])
        self.dlc.unlink(missing_ok=True)

    def refuses(self, name, model, code, *parts, options=()):
        """Without anything but what was there."""
        done = self.convert(model, *options)
        self.checks.equal(f"status of {name}", done.returncode, 1)
        for part in (f'"code":"{code}"', *parts):
            self.checks.check(f"message of {name}", part in done.stderr, f"{part!r} not in {done.stderr[-500:]!r}")
        self.checks.check(f"{name} leaves no file", not any(".dlc" in path.name for path in self.folder.iterdir()))

    def on_both_sides(self, limits, *options):
        """limits: what there may be many of, the largest number that converts, what makes a model of a number, and the
        code and the message for one more."""
        for what, most, make, code, message in limits:
            self.passes(f"{most} {what}", make(most), *options)
            self.refuses(f"{most + 1} {what}", make(most + 1), code, message, options=options)

    def lets_through(self, name, model, code, *options):
        """It fails, or does not, for other reasons."""
        self.checks.check(f"{name} is within the limit", f'"code":"{code}"' not in self.convert(model, *options).stderr)
        self.dlc.unlink(missing_ok=True)
