#include "providers/redfish/power/eraser.hpp"

#include <algorithm>
#include <span>

#include "base/backoff.hpp"
#include "base/hex.hpp"
#include "base/saturating.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "providers/foreign/shown_text.hpp"
#include "providers/redfish/bmc/link.hpp"

namespace providers::redfish {

namespace {

// Limit of a claim's task.
constexpr std::size_t kLongestRecord = 512;
constexpr std::string_view kErases = " erases ", kErased = "erased ";

// Returns a name of the drive that is short enough for a record of many.
std::string short_name(const std::string& drive) {
    constexpr std::size_t kBytes = 6;
    const auto fingerprint = base::sha256(path_of_link(drive));
    return base::hex(std::span(fingerprint).first(kBytes));
}

// Returns "erased DRIVE DRIVE; TASK erases DRIVE". What has no room is erased again after a restart.
std::string recorded_erasures(const std::map<std::string, Erasure>& drives) {
    std::string task, done;
    for (const auto& [drive, erasure] : drives) {
        if (!erasure.task.empty() && !erasure.is_done)
            task = erasure.task + std::string(kErases) + short_name(drive);
    }
    // The link comes from the BMC, and an API server refuses what is no text.
    if (task.size() > kLongestRecord || foreign::shown(task) != task) task.clear();
    for (const auto& [drive, erasure] : drives) {
        const auto name = short_name(drive);
        const auto size = task.size() + done.size() + kErased.size() + name.size() + 3;
        if (erasure.is_done && size <= kLongestRecord) done += (done.empty() ? "" : " ") + name;
    }
    if (!done.empty()) done = std::string(kErased) + done;
    return done + (done.empty() || task.empty() ? "" : "; ") + task;
}

// Returns what an earlier process recorded of the drive.
Erasure erasure_in(const std::string& record, const std::string& drive, base::TimePoint now) {
    const auto name = short_name(drive);
    const auto end_of_done = record.starts_with(kErased) ? std::min(record.find("; "), record.size()) : 0;
    Erasure erasure;
    erasure.is_done = (record.substr(0, end_of_done) + " ").find(" " + name + " ") != std::string::npos;
    auto task = record.substr(end_of_done);
    if (task.starts_with("; ")) task.erase(0, 2);
    const auto ending = std::string(kErases) + name;
    if (!erasure.is_done && task.ends_with(ending)) {
        erasure.task = task.substr(0, task.size() - ending.size());
        erasure.since = now;
    }
    return erasure;
}

constexpr base::Duration kWipePoll = std::chrono::seconds{15};
// A BMC may hide a controller for a moment.
constexpr base::Duration kHiddenController = std::chrono::seconds{30};
// Disks are erased for hours, but some BMCs begin only when the host is on, and say nothing.
constexpr base::Duration kLongErasure = std::chrono::minutes{30};
// A person must act first.
constexpr base::Duration kNextErasure = std::chrono::minutes{5};
// Number of attempts without a pause, if an erasure is refused, or if its answer is lost, or if its task
// vanishes or fails.
constexpr int kWipeAttempts = 3;
// After so many unreadable answers in a row a task counts as failed.
constexpr int kMostUnread = 20;
// Pauses between later attempts. Each erasure wears the drive out, whether or not its BMC reports success.
constexpr base::Backoff kErasurePauses{std::chrono::minutes{5}, std::chrono::hours{24}};

// Reports whether the BMC may have received the request: it began it, or it refused it for good.
bool is_attempt(RedfishErrorKind kind) {
    return kind == RedfishErrorKind::invalid_request || kind == RedfishErrorKind::parameter_missing ||
           kind == RedfishErrorKind::state_conflict || kind == RedfishErrorKind::other ||
           kind == RedfishErrorKind::outcome_unknown;
}

}  // namespace

void Eraser::resume(const std::string& host, const std::string& claim_uid, const std::string& record) {
    auto& wipe = wipe_of(host, claim_uid);
    if (wipe.drives.empty() && !wipe.begins_anew) wipe.record = record;
}

void Eraser::begin_anew(const std::string& host, const std::string& claim_uid) {
    wipe_of(host, claim_uid) = Wipe{.claim_uid = claim_uid, .begins_anew = true};
}

Eraser::Wipe& Eraser::wipe_of(const std::string& host, const std::string& claim_uid) {
    auto& wipe = wipes_[host];
    if (wipe.claim_uid != claim_uid) wipe = Wipe{.claim_uid = claim_uid};
    return wipe;
}

RemoveResult Eraser::with_record(RemoveResult result, const std::string& host,
                                 const std::string& claim_uid) const {
    auto* busy = std::get_if<RemovalInProgress>(&result);
    const auto wipe = wipes_.find(host);
    const bool is_known = wipe != wipes_.end() && wipe->second.claim_uid == claim_uid;
    if (busy && is_known)
        busy->task =
            wipe->second.drives.empty() ? wipe->second.record : recorded_erasures(wipe->second.drives);
    return result;
}

asio::awaitable<std::optional<RemoveResult>> Eraser::wipe(Host host, std::string claim_uid,
                                                          std::shared_ptr<Station> station, System system) {
    const auto name = host.name;
    std::vector<std::string> drives;
    std::string hidden;
    try {
        drives = co_await station->hardware.drives(std::move(system));
    } catch (const RedfishError& error) {
        if (!is_absence(error.kind())) throw;
        hidden = error.what();
    }
    if (!hidden.empty())
        co_return RemoveResult(RemovalBlocked{
            "WipeFailed",
            "the BMC does not show all controllers of host " + name + " that it lists (" + hidden +
                "); some show them only while the host is on; the host stays reserved until it does. Erase "
                "the drives yourself and set spec.redfish.powerOff.wipe to None if it never does",
            kHiddenController});
    auto& wipe = wipe_of(name, claim_uid);
    auto& erasures = wipe.drives;
    for (const auto& drive : drives)
        erasures.try_emplace(drive, erasure_in(wipe.record, drive, clock_.now()));
    const auto listed = static_cast<std::int64_t>(drives.size());
    const auto known = std::max(host.disks, static_cast<std::int64_t>(erasures.size()));
    if (drives.empty())
        co_return RemoveResult(RemovalBlocked{
            "WipeUnsupported",
            "the BMC of host " + name + " lists no drives" +
                (known > 0 ? " now, but " + base::counted(known, "drive") +
                                 " before (some list them only while "
                                 "the host is on)"
                           : "") +
                ", so none can be erased; erase them yourself and set spec.redfish.powerOff.wipe to None",
            kNextErasure});
    if (listed < known)
        co_return RemoveResult(RemovalBlocked{
            "WipeFailed",
            "the BMC of host " + name + " lists " + std::to_string(listed) + " of " +
                base::counted(known, "drive") +
                " that it listed before; the host is not clean and stays reserved until the others are "
                "listed again. If a drive was taken out, turn the host on until its status.disks is right, "
                "or erase the drives yourself and set spec.redfish.powerOff.wipe to None",
            kNextErasure});
    for (const auto& drive : drives) {
        // The erasure of the drive before was recorded.
        const auto fresh = co_await binding_.read(name);
        if (!fresh) co_return in_progress(changed_meanwhile(name), kConflictRetry);
        auto outcome = co_await erase(*fresh, claim_uid, drive, station);
        if (outcome) co_return outcome;
    }
    co_return std::nullopt;
}

// Returns why the drive must not be erased yet; nullopt: it may be. `words` say why the last attempt failed.
std::optional<RemoveResult> Eraser::why_not_erase(const Host& host, const std::string& drive,
                                                  const std::string& words) const {
    const auto count = host.use.erasures;
    if (count < kWipeAttempts || !host.use.last_erasure) return std::nullopt;
    const auto now = clock_.wall_now();
    // A wrong clock may have written a later time.
    const auto last = std::min(*host.use.last_erasure, now);
    if (now >= last + kErasurePauses.after(count - kWipeAttempts + 1)) return std::nullopt;
    return blocked("WipeFailed",
                   "drive " + drive + " of host " + host.name + " was not erased in " +
                       base::counted(count, "attempt") + (words.empty() ? "" : " (" + words + ")") +
                       ", which are repeated with growing pauses; the host is not clean and stays reserved. "
                       "Erase it yourself and set spec.redfish.powerOff.wipe to None",
                   kNextErasure);
}

// Erases one drive after another, as controllers accept one erasure at a time. Each request is counted before
// it is sent, as each may wear the drive out, and a later process must know of it.
asio::awaitable<std::optional<RemoveResult>> Eraser::erase(Host host, std::string claim_uid,
                                                           std::string drive,
                                                           std::shared_ptr<Station> station) {
    const auto name = host.name;
    auto& erasure = wipe_of(name, claim_uid).drives[drive];
    const RemovalInProgress waiting{"erasing drive " + drive + " of host " + name, {}, kWipePoll};
    const auto changed = in_progress(changed_meanwhile(name), kConflictRetry);
    if (erasure.is_done) co_return std::nullopt;
    if (!erasure.task.empty()) {
        std::optional<TaskReport> report;
        try {
            report = co_await station->hardware.task(erasure.task);
            erasure.unread = 0;
        } catch (const RedfishError& error) {
            // A monitor that ends with an empty answer never shows success.
            if (error.kind() != RedfishErrorKind::unreadable || ++erasure.unread < kMostUnread) throw;
            report = TaskReport{TaskProgress::failed, error.complaint.message};
        }
        if (report && report->progress == TaskProgress::running) {
            auto going_on = waiting;
            const bool is_long = clock_.now() - erasure.since >= kLongErasure;
            if (is_long)
                going_on.message +=
                    ": after half an hour its task " + foreign::shown(erasure.task) + " is " + report->words +
                    "; if it does not end, look at it on the BMC, or erase the drive yourself "
                    "and set spec.redfish.powerOff.wipe to None";
            co_return RemoveResult(std::move(going_on));
        }
        if (report && report->progress == TaskProgress::succeeded) {
            const auto noted = co_await binding_.note_erasures(host, 0);
            if (!noted) co_return changed;
            erasure.is_done = true;
            co_return std::nullopt;
        }
        erasure = {.words = report ? report->words : "its task vanished"};
    }
    auto obstacle = why_not_erase(host, drive, erasure.words);
    if (obstacle) co_return obstacle;
    // Another operator may have shown itself since this step began.
    if (auto wait = held(fleet_, host, "erasing the drives of host")) co_return wait;
    const auto before = host.use.erasures;
    auto count = before;
    base::count_up(count);
    const auto noted = co_await binding_.note_erasures(std::move(host), count);
    if (!noted) co_return changed;
    std::optional<RedfishError> refusal;
    try {
        erasure = co_await station->hardware.erase_drive(drive);
        erasure.since = clock_.now();
    } catch (const RedfishError& error) {
        refusal = error;
        erasure.words = error.complaint.message;
    }
    if (refusal && !is_attempt(refusal->kind())) co_await binding_.note_erasures(*noted, before);
    if (refusal && is_impossibility(refusal->complaint))
        co_return RemoveResult(
            RemovalBlocked{"WipeUnsupported",
                           "the BMC of host " + name + " cannot erase drive " + drive +
                               "; erase it yourself and set spec.redfish.powerOff.wipe to None",
                           kNextErasure});
    if (refusal) throw RedfishError(*refusal);
    if (!erasure.is_done && erasure.task.empty())
        co_return in_progress("erasing drive " + drive + " of host " + name + " failed: " + erasure.words,
                              kNextErasure);
    if (!erasure.is_done) co_return RemoveResult(waiting);
    co_await binding_.note_erasures(*noted, 0);
    co_return std::nullopt;
}

}  // namespace providers::redfish
