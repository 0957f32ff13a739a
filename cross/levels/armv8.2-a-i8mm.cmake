# Level armv8.2-a-i8mm: the level below, and int8 matrix products.
include("${CMAKE_CURRENT_LIST_DIR}/arm.cmake")
edge_eval_arm("armv8.2-a+dotprod+fp16+i8mm")
