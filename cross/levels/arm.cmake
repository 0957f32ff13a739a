# What llama.cpp's kernels are compiled for on 64-bit ARM. The binding defines this option itself, so it is forced here,
# through CMAKE_PROJECT_INCLUDE, before ggml reads it.
function(edge_eval_arm march)
    set(GGML_NATIVE OFF CACHE BOOL "" FORCE)
    set(GGML_CPU_ARM_ARCH "${march}" CACHE STRING "" FORCE)
endfunction()
