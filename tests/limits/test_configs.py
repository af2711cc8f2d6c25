# SPDX-License-Identifier: Apache-2.0
"""UDO configs at the limits of docs/limits.md, and one beyond. tests/udo/test_udo_limits.c has all limits of the readers; large
configs are given to the command, too, with ODLC_LONG=1."""

import json
import pathlib
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from checks import LONG, Checks, leave_out, run  # noqa: E402
from opdef_writer import opdef_xml  # noqa: E402


def operand(name, **more):
    return {"name": name, "data_type": "FLOAT_32", **more}


def operator(kind="Op", inputs=1, params=0, shape="same_as in0", **more):
    """Half of the params are scalars."""
    op = {"type": kind, "inputs": [operand(f"i{k}") for k in range(inputs)],
          "outputs": [operand("y", shape=shape)], "core_types": ["CPU"], **more}
    op["scalar_params"] = [operand(f"p{k}") for k in range(params - params // 2)]
    op["tensor_params"] = [operand(f"q{k}") for k in range(params // 2)]
    return op


def package(*operators):
    return {"UDO_PACKAGE_NAME": "P", "Operators": list(operators)}


def config(*operators):
    return json.dumps({"UdoPackage_0": package(*operators)})


def collection(op):
    del op["outputs"][0]["shape"]
    return opdef_xml(package(op))


class Reader:
    def __init__(self, checks, folder):
        self.checks, self.folder = checks, folder

    def read(self, text, form):
        path = self.folder / f"ops.{form}"
        path.write_text(text)
        return run("udo-check", path)

    def takes(self, name, text, form="json"):
        done = self.read(text, form)
        self.checks.check(f"{form}: {name}", done.returncode == 0, (done.stdout + done.stderr)[-500:])

    def refuses(self, name, text, message, form="json"):
        done = self.read(text, form)
        self.checks.check(f"{form}: status of {name}", done.returncode == 1, done.returncode)
        said = done.stdout + done.stderr
        self.checks.check(f"{form}: message of {name}", message in said, f"{message!r} not in {said[-500:]!r}")


def sizes(r):
    plain = config(operator())
    r.takes("16 MiB", plain + " " * ((16 << 20) - len(plain)))
    r.refuses("16 MiB and a byte", plain + " " * ((16 << 20) + 1 - len(plain)), "larger than 16 MiB")
    plain, remark = collection(operator()), "<!--" + "r" * 1017 + "-->"
    filled = plain + remark * ((16 << 20) // 1024 - 1 - len(plain) // 1024)
    r.takes("16 MiB", filled + " " * ((16 << 20) - len(filled)), "xml")
    r.refuses("16 MiB and a byte", filled + " " * ((16 << 20) + 1 - len(filled)), "larger than 16 MiB", "xml")


def noted(notes):
    """With a key that nothing reads, four levels deep."""
    return config(operator(notes=notes))


def depths(r):
    r.takes("64 levels", noted(json.loads("[" * 60 + "]" * 60)))
    r.refuses("65 levels", noted(json.loads("[" * 61 + "]" * 61)), "nested more than 64 levels deep")


def values(r):
    def count(of):
        return 1 + sum(map(count, of.values() if isinstance(of, dict) else of)) if isinstance(of, (dict, list)) else 1

    most = (1 << 20) - count(json.loads(noted([])))
    r.takes("1048576 values", noted([0] * most))
    r.refuses("1048577 values", noted([0] * (most + 1)), "more than 1048576 values")


def counts(r):
    for form, make in (("json", config), ("xml", collection)):
        r.takes("254 inputs", make(operator(inputs=254)), form)
        r.refuses("255 inputs", make(operator(inputs=255)), "more than 254", form)
        r.takes("44 params", make(operator(params=44)), form)
        r.refuses("45 params", make(operator(params=45)), "more than 44", form)


def definitions(r):
    r.takes("65536 definitions", config(*(operator(f"O{i}") for i in range(65536))))
    r.refuses("65537 definitions", config(*(operator(f"O{i}") for i in range(65537))), "more than 65536")


def rules(r):
    r.takes("a rule of 200 characters", config(operator(shape=["in0[0]" + " " * 192 + "+1"])))
    r.refuses("a rule of 201 characters", config(operator(shape=["in0[0]" + " " * 193 + "+1"])),
              "rule of more than 200 characters")
    r.takes("8 dimensions", config(operator(shape=[1] * 8)))
    r.refuses("9 dimensions", config(operator(shape=[1] * 9)), "at most 8 dimensions")


def elements(r):
    text = collection(operator())
    end = text.rindex("</")
    r.refuses("65 levels", text[:end] + "<a>" * 64 + "</a>" * 64 + text[end:], "64", "xml")
    few, many = 1 << 10, 1 << 19
    r.refuses("524288 elements more", text[:end] + "<a/>" * many + text[end:], str(many), "xml")
    said = r.read(text[:end] + "<a/>" * few + text[end:], "xml")
    r.checks.check("xml: so few elements are unknown, not too many", str(many) not in said.stdout + said.stderr)


LARGE = (sizes, values, definitions)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        r = Reader(checks, pathlib.Path(temporary))
        for part in (depths, counts, rules, elements, *(LARGE if LONG else ())):
            part(r)
        leave_out(0 if LONG else len(LARGE), len(LARGE), "kinds of large configs, given to the command")
    checks.finish()


if __name__ == "__main__":
    main()
