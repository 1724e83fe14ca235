#include "kube/event_recorder.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/system/system_error.hpp>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "api/core.hpp"
#include "base/backoff.hpp"
#include "base/condition_variable.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace kube {
namespace {

constexpr std::size_t kMostWaiting = 1000;  // beyond it the oldest are dropped, normal ones first
constexpr std::size_t kMostRemembered = 20'000;
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
        no_answer,  // the server does not answer any request
    };
    std::string text;
    Kind kind = Kind::no_answer;
};

WriteFailure failure_of(const ApiError& error) {
    constexpr int kFinal[] = {400, 403, 404, 405, 413, 415, 422};
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
        for (;;) {
            while (waiting_.empty()) co_await changed_.wait();
            const auto next = first()->next;
            if (next <= clock_.now()) {
                co_await write_next();
            } else {
                co_await changed_.wait_until(clock_, next);
            }
        }
    }

    asio::awaitable<void> flush() override {
        while (!waiting_.empty()) {
            auto entry = take_first();
            const auto failure = co_await write(entry.event);
            if (failure) report(entry.event, *failure);
        }
    }

private:
    struct Entry {
        api::Event event;
        base::TimePoint since;
        base::TimePoint next;  // time of the next attempt
        int failures = 0;
    };

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

    // Warnings stay longest, since a burst of pods causes thousands of other Events.
    void drop_one() {
        const auto normal =
            std::ranges::find_if(waiting_, [](const Entry& entry) { return entry.event.type != kWarning; });
        waiting_.erase(normal == waiting_.end() ? waiting_.begin() : normal);
    }

    // Returns the first Event that is due, or else the one that will be due first.
    std::deque<Entry>::iterator first() {
        return std::ranges::min_element(
            waiting_, {}, [now = clock_.now()](const Entry& entry) { return std::max(entry.next, now); });
    }

    Entry take_first() {
        const auto due = first();
        auto entry = std::move(*due);
        waiting_.erase(due);
        return entry;
    }

    // Writes one Event. If it is not accepted now, it waits behind the others. A server that does not answer
    // would not answer to them either, so they wait with it.
    asio::awaitable<void> write_next() {
        auto entry = take_first();
        std::optional<WriteFailure> failure = co_await write(entry.event);
        for (int failures = 1; failure && failure->kind == WriteFailure::Kind::no_answer; ++failures) {
            if (clock_.now() - entry.since >= kLongestOutage) break;
            co_await clock_.sleep_for(kRetry.after(failures, random_));
            failure = co_await write(entry.event);
        }
        if (!failure) co_return;
        if (failure->kind == WriteFailure::Kind::for_now && clock_.now() - entry.since < kLongestOutage) {
            entry.next = clock_.now() + kTakenLater.after(++entry.failures, random_);
            waiting_.push_back(std::move(entry));
            co_return;
        }
        report(entry.event, *failure);
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
        } catch (const boost::system::system_error&) {
            throw;  // cancelled
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
        } catch (const boost::system::system_error&) {
            throw;  // cancelled
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
