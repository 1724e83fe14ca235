// The part of Bmc that ends sessions: our own, and those that an earlier process left.
#include "providers/redfish/bmc/bmc.hpp"
#include "providers/redfish/bmc/document.hpp"
#include "providers/redfish/bmc/link.hpp"

namespace providers::redfish {

namespace {

constexpr std::size_t kMostSessions = 32;

}  // namespace

base::HttpRequest bare_request(std::string method, std::string target) {
    base::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.headers.set("Accept", "application/json");
    request.headers.set("OData-Version", "4.0");
    return request;
}

// Deletes sessions of an earlier process that did not log out. If Basic is refused, they expire by
// themselves.
asio::awaitable<void> Bmc::delete_leaked_sessions(std::string target) {
    const std::string tried = "reading the sessions of " + host();
    try {
        const auto listed = co_await send_basic(tried, bare_request("GET", target), Effect::none);
        auto members = links_at(parse_object(listed.body), "Members");
        if (members.size() > kMostSessions) members.resize(kMostSessions);
        for (const auto& member : members) {
            const auto session = target_of(member, wire_.origin(), Origin::any);
            if (session) co_await delete_if_ours(*session);
        }
    } catch (const RedfishError&) {
        if (!access_->is_basic_refused) throw;
    }
}

asio::awaitable<void> Bmc::delete_if_ours(std::string session) {
    try {
        const auto read =
            co_await send_basic("reading a session of " + host(), bare_request("GET", session), Effect::none);
        if (text_at(parse_object(read.body), "Context") != login_.context) co_return;
        co_await send_basic("ending a session of " + host(), bare_request("DELETE", session),
                            Effect::session);
    } catch (const RedfishError& error) {
        // A session that ended meanwhile or may not be read must not affect the others.
        if (error.kind() != ErrorKind::not_found && error.kind() != ErrorKind::forbidden) throw;
    }
}

asio::awaitable<void> Bmc::log_out() {
    const bool had_one = has_session();
    auto request = bare_request("DELETE", access_->session);
    authorize(request);
    access_->token.clear();
    access_->session.clear();
    if (!had_one) co_return;
    try {
        co_await wire_.send("logging out of " + host(), std::move(request), Effect::session);
    } catch (const RedfishError&) {
        co_return;  // the session expires by itself
    }
}

}  // namespace providers::redfish
