# Level armv8-a: what every 64-bit ARM has.
include("${CMAKE_CURRENT_LIST_DIR}/arm.cmake")
edge_eval_arm("armv8-a")
