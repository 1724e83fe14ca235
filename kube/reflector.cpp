#include "kube/reflector.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/url.hpp"
#include "kube/paths.hpp"

namespace kube {

namespace {

constexpr base::Backoff kBackoff{std::chrono::milliseconds(800), std::chrono::seconds(30)};
constexpr base::Duration kListTimeout = std::chrono::seconds(60);  // without data
// The server ends a watch after this time. The spread keeps watches from returning simultaneously.
constexpr int kWatchSeconds = 240;
constexpr int kWatchSpreadSeconds = 60;
// A connection that is silent for this long may be dead. The server sends a bookmark about once a minute for
// any kind. https://kubernetes.io/docs/reference/using-api/api-concepts/#watch-bookmarks
constexpr base::Duration kSilence = std::chrono::seconds(75);
// A watch that lasted this long was useful, however its connection ends. Load balancers close quiet ones.
constexpr base::Duration kStood = std::chrono::seconds(5);
constexpr base::Duration kAtOnce = std::chrono::seconds(1);

constexpr std::size_t kMostBuffered = 256 * 1024;

base::Counter& counter(Client& client, const char* name, const char* help, const api::Resource& resource) {
    return client.metrics().counter(name, help, {"resource"}).with({std::string(resource.plural)});
}

asio::awaitable<std::string> read_all(base::HttpStream& stream) {
    std::string body;
    for (;;) {
        auto piece = co_await stream.read();
        if (!piece) co_return body;
        body += *piece;
    }
}

}  // namespace

Reflector::Reflector(Client& client, base::Clock& clock, base::Random& random, api::Resource resource,
                     ListOptions options, ReflectorTarget& target)
    : client_(client),
      clock_(clock),
      random_(random),
      resource_(resource),
      options_(std::move(options)),
      target_(target),
      lists_(counter(client, "kubenodesmith_informer_lists_total", "Lists started, by resource", resource)),
      watches_(
          counter(client, "kubenodesmith_informer_watches_total", "Watches started, by resource", resource)),
      failures_(counter(client, "kubenodesmith_informer_failures_total",
                        "Lists and watches that failed, by resource", resource)),
      objects_(
          client.metrics()
              .gauge("kubenodesmith_informer_objects", "Objects held in memory, by resource", {"resource"})
              .with({std::string(resource.plural)})) {}

asio::awaitable<void> Reflector::run() {
    for (;;) {
        std::string failure;
        if (std::exchange(list_wanted_, false)) state_.list_anew();
        try {
            co_await perform(state_.next());
            objects_.set(static_cast<double>(target_.size()));
            continue;
        } catch (const ApiError& error) {
            failure = error.what();
            retry_after_ = error.pause_wanted();
        } catch (const std::exception& error) {
            failure = error.what();
        }
        auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none) {
            throw boost::system::system_error(asio::error::operation_aborted);
        }
        state_.failed();
        report(failure);
    }
}

void Reflector::report(const std::string& failure) {
    failures_.add();
    base::log::warning("Reading objects failed, trying again",
                       {{"resource", resource_.plural}, {"failures", state_.failures()}, {"error", failure}});
}

asio::awaitable<void> Reflector::perform(ReflectorState::Action action) {
    if (auto* page = std::get_if<ReflectorState::ListPage>(&action)) {
        co_await list_page(std::move(page->continue_token));
    } else if (auto* watching = std::get_if<ReflectorState::Watch>(&action)) {
        co_await watch(std::move(watching->resource_version));
    } else {
        const auto wanted = std::exchange(retry_after_, base::Duration::zero());
        const auto failures = std::get<ReflectorState::Pause>(action).failures;
        co_await clock_.sleep_for(std::max(wanted, kBackoff.after(failures, random_)));
        state_.paused();
    }
}

asio::awaitable<void> Reflector::list_page(std::string continue_token) {
    std::string parameters = "limit=500";
    if (continue_token.empty()) {
        lists_.add();
        target_.begin_list();
    } else {
        parameters += "&continue=" + base::percent_encode(continue_token);
    }
    auto target = list_target(resource_, options_, parameters);
    auto stream = co_await client_.open(target, kListTimeout);
    if (stream->head().status != 200) {
        co_await refuse(std::move(target), std::move(stream));
        co_return;
    }
    auto reader = target_.read_page();
    for (;;) {
        auto piece = co_await stream->read();
        if (!piece) break;
        reader->consume(*piece);
    }
    auto page = reader->finish();
    last_contact_ = clock_.now();
    if (page.continue_.empty()) target_.end_list(page.resourceVersion);
    state_.page_received(page);
}

void Reflector::list_anew() {
    list_wanted_ = true;
    if (watching_) watching_->stop();
}

asio::awaitable<void> Reflector::watch(std::string resource_version) {
    base::TaskGroup group(co_await asio::this_coro::executor);
    struct Watching {
        Reflector& reflector;
        ~Watching() { reflector.watching_ = nullptr; }
    } watching{*this};
    watching_ = &group;
    group.spawn(follow(std::move(resource_version)));
    co_await group.join();
}

asio::awaitable<void> Reflector::follow(std::string resource_version) {
    watches_.add();
    const std::chrono::seconds lifetime(kWatchSeconds + static_cast<int>(random_.below(kWatchSpreadSeconds)));
    auto target =
        list_target(resource_, options_,
                    "watch=1&allowWatchBookmarks=true&timeoutSeconds=" + std::to_string(lifetime.count()) +
                        "&resourceVersion=" + base::percent_encode(resource_version));
    heard_ = false;
    auto stream = co_await client_.open(target, kSilence);
    if (stream->head().status != 200) {
        co_await refuse(std::move(target), std::move(stream));
        co_return;
    }
    // Changes since that version are sent immediately.
    const auto start = clock_.now();
    last_contact_ = start;
    try {
        std::string buffer;
        for (;;) {
            auto piece = co_await stream->read();
            if (!piece) break;
            buffer += *piece;
            if (!take_lines(buffer)) co_return;
        }
    } catch (const base::TransportError& error) {
        if (clock_.now() - start < kStood) throw;
        base::log::debug("A watch lost its connection and is resumed",
                         {{"resource", resource_.plural}, {"reason", error.what()}});
    }
    state_.watch_ended(!heard_ && clock_.now() - start < kAtOnce);
}

bool Reflector::take_lines(std::string& buffer) {
    std::size_t taken = 0;
    for (;;) {
        const auto end = buffer.find('\n', taken);
        if (end == std::string::npos) break;
        const auto line = std::string_view(buffer).substr(taken, end - taken);
        taken = end + 1;
        if (!line.empty() && !take_event(line)) return false;
    }
    buffer.erase(0, taken);
    // Each kind has a buffer, which should shrink after a large object.
    if (buffer.capacity() > kMostBuffered && buffer.size() < kMostBuffered / 2) buffer.shrink_to_fit();
    objects_.set(static_cast<double>(target_.size()));
    return true;
}

bool Reflector::take_event(std::string_view line) {
    auto news = target_.take_event(line);
    last_contact_ = clock_.now();
    if (news.error) {
        begin_anew(error_of("watching " + std::string(resource_.plural), *news.error));
        return false;
    }
    heard_ = true;
    if (!news.resource_version.empty()) state_.event_received(std::move(news.resource_version));
    return true;
}

// Handles an answer that is no list or watch.
asio::awaitable<void> Reflector::refuse(std::string target, std::unique_ptr<base::HttpStream> stream) {
    auto answer = stream->head();
    answer.body = co_await read_all(*stream);
    begin_anew(error_of("GET " + target.substr(0, target.find('?')), answer));
}

void Reflector::begin_anew(const ApiError& error) {
    bool from_the_future = false;  // the server's data were restored from a backup
    for (const auto& cause : error.causes) from_the_future |= cause.reason == "ResourceVersionTooLarge";
    if (!error.is_expired() && !from_the_future) throw error;
    base::log::info("Listing objects again", {{"resource", resource_.plural}, {"reason", error.message}});
    state_.expired();
}

ReflectorState::Action ReflectorState::next() const {
    if (must_pause_) return Pause{failures_};
    if (listing_) return ListPage{continue_token_};
    return Watch{resource_version_};
}

void ReflectorState::page_received(const api::ListMeta& page) {
    continue_token_ = page.continue_;
    resource_version_ = page.resourceVersion;
    listing_ = !continue_token_.empty();
}

void ReflectorState::event_received(std::string resource_version) {
    resource_version_ = std::move(resource_version);
    failures_ = 0;
}

void ReflectorState::watch_ended(bool at_once) {
    if (at_once) return failed();
    failures_ = 0;
}

void ReflectorState::expired() {
    listing_ = true;
    continue_token_.clear();
    // The first time is no failure. A second one before any event is.
    must_pause_ = failures_++ > 0;
}

void ReflectorState::list_anew() {
    listing_ = true;
    continue_token_.clear();
}

void ReflectorState::failed() {
    ++failures_;
    must_pause_ = true;
}

}  // namespace kube
