#!/bin/sh
# Arguments of action.yml: paths, config, format, baseline.
set -eu
paths=$1 config=$2 format=$3 baseline=$4
set -- verify -o "$format"
[ -z "$config" ] || set -- "$@" -c "$config"
[ -z "$baseline" ] || set -- "$@" --baseline "$baseline"
set -f # a path with a wildcard is left to trimtab
# shellcheck disable=SC2086 # paths are separated by blanks
exec trimtab "$@" $paths
