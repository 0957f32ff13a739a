# Sourced by the scripts of this folder: targets, their levels, their toolchains, and how a worker is built.
# shellcheck shell=bash

targets() {
    printf '%s\n' x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
}

# The levels of a target, lowest first. Their names are those of runner/src/levels.rs and of cross/levels/NAME.cmake.
levels_of() {
    case $1 in
    x86_64-unknown-linux-gnu) printf '%s\n' x86-64 x86-64-v3 x86-64-v4-vnni ;;
    aarch64-unknown-linux-gnu) printf '%s\n' armv8-a armv8.2-a-dotprod-fp16 armv8.2-a-i8mm ;;
    *)
        echo "unknown target $1: there are $(targets | paste -sd' ')" >&2
        return 1
        ;;
    esac
}

fail() {
    printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2
    exit 1
}

# Where cargo builds for a target; each level has a folder of its own, because its C++ differs.
build_dir() { # build_dir TARGET NAME
    printf '%s/dist/%s/%s\n' "${CARGO_TARGET_DIR:-$root/target}" "$1" "$2"
}

worker_of() { # worker_of TARGET LEVEL
    printf '%s/%s/dist/edge-eval-worker\n' "$(build_dir "$1" "$2")" "$1"
}

# The environment of every cargo call for a target. Paths of this machine are kept out of what is built.
toolchain() { # toolchain TARGET
    local target=$1 under=${1//-/_} upper remap flags
    upper=$(tr a-z A-Z <<<"$under")
    export SOURCE_DATE_EPOCH
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
    export CARGO_INCREMENTAL=0 CCACHE_BASEDIR=${CCACHE_BASEDIR:-$(dirname "$root")} CCACHE_NOHASHDIR=1
    # Debug profiles of cargo are not asked for; this keeps llama.cpp at -O3 whatever its binding would choose.
    export LLAMA_LIB_PROFILE=Release
    if [ "$target" != "$(host)" ]; then
        foreign "$target" "$under" "$upper"
    fi
    local cargo_home=${CARGO_HOME:-${HOME:-}/.cargo} sysroot
    sysroot=$("${RUSTC:-rustc}" --print sysroot)
    remap="--remap-path-prefix=$root=/edge-eval --remap-path-prefix=$cargo_home=/cargo --remap-path-prefix=$sysroot=/rust"
    # All that is built for the target goes under its build folder, whose name is no part of the program either.
    remap="$remap --remap-path-prefix=$(build_dir "$target" '')=/build/"
    export "CARGO_TARGET_${upper}_RUSTFLAGS=-C target-feature=+crt-static $remap"
    flags="-g1 -ffile-prefix-map=$root=/edge-eval -ffile-prefix-map=$cargo_home=/cargo -ffile-prefix-map=$(build_dir "$target" '')=/build/"
    export "CFLAGS_$under=$flags" "CXXFLAGS_$under=$flags"
}

host() {
    rustc -vV | sed -n 's/^host: //p'
}

# What a build for another architecture needs beside.
foreign() { # foreign TARGET TARGET_WITH_UNDERSCORES UPPER
    local target=$1 under=$2 upper=$3 gnu=${1/-unknown/}
    command -v "$gnu-g++" >/dev/null ||
        fail "the cross compiler $gnu-g++ is missing: as root, install g++-${gnu/_/-} (Debian's name)"
    if ! std_of "$(command -v rustc)" "$target"; then
        # Debian's newer compiler, with the library of the other architecture beside it.
        [ -x /usr/bin/rustc ] && std_of /usr/bin/rustc "$target" ||
            fail "Rust's standard library for $target is missing: rustup target add $target, or as root on Debian" \
                "dpkg --add-architecture arm64 && apt-get update && apt-get install rustc-web libstd-rust-web-dev:arm64"
        export RUSTC=/usr/bin/rustc
    fi
    export "CARGO_TARGET_${upper}_LINKER=$gnu-gcc" "CC_$under=$gnu-gcc" "CXX_$under=$gnu-g++" "AR_$under=$gnu-ar"
    export CMAKE_SYSTEM_NAME=Linux CMAKE_SYSTEM_PROCESSOR=${target%%-*}
    export "BINDGEN_EXTRA_CLANG_ARGS_$under=-I/usr/$gnu/include"
}

# Whether a compiler has the standard library of a target.
std_of() { # std_of RUSTC TARGET
    compgen -G "$("$1" --print target-libdir --target "$2" 2>/dev/null)/libstd-*.rlib" >/dev/null
}

build_worker() { # build_worker TARGET LEVEL
    echo "build: worker of $1, level $2"
    CMAKE_PROJECT_INCLUDE=$root/cross/levels/$2.cmake CARGO_TARGET_DIR=$(build_dir "$1" "$2") \
        cargo build --locked --profile dist --target "$1" -p worker --features llama
}
