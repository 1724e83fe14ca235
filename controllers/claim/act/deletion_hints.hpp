// Collects hints at who deleted a Node: an Event of the cloud node controller, a taint that it removes, and
// the programs that write to Nodes. Only the API server's audit log proves it.
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
    // Returns a sentence about the claim's Node, even if nothing is known. It reads Events and another Node;
    // missing rights to read them are no failure.
    asio::awaitable<std::string> about(ClaimPointer claim);

private:
    asio::awaitable<std::string> events_about(std::string node);
    // Returns which programs write to Nodes. The API server tells that of a Node that exists, so another one
    // is read, if possible one of a pool.
    asio::awaitable<std::string> writers_of_nodes(ClaimPointer claim);
    std::string traces_of(const std::string& node) const;

    std::deque<std::pair<std::string, std::string>> traces_;  // by name of the Node, the latest first
};

}  // namespace controllers::claim
