# Finds MLIR 22 and nothing else: its textual format and its C++ interface change with every major.

set(TOFU_LLVM_HELP
    "Tofu needs LLVM and MLIR ${TOFU_LLVM_MAJOR}. On Debian and Ubuntu (apt.llvm.org):\n  \
apt-get install llvm-${TOFU_LLVM_MAJOR}-dev llvm-${TOFU_LLVM_MAJOR}-tools \
libmlir-${TOFU_LLVM_MAJOR}-dev mlir-${TOFU_LLVM_MAJOR}-tools clang-${TOFU_LLVM_MAJOR} \
lld-${TOFU_LLVM_MAJOR}\nElsewhere: -DMLIR_DIR=<prefix>/lib/cmake/mlir")

find_package(MLIR CONFIG QUIET HINTS ${TOFU_LLVM_PREFIX}/lib/cmake/mlir)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "MLIR was not found. ${TOFU_LLVM_HELP}")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL TOFU_LLVM_MAJOR)
  message(FATAL_ERROR "${MLIR_DIR} has MLIR ${LLVM_PACKAGE_VERSION}. ${TOFU_LLVM_HELP}")
endif()
if(NOT TARGET MLIR)
  message(FATAL_ERROR "MLIR in ${MLIR_DIR} was built without its shared library libMLIR.so "
                      "(MLIR_BUILD_MLIR_DYLIB). ${TOFU_LLVM_HELP}")
endif()
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
