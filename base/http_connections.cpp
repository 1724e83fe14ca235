#include "base/http_connections.hpp"

#include <algorithm>
#include <tuple>

namespace base {

namespace {

using Stage = HttpConnection::Stage;

std::size_t unread_of(const HttpConnection& connection) {
    return connection.closed ? 0 : connection.answer_bytes - connection.taken_bytes;
}

// Ranks connections: when there are too many, the one with the greatest rank is closed first.
auto burden_of(const HttpConnection& connection, std::size_t of_client, TimePoint now) {
    const double seconds = std::chrono::duration<double>(now - connection.since).count();
    const bool takes = connection.stage == Stage::takes;
    const double slowness = takes ? seconds / static_cast<double>(connection.taken_bytes + 1) : seconds;
    const int rank = connection.stage == Stage::idle   ? 3
                     : connection.stage == Stage::asks ? 2
                     : takes                           ? 1
                                                       : 0;
    return std::tuple(!connection.comes_first, of_client, rank, slowness);
}

}  // namespace

std::string client_of(const asio::ip::address& address) {
    if (address.is_v4()) return address.to_string();
    const auto v6 = address.to_v6();
    if (v6.is_v4_mapped()) return asio::ip::make_address_v4(asio::ip::v4_mapped, v6).to_string();
    constexpr std::size_t kNetworkBytes = 8;
    auto bytes = v6.to_bytes();
    std::fill(bytes.begin() + kNetworkBytes, bytes.end(), static_cast<unsigned char>(0));
    return asio::ip::address_v6(bytes).to_string();
}

template <class Predicate>
HttpConnection* HttpConnections::first_to_go(Predicate may_go) {
    const auto now = clock_.now();
    HttpConnection* worst = nullptr;
    for (auto& connection : connections_) {
        if (connection.closed || !may_go(connection)) continue;
        const auto burden = [&](const HttpConnection& each) {
            return burden_of(each, clients_.at(each.client), now);
        };
        if (!worst || burden(connection) > burden(*worst)) worst = &connection;
    }
    return worst;
}

HttpConnections::Position HttpConnections::add(asio::ip::tcp::socket socket, std::size_t most_buffered) {
    boost::system::error_code gone;  // the first read will show an error
    const auto peer = socket.remote_endpoint(gone);
    auto client = gone ? std::string() : client_of(peer.address());
    const auto known = clients_.find(client);
    if (known != clients_.end() && known->second >= limits_.connections_of_client) {
        close(*first_to_go([&client](const auto& each) { return each.client == client; }));
    } else if (open_ >= limits_.connections) {
        close(*first_to_go([](const auto&) { return true; }));
    }
    ++open_;
    ++clients_[client];
    return connections_.emplace(connections_.end(), std::move(socket), std::move(client), most_buffered,
                                clock_.now());
}

void HttpConnections::remove(Position connection) {
    close(*connection);
    connections_.erase(connection);
}

void HttpConnections::begin_request(Position connection) {
    const auto kept = std::max<std::size_t>(2, limits_.connections / 4);
    if (connection->stage == Stage::idle && busy() + kept >= limits_.connections) {
        auto* slowest = first_to_go([](const auto& each) { return each.stage != Stage::idle; });
        if (slowest) close(*slowest);
    }
    enter(*connection, Stage::asks);
}

void HttpConnections::begin_answer(Position connection, std::size_t bytes) {
    while (unread() + bytes > limits_.unread_bytes) {
        auto* slowest = first_to_go([](const auto& each) { return unread_of(each) > 0; });
        if (!slowest) break;
        close(*slowest);
    }
    enter(*connection, Stage::takes);
    connection->answer_bytes = bytes;
}

void HttpConnections::enter(HttpConnection& connection, Stage stage) {
    connection.stage = stage;
    connection.since = clock_.now();
    connection.answer_bytes = connection.taken_bytes = 0;
}

void HttpConnections::close(HttpConnection& connection) {
    connection.stream.close();
    if (connection.handler) connection.handler->stop();
    if (std::exchange(connection.closed, true)) return;
    --open_;
    const auto client = clients_.find(connection.client);
    if (--client->second == 0) clients_.erase(client);
}

std::size_t HttpConnections::busy() const {
    return static_cast<std::size_t>(std::ranges::count_if(connections_, [](const auto& connection) {
        return !connection.closed && connection.stage != Stage::idle;
    }));
}

std::size_t HttpConnections::unread() const {
    std::size_t bytes = 0;
    for (const auto& connection : connections_) bytes += unread_of(connection);
    return bytes;
}

void HttpConnections::close_idle() {
    for (auto& connection : connections_) {
        if (connection.stage == Stage::idle || connection.stage == Stage::asks) close(connection);
    }
}

void HttpConnections::close_all() {
    for (auto& connection : connections_) close(connection);
}

}  // namespace base
