# Paths below the source folder do not count, so that every clone shares the cache.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime
    CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
endif()

add_library(project_options INTERFACE)
target_compile_options(project_options INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wconversion -Wnon-virtual-dtor -Wno-missing-field-initializers)
target_include_directories(project_options INTERFACE ${CMAKE_SOURCE_DIR})
target_link_options(project_options INTERFACE -fuse-ld=lld -Wl,--gc-sections)

# project_library(NAME dependency...): a static library of all sources in the current folder
# (not its subfolders); a missing dependency is a link error, so the layers stay honest.
function(project_library name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC project_options ${ARGN})
endfunction()

# project_executable(NAME SOURCES... LINKS ...)
function(project_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE project_options ${arg_LINKS})
endfunction()

# project_test(NAME SOURCES... LINKS ...): a Catch2 program registered with ctest. Catch2 v2 has
# no skip: a test program that cannot run here exits with 77. The target ring-RING builds all programs
# whose names begin with RING: ring-unit, ring-component.
function(project_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  project_executable(${name} SOURCES ${arg_SOURCES} LINKS ${arg_LINKS} test_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
  string(REGEX MATCH "^[a-z]+" ring ${name})
  if(NOT TARGET ring-${ring})
    add_custom_target(ring-${ring})
  endif()
  add_dependencies(ring-${ring} ${name})
endfunction()

# project_pytest(NAME FILE...): Python tests registered with ctest, run by the Python of `make setup`.
# Each starts servers and processes of its own, on ports and in folders of its own.
function(project_pytest name)
  add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/build/venv/bin/python -m pytest -q -rs -p no:cacheprovider ${ARGN})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900
    ENVIRONMENT "KUBENODESMITH_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};PYTHONDONTWRITEBYTECODE=1")
endfunction()
