#include "providers/proxmox/wire/proxmox_error.hpp"

#include <algorithm>
#include <array>

namespace providers::proxmox {

namespace {

struct Text {
    std::string_view part;
    ErrorKind kind;
};

// The first match decides, so more specific texts come first.
constexpr std::array<Text, 29> kTexts = {{
    {"already exists", ErrorKind::exists},
    {"config file already exists", ErrorKind::exists},
    {"failed: File exists", ErrorKind::exists},
    {"no quorum", ErrorKind::no_quorum},
    {"got lock request timeout", ErrorKind::lock_timeout},
    {"can't lock file", ErrorKind::lock_timeout},
    {"VM is locked", ErrorKind::locked},
    {"got no worker upid", ErrorKind::transient},
    // Before it stands "checksum mismatch", in qemu-server 7.4 to 8.1 "checksum missmatch".
    {"(file change by other user?)", ErrorKind::transient},
    {"protection mode enabled", ErrorKind::is_protected},
    {"is running - destroy failed", ErrorKind::running},
    {"already running", ErrorKind::running},
    {"guest agent is not running", ErrorKind::agent_silent},
    {"Agent error: PID", ErrorKind::no_such_process},
    {"not running", ErrorKind::not_running},
    {"unable to find configuration file for VM", ErrorKind::not_found},
    {".conf' does not exist", ErrorKind::not_found},
    {"no such VM", ErrorKind::not_found},
    {"no such task", ErrorKind::no_such_task},
    {"Permission check failed", ErrorKind::permission},
    {"unexpected status", ErrorKind::outcome_unknown},
    {"received interrupt", ErrorKind::transient},
    {"interrupted by signal", ErrorKind::transient},
    {"No space left on device", ErrorKind::no_room},
    {"Disk quota exceeded", ErrorKind::no_room},
    {"insufficient free space", ErrorKind::no_room},
    {"not enough free space", ErrorKind::no_room},
    {"out of space", ErrorKind::no_room},
    {"Cannot allocate memory", ErrorKind::no_room},
}};

// Recognizes pmxcfs without quorum: it refuses to write with a bare "Permission denied" of its mount point.
bool is_read_only_cluster_file_system(std::string_view text) {
    return text.find("unable to open file '/etc/pve/") != std::string_view::npos &&
           text.find("Permission denied") != std::string_view::npos;
}

ErrorKind classify_text(std::string_view text) {
    if (is_read_only_cluster_file_system(text)) return ErrorKind::no_quorum;
    for (const auto& known : kTexts) {
        if (text.find(known.part) != std::string_view::npos) return known.kind;
    }
    return ErrorKind::other;
}

std::string describe(const std::string& tried, const std::string& answer,
                     const std::map<std::string, std::string>& wrong_parameters) {
    auto text = tried + ": " + answer;
    for (const auto& [name, reason] : wrong_parameters) text += " " + name + ": " + reason;
    return text;
}

}  // namespace

bool is_undelivered(int status, std::string_view message) {
    constexpr int kCannotConnect = 595;
    // The host of the call is not in the cluster, so the endpoint does not know its address.
    constexpr std::string_view kNoSuchHost = "hostname lookup '";
    return status == kCannotConnect || message.starts_with(kNoSuchHost);
}

ErrorKind classify(int status, std::string_view message) {
    if (is_undelivered(status, message)) return ErrorKind::outcome_unknown;
    if (status == 401) return ErrorKind::unauthenticated;
    if (status == 403) return ErrorKind::permission;
    if (status == 501) return ErrorKind::unsupported;
    // With 595 to 599 the proxy could not reach the host or lost it. With 502 to 504 a load balancer reports
    // this.
    if (status >= 595 || (status >= 502 && status <= 504)) return ErrorKind::outcome_unknown;
    // After a timeout the change may have happened or may still happen. A timeout for a lock names the lock.
    if (message == "got timeout") return ErrorKind::outcome_unknown;
    const auto by_text = classify_text(message);
    if (by_text != ErrorKind::other) return by_text;
    return status == 400 ? ErrorKind::invalid_request : ErrorKind::other;
}

ErrorKind classify_exit(std::string_view exit_status) {
    return classify_text(exit_status);
}

namespace {

// Removes the time that wget writes before an error, e.g. "2027-01-15 08:00:00 " before "ERROR 404: Not
// Found.".
std::string without_time(std::string text) {
    constexpr std::string_view kTime = "0000-00-00 00:00:00 ";
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t at = 0; at + kTime.size() <= text.size(); ++at) {
        std::size_t same = 0;
        while (same < kTime.size() &&
               (kTime[same] == '0' ? is_digit(text[at + same]) : text[at + same] == kTime[same]))
            ++same;
        if (same == kTime.size()) return text.erase(at, kTime.size());
    }
    return text;
}

}  // namespace

std::string steady(std::string text) {
    text = without_time(std::move(text));
    constexpr std::string_view kTemporary = ".tmp.";
    const auto at = text.find(kTemporary);
    if (at == std::string::npos) return text;
    const auto digits = at + kTemporary.size();
    const auto end = std::min(text.find_first_not_of("0123456789", digits), text.size());
    return text.replace(digits, end - digits, "N");
}

bool is_passing(ErrorKind kind) {
    return kind == ErrorKind::locked || kind == ErrorKind::lock_timeout || kind == ErrorKind::no_quorum ||
           kind == ErrorKind::transient || kind == ErrorKind::unreachable ||
           kind == ErrorKind::outcome_unknown;
}

bool may_last(ErrorKind kind) {
    return kind == ErrorKind::locked || kind == ErrorKind::lock_timeout || kind == ErrorKind::no_quorum;
}

bool is_tried_later(ErrorKind kind) {
    return is_passing(kind) || kind == ErrorKind::permission;
}

bool lacks_disk_room(ErrorKind kind, std::string_view text) {
    return kind == ErrorKind::no_room && text.find("allocate memory") == std::string_view::npos;
}

bool is_repeated_calmly(const ProxmoxError& error) {
    return may_last(error.kind) || (error.is_of_change && is_passing(error.kind));
}

ProxmoxError::ProxmoxError(ErrorKind error_kind, const std::string& tried, std::string answer,
                           std::map<std::string, std::string> wrong_parameters)
    : ProviderError(describe(tried, answer, wrong_parameters)),
      kind(error_kind),
      message(std::move(answer)),
      errors(std::move(wrong_parameters)) {}

}  // namespace providers::proxmox
