# SPDX-License-Identifier: Apache-2.0
"""The options that --help lists: what man pages and completion scripts are compared with."""

import collections
import re

from checks import run

TEXT_COLUMN = 34
HEAD = re.compile(r"  (?=-)((?:-\w+, )*--([\w-]+))(?: (\S.*?))?(?:\s{2,}(\S.*))?$")

# spellings: a list as printed; values: the placeholder, "" for none; text: the sentence
HelpOption = collections.namedtuple("HelpOption", "spellings values text")


def options_of_help(name):
    """{long name: HelpOption} of a command, in the order of its help."""
    found = {}
    last = None
    for line in run(name, "--help").stdout.splitlines():
        head = HEAD.match(line)
        if head:
            last = head[2]
            found[last] = HelpOption(head[1].split(", "), head[3] or "", head[4] or "")
        elif last and line.startswith(" " * TEXT_COLUMN):
            option = found[last]
            found[last] = option._replace(text=f"{option.text} {line.strip()}".strip())
        else:
            last = None
    return found


def arity(values):
    """(least, most) values that one use takes, by its placeholder; 255 stands for any number."""
    if not values:
        return 0, 0
    words = [values] if values.startswith("[") else values.split()
    return sum(not word.startswith("[") for word in words), 255 if "..." in values else len(words)
