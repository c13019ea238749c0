# Defaults for a plain `cmake -G Ninja -S . -B build`: clang 22, because g++ gains nothing from a
# precompiled header and the build is dominated by parsing MLIR's; Release; the launcher ccache.

set(TOFU_LLVM_MAJOR 22)
set(TOFU_LLVM_PREFIX /usr/lib/llvm-${TOFU_LLVM_MAJOR} CACHE PATH
    "Where LLVM, MLIR and clang are looked for first")

function(tofu_default_compiler language name environment)
  if(DEFINED CMAKE_${language}_COMPILER OR DEFINED ENV{${environment}})
    return()
  endif()
  find_program(TOFU_${language}_COMPILER
               NAMES ${name}-${TOFU_LLVM_MAJOR} ${name}
               HINTS ${TOFU_LLVM_PREFIX}/bin NO_CACHE)
  if(TOFU_${language}_COMPILER)
    set(CMAKE_${language}_COMPILER ${TOFU_${language}_COMPILER} CACHE FILEPATH "")
  endif()
endfunction()
tofu_default_compiler(C clang CC)
tofu_default_compiler(CXX clang++ CXX)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "")
endif()
# -O3 costs a fifth of the compile time and gives a compiler nothing.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")

find_program(TOFU_CCACHE ccache)
if(TOFU_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness ccache refuses every file that uses a precompiled header.
  set(launcher ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${TOFU_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
