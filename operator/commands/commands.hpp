// All commands except `run`.
#pragma once

#include <string>
#include <vector>

#include "operator/options/options.hpp"

namespace kubenodesmith {

struct BuildInfo {
    std::string version;
    std::string commit;  // empty: unknown
};

std::vector<CommandGroup> all_commands(const BuildInfo& build);

}  // namespace kubenodesmith
