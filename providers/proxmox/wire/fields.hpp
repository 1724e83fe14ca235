// Reads Proxmox' JSON. Its numbers may be strings, and keys without a value are absent.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace providers::proxmox {

namespace json = boost::json;

// More than any host or machine has, and small enough that sums, products and percentages never overflow.
inline constexpr std::int64_t kMostCpus = 1'000'000;

// Null and absent values read as empty, zero or false. A string that is no number reads as zero.
std::string text_of(const json::value& value);
std::string text_of(const json::object& object, std::string_view key);
std::int64_t integer_of(const json::object& object, std::string_view key);
// Returns a number of bytes in whole MiB. The limit exceeds any storage, so sums do not overflow.
std::int64_t mib_of(const json::object& object, std::string_view key);
double number_of(const json::object& object, std::string_view key);
bool flag_of(const json::object& object, std::string_view key);
// Returns the elements that are objects. For a value that is no array the list is empty.
std::vector<const json::object*> objects_of(const json::value& value);

}  // namespace providers::proxmox
