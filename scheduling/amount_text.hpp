// Amounts for people.
#pragma once
#include <cstdint>
#include <string>

#include "base/text.hpp"

namespace scheduling {

using base::counted;

// "1 CPU", "3.9 CPUs".
std::string cpus(std::int64_t millicores);
// "512 MiB", "7.75 GiB".
std::string memory(std::int64_t bytes);
// Up to three digits behind the point, none that say nothing: "3.9".
std::string decimal(std::int64_t thousandths);

}  // namespace scheduling
