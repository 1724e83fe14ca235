#include "base/text.hpp"

namespace base {

std::string counted(std::int64_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string is_or_are(std::int64_t count) {
    return count == 1 ? "is" : "are";
}

}  // namespace base
