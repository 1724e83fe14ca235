// WatchStream is one watch of the in-memory Kubernetes API.
#pragma once
#include <deque>
#include <string>

#include "base/condition_variable.hpp"
#include "test/support/fake_api_resources.hpp"
#include "test/support/fake_api_server.hpp"

namespace fake {

class WatchStream final : public base::HttpStream {
public:
    // Starts where the query says: after a resourceVersion, or with the present state.
    WatchStream(ApiServer& server, Target target, ResourceKind kind, Selector selector,
                base::Duration idle_timeout);
    ~WatchStream() override;

    const base::HttpResponse& head() const override { return head_; }
    asio::awaitable<std::optional<std::string>> read() override;

    void offer(const Change& change);
    void end();
    void lose_connection();

private:
    struct Line {
        base::TimePoint due;
        std::string text;
    };
    void begin();
    void push(const char* type, const std::string& object);
    void push_bookmark(std::uint64_t version, bool initial_events_end);
    void plan_bookmark();
    base::TimePoint next_wake() const;

    ApiServer& server_;
    Target target_;
    ResourceKind kind_;
    Selector selector_;
    base::Duration idle_timeout_;
    base::HttpResponse head_;
    base::ConditionVariable changed_;
    std::deque<Line> lines_;
    std::uint64_t from_ = 0;       // the watch leaves out earlier changes
    std::uint64_t seen_ = 0;       // the last change of the resource, selected or not
    std::uint64_t told_from_ = 0;  // the version at which the watch began
    base::TimePoint ends_at_ = base::TimePoint::max();
    base::TimePoint bookmark_at_ = base::TimePoint::max();
    bool ended_ = false;
    bool is_broken_ = false;
};

}  // namespace fake
