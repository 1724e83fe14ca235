// Boot data of one machine for cloud-init's data source NoCloud, however it gets there.
#pragma once

#include <string>

namespace bootstrap {

// Holds a secret: the join.
struct Seed {
    std::string user_data;
    std::string meta_data;
    std::string network_config;  // empty: nothing to say
};

}  // namespace bootstrap
