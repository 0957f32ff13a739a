#!/usr/bin/env bash
# Builds edge-eval for a target: one static program that carries a worker for each CPU level. See cross/README.md.
#   cross/build.sh TARGET                        the whole; the result is dist/TARGET/edge-eval
#   cross/build.sh TARGET --levels LEVEL,...     with these workers alone
# Environment: INSTALL=0 installs nothing, DIST_DIR is the folder for results, CARGO_TARGET_DIR that of the builds.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
# shellcheck source=cross/target.sh
source cross/target.sh
# shellcheck source=cross/checks.sh
source cross/checks.sh

target=${1:-}
if ! all=$(levels_of "$target"); then
    echo "usage: cross/build.sh TARGET [--levels LEVEL,...]; targets: $(targets | paste -sd' ')" >&2
    exit 2
fi
mapfile -t levels <<<"$all"
if [ "${2:-}" = --levels ]; then
    mapfile -t levels < <(tr , '\n' <<<"${3:-}")
    for level in "${levels[@]}"; do
        grep -qx -- "$level" <<<"$all" || fail "$target has no level $level: there are $(paste -sd' ' <<<"$all")"
    done
fi

cross/setup.sh
# shellcheck source=/dev/null
source .tools/env

# Takes the debug information out of a program and keeps it: OUT and OUT.debug.
finish() { # finish BUILT OUT DEBUG
    "$(binutil "$target" objcopy)" --only-keep-debug "$1" "$3"
    "$(binutil "$target" objcopy)" --strip-all "$1" "$2"
    check_static "$target" "$2"
}

build_worker() { # build_worker LEVEL
    local dir built
    dir=$(build_dir "$target" "$1")
    built=$dir/$target/dist/edge-eval-worker
    echo "build: worker of $target, level $1"
    EDGE_EVAL_CPU_LEVEL=$1 CMAKE_PROJECT_INCLUDE=$root/cross/levels/$1.cmake CARGO_TARGET_DIR=$dir \
        cargo build --locked --profile dist --target "$target" -p worker --features llama
    check_instructions "$target" "$1" "$built"
    finish "$built" "$dir/worker" "$out/debug/worker-$1.debug"
}

# The program for this machine, which puts programs and workers together.
carrier() {
    local dir
    dir=$(build_dir "$(host)" program)
    if [ "$target" != "$(host)" ]; then
        (
            unset RUSTC CMAKE_SYSTEM_NAME CMAKE_SYSTEM_PROCESSOR
            toolchain "$(host)"
            CARGO_TARGET_DIR=$dir cargo build --locked --profile dist --target "$(host)" -p runner --bin edge-eval >&2
        )
    fi
    echo "$dir/$(host)/dist/edge-eval"
}

out=$(out_dir "$target")
mkdir -p "$out/debug"
toolchain "$target"

workers=()
for level in "${levels[@]}"; do
    build_worker "$level"
    workers+=("$level=$(build_dir "$target" "$level")/worker")
done

echo "build: program of $target"
dir=$(build_dir "$target" program)
CARGO_TARGET_DIR=$dir cargo build --locked --profile dist --target "$target" -p runner --bin edge-eval
finish "$dir/$target/dist/edge-eval" "$dir/program" "$out/debug/edge-eval.debug"

carrier=$(carrier)
"$carrier" __carry "$dir/program" "$out/edge-eval" "${workers[@]}"
check_static "$target" "$out/edge-eval"
ls -l "$out/edge-eval"
sha256sum "$out/edge-eval"
