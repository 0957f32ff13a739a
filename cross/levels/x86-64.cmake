# Level x86-64: what every 64-bit PC has (SSE2), nothing of AVX.
include("${CMAKE_CURRENT_LIST_DIR}/x86.cmake")
edge_eval_x86()
