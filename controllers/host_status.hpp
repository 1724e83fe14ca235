// Computes the status of a NodeSmithHost from its BMC's report and its claim. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/v1alpha1/claim.hpp"
#include "api/v1alpha1/host.hpp"
#include "providers/host_report.hpp"

namespace controllers {

// HostFacts holds the facts from which the status of a host is computed.
struct HostFacts {
    const api::v1alpha1::NodeSmithHost& host;
    const providers::HostReport* report = nullptr;         // null: its BMC was not queried yet
    const api::v1alpha1::NodeSmithClaim* claim = nullptr;  // null: no claim holds the host
    std::string twin;  // an older host with the same system UUID; empty: none
    // Time at which the BMC gave the report; nullopt: this process has not queried it.
    std::optional<api::Time> looked;
    // The report says that the host is off, and the one before said that it was on.
    bool is_off_new = false;
    std::int32_t failed_looks = 0;  // consecutive failures, including this query and those before a restart
    bool has_ready_node = false;    // the claim's Node runs there and is Ready
    std::string node_uid;           // UID of the claim's Node; empty: no Node
    std::string node;               // Node with the host's UUID, though no claim holds the host
    api::Time now;
};

// Computes the next status. Pure. docs/redfish.md describes the phases and reasons.
api::v1alpha1::HostStatus next_host_status(const HostFacts& facts);

}  // namespace controllers
