#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes build.ninja into the current folder. It converts every ONNX model below a folder:
#
#     examples/build-jobs/configure.sh MODELS CONTAINERS && ninja
#
# A model MODELS/sub/net.onnx becomes CONTAINERS/sub/net.dlc. Beside the model,
#     net.ops.json, net.ops.xml    describe its user-defined ops,
#     net.args                     holds more options, as words of a shell on one line: -d image 1,3,224,224
# ONNX_TO_DLC names another converter than that of PATH. MODELS and CONTAINERS are relative, for paths are recorded in
# containers: so these are the same wherever the folders lie.
#
# ninja converts in parallel, and again only what a changed model, external data file, config, option or converter
# concerns. A container whose bytes stay the same keeps its time, so what is made from it stays, too: here the list of
# checksums. New and removed models are noticed by the time of their folder.
set -eu

[ $# -eq 2 ] || { echo "usage: configure.sh MODELS CONTAINERS" >&2; exit 2; }
models=${1%/} containers=${2%/} self=$0
converter=$(command -v "${ONNX_TO_DLC:-onnx-to-dlc}") || { echo "configure.sh: there is no onnx-to-dlc" >&2; exit 1; }
[ -d "$models" ] || { echo "configure.sh: there is no folder $models" >&2; exit 1; }

# A path as ninja's files have it.
path()
{
    printf '%s' "$1" | sed 's/[$ :]/$&/g'
}

# A word for the shell, inside of ninja's file.
word()
{
    printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" | sed 's/\$/$$/g'
}

found()
{
    find "$models" "$@" | LC_ALL=C sort
}

rules()
{
    cat <<END
converter = $(word "$converter")

rule dlc
  command = \$converter --quiet -i \$in -o \$new --depfile \$out.d \$options && $
      if cmp -s \$new \$out; then rm \$new; else mv \$new \$out; fi
  depfile = \$out.d
  deps = gcc
  restat = 1
  description = DLC \$out

rule checksums
  command = sha256sum \$in >\$out
  description = SHA256 \$out

rule configure
  command = ONNX_TO_DLC=\$converter sh $(word "$self") $(word "$models") $(word "$containers")
  depfile = \$out.d
  generator = 1
  restat = 1
  description = CONFIGURE \$out
END
}

# The graph of a container goes by the stem of the file that is written: net.new makes the same bytes as net.dlc.
convert()
{
    stem=${1%.onnx}
    target=$containers${stem#"$models"}
    printf '\nbuild %s: dlc %s | %s\n' "$(path "$target.dlc")" "$(path "$1")" "$(path "$converter")"
    printf '  new = %s\n  options =' "$(word "$target.new")"
    for config in "$stem.ops.json" "$stem.ops.xml"; do
        [ ! -e "$config" ] || printf ' --udo_config_paths %s' "$(word "$config")"
    done
    [ ! -e "$stem.args" ] || printf ' %s' "$(head -n 1 "$stem.args" | sed 's/\$/$$/g')"
    echo
}

build_file()
{
    echo "# Made by $self; run ninja."
    rules
    found -type f -name '*.onnx' | while IFS= read -r model; do convert "$model"; done
    printf '\nbuild %s: checksums' "$(path "$containers/SHA256SUMS")"
    found -type f -name '*.onnx' | while IFS= read -r model; do
        stem=${model%.onnx}
        printf ' %s' "$(path "$containers${stem#"$models"}.dlc")"
    done
    printf '\n\nbuild build.ninja: configure\n'
}

# What build.ninja depends on. In a depfile, because a file that is gone is a change there, and an error in build.ninja.
dependencies()
{
    printf 'build.ninja: %s' "$(printf '%s' "$self" | sed 's/[ #]/\\&/g')"
    found '(' -type d -o -name '*.args' ')' | sed 's/[ #:]/\\&/g; s/\$/$$/g' | while IFS= read -r name; do
        printf ' \\\n  %s' "$name"
    done
    echo
}

dependencies >build.ninja.d
build_file >build.ninja.new
if cmp -s build.ninja.new build.ninja; then rm build.ninja.new; else mv build.ninja.new build.ninja; fi
