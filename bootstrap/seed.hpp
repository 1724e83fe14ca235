// Holds boot data of one machine for cloud-init's data source NoCloud, independent of its transport.
#pragma once

#include <string>

namespace bootstrap {

// Seed contains a secret: the join.
struct Seed {
    std::string user_data;
    std::string meta_data;
    std::string network_config;  // empty: nothing to configure
};

}  // namespace bootstrap
