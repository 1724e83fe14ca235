// How a Bmc authenticates: one session, used for everything; Basic where there are none.
#include <boost/json/serialize.hpp>

#include "api/bytes.hpp"
#include "providers/redfish/bmc/bmc.hpp"
#include "providers/redfish/bmc/document.hpp"
#include "providers/redfish/bmc/link.hpp"

namespace providers::redfish {

namespace {

// iLO refuses good credentials now and then.
constexpr base::Duration kSecondThought = std::chrono::seconds{2};
// So long requests go without a session when the BMC has none left.
constexpr base::Duration kWithoutSession = std::chrono::minutes{10};
constexpr std::size_t kMostSessions = 32;
constexpr int kMostRefusals = 2;
// Sessions that are opened for one request; others of ours may end them where there is room for one only.
constexpr int kMostSessionTries = 3;

base::HttpRequest bare_request(std::string method, std::string target) {
    base::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.headers.set("Accept", "application/json");
    request.headers.set("OData-Version", "4.0");
    return request;
}

bool has_no_sessions(ErrorKind kind) {
    return kind == ErrorKind::not_found || kind == ErrorKind::unsupported || kind == ErrorKind::other ||
           kind == ErrorKind::invalid_request;
}

}  // namespace

bool Bmc::is_suspended() const {
    return suspended_until_ && wire_.now() < *suspended_until_;
}

void Bmc::suspend(const std::string& tried) {
    suspended_until_ = clock().now() + kSuspension;
    token_.clear();
    Complaint complaint;
    complaint.kind = ErrorKind::unauthorized;
    complaint.message = "the BMC refused user " + login_.username +
                        "; nothing more is sent to it, so that the account is not locked, until username or "
                        "password in its credentials Secret change";
    complaint.retry_after = kSuspension;
    throw RedfishError(tried, std::move(complaint));
}

void Bmc::authorize(base::HttpRequest& request) const {
    request.headers.set("X-Auth-Token", token_);
}

asio::awaitable<base::HttpResponse> Bmc::send_basic(std::string tried, base::HttpRequest request,
                                                    Effect effect) {
    request.headers.set("Authorization",
                        "Basic " + api::Bytes{login_.username + ":" + login_.password}.str());
    auto response = co_await wire_.send(tried, request, effect);
    if (response.status == 401 && is_proven_ && effect == Effect::none) {
        note_quirk("Unauthorized");
        co_await clock().sleep_for(kSecondThought);
        response = co_await wire_.send(tried, request, effect);
    }
    if (response.status == 401) note_refusal(tried);
    if (response.status < 400) prove();
    co_return response;
}

void Bmc::note_refusal(const std::string& tried) {
    ++account_->refusals;
    suspend(tried);
}

void Bmc::prove() {
    is_proven_ = true;
    account_->is_proven = true;
}

asio::awaitable<base::HttpResponse> Bmc::authorized(const std::string& tried, base::HttpRequest request,
                                                    Effect effect) {
    if (is_suspended()) suspend(tried);
    if (account_->is_proven) co_return co_await authorized_in_turn(tried, std::move(request), effect);
    co_await root();  // one that does not answer keeps no others waiting
    const auto turn = co_await account_->turns.enter("");
    if (!account_->is_proven && account_->refusals >= kMostRefusals) {
        Complaint complaint;
        complaint.kind = ErrorKind::unauthorized;
        complaint.message =
            "user " + login_.username +
            " is not tried here, so that the account is not locked: " + std::to_string(account_->refusals) +
            " BMCs refused it and none accepted it; correct username or password in its "
            "credentials Secret";
        throw RedfishError(tried, std::move(complaint));
    }
    co_return co_await authorized_in_turn(tried, std::move(request), effect);
}

asio::awaitable<base::HttpResponse> Bmc::authorized_in_turn(const std::string& tried,
                                                            base::HttpRequest request, Effect effect) {
    for (int tries = 0; tries < kMostSessionTries; ++tries) {
        co_await log_in();
        if (token_.empty()) co_return co_await send_basic(tried, std::move(request), effect);
        const auto token = token_;
        auto sent = request;
        authorize(sent);
        auto response = co_await wire_.send(tried, std::move(sent), effect);
        if (response.status != 401) {
            prove();
            co_return response;
        }
        // The session has ended; a request refused with 401 has done nothing. Another one may be open again.
        if (token_ == token) token_.clear();
    }
    // Opening them proves the credentials right.
    Complaint complaint;
    complaint.kind = ErrorKind::busy;
    complaint.message = "not now: the BMC ended " + std::to_string(kMostSessionTries) +
                        " sessions at once; somebody else may need them";
    throw RedfishError(tried, std::move(complaint));
}

asio::awaitable<base::HttpResponse> Bmc::post_session(std::string target, bool with_context) {
    json::object body;
    body["UserName"] = login_.username;
    body["Password"] = login_.password;
    if (with_context) body["Context"] = login_.context;
    auto request = bare_request("POST", std::move(target));
    request.headers.set("Content-Type", "application/json");
    request.body = json::serialize(body);
    const std::string tried = "logging in to " + host();
    co_return co_await wire_.send(tried, std::move(request), Effect::session);
}

asio::awaitable<void> Bmc::log_in() {
    const auto pass = co_await log_ins_.enter("");
    if (wire_.needs_probe()) co_await root();
    const bool goes_without = basic_until_ && clock().now() < *basic_until_;
    if (!token_.empty() || way_ == Way::basic || goes_without) co_return;
    const std::string tried = "logging in to " + host();
    const auto service = co_await root();
    auto link = link_at(object_at(service, "Links"), "Sessions");
    if (link.empty() && !link_at(service, "SessionService").empty())
        link = link_at(service, "SessionService") + "/Sessions";
    const auto target = target_of(link, wire_.origin(), Origin::any);
    if (!target) {
        way_ = Way::basic;
        co_return;
    }
    for (bool may_clean = true;;) {
        const auto response = co_await post_session(*target, sends_context_);
        const auto token = response.headers.find("X-Auth-Token");
        if (response.status < 300 && token) {
            const auto location = response.headers.find("Location");
            token_ = std::string(*token);
            session_ = location ? target_of(std::string(*location), wire_.origin(), Origin::any).value_or("")
                                : link_at(parse_object("{\"s\":" + response.body + "}"), "s");
            way_ = Way::session;
            basic_until_.reset();
            prove();
            co_return;
        }
        const auto complaint = complain(response);
        if (response.status < 300) {
            way_ = Way::basic;
            co_return;
        }
        if (complaint.kind == ErrorKind::unauthorized) note_refusal(tried);
        if (sends_context_ && complaint.kind == ErrorKind::invalid_request) {
            sends_context_ = false;
        } else if (complaint.kind == ErrorKind::session_limit && may_clean) {
            may_clean = false;
            note_quirk("SessionLimitExceeded");
            co_await delete_leaked_sessions(*target);
        } else if (complaint.kind == ErrorKind::session_limit) {
            basic_until_ = clock().now() + kWithoutSession;
            co_return;
        } else if (has_no_sessions(complaint.kind)) {
            way_ = Way::basic;
            co_return;
        } else {
            throw RedfishError(tried, complaint);
        }
    }
}

// Of an earlier run of ours that ended without logging out.
asio::awaitable<void> Bmc::delete_leaked_sessions(std::string target) {
    const std::string tried = "reading the sessions of " + host();
    const auto listed = co_await send_basic(tried, bare_request("GET", target), Effect::none);
    auto members = links_at(parse_object(listed.body), "Members");
    if (members.size() > kMostSessions) members.resize(kMostSessions);
    for (const auto& member : members) {
        const auto session = target_of(member, wire_.origin(), Origin::any);
        if (!session) continue;
        try {
            const auto read = co_await send_basic(tried, bare_request("GET", *session), Effect::none);
            if (text_at(parse_object(read.body), "Context") != login_.context) continue;
            co_await send_basic("ending a session of " + host(), bare_request("DELETE", *session),
                                Effect::session);
        } catch (const RedfishError& error) {
            // One that ended meanwhile, or may not be read, must not keep the others.
            if (error.kind() != ErrorKind::not_found && error.kind() != ErrorKind::forbidden) throw;
        }
    }
}

asio::awaitable<void> Bmc::log_out() {
    if (!has_session()) co_return;
    auto request = bare_request("DELETE", session_);
    authorize(request);
    token_.clear();
    session_.clear();
    try {
        co_await wire_.send("logging out of " + host(), std::move(request), Effect::session);
    } catch (const RedfishError&) {
        co_return;  // the session ends by itself after a while
    }
}

}  // namespace providers::redfish
