// What Proxmox allows as a name. Other text is refused, and reaches no message, path or label.
#pragma once

#include <string_view>

namespace providers::proxmox {

// Of a host: pve-node in PVE::JSONSchema. It is a host name, so it has at most 63 characters.
bool is_host_name(std::string_view text);
// Of a storage: pve-storage-id there, and no longer than what else is a name in a file system.
bool is_storage_id(std::string_view text);
// Of a package, as the API gives its own: 9.1.4, 8.2.2~rc1.
bool is_version(std::string_view text);
// SHA-256 of a certificate: 64 hexadecimal digits, in pairs between colons.
bool is_fingerprint(std::string_view text);

}  // namespace providers::proxmox
