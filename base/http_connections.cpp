#include "base/http_connections.hpp"

#include <algorithm>

namespace base {

bool HttpConnections::make_room() {
    if (connections_.size() - closed_ < most_) return true;
    const auto idle = std::ranges::find_if(
        connections_, [](const auto& connection) { return !connection.answering && !connection.closed; });
    if (idle == connections_.end()) return false;
    idle->closed = true;
    ++closed_;
    idle->stream.close();
    return true;
}

HttpConnections::Position HttpConnections::add(asio::ip::tcp::socket socket) {
    return connections_.emplace(connections_.end(), std::move(socket));
}

void HttpConnections::remove(Position connection) {
    if (connection->closed) --closed_;
    connections_.erase(connection);
}

void HttpConnections::end_answer(Position connection) {
    connection->answering = false;
    connections_.splice(connections_.end(), connections_, connection);
}

void HttpConnections::close_idle() {
    for (auto& connection : connections_) {
        if (!connection.answering) connection.stream.close();
    }
}

void HttpConnections::close_all() {
    for (auto& connection : connections_) connection.stream.close();
}

}  // namespace base
