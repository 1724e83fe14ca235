// Draws Proxmox clusters as users have them: small and unequal, with things that only some hosts have.
#pragma once

#include <string>
#include <vector>

#include "api/v1alpha1/provider.hpp"
#include "test/simulators/proxmox/core/world.hpp"

namespace simulation {

class Dice;

// Disks says what machines of a provider are made from.
enum class Disks { none, blank, from_template };

struct Site {
    proxmox_simulator::World world;
    Disks disks = Disks::none;
    std::string disk_storage;  // only with Disks::blank
};

inline constexpr const char* kTemplateName = "debian";
// This resource pool exists only after the trouble has ended.
inline constexpr const char* kMissingResourcePool = "batch";

// Draws a site with these hosts. Endpoints name the first host, which is on and has everything.
Site draw_site(Dice& dice, const std::vector<std::string>& names, Disks disks);
// Makes providers use the resource pool "kubernetes" unless they name another one. Their user has rights only
// on machines in these pools.
void confine_to_pools(proxmox_simulator::World& world,
                      std::vector<api::v1alpha1::NodeSmithProvider>& providers);
// Returns one to five names.
std::vector<std::string> draw_host_names(Dice& dice);
// Draws the provider's settings for the site, and how full it may make the hosts.
void draw_site_use(Dice& dice, const Site& site, api::v1alpha1::NodeSmithProvider& provider);

}  // namespace simulation
