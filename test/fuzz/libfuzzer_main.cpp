// The fuzzer of all targets. Usage: fuzz --target=NAME, then libFuzzer's own arguments.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "test/fuzz/targets.hpp"

namespace {

constexpr std::string_view kOption = "--target=";
fuzz::Target target = nullptr;

[[noreturn]] void explain() {
    std::fprintf(stderr, "usage: fuzz --target=NAME [libFuzzer's arguments]; NAME is one of:\n");
    for (const auto& [name, function] : fuzz::all_targets()) std::fprintf(stderr, "  %s\n", name.data());
    std::exit(2);
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): libFuzzer calls them so.

// libFuzzer itself ignores arguments that begin with "--" and passes them to the processes that it starts.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    for (int i = 1; i < *argc; ++i) {
        const std::string_view argument((*argv)[i]);
        if (!argument.starts_with(kOption)) continue;
        const auto found = fuzz::all_targets().find(argument.substr(kOption.size()));
        if (found != fuzz::all_targets().end()) target = found->second;
    }
    if (!target) explain();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    target({reinterpret_cast<const char*>(data), size});
    return 0;
}

// NOLINTEND(readability-identifier-naming)
