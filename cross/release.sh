#!/usr/bin/env bash
# Makes the archives that are handed out, from what cross/build.sh left in dist/: dist/release/.
#   edge-eval-VERSION-TARGET.tar.gz          program, configurations with their data, documents, licences of all that is linked
#   edge-eval-VERSION-TARGET-debug.tar.gz    debug information, by the same names
#   edge-eval-VERSION.spdx.json              what is linked, machine-readable
#   SHA256SUMS
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
# shellcheck source=cross/target.sh
source cross/target.sh

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
epoch=$(git log -1 --format=%ct 2>/dev/null || echo 0)
dist=${DIST_DIR:-$root/dist}
out=$dist/release
rm -rf "$out"
mkdir -p "$out"
cross/licences.py --version "$version" --spdx "$out/edge-eval-$version.spdx.json" --text "$out/LICENCES.txt"

# The same files give the same archive: names in order, one time, no owner.
archive() { # archive FOLDER NAME
    tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --format=ustar -C "$1" -cf - "$2" | gzip -n9 >"$out/$2.tar.gz"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for target in $(targets); do
    [ -x "$dist/$target/edge-eval" ] || fail "$dist/$target/edge-eval is missing: run cross/build.sh $target"
    name=edge-eval-$version-$target
    mkdir -p "$work/$name" "$work/$name-debug"
    cp "$dist/$target/edge-eval" "$work/$name/"
    cross/carried.sh "$work/$name"
    cp "$out/LICENCES.txt" "$work/$name/"
    cp "$dist/$target/debug/"*.debug "$work/$name-debug/"
    chmod -R u=rwX,go=rX "$work/$name" "$work/$name-debug"
    archive "$work" "$name"
    archive "$work" "$name-debug"
done
rm "$out/LICENCES.txt"
(cd "$out" && sha256sum -- * >SHA256SUMS && sha256sum --check --quiet SHA256SUMS && ls -l)
