#include "test/support/fake_api_watch.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>

namespace fake {
namespace {

// The server sends a bookmark each minute and shortly before the end, if the resource has changed since the
// watch began. Source: k8s.io/apiserver/pkg/storage/cacher/cache_watcher.go.
constexpr auto kBookmarkInterval = std::chrono::minutes{1};
constexpr auto kBookmarkBeforeEnd = std::chrono::seconds{2};

}  // namespace

WatchStream::WatchStream(ApiServer& server, Target target, ResourceKind kind, Selector selector,
                         base::Duration idle_timeout)
    : server_(server),
      target_(std::move(target)),
      kind_(std::move(kind)),
      selector_(std::move(selector)),
      idle_timeout_(idle_timeout),
      changed_(server.executor()) {
    head_.status = 200;
    head_.headers.set("Content-Type", "application/json");
    auto now = server_.clock().now();
    auto seconds = target_.get("timeoutSeconds");
    if (!seconds.empty()) ends_at_ = now + std::chrono::seconds{std::stoll(seconds)};
    plan_bookmark();
    server_.watches_.push_back(this);
    begin();
    told_from_ = seen_;
}

WatchStream::~WatchStream() {
    server_.watches_.remove(this);
}

void WatchStream::begin() {
    auto& store = server_.store();
    auto version = target_.get("resourceVersion");
    bool initial_events = target_.flag("sendInitialEvents");
    if (initial_events || version.empty() || version == "0") {
        for (const auto& object : store.list(target_.resource, target_.namespace_)) {
            if (selector_.matches(object->object())) push("ADDED", object->text());
        }
        if (initial_events) push_bookmark(store.version(), true);
        return;
    }
    const auto from = std::stoull(version);
    from_ = from;
    if (from < store.compacted()) {
        auto gone = status_response(410, "Expired", "too old resource version: " + version);
        push("ERROR", gone.body);
        ended_ = true;
        return;
    }
    for (const auto& change : store.history()) {
        if (change.version > from) offer(change);
    }
}

void WatchStream::offer(const Change& change) {
    if (ended_ || change.version <= from_ || change.key.resource != target_.resource) return;
    seen_ = change.version;
    if (!target_.namespace_.empty() && change.key.namespace_ != target_.namespace_) return;
    bool was = change.before && selector_.matches(change.before->object());
    bool is = change.after && selector_.matches(change.after->object());
    if (is) {
        push(was ? "MODIFIED" : "ADDED", change.after->text());
    } else if (was) {
        // The event shows the new state of an object that left the selection.
        push("DELETED", change.last->text());
    }
}

void WatchStream::end() {
    ended_ = true;
    changed_.notify_all();
}

void WatchStream::lose_connection() {
    is_broken_ = true;
    changed_.notify_all();
}

void WatchStream::push(const char* type, const std::string& object) {
    auto line = std::string(R"({"type":")") + type + R"(","object":)" + object + "}\n";
    lines_.push_back({server_.clock().now() + server_.options().watch_delay, std::move(line)});
    changed_.notify_all();
}

void WatchStream::push_bookmark(std::uint64_t version, bool initial_events_end) {
    json::object metadata{{"resourceVersion", std::to_string(version)}};
    if (initial_events_end) metadata["annotations"] = {{"k8s.io/initial-events-end", "true"}};
    json::object object{{"metadata", std::move(metadata)}};
    object["kind"] = kind_.kind;
    object["apiVersion"] = target_.group.empty() ? target_.version : target_.group + "/" + target_.version;
    push("BOOKMARK", json::serialize(object));
}

void WatchStream::plan_bookmark() {
    if (!target_.flag("allowWatchBookmarks")) return;
    auto now = server_.clock().now();
    bookmark_at_ = now + kBookmarkInterval;
    bool bounded = ends_at_ != base::TimePoint::max() && ends_at_ - kBookmarkBeforeEnd > now;
    if (bounded) bookmark_at_ = std::min(bookmark_at_, ends_at_ - kBookmarkBeforeEnd);
}

base::TimePoint WatchStream::next_wake() const {
    auto wake = std::min(ends_at_, bookmark_at_);
    return lines_.empty() ? wake : std::min(wake, lines_.front().due);
}

asio::awaitable<std::optional<std::string>> WatchStream::read() {
    auto& clock = server_.clock();
    auto idle_at = clock.now() + idle_timeout_;
    for (;;) {
        if (is_broken_) throw base::TransportError("watch: connection reset", true);
        auto now = clock.now();
        if (now >= bookmark_at_ && !ended_) {
            if (seen_ > told_from_) push_bookmark(seen_, false);
            plan_bookmark();
        }
        std::string text;
        while (!lines_.empty() && lines_.front().due <= now) {
            text += lines_.front().text;
            lines_.pop_front();
        }
        if (!text.empty()) co_return text;
        if ((ended_ && lines_.empty()) || now >= ends_at_) co_return std::nullopt;
        if (now >= idle_at) throw base::TransportError("watch: nothing came for too long", true);
        co_await changed_.wait_until(clock, std::min(next_wake(), idle_at));
    }
}

}  // namespace fake
