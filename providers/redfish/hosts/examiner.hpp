// Examiner examines a host through its BMC for the host's status. It also cancels a boot override that has
// served its purpose.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "providers/host_report.hpp"
#include "providers/redfish/hosts/binding.hpp"
#include "providers/redfish/hosts/boot_preparation.hpp"
#include "providers/redfish/hosts/host_lock.hpp"

namespace providers::redfish {

class Examiner {
public:
    // All arguments must outlive this.
    Examiner(const RedfishSettings& settings, BmcConnections& fleet, Binding& binding, base::Clock& clock)
        : settings_(settings),
          fleet_(fleet),
          binding_(binding),
          clock_(clock),
          lock_(settings, fleet, clock),
          preparation_(settings, fleet) {}

    asio::awaitable<HostReport> examine(Host host);

private:
    asio::awaitable<void> look(Host host, std::shared_ptr<Station> station, HostReport& report);
    asio::awaitable<void> look_at_boot(Host host, std::shared_ptr<Station> station, System system,
                                       HostReport& report);
    asio::awaitable<void> read_details(std::shared_ptr<Station> station, System system);
    asio::awaitable<void> cancel_served_boot(Host host, std::shared_ptr<Station> station, System system,
                                             HostReport& report);
    // Reports whether the boot may be undone now, rather than after a pause.
    bool may_undo_now(const Station& station) const;
    // Records the outcome of an attempt to undo it.
    void note_undoing(Station& station, bool is_undone);
    asio::awaitable<void> measure(std::shared_ptr<Station> station, System system);

    const RedfishSettings& settings_;
    BmcConnections& fleet_;
    Binding& binding_;
    base::Clock& clock_;
    HostLock lock_;
    BootPreparation preparation_;
};

}  // namespace providers::redfish
