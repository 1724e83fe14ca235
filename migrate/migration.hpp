// The result of converting another autoscaler's configuration into our resources.
#pragma once

#include <string>

#include "migrate/draft.hpp"
#include "migrate/report.hpp"

namespace kubenodesmith::migrate {

struct Names {
    std::string namespace_ = "kubenodesmith";
    std::string name = "proxmox";  // of the Provider if the source has none
};

struct Migration {
    Draft draft;
    Report report;
};

}  // namespace kubenodesmith::migrate
