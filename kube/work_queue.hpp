// A queue of object keys with client-go's semantics. A key waits at most once and is never handed out twice
// at the same time. A key added while it is processed comes again afterwards. Single-threaded.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "api/meta.hpp"
#include "base/clock.hpp"
#include "base/metrics.hpp"

namespace kube {

namespace asio = boost::asio;
using api::ObjectKey;

class WorkQueue {
public:
    // `name` labels the workqueue_* metrics.
    WorkQueue(std::string name, asio::any_io_executor executor, base::Clock& clock,
              base::MetricsRegistry& metrics);
    ~WorkQueue();

    void add(const ObjectKey& key);
    // Adds the key after a delay. The earliest time wins.
    void add_after(const ObjectKey& key, base::Duration delay);
    // Adds the key after 5 ms * 2^failures, at most a minute, and not before `at_least`. Each call counts as
    // a failure of the key.
    void add_rate_limited(const ObjectKey& key, base::Duration at_least = {});
    // Resets the key's failures.
    void forget(const ObjectKey& key);
    // Waits for a key; call done() once for each.
    asio::awaitable<ObjectKey> get();
    void done(const ObjectKey& key);
    std::size_t size() const;
    int failures(const ObjectKey& key) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace kube
