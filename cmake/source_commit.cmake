# Writes which commit is built, and only if it has changed: cmake -D SOURCE=... -D OUTPUT=... [-D COMMIT=...] -P this file.
cmake_policy(SET CMP0053 NEW)
if(NOT COMMIT)
  execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=* WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT
  "namespace kubenodesmith {\nextern const char* const kSourceCommit;\nconst char* const kSourceCommit = \"@COMMIT@\";\n}  // namespace kubenodesmith\n"
  @ONLY)
