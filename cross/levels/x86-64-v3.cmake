# Level x86-64-v3: AVX2, FMA and F16C.
include("${CMAKE_CURRENT_LIST_DIR}/x86.cmake")
edge_eval_x86(SSE42 AVX AVX2 FMA F16C BMI2)
