// The parts of a host. Most of them are only shown to people, so a missing or impossible value affects only
// its part.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "providers/redfish/bmc/bmc.hpp"
#include "providers/redfish/bmc/system.hpp"

namespace providers::redfish {

// Details change rarely and are read once a day. If parts were unreadable, they are read sooner, with growing
// pauses.
struct Details {
    std::set<Part> unread;
    std::vector<std::string> macs;
    std::int64_t threads = 0;  // of all processors, if the system's summary is not certain
    std::vector<DiskGroup> disks;
    std::vector<PortGroup> ports;
    std::vector<AcceleratorGroup> accelerators;
    std::string architecture;  // empty: the processors do not report it
    std::string bmc_version;
    std::string network_adapters;  // links of the chassis; empty: none
    std::string power_meter;       // meter for the power of the chassis
    std::vector<std::string> flaws;
};

// DetailsReader reads each part by itself, so an unreadable one is only missing.
class DetailsReader {
public:
    // `bmc` must outlive this.
    explicit DetailsReader(Bmc& bmc) : bmc_(bmc) {}

    // Throws FencedError. Must be called during a visit to the BMC.
    asio::awaitable<Details> read(System system);

private:
    using Reader = asio::awaitable<void> (DetailsReader::*)(System, Details&);
    asio::awaitable<void> read_part(Part part, Reader reader, System system, Details& details);
    asio::awaitable<void> read_interfaces(System system, Details& details);
    asio::awaitable<void> read_processors(System system, Details& details);
    asio::awaitable<void> read_disks(System system, Details& details);
    asio::awaitable<void> read_chassis(System system, Details& details);
    asio::awaitable<void> read_adapters(System system, Details& details);
    asio::awaitable<void> read_manager(System system, Details& details);

    Bmc& bmc_;
    struct Silence {
        base::TimePoint until{};
        std::string why;  // the same words while it lasts, so that the status does not change
    };
    std::map<Part, Silence> silences_;  // of parts whose last read timed out
};

}  // namespace providers::redfish
