// One child process whose output is written to a file. Waiting for it does not block the loop. It works on
// Linux only.
#pragma once

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <string>
#include <vector>

namespace proxmox_simulator {

namespace asio = boost::asio;

class ChildProcess {
public:
    // Appends standard output and error to `output_file`. Throws std::system_error if the process can't be
    // started.
    ChildProcess(asio::any_io_executor executor, const std::vector<std::string>& arguments,
                 const std::string& output_file);
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    // Kills the process if it still runs.
    ~ChildProcess();

    // Returns the exit code, or 128 + signal number if a signal ended the process. Call it once.
    asio::awaitable<int> wait();
    void kill();

private:
    int reap();

    pid_t pid_ = -1;
    asio::posix::stream_descriptor end_;  // becomes readable when the process ends
    bool running_ = true;
};

}  // namespace proxmox_simulator
