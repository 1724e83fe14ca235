// Reading Proxmox' JSON, whose numbers may be strings and whose keys vanish when they have no value.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace providers::proxmox {

namespace json = boost::json;

// More than any host or machine has, and so little that sums, products and percentages of it never overflow.
inline constexpr std::int64_t kMostCpus = 1'000'000;

// Null and absent read as empty, zero, false. A string that is no number reads as zero.
std::string text_of(const json::value& value);
std::string text_of(const json::object& object, std::string_view key);
std::int64_t integer_of(const json::object& object, std::string_view key);
// Returns a number of bytes in whole MiB, bounded to more than any storage has, so that sums of them do not
// overflow.
std::int64_t mib_of(const json::object& object, std::string_view key);
double number_of(const json::object& object, std::string_view key);
bool flag_of(const json::object& object, std::string_view key);
// The elements that are objects; an empty list for anything but an array.
std::vector<const json::object*> objects_of(const json::value& value);

}  // namespace providers::proxmox
