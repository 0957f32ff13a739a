# Level x86-64-v4-vnni: AVX-512 (F, CD, VL, DQ, BW) with the int8 dot products of VNNI.
include("${CMAKE_CURRENT_LIST_DIR}/x86.cmake")
edge_eval_x86(SSE42 AVX AVX2 FMA F16C BMI2 AVX512 AVX512_VNNI)
