# Provides the target pgdlm_llama (`DEPS llama`), for tests only: libllama of the pinned checkout, linked with our ggml,
# as a second opinion on networks and tokenisers. Nothing builds it until a test asks. There is none when ggml was found
# installed: its sources are not at hand then. PGDLM_VOCAB_DIR holds vocabularies of well-known models as GGUF files.

if(NOT PGDLM_GGML_DIR)
  message(STATUS "libllama: not built (ggml is an installed one); no tests compare with it")
  return()
endif()

function(llama_add_compile_flags)  # called by llama.cpp's CMakeLists.txt; its warnings are not ours to read
endfunction()

block()
  set(BUILD_SHARED_LIBS OFF)
  set(CMAKE_EXPORT_COMPILE_COMMANDS OFF)  # clang-tidy has no business there
  set(LLAMA_VERSION pinned)
  set(LLAMA_VERSION_MAJOR 0)
  set(LLAMA_VERSION_BASE 0)
  add_subdirectory(${PGDLM_GGML_DIR}/src ${PROJECT_BINARY_DIR}/llama EXCLUDE_FROM_ALL SYSTEM)
endblock()

# The arithmetic is ggml's, so -O1 will do; about 100 s of one processor, a sixth less than -O3.
target_compile_options(llama PRIVATE -w -O1 -g0)
set_target_properties(llama PROPERTIES CXX_STANDARD 17)

add_library(pgdlm_llama INTERFACE)
add_library(pgdlm::llama ALIAS pgdlm_llama)
target_link_libraries(pgdlm_llama INTERFACE llama)
set(PGDLM_VOCAB_DIR ${PGDLM_GGML_DIR}/models)
