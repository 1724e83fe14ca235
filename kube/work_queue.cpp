#include "kube/work_queue.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "base/backoff.hpp"
#include "base/condition_variable.hpp"

namespace kube {
namespace {

using base::Duration;
using base::TimePoint;

// The values are client-go's defaults (https://pkg.go.dev/k8s.io/client-go/util/workqueue), except the
// longest wait. Its 1000 s would leave a removed obstacle unnoticed for too long.
constexpr base::Backoff kPerKey{std::chrono::milliseconds{5}, std::chrono::minutes{1}};
constexpr double kRetriesPerSecond = 10;
constexpr double kRetryBurst = 100;

double seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

// Returns bounds in seconds. client-go's begin at 10 ns, but a key takes at least a step of the loop.
std::vector<double> duration_buckets() {
    return {0.001, 0.01, 0.1, 1, 10, 60, 600};
}

// TokenBucket limits the retries of all keys together. Each retry takes a token and waits until it would
// exist.
class TokenBucket {
public:
    Duration take(TimePoint now) {
        tokens_ = std::min(kRetryBurst, tokens_ + seconds(now - filled_) * kRetriesPerSecond) - 1;
        filled_ = now;
        if (tokens_ >= 0) return Duration::zero();
        return std::chrono::duration_cast<Duration>(
            std::chrono::duration<double>(-tokens_ / kRetriesPerSecond));
    }

private:
    double tokens_ = kRetryBurst;
    TimePoint filled_{};
};

struct QueueMetrics {
    QueueMetrics(base::MetricsRegistry& registry, const std::string& name)
        : depth(registry.gauge("workqueue_depth", "Keys that are ready to be processed", {"name"})
                    .with({name})),
          adds(registry.counter("workqueue_adds_total", "Keys added", {"name"}).with({name})),
          retries(registry.counter("workqueue_retries_total", "Keys added again after a failure", {"name"})
                      .with({name})),
          queue_duration(registry
                             .histogram("workqueue_queue_duration_seconds",
                                        "Time that a key was ready before it was processed",
                                        duration_buckets(), {"name"})
                             .with({name})),
          unfinished(registry
                         .gauge("workqueue_unfinished_work_seconds",
                                "Time spent so far on all keys in work: grows if one is stuck", {"name"})
                         .with({name})),
          longest(registry
                      .gauge("workqueue_longest_running_processor_seconds",
                             "Time spent so far on the key longest in work", {"name"})
                      .with({name})),
          work_duration(registry
                            .histogram("workqueue_work_duration_seconds", "Time to process a key",
                                       duration_buckets(), {"name"})
                            .with({name})) {}
    base::Gauge& depth;
    base::Counter& adds;
    base::Counter& retries;
    base::Histogram& queue_duration;
    base::Gauge& unfinished;
    base::Gauge& longest;
    base::Histogram& work_duration;
};

}  // namespace

// A key is in at most one of ready_ and delayed_. A key in process may be marked to come again.
struct WorkQueue::Impl {
    Impl(std::string name, asio::any_io_executor executor, base::Clock& clock,
         base::MetricsRegistry& registry)
        : clock_(clock),
          changed_(std::move(executor)),
          metrics_(registry, name),
          exposition_(registry.before_exposition([this] { show_work(); })) {}

    void show_work() const {
        double sum = 0;
        double longest = 0;
        for (const auto& [key, since] : processing_since_) {
            const auto spent = seconds(clock_.now() - since);
            sum += spent;
            longest = std::max(longest, spent);
        }
        metrics_.unfinished.set(sum);
        metrics_.longest.set(longest);
    }

    void add(const ObjectKey& key) {
        if (ready_since_.contains(key) || again_.contains(key)) return;
        metrics_.adds.add();
        undelay(key);
        if (processing_since_.contains(key)) {
            again_.insert(key);
        } else {
            make_ready(key);
        }
    }

    void add_after(const ObjectKey& key, Duration delay) {
        if (delay <= Duration::zero()) return add(key);
        if (ready_since_.contains(key) || again_.contains(key)) return;
        const auto due = clock_.now() + delay;
        auto known = due_.find(key);
        if (known != due_.end() && known->second <= due) return;
        undelay(key);
        due_.emplace(key, due);
        delayed_.emplace(due, key);
        changed_.notify_all();
    }

    void add_rate_limited(const ObjectKey& key, Duration at_least) {
        const auto wait = std::max(kPerKey.after(++failures_[key]), at_least);
        metrics_.retries.add();
        add_after(key, std::max(wait, bucket_.take(clock_.now())));
    }

    asio::awaitable<ObjectKey> get() {
        for (;;) {
            move_due();
            if (!ready_.empty()) co_return take();
            if (delayed_.empty()) {
                co_await changed_.wait();
            } else {
                co_await changed_.wait_until(clock_, delayed_.begin()->first);
            }
        }
    }

    void done(const ObjectKey& key) {
        auto processed = processing_since_.find(key);
        if (processed == processing_since_.end()) return;
        metrics_.work_duration.observe(seconds(clock_.now() - processed->second));
        processing_since_.erase(processed);
        if (again_.erase(key) > 0) make_ready(key);
        changed_.notify_all();
    }

    void make_ready(const ObjectKey& key) {
        ready_.push_back(key);
        ready_since_.emplace(key, clock_.now());
        metrics_.depth.set(static_cast<double>(ready_.size()));
        changed_.notify_all();
    }

    void undelay(const ObjectKey& key) {
        auto known = due_.find(key);
        if (known == due_.end()) return;
        delayed_.erase({known->second, key});
        due_.erase(known);
    }

    void move_due() {
        while (!delayed_.empty() && delayed_.begin()->first <= clock_.now()) {
            const auto key = delayed_.begin()->second;
            add(key);
        }
    }

    ObjectKey take() {
        auto key = ready_.front();
        ready_.pop_front();
        metrics_.depth.set(static_cast<double>(ready_.size()));
        const auto since = ready_since_.find(key);
        metrics_.queue_duration.observe(seconds(clock_.now() - since->second));
        ready_since_.erase(since);
        processing_since_.emplace(key, clock_.now());
        return key;
    }

    base::Clock& clock_;
    base::ConditionVariable changed_;
    QueueMetrics metrics_;
    std::unique_ptr<base::MetricsRegistry::Hook> exposition_;
    TokenBucket bucket_;
    std::deque<ObjectKey> ready_;
    std::map<ObjectKey, TimePoint> ready_since_;
    std::map<ObjectKey, TimePoint> processing_since_;
    std::set<ObjectKey> again_;
    std::map<ObjectKey, TimePoint> due_;
    std::set<std::pair<TimePoint, ObjectKey>> delayed_;
    std::map<ObjectKey, int> failures_;
};

WorkQueue::WorkQueue(std::string name, asio::any_io_executor executor, base::Clock& clock,
                     base::MetricsRegistry& metrics)
    : impl_(std::make_unique<Impl>(std::move(name), std::move(executor), clock, metrics)) {}
WorkQueue::~WorkQueue() = default;

void WorkQueue::add(const ObjectKey& key) {
    impl_->add(key);
}
void WorkQueue::add_after(const ObjectKey& key, base::Duration delay) {
    impl_->add_after(key, delay);
}
void WorkQueue::add_rate_limited(const ObjectKey& key, base::Duration at_least) {
    impl_->add_rate_limited(key, at_least);
}
void WorkQueue::forget(const ObjectKey& key) {
    impl_->failures_.erase(key);
}
asio::awaitable<ObjectKey> WorkQueue::get() {
    return impl_->get();
}
void WorkQueue::done(const ObjectKey& key) {
    impl_->done(key);
}
std::size_t WorkQueue::size() const {
    return impl_->ready_.size() + impl_->delayed_.size();
}
int WorkQueue::failures(const ObjectKey& key) const {
    auto known = impl_->failures_.find(key);
    return known == impl_->failures_.end() ? 0 : known->second;
}

}  // namespace kube
