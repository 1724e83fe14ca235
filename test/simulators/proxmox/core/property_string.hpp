// Values that are themselves lists of keys, such as "virtio=BC:24:11:00:00:01,bridge=vmbr0".
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "test/simulators/proxmox/core/schema.hpp"

namespace proxmox_simulator {

using Properties = std::map<std::string, std::string, std::less<>>;

// Splits the text at commas, and resolves the default key and aliases. It does not check values against their
// types. Throws std::invalid_argument with Proxmox' complaint.
Properties parse_properties(const Schema& group, std::string_view text);
// Returns the canonical form: the default key's value (or the aliased key) first, the others by name.
std::string print_properties(const Schema& group, const Properties& properties);

// Returns the value of `key` in a text that is known to be valid; empty if the key is absent.
std::string property_of(std::string_view group, std::string_view text, std::string_view key);

}  // namespace proxmox_simulator
