// ClusterView caches the state of the whole Proxmox cluster and fetches it as rarely as its users allow.
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

    // All arguments must outlive this.
    ClusterView(const Settings& settings, ProxmoxClient& client, ProviderEnvironment& environment)
        : settings_(settings),
          client_(client),
          clock_(environment.clock),
          fetches_(environment.executor, 1) {}

    // Returns a state that is not older than max_age. With zero it is fetched after this call began. Throws
    // ProxmoxError.
    asio::awaitable<StatePointer> state(base::Duration max_age);
    // Returns such a state that was proven right after it was read to come from the cluster's majority. Use
    // it to conclude that something is gone. Throws ProxmoxError, of kind no_quorum without that proof.
    asio::awaitable<StatePointer> majority_state(base::Duration max_age);
    // Returns the name used in providerIDs. This is the recorded name, else the cluster's name, or the host's
    // name for a standalone host. If the token may not read it, it is the provider's name. It does not change
    // while the process runs.
    asio::awaitable<std::string> name();
    // Reports whether name() returned the provider's name, because the token may not read the cluster's.
    bool has_providers_name() const { return has_providers_name_; }
    // Returns the range of VMIDs for new machines.
    asio::awaitable<IDRange> id_range();
    asio::awaitable<Permissions> permissions(base::Duration max_age);
    asio::awaitable<TagRules> tag_rules();
    base::TimePoint now() const { return clock_.now(); }
    // Reports whether the token may see every VM, or at least all in the resource pool of our machines.
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
    ProxmoxClient& client_;
    base::Clock& clock_;
    base::Gate fetches_;
    Cached<StatePointer> state_;
    StatePointer of_majority_;  // last state with a proof
    Cached<Permissions> permissions_;
    Cached<IDRange> id_range_;
    std::string name_;
    bool has_providers_name_ = false;
};

}  // namespace providers::proxmox
