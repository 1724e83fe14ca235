// The Proxmox clusters that users have: small, unequal, and not everything everywhere.
#pragma once

#include <string>
#include <vector>

#include "api/v1alpha1/provider.hpp"
#include "test/simulators/proxmox/core/world.hpp"

namespace simulation {

class Dice;

// What machines of a provider are made from.
enum class Disks { none, blank, from_template };

struct Site {
    proxmox_simulator::World world;
    Disks disks = Disks::none;
    std::string disk_storage;  // with Disks::blank
};

inline constexpr const char* kTemplateName = "debian";
// Exists from the day on that the trouble ends.
inline constexpr const char* kMissingResourcePool = "batch";

// `names` of hosts, the first of which is what endpoints name: it is there and has everything.
Site draw_site(Dice& dice, const std::vector<std::string>& names, Disks disks);
// Providers make their machines in the resource pool "kubernetes", unless they name another, and their user
// has rights on machines in these pools alone.
void confine_to_pools(proxmox_simulator::World& world,
                      std::vector<api::v1alpha1::NodeSmithProvider>& providers);
// One to five names.
std::vector<std::string> draw_host_names(Dice& dice);
// What providers say of the site, and how full they let its hosts be.
void draw_site_use(Dice& dice, const Site& site, api::v1alpha1::NodeSmithProvider& provider);

}  // namespace simulation
