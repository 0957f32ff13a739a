#!/usr/bin/env bash
# Builds edge-eval for a target: one static program that carries a worker for each CPU level. See cross/README.md.
#   cross/build.sh TARGET                everything; the result is dist/TARGET/edge-eval
#   cross/build.sh TARGET --level LEVEL  this worker alone (may be repeated)
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
# shellcheck source=cross/target.sh
source cross/target.sh

usage() {
    echo "usage: cross/build.sh $(targets | paste -sd'|') [--level LEVEL]..." >&2
    exit 2
}

target=${1:-}
levels_of "$target" >/dev/null 2>&1 || usage
shift
wanted=()
while [ $# -gt 0 ]; do
    [ "$1" = --level ] && [ $# -ge 2 ] && levels_of "$target" | grep -qx -- "$2" || usage
    wanted+=("$2")
    shift 2
done
whole=0
if [ "${#wanted[@]}" = 0 ]; then
    whole=1
    mapfile -t wanted < <(levels_of "$target")
fi

INSTALL=${INSTALL:-1} cross/setup.sh --target "$target"
# shellcheck source=/dev/null
source .tools/env
toolchain "$target"

for level in "${wanted[@]}"; do
    build_worker "$target" "$level"
    check_static "$(worker_of "$target" "$level")"
done
[ "$whole" = 1 ] || exit 0
build_program "$target"
