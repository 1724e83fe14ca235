// Removes templates that were made of images and that nothing is cloned from any more, and the files that
// they were made of. Whose they are is read from themselves first.
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

// What shall stay.
struct KeptTemplates {
    std::vector<Guest> templates;  // that machines are cloned from
    std::set<std::string> hosts;   // that lack theirs: what they have of an older image may be wanted again
};
// Guests that have the name of a template of ours, are off, and shall not stay. Pure.
std::vector<Guest> unwanted_templates(const Settings& settings, const ClusterState& state,
                                      const KeptTemplates& kept);

class TemplateRemover {
public:
    // All must outlive this.
    TemplateRemover(const Settings& settings, Client& client, ClusterView& view, Tasks& tasks,
                    base::Clock& clock)
        : settings_(settings),
          client_(client),
          view_(view),
          tasks_(tasks),
          guard_(client),
          clock_(clock),
          may_have_files_(settings.template_image() != nullptr) {}

    // One step towards there being no templates of ours but those. Others that machines are linked to stay
    // for now and are tried again later. How long until the next step is due; 0: nothing is left to do.
    // Throws ProxmoxError, FencedError.
    asio::awaitable<base::Duration> remove_but(KeptTemplates kept);
    // The same for downloaded files, of which none is wanted once every host has its template. Throws
    // ProxmoxError, FencedError.
    asio::awaitable<base::Duration> remove_files();
    // Files have been downloaded since they were last looked for.
    void expect_files() {
        may_have_files_ = true;
        empty_places_.clear();
    }
    // What is in the way of the templates and files that are left: "VM 9000 on alfaromeo: ..."; empty: none
    // are.
    std::string obstacles() const;
    // The same of templates that people keep from being removed by volumes of theirs.
    std::string held_templates() const;

private:
    struct Pause {
        std::string what;
        int failures = 0;
        base::TimePoint until{};
        std::string why;
        bool is_held = false;  // by volumes that somebody else attached
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
    Client& client_;
    ClusterView& view_;
    Tasks& tasks_;
    VolumeGuard guard_;
    base::Clock& clock_;
    std::string running_;  // UPID of a deletion
    std::optional<Guest> leaving_;
    std::string held_by_;                   // volumes, if the last removal that was begun failed of that
    std::string file_;                      // that is being deleted, as in file_pauses_
    bool has_changed_ = false;              // something, since guests were last listed
    std::map<std::int64_t, Pause> pauses_;  // by VMID
    // By volume and host, those that were deleted before, too; and by place, if it cannot be looked into.
    std::map<std::string, Pause> file_pauses_;
    bool may_have_files_;                 // after a restart nobody knows
    std::set<std::string> empty_places_;  // those that were looked into
};

}  // namespace providers::proxmox
