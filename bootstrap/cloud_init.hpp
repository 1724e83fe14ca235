// Builds cloud-init's three documents for one machine (data source NoCloud).
// https://cloudinit.readthedocs.io/en/latest/reference/datasources/nocloud.html
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/join.hpp"

namespace bootstrap {

struct UserDataSettings {
    std::string hostname;
    std::string user;  // new name of the image's default user; empty: the image's own name
    std::vector<std::string> ssh_authorized_keys;
    bool upgrade_packages = false;
    std::string own_user_data;  // a #cloud-config of the user, merged with ours; empty: none
};

// OwnUserDataError says what the user's own document lacks, without its text, which may contain secrets.
struct OwnUserDataError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// Returns the user-data. It keeps the user's own document and puts its lists before ours. So the user's
// commands prepare the machine before it joins. The host name is always ours. The last command disables
// cloud-init, because boot data is gone after the join. A later boot would detect a new instance, with new
// SSH host keys and without its static addresses. It contains the plan's secrets. Throws OwnUserDataError if
// the user's own document is no #cloud-config, or a type in it contradicts ours.
std::string user_data(const UserDataSettings& settings, const JoinPlan& plan);

// Returns the meta-data. Another attempt of a claim is another instance, so that cloud-init runs again.
std::string meta_data(std::string_view claim_uid, std::int64_t attempt, std::string_view hostname);

}  // namespace bootstrap
