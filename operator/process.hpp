// The operator as a process: sockets, signals, exit codes.
#pragma once

#include "operator/options/options.hpp"

namespace kubenodesmith {

// Runs until SIGTERM or SIGINT (exit code 0), loss of the lease (1) or an invalid configuration (2).
int run_process(const Options& options);

}  // namespace kubenodesmith
