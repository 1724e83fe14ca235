// Provides the writes that every reconciler makes: differences and finalizers. The API server's answer
// is put into the informer's store immediately (read-your-writes).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/json/array.hpp>
#include <exception>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "controllers/cache/kinds.hpp"
#include "kube/client.hpp"
#include "kube/informer.hpp"

namespace controllers {

namespace json = boost::json;

// Pods, Nodes, claims and counters change in bursts. One round and one write then serve many changes.
inline constexpr base::Duration kBurst = std::chrono::seconds{1};

// These JSON patches add or remove one entry of metadata.finalizers. They fail (409)
// if the list was changed meanwhile.
json::array add_finalizer_patch(const api::ObjectMeta& metadata, std::string_view finalizer);
json::array remove_finalizer_patch(const api::ObjectMeta& metadata, std::string_view finalizer);

// Awaits the write. If it is refused because the stored object is not current, the object is read again:
// after a restore of etcd the watch may never bring it. The answer to a successful write may prove a restore,
// too.
template <api::Kind T>
asio::awaitable<T> checked(kube::Client& client, kube::Informer<T>& informer, kube::ObjectKey key,
                           asio::awaitable<T> write) {
    std::exception_ptr refusal;
    const auto before = informer.before_write(key);
    try {
        T written = co_await std::move(write);
        informer.check_answer(written, before);
        co_return written;
    } catch (const kube::ApiError& error) {
        if (!error.is_conflict()) throw;
        refusal = std::current_exception();
    }
    co_await informer.recheck(client, std::move(key));
    std::rethrow_exception(refusal);
}

// Writes the status if it differs. Conditions are a list, so the patch carries the resourceVersion. Returns
// whether anything was written. Throws ApiError 409 if `before` is no longer current.
template <api::Kind T>
asio::awaitable<bool> write_status(kube::Client& client, kube::Informer<T>& informer, T before, T after) {
    if (before.status == after.status) co_return false;
    auto patch = kube::difference(before, after, kube::Lock::resource_version);
    if (!patch) co_return false;
    const auto key = api::key_of(before);
    T written = co_await checked(client, informer, key, client.patch_status<T>(key, std::move(*patch)));
    informer.observe(std::move(written));
    co_return true;
}

// Writes what differs outside the status, such as annotations. Throws ApiError 409 if `before` is no longer
// current.
template <api::Kind T>
asio::awaitable<void> write_object(kube::Client& client, kube::Informer<T>& informer, T before, T after) {
    auto patch = kube::difference(before, after, kube::Lock::resource_version);
    if (!patch) co_return;
    const auto key = api::key_of(before);
    T written = co_await checked(client, informer, key, client.patch<T>(key, std::move(*patch)));
    informer.observe(std::move(written));
}

template <api::Kind T>
asio::awaitable<void> patch_metadata(kube::Client& client, kube::Informer<T>& informer, kube::ObjectKey key,
                                     json::array operations) {
    kube::Patch patch;
    patch.type = kube::Patch::Type::json;
    patch.body = std::move(operations);
    T written = co_await checked(client, informer, key, client.patch<T>(key, std::move(patch)));
    informer.observe(std::move(written));
}

// Adds the finalizer if it is missing.
template <api::Kind T>
asio::awaitable<void> ensure_finalizer(kube::Client& client, kube::Informer<T>& informer, T object,
                                       std::string_view finalizer) {
    if (api::has_finalizer(object.metadata, finalizer)) co_return;
    auto operations = add_finalizer_patch(object.metadata, finalizer);
    co_await patch_metadata(client, informer, api::key_of(object), std::move(operations));
}

// Removes the finalizer if it is present. Throws ApiError 409 if `object` is no longer current, as whoever
// changed it may rely on the finalizer. The object may vanish afterwards; the store then keeps its last state
// until the watch reports the deletion.
template <api::Kind T>
asio::awaitable<void> drop_finalizer(kube::Client& client, kube::Informer<T>& informer, T object,
                                     std::string_view finalizer) {
    auto after = object;
    std::erase(*after.metadata.finalizers, finalizer);
    co_await write_object(client, informer, std::move(object), std::move(after));
}

}  // namespace controllers
