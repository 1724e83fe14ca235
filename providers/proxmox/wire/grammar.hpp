// Names that Proxmox allows. Other text is refused and reaches no message, path or label.
#pragma once

#include <string_view>

namespace providers::proxmox {

// Checks a host's name: pve-node in PVE::JSONSchema. It is a host name, so it has at most 63 characters.
bool is_host_name(std::string_view text);
// Checks a storage's name: pve-storage-id in PVE::JSONSchema, no longer than a file name.
bool is_storage_id(std::string_view text);
// Checks a package version, as the API reports its own: 9.1.4, 8.2.2~rc1.
bool is_version(std::string_view text);
// Checks the SHA-256 of a certificate: 64 hexadecimal digits, in pairs between colons.
bool is_fingerprint(std::string_view text);

}  // namespace providers::proxmox
