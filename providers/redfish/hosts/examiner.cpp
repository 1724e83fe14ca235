#include "providers/redfish/hosts/examiner.hpp"

#include <algorithm>

#include "api/names.hpp"
#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/saturating.hpp"
#include "base/uuid.hpp"

namespace providers::redfish {

namespace {

// Addresses and processors only change with a screwdriver.
constexpr base::Duration kDetailsAge = std::chrono::hours{24};
// Unreadable parts are read again together with all others. A permanent refusal must not cost a hundred
// requests at each look.
constexpr base::Backoff kUnreadPause{std::chrono::minutes{5}, kDetailsAge};
// Pauses between attempts to undo a boot whose BMC keeps what was prepared.
constexpr base::Backoff kKeptBootPauses{std::chrono::minutes{15}, kDetailsAge};
constexpr base::Duration kWattsAge = std::chrono::minutes{10};

void explain(HostReport& report, std::string reason, std::string message) {
    report.reason = std::move(reason);
    report.message = std::move(message);
}

}  // namespace

asio::awaitable<HostReport> Examiner::examine(Host host) {
    HostReport report;
    std::shared_ptr<Station> station;
    try {
        station = co_await fleet_.station(host);
        const auto visit = co_await station->bmc.visit();
        co_await look(std::move(host), station, report);
        report.reachable = true;
        report.authenticated = true;
        report.accepted_credentials = station->credentials;
        report.are_sessions_off = station->bmc.access().are_sessions_off();
    } catch (const RedfishError& error) {
        const auto kind = error.kind();
        report.reachable = kind != RedfishErrorKind::unreachable && kind != RedfishErrorKind::outcome_unknown;
        report.authenticated = report.reachable && kind != RedfishErrorKind::unauthorized &&
                               kind != RedfishErrorKind::doubted && kind != RedfishErrorKind::password_change;
        report.retry_after = error.complaint.retry_after.value_or(base::Duration::zero());
        explain(report, reason_of(kind), error.what());
        if (station && station->bmc.access().refusals() > 0) {
            report.refused_credentials = station->credentials;
            report.refusals = station->bmc.access().refusals();
        }
    } catch (const FencedError&) {
        throw;
    } catch (const CredentialsError& error) {
        explain(report, std::string(api::reasons::kSecretMissing), error.what());
    } catch (const std::invalid_argument& error) {
        explain(report, "InvalidHost", error.what());
    }
    co_return report;
}

// Reads the power use of a host that is on, rarely, as it costs a call.
asio::awaitable<void> Examiner::measure(std::shared_ptr<Station> station, System system) {
    if (system.power != PowerState::on) {
        station->watts.reset();
        co_return;
    }
    const bool is_fresh = station->watts && clock_.now() - station->watts_at < kWattsAge;
    if (is_fresh || station->power_meter.empty()) co_return;
    station->watts_at = clock_.now();
    try {
        station->watts = co_await station->hardware.power_watts(station->power_meter);
        if (!station->watts) station->power_meter.clear();
    } catch (const RedfishError&) {
        station->watts.reset();  // this value is not important
    }
}

// Reads the details. Unreadable parts keep their last known values.
asio::awaitable<void> Examiner::read_details(std::shared_ptr<Station> station, System system) {
    const int incomplete = station->incomplete_details;
    const auto age = incomplete > 0 ? kUnreadPause.after(incomplete) : kDetailsAge;
    if (station->details && clock_.now() - station->details_at < age) co_return;
    auto details = co_await station->hardware.details(std::move(system));
    if (details.unread.empty())
        station->incomplete_details = 0;
    else
        base::count_up(station->incomplete_details);
    if (!details.unread.contains(Part::chassis)) station->power_meter = details.power_meter;
    station->details = std::move(details);
    station->details_at = clock_.now();
}

// Cancels an override that has served and that its BMC did not use up. A later one is somebody else's.
asio::awaitable<void> Examiner::cancel_served_boot(Host host, std::shared_ptr<Station> station, System system,
                                                   HostReport& report) {
    const bool has_served = host.use.stage == HostStage::in_use && host.use.is_prepared;
    if (!has_served) co_return;
    try {
        const bool is_set = system.boot.is_set();
        if (!is_set) note_undoing(*station, true);
        if (is_set && may_undo_now(*station)) {
            const bool is_cancelled = co_await preparation_.cancel(station, std::move(system));
            note_undoing(*station, is_cancelled);
        }
        if (station->kept_boots > 0) {
            report.left_prepared =
                "its BMC keeps our boot override, which its next boot may use: clear it on the BMC";
            co_return;
        }
        // The system that runs there may need its image until the host is off.
        if (settings_.spec.boot.method != api::v1alpha1::BootMethod::VirtualMedia)
            co_await binding_.note_undone(std::move(host));
    } catch (const RedfishError& error) {
        base::log::debug("Could not cancel a boot override that is no longer needed",
                         {{"host", host.name}, {"error", error.what()}});
    }
}

bool Examiner::may_undo_now(const Station& station) const {
    return station.kept_boots == 0 ||
           clock_.now() - station.boot_kept_at >= kKeptBootPauses.after(station.kept_boots);
}

void Examiner::note_undoing(Station& station, bool is_undone) {
    station.boot_kept_at = clock_.now();
    if (is_undone)
        station.kept_boots = 0;
    else
        base::count_up(station.kept_boots);
}

asio::awaitable<void> Examiner::look(Host host, std::shared_ptr<Station> station, HostReport& report) {
    const auto system = co_await station->hardware.system();
    co_await read_details(station, system);
    const auto& details = *station->details;
    report.power_state = system.power_text;
    report.health = system.health;
    report.state = system.state;
    report.system_uuid = system.uuid;
    report.serial_number = system.serial_number;
    report.model = full_model(system.manufacturer, system.model);
    report.bios_version = system.bios_version;
    report.bmc_version = details.bmc_version;
    report.architecture = details.architecture;
    report.macs = details.macs;
    report.unread = details.unread;
    const bool were_cores_known = host.capacity && host.capacity->cpu_cores > 0;
    const bool are_cores_known =
        system.are_cores_certain || !details.unread.contains(Part::processors) || !were_cores_known;
    if (are_cores_known)
        report.cpu_cores =
            system.are_cores_certain ? system.cpu_cores : std::max(system.cpu_cores, details.threads);
    report.disks = details.disks;
    report.ports = details.ports;
    report.accelerators = details.accelerators;
    report.flaws = system.flaws;
    report.flaws.insert(report.flaws.end(), details.flaws.begin(), details.flaws.end());
    report.memory_mib = system.memory_mib;
    co_await measure(station, system);
    report.power_watts = station->watts;
    report.lock = co_await lock_.look(host, station, system);
    // A missing value does not disprove the last one, which stays valid until the BMC reports another.
    const bool lacks_identity = system.uuid.empty() && !host.system_uuid.empty();
    const bool lacks_power = system.power == PowerState::unknown && !host.power_state.empty();
    if (lacks_identity || lacks_power)
        explain(report, reason_of(RedfishErrorKind::unreadable),
                std::string("its BMC reports no ") + (lacks_identity ? "system UUID" : "power state") +
                    " at the moment, although it did before; it is asked again");
    co_await cancel_served_boot(host, station, system, report);
    co_await look_at_boot(std::move(host), std::move(station), system, report);
}

// Checks for obstacles to a boot before a claim takes the host, and undoes what an earlier claim left.
asio::awaitable<void> Examiner::look_at_boot(Host host, std::shared_ptr<Station> station, System system,
                                             HostReport& report) {
    report.boot_obstacle = station->boot_obstacle;
    const bool is_new = station->details_at != station->boot_looked_at;
    // What one answer lacked may be there again, and people mend what the obstacle names.
    const bool is_due = host.use.is_prepared || is_new || !station->boot_obstacle.empty();
    const bool is_theirs = report.lock && !report.lock->is_usable;
    if (!is_due || is_theirs || host.use.owner) co_return;
    try {
        if (host.macs.empty()) host.macs = report.macs;
        station->boot_obstacle = co_await preparation_.obstacle(host, station, system);
        report.boot_obstacle = station->boot_obstacle;
        // A claim that has taken the host meanwhile prepares it for itself.
        const auto fresh = co_await fleet_.inventory().read(settings_.namespace_, host.name);
        if (!fresh || fresh->use.owner) co_return;
        // Another operator of the same hosts may have prepared it.
        if (!fleet_.why_not_destroy().why.empty()) co_return;
        // Only what is recorded is known to be ours. Without a record only our image shows itself, which a
        // backup of the host's object may have forgotten.
        const bool is_quiet = is_new && system.power == PowerState::off && !host.is_in_maintenance;
        const bool is_left = fresh->use.is_prepared;
        const bool is_it = base::same_uuid(system.uuid, host.system_uuid);
        if (is_it && is_left && may_undo_now(*station)) {
            const bool is_undone = co_await preparation_.undo(host, station, std::move(system));
            note_undoing(*station, is_undone);
            if (is_undone) co_await binding_.note_undone(*fresh);
        } else if (is_it && !is_left && is_quiet) {
            co_await preparation_.eject_shown(host, station, std::move(system));
        }
        if (!is_left && !is_quiet) co_return;
        if (is_left && station->kept_boots > 0)
            report.left_prepared = std::string("what was prepared for a boot could not be undone yet: ") +
                                   kStillPrepared + "; it is tried again, or clear it on the BMC";
        station->boot_looked_at = station->details_at;
    } catch (const RedfishError& error) {
        if (host.use.is_prepared)
            report.left_prepared =
                std::string("what was prepared for a boot that was given up could not be undone yet: ") +
                error.what();
    }
    report.boot_obstacle = station->boot_obstacle;
}

}  // namespace providers::redfish
