// Which template machines are cloned from, and which hosts can take such a clone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "providers/proxmox/cluster/cluster_view.hpp"
#include "providers/proxmox/cluster/needed_rights.hpp"
#include "providers/proxmox/placement/host_choice.hpp"
#include "providers/proxmox/placement/storage_room.hpp"

namespace providers::proxmox {

// What is configured, looked up in the cluster. Pure.
struct FoundTemplates {
    std::string reason;   // CamelCase; empty: every host that has to have one has exactly one
    std::string message;  // what was found instead and what would be right
    std::vector<Guest> templates;
};
// Of an image's templates there may be more than are needed: then one of each host is found, or one of all.
// `strangers`: VMIDs of what has such a template's name and is none of ours.
FoundTemplates find_templates(const api::v1alpha1::Template& wish, const ClusterState& state,
                              const std::set<std::int64_t>& strangers = {});
// Each host clones from a template of its own. Pure.
bool has_local_templates(const api::v1alpha1::Template& wish, const ClusterState& state);

class Templates {
public:
    // All must outlive this. Settings without a template: nothing is asked and nothing stands in the way.
    // `in_the_making`: what keeps hosts from having their template of an image yet.
    Templates(const Settings& settings, Client& client, ClusterView& view, base::Clock& clock,
              const HostObstacles& in_the_making)
        : settings_(settings), client_(client), view_(view), clock_(clock), in_the_making_(in_the_making) {}

    // Those that machines are cloned from. Throws ProxmoxError.
    asio::awaitable<FoundTemplates> find(ClusterView::StatePointer state);

    // The template that a machine on that host is cloned from. Throws ProviderError if there is none (any
    // more).
    asio::awaitable<Guest> source_for(std::string host);
    // Those that a machine on that host may have been cloned from: none on a host without one, several where
    // it is not clear which. Throws ProxmoxError.
    asio::awaitable<std::vector<Guest>> possible_sources_for(std::string host);
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

    // The disks that a machine on that host gets; those of a template that cannot be read now are left out.
    // Throws ProxmoxError.
    asio::awaitable<DiskNeed> disk_need_on(std::string host, ClusterView::StatePointer state);

    // Of the boot disk that machines get, the smallest where templates differ; 0: not known. Throws
    // ProxmoxError.
    asio::awaitable<std::int64_t> boot_disk_gib(ClusterView::StatePointer state);

private:
    struct Details {
        std::set<std::string> storages;  // of its disks
        TemplateParts parts;
        std::string revision;  // see template_revision(); empty: could not be read
        std::int64_t boot_disk_gib = 0;
        VmConfig drives;           // of its configuration, the drives alone
        bool is_of_image = false;  // its mark says that it is ours
        base::TimePoint read_at;
    };
    asio::awaitable<Details> details_of(Guest source);
    std::string revision_of(const Guest& source, const VmConfig& config) const;
    Obstacle missing_on(const std::string& host) const;

    const Settings& settings_;
    Client& client_;
    ClusterView& view_;
    base::Clock& clock_;
    const HostObstacles& in_the_making_;
    std::map<std::int64_t, Details> details_;  // by VMID
};

}  // namespace providers::proxmox
