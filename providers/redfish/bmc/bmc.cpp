#include "providers/redfish/bmc/bmc.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "providers/redfish/bmc/bmc_requests.hpp"
#include "providers/redfish/bmc/document.hpp"
#include "providers/redfish/bmc/etag.hpp"
#include "providers/redfish/bmc/link.hpp"

namespace providers::redfish {

namespace {

constexpr int kVersions = 3;

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

RedfishError no_tag_serves(const std::string& tried) {
    Complaint complaint;
    complaint.kind = RedfishErrorKind::precondition_failed;
    complaint.message = "the BMC accepts no ETag, not even its own";
    return RedfishError(tried, std::move(complaint));
}

}  // namespace

std::string Bmc::resolve(const std::string& tried, const std::string& link) const {
    const auto target = target_of(link, access_.wire().origin(), Origin::any);
    if (target) return *target;
    Complaint complaint;
    complaint.message = "the BMC gives no usable link for it";
    throw RedfishError(tried, std::move(complaint));
}

AcceptedChange Bmc::accepted(const std::string& tried, const base::HttpResponse& response) const {
    if (response.status >= 300) throw RedfishError(tried, access_.complain(response));
    AcceptedChange answer;
    answer.body = parse_object(response.body);
    answer.retry_after = retry_after_of(response);
    answer.is_promise = task_progress(response.status, answer.body) == TaskProgress::running;
    if (!answer.is_promise) return answer;
    // Some BMCs name the task only in the body, and some of them answer 200.
    const bool is_task = !text_at(answer.body, "TaskState").empty();
    const auto location = response.headers.find("Location");
    auto link = is_task ? text_at(answer.body, "@odata.id") : std::string();
    if (location) link = std::string(*location);
    answer.task = target_of(link, access_.wire().origin(), Origin::any).value_or("");
    return answer;
}

std::string Bmc::refusal_in(const json::object& body) const {
    auto words = redfish::refusal_in(body);
    // The answer itself contains a task that failed before it was polled.
    if (words.empty() && task_progress(200, body) == TaskProgress::failed)
        words = redfish::words_of_task(body);
    access_.mask(words);
    return words;
}

std::string Bmc::words_of_task(const json::object& task) const {
    auto words = redfish::words_of_task(task);
    access_.mask(words);
    return words;
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
    if (response.status != 200) throw RedfishError(tried, access_.complain(response));
    RedfishResource resource{std::move(target), access_.object_of(tried, response), {}};
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
        auto wait = kReadBackoff.after(attempt, access_.wire().traffic().environment.random);
        if (complaint->retry_after) wait = *complaint->retry_after;
        const bool again =
            attempt < kReadAttempts && is_worth_repeating(complaint->kind) && wait <= kLongestReadWait;
        if (!again) throw RedfishError(tried, std::move(*complaint));
        access_.note_quirk(complaint->known_id().value_or(reason_of(complaint->kind)));
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
    co_return accepted(tried, response);
}

asio::awaitable<AcceptedChange> Bmc::patch(std::string tried, std::string link, json::object body) {
    auto current = co_await get(link);
    auto ladder = etag_ladder(current.etag);
    const auto text = json::serialize(body);
    bool is_steady = false;
    int versions = 1;
    for (std::size_t rung = 0; rung < ladder.size();) {
        try {
            co_return co_await patch_once(tried, current.target, text, ladder[rung]);
        } catch (const RedfishError& error) {
            const bool about_tag = error.kind() == RedfishErrorKind::precondition_failed ||
                                   error.kind() == RedfishErrorKind::precondition_needed;
            if (!about_tag) throw;
            access_.note_quirk("ETag");
        }
        ++rung;
        // Somebody else may have changed it since it was read. Some BMCs return a new ETag each time.
        if (is_steady || versions == kVersions) continue;
        auto fresh = co_await get(link);
        is_steady = fresh.etag == current.etag;
        if (is_steady) continue;
        ++versions;
        current = std::move(fresh);
        ladder = etag_ladder(current.etag);
        rung = 0;
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
            access_.note_quirk("ETag");
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
    co_return accepted(tried, response);
}

asio::awaitable<std::pair<int, json::object>> Bmc::poll(std::string link) {
    const auto tried = "asking for task " + link + " of " + host();
    const auto target = resolve(tried, link);
    const auto response = co_await request(tried, make_request("GET", target), Effect::none);
    if (response.status >= 300) throw RedfishError(tried, access_.complain(response));
    // A call that returns nothing ends with 204. Another empty answer means nothing.
    auto body = response.status == 200 ? access_.object_of(tried, response) : parse_object(response.body);
    co_return std::pair(response.status, std::move(body));
}

asio::awaitable<base::HttpResponse> Bmc::request(std::string tried, base::HttpRequest request,
                                                 Effect effect) {
    // HPE Gen10+ serves some registries only compressed. Some BMCs compress every answer unless identity is
    // requested.
    const bool wants_identity = !only_compressed_.contains(request.target);
    request.headers.set("Accept-Encoding", wants_identity ? "identity" : "gzip");
    auto response = co_await access_.send(tried, request, effect);
    if (response.status == 406 && wants_identity) {
        only_compressed_.insert(request.target);
        request.headers.set("Accept-Encoding", "gzip");
        response = co_await access_.send(tried, request, effect);
    }
    co_return response;
}

}  // namespace providers::redfish
