#include "providers/redfish/hosts/examiner.hpp"

#include <algorithm>

#include "api/names.hpp"

namespace providers::redfish {

namespace {

// Addresses and processors change with a screwdriver.
constexpr base::Duration kDetailsAge = std::chrono::hours{24};
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
    } catch (const RedfishError& error) {
        const auto kind = error.kind();
        report.reachable = kind != ErrorKind::unreachable && kind != ErrorKind::outcome_unknown;
        report.authenticated =
            report.reachable && kind != ErrorKind::unauthorized && kind != ErrorKind::password_change;
        report.retry_after = error.complaint.retry_after.value_or(base::Duration::zero());
        explain(report, reason_of(kind), error.what());
        if (station && station->bmc.is_suspended()) report.refused_credentials = station->credentials;
    } catch (const FencedError&) {
        throw;
    } catch (const CredentialsError& error) {
        explain(report, std::string(api::reasons::kSecretMissing), error.what());
    } catch (const std::invalid_argument& error) {
        explain(report, "InvalidHost", error.what());
    }
    co_return report;
}

// Of hosts that are on, and seldom: it costs a call.
asio::awaitable<void> Examiner::measure(std::shared_ptr<Station> station, System system) {
    if (system.power != PowerState::on) {
        station->watts.reset();
        co_return;
    }
    const bool is_fresh = station->watts && clock_.now() - station->watts_at < kWattsAge;
    if (is_fresh || station->power_meter.empty()) co_return;
    station->watts = co_await station->hardware.power_watts(station->power_meter);
    station->watts_at = clock_.now();
    if (!station->watts) station->power_meter.clear();
}

asio::awaitable<void> Examiner::look(Host host, std::shared_ptr<Station> station, HostReport& report) {
    const auto system = co_await station->hardware.system();
    const bool is_stale = !station->details || clock_.now() - station->details_at >= kDetailsAge;
    if (is_stale) {
        station->details = co_await station->hardware.details(system);
        station->details_at = clock_.now();
        station->power_meter = station->details->power_meter;
    }
    report.power_state = system.power_text;
    report.health = system.health;
    report.system_uuid = system.uuid;
    report.serial_number = system.serial_number;
    report.macs = station->details->macs;
    const auto& details = *station->details;
    report.cpu_cores =
        system.are_cores_certain ? system.cpu_cores : std::max(system.cpu_cores, details.threads);
    report.disks = details.disks;
    report.ports = details.ports;
    report.flaws = system.flaws;
    report.flaws.insert(report.flaws.end(), details.flaws.begin(), details.flaws.end());
    report.memory_mib = system.memory_mib;
    co_await measure(station, system);
    report.power_watts = station->watts;
    report.lock = co_await lock_.look(host, station, system);
    const bool has_served =
        host.use.stage == HostStage::in_use && settings_.spec.boot.method != api::v1alpha1::BootMethod::Disk;
    if (has_served && system.boot.is_set()) co_await station->hardware.clear_boot(system);
}

}  // namespace providers::redfish
