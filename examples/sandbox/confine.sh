#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command of OpenDLC confined by bubblewrap (bwrap): it sees the system's libraries, its inputs and its outputs'
# folder, can write to that folder alone, and has no network.
#   confine.sh INPUTS OUTPUTS COMMAND [ARGUMENT...]
#   confine.sh models out onnx-to-dlc -i models/net.onnx -o out/net.dlc
# INPUTS and OUTPUTS are folders; what lies in OUTPUTS can be overwritten, so inputs belong elsewhere. Paths are the same
# as outside. SECCOMP names a filter that seccomp-filter.py made; then the command can make no other system calls.
set -eu

inputs=$(realpath -- "$1")
outputs=$(realpath -- "$2")
command=$(realpath -- "$(command -v "$3")")
here=$(pwd -P)
shift 3

# The command itself, which may be in a build folder.
set -- --ro-bind "$command" "$command" -- "$command" "$@"
# What it is given. The working directory is empty where neither folder is in it.
set -- --dir "$here" --ro-bind "$inputs" "$inputs" --bind "$outputs" "$outputs" --chdir "$here" "$@"
# Programs and libraries, and nothing else of the system. Complete outputs get their names through /proc.
for folder in /lib /lib64 /usr; do
    set -- --ro-bind-try "$folder" "$folder" "$@"
done
set -- --ro-bind-try /etc/ld.so.cache /etc/ld.so.cache --proc /proc --dev /dev "$@"
# No network, no other processes, no user but this one, no capability, no terminal to type into, no environment.
set -- --unshare-all --unshare-user --disable-userns --cap-drop ALL --new-session --die-with-parent --clearenv "$@"
[ -z "${SECCOMP:-}" ] || exec bwrap --seccomp 9 "$@" 9<"$SECCOMP"
exec bwrap "$@"
