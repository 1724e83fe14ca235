#include "base/input.hpp"

#include <iostream>
#include <sstream>
#include <stdexcept>

#include "base/file.hpp"

namespace base {

std::optional<std::string> read_input(const std::string& file) {
    if (file == "-") {
        std::ostringstream text;
        text << std::cin.rdbuf();
        return text.str();
    }
    try {
        return read_file(file);
    } catch (const std::runtime_error&) {
        return std::nullopt;
    }
}

}  // namespace base
