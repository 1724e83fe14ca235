// Collects what hints at who deleted a Node: an Event of the cloud node controller, and a taint that such a
// controller takes off. Nothing in a cluster but the API server's audit log proves it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <deque>
#include <string>
#include <utility>

#include "controllers/cache/context.hpp"

namespace controllers::claim {

// Returns what the Node itself showed when it was last seen, for people; empty: nothing.
std::string last_traces(const api::Node& node);

class DeletionHints : InContext {
public:
    explicit DeletionHints(const Context& context) : InContext(context) {}

    // Remembers from now on what deleted Nodes showed; before the informers run.
    void subscribe();
    // Returns a sentence, also if nothing is known. Reads Events; that they may not be read is no failure.
    asio::awaitable<std::string> about(std::string node);

private:
    asio::awaitable<std::string> events_about(std::string node);
    std::string traces_of(const std::string& node) const;

    std::deque<std::pair<std::string, std::string>> traces_;  // by name of the Node, the latest first
};

}  // namespace controllers::claim
