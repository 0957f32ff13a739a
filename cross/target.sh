# Sourced by the scripts of this folder: targets, their levels, and the environment of a build for them.
# shellcheck shell=bash
# `root` is set by the script that sources this.
# shellcheck disable=SC2154

# Prefixes that are mapped away are whole paths.
case ${CARGO_TARGET_DIR:-/} in
/*) ;;
*) export CARGO_TARGET_DIR=$root/$CARGO_TARGET_DIR ;;
esac

targets() {
    printf '%s\n' x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
}

# The levels of a target, lowest first. Their names are those of runner/src/levels.rs and of cross/levels/NAME.cmake.
levels_of() {
    case $1 in
    x86_64-unknown-linux-gnu) printf '%s\n' x86-64 x86-64-v3 x86-64-v4-vnni ;;
    aarch64-unknown-linux-gnu) printf '%s\n' armv8-a armv8.2-a-dotprod-fp16 armv8.2-a-i8mm ;;
    *) return 1 ;;
    esac
}

fail() {
    printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2
    exit 1
}

# Ends with a code of its own: what lacks a tool is not tested, and no failure of what is tested.
missing() {
    printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2
    exit 69
}

host() {
    rustc -vV | sed -n 's/^host: //p'
}

# Where cargo builds a part for a target: each level has a folder of its own, because its C++ differs.
build_dir() { # build_dir TARGET PART
    printf '%s/dist/%s/%s\n' "${CARGO_TARGET_DIR:-$root/target}" "$1" "$2"
}

# What is handed out, and the debug information beside it.
out_dir() { # out_dir TARGET
    printf '%s/%s\n' "${DIST_DIR:-$root/dist}" "$1"
}

# The environment of every cargo call for a target. Paths of this machine are kept out of what is built.
toolchain() { # toolchain TARGET
    local target=$1 under=${1//-/_} upper sysroot maps=() pair
    upper=$(tr '[:lower:]' '[:upper:]' <<<"$under")
    export SOURCE_DATE_EPOCH CARGO_INCREMENTAL=0 CCACHE_NOHASHDIR=1
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
    export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$(dirname "$root")}
    # Whatever the binding would choose for a build with debug information.
    export LLAMA_LIB_PROFILE=Release
    [ "$target" = "$(host)" ] || foreign "$target" "$under" "$upper"
    sysroot=$("${RUSTC:-rustc}" --print sysroot)
    # The last that fits counts: folders inside others stand behind them.
    maps=("$root=/edge-eval" "${CARGO_HOME:-${HOME:-}/.cargo}=/cargo" "$(build_dir "$target" '')=/build/")
    local rust="-C target-feature=+crt-static --remap-path-prefix=$sysroot=/rust" c=-g1
    for pair in "${maps[@]}"; do
        rust+=" --remap-path-prefix=$pair"
        c+=" -ffile-prefix-map=$pair"
    done
    export "CARGO_TARGET_${upper}_RUSTFLAGS=$rust" "CFLAGS_$under=$c" "CXXFLAGS_$under=$c"
}

# What a build for another architecture needs beside.
foreign() { # foreign TARGET TARGET_WITH_UNDERSCORES UPPER
    local target=$1 under=$2 upper=$3 gnu=${1/-unknown/}
    local package=g++-${gnu/_/-}
    command -v "$gnu-g++" >/dev/null || apt_install "$package" || true
    command -v "$gnu-g++" >/dev/null ||
        missing "the cross compiler $gnu-g++ is missing: as root, install $package (Debian's name)"
    if ! std_of rustc "$target" && [ "${INSTALL:-1}" != 0 ] && command -v rustup >/dev/null; then
        rustup target add "$target" >&2 || true
    fi
    if ! std_of rustc "$target"; then
        # Debian's newer compiler, with the library of the other architecture beside it.
        std_of /usr/bin/rustc "$target" || { dpkg --add-architecture arm64 2>/dev/null && apt_install rustc-web libstd-rust-web-dev:arm64; } || true
        std_of /usr/bin/rustc "$target" ||
            missing "Rust's standard library for $target is missing: rustup target add $target, or as root on Debian:" \
                "dpkg --add-architecture arm64; apt-get update; apt-get install rustc-web libstd-rust-web-dev:arm64"
        export RUSTC=/usr/bin/rustc
    fi
    export "CARGO_TARGET_${upper}_LINKER=$gnu-gcc" "CC_$under=$gnu-gcc" "CXX_$under=$gnu-g++" "AR_$under=$gnu-ar"
    export CMAKE_SYSTEM_NAME=Linux CMAKE_SYSTEM_PROCESSOR=${target%%-*}
    export "BINDGEN_EXTRA_CLANG_ARGS_$under=-I/usr/$gnu/include"
}

apt_install() { # apt_install PACKAGE...
    [ "${INSTALL:-1}" != 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    echo "$(basename "$0" .sh): installing $* with apt-get" >&2
    { DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" ||
        { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@"; }; } \
        </dev/null >&2
}

# Whether a compiler has the standard library of a target.
std_of() { # std_of RUSTC TARGET
    compgen -G "$("$1" --print target-libdir --target "$2" 2>/dev/null)/libstd-*.rlib" >/dev/null
}

# A program of binutils for a target.
binutil() { # binutil TARGET NAME
    if [ "$1" = "$(host)" ]; then echo "$2"; else echo "${1/-unknown/}-$2"; fi
}
