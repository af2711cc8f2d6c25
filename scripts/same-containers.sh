#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares two builds: all models that are found become the same containers and give the same numbers.
#   scripts/same-containers.sh BEFORE AFTER   two build folders (optimized ones: a sanitizer build takes long)
set -eu
exec /usr/bin/python3 "$(dirname "$0")/../tests/jobs/same_containers.py" "$@"
