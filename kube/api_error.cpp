#include "kube/api_error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "api/stream.hpp"

namespace kube {
namespace {

// Limit of a pause that an overloaded server may request.
constexpr base::Duration kLongestPause = std::chrono::minutes(5);

api::Status status_in(const base::HttpResponse& response) {
    try {
        return api::decode_text<api::Status>(response.body);
    } catch (const std::exception&) {
        // The answer is not from the API server itself. It is a proxy's page, or plain text such as "Too many
        // requests".
        api::Status status;
        status.message = response.body.substr(0, 200);
        return status;
    }
}

std::optional<base::Duration> retry_after(const api::Status& status, const base::HttpHeaders& headers) {
    if (status.details && status.details->retryAfterSeconds) {
        return base::Seconds(*status.details->retryAfterSeconds);
    }
    auto header = headers.find("Retry-After");
    int seconds = 0;
    if (!header) return std::nullopt;
    auto [end, error] = std::from_chars(header->data(), header->data() + header->size(), seconds);
    if (error != std::errc() || end != header->data() + header->size() || seconds < 0) return std::nullopt;
    return std::chrono::seconds(seconds);
}

// Reports whether a JSON patch did not apply, for example because its test failed. The server always answers
// this text, while an object that violates a rule gets a specific text. Source:
// k8s.io/apimachinery/pkg/api/errors (NewGenericServerResponse).
bool is_overtaken_patch(const api::Status& status) {
    constexpr int kUnprocessable = 422;
    return status.code == kUnprocessable &&
           status.message.starts_with("the server rejected our request due to an error in our request");
}

ApiError make_error(const std::string& subject, const api::Status& status,
                    std::optional<base::Duration> retry_after) {
    auto what = subject + ": " + std::to_string(status.code);
    if (!status.reason.empty()) what += ' ' + status.reason;
    if (!status.message.empty()) what += ": " + status.message;
    if (retry_after && *retry_after > kLongestPause) {
        const std::chrono::duration<double> wanted = *retry_after;
        what += "; it asks for a pause of " + std::to_string(std::lround(wanted.count())) +
                " s, but is asked again after 300 s";
    }
    ApiError error(what, status.code, status.reason, status.message);
    error.retry_after = retry_after;
    if (is_overtaken_patch(status)) {
        // The test of a JSON patch has the purpose of a resourceVersion in other patches.
        error.code = 409;
        error.reason = "Conflict";
    }
    if (status.details) error.causes = status.details->causes;
    return error;
}

}  // namespace

ApiError::ApiError(const std::string& what, int status_code, std::string status_reason, std::string text)
    : std::runtime_error(what),
      code(status_code),
      reason(std::move(status_reason)),
      message(std::move(text)) {}

base::Duration ApiError::pause_wanted() const {
    return std::min(retry_after.value_or(base::Duration::zero()), kLongestPause);
}

ApiError error_of(const std::string& subject, const base::HttpResponse& response) {
    auto status = status_in(response);
    status.code = response.status;
    return make_error(subject, status, retry_after(status, response.headers));
}

ApiError error_of(const std::string& subject, const api::Status& status) {
    return make_error(subject, status, std::nullopt);
}

}  // namespace kube
