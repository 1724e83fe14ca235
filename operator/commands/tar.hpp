// An archive of files (POSIX ustar).
#pragma once

#include <string>
#include <string_view>

#include "api/time.hpp"

namespace kubenodesmith {

class Tar {
public:
    explicit Tar(api::Time time) : time_(time) {}

    // Adds a file. Throws std::invalid_argument if the path is longer than 100 bytes.
    void add(const std::string& path, std::string_view text);
    // Returns the archive including its end marker.
    std::string str() const;

private:
    api::Time time_;  // modification time of all files
    std::string archive_;
};

}  // namespace kubenodesmith
