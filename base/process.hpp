// Runs another program and reads its output.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace base {

struct ProcessCommand {
    ProcessCommand() = default;
    std::string program;  // a path, or a name to find in PATH
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;  // added to our own
    Duration timeout = std::chrono::seconds{30};
};

struct ProcessResult {
    int exit_code = 0;  // 128 + signal if it was killed
    std::string output;
};

// Runs the program with empty standard input and our standard error. Throws std::runtime_error if it cannot
// be started or does not end in time. It is killed then, and also if the caller is cancelled.
asio::awaitable<ProcessResult> run_process(Clock& clock, ProcessCommand command);

// Returns the value of an environment variable, empty if unset.
std::string environment_variable(const char* name);

}  // namespace base
