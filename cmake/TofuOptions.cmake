# Options, output folders and the compiler flags that hold for everything.

option(TOFU_INCLUDE_TESTS "Generate the targets of the tests" ON)
option(TOFU_ENABLE_PCH "Precompile the MLIR headers, once for all libraries" ON)
option(TOFU_ENABLE_WERROR "Make warnings errors" OFF)
option(TOFU_BUILD_FUZZERS "Build the libFuzzer targets; needs clang and a sanitizer" OFF)
option(TOFU_ENABLE_ASSERTIONS "Keep assertions, ours and those in LLVM's headers" OFF)

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# Read by LLVM's modules below.
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(MLIR_BINARY_DIR ${PROJECT_BINARY_DIR})
if(NOT DEFINED LLVM_USE_LINKER AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(LLVM_USE_LINKER lld)
endif()
set(LLVM_ENABLE_WERROR ${TOFU_ENABLE_WERROR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)

separate_arguments(definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${definitions})
# CXX only: the C in the tree is one header check.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
if(TOFU_ENABLE_WERROR)
  # libstdc++ 12 uses what it deprecates in std::stable_sort.
  add_compile_options(-Wno-error=deprecated-declarations)
endif()
if(TOFU_ENABLE_ASSERTIONS)
  add_compile_options(-UNDEBUG)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${PROJECT_SOURCE_DIR}/cmake/Assertions.h>")
endif()
if(TOFU_BUILD_FUZZERS)
  # What the inputs reach, for libFuzzer to go by.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()
if(NOT LLVM_ENABLE_RTTI)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()

include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

include(GNUInstallDirs)
# Tools and libraries find each other in the build tree and when installed.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" "${LLVM_LIBRARY_DIR}")
