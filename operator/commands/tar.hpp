// Files packed into one (POSIX ustar).
#pragma once

#include <string>
#include <string_view>

#include "api/time.hpp"

namespace kubenodesmith {

class Tar {
public:
    explicit Tar(api::Time time) : time_(time) {}

    // A path of at most 100 bytes. Throws std::invalid_argument for a longer one.
    void add(const std::string& path, std::string_view text);
    // The archive with its end.
    std::string str() const;

private:
    api::Time time_;  // of all files
    std::string archive_;
};

}  // namespace kubenodesmith
