#include "providers/proxmox/images/template_remover.hpp"

#include <algorithm>
#include <utility>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "providers/proxmox/config/image.hpp"
#include "providers/proxmox/images/waits.hpp"
#include "providers/proxmox/placement/made_volumes.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kLookAgain = std::chrono::seconds{1};
constexpr base::Duration kGuestListAge = std::chrono::seconds{10};
// A lock may disappear within seconds. Machines linked to a template live for days.
constexpr base::Backoff kPausesOfRemoval{std::chrono::seconds{5}, std::chrono::minutes{15}};

std::string vm_text(const Guest& guest) {
    return "VM " + std::to_string(guest.vmid) + " on " + guest.node;
}

}  // namespace

std::vector<Guest> unwanted_templates(const Settings& settings, const ClusterState& state,
                                      const KeptTemplates& kept) {
    const auto prefix = image_template_prefix(settings.cluster_id, settings.provider_uid);
    const bool is_local = settings.template_image() && has_local_templates(*settings.spec.template_, state);
    // Templates of the same image are removed only if they are redundant.
    const auto has_other = [&](const Guest& guest) {
        return std::ranges::any_of(kept.templates, [&](const Guest& other) {
            return other.name == guest.name && (!is_local || other.node == guest.node);
        });
    };
    const bool has_wish = !kept.templates.empty() || !kept.hosts.empty();
    std::vector<Guest> unwanted;
    for (const auto& guest : state.guests) {
        if (guest.is_container || guest.is_running || !guest.name.starts_with(prefix)) continue;
        const auto* host = state.find_host(guest.node);
        const bool is_kept =
            kept.hosts.contains(guest.node) ||
            std::ranges::find(kept.templates, guest.vmid, &Guest::vmid) != kept.templates.end();
        const bool is_of_image = has_wish && guest.name == settings.spec.template_->name;
        if (host && host->is_online && !is_kept && (!is_of_image || has_other(guest)))
            unwanted.push_back(guest);
    }
    return unwanted;
}

asio::awaitable<base::Duration> TemplateRemover::remove_but(KeptTemplates kept) {
    const auto following = co_await follow();
    if (following) co_return *following;
    // A VM that was destroyed a moment ago must not be seen again.
    const auto age = std::exchange(has_changed_, false) ? base::Duration::zero() : kGuestListAge;
    const auto state = co_await view_.state(age);
    const auto unwanted = unwanted_templates(settings_, *state, kept);
    if (!unwanted.empty()) may_have_files_ = true;
    std::erase_if(pauses_, [&](const auto& entry) {
        return std::ranges::find(unwanted, entry.first, &Guest::vmid) == unwanted.end();
    });
    base::Duration wait{};
    for (const auto& guest : unwanted) {
        const auto left = left_of(pauses_[guest.vmid]);
        if (left == base::Duration{}) {
            co_await remove(guest);
            co_return kLookAgain;
        }
        wait = sooner(wait, left);
    }
    co_return wait;
}

asio::awaitable<std::optional<base::Duration>> TemplateRemover::follow() {
    if (running_.empty()) co_return std::nullopt;
    const auto upid = running_;
    auto status = co_await tasks_.end_overdue(upid);
    if (status.outcome == TaskOutcome::running) co_return tasks_.next_poll(upid);
    running_.clear();
    if (status.outcome == TaskOutcome::failed) {
        status = co_await tasks_.explained(upid, std::move(status));
        if (leaving_) put_off(*leaving_, status.complaint());
        if (!file_.empty()) file_pauses_[file_].why = status.complaint();
    }
    if (status.outcome == TaskOutcome::succeeded && leaving_)
        base::log::info(
            "Removed a template that was no longer needed",
            {{"host", leaving_->node}, {"vmid", std::to_string(leaving_->vmid)}, {"name", leaving_->name}});
    leaving_.reset();
    file_.clear();
    has_changed_ = true;
    co_return std::nullopt;
}

asio::awaitable<void> TemplateRemover::remove(Guest guest) {
    std::string why;
    held_by_.clear();
    try {
        why = co_await begin_removal(guest);
    } catch (const ProxmoxError& error) {
        why = error.what();
    }
    if (!why.empty()) put_off(guest, std::move(why));
}

// Returns why the removal cannot begin, or an empty text.
asio::awaitable<std::string> TemplateRemover::begin_removal(Guest guest) {
    const auto data = co_await client_.read(get_vm_config(guest.node, guest.vmid));
    const auto config = parse_vm_config(data);
    if (!has_image_mark(settings_, config, guest.vmid))
        co_return "it has the name of a template of the operator, but its description lacks the operator's mark "
            "for this VM, so it belongs to someone else: rename it, or remove it";
    if (!config.lock().empty()) co_return "it is locked (" + config.lock() + ")";
    // A running clone reads the template's disk.
    const auto active = co_await client_.read(get_active_tasks(guest.node, guest.vmid));
    if (!objects_of(active).empty()) co_return "a task is at work on it";
    const bool is_linked = co_await has_linked_disks(guest, config);
    if (is_linked) co_return "disks of other VMs are linked to its disk";
    auto obstacle = co_await guard_.obstacle(guest.node, guest.vmid, made_with_image_template(config),
                                             config.option("digest"));
    held_by_ = obstacle;
    if (!obstacle.empty()) co_return obstacle;
    // These looks take seconds, in which a person may take the template over or attach a disk to it.
    const auto asked_at = clock_.now();
    const auto fresh = co_await client_.read(get_vm_config(guest.node, guest.vmid));
    if (!is_same(parse_vm_config(fresh), config)) co_return "it was changed while its removal was examined";
    auto destruction = destroy_vm(guest.node, guest.vmid);
    destruction.not_after = asked_at + kLongestLastLook;
    const auto upid = co_await client_.change(std::move(destruction));
    running_ = text_of(upid);
    leaving_ = std::move(guest);
    co_return std::string();
}

// Reports whether other disks are linked to the template's. Proxmox would refuse to destroy it and show a
// failed task for each attempt.
asio::awaitable<bool> TemplateRemover::has_linked_disks(Guest guest, VmConfig config) {
    const auto base_disk = "base-" + std::to_string(guest.vmid) + "-disk-";
    for (const auto& [option, value] : config.options) {
        const auto storage = is_drive(option) ? storage_of_drive(value) : std::string();
        if (storage.empty()) continue;
        const auto disks = co_await client_.read(get_disks(guest.node, storage));
        for (const auto* disk : objects_of(disks))
            if (text_of(*disk, "parent").find(base_disk) != std::string::npos) co_return true;
    }
    co_return false;
}

void TemplateRemover::put_off(const Guest& guest, std::string why) {
    auto& pause = pauses_[guest.vmid];
    base::log::debug("A template that is not needed is kept for now",
                     {{"host", guest.node}, {"vmid", std::to_string(guest.vmid)}, {"why", why}});
    begin(pause, vm_text(guest));
    pause.is_held = !held_by_.empty() && why == held_by_;
    pause.why = std::move(why);
}

void TemplateRemover::begin(Pause& pause, std::string what) {
    pause.what = std::move(what);
    pause.until = clock_.now() + kPausesOfRemoval.after(++pause.failures);
}

// Returns the rest of the pause; 0: it is over.
base::Duration TemplateRemover::left_of(const Pause& pause) const {
    return std::max(pause.until - clock_.now(), base::Duration{});
}

std::string TemplateRemover::obstacles() const {
    std::string text;
    const auto add = [&text](const Pause& pause) {
        if (!pause.why.empty()) text += (text.empty() ? "" : "; ") + pause.what + ": " + pause.why;
    };
    for (const auto& [vmid, pause] : pauses_) add(pause);
    for (const auto& [file, pause] : file_pauses_) add(pause);
    return text;
}

std::string TemplateRemover::held_templates() const {
    std::string text;
    for (const auto& [vmid, pause] : pauses_)
        if (pause.is_held) text += (text.empty() ? "" : "; ") + pause.why;
    return text;
}

asio::awaitable<std::string> TemplateRemover::unreachable_places() {
    const auto state = co_await view_.state(kGuestListAge);
    std::vector<std::string> places;
    for (const auto& host : state->hosts)
        if (!host.is_online)
            places.push_back("host " + host.name +
                             " is offline and may have templates or image files of this provider");
    for (const auto& storage : state->storages) {
        const auto* host = state->find_host(storage.node);
        const bool is_hidden = storage.takes_imports && !storage.is_available && host && host->is_online;
        if (is_hidden && may_have_files_)
            places.push_back("storage " + storage.name + " of host " + storage.node +
                             " is not available and may have image files of this provider");
    }
    co_return base::joined(places, "; ");
}

asio::awaitable<base::Duration> TemplateRemover::remove_files() {
    const auto following = co_await follow();
    if (following) co_return *following;
    if (!may_have_files_) co_return base::Duration{};
    const auto state = co_await view_.state(kGuestListAge);
    base::Duration wait{};
    for (const auto& storage : state->storages) {
        const auto* host = state->find_host(storage.node);
        const bool may_hold_one = storage.takes_imports && storage.is_available && host && host->is_online;
        FilePlace place{storage.node, storage.name};
        if (!may_hold_one || empty_places_.contains(place.text())) continue;
        const auto left = co_await remove_files_in(std::move(place));
        wait = sooner(wait, left);
        if (!running_.empty()) break;
    }
    co_return wait;
}

// Returns the time until the next step there; 0: no file is left. A place that cannot be read may have files.
asio::awaitable<base::Duration> TemplateRemover::remove_files_in(FilePlace place) {
    const auto text = place.text();
    const auto left = left_of(file_pauses_[text]);
    if (left > base::Duration{}) co_return left;
    std::string why;
    base::Duration wait{};
    try {
        wait = co_await delete_a_file(std::move(place));
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::not_found) why = error.what();
    }
    if (!why.empty()) {
        auto& pause = file_pauses_[text];
        begin(pause, text);
        pause.why = std::move(why);
        co_return left_of(pause);
    }
    file_pauses_.erase(text);
    if (wait == base::Duration{}) empty_places_.insert(text);
    co_return wait;
}

// Deletes one file. A file that still exists after its deletion is deleted again after a pause.
asio::awaitable<base::Duration> TemplateRemover::delete_a_file(FilePlace place) {
    const auto prefix =
        place.storage + ":import/" + image_file_prefix(settings_.cluster_id, settings_.provider_uid);
    const auto on_host = " on " + place.host;
    const auto data = co_await client_.read(get_import_files(place.host, place.storage));
    std::set<std::string> volumes;
    for (const auto* entry : objects_of(data)) {
        auto volume = text_of(*entry, "volid");
        if (volume.starts_with(prefix)) volumes.insert(std::move(volume));
    }
    std::erase_if(file_pauses_, [&](const auto& entry) {
        const auto& [name, pause] = entry;
        return name.starts_with(prefix) && name.ends_with(on_host) &&
               !volumes.contains(name.substr(0, name.size() - on_host.size()));
    });
    base::Duration wait{};
    for (const auto& volume : volumes) {
        const auto name = volume + on_host;
        auto& pause = file_pauses_[name];
        const auto left = left_of(pause);
        if (left > base::Duration{}) {
            wait = sooner(wait, left);
            continue;
        }
        begin(pause, "file " + name);
        const auto upid = co_await client_.change(delete_volume(place.host, place.storage, volume));
        running_ = text_of(upid);
        file_ = name;
        co_return kLookAgain;
    }
    co_return wait;
}

}  // namespace providers::proxmox
