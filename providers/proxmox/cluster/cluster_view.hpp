// What is known of the Proxmox cluster as a whole, fetched as rarely as its users allow.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "providers/environment.hpp"
#include "providers/proxmox/cluster/cluster_state.hpp"
#include "providers/proxmox/cluster/needed_rights.hpp"
#include "providers/proxmox/config/settings.hpp"
#include "providers/proxmox/wire/client.hpp"

namespace providers::proxmox {

class ClusterView {
public:
    using StatePointer = std::shared_ptr<const ClusterState>;

    // All must outlive this.
    ClusterView(const Settings& settings, Client& client, ProviderEnvironment& environment)
        : settings_(settings),
          client_(client),
          clock_(environment.clock),
          fetches_(environment.executor, 1) {}

    // Not older than max_age; zero: asked after this call began. Throws ProxmoxError.
    asio::awaitable<StatePointer> state(base::Duration max_age);
    // For providerIDs: the name that was recorded; else the cluster's name, of a standalone host that host's
    // name, or, where the token may not read it, the provider's. Stays the same as long as the process runs.
    asio::awaitable<std::string> name();
    // It was asked for, and the token may not read it.
    bool has_providers_name() const { return has_providers_name_; }
    // Where VMIDs are taken from.
    asio::awaitable<IDRange> id_range();
    asio::awaitable<Permissions> permissions(base::Duration max_age);
    asio::awaitable<TagRules> tag_rules();
    base::TimePoint now() const { return clock_.now(); }
    // The token may see every VM, or at least every one in the resource pool that ours are made in.
    asio::awaitable<bool> sees_all_machines(base::Duration max_age);

private:
    template <class T>
    struct Cached {
        T value{};
        std::optional<base::TimePoint> fetched_at;
        bool is_fresh(base::TimePoint now, base::Duration max_age) const {
            return fetched_at && now - *fetched_at < max_age;
        }
    };

    const Settings& settings_;
    Client& client_;
    base::Clock& clock_;
    base::Gate fetches_;
    Cached<StatePointer> state_;
    Cached<Permissions> permissions_;
    Cached<IDRange> id_range_;
    std::string name_;
    bool has_providers_name_ = false;
};

}  // namespace providers::proxmox
