// Templates for machines, and the hosts that can take their clones.
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

// FoundTemplates are the configured templates in the cluster. Pure.
struct FoundTemplates {
    std::string reason;   // CamelCase; empty: every host that needs a template has exactly one
    std::string message;  // says what was found and how to correct it
    std::vector<Guest> templates;
};
// Finds the templates. An image may have redundant templates: then one per host is found, or one for all.
// `strangers` are VMIDs that have a template's name but are not ours.
FoundTemplates find_templates(const api::v1alpha1::Template& wish, const ClusterState& state,
                              const std::set<std::int64_t>& strangers = {});
// Reports whether each host clones from its own template. Pure.
bool has_local_templates(const api::v1alpha1::Template& wish, const ClusterState& state);

class Templates {
public:
    // All arguments must outlive this. Without a configured template it asks nothing and reports no obstacle.
    // `in_the_making` says why hosts do not have their template of an image yet.
    Templates(const Settings& settings, ProxmoxClient& client, ClusterView& view, base::Clock& clock,
              const HostObstacles& in_the_making)
        : settings_(settings), client_(client), view_(view), clock_(clock), in_the_making_(in_the_making) {}

    // Returns the templates that machines are cloned from. Throws ProxmoxError.
    asio::awaitable<FoundTemplates> find(ClusterView::StatePointer state);

    // Returns the template for machines on that host. Throws ProviderError if there is none, or no longer.
    asio::awaitable<Guest> source_for(std::string host);
    // Returns all templates that may be the source of a machine on that host. A host without one has none; an
    // ambiguous one has several. Throws ProxmoxError.
    asio::awaitable<std::vector<Guest>> possible_sources_for(std::string host);
    // Returns by host name why machines cannot be cloned there; hosts without an entry can take them. Throws
    // ProxmoxError.
    asio::awaitable<HostObstacles> obstacles(ClusterView::StatePointer state);

    // Returns the revision of the template for machines on that host; empty: unknown or no template. Throws
    // ProxmoxError.
    asio::awaitable<std::string> revision_for(std::string host, ClusterView::StatePointer state);
    // Returns revisions by host, or for all hosts under "*". Omits templates that cannot be read now. Throws
    // ProxmoxError.
    asio::awaitable<std::map<std::string, std::string>> revisions(ClusterView::StatePointer state);

    // Returns the parts of the found templates. Omits templates that cannot be read now. Throws ProxmoxError.
    asio::awaitable<std::vector<TemplateParts>> parts(ClusterView::StatePointer state);

    // Returns the disks of a machine on that host. Omits disks of a template that cannot be read now. Throws
    // ProxmoxError.
    asio::awaitable<DiskNeed> disk_need_on(std::string host, ClusterView::StatePointer state);

    // Returns the size of the boot disk, the smallest if templates differ; 0: unknown. Throws ProxmoxError.
    asio::awaitable<std::int64_t> boot_disk_gib(ClusterView::StatePointer state);

private:
    struct Details {
        std::set<std::string> storages;  // storages of its disks
        TemplateParts parts;
        std::string revision;  // see template_revision(); empty: unreadable
        std::int64_t boot_disk_gib = 0;
        VmConfig drives;           // only the drives of its configuration
        bool is_of_image = false;  // its mark is ours
        base::TimePoint read_at;
    };
    asio::awaitable<Details> details_of(Guest source);
    // Returns the state with the names of templates whose hosts do not tell them now.
    ClusterView::StatePointer with_remembered(ClusterView::StatePointer state) const;
    std::string revision_of(const Guest& source, const VmConfig& config) const;
    Obstacle missing_on(const std::string& host) const;

    const Settings& settings_;
    ProxmoxClient& client_;
    ClusterView& view_;
    base::Clock& clock_;
    const HostObstacles& in_the_making_;
    std::map<std::int64_t, Details> details_;  // by VMID
    std::map<std::int64_t, Guest> found_;      // the templates that were found last, by VMID
};

}  // namespace providers::proxmox
