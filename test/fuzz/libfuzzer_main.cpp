// One fuzzer: FUZZ_TARGET is set by CMake.
#include "test/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    fuzz::FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
    return 0;
}
