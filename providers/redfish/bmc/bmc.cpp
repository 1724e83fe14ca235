#include "providers/redfish/bmc/bmc.hpp"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>

#include "base/backoff.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/redfish/bmc/bmc_requests.hpp"
#include "providers/redfish/bmc/document.hpp"
#include "providers/redfish/bmc/etag.hpp"
#include "providers/redfish/bmc/link.hpp"

namespace providers::redfish {

namespace {

constexpr int kReadAttempts = 3;
constexpr int kVersions = 3;
constexpr base::Backoff kReadBackoff{std::chrono::seconds{1}, std::chrono::seconds{4}};
// If a BMC asks for a longer pause, the request fails and the caller retries later.
constexpr base::Duration kLongestReadWait = std::chrono::seconds{5};

base::HttpRequest make_request(std::string method, std::string target, std::string body = {}) {
    auto request = bare_request(std::move(method), std::move(target));
    if (request.method != "GET") {
        request.headers.set("Content-Type", "application/json");
        request.body = std::move(body);
    }
    return request;
}

bool is_worth_repeating(RedfishErrorKind kind) {
    return kind == RedfishErrorKind::busy || kind == RedfishErrorKind::unreachable ||
           kind == RedfishErrorKind::other || kind == RedfishErrorKind::unreadable;
}

void replace_all(std::string& text, const std::string& part) {
    if (part.empty()) return;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at))
        text.replace(at, part.size(), "***");
}

RedfishError no_tag_serves(const std::string& tried) {
    Complaint complaint;
    complaint.kind = RedfishErrorKind::precondition_failed;
    complaint.message = "the BMC accepts no ETag, not even its own";
    return RedfishError(tried, std::move(complaint));
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

Bmc::Bmc(WireOptions options, Login login, std::shared_ptr<Account> account, std::shared_ptr<Access> access,
         Traffic& traffic)
    : wire_(std::move(options), traffic),
      login_(std::move(login)),
      account_(std::move(account)),
      access_(std::move(access)) {}

std::string Bmc::resolve(const std::string& tried, const std::string& link) const {
    const auto target = target_of(link, wire_.origin(), Origin::any);
    if (target) return *target;
    Complaint complaint;
    complaint.message = "the BMC gives no usable link for it";
    throw RedfishError(tried, std::move(complaint));
}

void Bmc::mask(std::string& text) const {
    replace_all(text, login_.password);
    replace_all(text, access_->token);
    for (const auto& hidden : hidden_) replace_all(text, hidden);
}

void Bmc::hide(std::string text) {
    constexpr std::size_t kMost = 8;
    if (text.empty() || std::find(hidden_.begin(), hidden_.end(), text) != hidden_.end()) return;
    hidden_.push_back(std::move(text));
    if (hidden_.size() > kMost) hidden_.pop_front();
}

Complaint Bmc::complain(const base::HttpResponse& response) const {
    auto complaint = complaint_of(response);
    mask(complaint.message);
    return complaint;
}

std::string Bmc::refusal_in(const json::object& body) const {
    auto words = redfish::refusal_in(body);
    // The answer itself contains a task that failed before it was polled.
    if (words.empty() && task_progress(200, body) == TaskProgress::failed)
        words = redfish::words_of_task(body);
    mask(words);
    return words;
}

std::string Bmc::words_of_task(const json::object& task) const {
    auto words = redfish::words_of_task(task);
    mask(words);
    return words;
}

void Bmc::note_quirk(const std::string& message) {
    const auto& [namespace_, provider] = wire_.traffic().provider;
    wire_.traffic().retries.with({namespace_, provider, vendor_, message}).add();
}

asio::awaitable<json::object> Bmc::root() {
    const bool is_known = root_.has_value() && !wire_.needs_probe();
    if (is_known) co_return *root_;
    const std::string tried = "reading the service root of " + host();
    for (int attempt = 1;; ++attempt) {
        auto request = make_request("GET", "/redfish/v1/");
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
json::object Bmc::object_of(const std::string& tried, const base::HttpResponse& response) const {
    Complaint complaint;
    complaint.kind = RedfishErrorKind::unreadable;
    const auto encoding = response.headers.find("Content-Encoding");
    const bool is_encoded = encoding && !equal_ignoring_case(*encoding, "identity") && !encoding->empty();
    if (is_encoded) {
        complaint.message = "the answer is compressed (" + foreign::shown(std::string(*encoding)) +
                            ") and cannot be read: it is damaged, longer than 2 MiB, or compressed in "
                            "another way than gzip";
        throw RedfishError(tried, std::move(complaint));
    }
    auto object = read_object(response.body, complaint.message);
    if (!object) throw RedfishError(tried, std::move(complaint));
    return std::move(*object);
}

asio::awaitable<RedfishResource> Bmc::read(const std::string& tried, std::string target) {
    auto response = co_await request(tried, make_request("GET", target), Effect::none);
    if (response.status == 404 && target.back() != '/') {
        // Some BMCs only know their resources by the path with a final slash.
        auto slashed = co_await request(tried, make_request("GET", target + "/"), Effect::none);
        if (slashed.status == 200) {
            response = std::move(slashed);
            target += '/';
        }
    }
    if (response.status != 200) throw RedfishError(tried, complain(response));
    RedfishResource resource{std::move(target), object_of(tried, response), {}};
    resource.etag = etag_of(response, resource.body);
    co_return resource;
}

asio::awaitable<RedfishResource> Bmc::get_once(std::string link) {
    const auto tried = "reading " + link + " of " + host();
    co_return co_await read(tried, resolve(tried, link));
}

asio::awaitable<RedfishResource> Bmc::get(std::string link) {
    const auto tried = "reading " + link + " of " + host();
    const auto target = resolve(tried, link);
    for (int attempt = 1;; ++attempt) {
        std::optional<Complaint> complaint;
        try {
            co_return co_await read(tried, target);
        } catch (const RedfishError& error) {
            complaint = error.complaint;
        }
        auto wait = kReadBackoff.after(attempt, wire_.traffic().environment.random);
        if (complaint->retry_after) wait = *complaint->retry_after;
        const bool again =
            attempt < kReadAttempts && is_worth_repeating(complaint->kind) && wait <= kLongestReadWait;
        if (!again) throw RedfishError(tried, std::move(*complaint));
        note_quirk(complaint->known_id().value_or(reason_of(complaint->kind)));
        co_await clock().sleep_for(wait);
    }
}

asio::awaitable<std::optional<RedfishResource>> Bmc::find(std::string link) {
    if (link.empty()) co_return std::nullopt;
    try {
        co_return co_await get(std::move(link));
    } catch (const RedfishError& error) {
        if (!is_absence(error.kind())) throw;
    }
    co_return std::nullopt;
}

asio::awaitable<AcceptedChange> Bmc::patch_once(const std::string& tried, const std::string& target,
                                                const std::string& body, const std::string& etag) {
    auto attempt = make_request("PATCH", target, body);
    if (!etag.empty()) attempt.headers.set("If-Match", etag);
    const auto response = co_await request(tried, std::move(attempt), Effect::host);
    if (response.status >= 300) throw RedfishError(tried, complain(response));
    AcceptedChange answer;
    answer.body = parse_object(response.body);
    answer.retry_after = retry_after_of(response);
    answer.is_promise = response.status == 202;
    co_return answer;
}

asio::awaitable<AcceptedChange> Bmc::patch(std::string tried, std::string link, json::object body) {
    auto current = co_await get(link);
    auto ladder = etag_ladder(current.etag);
    const auto text = json::serialize(body);
    bool was_read_again = false;
    for (std::size_t rung = 0; rung < ladder.size(); ++rung) {
        try {
            co_return co_await patch_once(tried, current.target, text, ladder[rung]);
        } catch (const RedfishError& error) {
            const bool about_tag = error.kind() == RedfishErrorKind::precondition_failed ||
                                   error.kind() == RedfishErrorKind::precondition_needed;
            if (!about_tag) throw;
            note_quirk("ETag");
        }
        if (was_read_again) continue;
        // Somebody else may have changed it since it was read.
        was_read_again = true;
        auto fresh = co_await get(link);
        if (fresh.etag == current.etag) continue;
        current = std::move(fresh);
        ladder = etag_ladder(current.etag);
        co_return co_await patch_once(tried, current.target, text, ladder.front());
    }
    throw no_tag_serves(tried);
}

asio::awaitable<std::optional<AcceptedChange>> Bmc::patch_if_same(std::string tried, RedfishResource read,
                                                                  std::string property, json::value value) {
    const auto before = text_at(read.body, property);
    const auto text = json::serialize(json::object{{property, std::move(value)}});
    auto ladder = etag_ladder(read.etag);
    int versions = 1;
    for (std::size_t rung = 0; rung < ladder.size();) {
        try {
            co_return co_await patch_once(tried, read.target, text, ladder[rung]);
        } catch (const RedfishError& error) {
            const bool about_tag = error.kind() == RedfishErrorKind::precondition_failed ||
                                   error.kind() == RedfishErrorKind::precondition_needed;
            if (!about_tag) throw;
            note_quirk("ETag");
        }
        auto fresh = co_await get(read.target);
        if (text_at(fresh.body, property) != before) co_return std::nullopt;
        ++rung;
        // Another property was changed. Some BMCs return a new ETag each time.
        if (fresh.etag == read.etag || versions == kVersions) continue;
        ++versions;
        read = std::move(fresh);
        ladder = etag_ladder(read.etag);
        rung = 0;
    }
    throw no_tag_serves(tried);
}

asio::awaitable<AcceptedChange> Bmc::post(std::string tried, std::string link, json::object body) {
    const auto target = resolve(tried, link);
    const auto response =
        co_await request(tried, make_request("POST", target, json::serialize(body)), Effect::host);
    if (response.status >= 300) throw RedfishError(tried, complain(response));
    AcceptedChange answer;
    answer.body = parse_object(response.body);
    answer.retry_after = retry_after_of(response);
    answer.is_promise = response.status == 202;
    const auto location = response.headers.find("Location");
    if (answer.is_promise && location) {
        answer.task = target_of(std::string(*location), wire_.origin(), Origin::any).value_or("");
    }
    co_return answer;
}

asio::awaitable<std::pair<int, json::object>> Bmc::poll(std::string link) {
    const auto tried = "asking for task " + link + " of " + host();
    const auto target = resolve(tried, link);
    const auto response = co_await request(tried, make_request("GET", target), Effect::none);
    if (response.status >= 300) throw RedfishError(tried, complain(response));
    co_return std::pair(response.status, parse_object(response.body));
}

asio::awaitable<base::HttpResponse> Bmc::request(std::string tried, base::HttpRequest request,
                                                 Effect effect) {
    // HPE Gen10+ serves some registries only compressed. Some BMCs compress every answer unless identity is
    // requested.
    const bool wants_identity = !only_compressed_.contains(request.target);
    request.headers.set("Accept-Encoding", wants_identity ? "identity" : "gzip");
    auto response = co_await authorized(tried, request, effect);
    if (response.status == 406 && wants_identity) {
        only_compressed_.insert(request.target);
        request.headers.set("Accept-Encoding", "gzip");
        response = co_await authorized(tried, request, effect);
    }
    if (response.status < 300) {
        access_->expired_passwords = 0;
    } else if (const auto complaint = complain(response);
               complaint.kind == RedfishErrorKind::password_change) {
        note_expired_password(complaint);
    }
    co_return response;
}

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
        if (error.kind() != RedfishErrorKind::not_found && error.kind() != RedfishErrorKind::forbidden) throw;
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
