# Sourced by build.sh: what must be true of every program that is built.
# shellcheck shell=bash

# No interpreter, no library, no symbols, no debug information.
check_static() { # check_static TARGET FILE
    local readelf
    readelf=$(binutil "$1" readelf)
    ! "$readelf" -lW "$2" | grep -q INTERP || fail "$2 needs an interpreter"
    ! "$readelf" -dW "$2" | grep -q NEEDED || fail "$2 needs shared libraries"
    ! "$readelf" -SW "$2" | grep -Eq '\.(debug_info|symtab)' || fail "$2 is not stripped"
}

# Which instructions a worker has, by what its level may have and must have. Functions that test the processor before they
# use more (of Rust's libraries, and the compiler's outlined atomics) are no part of llama.cpp, whose own are looked at.
check_instructions() { # check_instructions TARGET LEVEL WORKER
    local must none
    case $2 in
    x86-64) must=mulps none='%[yz]mm|vfmadd' ;;
    x86-64-v3) must='vfmadd.*%ymm' none='%zmm' ;;
    x86-64-v4-vnni) must='vpdpbusd.*%zmm' none='vpdpbf16|tdpb' ;;
    armv8-a) must='[ \t]smull' none='[ \t](sdot|udot|smmla|usdot|ldadd|swpa|casa)' ;;
    armv8.2-a-dotprod-fp16) must='[ \t]sdot' none='[ \t](smmla|usdot)' ;;
    armv8.2-a-i8mm) must='[ \t]smmla' none='[ \t](bfmmla|whilelo)' ;;
    *) fail "no instructions are known of level $2" ;;
    esac
    "$(binutil "$1" objdump)" -d --no-show-raw-insn "$3" | awk -v must="$must" -v none="$none" -v level="$2" '
        /^[0-9a-f]+ <.*>:$/ { name = $2; own = name ~ /ggml|llama|gguf|quant|gemm|mtmd|clip/ && name !~ /^<_R|17h[0-9a-f]+E/; next }
        own && $0 ~ none && !bad { bad = name; what = $0 }
        own && $0 ~ must { there++ }
        END {
            if (bad) { print "build: level " level " has an instruction above it in " bad ": " what; exit 1 }
            if (!there) { print "build: level " level " has none of the instructions that it is for"; exit 1 }
            print "build: level " level ": " there " instructions of its kind, none above it"
        }' || fail "the instructions of $3 are not those of its level"
}
