#include "providers/proxmox/placement/templates.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "providers/errors.hpp"
#include "providers/health.hpp"
#include "providers/proxmox/config/image.hpp"
#include "providers/proxmox/config/template_revision.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kDetailsAge = std::chrono::minutes{10};
constexpr base::Duration kSourceAge = std::chrono::seconds{10};

bool matches(const api::v1alpha1::Template& wish, const Guest& guest) {
    if (guest.is_container || !guest.is_template) return false;
    if (wish.vmid) return guest.vmid == *wish.vmid;
    if (!wish.name.empty()) return guest.name == wish.name;
    return std::ranges::all_of(wish.matchTags, [&](const std::string& tag) {
        return std::ranges::includes(guest.tags, parse_tags(tag));
    });
}

std::string described(const api::v1alpha1::Template& wish) {
    if (wish.vmid) return "VMID " + std::to_string(*wish.vmid);
    if (!wish.name.empty()) return "the name " + wish.name;
    return "the tags " + base::joined(wish.matchTags);
}

std::string listed(const std::vector<Guest>& templates) {
    return base::joined(templates, ", ",
                        [](const Guest& guest) { return std::to_string(guest.vmid) + " on " + guest.node; });
}

const Guest* template_on(const std::vector<Guest>& templates, const std::string& host) {
    const auto found = std::ranges::find(templates, host, &Guest::node);
    return found == templates.end() ? nullptr : &*found;
}

bool has_two_on_one_host(const std::vector<Guest>& templates) {
    return std::ranges::any_of(templates, [&](const Guest& guest) {
        return std::ranges::count(templates, guest.node, &Guest::node) > 1;
    });
}

// Returns one template for each host, or one for all. It prefers hosts that answer, then the lowest VMID.
std::vector<Guest> chosen(std::vector<Guest> templates, bool is_one_per_host, const ClusterState& state) {
    const auto rank = [&](const Guest& guest) {
        const auto* host = state.find_host(guest.node);
        return std::pair(!host || !host->is_online, guest.vmid);
    };
    std::ranges::sort(templates, {}, rank);
    std::vector<Guest> chosen;
    for (auto& guest : templates) {
        const bool has_one = is_one_per_host ? template_on(chosen, guest.node) != nullptr : !chosen.empty();
        if (!has_one) chosen.push_back(std::move(guest));
    }
    return chosen;
}

}  // namespace

bool has_local_templates(const api::v1alpha1::Template& wish, const ClusterState& state) {
    if (!wish.image) return wish.localStorage;
    const auto* storage = state.find_storage(wish.image->storage);
    return !storage || !storage->is_shared;
}

namespace {

// Reports whether the list shows no name for this guest because its host does not tell it: the host is off,
// or sends no statistics.
bool is_untold(const ClusterState& state, const Guest& guest) {
    const auto* host = state.find_host(guest.node);
    return guest.name.empty() && (!host || !host->is_online);
}

// Returns, for example, "is offline".
std::string absence_of(const HostState* host) {
    if (!host) return "is no longer in the cluster";
    return (host->is_silent ? "" : "is ") + host->why_unused();
}

// Returns, for example, "; a template is not visible while its host is away: pve1 is offline".
std::string untold_hosts(const ClusterState& state) {
    std::set<std::string> hosts;
    for (const auto& guest : state.guests)
        if (!guest.is_container && is_untold(state, guest))
            hosts.insert(guest.node + " " + absence_of(state.find_host(guest.node)));
    if (hosts.empty()) return {};
    return "; a template is not visible while its host is away: " + base::joined(hosts);
}

}  // namespace

FoundTemplates find_templates(const api::v1alpha1::Template& wish, const ClusterState& state,
                              const std::set<std::int64_t>& strangers) {
    FoundTemplates found;
    std::ranges::copy_if(state.guests, std::back_inserter(found.templates), [&](const Guest& guest) {
        return matches(wish, guest) && !strangers.contains(guest.vmid);
    });
    if (wish.image) {
        found.templates = chosen(std::move(found.templates), has_local_templates(wish, state), state);
        if (!found.templates.empty()) return found;
        found.reason = api::reasons::kImagePreparing;
        found.message = "a template is being created from the image " + wish.image->url;
    } else if (found.templates.empty()) {
        found.reason = api::reasons::kTemplateNotFound;
        found.message = "no template with " + described(wish) +
                        " is visible; make one (qm template) and give the token VM.Audit and VM.Clone on it" +
                        untold_hosts(state);
    } else if (!wish.localStorage && found.templates.size() > 1) {
        found.reason = api::reasons::kTemplateAmbiguous;
        found.message = "several templates have " + described(wish) + ": " + listed(found.templates) +
                        "; choose one by vmid, or set localStorage if each host has its own";
    } else if (has_two_on_one_host(found.templates)) {
        found.reason = api::reasons::kTemplateAmbiguous;
        found.message = "with localStorage each host may have one template with " + described(wish) +
                        ", found are " + listed(found.templates);
    }
    return found;
}

ClusterView::StatePointer Templates::with_remembered(ClusterView::StatePointer state) const {
    const auto wished = settings_.spec.template_->vmid;
    const auto is_template = [&](const Guest& guest) {
        const bool is_known = found_.contains(guest.vmid) || guest.vmid == wished.value_or(-1);
        return is_known && !guest.is_container && is_untold(*state, guest);
    };
    if (std::ranges::none_of(state->guests, is_template)) return state;
    auto told = std::make_shared<ClusterState>(*state);
    for (auto& guest : told->guests) {
        if (!is_template(guest)) continue;
        guest.is_template = true;
        const auto known = found_.find(guest.vmid);
        if (known != found_.end()) guest.name = known->second.name;
    }
    return told;
}

// Finds the templates. The list of guests shows only names, and anybody who may make VMs can choose any name.
asio::awaitable<FoundTemplates> Templates::find(ClusterView::StatePointer state) {
    const auto& wish = *settings_.spec.template_;
    std::set<std::int64_t> strangers;
    state = with_remembered(std::move(state));
    if (wish.image) {
        for (const auto& guest : state->guests) {
            if (!matches(wish, guest)) continue;
            const auto details = co_await details_of(guest);
            const bool is_unread = details.revision.empty() && found_.contains(guest.vmid);
            if (!details.is_of_image && !is_unread) strangers.insert(guest.vmid);
        }
    }
    auto found = find_templates(wish, *state, strangers);
    found_.clear();
    for (const auto& guest : found.templates) found_.emplace(guest.vmid, guest);
    co_return found;
}

asio::awaitable<Guest> Templates::source_for(std::string host) {
    const auto state = co_await view_.state(kSourceAge);
    const auto& wish = *settings_.spec.template_;
    const auto found = co_await find(state);
    if (!found.reason.empty()) throw ProviderError(found.message);
    if (!has_local_templates(wish, *state)) co_return found.templates.front();
    const auto* local = template_on(found.templates, host);
    if (!local) throw ProviderError("host " + host + " has no template with " + described(wish));
    co_return *local;
}

asio::awaitable<std::vector<Guest>> Templates::possible_sources_for(std::string host) {
    const auto state = co_await view_.state(kSourceAge);
    auto found = co_await find(state);
    if (has_local_templates(*settings_.spec.template_, *state))
        std::erase_if(found.templates, [&host](const Guest& guest) { return guest.node != host; });
    co_return found.templates;
}

asio::awaitable<HostObstacles> Templates::obstacles(ClusterView::StatePointer state) {
    HostObstacles obstacles;
    if (!settings_.spec.template_) co_return obstacles;
    const auto& wish = *settings_.spec.template_;
    const auto found = co_await find(state);
    if (!found.reason.empty()) {
        for (const auto& host : state->hosts)
            obstacles[host.name] = wish.image ? missing_on(host.name) : Obstacle{found.message, ""};
        co_return obstacles;
    }
    if (has_local_templates(wish, *state)) {
        for (const auto& host : state->hosts)
            if (!template_on(found.templates, host.name)) obstacles[host.name] = missing_on(host.name);
        co_return obstacles;
    }
    const auto& source = found.templates.front();
    const auto where = "template " + std::to_string(source.vmid) + " is on " + source.node;
    const auto* home = state->find_host(source.node);
    auto storages = (co_await details_of(source)).storages;
    if (!wish.storage.empty()) storages.insert(wish.storage);
    for (const auto& host : state->hosts) {
        if (!home || !home->is_online) {
            obstacles[host.name] = {where + ", which " + absence_of(home), ""};
            continue;
        }
        if (host.name == source.node) continue;
        for (const auto& name : storages) {
            const auto* storage = state->find_storage(name);
            if (storage && !storage->is_shared)
                obstacles[host.name] = {where + " and storage " + name + " is local",
                                        "set template.localStorage and give each host a template"};
        }
    }
    co_return obstacles;
}

Obstacle Templates::missing_on(const std::string& host) const {
    const auto& wish = *settings_.spec.template_;
    if (!wish.image)
        return {"has no template with " + described(wish),
                "make one there, or list the hosts that have one in spec.proxmox.nodeWhitelist"};
    const auto known = in_the_making_.find(host);
    return known == in_the_making_.end() ? Obstacle{"has no template of the image yet", ""} : known->second;
}

asio::awaitable<std::string> Templates::revision_for(std::string host, ClusterView::StatePointer state) {
    if (!settings_.spec.template_) co_return std::string();
    const auto all = co_await revisions(state);
    auto found = all.find(host);
    if (found == all.end()) found = all.find(kAllHosts);
    co_return found == all.end() ? std::string() : found->second;
}

asio::awaitable<std::map<std::string, std::string>> Templates::revisions(ClusterView::StatePointer state) {
    std::map<std::string, std::string> revisions;
    if (!settings_.spec.template_) co_return revisions;
    const auto& wish = *settings_.spec.template_;
    const auto found = co_await find(state);
    if (!found.reason.empty()) co_return revisions;
    // A template that disappears for a moment may return as another one.
    std::erase_if(details_, [&](const auto& entry) {
        return std::ranges::find(found.templates, entry.first, &Guest::vmid) == found.templates.end();
    });
    for (const auto& source : found.templates) {
        const auto details = co_await details_of(source);
        if (!details.revision.empty())
            revisions[has_local_templates(wish, *state) ? source.node : kAllHosts] = details.revision;
    }
    co_return revisions;
}

asio::awaitable<std::vector<TemplateParts>> Templates::parts(ClusterView::StatePointer state) {
    std::vector<TemplateParts> all;
    if (!settings_.spec.template_) co_return all;
    const auto found = co_await find(state);
    for (const auto& source : found.templates) {
        auto details = co_await details_of(source);
        details.parts.vmid = source.vmid;
        all.push_back(std::move(details.parts));
    }
    co_return all;
}

asio::awaitable<DiskNeed> Templates::disk_need_on(std::string host, ClusterView::StatePointer state) {
    if (!settings_.spec.template_) co_return disk_need(settings_, VmConfig());
    const auto& wish = *settings_.spec.template_;
    const auto found = co_await find(state);
    const Guest* source = nullptr;
    if (has_local_templates(wish, *state)) {
        source = template_on(found.templates, host);
    } else if (!found.templates.empty()) {
        source = &found.templates.front();
    }
    if (!source) co_return disk_need(settings_, VmConfig());
    const auto details = co_await details_of(*source);
    co_return disk_need(settings_, details.drives);
}

asio::awaitable<std::int64_t> Templates::boot_disk_gib(ClusterView::StatePointer state) {
    if (!settings_.spec.template_) co_return 0;
    const auto& wish = *settings_.spec.template_;
    std::int64_t smallest = 0;
    const auto found = co_await find(state);
    for (const auto& source : found.templates) {
        const auto details = co_await details_of(source);
        const auto size = std::max(details.boot_disk_gib, wish.bootDisk.sizeGiB.value_or(0));
        if (size > 0) smallest = smallest > 0 ? std::min(smallest, size) : size;
    }
    co_return smallest;
}

// Returns the revision. Two templates of the same image are equal, whenever each was made.
std::string Templates::revision_of(const Guest& source, const VmConfig& config) const {
    const auto& wish = *settings_.spec.template_;
    return wish.image ? "image-" + image_id(wish) : template_revision(source.vmid, config);
}

asio::awaitable<Templates::Details> Templates::details_of(Guest source) {
    const auto known = details_.find(source.vmid);
    if (known != details_.end() && clock_.now() - known->second.read_at < kDetailsAge) {
        co_return known->second;
    }
    Details details;
    details.read_at = clock_.now();
    try {
        const auto data = co_await client_.read(get_vm_config(source.node, source.vmid));
        const auto config = parse_vm_config(data);
        details.is_of_image = has_image_mark(settings_, config, source.vmid);
        details.revision = revision_of(source, config);
        details.parts = parts_of_template(source.vmid, config);
        details.boot_disk_gib = disk_size_gib(config, settings_.spec.template_->bootDisk.device);
        for (const auto& [name, value] : config.options) {
            if (!is_drive(name)) continue;
            details.storages.insert(storage_of_drive(value));
            details.drives.options.emplace(name, value);
        }
    } catch (const ProxmoxError& error) {
        if (!is_passing(error.kind) && error.kind != ErrorKind::not_found) throw;
        co_return details;
    }
    details.storages.erase("");
    co_return details_.insert_or_assign(source.vmid, std::move(details)).first->second;
}

}  // namespace providers::proxmox
