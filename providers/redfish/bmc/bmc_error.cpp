#include "providers/redfish/bmc/bmc_error.hpp"

#include <algorithm>
#include <charconv>

#include "providers/foreign/shown_text.hpp"
#include "providers/redfish/bmc/document.hpp"

namespace providers::redfish {

namespace {

constexpr std::string_view kInfo = "@Message.ExtendedInfo";
constexpr base::Duration kLongestRetryAfter = std::chrono::minutes{10};

struct MessageRule {
    std::string_view id;
    RedfishErrorKind kind;
};

// MessageIds from Base registry 1.22 and from vendors: SYS518, SWC0700, RAC0508 (iDRAC is not ready), RAC0218
// (iDRAC has no session left), OemLicenseNotPassed (Supermicro).
constexpr MessageRule kRules[] = {
    {"SYS518", RedfishErrorKind::busy},
    {"SWC0700", RedfishErrorKind::busy},
    {"RAC0508", RedfishErrorKind::busy},
    {"ServiceTemporarilyUnavailable", RedfishErrorKind::busy},
    {"ServiceInUnknownState", RedfishErrorKind::busy},
    {"ServiceShuttingDown", RedfishErrorKind::busy},
    {"ResourceInStandby", RedfishErrorKind::busy},
    {"ResourceInUse", RedfishErrorKind::busy},
    {"OperationTimeout", RedfishErrorKind::busy},
    {"UnableToModifyDuringSystemPOST", RedfishErrorKind::busy},
    {"InvalidOperationForSystemState", RedfishErrorKind::busy},
    {"RAC0218", RedfishErrorKind::session_limit},
    {"SessionLimitExceeded", RedfishErrorKind::session_limit},
    {"OemLicenseNotPassed", RedfishErrorKind::license},
    {"LicenseRequired", RedfishErrorKind::license},
    {"PasswordChangeRequired", RedfishErrorKind::password_change},
    {"InsufficientPrivilege", RedfishErrorKind::forbidden},
    {"ActionParameterMissing", RedfishErrorKind::parameter_missing},
    {"PropertyMissing", RedfishErrorKind::parameter_missing},
    {"PreconditionFailed", RedfishErrorKind::precondition_failed},
    {"PreconditionRequired", RedfishErrorKind::precondition_needed},
};

RedfishErrorKind by_status(int status) {
    switch (status) {
        case 401:
            return RedfishErrorKind::unauthorized;
        case 403:
            return RedfishErrorKind::forbidden;
        case 404:
        case 410:
            return RedfishErrorKind::not_found;
        case 405:
        case 415:
        case 501:
            return RedfishErrorKind::unsupported;
        case 406:
            return RedfishErrorKind::not_acceptable;
        case 408:
        case 423:
        case 425:
        case 429:
        case 502:
        case 503:
        case 504:
            return RedfishErrorKind::busy;
        case 409:
            return RedfishErrorKind::state_conflict;
        case 412:
            return RedfishErrorKind::precondition_failed;
        case 428:
            return RedfishErrorKind::precondition_needed;
        case 400:
        case 422:
            return RedfishErrorKind::invalid_request;
        default:
            return RedfishErrorKind::other;
    }
}

std::string last_component(const std::string& id) {
    return id.substr(id.find_last_of('.') + 1);
}

void append(std::vector<ExtendedInfo>& all, const json::value& entry) {
    if (!entry.is_object()) return;
    const auto& object = entry.get_object();
    ExtendedInfo info{last_component(text_at(object, "MessageId")), text_at(object, "Message"), {}, ""};
    info.severity = text_at(object, "MessageSeverity");
    if (info.severity.empty()) info.severity = text_at(object, "Severity");
    for (const auto& argument : array_at(object, "MessageArgs")) {
        if (argument.is_string()) info.arguments.emplace_back(argument.get_string());
    }
    all.push_back(std::move(info));
}

void collect(std::vector<ExtendedInfo>& all, const json::object& parent) {
    const auto* found = parent.if_contains(kInfo);
    if (!found) return;
    if (!found->is_array()) return append(all, *found);
    for (const auto& entry : found->get_array()) append(all, entry);
}

std::optional<base::Duration> seconds(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end == text.data() || value < 0) return std::nullopt;
    return std::min<base::Duration>(std::chrono::seconds{value}, kLongestRetryAfter);
}

// Returns the wait in "Retry in 30 seconds". In the registries it is the argument of a busy message.
std::optional<base::Duration> stated_wait(const ExtendedInfo& info) {
    if (!info.arguments.empty()) return seconds(info.arguments.front());
    constexpr std::string_view kRetryIn = "etry in ";
    const auto at = info.message.find(kRetryIn);
    if (at == std::string::npos) return std::nullopt;
    return seconds(std::string_view(info.message).substr(at + kRetryIn.size()));
}

}  // namespace

std::vector<ExtendedInfo> extended_info(const json::object& body) {
    std::vector<ExtendedInfo> all;
    collect(all, object_at(body, "error"));
    collect(all, body);
    return all;
}

std::optional<std::string> Complaint::known_id() const {
    for (const auto& id : ids) {
        for (const auto& rule : kRules) {
            if (rule.id == id) return id;
        }
    }
    return std::nullopt;
}

bool Complaint::says(std::string_view id) const {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::string refusal_in(const json::object& body) {
    const auto& error = object_at(body, "error");
    if (error.empty()) return "";
    const auto infos = extended_info(body);
    // Many BMCs report success with an error object that says Success.
    const bool is_well = std::ranges::any_of(infos, [](const ExtendedInfo& info) {
        return info.id == "Success" || info.id == "Created" || info.id == "NoOperation" ||
               info.severity == "OK";
    });
    if (is_well) return "";
    auto words = infos.empty() ? text_at(error, "message") : infos.front().message;
    if (words.empty() && !infos.empty()) words = infos.front().id;
    return foreign::shown(words.empty() ? "it answers with an error" : words);
}

std::string words_of_task(const json::object& task) {
    std::string words;
    for (const auto& message : array_at(task, "Messages")) {
        if (message.is_object()) words = text_at(message.get_object(), "Message");
        if (!words.empty()) break;
    }
    const auto state = text_at(task, "TaskState");
    return foreign::shown(words.empty() ? "its task ended as " + (state.empty() ? "failed" : state) : words);
}

std::string state_of_task(const json::object& task) {
    const auto state = text_at(task, "TaskState");
    const auto percent = number_at(task, "PercentComplete");
    const bool is_told = percent && *percent <= 100;
    return foreign::shown(state.empty() ? "in an unknown state" : state) +
           (is_told ? ", " + std::to_string(static_cast<int>(*percent)) + " percent" : "");
}

bool is_impossibility(const Complaint& complaint) {
    if (complaint.kind == RedfishErrorKind::unsupported) return true;
    static constexpr std::string_view kIds[] = {"ActionNotSupported",
                                                "ActionParameterNotSupported",
                                                "ActionParameterValueError",
                                                "ActionParameterValueNotInList",
                                                "ActionParameterValueFormatError",
                                                "PropertyValueNotInList"};
    return std::ranges::any_of(kIds, [&](std::string_view id) { return complaint.says(id); });
}

std::optional<base::Duration> retry_after_of(const base::HttpResponse& response) {
    const auto header = response.headers.find("Retry-After");
    return header ? seconds(*header) : std::nullopt;
}

Complaint complaint_of(const base::HttpResponse& response) {
    const auto body = parse_object(response.body);
    const auto infos = extended_info(body);
    Complaint complaint;
    complaint.kind = by_status(response.status);
    complaint.retry_after = retry_after_of(response);
    bool classified = false;
    for (const auto& info : infos) {
        complaint.ids.push_back(info.id);
        if (complaint.message.empty()) complaint.message = info.message;
        const auto rule = std::find_if(std::begin(kRules), std::end(kRules),
                                       [&](const MessageRule& each) { return each.id == info.id; });
        if (classified || rule == std::end(kRules)) continue;
        classified = true;
        complaint.kind = rule->kind;
        complaint.message = info.message;
        if (complaint.kind == RedfishErrorKind::busy && !complaint.retry_after)
            complaint.retry_after = stated_wait(info);
    }
    const auto& error = object_at(body, "error");
    if (complaint.message.empty()) complaint.message = text_at(error, "message");
    if (complaint.message.empty() && !complaint.ids.empty()) complaint.message = complaint.ids.front();
    const auto status = "HTTP status " + std::to_string(response.status);
    complaint.message = foreign::shown(complaint.message);
    complaint.message = complaint.message.empty() ? status : complaint.message + " (" + status + ")";
    // A code without extended information is classified the same way.
    if (!classified && infos.empty()) {
        const auto id = last_component(text_at(error, "code"));
        for (const auto& rule : kRules) {
            if (rule.id == id) complaint.kind = rule.kind;
        }
        if (!id.empty()) complaint.ids.push_back(id);
    }
    return complaint;
}

std::string reason_of(RedfishErrorKind kind) {
    switch (kind) {
        case RedfishErrorKind::unauthorized:
            return "Unauthorized";
        case RedfishErrorKind::doubted:
            return "CredentialsDoubted";
        case RedfishErrorKind::license:
            return "LicenseRequired";
        case RedfishErrorKind::password_change:
            return "PasswordChangeRequired";
        case RedfishErrorKind::forbidden:
            return "Forbidden";
        case RedfishErrorKind::busy:
        case RedfishErrorKind::session_limit:
            return "Busy";
        case RedfishErrorKind::unreachable:
        case RedfishErrorKind::outcome_unknown:
            return "Unreachable";
        case RedfishErrorKind::system_not_chosen:
            return "SystemNotChosen";
        default:
            return "UnexpectedAnswer";
    }
}

bool is_closed_to_us(RedfishErrorKind kind) {
    return kind == RedfishErrorKind::forbidden || kind == RedfishErrorKind::license;
}

bool is_absence(RedfishErrorKind kind) {
    return kind == RedfishErrorKind::not_found || kind == RedfishErrorKind::unsupported ||
           kind == RedfishErrorKind::other || kind == RedfishErrorKind::invalid_request;
}

bool is_permanent(RedfishErrorKind kind) {
    return kind == RedfishErrorKind::license || kind == RedfishErrorKind::password_change ||
           kind == RedfishErrorKind::forbidden || kind == RedfishErrorKind::unauthorized ||
           kind == RedfishErrorKind::system_not_chosen;
}

}  // namespace providers::redfish
