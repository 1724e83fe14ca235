// Keeps a copy of the objects of one kind current: lists and watches, and tells its target what it hears.
// Untyped, so that it is compiled once; Informer<T> is the target.
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

// What a reflector does next, without I/O: list page by page, then watch from there; resume a watch that
// ended, list again when the server no longer has that version, wait after failures.
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
        int failures = 0;  // in a row
        bool operator==(const Pause&) const = default;
    };
    using Action = std::variant<ListPage, Watch, Pause>;

    Action next() const;

    // What came of it:
    void paused() { must_pause_ = false; }
    void page_received(const api::ListMeta& page);
    // An object's change or a bookmark.
    void event_received(std::string resource_version);
    // In good order. One that told nothing and ended at once counts as a failure, else we would spin.
    void watch_ended(bool at_once);
    // 410: the continue token or the version to watch from is too old.
    void expired();
    void failed();
    // What the server had was replaced by something else: whatever was planned, a new list comes first.
    void list_anew();

    int failures() const { return failures_; }

private:
    bool listing_ = true;
    bool must_pause_ = false;
    std::string continue_token_;
    std::string resource_version_;
    // Only a watch that works forgets them: a list that succeeds may be followed by a watch that never does.
    int failures_ = 0;
};

struct WatchNews {
    std::string resource_version;  // empty: the event has none that can be read
    std::optional<api::Status> error;
};

class ReflectorTarget {
public:
    virtual ~ReflectorTarget() = default;
    // A new list begins: what an unfinished one before it had gathered is dropped. The objects served so far
    // stay.
    virtual void begin_list() = 0;
    // Its items are gathered beside the objects that are served.
    virtual std::unique_ptr<PageReader> read_page() = 0;
    // What was gathered takes the place of what was served; the differences are told.
    virtual void end_list(const std::string& resource_version) = 0;
    // One line of the watch; an error has no effect but on what is returned.
    virtual WatchNews take_event(std::string_view line) = 0;
    virtual std::size_t size() const = 0;
};

class Reflector {
public:
    Reflector(Client& client, base::Clock& clock, base::Random& random, api::Resource resource,
              ListOptions options, ReflectorTarget& target);

    // Until cancelled. Failures are logged, counted and tried again with backoff (0.8 s to 30 s), or when the
    // server asks for it (at most 5 minutes). A watch that stood for 5 s is resumed at once, however it ends;
    // one that says nothing for 75 s is begun anew.
    asio::awaitable<void> run();
    // Ends the present watch or list and begins with a new list: the server's data was restored from a
    // backup, and a watch from a version that it has yet to reach hears nothing.
    void list_anew();
    // When the server last sent a page, an event or bookmark, or agreed to a watch. The objects were current
    // then. nullopt: never.
    std::optional<base::TimePoint> last_contact() const { return last_contact_; }

private:
    asio::awaitable<void> perform(ReflectorState::Action action);
    asio::awaitable<void> list_page(std::string continue_token);
    asio::awaitable<void> watch(std::string resource_version);
    asio::awaitable<void> follow(std::string resource_version);
    // False: the version is too old, and the stream is of no more use.
    bool take_lines(std::string& buffer);
    bool take_event(std::string_view line);
    asio::awaitable<void> refuse(std::string target, std::unique_ptr<base::HttpStream> stream);
    // If the version asked for is too old; throws any other error.
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
    bool heard_ = false;                   // something, in the current watch
    base::Duration retry_after_{};         // what the server asked for with its last refusal
    std::optional<base::TimePoint> last_contact_;
    base::Counter& lists_;
    base::Counter& watches_;
    base::Counter& failures_;
    base::Gauge& objects_;
};

}  // namespace kube
