#include "controllers/services/evictions.hpp"

#include <algorithm>

#include "api/json.hpp"
#include "base/backoff.hpp"
#include "base/text.hpp"

namespace controllers {

namespace {

using Kind = EvictionState::Kind;

// An answer that takes longer is not waited for.
constexpr base::Duration kAtOnce = std::chrono::seconds{2};
// Budgets change with every pod that becomes Ready elsewhere.
constexpr base::Duration kBudgetPause = std::chrono::seconds{5};
// The longest pause bounds the delay after a webhook is repaired.
constexpr base::Backoff kFailurePause{std::chrono::seconds{5}, std::chrono::seconds{30}};
// A refusal may ask for a longer pause, up to this limit.
constexpr base::Duration kLongestEvictionPause = std::chrono::minutes{1};
constexpr base::Duration kNextLook = std::chrono::seconds{1};
// Sets when pods are dropped that are no longer asked for.
constexpr base::Duration kForgetEvictionAfter = std::chrono::minutes{10};
// The client's places serve the whole operator. Requests that failed before leave room for others. Deletions
// have separate places, because a deadline is near.
constexpr std::ptrdiff_t kMostEvictions = 12;
constexpr std::ptrdiff_t kMostRepeated = 6;
constexpr std::ptrdiff_t kMostDeletions = 6;
// A webhook may write a page, and a condition names several pods.
constexpr std::size_t kMostWords = 300;

std::string in_short(std::string text) {
    std::ranges::replace_if(text, [](unsigned char c) { return c < ' '; }, ' ');
    return base::shortened(text, kMostWords);
}

std::string_view result_of(Kind answer) {
    switch (answer) {
        case Kind::accepted:
            return "accepted";
        case Kind::gone:
            return "gone";
        case Kind::budget:
        case Kind::several_budgets:
            return "blocked";
        case Kind::under_way:
        case Kind::failed:
            return "failed";
    }
    return "failed";
}

bool is_gone(const kube::ApiError& error) {
    return (error.is_not_found() || error.is_conflict()) && !error.is_denial();
}

}  // namespace

Evictions::Evictions(kube::Client& client, base::Clock& clock)
    : client_(client),
      clock_(clock),
      requests_(client.metrics().counter("kubenodesmith_evictions_total",
                                         "Requests to evict or delete a pod of a node that is drained, by "
                                         "action and result",
                                         {"action", "result"})) {}

Evictions::Key Evictions::key_of(const EvictionRequest& request) {
    return {request.pod->metadata.uid, request.grace.has_value()};
}

asio::awaitable<void> Evictions::send(std::vector<EvictionRequest> requests) {
    if (!under_way_) {
        const auto executor = co_await asio::this_coro::executor;
        answered_.emplace(executor);
        under_way_.emplace(executor);
    }
    std::erase_if(records_, [this](const auto& entry) {
        return !entry.second.is_under_way && entry.second.used_at + kForgetEvictionAfter < clock_.now();
    });
    const auto patience = clock_.now() + kAtOnce;
    std::vector<Key> begun;
    for (;;) {
        // A pod that was refused before yields to others.
        for (const bool is_repeated : {false, true})
            std::erase_if(requests, [&](const auto& request) {
                return (records_[key_of(request)].failures > 0) == is_repeated && begin(request, begun);
            });
        const bool is_answered = requests.empty() && std::ranges::none_of(begun, [this](const Key& key) {
                                     return records_.at(key).is_under_way;
                                 });
        if (is_answered || clock_.now() >= patience) co_return;
        co_await answered_->wait_until(clock_, patience);
    }
}

bool Evictions::has_place_for(const Key& key, const Record& record) const {
    const auto count = [this](auto predicate) {
        return std::ranges::count_if(records_, [&predicate](const auto& entry) {
            return entry.second.is_under_way && predicate(entry);
        });
    };
    const bool is_deletion = key.second;
    const auto alike = count([&](const auto& entry) { return entry.first.second == is_deletion; });
    if (alike >= (is_deletion ? kMostDeletions : kMostEvictions)) return false;
    if (is_deletion || record.failures == 0) return true;
    return count([](const auto& entry) { return entry.second.failures > 0; }) < kMostRepeated;
}

bool Evictions::begin(const EvictionRequest& request, std::vector<Key>& begun) {
    const auto key = key_of(request);
    auto& record = records_[key];
    record.used_at = clock_.now();
    if (record.is_under_way || clock_.now() < record.due) return true;
    if (!has_place_for(key, record)) return false;
    record.is_under_way = true;
    record.sent_at = clock_.now();
    begun.push_back(key);
    under_way_->spawn(ask(request));
    return true;
}

asio::awaitable<void> Evictions::ask(EvictionRequest request) {
    const auto key = key_of(request);
    std::string failure;
    std::optional<base::Duration> retry_after;
    bool is_gone_already = false;
    try {
        co_await ask_once(request);
    } catch (const boost::system::system_error& error) {
        if (error.code() == asio::error::operation_aborted) throw;
        failure = error.what();
    } catch (const kube::ApiError& error) {
        is_gone_already = is_gone(error);
        failure = error.message.empty() ? error.what() : error.message;
        retry_after = error.retry_after;
    } catch (const std::exception& error) {
        failure = error.what();
    }
    auto& record = records_.at(key);
    record.is_under_way = false;
    if (is_gone_already)
        record.answer = Kind::gone;
    else if (!failure.empty())
        refuse(record, Kind::failed, std::move(failure), retry_after);
    count(request, record);
    answered_->notify_all();
}

void Evictions::count(const EvictionRequest& request, const Record& record) {
    requests_.with({request.grace ? "delete" : "evict", std::string(result_of(record.answer))}).add();
}

asio::awaitable<void> Evictions::ask_once(EvictionRequest request) {
    const auto key = key_of(request);
    const auto& pod = *request.pod;
    if (request.grace) {
        api::DeleteOptions options;
        options.gracePeriodSeconds = request.grace->count();
        options.preconditions = api::Preconditions{pod.metadata.uid, ""};
        const auto target = kube::path_of(api::Pod::kResource, api::key_of(pod));
        co_await client_.call("DELETE", target, api::encode(options));
        accept(records_.at(key));
        co_return;
    }
    auto result = co_await client_.evict(api::key_of(pod), pod.metadata.uid, std::nullopt);
    auto& record = records_.at(key);
    if (std::holds_alternative<kube::Evicted>(result)) accept(record);
    if (std::holds_alternative<kube::PodNotFound>(result)) record.answer = Kind::gone;
    if (auto* blocked = std::get_if<kube::BlockedByBudget>(&result)) {
        for (const auto& cause : blocked->causes) blocked->message += " " + cause.message;
        refuse(record, blocked->has_several_budgets ? Kind::several_budgets : Kind::budget,
               std::move(blocked->message), blocked->retry_after);
    }
}

void Evictions::accept(Record& record) {
    record.answer = Kind::accepted;
    record.failures = 0;
    accepted_at_ = clock_.now();
}

void Evictions::refuse(Record& record, Kind kind, std::string message,
                       std::optional<base::Duration> retry_after) {
    record.answer = kind;
    record.failures = kind == Kind::budget ? 0 : record.failures + 1;
    record.message = in_short(std::move(message));
    auto pause = kind == Kind::budget ? kBudgetPause : kFailurePause.after(record.failures);
    if (retry_after && *retry_after > kLongestEvictionPause)
        record.message += " (it asks for a pause of " +
                          api::Duration(std::chrono::duration_cast<base::Seconds>(*retry_after)).str() +
                          ", but the operator retries every minute)";
    if (retry_after) pause = std::clamp(*retry_after, pause, kLongestEvictionPause);
    record.due = clock_.now() + pause;
}

EvictionState Evictions::state_of(const EvictionRequest& request) const {
    const auto found = records_.find(key_of(request));
    if (found == records_.end()) return {Kind::under_way, "", kNextLook};
    const auto& record = found->second;
    const bool is_refused = record.answer == Kind::budget || record.answer == Kind::several_budgets ||
                            record.answer == Kind::failed;
    const auto look_in = record.is_under_way ? kNextLook : std::max(record.due - clock_.now(), kNextLook);
    // While the request is repeated, the last answer is the best known.
    if (is_refused) return {record.answer, record.message, look_in};
    if (!record.is_under_way)
        return {record.answer, "", record.answer == Kind::under_way ? kNextLook : base::Duration::zero()};
    if (clock_.now() < record.sent_at + kAtOnce) return {Kind::under_way, "", kNextLook};
    return {Kind::failed, "the API server has not answered yet; an admission webhook may hang", look_in};
}

asio::awaitable<void> Evictions::end() {
    if (!under_way_) co_return;
    under_way_->stop();
    co_await under_way_->join();
}

}  // namespace controllers
