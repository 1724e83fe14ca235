# Most of the time to compile a file goes into headers: the widely used ones can be compiled once. To compile the files
# of a library sixteen at a time makes a whole tree quicker, so that CI can afford all of its trees, and one changed line
# slower. hack/compile_each.py compiles each file alone: make test with precompiled headers, make lint without.
option(KUBENODESMITH_PRECOMPILED_HEADERS "Compile widely used headers once" OFF)
option(KUBENODESMITH_UNITY "Compile the files of a library together" OFF)

# What is tested is compiled as its preset says. To optimise the tests too costs more than they then run faster.
set(KUBENODESMITH_TEST_FLAGS "" CACHE STRING "Compiler options of test programs, after the preset's")
separate_arguments(test_flags UNIX_COMMAND "${KUBENODESMITH_TEST_FLAGS}")

# Paths below the source folder do not count, so that every clone shares the cache.
find_program(CCACHE ccache)
if(CCACHE)
  set(sloppiness time_macros,include_file_mtime,include_file_ctime)
  if(KUBENODESMITH_PRECOMPILED_HEADERS)
    # To preprocess a file once more for the cache's sake would take as long as to compile it.
    set(sloppiness ${sloppiness},pch_defines CCACHE_DEPEND=1)
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=${sloppiness}
    CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE})
endif()

add_library(project_options INTERFACE)
target_compile_options(project_options INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wconversion -Wnon-virtual-dtor -Wno-missing-field-initializers)
target_include_directories(project_options INTERFACE ${CMAKE_SOURCE_DIR})
target_link_options(project_options INTERFACE -fuse-ld=lld -Wl,--gc-sections)

if(KUBENODESMITH_PRECOMPILED_HEADERS)
  foreach(headers precompiled precompiled_tests precompiled_worlds)
    file(WRITE ${CMAKE_BINARY_DIR}/${headers}.cpp "")
    add_library(${headers} OBJECT ${CMAKE_BINARY_DIR}/${headers}.cpp)
    target_link_libraries(${headers} PUBLIC project_options dependency_asio)
    target_precompile_headers(${headers} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/${headers}.hpp)
    target_compile_options(${headers} PRIVATE -fpch-instantiate-templates
      "SHELL:-Xclang -fno-pch-timestamp")
  endforeach()
  target_compile_options(precompiled_tests PRIVATE ${test_flags})
  target_compile_options(precompiled_worlds PRIVATE ${test_flags})
endif()

# project_precompiled(TARGET HEADERS): HEADERS is precompiled, precompiled_tests or precompiled_worlds.
function(project_precompiled name headers)
  if(KUBENODESMITH_PRECOMPILED_HEADERS)
    target_precompile_headers(${name} REUSE_FROM ${headers})
  endif()
endfunction()

# project_together(TARGET): its files share translation units, so no two may use one name for different things in
# their unnamed namespaces.
function(project_together name)
  if(KUBENODESMITH_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  endif()
endfunction()

# project_library(NAME dependency... [ROOMS folder...]): a static library of all sources in the current folder
# and in these folders below it; a missing dependency is a link error, so the layers stay honest.
function(project_library name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  cmake_parse_arguments(arg "" "" "ROOMS" ${ARGN})
  foreach(room ${arg_ROOMS})
    file(GLOB parts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp)
    list(APPEND sources ${parts})
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC project_options ${arg_UNPARSED_ARGUMENTS})
  project_precompiled(${name} precompiled)
  project_together(${name})
endfunction()

# project_beside_units(TARGET): the target beside-units builds it.
function(project_beside_units name)
  if(NOT TARGET beside-units)
    add_custom_target(beside-units)
  endif()
  add_dependencies(beside-units ${name})
endfunction()

# project_executable(NAME SOURCES... LINKS ... [PRECOMPILED HEADERS]): for HEADERS see project_precompiled.
function(project_executable name)
  cmake_parse_arguments(arg "" "PRECOMPILED" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE project_options ${arg_LINKS})
  if(NOT name MATCHES "^unit-")
    project_beside_units(${name})
  endif()
  if("test_main" IN_LIST arg_LINKS)
    target_compile_options(${name} PRIVATE ${test_flags})
    if(NOT arg_PRECOMPILED)
      set(arg_PRECOMPILED precompiled_tests)
    endif()
    project_precompiled(${name} ${arg_PRECOMPILED})
  else()
    project_precompiled(${name} precompiled)
  endif()
endfunction()

# project_test(NAME SOURCES... LINKS ... [PRECOMPILED HEADERS]): a Catch2 program registered with ctest. Catch2 v2 has
# no skip: a test program that cannot run here exits with 77. The target ring-RING builds all programs
# whose names begin with RING: ring-unit, ring-component. The target beside-units builds all others.
function(project_test name)
  cmake_parse_arguments(arg "" "PRECOMPILED" "SOURCES;LINKS" ${ARGN})
  project_executable(${name} SOURCES ${arg_SOURCES} LINKS ${arg_LINKS} test_main PRECOMPILED ${arg_PRECOMPILED})
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
