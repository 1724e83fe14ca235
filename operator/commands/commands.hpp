// All commands beside `run`.
#pragma once

#include <string>
#include <vector>

#include "operator/options/options.hpp"

namespace kubenodesmith {

struct BuildInfo {
    std::string version;
    std::string commit;  // empty: not known
};

std::vector<CommandGroup> all_commands(const BuildInfo& build);

}  // namespace kubenodesmith
