# Level armv8.2-a-dotprod-fp16: int8 dot products and half-precision arithmetic (Cortex-A76, Jetson Orin).
include("${CMAKE_CURRENT_LIST_DIR}/arm.cmake")
edge_eval_arm("armv8.2-a+dotprod+fp16")
