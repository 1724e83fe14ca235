#include "providers/proxmox/wire/answer.hpp"

#include <boost/json/object.hpp>
#include <map>

#include "providers/foreign/bounded_json.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/wire/fields.hpp"
#include "providers/proxmox/wire/property_string.hpp"

namespace providers::proxmox {

namespace {

// More hosts, guests and storages than any cluster has. Each parsed entry takes memory, too.
constexpr std::size_t kMostEntries = 50'000;
constexpr std::size_t kMostWrongParameters = 32;
constexpr std::string_view kProxmoxServer = "pve-api-daemon/";

std::string first_line(std::string text) {
    text = text.substr(0, text.find_first_of("\r\n"));
    return text;
}

// Reports whether the answer comes from Proxmox. pveproxy names itself in all answers. A proxy may replace
// that name, but not the data in every answer of the API.
bool is_of_proxmox(const base::HttpResponse& response, const json::object* body) {
    const auto server = response.headers.find("Server");
    return (server && server->starts_with(kProxmoxServer)) || (body && body->contains("data"));
}

std::string of_a_stranger(int status) {
    return "status " + std::to_string(status) + " from a server that does not answer like a Proxmox API";
}

struct AnswerComplaint {
    std::string message;  // unmodified, like `errors`
    std::map<std::string, std::string> errors;
};

AnswerComplaint complaint_of(const base::HttpResponse& response) {
    const auto document = foreign::parse(response.body);
    const auto* body = document ? document->if_object() : nullptr;
    if (!is_of_proxmox(response, body)) return {of_a_stranger(response.status), {}};
    AnswerComplaint complaint;
    if (body) {
        complaint.message = first_line(text_of(*body, "message"));
        const auto* errors = body->if_contains("errors");
        if (errors && errors->is_object() && errors->get_object().size() <= kMostWrongParameters) {
            for (const auto& [name, reason] : errors->get_object())
                complaint.errors[foreign::shown(name)] = first_line(text_of(reason));
        }
    }
    if (complaint.message.empty()) complaint.message = response.reason;
    if (complaint.message.empty()) complaint.message = "status " + std::to_string(response.status);
    return complaint;
}

[[noreturn]] void throw_complaint(const Call& call, const base::HttpResponse& response) {
    auto complaint = complaint_of(response);
    auto kind = classify(response.status, complaint.message);
    const bool was_not_delivered = is_undelivered(response.status, complaint.message);
    for (auto& [name, reason] : complaint.errors) {
        const auto by_parameter = classify(response.status, reason);
        if (by_parameter != ErrorKind::invalid_request) kind = by_parameter;
        reason = foreign::shown(reason);
    }
    ProxmoxError error(kind, call.tried, foreign::shown(steady(std::move(complaint.message))),
                       std::move(complaint.errors));
    error.operation = call.operation;
    error.is_of_change = call.method != "GET";
    error.is_undelivered = was_not_delivered;
    throw error;
}

json::value data_of_success(const Call& call, const base::HttpResponse& response) {
    auto document = foreign::parse(response.body);
    auto* body = document ? document->if_object() : nullptr;
    auto* data = body ? body->if_contains("data") : nullptr;
    if (!data) {
        throw ProxmoxError(ErrorKind::other, call.tried,
                           "the answer is not from a Proxmox API (no JSON with data)");
    }
    const auto* list = data->if_array();
    if ((call.data == DataKind::list && !list) || (call.data == DataKind::object && !data->is_object())) {
        const std::string kind = call.data == DataKind::list ? "list" : "object";
        throw ProxmoxError(ErrorKind::other, call.tried, "the answer has no " + kind + " as its data");
    }
    if (call.data == DataKind::task && !data->is_null() && !parse_upid(text_of(*data))) {
        throw ProxmoxError(ErrorKind::outcome_unknown, call.tried, "the answer has no task as its data");
    }
    if (list && list->size() > kMostEntries) {
        throw ProxmoxError(ErrorKind::other, call.tried,
                           "the answer has " + std::to_string(list->size()) + " entries, more than the " +
                               std::to_string(kMostEntries) + " that are read");
    }
    return std::move(*data);
}

}  // namespace

std::string refusal_of(const base::HttpResponse& response) {
    return is_of_proxmox(response, nullptr) ? foreign::shown(response.reason)
                                            : of_a_stranger(response.status);
}

std::string without_secret(std::string text, const std::string& secret) {
    if (secret.empty()) return text;
    for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at))
        text.replace(at, secret.size(), "***");
    return text;
}

void hide_secret(base::HttpResponse& response, const std::string& secret) {
    if (response.status < 400) return;
    response.body = without_secret(std::move(response.body), secret);
    response.reason = without_secret(std::move(response.reason), secret);
}

json::value data_of(const Call& call, const base::HttpResponse& response) {
    const bool is_success = response.status >= 200 && response.status < 300;
    try {
        if (is_success) return data_of_success(call, response);
        throw_complaint(call, response);
    } catch (const foreign::TooLarge& error) {
        throw ProxmoxError(ErrorKind::other, call.tried, "the answer " + std::string(error.what()));
    }
}

}  // namespace providers::proxmox
