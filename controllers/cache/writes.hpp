// The writes that every reconciler makes: a status as the difference of two values, and finalizers.
// What the API server answers goes into the informer's store at once (read-your-writes).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/array.hpp>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "controllers/cache/kinds.hpp"
#include "kube/client.hpp"
#include "kube/informer.hpp"

namespace controllers {

namespace json = boost::json;

// Pods, Nodes, claims and counts change in bursts: one look, and one write, for many changes.
inline constexpr base::Duration kBurst = std::chrono::seconds{1};

// JSON patches that add or remove one entry of metadata.finalizers and fail (409) if somebody else changed
// the list meanwhile.
json::array add_finalizer_patch(const api::ObjectMeta& metadata, std::string_view finalizer);
json::array remove_finalizer_patch(const api::ObjectMeta& metadata, std::string_view finalizer);

// Writes the status if it differs; conditions are a list, so the patch carries the resourceVersion.
// Returns whether anything was written. Throws ApiError 409 if `before` is no longer current.
template <api::Kind T>
asio::awaitable<bool> write_status(kube::Client& client, kube::Informer<T>& informer, T before, T after) {
    if (before.status == after.status) co_return false;
    auto patch = kube::difference(before, after, kube::Lock::resource_version);
    if (!patch) co_return false;
    T written = co_await client.patch_status<T>(api::key_of(before), std::move(*patch));
    informer.observe(std::move(written));
    co_return true;
}

template <api::Kind T>
asio::awaitable<void> patch_metadata(kube::Client& client, kube::Informer<T>& informer, kube::ObjectKey key,
                                     json::array operations) {
    kube::Patch patch;
    patch.type = kube::Patch::Type::json;
    patch.body = std::move(operations);
    T written = co_await client.patch<T>(std::move(key), std::move(patch));
    informer.observe(std::move(written));
}

// Adds it if it is not there.
template <api::Kind T>
asio::awaitable<void> ensure_finalizer(kube::Client& client, kube::Informer<T>& informer, T object,
                                       std::string_view finalizer) {
    if (api::has_finalizer(object.metadata, finalizer)) co_return;
    auto operations = add_finalizer_patch(object.metadata, finalizer);
    co_await patch_metadata(client, informer, api::key_of(object), std::move(operations));
}

// Removes it if it is there. The object may be gone afterwards: then the store keeps its last state until the
// watch says so.
template <api::Kind T>
asio::awaitable<void> drop_finalizer(kube::Client& client, kube::Informer<T>& informer, T object,
                                     std::string_view finalizer) {
    if (!api::has_finalizer(object.metadata, finalizer)) co_return;
    auto operations = remove_finalizer_patch(object.metadata, finalizer);
    co_await patch_metadata(client, informer, api::key_of(object), std::move(operations));
}

}  // namespace controllers
