# What a distribution asks of a program that answers strangers. hack/hardening.py shows that the linker kept it.
option(KUBENODESMITH_HARDENED "Compile and link so that faults of memory end the program" OFF)

if(KUBENODESMITH_HARDENED)
  string(APPEND CMAKE_CXX_FLAGS " -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS"
    " -fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    string(APPEND CMAKE_CXX_FLAGS " -fcf-protection=full")
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    string(APPEND CMAKE_CXX_FLAGS " -mbranch-protection=standard")
  endif()
  string(APPEND CMAKE_EXE_LINKER_FLAGS " -pie -Wl,-z,relro,-z,now,-z,noexecstack")
endif()
