# The rules every folder shares, so that a folder's CMakeLists.txt is a list of files:
#
#   pgdlm_library(smc SOURCES sweep.cpp weights.cpp DEPS base events)      library pgdlm_smc
#   pgdlm_program(pgdlm SOURCES main.cpp DEPS engine CLI11::CLI11)         build/pgdlm
#   pgdlm_test(sweep_law LABEL laws SOURCES sweep_law.cpp DEPS smc kit)    GoogleTest cases as laws/Sweep.Name
#   pgdlm_example(hello SOURCES hello.cpp DEPS engine)                     runs as the test examples/hello
#   pgdlm_bench(memory SOURCES memory.cpp DEPS diffusion)                  build/bench/memory, run by `make bench`
#   pgdlm_test_library(kit SOURCES ... DEPS ...), pgdlm_test_program(laws_table SOURCES ... DEPS ...)   helpers of tests
#
# In DEPS a plain word is one of our folders (or `ggml`); a name with `::` is a target as it stands.
# Include roots: include/ for everyone; src/ inside the project; tests/ in tests. Examples see include/ only.
# Test binaries go to build/tests/, so their names must differ from the folders of tests/.

include(GoogleTest)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

add_library(pgdlm_flags INTERFACE)
target_compile_features(pgdlm_flags INTERFACE cxx_std_20)
target_compile_options(pgdlm_flags INTERFACE
  -Wall -Wextra -Wpedantic
  -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual  # names and overrides that are not what they seem
  -Wfloat-conversion                                # a lost half of a log-weight; integers: see below
  -Wno-missing-field-initializers                   # designated initialisers with defaults are our style
  # no -Wconversion: typed indices guard the integers, and its casts would bury the formulas
  -ffp-contract=off)                                # the same bits from every compiler and processor
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # GCC 12: false alarm inside std::string; GoogleTest's macros
  target_compile_options(pgdlm_flags INTERFACE -Wno-restrict -Wno-dangling-else)
endif()
if(PGDLM_WERROR)
  target_compile_options(pgdlm_flags INTERFACE -Werror)
endif()
if(PGDLM_SANITIZE)
  target_compile_options(pgdlm_flags INTERFACE
    -fsanitize=${PGDLM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(pgdlm_flags INTERFACE -fsanitize=${PGDLM_SANITIZE})
endif()
target_link_libraries(pgdlm_flags INTERFACE Threads::Threads)

function(_pgdlm_targets out)
  list(TRANSFORM ARGN REPLACE "^([^:]+)$" "pgdlm::\\1")  # with ::, a misspelt folder is an error of CMake
  set(${out} ${ARGN} PARENT_SCOPE)
endfunction()

# A folder as a static library (INTERFACE when it has headers only).
function(pgdlm_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  _pgdlm_targets(deps ${arg_DEPS})
  if(arg_SOURCES)
    add_library(pgdlm_${name} STATIC ${arg_SOURCES})
    target_include_directories(pgdlm_${name} PUBLIC ${PROJECT_SOURCE_DIR}/include
                                             PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(pgdlm_${name} PUBLIC ${deps} PRIVATE pgdlm_flags)
  else()
    add_library(pgdlm_${name} INTERFACE)
    target_include_directories(pgdlm_${name} INTERFACE ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(pgdlm_${name} INTERFACE ${deps})
  endif()
  add_library(pgdlm::${name} ALIAS pgdlm_${name})
endfunction()

function(_pgdlm_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS;ROOTS")
  _pgdlm_targets(deps ${arg_DEPS})
  list(TRANSFORM arg_ROOTS PREPEND "${PROJECT_SOURCE_DIR}/")
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${arg_ROOTS})
  target_link_libraries(${target} PRIVATE pgdlm_flags ${deps})
endfunction()

# A program at the top of the build tree, where `make` promises it.
function(pgdlm_program name)
  _pgdlm_executable(${name} ROOTS include src ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()

# What tests share (tests/kit); it may include itself as "kit/...".
function(pgdlm_test_library name)
  pgdlm_library(${name} ${ARGN})
  get_target_property(type pgdlm_${name} TYPE)
  if(NOT type STREQUAL INTERFACE_LIBRARY)
    target_include_directories(pgdlm_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  endif()
endfunction()

# A program that tests or scripts run, at build/tests/NAME.
function(pgdlm_test_program name)
  _pgdlm_executable(${name} ROOTS include src tests ${ARGN})
  target_compile_definitions(${name} PRIVATE PGDLM_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             PGDLM_BINARY="${PROJECT_BINARY_DIR}/pgdlm")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

# One GoogleTest binary; each of its cases is one ctest test named LABEL/Suite.Case.
function(pgdlm_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "SOURCES;DEPS")
  set(labels laws unit stats engine conformance golden cli parity server)
  if(NOT arg_LABEL IN_LIST labels)
    message(FATAL_ERROR "pgdlm_test(${name}): LABEL is '${arg_LABEL}', allowed: ${labels}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  pgdlm_test_program(${name} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS} GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-shadow>)  # INSTANTIATE_TEST_SUITE_P with GCC
  gtest_discover_tests(${name} TEST_PREFIX "${arg_LABEL}/" DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES
                       PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT})
endfunction()

# An example sees what a stranger sees, and must exit with 0.
function(pgdlm_example name)
  _pgdlm_executable(example_${name} ROOTS include ${ARGN})
  add_test(NAME examples/${name} COMMAND example_${name})
  set_tests_properties(examples/${name} PROPERTIES LABELS examples TIMEOUT 120)
endfunction()

function(pgdlm_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  _pgdlm_executable(bench_${name} SOURCES ${arg_SOURCES} ROOTS include src tests
                    DEPS ${arg_DEPS} benchmark::benchmark_main)
  set_target_properties(bench_${name} PROPERTIES OUTPUT_NAME ${name}
                                                 RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endfunction()
