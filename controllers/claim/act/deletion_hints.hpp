// Collects hints at who deleted a Node: an Event of the cloud node controller, and a taint that it removes.
// Only the API server's audit log proves it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <string>
#include <utility>

#include "controllers/cache/context.hpp"

namespace controllers::claim {

// Returns what the Node itself showed when it was last seen, as text for people; empty: nothing.
std::string last_traces(const api::Node& node);

class DeletionHints : InContext {
public:
    explicit DeletionHints(const Context& context) : InContext(context) {}

    // Starts to remember the traces of deleted Nodes. Must be called before the informers run.
    void subscribe();
    // Returns a sentence, even if nothing is known. It reads Events; missing
    // rights to read them are no failure.
    asio::awaitable<std::string> about(std::string node);

private:
    asio::awaitable<std::string> events_about(std::string node);
    std::string traces_of(const std::string& node) const;

    std::deque<std::pair<std::string, std::string>> traces_;  // by name of the Node, the latest first
};

}  // namespace controllers::claim
