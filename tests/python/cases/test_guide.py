# SPDX-License-Identifier: Apache-2.0
"""The sessions of docs/python.md, executed as written where they say that they take place."""

import doctest
import re
import shutil


def test_session(root, tmp_path, monkeypatch):
    shutil.copytree(root / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("build-jobs", "sandbox", "plugin"))
    monkeypatch.chdir(tmp_path / "examples" / "digits")
    page = (root / "docs" / "python.md").read_text()
    session = "\n".join(re.findall(r"^```pycon\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    parser, runner, said = doctest.DocTestParser(), doctest.DocTestRunner(), []
    test = parser.get_doctest(session, {}, "docs/python.md", "docs/python.md", 0)
    runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)
    assert len(test.examples) > 20
