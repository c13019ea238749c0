# tofu_add_library(name [WITHOUT_LLVM] [LINK libraries...] [DEPENDS targets...] [sources...])
#   A static library on MLIR, or on neither MLIR nor LLVM; without sources: those of the current
#   folder.
# tofu_add_tool(name sources... LINK libraries...)
#   An executable in build/bin. MLIR and LLVM are in it as shared libraries only: a static MLIR
#   library would bring a second MLIR beside the one in libMLIR.so.
# What is on MLIR uses the precompiled header.

if(TOFU_ENABLE_PCH)
  add_library(TofuPrecompiled STATIC ${PROJECT_SOURCE_DIR}/cmake/Precompiled.cpp)
  target_precompile_headers(TofuPrecompiled PRIVATE ${PROJECT_SOURCE_DIR}/cmake/Precompiled.h)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # A time stamp in the header would change it for ccache with every clean build.
    target_compile_options(TofuPrecompiled PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

function(tofu_use_precompiled_header target)
  if(TARGET TofuPrecompiled)
    target_precompile_headers(${target} REUSE_FROM TofuPrecompiled)
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
      target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endif()
  endif()
endfunction()

function(tofu_add_library name)
  cmake_parse_arguments(ARG "WITHOUT_LLVM" "" "LINK;DEPENDS" ${ARGN})
  set(sources ${ARG_UNPARSED_ARGUMENTS})
  if(NOT sources)
    file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  endif()
  if(NOT sources)
    add_library(${name} INTERFACE)
    install(TARGETS ${name} EXPORT TofuTargets)
    return()
  endif()
  add_library(${name} STATIC ${sources})
  add_library(Tofu::${name} ALIAS ${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(NOT ARG_WITHOUT_LLVM)
    target_link_libraries(${name} PUBLIC MLIR LLVM)
    tofu_use_precompiled_header(${name})
  endif()
  foreach(dependency ${ARG_DEPENDS})
    if(TARGET ${dependency})
      add_dependencies(${name} ${dependency})
    endif()
  endforeach()
  install(TARGETS ${name} EXPORT TofuTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

function(tofu_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  tofu_use_precompiled_header(${name})
  install(TARGETS ${name} EXPORT TofuTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
