#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the filter that bubblewrap takes from a list of system calls in Docker's form (Debian package python3-seccomp).

    seccomp-filter.py seccomp.json >filter
    SECCOMP=filter ./confine.sh models out onnx-to-dlc -i models/net.onnx -o out/net.dlc
"""

import json
import sys

import seccomp

OPERATORS = {"SCMP_CMP_EQ": seccomp.EQ, "SCMP_CMP_MASKED_EQ": seccomp.MASKED_EQ}


def argument(rule):
    values = [rule["value"]]
    if rule["op"] == "SCMP_CMP_MASKED_EQ":
        values.append(rule["valueTwo"])
    return seccomp.Arg(rule["index"], OPERATORS[rule["op"]], *values)


def main():
    with open(sys.argv[1], encoding="utf-8") as text:
        profile = json.load(text)
    calls = seccomp.SyscallFilter(seccomp.ERRNO(profile["defaultErrnoRet"]))
    for group in profile["syscalls"]:
        for name in group["names"]:
            if seccomp.resolve_syscall(seccomp.Arch(), name) != -1:  # this machine knows it
                calls.add_rule(seccomp.ALLOW, name, *map(argument, group.get("args", ())))
    calls.export_bpf(sys.stdout)


main()
