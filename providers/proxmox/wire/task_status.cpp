#include "providers/proxmox/wire/task_status.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/proxmox/wire/fields.hpp"

namespace providers::proxmox {

namespace {

constexpr std::size_t kLinesLookedAt = 30;  // at the end of the log
constexpr std::size_t kLinesShown = 2;
constexpr std::array<std::string_view, 16> kComplaints = {
    "error", "fail",    "no space",     "cannot",  "can't",   "could not",      "unable",  "denied",
    "quota", "timeout", "insufficient", "out of ", "refused", "does not exist", "invalid", "no such"};
// Text that Proxmox itself adds to a log or repeats.
constexpr std::string_view kVerdict = "TASK ";

bool sounds_like_a_cause(const std::string& line) {
    const auto text = base::lower_case(line);
    // QEMU and its tools begin their complaints with their names.
    if (text.starts_with("kvm: ") || text.starts_with("qemu-img: ")) return true;
    return std::ranges::any_of(kComplaints, [&](auto word) { return text.find(word) != std::string::npos; });
}

std::string without_addresses(const std::string& line) {
    std::string result;
    std::size_t at = 0;
    for (auto found = line.find("://"); found != std::string::npos; found = line.find("://", at)) {
        const auto before = line.find_last_of(" ,;='\"", found);
        const auto begin = before == std::string::npos ? 0 : before + 1;
        result += line.substr(at, std::max(begin, at) - at) + "...";
        at = std::min(line.find_first_of(" ,;'\"", found), line.size());
    }
    return result + line.substr(at);
}

}  // namespace

std::string TaskStatus::complaint() const {
    const auto why = foreign::shown(steady(exit_status));
    return cause.empty() ? why : why + ": " + cause;
}

ErrorKind TaskStatus::failure() const {
    const auto kind = classify_exit(exit_status);
    return kind == ErrorKind::other ? classify_exit(cause) : kind;
}

std::string cause_in(const json::value& log, const std::string& exit_status) {
    const auto lines = objects_of(log);
    std::vector<std::string> causes;
    const auto oldest = lines.size() > kLinesLookedAt ? lines.size() - kLinesLookedAt : 0;
    for (auto i = lines.size(); i > oldest && causes.size() < kLinesShown; --i) {
        const auto line = foreign::shown(without_addresses(steady(text_of(*lines[i - 1], "t"))));
        const bool is_known = line.starts_with(kVerdict) || exit_status.find(line) != std::string::npos ||
                              std::ranges::find(causes, line) != causes.end();
        if (!is_known && sounds_like_a_cause(line)) causes.insert(causes.begin(), line);
    }
    return base::joined(causes, "; ");
}

TaskStatus parse_task_status(const json::value& data) {
    TaskStatus status;
    if (!data.is_object()) return status;
    const auto& fields = data.get_object();
    status.exit_status = text_of(fields, "exitstatus");
    if (text_of(fields, "status") == "running") {
        status.outcome = TaskOutcome::running;
    } else if (status.exit_status == "OK") {
        status.outcome = TaskOutcome::succeeded;
    } else if (status.exit_status.starts_with("WARNINGS:")) {
        status.outcome = TaskOutcome::succeeded;
        status.has_warnings = true;
    } else if (!status.exit_status.empty() &&
               classify_exit(status.exit_status) != ErrorKind::outcome_unknown) {
        status.outcome = TaskOutcome::failed;
    }
    return status;
}

}  // namespace providers::proxmox
