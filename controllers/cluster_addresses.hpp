// Finds the addresses of the cluster itself, for serving certificates that request an address in a named
// network. It has a separate queue, so a slow name server never delays other certificates.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "controllers/cache/informers.hpp"
#include "controllers/serving_addresses.hpp"
#include "kube/client.hpp"
#include "kube/controller.hpp"

namespace controllers {

// ClusterAddressFinder uses a single key, because one answer serves every request that waits for it.
class ClusterAddressFinder final : public kube::Reconciler {
public:
    ClusterAddressFinder(const Informers& informers, kube::Client& client, base::Clock& clock,
                         asio::any_io_executor executor)
        : informers_(informers), client_(client), clock_(clock), executor_(std::move(executor)) {}

    void subscribe(kube::WorkQueue& queue) { queue_ = &queue; }
    // Sets a listener that is called, once there is an answer or a failure, with each key that was passed to
    // ask().
    void on_answer(std::function<void(const kube::ObjectKey&)> listener) { listener_ = std::move(listener); }
    void ask(const kube::ObjectKey& asked_for);
    // Says that the key waits for no answer any more.
    void settle(const kube::ObjectKey& asked_for) { asked_for_.erase(asked_for); }
    // Returns an answer that is still fresh; null: ask() must be called.
    const ClusterAddresses* found() const;
    // Returns why the last look found nothing; empty: it did, or there was none yet.
    const std::string& failure() const { return failure_; }

    // Throws while the addresses cannot be found, or a part of them, so that the pauses grow.
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    // Found has the addresses of a host, or why they could not be looked up.
    struct Found {
        std::set<std::string> addresses;
        std::string failure;
    };

    asio::awaitable<ClusterAddresses> find();
    asio::awaitable<void> add_stated(ClusterAddresses& found);
    asio::awaitable<Found> try_to_look_up(std::string host);
    // Returns an empty set if the name does not exist. Throws if the lookup fails.
    asio::awaitable<std::set<std::string>> look_up(std::string host);
    void tell_listeners();

    const Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    asio::any_io_executor executor_;
    kube::WorkQueue* queue_ = nullptr;
    std::function<void(const kube::ObjectKey&)> listener_;
    std::set<kube::ObjectKey> asked_for_;
    std::optional<ClusterAddresses> found_;
    std::string failure_;
    base::TimePoint at_{};
};

}  // namespace controllers
