// How a command ends: its text on standard output and its exit code, or a failure in one place.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace kubenodesmith {

inline constexpr int kFailure = 2;  // of every command: it could not do what was asked for

struct Answer {
    std::string text;
    int code = 0;
};

// Prints what `ask` returns and returns its exit code. What it throws is printed on standard error after the
// command's name, with the exit code kFailure; so is text that cannot be written.
int answer(std::string_view command, const std::function<Answer()>& ask);
// Writes the text to standard output. Returns why that failed; empty: it did not.
std::string write_out(std::string_view text);

}  // namespace kubenodesmith
