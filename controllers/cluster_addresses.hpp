// Finds out where the cluster itself listens, for the serving certificates that ask for an address in a named
// network. It has a queue of its own: a slow name server holds up neither first certificates nor others.
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

// Has a single key, as one answer serves all that wait for it.
class ClusterAddressFinder final : public kube::Reconciler {
public:
    ClusterAddressFinder(const Informers& informers, kube::Client& client, base::Clock& clock,
                         asio::any_io_executor executor)
        : informers_(informers), client_(client), clock_(clock), executor_(std::move(executor)) {}

    void subscribe(kube::WorkQueue& queue) { queue_ = &queue; }
    // Called with each key that ask() was given when there is an answer.
    void on_answer(std::function<void(const kube::ObjectKey&)> listener) { listener_ = std::move(listener); }
    void ask(const kube::ObjectKey& asked_for);
    // Returns what was found a moment ago; nullopt: it has to be asked.
    const ClusterAddresses* found() const;

    // Throws while it cannot be found out, so that pauses grow.
    asio::awaitable<kube::Result> reconcile(kube::ObjectKey key) override;

private:
    asio::awaitable<ClusterAddresses> find();
    asio::awaitable<void> add_hosts(std::set<std::string>& addresses);
    // Empty: there is no such name. Throws if that cannot be told.
    asio::awaitable<std::set<std::string>> look_up(std::string host);

    const Informers& informers_;
    kube::Client& client_;
    base::Clock& clock_;
    asio::any_io_executor executor_;
    kube::WorkQueue* queue_ = nullptr;
    std::function<void(const kube::ObjectKey&)> listener_;
    std::set<kube::ObjectKey> asked_for_;
    std::optional<ClusterAddresses> found_;
    base::TimePoint at_{};
};

}  // namespace controllers
