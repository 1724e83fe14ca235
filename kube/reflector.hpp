// Keeps a copy of the objects of one kind current: lists and watches, and tells its target what it hears.
// Untyped, so that it is compiled once; Informer<T> is the target.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/meta.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "kube/client.hpp"
#include "kube/reflector_state.hpp"

namespace kube {

// Reads one page of a list as its bytes arrive.
class PageReader {
public:
    PageReader() = default;
    PageReader(const PageReader&) = delete;
    PageReader& operator=(const PageReader&) = delete;
    virtual ~PageReader() = default;
    // Throw if it is no list of the kind expected.
    virtual void consume(std::string_view bytes) = 0;
    virtual api::ListMeta finish() = 0;
};

struct WatchNews {
    std::string resource_version;
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

    // Until cancelled; failures are logged, counted and tried again with backoff (0.8 s to 30 s).
    asio::awaitable<void> run();

private:
    asio::awaitable<void> perform(ReflectorState::Action action);
    asio::awaitable<void> list_page(std::string continue_token);
    asio::awaitable<void> watch(std::string resource_version);
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
    bool heard_ = false;  // something, in the current watch
    base::Counter& lists_;
    base::Counter& watches_;
    base::Counter& failures_;
    base::Gauge& objects_;
};

}  // namespace kube
