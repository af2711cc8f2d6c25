# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of UDO configs against the reader: what the schema refuses, udo-check refuses, on valid configs damaged at every
place; and of what udo-check refuses, the schema refuses all but what needs more than one place to see."""

import copy
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from checks import SHARED, SOURCE, Checks, share_of  # noqa: E402
from prestarted import run  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

FULL = {
    "P": {
        "UDO_PACKAGE_NAME": "Full", "UDO_PACKAGE_PATH": 5, "SNPE_UDO_ROOT": None,
        "Operators": [{
            "type": "Op", "domain": "",
            "inputs": [{"name": "", "per_core_data_types": {"CPU": "FLOAT_32", "DSP": "UINT_8"}, "tensor_layout": "NHWC", "quantization_mode": "TF"},
                       {"data_type": "INT_32", "static": True, "default_value": [[1, 2], [3, 4]], "optional": True},
                       {"name": "rest", "repeated": True}],
            "outputs": [{"name": "y", "data_type": "FLOAT_32", "static": False, "shape": [1, "in0[1] * 2", "min(in0[2], 64)"]},
                        {"per_core_data_type": {"GPU": "FLOAT_16"}, "shape": "same_as in0", "optional": False}],
            "scalar_params": [{"name": "a", "data_type": "FLOAT_32", "default_value": [0.5]}, {"name": "b", "data_type": "STRING", "default_value": "x"}],
            "tensor_params": [{"name": "c", "data_type": "BOOL_8", "default_value": [True, False], "static": True}, {"name": "d"}],
            "core_types": ["CPU", "DSP"], "dsp_arch_types": ["v68", "v73"]}],
    },
}
# Values against their types and each other, and the text of rules: only a reader sees these.
BEYOND = re.compile(r"cannot hold|is due here|does not fit|lists of different (depths|lengths)|text and numbers in one value")
STAND_INS = (None, 7, -1, 1.5, True, "", "word", [], {}, [None], [{}])


def valid_configs():
    found = {"full": FULL, "example": json.loads((SOURCE / "examples" / "ops.json").read_text())}
    guide = re.search(r"```json\n(\{.*?)^```$", (SOURCE / "docs" / "udo-config.md").read_text(), re.MULTILINE | re.DOTALL)
    found["guide"] = json.loads(guide[1])
    for folder in ("udo-configs", "udo-cases"):
        for path in sorted((SHARED / "corpus" / folder).rglob("*.json")):
            found[path.stem] = json.loads(path.read_text())
    return found


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, path + (key,))


def at(config, path):
    for key in path:
        config = config[key]
    return config


def damaged(config):
    """(what was done, the config)"""
    for path in places(config):
        if not path:
            continue
        gone = copy.deepcopy(config)
        del at(gone, path[:-1])[path[-1]]
        yield f"without {path}", gone
        for value in STAND_INS:
            other = copy.deepcopy(config)
            at(other, path[:-1])[path[-1]] = value
            yield f"{path} is {value!r}", other
        if isinstance(at(config, path), dict):
            for key, value in (("data_type", "INT_8"), ("default_value", 1), ("static", True), ("GPU", "INT_8"), ("shape", "same_as in0")):
                if key not in at(config, path):
                    more = copy.deepcopy(config)
                    at(more, path)[key] = value
                    yield f"{path} has {key}", more


def verdict(path, config):
    """Whether udo-check takes a config, and its errors."""
    path.write_text(json.dumps(config))
    done = run("udo-check", path, "-q")
    return done.returncode == 0, [line.split("error: ", 1)[1] for line in done.stderr.splitlines() if "error: " in line]


def compare(checks, validator, folder):
    tried = refused = beyond = 0
    for what, config in share_of(damaged(FULL), 12, "damaged configs"):
        taken, errors = verdict(folder / "config.json", config)
        fits = validator.is_valid(config)
        tried += 1
        if not fits:
            refused += 1
            checks.check(f"{what}: the schema refuses, udo-check too", not taken)
        elif not taken:
            beyond += 1
            unknown = [error for error in errors if not BEYOND.search(error)]
            checks.check(f"{what}: a schema cannot see it", errors and not unknown, unknown)
    print(f"{tried} damaged configs, {refused} refused by the schema, {beyond} by udo-check alone")
    checks.check("most of them are refused by the schema", refused > 5 * beyond > 0, (refused, beyond))


def main():
    checks = Checks()
    done = run("udo-check", "--schema")
    checks.equal("printed", (done.returncode, done.stderr), (0, ""))
    schema = json.loads(done.stdout)
    if not jsonschema:
        checks.skip("configs against the schema", "python3-jsonschema not installed")
        checks.finish()
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    with tempfile.TemporaryDirectory() as name:
        for title, config in valid_configs().items():
            taken, errors = verdict(pathlib.Path(name) / "config.json", config)
            checks.check(f"{title} is valid", taken, errors)
            checks.equal(f"{title} fits", [error.message for error in validator.iter_errors(config)], [])
        compare(checks, validator, pathlib.Path(name))
    checks.finish()


main()
