// Formats amounts for people.
#pragma once
#include <cstdint>
#include <string>

#include "base/text.hpp"

namespace scheduling {

using base::counted;

// Returns "1 CPU" or "3.9 CPUs".
std::string cpus(std::int64_t millicores);
// Returns "512 MiB" or "7.75 GiB".
std::string memory(std::int64_t bytes);
// Returns up to three decimals without trailing zeros: "3.9".
std::string decimal(std::int64_t thousandths);

}  // namespace scheduling
