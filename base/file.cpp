#include "base/file.hpp"

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace base {

std::string read_file(const std::string& path) {
    auto fail = [&path](int error) {
        throw std::runtime_error("reading " + path + ": " + std::generic_category().message(error));
    };
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
    if (!file) fail(errno);
    std::string content;
    char block[16 * 1024];
    while (auto count = std::fread(block, 1, sizeof block, file.get())) content.append(block, count);
    if (std::ferror(file.get())) fail(errno);
    return content;
}

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
