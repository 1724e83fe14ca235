// TemplateMaker makes a template of the image on each host that needs its own. The host downloads the file, a
// VM gets a disk with its content, and the VM becomes a template. Each step reads the progress back from
// Proxmox, so a restarted operator continues where it stopped.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "providers/proxmox/cluster/cluster_view.hpp"
#include "providers/proxmox/cluster/refused_ids.hpp"
#include "providers/proxmox/cluster/volume_owners.hpp"
#include "providers/proxmox/config/vm_config.hpp"
#include "providers/proxmox/placement/image_sites.hpp"
#include "providers/proxmox/placement/templates.hpp"
#include "providers/proxmox/vm/volume_guard.hpp"
#include "providers/proxmox/wire/tasks.hpp"

namespace providers::proxmox {

class TemplateMaker {
public:
    // All arguments must outlive this. It stores in `in_the_making` why hosts have no template yet.
    TemplateMaker(const Settings& settings, ProxmoxClient& client, ClusterView& view, Templates& templates,
                  Tasks& tasks, VolumeOwners& volumes, base::Clock& clock, HostObstacles& in_the_making)
        : settings_(settings),
          client_(client),
          view_(view),
          templates_(templates),
          tasks_(tasks),
          volumes_(volumes),
          guard_(client),
          clock_(clock),
          in_the_making_(in_the_making),
          refused_ids_(clock) {}

    struct Progress {
        base::Duration wait{};  // time until the next step; 0: every host has its template
        std::string failure;    // for example "alfaromeo: ..., bmw: ..."; empty: no failure
    };
    // Takes one step on each host. Throws ProxmoxError if the cluster does not answer, FencedError.
    asio::awaitable<Progress> advance();

private:
    struct Pause {
        int failures = 0;
        base::TimePoint until{};
        Obstacle why;  // the last failure, or the obstacle in the configuration
    };
    // Step is a running step on one host, with the time until the next.
    struct Step {
        base::Duration wait{};
        std::string doing;  // shown to people
    };
    asio::awaitable<base::Duration> advance_on(ImageSite site, ClusterView::StatePointer state);
    asio::awaitable<Step> next_step(ImageSite site, ClusterView::StatePointer state);
    asio::awaitable<std::optional<Step>> follow(std::string host);
    asio::awaitable<std::optional<Step>> find_task(std::string host, ClusterView::StatePointer state);
    asio::awaitable<std::set<std::int64_t>> created_by_us(std::string host);
    asio::awaitable<std::optional<Step>> finish(std::string host, ClusterView::StatePointer state);
    asio::awaitable<Step> turn_into_template(std::string host, Guest guest, VmConfig config);
    asio::awaitable<Step> download(ImageSite site, ClusterView::StatePointer state);
    asio::awaitable<Step> create(ImageSite site, ClusterView::StatePointer state);
    Step begun(const std::string& host, const json::value& upid);
    bool is_downloaded_elsewhere(const ImageSite& site, const ClusterState& state) const;
    bool is_away_for_long(const FoundTemplates& found, const ClusterState& state);
    std::string failures() const;
    std::string file_name() const;

    const Settings& settings_;
    ProxmoxClient& client_;
    ClusterView& view_;
    Templates& templates_;
    Tasks& tasks_;
    VolumeOwners& volumes_;
    VolumeGuard guard_;
    base::Clock& clock_;
    HostObstacles& in_the_making_;
    std::map<std::string, std::string> running_;  // UPID by host
    std::set<std::string> downloaded_;            // hosts with a file for their next VM
    std::set<std::string> spoiled_;               // hosts whose file is not the image
    std::map<std::string, Pause> pauses_;         // by host, for hosts without their template
    RefusedIds refused_ids_;
    std::optional<base::TimePoint> away_since_;  // since when the host of the only template is away
};

}  // namespace providers::proxmox
