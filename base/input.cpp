#include "base/input.hpp"

#include <fstream>
#include <iostream>
#include <sstream>

namespace base {

std::optional<std::string> read_input(const std::string& file) {
    std::ostringstream text;
    if (file == "-") {
        text << std::cin.rdbuf();
        return text.str();
    }
    std::ifstream stream(file);
    if (stream) text << stream.rdbuf();
    if (!stream) return std::nullopt;
    return text.str();
}

}  // namespace base
