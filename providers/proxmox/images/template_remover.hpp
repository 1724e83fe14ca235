// Removes unused templates made from images, and the files that were downloaded for them. A template's mark
// or a file's name must prove that it is ours.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "providers/proxmox/cluster/cluster_view.hpp"
#include "providers/proxmox/placement/templates.hpp"
#include "providers/proxmox/vm/volume_guard.hpp"
#include "providers/proxmox/wire/tasks.hpp"

namespace providers::proxmox {

// KeptTemplates are the templates to keep.
struct KeptTemplates {
    std::vector<Guest> templates;  // templates that machines are cloned from
    std::set<std::string> hosts;   // hosts without a current template: their older ones may be needed again
};
// Returns guests that are off, have the name of our template, and need not be kept. Pure.
std::vector<Guest> unwanted_templates(const Settings& settings, const ClusterState& state,
                                      const KeptTemplates& kept);

class TemplateRemover {
public:
    // All arguments must outlive this.
    TemplateRemover(const Settings& settings, ProxmoxClient& client, ClusterView& view, Tasks& tasks,
                    base::Clock& clock)
        : settings_(settings),
          client_(client),
          view_(view),
          tasks_(tasks),
          guard_(client),
          clock_(clock),
          may_have_files_(settings.template_image() != nullptr) {}

    // Takes one step towards removing all our templates except `kept`. Templates with linked machines are
    // kept for now and tried again later. Returns the time until the next step; 0: none is left. Throws
    // ProxmoxError, FencedError.
    asio::awaitable<base::Duration> remove_but(KeptTemplates kept);
    // Does the same for downloaded files. No file is needed once every host has its template. Throws
    // ProxmoxError, FencedError.
    asio::awaitable<base::Duration> remove_files();
    // Notes that files may have been downloaded since the last look.
    void expect_files() {
        may_have_files_ = true;
        empty_places_.clear();
    }
    // Returns what prevents the removal of the remaining templates and files: "VM 9000 on alfaromeo: ...".
    // Empty: none remain.
    std::string obstacles() const;
    // Returns the hosts and storages that cannot be asked now, as each may have templates or files; empty:
    // none.
    asio::awaitable<std::string> unreachable_places();
    // Returns the same for templates to which people attached their own volumes.
    std::string held_templates() const;

private:
    struct Pause {
        std::string what;
        int failures = 0;
        base::TimePoint until{};
        std::string why;
        bool is_held = false;  // somebody else attached volumes
    };
    struct FilePlace {
        std::string host;
        std::string storage;
        std::string text() const { return "storage " + storage + " on " + host; }
    };
    asio::awaitable<std::optional<base::Duration>> follow();
    asio::awaitable<void> remove(Guest guest);
    asio::awaitable<std::string> begin_removal(Guest guest);
    asio::awaitable<bool> has_linked_disks(Guest guest, VmConfig config);
    asio::awaitable<base::Duration> remove_files_in(FilePlace place);
    asio::awaitable<base::Duration> delete_a_file(FilePlace place);
    void put_off(const Guest& guest, std::string why);
    void begin(Pause& pause, std::string what);
    base::Duration left_of(const Pause& pause) const;

    const Settings& settings_;
    ProxmoxClient& client_;
    ClusterView& view_;
    Tasks& tasks_;
    VolumeGuard guard_;
    base::Clock& clock_;
    std::string running_;  // UPID of the running deletion
    std::optional<Guest> leaving_;
    std::string held_by_;                   // foreign volumes that stopped the last removal
    std::string file_;                      // the file being deleted, as in file_pauses_
    bool has_changed_ = false;              // guests may have changed since they were last listed
    std::map<std::int64_t, Pause> pauses_;  // by VMID
    // Key: volume and host, including volumes that were deleted before; or a place that cannot be read.
    std::map<std::string, Pause> file_pauses_;
    bool may_have_files_;                 // unknown after a restart
    std::set<std::string> empty_places_;  // places known to be empty
};

}  // namespace providers::proxmox
