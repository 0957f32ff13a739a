#!/usr/bin/env bash
# Builds a target twice, the second time in another folder and from another copy of the source, and compares every byte.
#   cross/reproducible.sh TARGET [--levels LEVEL,...]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
# shellcheck source=cross/target.sh
source cross/target.sh

target=${1:-}
levels_of "$target" >/dev/null || fail "give a target: $(targets | paste -sd' ')"
[ -z "$(git status --porcelain --untracked-files=no)" ] || fail "there are changes that are not committed: the copy would lack them"

cross/build.sh "$@"
work=$(mktemp -d "$(dirname "$root")/reproducible.XXXXXX")
trap 'rm -rf "$work"' EXIT
git clone --quiet --shared "$root" "$work/another-folder"
(cd "$work/another-folder" && unset CARGO_TARGET_DIR && DIST_DIR=$work/dist cross/build.sh "$@")
for file in edge-eval debug/edge-eval.debug; do
    cmp "$(out_dir "$target")/$file" "$work/dist/$target/$file" || fail "$file differs"
done
echo "reproducible: two builds of $target in two folders are the same bytes"
