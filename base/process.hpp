// Runs another program and reads what it prints.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace base {

struct ProcessCommand {
    ProcessCommand() = default;
    std::string program;  // a path, or a name looked up in PATH
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;  // on top of our own
    Duration timeout = std::chrono::seconds{30};
};

struct ProcessResult {
    int exit_code = 0;  // 128 + signal if it was killed
    std::string output;
};

// Standard input is empty, standard error is ours. Throws std::runtime_error if the program cannot be
// started or does not end in time; then, and when the caller is cancelled, it is killed.
asio::awaitable<ProcessResult> run_process(Clock& clock, ProcessCommand command);

// The value of an environment variable, empty if unset.
std::string environment_variable(const char* name);

}  // namespace base
