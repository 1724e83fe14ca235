#include "api/path.hpp"

namespace api {

void append_pointer(std::string& pointer, std::string_view key) {
    pointer += '/';
    for (const char c : key) {
        if (c == '~')
            pointer += "~0";
        else if (c == '/')
            pointer += "~1";
        else
            pointer += c;
    }
}

std::string Path::str() const {
    if (!parent) return {};
    std::string pointer = parent->str();
    append_pointer(pointer, index == kNoIndex ? key : std::string_view(std::to_string(index)));
    return pointer;
}

void Path::fail(std::string_view why) const {
    throw DecodeError(str(), why);
}

}  // namespace api
