// Which template machines are cloned from, and which hosts can take such a clone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "providers/proxmox/cluster_view.hpp"
#include "providers/proxmox/placement.hpp"

namespace providers::proxmox {

// What is configured, looked up in the cluster. Pure.
struct FoundTemplates {
    std::string reason;   // CamelCase; empty: every host that has to have one has exactly one
    std::string message;  // what was found instead and what would be right
    std::vector<Guest> templates;
};
FoundTemplates find_templates(const api::v1alpha1::Template& wish, const ClusterState& state);

class Templates {
public:
    // All must outlive this. Settings without a template: nothing is asked and nothing stands in the way.
    Templates(const Settings& settings, Client& client, ClusterView& view, base::Clock& clock)
        : settings_(settings), client_(client), view_(view), clock_(clock) {}

    // The template that a machine on that host is cloned from. Throws ProviderError if there is none (any
    // more).
    asio::awaitable<Guest> source_for(std::string host);
    // Why machines cannot be cloned to a host, by its name; hosts that are left out can take them. Throws
    // ApiError.
    asio::awaitable<HostObstacles> obstacles(ClusterView::StatePointer state);

private:
    struct Details {
        std::set<std::string> storages;  // of its disks
        base::TimePoint read_at;
    };
    asio::awaitable<std::set<std::string>> storages_of(Guest source);

    const Settings& settings_;
    Client& client_;
    ClusterView& view_;
    base::Clock& clock_;
    std::map<std::int64_t, Details> details_;  // by VMID
};

}  // namespace providers::proxmox
