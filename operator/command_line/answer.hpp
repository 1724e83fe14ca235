// Ends a command: prints its text or its failure, and returns the exit code.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kubenodesmith {

inline constexpr int kFailure = 2;  // exit code of each command that failed

struct Answer {
    std::string text;
    int code = 0;
};

// Prints the text from `ask` on standard output and returns its exit code. If `ask` throws or the text cannot
// be written, prints the error on standard error after the command's name. Then it returns kFailure.
int answer(std::string_view command, const std::function<Answer()>& ask);
// Writes the text to standard output. Returns why that failed, or an empty text.
std::string write_out(std::string_view text);

}  // namespace kubenodesmith
