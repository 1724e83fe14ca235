// The part of Sleeper that erases the drives of a host that is off.
#include "providers/redfish/power/sleeper.hpp"

namespace providers::redfish {

namespace {

constexpr base::Duration kWipePoll = std::chrono::seconds{15};
// A person must act first.
constexpr base::Duration kNextErasure = std::chrono::minutes{5};
// Number of attempts if an erasure is refused, or if its task vanishes or fails.
constexpr int kWipeAttempts = 3;

// Reports whether the BMC received the request and refused it for good.
bool is_refusal(ErrorKind kind) {
    return kind == ErrorKind::invalid_request || kind == ErrorKind::parameter_missing ||
           kind == ErrorKind::state_conflict || kind == ErrorKind::other;
}

}  // namespace

asio::awaitable<std::optional<RemoveResult>> Sleeper::wipe(Host host, std::shared_ptr<Station> station,
                                                           System system) {
    const auto name = host.name;
    const auto drives = co_await station->hardware.drives(std::move(system));
    if (drives.empty())
        co_return RemoveResult(RemovalBlocked{"WipeUnsupported",
                                              "the BMC of host " + name +
                                                  " lists no drives, so none can be erased; erase them "
                                                  "yourself and set spec.redfish.powerOff.wipe to None",
                                              kNextErasure});
    for (const auto& drive : drives) {
        auto outcome = co_await erase(name, drive, station);
        if (outcome) co_return outcome;
    }
    co_return std::nullopt;
}

// Erases one drive after another, as controllers accept one erasure at a time.
asio::awaitable<std::optional<RemoveResult>> Sleeper::erase(std::string name, std::string drive,
                                                            std::shared_ptr<Station> station) {
    auto& wipe = wipes_[name];
    const auto known = wipe.tasks.find(drive);
    const RemovalInProgress waiting{"erasing drive " + drive + " of host " + name, {}, kWipePoll};
    if (known != wipe.tasks.end()) {
        if (known->second.empty()) co_return std::nullopt;
        const auto progress = co_await station->hardware.task(known->second);
        if (progress == TaskProgress::running) co_return RemoveResult(waiting);
        if (progress == TaskProgress::succeeded) {
            known->second.clear();
            co_return std::nullopt;
        }
        wipe.tasks.erase(known);
    }
    if (wipe.attempts >= kWipeAttempts) {
        wipe.attempts = 0;
        co_return RemoveResult(RemovalBlocked{
            "WipeFailed",
            "drive " + drive + " of host " + name + " was not erased in " + std::to_string(kWipeAttempts) +
                " attempts; the host is not clean and stays reserved. Erase it yourself "
                "and set spec.redfish.powerOff.wipe to None",
            kNextErasure});
    }
    std::string task;
    bool is_impossible = false;
    try {
        task = co_await station->hardware.erase_drive(drive);
    } catch (const RedfishError& error) {
        is_impossible = is_impossibility(error.complaint);
        if (is_refusal(error.kind())) ++wipe.attempts;
        if (!is_impossible) throw;
    }
    if (is_impossible)
        co_return RemoveResult(
            RemovalBlocked{"WipeUnsupported",
                           "the BMC of host " + name + " cannot erase drive " + drive +
                               "; erase it yourself and set spec.redfish.powerOff.wipe to None",
                           kNextErasure});
    ++wipe.attempts;
    wipe.tasks[drive] = task;
    if (task.empty()) co_return std::nullopt;
    co_return RemoveResult(waiting);
}

}  // namespace providers::redfish
