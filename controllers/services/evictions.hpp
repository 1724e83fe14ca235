// Asks the API server to evict or delete pods, each on its own and side by side. A request that is refused,
// fails or is not answered delays neither the other pods nor the caller.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/task_group.hpp"
#include "controllers/cache/informers.hpp"
#include "kube/client.hpp"

namespace controllers {

struct EvictionRequest {
    PodPointer pod;
    // Set: the pod is deleted with this grace period, and no budget is asked.
    std::optional<base::Seconds> grace;
};

// How far the request for one pod is.
struct EvictionState {
    enum class Kind {
        accepted,         // the pod is going to end
        gone,             // there is no such pod
        under_way,        // it is sent, or is going to be sent in a moment
        budget,           // a budget allows no eviction now
        several_budgets,  // the eviction API refuses pods with more than one
        failed,           // a webhook or policy refuses it, it fails otherwise, or it is not answered
    };
    Kind kind = Kind::under_way;
    std::string message;       // in the words of the refusal, if there is one
    base::Duration look_in{};  // when to ask again; zero: nothing is waited for but the pod
};

class Evictions {
public:
    Evictions(kube::Client& client, base::Clock& clock);

    // Sends the requests that are due, and returns when these are answered, or soon: what is not answered by
    // then stays under way. Throws nothing but a cancellation.
    asio::awaitable<void> send(std::vector<EvictionRequest> requests);
    EvictionState state_of(const EvictionRequest& request) const;
    // When a request was last accepted; nullopt: none was.
    std::optional<base::TimePoint> accepted_at() const { return accepted_at_; }
    // Cancels what is under way and waits for its end; nothing is sent from then on.
    asio::awaitable<void> end();

private:
    // UID, and whether the pod is deleted instead of evicted: a deletion waits for no eviction.
    using Key = std::pair<std::string, bool>;
    struct Record {
        EvictionState::Kind answer = EvictionState::Kind::under_way;  // the last one
        std::string message;
        int failures = 0;  // in a row
        bool is_under_way = false;
        base::TimePoint sent_at{};
        base::TimePoint due{};  // not sent again before
        base::TimePoint used_at{};
    };
    static Key key_of(const EvictionRequest& request);
    bool has_place_for(const Key& key, const Record& record) const;
    // False: there is no place for it now.
    bool begin(const EvictionRequest& request, std::vector<Key>& begun);
    asio::awaitable<void> ask(EvictionRequest request);
    asio::awaitable<void> ask_once(EvictionRequest request);
    void accept(Record& record);
    void refuse(Record& record, EvictionState::Kind kind, std::string message,
                std::optional<base::Duration> retry_after);

    kube::Client& client_;
    base::Clock& clock_;
    std::map<Key, Record> records_;
    std::optional<base::TimePoint> accepted_at_;
    std::optional<base::Event> answered_;
    std::optional<base::TaskGroup> under_way_;  // made by the first request, on its executor
};

}  // namespace controllers
