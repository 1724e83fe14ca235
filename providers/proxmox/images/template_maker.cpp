#include "providers/proxmox/images/template_maker.hpp"

#include <algorithm>

#include "base/backoff.hpp"
#include "providers/errors.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/config/image.hpp"
#include "providers/proxmox/config/vmid.hpp"
#include "providers/proxmox/images/image_vm.hpp"
#include "providers/proxmox/images/waits.hpp"
#include "providers/proxmox/placement/made_volumes.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kNextStep = std::chrono::seconds{1};
constexpr base::Duration kVolumesAge = std::chrono::seconds{30};
constexpr base::Duration kOtherDownload = std::chrono::seconds{5};
// A restarting host returns within this time.
constexpr base::Duration kAway = std::chrono::minutes{10};
constexpr base::Backoff kFailurePauses{std::chrono::seconds{20}, std::chrono::minutes{10}};
constexpr std::string_view kDownloadTask = "download";

constexpr const char* kDownloading = "the image for its template is being downloaded";
constexpr const char* kMaking = "its template is being created from the image";

// Proxmox' error for an existing file with the wrong content. Proxmox never replaces a file.
constexpr std::string_view kSpoiled = ", aborting";

std::string type_of(const std::string& upid) {
    const auto task = parse_upid(upid);
    return task ? task->type : std::string();
}

bool is_download(const std::string& upid) {
    return type_of(upid) == kDownloadTask;
}

// Returns the purpose of a failed task, for messages.
std::string purpose_of(const std::string& upid, const std::string& url) {
    const auto type = type_of(upid);
    if (type == kDownloadTask) return "downloading " + url;
    if (type == "imgdel") return "deleting a file that is not the image";
    return type == "qmtemplate" ? "turning the VM into a template" : "creating the VM";
}

// Returns a message if no host can have the template.
std::string no_site(const Settings& settings) {
    return "no host that is online and may be used has the storage " + settings.template_image()->storage +
           ", which spec.proxmox.template.image.storage names";
}

}  // namespace

asio::awaitable<TemplateMaker::Progress> TemplateMaker::advance() {
    Progress progress;
    const auto state = co_await view_.state(base::Duration::zero());
    const auto found = co_await templates_.find(state);
    const bool is_local = has_local_templates(*settings_.spec.template_, *state);
    const auto has_template = [&](const ImageSite& site) {
        if (!is_local) return !found.templates.empty() && !is_away_for_long(found, *state);
        return std::ranges::find(found.templates, site.host, &Guest::node) != found.templates.end();
    };
    in_the_making_.clear();
    auto sites = image_sites(settings_, *state);
    std::erase_if(pauses_, [&](const auto& entry) {
        const auto site = std::ranges::find(sites, entry.first, &ImageSite::host);
        return site == sites.end() || has_template(*site);
    });
    if (sites.empty() && found.templates.empty())
        co_return Progress{kFailurePauses.maximum, no_site(settings_)};
    for (auto& site : sites) {
        if (has_template(site)) {
            downloaded_.erase(site.host);
            continue;
        }
        const auto wait = co_await advance_on(site, state);
        progress.wait = sooner(progress.wait, wait);
    }
    // All other hosts wait for the host that makes the template.
    if (!is_local && !in_the_making_.empty()) {
        const auto told = in_the_making_.begin()->second;
        for (const auto& host : state->hosts) in_the_making_[host.name] = told;
    }
    progress.failure = failures();
    co_return progress;
}

// Takes one step on this host. Its errors do not stop other hosts.
asio::awaitable<base::Duration> TemplateMaker::advance_on(ImageSite site, ClusterView::StatePointer state) {
    auto& pause = pauses_[site.host];
    if (pause.failures == 0) pause.why = site.obstacle;
    in_the_making_[site.host] = pause.why;
    if (!site.obstacle.text.empty()) co_return kFailurePauses.maximum;
    if (clock_.now() < pause.until) co_return pause.until - clock_.now();
    std::string failure;
    try {
        const auto step = co_await next_step(site, state);
        // An earlier failure is shown until a step succeeds, so that the condition does not flap.
        if (pause.why.text.empty()) in_the_making_[site.host] = {step.doing, ""};
        co_return step.wait;
    } catch (const FencedError&) {
        throw;
    } catch (const ProviderError& error) {
        failure = error.what();
    }
    downloaded_.erase(site.host);
    running_.erase(site.host);
    const auto wait = kFailurePauses.after(++pause.failures);
    pause.until = clock_.now() + wait;
    pause.why = {"its template cannot be created from the image: " + failure, ""};
    in_the_making_[site.host] = pause.why;
    co_return wait;
}

std::string TemplateMaker::failures() const {
    std::string text;
    for (const auto& [host, pause] : pauses_) {
        if (pause.why.text.empty()) continue;
        text += (text.empty() ? "" : "; ") + host + ": " + pause.why.text;
        if (!pause.why.remedy.empty()) text += " (" + pause.why.remedy + ")";
    }
    return text;
}

asio::awaitable<TemplateMaker::Step> TemplateMaker::next_step(ImageSite site,
                                                              ClusterView::StatePointer state) {
    auto step = co_await follow(site.host);
    if (!step) step = co_await find_task(site.host, state);
    if (!step) step = co_await finish(site.host, state);
    if (step) co_return *step;
    if (!downloaded_.contains(site.host)) co_return co_await download(site, state);
    co_return co_await create(site, state);
}

asio::awaitable<std::optional<TemplateMaker::Step>> TemplateMaker::follow(std::string host) {
    const auto running = running_.find(host);
    if (running == running_.end()) co_return std::nullopt;
    const auto upid = running->second;
    auto status = co_await tasks_.end_overdue(upid);
    if (status.outcome == TaskOutcome::running)
        co_return Step{tasks_.next_poll(upid), is_download(upid) ? kDownloading : kMaking};
    running_.erase(host);
    if (status.outcome == TaskOutcome::failed) {
        status = co_await tasks_.explained(upid, std::move(status));
        if (is_download(upid) && status.exit_status.ends_with(kSpoiled)) spoiled_.insert(host);
        throw ProviderError(purpose_of(upid, settings_.template_image()->url) + ": " + status.complaint());
    }
    if (status.outcome == TaskOutcome::succeeded && is_download(upid)) downloaded_.insert(host);
    co_return std::nullopt;
}

// Finds a task that we started, in a call whose answer was lost or before a restart.
asio::awaitable<std::optional<TemplateMaker::Step>> TemplateMaker::find_task(
    std::string host, ClusterView::StatePointer state) {
    const auto is_of_template = [&](const Upid& task) {
        if (task.type == kDownloadTask) return task.id == file_name();
        if (task.type != "qmcreate" && task.type != "qmtemplate") return false;
        const auto* guest = state->find_guest(vmid_of(task.id));
        return !guest || guest->name.empty() || guest->name == settings_.spec.template_->name;
    };
    const auto active = co_await client_.read(get_active_tasks(host, 0));
    for (const auto* entry : objects_of(active)) {
        const auto task = parse_upid(text_of(*entry, "upid"));
        if (task && task->user == client_.user() && is_of_template(*task))
            co_return begun(host, json::value(json::string(task->text)));
    }
    co_return std::nullopt;
}

// Returns VMIDs from the tasks that created them, as they have the ID from the start. For about 10 s the list
// shows a new VM as "VM 1397", or with another VM's name. That VM had the ID before.
asio::awaitable<std::set<std::int64_t>> TemplateMaker::created_by_us(std::string host) {
    std::set<std::int64_t> ids;
    const auto tasks = co_await client_.read(get_last_creations(host));
    for (const auto* entry : objects_of(tasks)) {
        const auto task = parse_upid(text_of(*entry, "upid"));
        if (task && task->user == client_.user()) ids.insert(vmid_of(task->id));
    }
    co_return ids;
}

// Completes the VM if it already exists.
asio::awaitable<std::optional<TemplateMaker::Step>> TemplateMaker::finish(std::string host,
                                                                          ClusterView::StatePointer state) {
    const auto& wish = *settings_.spec.template_;
    const bool is_local = has_local_templates(wish, *state);
    const auto ours = co_await created_by_us(host);
    for (const auto& guest : state->guests) {
        const auto* home = state->find_host(guest.node);
        const bool may_be_named_so =
            guest.name == wish.name || guest.name.empty() || ours.contains(guest.vmid);
        const bool may_be_it = !guest.is_container && may_be_named_so &&
                               (is_local ? guest.node == host : home && home->is_online);
        if (!may_be_it) continue;
        VmConfig config;
        try {
            const auto data = co_await client_.read(get_vm_config(guest.node, guest.vmid));
            config = parse_vm_config(data);
        } catch (const ProxmoxError& error) {
            if (error.kind != ErrorKind::not_found && error.kind != ErrorKind::permission) throw;
            continue;
        }
        const auto mark = parse_image_mark(config.option("description"));
        if (has_image_mark(settings_, config, guest.vmid) && mark->image_id == image_id(wish))
            co_return co_await turn_into_template(host, guest, std::move(config));
    }
    co_return std::nullopt;
}

asio::awaitable<TemplateMaker::Step> TemplateMaker::turn_into_template(std::string host, Guest guest,
                                                                       VmConfig config) {
    const auto vm = "VM " + std::to_string(guest.vmid) + " on " + guest.node;
    const auto& name = settings_.spec.template_->name;
    // The configuration shows the name immediately, unlike the list of guests.
    if (config.is_template() && config.option("name") != name)
        throw ProviderError(
            vm + " is the image's template, but was renamed to " + foreign::shown(config.option("name")) +
            ": as root on that host, qm set " + std::to_string(guest.vmid) + " --name " + name +
            "; to have another one made, first see whether anybody uses this one (qm config " +
            std::to_string(guest.vmid) + "), then destroy it");
    if (config.is_template()) co_return Step{kNextStep, kMaking};
    if (guest.is_running) throw ProviderError(vm + " should become the template but runs: stop it");
    if (!config.lock().empty())
        throw ProviderError(vm + " should become the template but is locked (" + config.lock() +
                            "); if no task is at work on it, remove the lock (qm unlock " +
                            std::to_string(guest.vmid) + ") and the creation continues");
    const bool has_disk = !config.option(settings_.spec.template_->bootDisk.device).empty();
    // Volumes that somebody attached would become part of the template or be destroyed with the VM.
    const auto obstacle = co_await guard_.obstacle(guest.node, guest.vmid, made_with_image_template(config),
                                                   config.option("digest"));
    if (!obstacle.empty()) throw ProviderError(obstacle);
    // Neither request has a digest. What somebody attached in the meantime, or a VM that somebody took over,
    // would be destroyed with it.
    const auto asked_at = clock_.now();
    const auto fresh = co_await client_.read(get_vm_config(guest.node, guest.vmid));
    if (!is_same(parse_vm_config(fresh), config)) co_return Step{kNextStep, kMaking};
    auto call = has_disk ? convert_to_template(guest.node, guest.vmid) : destroy_vm(guest.node, guest.vmid);
    call.not_after = asked_at + kLongestLastLook;
    const auto upid = co_await client_.change(std::move(call));
    co_return begun(host, upid);
}

asio::awaitable<TemplateMaker::Step> TemplateMaker::download(ImageSite site,
                                                             ClusterView::StatePointer state) {
    if (is_downloaded_elsewhere(site, *state)) co_return Step{kOtherDownload, kDownloading};
    if (spoiled_.erase(site.host) > 0) {
        const auto volume = site.download_storage + ":import/" + file_name();
        const auto upid = co_await client_.change(delete_volume(site.host, site.download_storage, volume));
        co_return begun(site.host, upid);
    }
    const auto& image = *settings_.template_image();
    const Download download{image.url, file_name(), checksum_algorithm(image), checksum_digits(image)};
    const auto upid = co_await client_.change(download_file(site.host, site.download_storage, download));
    co_return begun(site.host, upid);
}

asio::awaitable<TemplateMaker::Step> TemplateMaker::create(ImageSite site, ClusterView::StatePointer state) {
    const auto range = co_await view_.id_range();
    auto taken = refused_ids_.now();
    for (const auto& guest : state->guests) taken.insert(guest.vmid);
    for (const auto& guest : state->odd_guests) taken.insert(guest.vmid);
    const auto volumes = co_await volumes_.on(site.host, state, kVolumesAge);
    for (const auto& [id, volume] : volumes) taken.insert(id);
    for (const auto& [host, upid] : running_) {
        const auto task = parse_upid(upid);
        if (task && task->type == "qmcreate") taken.insert(vmid_of(task->id));
    }
    const auto vmid = image_vmid(settings_, range, taken);
    if (!vmid)
        throw ProviderError(all_taken_text(settings_.ids.value_or(range), volumes) +
                            "; widen spec.proxmox.vmIDRange");
    const auto* storage = state->find_storage(settings_.template_image()->storage, site.host);
    const auto file = site.download_storage + ":import/" + file_name();
    auto fields = image_vm_parameters(settings_, *vmid, file, storage && storage->keeps_files);
    try {
        const auto upid = co_await client_.change(create_vm(site.host, *vmid, std::move(fields)));
        co_return begun(site.host, upid);
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::exists) throw;
    }
    refused_ids_.refuse(*vmid);
    co_return Step{kNextStep, kMaking};
}

TemplateMaker::Step TemplateMaker::begun(const std::string& host, const json::value& upid) {
    const auto text = text_of(upid);
    if (text.empty()) return {kNextStep, kMaking};
    running_[host] = text;
    return {tasks_.next_poll(text), is_download(text) ? kDownloading : kMaking};
}

bool TemplateMaker::is_downloaded_elsewhere(const ImageSite& site, const ClusterState& state) const {
    const auto* storage = state.find_storage(site.download_storage, site.host);
    if (!storage || !storage->is_shared) return false;
    return std::ranges::any_of(
        running_, [&](const auto& entry) { return entry.first != site.host && is_download(entry.second); });
}

bool TemplateMaker::is_away_for_long(const FoundTemplates& found, const ClusterState& state) {
    const auto* home = state.find_host(found.templates.front().node);
    if (home && home->is_online) {
        away_since_.reset();
        return false;
    }
    if (!away_since_) away_since_ = clock_.now();
    return clock_.now() - *away_since_ >= kAway;
}

std::string TemplateMaker::file_name() const {
    return image_file_name(settings_.cluster_id, settings_.provider_uid, *settings_.template_image());
}

}  // namespace providers::proxmox
