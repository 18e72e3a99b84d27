# Provides PGDLM_WEB_FILES: a source that holds the web view, made of web/ by npm and Vite. What npm installs is kept in
# .cache/, shared by all build trees, so that only the first build of a clone needs a network.
option(PGDLM_WEB "Build the web view into the program (needs npm)" ON)

set(PGDLM_WEB_FILES ${PROJECT_BINARY_DIR}/web_files.cpp)
set(web ${PROJECT_SOURCE_DIR}/web)
set(built ${PROJECT_BINARY_DIR}/web)

if(PGDLM_WEB)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/*)
  add_custom_command(
    OUTPUT ${built}/index.html ${built}/app.js ${built}/app.css
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/web build ${built}
    DEPENDS ${sources} ${web}/index.html ${web}/package-lock.json ${web}/vite.config.ts ${web}/svelte.config.js
            ${PROJECT_SOURCE_DIR}/scripts/web
    COMMENT "Building the web view" VERBATIM)
else()
  set(built ${PROJECT_BINARY_DIR}/no_web)
  file(WRITE ${built}/index.html "<!doctype html><title>pgdlm</title><p>This server was built without its web view.\n")
  file(WRITE ${built}/app.js "")
  file(WRITE ${built}/app.css "")
endif()

# The assembler copies the bytes in: quick, whatever their size.
configure_file(${PROJECT_SOURCE_DIR}/cmake/web_files.cpp.in ${PGDLM_WEB_FILES} @ONLY)
set_source_files_properties(${PGDLM_WEB_FILES} PROPERTIES OBJECT_DEPENDS
                            "${built}/index.html;${built}/app.js;${built}/app.css")
