#include "base/name_lookup.hpp"

#include <algorithm>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "base/condition_variable.hpp"

namespace base {

namespace {

using asio::ip::tcp;
using std::chrono::steady_clock;

// A server in the same network answers within milliseconds, and the C library asks a silent one for 5 s.
constexpr std::chrono::seconds kSlow{2};
constexpr std::chrono::minutes kRemembered{10};
constexpr std::size_t kMostRemembered = 4096;

NameLookups::Answer resolve_by_system(const std::string& host) {
    NameLookups::Answer answer;
    asio::io_context unused;
    tcp::resolver resolver(unused);
    for (const auto& entry : resolver.resolve(host, "", answer.error))
        answer.addresses.push_back(entry.endpoint().address());
    return answer;
}

// LookupService keeps the lookups of an execution context, so that they end with it.
class LookupService final : public asio::execution_context::service {
public:
    static inline asio::execution_context::id id;

    explicit LookupService(asio::execution_context& context) : service(context) {}
    NameLookups& lookups(const asio::any_io_executor& executor) {
        if (!lookups_) lookups_ = std::make_unique<NameLookups>(executor, resolve_by_system);
        return *lookups_;
    }

private:
    void shutdown() override { lookups_.reset(); }

    std::unique_ptr<NameLookups> lookups_;
};

}  // namespace

struct NameLookups::Lookup {
    Lookup(std::string given, const asio::any_io_executor& executor)
        : host(std::move(given)), finished(executor) {}
    std::string host;
    bool was_slow = false;
    steady_clock::time_point begun;
    ConditionVariable finished;
    std::optional<Answer> answer;
};

// Desk is where a thread delivers its answer. Its executor may be gone by then.
struct NameLookups::Desk {
    std::mutex mutex;
    NameLookups* owner = nullptr;  // null: it no longer exists
};

NameLookups::NameLookups(asio::any_io_executor executor, Resolve resolve, std::size_t most_at_once)
    : executor_(std::move(executor)),
      resolve_(std::move(resolve)),
      most_at_once_(most_at_once),
      desk_(std::make_shared<Desk>()) {
    desk_->owner = this;
}

NameLookups::~NameLookups() {
    const std::lock_guard lock(desk_->mutex);
    desk_->owner = nullptr;
}

asio::awaitable<NameLookups::Answer> NameLookups::find(Clock& clock, std::string host, TimePoint deadline) {
    auto& entry = lookups_[host];
    if (!entry) {
        entry = std::make_shared<Lookup>(host, executor_);
        waiting_.push_back(entry);
        begin_waiting();
    }
    const auto lookup = entry;
    while (!lookup->answer && clock.now() < deadline) co_await lookup->finished.wait_until(clock, deadline);
    if (!lookup->answer) throw std::runtime_error("looking up " + host + ": timed out");
    co_return *lookup->answer;
}

bool NameLookups::may_begin(const std::string& host) const {
    return running_ < most_at_once_ && (!slow_.contains(host) || running_slow_ < most_at_once_ / 2);
}

void NameLookups::begin_waiting() {
    const auto now = steady_clock::now();
    std::erase_if(slow_, [now](const auto& entry) { return now - entry.second > kRemembered; });
    for (auto next = waiting_.begin(); next != waiting_.end();) {
        if (!may_begin((*next)->host)) {
            ++next;
            continue;
        }
        begin(**next);
        next = waiting_.erase(next);
    }
}

// The thread knows nothing that belongs to the executor, as it may outlive it.
void NameLookups::begin(Lookup& lookup) {
    lookup.was_slow = slow_.contains(lookup.host);
    lookup.begun = steady_clock::now();
    ++running_;
    if (lookup.was_slow) ++running_slow_;
    const auto deliver = [](const std::shared_ptr<Desk>& desk, std::string host, Answer answer) {
        const std::lock_guard lock(desk->mutex);
        if (!desk->owner) return;
        asio::post(desk->owner->executor_,
                   [desk, host = std::move(host), answer = std::move(answer)]() mutable {
                       if (desk->owner) desk->owner->end(host, std::move(answer));
                   });
    };
    try {
        std::thread([deliver, resolve = resolve_, desk = desk_, host = lookup.host] {
            deliver(desk, host, resolve(host));
        }).detach();
    } catch (const std::system_error&) {
        deliver(desk_, lookup.host, {asio::error::no_memory, {}});
    }
}

void NameLookups::end(const std::string& host, Answer answer) {
    const auto lookup = lookups_.at(host);
    --running_;
    if (lookup->was_slow) --running_slow_;
    const auto now = steady_clock::now();
    if (now - lookup->begun < kSlow)
        slow_.erase(lookup->host);
    else if (slow_.size() < kMostRemembered)
        slow_[lookup->host] = now;
    lookups_.erase(lookup->host);
    lookup->answer = std::move(answer);
    lookup->finished.notify_all();
    begin_waiting();
}

asio::awaitable<std::vector<asio::ip::address>> look_up(asio::any_io_executor executor, Clock& clock,
                                                        std::string host, TimePoint deadline) {
    auto& service = asio::use_service<LookupService>(asio::query(executor, asio::execution::context));
    auto answer = co_await service.lookups(executor).find(clock, host, deadline);
    const auto& error = answer.error;
    if (error == asio::error::host_not_found || error == asio::error::no_data)
        co_return std::vector<asio::ip::address>();
    if (error) throw std::runtime_error("looking up " + host + ": " + error.message());
    co_return std::move(answer.addresses);
}

}  // namespace base
