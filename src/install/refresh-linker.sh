#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# After an installation in its place: programs find a new library when the linker's cache knows it.
set -eu

[ -z "${DESTDIR:-}" ] || exit 0
PATH=$PATH:/usr/sbin:/sbin
command -v ldconfig >/dev/null || exit 0
if [ "$(id -u)" -eq 0 ]; then
    ldconfig
else
    echo 'Programs find the library after: sudo ldconfig'
fi
