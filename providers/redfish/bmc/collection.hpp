// Reads the members of Redfish collections, which BMCs serve in pages. All functions throw RedfishError and
// FencedError, and must be called during a visit to the BMC.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <vector>

#include "providers/redfish/bmc/bmc.hpp"
#include "providers/redfish/bmc/system.hpp"

namespace providers::redfish {

enum class Asking {
    patiently,  // see Bmc::get()
    once,       // see Bmc::get_once()
};
// Returns the links of a collection's members.
asio::awaitable<std::vector<std::string>> members(Bmc& bmc, std::string collection,
                                                  Asking asking = Asking::patiently);

// Asks once for the members of a collection that may be missing; then it adds a flaw. An empty link has none.
asio::awaitable<std::vector<std::string>> members_of(Bmc& bmc, std::string name, std::string collection,
                                                     std::vector<std::string>& flaws);

// Asks once. Returns nullopt if the resource does not exist or this BMC does not serve it.
asio::awaitable<std::optional<RedfishResource>> find_once(Bmc& bmc, std::string link);

// Returns the managers of the system. Some systems do not link them; then it returns all of the service.
asio::awaitable<std::vector<std::string>> managers(Bmc& bmc, System system);

}  // namespace providers::redfish
