#include "base/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace base {

namespace {

constexpr std::size_t kBlock = std::size_t{64} << 10;

[[noreturn]] void fail(const std::string& name, const std::string& why) {
    throw std::runtime_error("reading " + name + ": " + why);
}

[[noreturn]] void fail(const std::string& name, int error) {
    fail(name, std::generic_category().message(error));
}

// Reads directly into the result, as the stream's buffer would keep a copy of tokens and keys.
std::string read_all(std::FILE* file, const std::string& name, std::size_t most) {
    std::string content;
    for (;;) {
        const auto before = content.size();
        // One byte above the limit shows that there is more.
        content.resize(std::min(std::max(2 * before, kBlock), most + 1));
        const auto count = std::fread(content.data() + before, 1, content.size() - before, file);
        const bool ended = count < content.size() - before;
        content.resize(before + count);
        if (std::ferror(file)) fail(name, errno);
        if (content.size() > most) fail(name, "more than " + std::to_string(most) + " bytes");
        if (ended) return content;
    }
}

}  // namespace

std::string read_file(const std::string& path, std::size_t most) {
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
    if (!file) fail(path, errno);
    std::setvbuf(file.get(), nullptr, _IONBF, 0);
    return read_all(file.get(), path, most);
}

std::string read_input(const std::string& file, std::size_t most) {
    if (file != "-") return read_file(file, most);
    return read_all(stdin, "standard input", most);
}

}  // namespace base
