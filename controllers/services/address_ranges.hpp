// Chooses static addresses from ranges that users write: "10.0.4.50", "10.0.4.50-10.0.4.99". Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace controllers {

bool is_address(const std::string& text);
// Returns the form in which addresses compare equal ("2001:DB8:0::1" becomes
// "2001:db8::1"). Throws std::invalid_argument.
std::string canonical_address(const std::string& text);

// Returns the first address of the ranges, in their order, that is not in `taken` (canonical); nullopt: all
// are. Throws std::invalid_argument that names an invalid range.
std::optional<std::string> choose_address(const std::vector<std::string>& ranges,
                                          const std::set<std::string>& taken);

// Returns how many addresses the ranges hold, at most a million, for people.
std::size_t count_addresses(const std::vector<std::string>& ranges);

}  // namespace controllers
