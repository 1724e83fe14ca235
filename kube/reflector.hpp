// Keeps a copy of the objects of one kind current: lists, watches, and passes the changes to its target. It
// is untyped, so that it is compiled once; Informer<T> is the target.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "api/meta.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/task_group.hpp"
#include "kube/client.hpp"

namespace kube {

// ReflectorState decides the next step without I/O. It lists page by page and watches from there. It resumes
// a watch that ended, or lists again if the server no longer has that version. It waits after failures.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
class ReflectorState {
public:
    struct ListPage {
        std::string continue_token;  // empty: the first page of a new list
        bool operator==(const ListPage&) const = default;
    };
    struct Watch {
        std::string resource_version;
        bool operator==(const Watch&) const = default;
    };
    struct Pause {
        int failures = 0;  // consecutive
        bool operator==(const Pause&) const = default;
    };
    using Action = std::variant<ListPage, Watch, Pause>;

    Action next() const;

    // The following report the result of a step.
    void paused() { must_pause_ = false; }
    void page_received(const api::ListMeta& page);
    // Reports a changed object or a bookmark.
    void event_received(std::string resource_version);
    // Reports a normal end of the watch. A watch that ends immediately without an event counts as a failure,
    // to avoid a busy loop.
    void watch_ended(bool at_once);
    // Reports 410: the continue token or the version to watch from is too old.
    void expired();
    void failed();
    // Starts a new list, whatever was planned, as the server's data were replaced.
    void list_anew();

    int failures() const { return failures_; }

private:
    bool listing_ = true;
    bool must_pause_ = false;
    std::string continue_token_;
    std::string resource_version_;
    // Reset only by a working watch: a successful list may be followed by a watch that always fails.
    int failures_ = 0;
};

struct WatchNews {
    std::string resource_version;  // empty: the event has no readable version
    std::optional<api::Status> error;
};

class ReflectorTarget {
public:
    virtual ~ReflectorTarget() = default;
    // Begins a new list and drops the items of an unfinished one. The objects served so far are kept.
    virtual void begin_list() = 0;
    // Returns a reader that gathers items beside the served objects.
    virtual std::unique_ptr<PageReader> read_page() = 0;
    // Replaces the served objects by the gathered ones and reports the differences.
    virtual void end_list(const std::string& resource_version) = 0;
    // Takes one line of the watch. An error only affects the result.
    virtual WatchNews take_event(std::string_view line) = 0;
    virtual std::size_t size() const = 0;
};

class Reflector {
public:
    Reflector(Client& client, base::Clock& clock, base::Random& random, api::Resource resource,
              ListOptions options, ReflectorTarget& target);

    // Runs until it is cancelled. Failures are logged, counted and retried with backoff (0.8 s to 30 s). If
    // the server requests a pause, it waits that long (at most 5 minutes). A watch that lasted 5 s is resumed
    // immediately, however it ends. A watch that is silent for 75 s is restarted.
    asio::awaitable<void> run();
    // Ends the current watch or list and begins a new list, as the server's data were restored from a backup.
    // A watch from a version that the server has not reached yet would get no events.
    void list_anew();
    // Returns the time when the server last sent a page, an event or a bookmark, or accepted a watch. The
    // objects were current then. nullopt: never.
    std::optional<base::TimePoint> last_contact() const { return last_contact_; }

private:
    asio::awaitable<void> perform(ReflectorState::Action action);
    asio::awaitable<void> list_page(std::string continue_token);
    asio::awaitable<void> watch(std::string resource_version);
    asio::awaitable<void> follow(std::string resource_version);
    // Returns false if the version is too old; the stream is then useless.
    bool take_lines(std::string& buffer);
    bool take_event(std::string_view line);
    asio::awaitable<void> refuse(std::string target, std::unique_ptr<base::HttpStream> stream);
    // Handles a version that is too old; throws any other error.
    void begin_anew(const ApiError& error);
    void report(const std::string& failure);

    Client& client_;
    base::Clock& clock_;
    base::Random& random_;
    api::Resource resource_;
    ListOptions options_;
    ReflectorTarget& target_;
    ReflectorState state_;
    bool list_wanted_ = false;
    base::TaskGroup* watching_ = nullptr;  // the watch in progress
    bool heard_ = false;                   // the current watch received something
    base::Duration retry_after_{};         // requested by the server in its last refusal
    std::optional<base::TimePoint> last_contact_;
    base::Counter& lists_;
    base::Counter& watches_;
    base::Counter& failures_;
    base::Gauge& objects_;
};

}  // namespace kube
