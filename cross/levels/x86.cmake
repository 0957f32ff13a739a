# Which instruction sets llama.cpp is compiled with on x86-64. Read through CMAKE_PROJECT_INCLUDE, before ggml's own
# options: every one is stated, so that no default of another release adds an instruction that a level may not have.
function(edge_eval_x86)
    set(GGML_NATIVE OFF CACHE BOOL "" FORCE)
    foreach(name SSE42 AVX AVX_VNNI AVX2 BMI2 AVX512 AVX512_VBMI AVX512_VNNI AVX512_BF16 FMA F16C AMX_TILE AMX_INT8 AMX_BF16)
        if(name IN_LIST ARGN)
            set(GGML_${name} ON CACHE BOOL "" FORCE)
        else()
            set(GGML_${name} OFF CACHE BOOL "" FORCE)
        endif()
    endforeach()
endfunction()
