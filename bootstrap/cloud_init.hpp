// Cloud-init's three documents for one machine (data source NoCloud).
// https://cloudinit.readthedocs.io/en/latest/reference/datasources/nocloud.html
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/join.hpp"

namespace bootstrap {

struct GuestSettings {
    std::string hostname;
    std::string user;  // the image's default user gets this name; empty: as the image has it
    std::vector<std::string> ssh_authorized_keys;
    bool upgrade_packages = false;
    std::string own_user_data;  // a #cloud-config of the user, merged with ours; empty: none
};

// What the user's own document lacks, without its text, which may hold secrets.
struct OwnUserDataError : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

// Everything of the user's own document is kept; its lists stand before ours, so its commands prepare the
// machine before it joins. The host name is always ours. The last command ends cloud-init: boot data is gone
// after the join, and a later boot would take what it cannot find for a new instance, with new SSH host keys
// and without its static addresses. Holds what the plan holds.
// Throws OwnUserDataError if the user's own document is no #cloud-config, or contradicts ours in kind.
std::string user_data(const GuestSettings& settings, const JoinPlan& plan);

// Another attempt of a claim is another instance: cloud-init runs anew.
std::string meta_data(std::string_view claim_uid, std::int64_t attempt, std::string_view hostname);

}  // namespace bootstrap
