// Asks the API server to evict or delete pods, separately and concurrently. A request that is refused, fails
// or gets no answer delays neither other pods nor the caller.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/condition_variable.hpp"
#include "base/task_group.hpp"
#include "controllers/cache/informers.hpp"
#include "kube/client.hpp"

namespace controllers {

struct EvictionRequest {
    PodPointer pod;
    // If set, the pod is deleted with this grace period, and budgets do not apply.
    std::optional<base::Seconds> grace;
};

// EvictionState says how far the request for one pod is.
struct EvictionState {
    enum class Kind {
        accepted,         // the pod will end
        gone,             // the pod does not exist
        under_way,        // it was sent, or will be in a moment
        budget,           // a budget allows no eviction now
        several_budgets,  // the eviction API refuses pods with more than one
        failed,           // a webhook or policy refuses it, it fails otherwise, or gets no answer
    };
    Kind kind = Kind::under_way;
    std::string message;       // text of the refusal, if any
    base::Duration look_in{};  // when to ask again; zero: the pod alone is waited for
};

class Evictions {
public:
    Evictions(kube::Client& client, base::Clock& clock);

    // Sends due requests, and returns when they are answered, or soon. Requests without an answer stay under
    // way. Throws only on cancellation.
    asio::awaitable<void> send(std::vector<EvictionRequest> requests);
    EvictionState state_of(const EvictionRequest& request) const;
    // Returns when a request was last accepted; nullopt: none was.
    std::optional<base::TimePoint> accepted_at() const { return accepted_at_; }
    // Cancels running requests and waits for their end. Nothing is sent afterwards.
    asio::awaitable<void> end();

private:
    // Holds the UID, and whether the pod is deleted instead of evicted. A deletion waits for no eviction.
    using Key = std::pair<std::string, bool>;
    struct Record {
        EvictionState::Kind answer = EvictionState::Kind::under_way;  // the last one
        std::string message;
        int failures = 0;  // consecutive
        bool is_under_way = false;
        base::TimePoint sent_at{};
        base::TimePoint due{};  // earliest time of the next attempt
        base::TimePoint used_at{};
    };
    static Key key_of(const EvictionRequest& request);
    bool has_place_for(const Key& key, const Record& record) const;
    // Returns false if there is no place for it now.
    bool begin(const EvictionRequest& request, std::vector<Key>& begun);
    asio::awaitable<void> ask(EvictionRequest request);
    asio::awaitable<void> ask_once(EvictionRequest request);
    // Counts an answer, or that there was none.
    void count(const EvictionRequest& request, const Record& record);
    void accept(Record& record);
    void refuse(Record& record, EvictionState::Kind kind, std::string message,
                std::optional<base::Duration> retry_after);

    kube::Client& client_;
    base::Clock& clock_;
    base::Family<base::Counter>& requests_;
    std::map<Key, Record> records_;
    std::optional<base::TimePoint> accepted_at_;
    std::optional<base::ConditionVariable> answered_;
    std::optional<base::TaskGroup> under_way_;  // created by the first request, on its executor
};

}  // namespace controllers
