# SPDX-License-Identifier: Apache-2.0
"""Every command that README and the guides show is one: sessions and scripts (blocks of sh, console, "$ ") are executed as written
by the test that is named here; of all other lines that are commands, the programs are there and know the options."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import COMMAND_FOLDERS, SOURCE, Checks  # noqa: E402
from help_options import options_of_help  # noqa: E402

# Guide → the test that executes its blocks, whole. (Indented ones of udo-packages and quantizing are executed, too.)
EXECUTED_BY = {
    "README.md": "tests/example/test_example.py",
    "docs/build-jobs.md": "tests/jobs/test_guide.py",
    "docs/releasing.md": "scripts/abi.py",
    "docs/tutorial-inception-udo.md": "tests/tensorflow/test_tutorial.py",
    "docs/udo-tutorial.md": "tests/package/test_udo_tutorial.py",
}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?:    .*\n)+")
SETTING = re.compile(r"[A-Z]\w*=\S*")
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
OF_MESON = {"b_lto", "b_sanitize", "b_lundef", "werror", "optimization", "c_args", "buildtype", "libdir", "prefix"}
ELSEWHERE = {"cat", "cd", "cp", "echo", "export", "git", "make", "mkdir", "ninja", "od", "podman", "python3", "source", "valgrind",
             "apt", "dpkg-buildpackage", "sudo", "gcc", "cmake"}


def guides():
    return [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted((SOURCE / "docs").glob("*.md"))]


def is_session(kind, block):
    return kind in ("sh", "console", "bash") or (not kind and block.startswith("$ "))


def check_executed(checks, name, text):
    sessions = [block for kind, block in FENCE.findall(text) if is_session(kind, block)]
    if not sessions:
        checks.check(f"{name} needs no test", name not in EXECUTED_BY)
        return 0
    test = EXECUTED_BY.get(name)
    if checks.check(f"{name} has commands, so a test executes them", test):
        said = (SOURCE / test).read_text()
        checks.check(f"{test} is about {name}", pathlib.Path(name).name in said or pathlib.Path(name).stem in said)
    return len(sessions)


def command_lines(text):
    """Lines of indented blocks that begin with a program: without their comment, continued ones as one."""
    for block in INDENTED.findall(FENCE.sub("", "\n" + text)):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            line = re.sub(r"\s+#.*", "", line.strip())
            words = [word for word in line.split() if not SETTING.fullmatch(word)]
            program = words[0] if words else ""
            if program in COMMAND_FOLDERS or program in ELSEWHERE or program == "meson" or re.match(r"(scripts|tests|bench|\.ci)/", program):
                yield program, line


def options_of(program, known):
    if program not in known:
        help_options = options_of_help(program)
        known[program] = {spelling for option in help_options.values() for spelling in option.spellings}
    return known[program]


def check_options(checks, where, program, line, known):
    """Of our commands by --help, of scripts by their text, of Meson by our options' file and a list of its own."""
    rest = line.split(program, 1)[1].split(" && ")[0].split(" | ")[0]
    if program == "meson":
        given = set(re.findall(r"-D(\w+)", rest))
        ours = set(re.findall(r"^option\('(\w+)'", (SOURCE / "meson_options.txt").read_text(), re.MULTILINE))
        checks.check(f"{where}: options of Meson", given <= ours | OF_MESON, given - ours - OF_MESON)
        return
    options = set(OPTION.findall(re.sub(r'"[^"]*"', "", rest)))
    if program in COMMAND_FOLDERS:
        unknown = options - options_of(program, known)
    else:
        path = SOURCE / program
        if not checks.check(f"{where}: {program} is there", path.is_file() and path.stat().st_mode & 0o111):
            return
        # A script that leaves its arguments to a module beside it.
        text = path.read_text() + "".join(other.read_text() for other in path.parent.glob("*.py"))
        unknown = {option for option in options if option not in text}
    checks.check(f"{where}: {program} knows its options", not unknown, unknown)


def main():
    checks = Checks()
    sessions = lines = 0
    known = {}
    for guide in guides():
        name, text = guide.relative_to(SOURCE).as_posix(), guide.read_text()
        sessions += check_executed(checks, name, text)
        for program, line in command_lines(text):
            lines += 1
            if program not in ELSEWHERE:
                check_options(checks, name, program, line, known)
    checks.check("there are sessions and lines", sessions > 30 and lines > 60, (sessions, lines))
    checks.finish()


main()
