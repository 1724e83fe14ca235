// Numbers in sentences.
#pragma once
#include <cstdint>
#include <string>

namespace base {

// "1 node", "2 nodes".
std::string counted(std::int64_t count, const std::string& noun);
// "is" for one, else "are".
std::string is_or_are(std::int64_t count);

}  // namespace base
