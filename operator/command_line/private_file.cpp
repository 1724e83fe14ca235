#include "operator/command_line/private_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace kubenodesmith {

PrivateFile::PrivateFile(std::string path) : path_(std::move(path)) {
    opened_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (opened_ < 0) fail("create");
}

PrivateFile::~PrivateFile() {
    if (opened_ >= 0) ::close(opened_);
    if (!is_written_) ::unlink(path_.c_str());
}

void PrivateFile::write(std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(opened_, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) fail("write");
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::close(std::exchange(opened_, -1)) != 0) fail("write");
    is_written_ = true;
}

void PrivateFile::fail(const char* what) const {
    const auto why = std::error_code(errno, std::generic_category()).message();
    throw std::runtime_error(std::string("cannot ") + what + " " + path_ + ": " + why);
}

}  // namespace kubenodesmith
