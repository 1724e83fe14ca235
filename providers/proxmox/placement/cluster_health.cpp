#include "providers/proxmox/placement/cluster_health.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/text.hpp"
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
    // The path of the call that asks which cluster answers is no complaint about a certificate.
    constexpr std::string_view kPath = "/certificates/info";
    if (const auto at = text.find(kPath); at != std::string::npos) text.erase(at, kPath.size());
    return text.find("certificate") != std::string::npos || text.find("TLS") != std::string::npos;
}

// The fingerprint of the certificate that the error shows; empty: it shows none.
std::string shown_fingerprint(const std::string& text) {
    constexpr std::string_view kCharacters = "0123456789ABCDEFabcdef:";
    constexpr std::size_t kLength = 95;  // of 32 bytes
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

// What one host may have and another not is for the HostChooser.
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

// Proxmox leaves volumes out of its lists that a token may not see, also those of VMIDs that no guest has.
void check_volume_sight(const Permissions& permissions, const ClusterState& state, Health& health) {
    const bool sees_disks = permissions.has("/vms", "VM.Config.Disk");
    std::set<std::string> unseen;
    for (const auto& storage : state.storages) {
        const auto path = "/storage/" + storage.name;
        const bool is_seen = permissions.has(path, "Datastore.Allocate") ||
                             (sees_disks && permissions.has(path, "Datastore.Audit"));
        if (storage.takes_disks && !is_seen) unseen.insert(storage.name);
    }
    if (unseen.empty()) return;
    health.not_visible +=
        (health.not_visible.empty() ? "" : "; ") +
        ("whether VMIDs have volumes of others is not visible on storage " + base::joined(unseen) +
         " without Datastore.Allocate on it, or Datastore.Audit on it and VM.Config.Disk on "
         "/vms; volumes of others are not touched either way");
}

// The storages that images go to, by host; one that is away for the moment is left out.
void check_images(const Settings& settings, const Permissions& permissions, const ClusterState& state,
                  const std::string& user, Health& health) {
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
        for (auto& right : missing_image_privileges(settings, permissions, storage))
            if (std::ranges::find(missing, right) == missing.end()) missing.push_back(std::move(right));
    }
    health.boot_image_obstacle = lack_text(user, missing, kNeededByImages);
}

void check_rights(const Settings& settings, const Permissions& permissions, const Surroundings& surroundings,
                  const std::string& user, Health& health) {
    const auto missing = missing_privileges(settings, permissions, surroundings);
    health.credentials_ok = missing.empty();
    if (!missing.empty()) {
        health.reason = "MissingPrivileges";
        health.message = lack_text(
            user, missing,
            " (a token with privilege separation has only what its own ACL and its user's both give)");
    }
    const auto of_agents = missing_agent_privileges(settings, permissions);
    health.guest_agent_obstacle = lack_text(user, of_agents, kNeededByAgent);
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

// What it last did to a change tells where the token may not read it.
asio::awaitable<bool> has_quorum(Client& client) {
    try {
        const auto status = co_await client.read(get_cluster_status());
        for (const auto* entry : objects_of(status))
            if (text_of(*entry, "type") == "cluster") co_return flag_of(*entry, "quorate");
        co_return true;
    } catch (const ProxmoxError& error) {
        if (error.kind != ErrorKind::permission) throw;
    }
    co_return !client.lacks_quorum();
}

}  // namespace

asio::awaitable<Health> check_health(const Settings& settings, Client& client, ClusterView& view,
                                     Templates& templates) {
    try {
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
        const bool is_quorate = co_await has_quorum(client);
        if (!is_quorate) {
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
        check_rights(settings, permissions, surroundings, client.user(), health);
        check_images(settings, permissions, *state, client.user(), health);
        if (!view.has_providers_name()) health.cluster.name = name;
        const auto misled = co_await client.misled_endpoints();
        for (const auto& endpoint : misled)
            health.not_visible += (health.not_visible.empty() ? "" : "; ") + endpoint;
        co_await client.confirm_cluster();
        health.cluster.id = client.cluster().id;
        check_volume_sight(permissions, *state, health);
        co_return health;
    } catch (const OtherClusterError& error) {
        co_return misled_by(error);
    } catch (const ProxmoxError& error) {
        co_return failed(error);
    }
}

}  // namespace providers::proxmox
