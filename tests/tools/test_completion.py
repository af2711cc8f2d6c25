#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The completion scripts of all commands, run by the shells themselves: bash by calling the function, fish by
`complete -C`, zsh by a Tab in a terminal. Shells that are not installed are skipped. And the scripts say of each option
what --help says: how many values it takes, and its sentence."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import COMMAND_FOLDERS, Checks, patient, run
from help_options import arity, options_of_help

SHELLS = ("bash", "zsh", "fish")
CALL_BASH = """source "$1"; shift; function=$1; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "$function"
((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}" """
FILES = ("a.onnx", "b.dlc", "c d.json", "e.xml", "f.txt", "sub dir/", "libx.so")
LAYOUTS = {"NCHW", "NHWC", "NCF", "NFC", "NCDHW", "NDHWC", "NTF", "TNF", "NF", "NC", "F", "NONTRIVIAL"}

# (words of the command line, the last one to be completed; what must be offered)
CASES = (
    ("onnx-to-dlc", ["--params_format", ""], {"nr64", "netp"}),
    ("onnx-to-dlc", ["--params_format", "ne"], {"netp"}),
    ("onnx-to-dlc", ["--params_fo"], {"--params_format"}),
    ("onnx-to-dlc", ["--preserve_io", ""], {"layout", "datatype"}),
    ("onnx-to-dlc", ["-l", ""], set()),
    ("onnx-to-dlc", ["-l", "x", ""], LAYOUTS),
    ("onnx-to-dlc", ["--io_layout", ""], {"channels_last", "model"}),
    ("onnx-to-dlc", ["-l", "x", "NH"], {"NHWC"}),
    ("onnx-to-dlc", ["-d", "x", "1,-1", "-u"], {"-udo"}),
    ("onnx-to-dlc", ["-udo", "c"], {"c d.json"}),
    ("onnx-to-dlc", ["-udo", "c.json", "e"], {"e.xml"}),
    ("onnx-to-dlc", ["--copyright_file", "f"], {"f.txt"}),
    ("onnx-to-dlc", ["-q", "--params_format", "nr64", "--par"], {"--params_format"}),
    ("dlc-info", ["-i", "b"], {"b.dlc"}),
    ("dlc-info", ["--completion", ""], {"bash", "zsh", "fish"}),
    ("net-run", ["--output_dir", "s"], {"sub dir"}),
    ("net-run", ["--udo_package_path", "l"], {"libx.so"}),
    ("udo-check", ["c"], {"c d.json"}),
    ("udo-check", ["--convert", ""], {"json", "xml"}),
    ("udo-check", ["--convert", "xml", "e"], {"e.xml"}),
)


EVERY_FILE = {name.rstrip("/") for name in FILES}
# What the first word can be: a file that the command reads.
FIRST_WORDS = {**dict.fromkeys(("dlc-info", "dlc-diff", "dlc-viewer", "dlc-quantize"), {"b.dlc", "sub dir"}),
               "udo-package-generator": {"c d.json", "e.xml", "sub dir"}, "udo-check": {"c d.json", "e.xml", "sub dir"},
               "qnn-op-package-generator": {"e.xml", "sub dir"}}


def bash_offers(script, name, words, folder):
    function = "_odlc_" + name.replace("-", "_")
    done = subprocess.run(["bash", "--norc", "-c", CALL_BASH, "bash", script, function, name, *words], cwd=folder,
                          capture_output=True, text=True, check=False)
    return set(done.stdout.splitlines()) if not done.stderr else done.stderr


def fish_offers(script, name, words, folder):
    line = " ".join([name, *words])
    home = {**os.environ, **dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), os.path.dirname(folder))}
    done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"], cwd=folder,
                          capture_output=True, text=True, check=False, env=home)
    offers = {line.split("\t")[0].rstrip("/") for line in done.stdout.splitlines()}
    return offers if not done.stderr else done.stderr


def zsh_screen(script, line, wanted, folder):
    """What zsh shows after a Tab, as soon as all wanted words are there; if they never come whatever there is."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ.update(TERM="dumb", PS1="ready> ")
        os.execvp("zsh", ["zsh", "-f", "-i"])
    shown, end = "", time.monotonic() + patient(10)
    # The echo of what is typed must not look like the prompt: hence the quotes.
    setup = f"autoload -U compinit; compinit -u -D; setopt NO_LIST_AMBIGUOUS; source {script}; PS1=again'> '"
    todo = [("ready> ", setup + "\n"), ("again> ", line + "\t")]
    while time.monotonic() < end and (todo or not all(word in shown for word in wanted)):
        if todo and todo[0][0] in shown:
            os.write(terminal, todo.pop(0)[1].encode())
            shown = ""
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536).decode(errors="replace")
    os.close(terminal)
    os.waitpid(process, 0)
    return shown


def spellings_of_help(name):
    """What --help lists: every short form and every long name."""
    return {spelling for option in options_of_help(name).values() for spelling in option.spellings}


def arities_of_bash(text):
    """{spelling: (least, most)} of options that take values."""
    found = {}
    for spellings, least, most in re.findall(r"^    (-.*?)\) least=(\d+) most=(\d+)", text, re.MULTILINE):
        found.update(dict.fromkeys(spellings.split(" | "), (int(least), int(most))))
    return found


def sentences_of_fish(text):
    """{long name: sentence}"""
    return {name: sentence.replace("\\'", "'").replace("\\\\", "\\")
            for name, sentence in re.findall(r"^complete .* -l ([\w-]+) -d '((?:[^'\\]|\\.)*)'", text, re.MULTILINE)}


def sentences_of_zsh(text):
    """{long name: sentence}"""
    found = re.findall(r"^        '(?:\*|\([^)]*\))--([\w-]+)=?\[((?:[^\]\\]|\\.)*)\]", text, re.MULTILINE)
    return {name: re.sub(r"\\([][\\:])", r"\1", sentence.replace("'\\''", "'")) for name, sentence in found}


def check_tables(checks, scripts):
    for name in COMMAND_FOLDERS:
        options = options_of_help(name)
        text = {shell: pathlib.Path(scripts[name, shell]).read_text() for shell in SHELLS}
        found = arities_of_bash(text["bash"])
        for option in options.values():
            for spelling in option.spellings:
                checks.equal(f"bash: values of {name} {spelling}", found.get(spelling, (0, 0)), arity(option.values))
        said = {long: option.text for long, option in options.items()}
        checks.equal(f"fish: sentences of {name}", sentences_of_fish(text["fish"]), said)
        checks.equal(f"zsh: sentences of {name}", sentences_of_zsh(text["zsh"]), said)


def check_bash(checks, scripts, folder):
    def offers(name, words):
        return bash_offers(scripts[name, "bash"], name, words, folder)

    for name in COMMAND_FOLDERS:
        expected = spellings_of_help(name)
        checks.check(f"{name} has options", len(expected) > 5, expected)
        checks.equal(f"bash: options of {name}", offers(name, ["-"]), expected)
        checks.equal(f"bash: {name} without a word", offers(name, [""]), FIRST_WORDS.get(name, EVERY_FILE))
    for name, words, expected in CASES:
        checks.equal(f"bash: {name} {words}", offers(name, words), expected)
    for words, expected in ((["--params_format", "="], {"nr64", "netp"}), (["-l", "=", "x", "NC"], {"NC", "NCHW", "NCF", "NCDHW"}),
                            (["--freeze_input", "x", "=", "y", "--dry"], {"--dry_run"}),
                            (["-i", ""], {"a.onnx", "sub dir"})):
        checks.equal(f"bash: onnx-to-dlc {words}", offers("onnx-to-dlc", words), expected)


def check_fish(checks, scripts, folder):
    for (name, shell), script in scripts.items():
        if shell == "fish":
            done = subprocess.run(["fish", "--no-config", "-n", script], capture_output=True, text=True, check=False)
            checks.equal(f"fish -n: {name}", (done.returncode, done.stderr), (0, ""))
    for name, words, expected in CASES:
        checks.equal(f"fish: {name} {words}", fish_offers(scripts[name, "fish"], name, words, folder), expected)


def check_zsh(checks, scripts, folder):
    for (name, shell), script in scripts.items():
        if shell == "zsh":
            done = subprocess.run(["zsh", "-n", script], capture_output=True, text=True, check=False)
            checks.equal(f"zsh -n: {name}", (done.returncode, done.stderr), (0, ""))
    for line, wanted in (("onnx-to-dlc --params_format ", ("nr64", "netp")),
                         ("onnx-to-dlc -l x ", ("NCHW", "NONTRIVIAL")),
                         ("onnx-to-dlc --dry", ("--dry_run",)), ("onnx-to-dlc -udo e.xml c", ("d.json",)),
                         ("udo-check --convert=", ("json", "xml")), ("udo-check e", ("e.xml",))):
        shown = zsh_screen(scripts[line.split()[0], "zsh"], line, wanted, folder)
        checks.check(f"zsh: {line}", all(word in shown for word in wanted), repr(shown))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "work"
        folder.mkdir()
        for file in FILES:
            (folder / file).mkdir() if file.endswith("/") else (folder / file).touch()
        scripts = {}
        for program in COMMAND_FOLDERS:
            for shell in SHELLS:
                done = run(program, "--completion", shell)
                checks.equal(f"{program} --completion {shell}", (done.returncode, done.stderr), (0, ""))
                scripts[program, shell] = str(pathlib.Path(name) / f"{program}.{shell}")
                pathlib.Path(scripts[program, shell]).write_text(done.stdout)
            done = run(program, "--completion", "csh")
            checks.equal(f"{program} --completion csh", (done.returncode, done.stdout), (2, ""))
            checks.check(f"{program}: the shells are named", "bash, zsh or fish" in done.stderr, done.stderr)
        check_tables(checks, scripts)
        for shell, check in (("bash", check_bash), ("fish", check_fish), ("zsh", check_zsh)):
            if shutil.which(shell):
                check(checks, scripts, str(folder))
            else:
                checks.skip(shell, "not installed")
    checks.finish()


main()
