#include "providers/redfish/bmc/bmc_access.hpp"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>

#include "api/bytes.hpp"
#include "base/backoff.hpp"
#include "base/saturating.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/redfish/bmc/document.hpp"
#include "providers/redfish/bmc/link.hpp"

namespace providers::redfish {

namespace {

// Time without a session after the BMC had none left.
constexpr base::Duration kWithoutSession = std::chrono::minutes{10};
// Pause before the next try, if the BMC has no session left and accepts nothing else.
constexpr base::Duration kSessionRetry = std::chrono::seconds{15};
// Limit of sessions opened for one request. If there is room for only one session, our other calls may end
// them.
constexpr int kMostSessionTries = 3;
constexpr std::size_t kMostSessions = 32;

using Way = Access::Way;

bool has_no_sessions(RedfishErrorKind kind) {
    return kind == RedfishErrorKind::not_found || kind == RedfishErrorKind::unsupported;
}

// Reports whether the BMC refuses a session without saying that it has none at all.
bool may_have_no_sessions(RedfishErrorKind kind) {
    return kind == RedfishErrorKind::session_limit || kind == RedfishErrorKind::other ||
           kind == RedfishErrorKind::invalid_request;
}

// Returns the error of a BMC whose sessions are all in use and that refuses Basic.
RedfishError no_session_left(const std::string& tried) {
    return not_now(tried,
                   "not now: the BMC has no session left and accepts no other login; end sessions there that "
                   "nobody needs, such as those of its web interface, or wait until one expires",
                   kSessionRetry);
}

void replace_all(std::string& text, const std::string& part) {
    if (part.empty()) return;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at))
        text.replace(at, part.size(), "***");
}

// Returns a label for metrics. Labels must be few and short, whatever a BMC reports.
std::string vendor_of(const json::object& root) {
    static constexpr std::array<std::string_view, 11> kVendors = {
        "AMI", "ASRock", "Cisco", "Dell",   "Fujitsu",   "Gigabyte",
        "HPE", "Huawei", "Intel", "Lenovo", "Supermicro"};
    auto vendor = text_at(root, "Vendor");
    const auto& oem = object_at(root, "Oem");
    if (vendor.empty() && !oem.empty()) vendor = std::string(oem.begin()->key());
    for (const auto known : kVendors) {
        if (contains_ignoring_case(vendor, known)) return std::string(known);
    }
    return vendor.empty() ? "" : "other";
}

}  // namespace

base::HttpRequest bare_request(std::string method, std::string target) {
    base::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.headers.set("Accept", "application/json");
    request.headers.set("OData-Version", "4.0");
    return request;
}

BmcAccess::BmcAccess(WireOptions options, Login login, std::shared_ptr<Account> account,
                     std::shared_ptr<Access> access, Traffic& traffic)
    : wire_(std::move(options), traffic),
      login_(std::move(login)),
      account_(std::move(account)),
      access_(std::move(access)) {}

void BmcAccess::mask(std::string& text) const {
    replace_all(text, login_.password);
    replace_all(text, access_->token);
    for (const auto& hidden : hidden_) replace_all(text, hidden);
}

void BmcAccess::hide(std::string text) {
    constexpr std::size_t kMost = 8;
    if (text.empty() || std::find(hidden_.begin(), hidden_.end(), text) != hidden_.end()) return;
    hidden_.push_back(std::move(text));
    if (hidden_.size() > kMost) hidden_.pop_front();
}

Complaint BmcAccess::complain(const base::HttpResponse& response) const {
    auto complaint = complaint_of(response);
    mask(complaint.message);
    return complaint;
}

void BmcAccess::note_quirk(const std::string& message) {
    const auto& [namespace_, provider] = wire_.traffic().provider;
    wire_.traffic().retries.with({namespace_, provider, vendor_, message}).add();
}

asio::awaitable<json::object> BmcAccess::root() {
    const bool is_known = root_.has_value() && !wire_.needs_probe();
    if (is_known) co_return *root_;
    const std::string tried = "reading the service root of " + host();
    for (int attempt = 1;; ++attempt) {
        auto request = bare_request("GET", "/redfish/v1/");
        request.headers.set("Accept-Encoding", asks_root_for_identity_ ? "identity" : "gzip");
        const auto response = co_await wire_.send(tried, std::move(request), Effect::none);
        auto complaint = response.status == 200 ? Complaint{} : complain(response);
        if (response.status == 200) {
            try {
                auto service = object_of(tried, response);
                if (!service.empty()) {
                    vendor_ = vendor_of(service);
                    root_ = std::move(service);
                    co_return *root_;
                }
                complaint.message = "the server there is not a Redfish service";
            } catch (const RedfishError& error) {
                complaint = error.complaint;
                complaint.message = "the server there is not a Redfish service: " + complaint.message;
            }
        }
        if (complaint.kind == RedfishErrorKind::not_acceptable && asks_root_for_identity_) {
            asks_root_for_identity_ = false;
            continue;
        }
        const bool may_pass =
            complaint.kind == RedfishErrorKind::busy || complaint.kind == RedfishErrorKind::unreadable;
        const bool again = attempt < kReadAttempts && may_pass &&
                           complaint.retry_after.value_or(base::Duration::zero()) <= kLongestReadWait;
        if (!again) throw RedfishError(tried, complaint);
        co_await clock().sleep_for(complaint.retry_after.value_or(kReadBackoff.after(attempt)));
    }
}

// Returns the body as an object. Errors are in the object, so an answer without one is an error, not an empty
// resource.
json::object BmcAccess::object_of(const std::string& tried, const base::HttpResponse& response) const {
    Complaint complaint;
    complaint.kind = RedfishErrorKind::unreadable;
    const auto encoding = response.headers.find("Content-Encoding");
    const bool is_encoded = encoding && !equal_ignoring_case(*encoding, "identity") && !encoding->empty();
    if (is_encoded) {
        complaint.message = "the answer is compressed (" + foreign::shown(std::string(*encoding)) +
                            ") and cannot be read: it is damaged, longer than 2 MiB, or not compressed "
                            "with gzip";
        throw RedfishError(tried, std::move(complaint));
    }
    auto object = read_object(response.body, complaint.message);
    if (!object) throw RedfishError(tried, std::move(complaint));
    return std::move(*object);
}

void BmcAccess::remember(const LoginHistory& history) {
    guard().remember(history);
    if (history.are_sessions_off && access_->way == Way::undecided) give_up_sessions();
}

void BmcAccess::try_again() {
    guard().try_again();
    if (!access_->are_sessions_off) return;
    access_->way = Way::undecided;  // somebody may have switched them on
    access_->are_sessions_off = false;
    access_->is_service_read = false;
}

asio::awaitable<void> BmcAccess::note_refusal(std::string tried) {
    access_->token.clear();
    if (access_->trust.is_proven && access_->trust.refusals + 1 < kMostDoubts) note_quirk("Unauthorized");
    const auto pause = guard().note_refusal(tried);
    co_await clock().sleep_for(pause);
}

void BmcAccess::give_up_sessions() {
    access_->way = Way::basic;
    access_->are_sessions_off = true;
}

void BmcAccess::authorize(base::HttpRequest& request) const {
    request.headers.set("X-Auth-Token", access_->token);
}

base::HttpRequest BmcAccess::with_password(base::HttpRequest request) const {
    request.headers.set("Authorization",
                        "Basic " + api::Bytes{login_.username + ":" + login_.password}.str());
    return request;
}

// Reports whether Basic is only a fallback. This BMC seems to want sessions, so a refusal of Basic does not
// disprove the password.
bool BmcAccess::is_basic_a_guess() const {
    return access_->way != Way::basic;
}

// Returns the target of the session service; nullopt: the BMC has none.
asio::awaitable<std::optional<std::string>> BmcAccess::session_service() {
    const auto service = co_await root();
    co_return target_of(link_at(service, "SessionService"), wire_.origin(), Origin::any);
}

asio::awaitable<base::HttpResponse> BmcAccess::read_session_service(std::string target) {
    co_return co_await wire_.send("reading the session service of " + host(),
                                  with_password(bare_request("GET", std::move(target))), Effect::none);
}

// Reports whether Basic may read the session service, which requires a login.
asio::awaitable<bool> BmcAccess::is_basic_accepted() {
    const auto target = co_await session_service();
    if (!target) co_return false;
    const auto response = co_await read_session_service(*target);
    co_return response.status == 200;
}

RedfishError BmcAccess::forbidden(const std::string& tried) const {
    Complaint complaint;
    complaint.kind = RedfishErrorKind::forbidden;
    complaint.message = "the BMC refuses this resource to user " + login_.username + " (HTTP status 401)";
    return RedfishError(tried, std::move(complaint));
}

asio::awaitable<base::HttpResponse> BmcAccess::send_basic(std::string tried, base::HttpRequest request,
                                                          Effect effect) {
    while (true) {
        guard().spare_account(tried);
        auto response = co_await wire_.send(tried, with_password(request), effect);
        if (response.status < 400) {
            guard().note_login();
            note_accepted(request.target);
        }
        if (response.status != 401) co_return response;
        if (access_->forbidden.contains(request.target)) throw forbidden(tried);
        if (is_basic_a_guess()) {
            // The 401 may concern the resource only.
            const bool is_accepted = co_await is_basic_accepted();
            if (is_accepted) throw forbidden(tried);
            access_->is_basic_refused = true;
            access_->basic_until.reset();
            throw no_session_left(tried);
        }
        access_->suspect = request.target;
        co_await note_refusal(tried);
    }
}

// Concludes from a password that is accepted what an earlier 401 meant. If another resource answered it, the
// 401 concerned that resource, and may come whenever it is read.
void BmcAccess::note_accepted(const std::string& target) {
    const auto suspect = std::exchange(access_->suspect, std::string());
    if (!suspect.empty()) access_->forbidden.insert(suspect);
    access_->forbidden.erase(target);
}

asio::awaitable<base::HttpResponse> BmcAccess::send(std::string tried, base::HttpRequest request,
                                                    Effect effect) {
    auto response = co_await authorized(tried, std::move(request), effect);
    if (response.status < 300) {
        access_->trust.expired_passwords = 0;
    } else if (const auto complaint = complain(response);
               complaint.kind == RedfishErrorKind::password_change) {
        guard().note_expired_password(complaint);
    }
    co_return response;
}

asio::awaitable<base::HttpResponse> BmcAccess::authorized(const std::string& tried, base::HttpRequest request,
                                                          Effect effect) {
    if (guard().is_suspended() && account_->is_proven) co_await reconsider_sessions();
    guard().require_trust(tried);
    guard().require_valid_password(tried);
    if (account_->is_proven) co_return co_await authorized_in_turn(tried, std::move(request), effect);
    co_await root();  // a silent BMC must not block the others
    const auto turn = co_await account_->turns.enter("");
    guard().require_untried_account(tried);
    co_return co_await authorized_in_turn(tried, std::move(request), effect);
}

asio::awaitable<base::HttpResponse> BmcAccess::authorized_in_turn(const std::string& tried,
                                                                  base::HttpRequest request, Effect effect) {
    for (int tries = 0; tries < kMostSessionTries; ++tries) {
        co_await log_in();
        if (access_->token.empty()) co_return co_await send_basic(tried, std::move(request), effect);
        const auto token = access_->token;
        auto sent = request;
        authorize(sent);
        auto response = co_await wire_.send(tried, std::move(sent), effect);
        if (response.status != 401) {
            guard().prove();
            access_->forbidden.erase(request.target);
            co_return response;
        }
        // A request refused with 401 had no effect. If the session is valid, the 401 concerns the resource.
        // It probably does if that happened before or the session is new.
        const bool is_likely = access_->forbidden.contains(request.target) || tries > 0;
        bool is_about_resource = false;
        if (is_likely && access_->token == token) is_about_resource = co_await is_session_good();
        if (is_about_resource) {
            access_->forbidden.insert(request.target);
            throw forbidden(tried);
        }
        co_await replace_session(token);
    }
    // Opening the sessions proved that the credentials are right.
    throw not_now(tried,
                  "not now: the BMC ended " + std::to_string(kMostSessionTries) +
                      " sessions immediately; someone else may need them",
                  kSessionRetry);
}

// Ends the session, so that a new one can be opened. BMCs have few sessions. A session that could not be
// ended now is kept and ended by the next request. A BMC that never ends one keeps no host from use.
asio::awaitable<void> BmcAccess::replace_session(std::string token) {
    const auto pass = co_await access_->log_ins.enter("");
    if (access_->token != token) co_return;
    if (has_session()) {
        auto request = bare_request("DELETE", access_->session);
        authorize(request);
        const auto tried = "logging out of " + host();
        const auto response = co_await wire_.send(tried, std::move(request), Effect::session);
        const bool is_kept = response.status >= 500 || response.status == 429;
        if (is_kept && ++access_->kept_sessions < kMostSessionTries)
            throw not_now(tried,
                          "not now: the BMC does not end the operator's session yet, and answers " +
                              std::to_string(response.status),
                          kSessionRetry);
    }
    access_->kept_sessions = 0;
    access_->token.clear();
    access_->session.clear();
}

asio::awaitable<bool> BmcAccess::is_session_good() {
    if (access_->session.empty()) co_return false;
    auto request = bare_request("GET", access_->session);
    authorize(request);
    const auto response =
        co_await wire_.send("reading the operator's session of " + host(), std::move(request), Effect::none);
    co_return response.status == 200;
}

asio::awaitable<base::HttpResponse> BmcAccess::post_session(std::string target, bool with_context) {
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

asio::awaitable<void> BmcAccess::log_in() {
    const auto pass = co_await access_->log_ins.enter("");
    if (wire_.needs_probe()) co_await root();
    // Another call may have been refused meanwhile.
    const std::string tried = "logging in to " + host();
    guard().require_trust(tried);
    const bool goes_without = access_->basic_until && wire_.now() < *access_->basic_until;
    if (!access_->token.empty() || access_->way == Way::basic || goes_without) co_return;
    const auto service = co_await root();
    auto link = link_at(object_at(service, "Links"), "Sessions");
    if (link.empty() && !link_at(service, "SessionService").empty())
        link = link_at(service, "SessionService") + "/Sessions";
    const auto target = target_of(link, wire_.origin(), Origin::any);
    if (!target) {
        access_->way = Way::basic;
        co_return;
    }
    co_await open_session(*target);
}

// Uses Basic for a while, unless the BMC is known to refuse it.
void BmcAccess::go_without_session() {
    if (access_->is_basic_refused) throw no_session_left("logging in to " + host());
    access_->basic_until = wire_.now() + kWithoutSession;
}

asio::awaitable<void> BmcAccess::open_session(std::string target) {
    const std::string tried = "logging in to " + host();
    for (bool may_clean = true;;) {
        guard().spare_account(tried);
        const auto response = co_await post_session(target, access_->sends_context);
        const auto token = response.headers.find("X-Auth-Token");
        if (response.status < 300 && token) {
            const auto location = response.headers.find("Location");
            access_->token = std::string(*token);
            access_->session =
                location ? target_of(std::string(*location), wire_.origin(), Origin::any).value_or("")
                         : link_at(parse_object("{\"s\":" + response.body + "}"), "s");
            access_->way = Way::session;
            access_->basic_until.reset();
            guard().note_login();
            co_return;
        }
        const auto complaint = complain(response);
        const bool has_none = response.status < 300 || has_no_sessions(complaint.kind);
        // A BMC that gave sessions before gives them again once it has started.
        if (has_none && access_->way == Way::session) {
            go_without_session();
            co_return;
        }
        if (has_none) {
            access_->way = Way::basic;
            co_return;
        }
        if (complaint.kind == RedfishErrorKind::unauthorized) {
            const bool are_off = co_await are_sessions_switched_off();
            if (are_off) {
                give_up_sessions();
                co_return;
            }
            co_await note_refusal(tried);
            continue;
        }
        if (access_->sends_context && complaint.kind == RedfishErrorKind::invalid_request) {
            access_->sends_context = false;
        } else if (complaint.kind == RedfishErrorKind::session_limit && may_clean &&
                   !access_->is_basic_refused) {
            may_clean = false;
            note_quirk("SessionLimitExceeded");
            co_await delete_leaked_sessions(target);
        } else if (may_have_no_sessions(complaint.kind)) {
            go_without_session();
            co_return;
        } else {
            if (complaint.kind == RedfishErrorKind::password_change) guard().note_expired_password(complaint);
            throw RedfishError(tried, complaint);
        }
    }
}

// Reconsiders a BMC that refused a login before another BMC accepted the account. Its sessions may be
// switched off.
asio::awaitable<void> BmcAccess::reconsider_sessions() {
    // Credentials that it accepted before are wrong now, and each process would cause one more refusal.
    if (access_->trust.is_proven) co_return;
    const bool are_off = co_await are_sessions_switched_off();
    if (!are_off) co_return;
    give_up_sessions();
    access_->trust.suspended_until.reset();
    access_->trust.refusals = 0;
}

// Reads SessionService.ServiceEnabled, which requires a login. It is read until the BMC answers, and only
// from a BMC that never gave a session. The read may cause another refusal, so an account of many BMCs must
// first be accepted by one.
asio::awaitable<bool> BmcAccess::are_sessions_switched_off() {
    const bool is_spared = account_->bmcs > 1 && !account_->is_proven;
    const bool is_known =
        access_->is_service_read || access_->way == Way::session || access_->is_basic_refused;
    const auto target = co_await session_service();
    if (is_known || is_spared || guard().is_at_last_try() || !target) co_return false;
    const auto response = co_await read_session_service(*target);
    access_->is_service_read = response.status < 500;
    if (response.status == 401) {
        access_->is_basic_refused = true;
        if (access_->trust.is_proven) ++access_->trust.refusals;
    }
    if (response.status != 200) co_return false;
    const auto document = parse_object(response.body);
    const auto* enabled = document.if_contains("ServiceEnabled");
    co_return enabled && enabled->is_bool() && !enabled->get_bool();
}

// Deletes sessions of an earlier process that did not log out. If Basic is refused, they expire by
// themselves.
asio::awaitable<void> BmcAccess::delete_leaked_sessions(std::string target) {
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

asio::awaitable<void> BmcAccess::delete_if_ours(std::string session) {
    try {
        const auto read =
            co_await send_basic("reading a session of " + host(), bare_request("GET", session), Effect::none);
        if (text_at(parse_object(read.body), "Context") != login_.context) co_return;
        co_await send_basic("ending a session of " + host(), bare_request("DELETE", session),
                            Effect::session);
    } catch (const RedfishError& error) {
        // A session that ended meanwhile or may not be read must not affect the others.
        if (error.kind() != RedfishErrorKind::not_found && error.kind() != RedfishErrorKind::forbidden) throw;
    }
}

asio::awaitable<void> BmcAccess::log_out() {
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
