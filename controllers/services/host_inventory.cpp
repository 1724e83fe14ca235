#include "controllers/services/host_inventory.hpp"

#include "controllers/cache/writes.hpp"
#include "providers/errors.hpp"

namespace controllers {

using providers::HostStatus;
using providers::NodeSmithHost;

namespace {

// Somebody else was first, or the object is gone: an expected outcome of a compare-and-swap.
bool is_lost_race(const kube::ApiError& error) {
    return error.is_conflict() || error.is_not_found();
}

}  // namespace

std::vector<providers::HostPointer> KubernetesHostInventory::hosts(const std::string& namespace_,
                                                                   const std::string& provider) {
    return informers_.hosts.store().by_index(kHostsByProvider, namespace_ + "/" + provider);
}

asio::awaitable<std::optional<NodeSmithHost>> KubernetesHostInventory::read(std::string namespace_,
                                                                            std::string name) {
    const kube::ObjectKey key{std::move(namespace_), std::move(name)};
    co_return co_await client_.get<NodeSmithHost>(key);
}

asio::awaitable<NodeSmithHost> KubernetesHostInventory::with_finalizer(NodeSmithHost host) {
    kube::Patch patch;
    patch.type = kube::Patch::Type::json;
    patch.body = add_finalizer_patch(host.metadata, api::finalizers::kHost);
    const auto key = api::key_of(host);
    co_return co_await client_.patch<NodeSmithHost>(key, std::move(patch));
}

asio::awaitable<std::optional<NodeSmithHost>> KubernetesHostInventory::write(NodeSmithHost before,
                                                                             HostStatus status) {
    try {
        const bool takes = status.claimRef && !before.status.claimRef;
        if (takes && !api::has_finalizer(before.metadata, api::finalizers::kHost)) {
            const auto decided_on = before.status;
            before = co_await with_finalizer(std::move(before));
            // Between the read and this patch somebody else may have taken it.
            if (before.status != decided_on) co_return std::nullopt;
        }
        auto after = before;
        after.status = std::move(status);
        auto patch = kube::difference(before, after, kube::Lock::resource_version);
        if (!patch) co_return before;
        const auto key = api::key_of(before);
        auto written = co_await client_.patch_status<NodeSmithHost>(key, std::move(*patch));
        informers_.hosts.observe(written);
        co_return written;
    } catch (const kube::ApiError& error) {
        if (!is_lost_race(error)) throw;
    }
    co_return std::nullopt;
}

asio::awaitable<std::map<std::string, std::string>> KubernetesHostInventory::secret(std::string namespace_,
                                                                                    std::string name) {
    const kube::ObjectKey key{std::move(namespace_), std::move(name)};
    const auto found = co_await client_.get<api::Secret>(key);
    if (!found) throw providers::CredentialsError("there is no Secret " + key.str());
    std::map<std::string, std::string> data;
    for (const auto& [field, bytes] : found->data) data[field] = bytes.value;
    co_return data;
}

}  // namespace controllers
