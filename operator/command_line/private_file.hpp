// PrivateFile is a new file that only its owner may read. An existing file is never overwritten.
#pragma once

#include <string>
#include <string_view>

namespace kubenodesmith {

class PrivateFile {
public:
    // Creates the empty file. Throws std::runtime_error.
    explicit PrivateFile(std::string path);
    PrivateFile(const PrivateFile&) = delete;
    PrivateFile& operator=(const PrivateFile&) = delete;
    // Removes the file again unless all of its text was written.
    ~PrivateFile();

    // Writes the whole text and closes the file. Throws std::runtime_error.
    void write(std::string_view text);

private:
    [[noreturn]] void fail(const char* what) const;

    std::string path_;
    int opened_ = -1;
    bool is_written_ = false;
};

}  // namespace kubenodesmith
