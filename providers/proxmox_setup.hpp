// What an administrator of Proxmox types once, before there is a provider.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace providers {

// What machines are to be made of. The rights follow from it.
struct ProxmoxSetup {
    std::string user = "kubenodesmith@pve";
    std::string token = "operator";
    std::string resource_pool = "kubernetes";  // empty: machines may be anywhere
    std::vector<std::string> disk_storages;
    std::vector<std::string> image_storages;     // of boot images: where pools join by cloud-init
    std::vector<std::string> download_storages;  // of images that templates are made of
    std::vector<std::string> bridges;
    std::vector<std::int64_t> templates;  // VMIDs
    bool through_guest_agent = false;     // how machines join
    std::int64_t major_version = 9;       // of Proxmox VE
};

// A shell script of pveum commands that give one token what its machines need, and nothing else; the comment
// before each says what for. Throws std::invalid_argument that names what is missing, or what cannot be.
std::string proxmox_setup_commands(const ProxmoxSetup& wish);

}  // namespace providers
