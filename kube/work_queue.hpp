// A queue of object keys with client-go's semantics: a key waits at most once, is never handed out twice
// at the same time, and one added while it is processed comes again afterwards. Single-threaded.
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
    // The earliest wish wins.
    void add_after(const ObjectKey& key, base::Duration delay);
    // After 5 ms * 2^failures, at most a minute, so that the end of an obstacle is noticed soon; each call
    // counts as a failure of the key.
    void add_rate_limited(const ObjectKey& key);
    // The key's failures are forgotten.
    void forget(const ObjectKey& key);
    // Waits for a key; pair each with done().
    asio::awaitable<ObjectKey> get();
    void done(const ObjectKey& key);
    std::size_t size() const;
    int failures(const ObjectKey& key) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace kube
