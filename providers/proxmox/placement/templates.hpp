// Which template machines are cloned from, and which hosts can take such a clone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "providers/proxmox/cluster/cluster_view.hpp"
#include "providers/proxmox/cluster/needed_rights.hpp"
#include "providers/proxmox/placement/host_choice.hpp"

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
    // ProxmoxError.
    asio::awaitable<HostObstacles> obstacles(ClusterView::StatePointer state);

    // Of the template that a machine on that host would be cloned from; empty: unknown, or there is none.
    // Throws ProxmoxError.
    asio::awaitable<std::string> revision_for(std::string host, ClusterView::StatePointer state);
    // By host, or for all of them under "*". Those that cannot be read now are left out. Throws ProxmoxError.
    asio::awaitable<std::map<std::string, std::string>> revisions(ClusterView::StatePointer state);

    // What clones of the templates that are found take part in; those that cannot be read now are left out.
    // Throws ProxmoxError.
    asio::awaitable<std::vector<TemplateParts>> parts(ClusterView::StatePointer state);

    // Of the boot disk that machines get, the smallest where templates differ; 0: not known. Throws
    // ProxmoxError.
    asio::awaitable<std::int64_t> boot_disk_gib(ClusterView::StatePointer state);

private:
    struct Details {
        std::set<std::string> storages;  // of its disks
        TemplateParts parts;
        std::string revision;  // see template_revision(); empty: could not be read
        std::int64_t boot_disk_gib = 0;
        base::TimePoint read_at;
    };
    asio::awaitable<Details> details_of(Guest source);

    const Settings& settings_;
    Client& client_;
    ClusterView& view_;
    base::Clock& clock_;
    std::map<std::int64_t, Details> details_;  // by VMID
};

}  // namespace providers::proxmox
