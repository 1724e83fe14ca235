// Numbers in sentences, and sentences that have to be short.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace base {

// "1 node", "2 nodes".
std::string counted(std::int64_t count, const std::string& noun);
// "is" for one, else "are".
std::string is_or_are(std::int64_t count);
// The whole characters of UTF-8 that `text` begins with, in at most `most` bytes. Half a character is no text
// that an API server takes as it is.
std::string_view beginning(std::string_view text, std::size_t most);

}  // namespace base
