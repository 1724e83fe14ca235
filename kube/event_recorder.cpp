#include "kube/event_recorder.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/system/system_error.hpp>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/core.hpp"
#include "base/backoff.hpp"
#include "base/condition_variable.hpp"
#include "base/log.hpp"
#include "base/task_group.hpp"
#include "base/text.hpp"
#include "kube/slow_answers.hpp"

namespace kube {
namespace {

constexpr std::size_t kMostWaiting = 1000;  // beyond it the oldest are dropped, normal ones first
constexpr std::size_t kMostRemembered = 20'000;
// The client's places serve the whole operator. Each namespace has one write at a time, and namespaces whose
// last write hung, as a webhook of theirs did, leave places for the others.
constexpr std::size_t kMostUnderWay = 8;
constexpr std::ptrdiff_t kMostThatHung = 4;
constexpr base::Duration kLongestOutage = std::chrono::hours{1};
constexpr std::size_t kMostMessage = 1024;  // the API server's limit for an Event's message
// The limits are client-go's: a burst about one object, then one in five minutes.
constexpr double kBurstPerObject = 25;
constexpr base::Duration kThenEvery = std::chrono::minutes{5};
constexpr std::string_view kNamespaceTerminating = "NamespaceTerminating";
constexpr const char* kWarning = "Warning";
constexpr base::Backoff kRetry{std::chrono::seconds{1}, std::chrono::seconds{10}};
constexpr base::Backoff kTakenLater{std::chrono::seconds{1}, std::chrono::seconds{40}};

// FNV-1a has the same result on every machine and in every run, so a restarted operator finds its Events
// again.
std::uint64_t hash_of(const std::string& text) {
    std::uint64_t hash = 14695981039346656037u;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    return hash;
}

std::string hex(std::uint64_t number) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    return text;
}

// Names of pods may have 253 characters, and so may names of Events.
std::string name_of_event(const std::string& about, std::uint64_t hash) {
    constexpr std::size_t kLongestBeginning = 253 - 17;
    auto name = about.substr(0, kLongestBeginning);
    // A part of a name ends with a letter or digit.
    name.resize(name.find_last_not_of("-.") + 1);
    return name + "." + hex(hash);
}

struct WriteFailure {
    enum class Kind {
        final,      // this Event will never be accepted
        for_now,    // this one may be accepted later, others now
        hung,       // so would others of its namespace, if a webhook hangs
        no_answer,  // the server does not answer any request
    };
    std::string text;
    Kind kind = Kind::no_answer;
};

WriteFailure failure_of(const ApiError& error) {
    constexpr int kFinal[] = {400, 403, 404, 405, 413, 415, 422};
    if (took_long(error)) return {error.what(), WriteFailure::Kind::hung};
    const bool is_final = std::ranges::find(kFinal, error.code) != std::end(kFinal);
    return {error.what(), is_final ? WriteFailure::Kind::final : WriteFailure::Kind::for_now};
}

// Reports whether the namespace is gone, or terminating and closed for new objects.
bool is_namespace_ending(const ApiError& error) {
    return error.is_not_found() || std::ranges::any_of(error.causes, [](const auto& cause) {
               return cause.reason == kNamespaceTerminating;
           });
}

// Allowance limits the Events about one object.
class Allowance {
public:
    bool take(base::TimePoint now) {
        const std::chrono::duration<double> passed = now - since_;
        left_ = std::min(kBurstPerObject, left_ + passed / kThenEvery);
        since_ = now;
        if (left_ < 1) return false;
        --left_;
        return true;
    }

private:
    double left_ = kBurstPerObject;
    base::TimePoint since_{};
};

class QueuedEventWriter final : public EventWriter {
public:
    QueuedEventWriter(Client& client, base::Clock& clock, base::Random& random,
                      asio::any_io_executor executor, std::string component)
        : client_(client),
          clock_(clock),
          random_(random),
          changed_(std::move(executor)),
          component_(std::move(component)) {}

    void event(const EventTarget& about, EventType type, std::string reason, std::string message) override {
        message = base::shortened(message, kMostMessage);
        const auto object =
            about.uid.empty() ? about.kind + "/" + about.namespace_ + "/" + about.name : about.uid;
        const auto [said, is_new] = said_.try_emplace(hash_of(object + "|" + reason));
        const auto what = hash_of(message);
        if (!is_new && said->second == what) return;
        said->second = what;
        const bool may_write = allowances_[hash_of(object)].take(clock_.now());
        log(may_write ? level_of(type) : base::log::Level::debug, about, reason, message);
        if (!may_write) return;
        // Clearing everything costs at most a repeated Event for each object.
        if (said_.size() > kMostRemembered) {
            said_.clear();
            allowances_.clear();
        }
        if (waiting_.size() >= kMostWaiting) drop_one();
        const auto now = clock_.now();
        waiting_.push_back({make(about, type, std::move(reason), std::move(message)), now, now});
        changed_.notify_all();
    }

    asio::awaitable<void> run() override {
        base::TaskGroup writes(co_await asio::this_coro::executor);
        writes.spawn(begin_all(writes));
        co_await writes.join();
    }

    asio::awaitable<void> flush() override {
        std::map<std::string, std::deque<Entry>> batches;
        for (auto& entry : waiting_) batches[lane_of(entry)].push_back(std::move(entry));
        waiting_.clear();
        farewell_.clear();
        for (auto& batch : batches) farewell_.push_back(std::move(batch.second));
        base::TaskGroup writes(co_await asio::this_coro::executor);
        for (std::size_t i = 0; i < kMostUnderWay; ++i) writes.spawn(flush_batches());
        co_await writes.join();
    }

private:
    struct Entry {
        api::Event event;
        base::TimePoint since;
        base::TimePoint next;  // time of the next attempt
        int failures = 0;
    };

    // Lane holds what is known of the writes in a namespace.
    struct Lane {
        bool is_under_way = false;
        int hung = 0;           // consecutive writes that hung
        base::TimePoint due{};  // earliest time of the next write
    };

    static const std::string& lane_of(const Entry& entry) { return entry.event.metadata.namespace_; }

    static base::log::Level level_of(EventType type) {
        return type == EventType::normal ? base::log::Level::info : base::log::Level::warning;
    }

    static void log(base::log::Level level, const EventTarget& about, const std::string& reason,
                    const std::string& message) {
        const auto object = about.namespace_.empty() ? about.name : about.namespace_ + "/" + about.name;
        base::log::write(
            level, "Event",
            {{"kind", about.kind}, {"object", object}, {"reason", reason}, {"message", message}});
    }

    api::Event make(const EventTarget& about, EventType type, std::string reason, std::string message) const {
        const api::Time now(clock_.wall_now());
        api::Event event;
        event.metadata.namespace_ = about.namespace_.empty() ? "default" : about.namespace_;
        const auto content = about.uid + "|" + about.kind + "|" + reason + "|" + message;
        event.metadata.name = name_of_event(about.name, hash_of(content));
        event.involvedObject.apiVersion = about.api_version;
        event.involvedObject.kind = about.kind;
        event.involvedObject.namespace_ = about.namespace_;
        event.involvedObject.name = about.name;
        event.involvedObject.uid = about.uid;
        event.type = type == EventType::normal ? "Normal" : kWarning;
        event.reason = std::move(reason);
        event.message = std::move(message);
        event.count = 1;
        event.firstTimestamp = event.lastTimestamp = now;
        event.source.component = component_;
        event.reportingComponent = component_;
        return event;
    }

    // Drops an Event of the namespace that has the most. Warnings stay longest, since a burst of pods causes
    // thousands of other Events.
    void drop_one() {
        std::map<std::string_view, std::size_t> counts;
        for (const auto& entry : waiting_) ++counts[lane_of(entry)];
        const auto fullest =
            std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; })->first;
        auto dropped = waiting_.end();
        for (auto entry = waiting_.begin(); entry != waiting_.end(); ++entry) {
            if (lane_of(*entry) != fullest) continue;
            if (dropped == waiting_.end()) dropped = entry;
            if (entry->event.type == kWarning) continue;
            dropped = entry;
            break;
        }
        waiting_.erase(dropped);
    }

    asio::awaitable<void> begin_all(base::TaskGroup& writes) {
        for (;;) {
            while (begin_next(writes)) {
            }
            // The end of a write wakes it, too.
            if (const auto next = next_attempt())
                co_await changed_.wait_until(clock_, *next);
            else
                co_await changed_.wait();
        }
    }

    // Begins to write the first Event that may be written now. Returns false if there is none.
    bool begin_next(base::TaskGroup& writes) {
        if (under_way_ >= kMostUnderWay || clock_.now() < silent_until_) return false;
        const bool is_full = std::ranges::count_if(lanes_, [](const auto& lane) {
                                 return lane.second.is_under_way && lane.second.hung > 0;
                             }) >= kMostThatHung;
        const auto due = std::ranges::find_if(waiting_, [&](const Entry& entry) {
            if (entry.next > clock_.now()) return false;
            const auto lane = lanes_.find(lane_of(entry));
            if (lane == lanes_.end()) return true;
            const bool is_free = !lane->second.is_under_way && lane->second.due <= clock_.now();
            return is_free && !(is_full && lane->second.hung > 0);
        });
        if (due == waiting_.end()) return false;
        auto entry = std::move(*due);
        waiting_.erase(due);
        lanes_[lane_of(entry)].is_under_way = true;
        ++under_way_;
        writes.spawn(write_one(std::move(entry)));
        return true;
    }

    // Returns when the first Event may be written that may not yet; nullopt: all wait for the end of a write.
    std::optional<base::TimePoint> next_attempt() const {
        std::optional<base::TimePoint> next;
        for (const auto& entry : waiting_) {
            auto at = std::max(entry.next, silent_until_);
            const auto lane = lanes_.find(lane_of(entry));
            if (lane != lanes_.end()) at = std::max(at, lane->second.due);
            if (at > clock_.now()) next = next ? std::min(*next, at) : at;
        }
        return next;
    }

    asio::awaitable<void> write_one(Entry entry) {
        std::optional<WriteFailure> failure;
        try {
            failure = co_await write(entry.event);
        } catch (...) {
            settle(lane_of(entry), std::nullopt);
            // flush() tries it once more.
            waiting_.push_front(std::move(entry));
            throw;
        }
        settle(lane_of(entry), failure);
        if (!failure) co_return;
        if (failure->kind == WriteFailure::Kind::final || clock_.now() - entry.since >= kLongestOutage) {
            report(entry.event, *failure);
        } else if (failure->kind == WriteFailure::Kind::no_answer) {
            waiting_.push_front(std::move(entry));
        } else {
            entry.next = clock_.now() + kTakenLater.after(++entry.failures, random_);
            waiting_.push_back(std::move(entry));
        }
    }

    // Notes the end of a write. A server that does not answer would not answer to others either, so they all
    // wait. A write that hung says something about its own namespace only.
    void settle(const std::string& name, const std::optional<WriteFailure>& failure) {
        --under_way_;
        const auto now = clock_.now();
        if (!failure || failure->kind != WriteFailure::Kind::no_answer) {
            silences_ = 0;
        } else if (silent_until_ <= now) {
            silent_until_ = now + kRetry.after(++silences_, random_);
        }
        auto& lane = lanes_[name];
        lane.is_under_way = false;
        if (failure && failure->kind == WriteFailure::Kind::hung)
            lane.due = now + kTakenLater.after(++lane.hung, random_);
        else
            lanes_.erase(name);
        changed_.notify_all();
    }

    // Tries the Events of one namespace after the other. After one that hung, the others would hang, too.
    asio::awaitable<void> flush_batches() {
        while (!farewell_.empty()) {
            const auto batch = std::move(farewell_.back());
            farewell_.pop_back();
            for (const auto& entry : batch) {
                const auto failure = co_await write(entry.event);
                if (failure) report(entry.event, *failure);
                if (failure && failure->kind == WriteFailure::Kind::hung) break;
            }
        }
    }

    static void report(const api::Event& event, const WriteFailure& failure) {
        base::log::warning("Cannot write an Event",
                           {{"object", event.involvedObject.kind + "/" + event.involvedObject.name},
                            {"reason", event.reason},
                            {"message", event.message},
                            {"error", failure.text}});
    }

    // Returns the same Event about the namespace instead of an object in it. Such Events are in "default".
    static api::Event about_namespace(api::Event event) {
        auto& object = event.involvedObject;
        auto namespace_ = std::move(object.namespace_);
        event.message = base::shortened(object.kind + " " + object.name + ": " + event.message, kMostMessage);
        event.metadata.namespace_ = "default";
        object = {};
        object.apiVersion = "v1";
        object.kind = "Namespace";
        object.name = std::move(namespace_);
        return event;
    }

    // Returns nullopt if the Event was written or is not worth another try.
    asio::awaitable<std::optional<WriteFailure>> write(api::Event event) {
        const ObjectKey key{event.metadata.namespace_, event.metadata.name};
        bool repeated = false;
        bool is_ending = false;
        std::optional<WriteFailure> failure;
        try {
            co_await client_.create<api::Event>(event);
        } catch (const ApiError& error) {
            repeated = error.is_already_exists();
            is_ending = is_namespace_ending(error);
            if (!repeated && !is_ending) failure = failure_of(error);
        } catch (const boost::system::system_error& error) {
            if (error.code() == asio::error::operation_aborted) throw;
            failure = WriteFailure{error.what()};
        } catch (const std::exception& error) {
            failure = WriteFailure{error.what()};
        }
        // Warnings from a namespace that is being deleted are written to namespace default, where they stay
        // readable.
        const bool moves = is_ending && event.type == kWarning && event.metadata.namespace_ != "default";
        if (moves) failure = co_await write(about_namespace(std::move(event)));
        if (repeated) failure = co_await count(key, std::move(event));
        co_return failure;
    }

    asio::awaitable<std::optional<WriteFailure>> count(ObjectKey key, api::Event event) {
        std::optional<WriteFailure> failure;
        try {
            // Two patches avoid a read, as no other code needs the right to read Events.
            Patch seen;
            seen.body = json::object{{"lastTimestamp", event.lastTimestamp->str()}};
            auto known = co_await client_.patch<api::Event>(key, std::move(seen));
            Patch counted;
            counted.body = json::object{{"count", known.count + 1}};
            co_await client_.patch<api::Event>(std::move(key), std::move(counted));
        } catch (const ApiError& error) {
            if (!error.is_not_found()) failure = failure_of(error);
        } catch (const boost::system::system_error& error) {
            if (error.code() == asio::error::operation_aborted) throw;
            failure = WriteFailure{error.what()};
        } catch (const std::exception& error) {
            failure = WriteFailure{error.what()};
        }
        co_return failure;
    }

    Client& client_;
    base::Clock& clock_;
    base::Random& random_;
    base::ConditionVariable changed_;
    std::string component_;
    std::deque<Entry> waiting_;
    std::map<std::string, Lane> lanes_;  // by namespace: those with a write under way or that hung
    std::size_t under_way_ = 0;
    int silences_ = 0;  // consecutive failures of the server to answer
    base::TimePoint silent_until_{};
    std::vector<std::deque<Entry>> farewell_;  // what flush() has still to try, by namespace
    // Hash of object and reason -> hash of the last message. Hashes are small, as objects that are gone are
    // remembered too.
    std::unordered_map<std::uint64_t, std::uint64_t> said_;
    std::unordered_map<std::uint64_t, Allowance> allowances_;  // by the hash of the object
};

}  // namespace

std::unique_ptr<EventWriter> make_event_writer(Client& client, base::Clock& clock, base::Random& random,
                                               asio::any_io_executor executor, std::string component) {
    return std::make_unique<QueuedEventWriter>(client, clock, random, std::move(executor),
                                               std::move(component));
}

}  // namespace kube
