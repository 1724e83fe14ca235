#include "providers/proxmox/placement/cluster_health.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/config/vm_config.hpp"
#include "providers/proxmox/placement/host_choice.hpp"
#include "providers/proxmox/placement/host_chooser.hpp"
#include "providers/proxmox/placement/image_sites.hpp"
#include "providers/proxmox/vm/boot_images.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/grammar.hpp"

namespace providers::proxmox {

namespace {

constexpr base::Duration kStateAge = std::chrono::seconds{10};

bool is_about_tls(std::string text) {
    // The path of the call that identifies the cluster contains "certificate", but is no complaint about one.
    constexpr std::string_view kPath = "/certificates/info";
    if (const auto at = text.find(kPath); at != std::string::npos) text.erase(at, kPath.size());
    return text.find("certificate") != std::string::npos || text.find("TLS") != std::string::npos;
}

// Returns the certificate's fingerprint in the error; empty if it has none.
std::string shown_fingerprint(const std::string& text) {
    constexpr std::string_view kCharacters = "0123456789ABCDEFabcdef:";
    constexpr std::size_t kLength = 95;  // length for 32 bytes
    for (std::size_t at = text.find(':'); at != std::string::npos; at = text.find(':', at + 1)) {
        if (at < 2) continue;
        const auto found = text.substr(at - 2, kLength);
        if (found.size() == kLength && found.find_first_not_of(kCharacters) == std::string::npos)
            return found;
    }
    return {};
}

std::string tls_remedy(const std::string& text) {
    const auto fingerprint = shown_fingerprint(text);
    if (fingerprint.empty())
        return "; check that spec.proxmox.endpoint is the https address of Proxmox' API (port 8006)";
    return "; if that is your Proxmox' own certificate, set spec.proxmox.tls.fingerprintSHA256 to " +
           fingerprint + " or its CA as spec.proxmox.tls.caBundle";
}

Health failed(const ProxmoxError& error) {
    Health health;
    health.message = error.what();
    switch (error.kind) {
        case ErrorKind::unauthenticated:
            health.reason = "AuthenticationFailed";
            health.reachable = true;
            break;
        case ErrorKind::permission:
            health.reason = "MissingPrivileges";
            health.reachable = true;
            break;
        default:
            if (is_about_tls(health.message)) {
                health.reason = "TLSVerificationFailed";
                health.message += tls_remedy(health.message);
            } else {
                health.reason = "Unreachable";
                health.message +=
                    "; check host and port of spec.proxmox.endpoint (Proxmox listens on 8006), and that the "
                    "operator's pod may connect to it";
            }
            break;
    }
    return health;
}

Health misled_by(const OtherClusterError& error) {
    Health health;
    health.reason = "OtherCluster";
    health.cluster = error.cluster;
    health.message = error.what();
    return health;
}

std::string listed(const std::vector<HostState>& hosts) {
    return base::joined(hosts, ", ", &HostState::name);
}

// Checks cluster-wide configuration. HostChooser checks what differs between hosts.
void check_configuration(const Settings& settings, const Permissions& permissions, const ClusterState& state,
                         Health& health) {
    const auto add = [](std::string& text, const std::string& more) {
        text += (text.empty() ? "" : "; ") + more;
    };
    if (const auto& pool = settings.spec.resourcePool; !pool.empty() && !state.pools.contains(pool)) {
        if (permissions.has("/pool/" + pool, "Pool.Audit"))
            add(health.configuration_fault, "resource pool " + pool +
                                                " does not exist: create it (pveum pool add " + pool +
                                                "), or name another in spec.proxmox.resourcePool");
        else
            add(health.not_visible, "whether resource pool " + pool +
                                        " exists is not visible without Pool.Audit on /pool/" + pool);
    }
    const auto& allowed = settings.spec.nodeWhitelist;
    const bool none_is_there = std::ranges::none_of(
        allowed, [&](const std::string& name) { return state.find_host(name) != nullptr; });
    if (!allowed.empty() && none_is_there && !state.hosts.empty())
        add(health.configuration_fault,
            "no host that spec.proxmox.nodeWhitelist names exists: there are " + listed(state.hosts));
    for (const auto& [name, field] : storages_needed(settings)) {
        if (state.find_storage(name)) continue;
        if (permissions.has("/storage/" + name, "Datastore.Audit"))
            add(health.configuration_fault,
                "storage " + name + " does not exist or is disabled: name another in " + field);
        else
            add(health.not_visible, "whether storage " + name +
                                        " exists is not visible without Datastore.Audit on /storage/" + name);
    }
}

// Warns about storages with hidden volumes. Proxmox omits volumes that a token may not see, also those of
// VMIDs without a guest.
void check_volume_sight(const Permissions& permissions, const ClusterState& state, Health& health) {
    std::set<std::string> unseen;
    for (const auto& storage : state.storages)
        if (storage.takes_disks && !sees_all_volumes(permissions, storage.name)) unseen.insert(storage.name);
    if (unseen.empty()) return;
    health.not_visible +=
        (health.not_visible.empty() ? "" : "; ") +
        ("whether VMIDs have volumes of others is not visible on storage " + base::joined(unseen) +
         " without Datastore.Allocate on it, or Datastore.Audit on it and VM.Config.Disk on "
         "/vms; volumes of others are not touched either way");
}

// Checks the storages of images on hosts that are online.
void check_images(const Settings& settings, const Permissions& permissions, const ClusterState& state,
                  const std::vector<TemplateParts>& templates, const std::string& user, Health& health) {
    std::set<std::string> storages;
    for (const auto& host : state.hosts)
        if (host.is_online) storages.insert(image_storage(settings, state, host.name));
    storages.erase("");
    const auto wished = settings.image_storage();
    if (!wished.empty() && !permissions.has("/storage/" + wished, "Datastore.Audit")) storages = {wished};
    const bool sees_any = std::ranges::any_of(state.storages, &StorageState::takes_iso);
    if (storages.empty() && !sees_any && wished.empty()) {
        health.boot_image_obstacle = "no storage for ISO images is visible to " + user +
                                     ": it needs Datastore.Audit, Datastore.AllocateTemplate and "
                                     "Datastore.Allocate on one" +
                                     kNeededByImages;
        return;
    }
    std::vector<MissingPrivilege> missing;
    for (const auto& storage : storages) {
        for (auto& right : missing_image_privileges(settings, permissions, storage, templates))
            if (std::ranges::find(missing, right) == missing.end()) missing.push_back(std::move(right));
    }
    health.boot_image_obstacle = lack_text(user, permissions, missing, kNeededByImages);
}

void check_rights(const Settings& settings, const Permissions& permissions, const Surroundings& surroundings,
                  const std::string& user, Health& health) {
    const auto missing = missing_privileges(settings, permissions, surroundings);
    health.credentials_ok = missing.empty();
    if (!missing.empty()) {
        health.reason = "MissingPrivileges";
        health.message = lack_text(
            user, permissions, missing,
            " (a token with privilege separation has only what its own ACL and its user's both give)");
    }
    const auto of_agents = missing_agent_privileges(settings, permissions, surroundings.major_version);
    health.guest_agent_obstacle = lack_text(user, permissions, of_agents, kNeededByAgent);
}

// Returns needed storages that are not visible. A mistyped name looks like a missing right: Proxmox hides
// both. The visible names show which one is likely.
std::string unseen_storages(const Settings& settings, const ClusterState& state) {
    std::set<std::string> seen;
    for (const auto& storage : state.storages) seen.insert(storage.name);
    std::string text;
    for (const auto& [name, field] : storages_needed(settings))
        if (!seen.empty() && !seen.contains(name))
            text += "no storage " + name + " is among those that are visible (" + base::joined(seen) +
                    "): check the name in " + field + "; ";
    return text;
}

std::string unseen_pool(const Settings& settings, const Permissions& permissions, const ClusterState& state) {
    const auto& pool = settings.spec.resourcePool;
    auto seen = permissions.names_below("/pool");
    seen.insert(state.pools.begin(), state.pools.end());
    if (pool.empty() || seen.empty() || seen.contains(pool)) return {};
    return "no resource pool " + pool + " is among those that it has rights on (" + base::joined(seen) +
           "): check the name in spec.proxmox.resourcePool; ";
}

asio::awaitable<std::string> unseen_bridges(const Settings& settings, ProxmoxClient& client,
                                            std::string host) {
    std::set<std::string> seen;
    const auto bridges = co_await client.read(get_bridges(host));
    for (const auto* entry : objects_of(bridges)) seen.insert(foreign::shown(text_of(*entry, "iface")));
    std::string text;
    for (const auto& interface : settings.spec.networkInterfaces)
        if (!seen.empty() && !seen.contains(interface.bridge))
            text += "no bridge " + interface.bridge + " is among those that are visible on " + host + " (" +
                    base::joined(seen) + "): check the name in spec.proxmox.networkInterfaces; ";
    co_return text;
}

std::string version_of(const json::object& answer) {
    auto version = text_of(answer, "version");
    if (version.empty() || is_version(version)) return version;
    throw ProxmoxError(ErrorKind::other, get_version().tried,
                       "the answer has no version that Proxmox could have");
}

std::set<std::string> download_storages(const Settings& settings, const ClusterState& state) {
    const auto* image = settings.template_image();
    if (!image) return {};
    if (!image->downloadStorage.empty()) return {image->downloadStorage};
    std::set<std::string> storages;
    for (const auto& site : image_sites(settings, state)) storages.insert(site.download_storage);
    storages.erase("");
    return storages;
}

}  // namespace

asio::awaitable<Health> check_health(const Settings& settings, ProxmoxClient& client, ClusterView& view,
                                     Templates& templates) {
    try {
        // This comes first, as an endpoint without a quorum shows old data.
        const bool is_quorate = co_await client.seek_quorum();
        const auto version = co_await client.read(get_version());
        const auto permissions = co_await view.permissions(base::Duration::zero());
        Health health;
        health.reachable = true;
        if (version.is_object()) health.version = version_of(version.get_object());
        health.boot_disk_gib = new_boot_disk_gib(
            std::map<std::string, std::string>(settings.vm_options.begin(), settings.vm_options.end()));
        const auto state = co_await view.state(kStateAge);
        check_configuration(settings, permissions, *state, health);
        if (settings.spec.template_) {
            auto found = co_await templates.find(state);
            health.template_reason = std::move(found.reason);
            health.template_message = std::move(found.message);
            health.template_revisions = co_await templates.revisions(state);
            health.boot_disk_gib = co_await templates.boot_disk_gib(state);
        }
        if (client.is_quorum_hidden())
            health.not_visible += std::string(health.not_visible.empty() ? "" : "; ") +
                                  "whether the cluster has quorum is not visible without Sys.Audit on /";
        if (!is_quorate || (client.is_quorum_hidden() && client.lacks_quorum())) {
            health.reason = "NoQuorum";
            health.message =
                "the cluster has no quorum: it refuses every change until more than half of its hosts see "
                "each other again (pvecm status on a host says which)";
        }
        Surroundings surroundings;
        surroundings.major_version = std::atoi(health.version.c_str());
        surroundings.templates = co_await templates.parts(state);
        surroundings.tags = co_await view.tag_rules();
        for (const auto& host : state->hosts)
            if (may_be_used(settings, host.name)) surroundings.hosts.push_back(host.name);
        surroundings.download_storages = download_storages(settings, *state);
        const auto name = co_await view.name();
        if (view.has_providers_name() &&
            settings.spec.providerIDFormat == api::v1alpha1::ProviderIDFormat::Cluster) {
            health.not_visible += (health.not_visible.empty() ? "" : "; ") +
                                  ("the cluster's name is not visible without Sys.Audit on /, so providerIDs "
                                   "of new machines begin with " +
                                   settings.provider_id(name, ""));
        }
        if (!settings.ids && !permissions.has("/", "Sys.Audit"))
            health.not_visible += (health.not_visible.empty() ? "" : "; ") +
                                  std::string(
                                      "the datacenter's range of VMIDs (next-id) is not visible "
                                      "without Sys.Audit on /, so any free VMID is used unless "
                                      "spec.proxmox.vmIDRange is set");
        check_rights(settings, permissions, surroundings, client.user(), health);
        check_images(settings, permissions, *state, surroundings.templates, client.user(), health);
        if (health.reason == "MissingPrivileges") {
            auto unseen = unseen_pool(settings, permissions, *state) + unseen_storages(settings, *state);
            const auto host = std::ranges::find_if(state->hosts, &HostState::is_online);
            if (host != state->hosts.end()) unseen += co_await unseen_bridges(settings, client, host->name);
            health.message = unseen + health.message;
        }
        if (!view.has_providers_name()) health.cluster.name = name;
        const auto misled = co_await client.misled_endpoints();
        for (const auto& endpoint : misled)
            health.not_visible += (health.not_visible.empty() ? "" : "; ") + endpoint;
        co_await client.confirm_cluster();
        health.cluster.id = client.cluster().id;
        check_volume_sight(permissions, *state, health);
        if (!state->passed_over.empty())
            health.not_visible +=
                (health.not_visible.empty() ? "" : "; ") + std::to_string(state->passed_over.size()) +
                " of the cluster's resources are skipped, the first: " + state->passed_over.front();
        co_return health;
    } catch (const OtherClusterError& error) {
        co_return misled_by(error);
    } catch (const ProxmoxError& error) {
        co_return failed(error);
    }
}

}  // namespace providers::proxmox
