# Provides the target pgdlm_ggml (`DEPS ggml`): ggml with its CPU and RPC backends. In order of preference: a ggml
# installed on this machine, the npm package pinned in ggml.lock, upstream git at the pinned tag. Sources are kept in
# .cache/, shared by all build trees, so that only the first configure of a clone needs a network.

add_library(pgdlm_ggml INTERFACE)
add_library(pgdlm::ggml ALIAS pgdlm_ggml)

find_package(ggml CONFIG QUIET)
if(ggml_FOUND)
  message(STATUS "ggml: installed, ${ggml_DIR}")
  target_link_libraries(pgdlm_ggml INTERFACE ggml::ggml)
  return()
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/ggml.lock)
file(STRINGS cmake/ggml.lock pin REGEX "^npm_package")
string(REGEX REPLACE ".*@" "" pin "${pin}")
set(PGDLM_GGML_DIR "${PROJECT_SOURCE_DIR}/.cache/ggml-${pin}")
if(NOT EXISTS ${PGDLM_GGML_DIR}/ggml/CMakeLists.txt OR NOT EXISTS ${PGDLM_GGML_DIR}/src/CMakeLists.txt)
  message(NOTICE "ggml: fetching sources into ${PGDLM_GGML_DIR}")
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/fetch_ggml ${PGDLM_GGML_DIR} COMMAND_ERROR_IS_FATAL ANY)
endif()

# ggml-cpu is compiled for the processor at hand (-march=native). Its objects are tied to that processor by a macro, so
# that a build tree that wakes up on another machine is rebuilt by the next `make` and does not die of SIGILL.
set(cpu "")
if(EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo cpu LIMIT_COUNT 1 REGEX "^(flags|Features)")
endif()
string(MD5 cpu "${cpu}")
string(SUBSTRING ${cpu} 0 8 cpu)

# GCC before 13 tells its optimiser that ldtilecfg reads 8 of the 64 bytes, so that ggml loads a configuration without
# tiles: SIGILL at the first one. Whether that bites depends on what is inlined around it, so such a compiler is never
# trusted with AMX, and any other only when its small tile product (amx_probe.cpp) comes out right.
set(amx_off FALSE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  if(NOT DEFINED PGDLM_AMX_PROBE_${cpu})
    try_run(PGDLM_AMX_PROBE_${cpu} probe_compiled ${PROJECT_BINARY_DIR}/amx_probe ${PROJECT_SOURCE_DIR}/cmake/amx_probe.cpp
            COMPILE_DEFINITIONS -march=native -O3)
  endif()
  set(probe "${PGDLM_AMX_PROBE_${cpu}}")  # 0: right, 77: this processor has no AMX, anything else: wrong or a crash
  if(NOT probe EQUAL 77)
    if(NOT probe EQUAL 0 OR (CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13))
      set(amx_off TRUE)
      message(NOTICE "ggml: AMX is off, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} miscompiles it; "
                     "for AMX build with clang-16 (CC=clang-16 CXX=clang++-16)")
    endif()
  endif()
endif()

block()  # 3.25: what ggml is told stays in here; -DGGML_CUDA=ON and the like on the command line still work
  set(BUILD_SHARED_LIBS OFF)
  set(GGML_NATIVE ON)
  set(GGML_OPENMP OFF)         # its own thread pool does, without another library
  set(GGML_RPC ON)             # a device whose buffers are not host memory: tests stand on it for a GPU
  set(GGML_LLAMAFILE OFF)      # sums in an order that depends on the batch: the same seed must give the same bytes
  set(GGML_CCACHE OFF)
  set(GGML_ALL_WARNINGS OFF)
  if(PGDLM_SANITIZE STREQUAL thread)
    set(GGML_SANITIZE_THREAD ON)  # without it every hand-over inside ggml's thread pool looks like a race
  endif()
  add_subdirectory(${PGDLM_GGML_DIR}/ggml ${PROJECT_BINARY_DIR}/ggml EXCLUDE_FROM_ALL SYSTEM)
endblock()

target_compile_definitions(ggml-cpu PRIVATE PGDLM_CPU=0x${cpu})
if(amx_off)
  target_compile_options(ggml-cpu PRIVATE -mno-amx-tile -mno-amx-int8 -mno-amx-bf16)
endif()
foreach(lib ggml-base ggml-cpu ggml-rpc ggml)  # a model must stay usable in the sanitizer builds, NaN weights included
  target_compile_options(${lib} PRIVATE $<$<CONFIG:Debug>:-O2 -g0 -DNDEBUG>)
endforeach()
target_link_libraries(pgdlm_ggml INTERFACE ggml)
