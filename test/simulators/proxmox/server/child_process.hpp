// One child process: started with its output in a file, awaited without blocking the loop. Linux only.
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
    // Standard output and error are appended to `output_file`. Throws std::system_error if it can't be
    // started.
    ChildProcess(asio::any_io_executor executor, const std::vector<std::string>& arguments,
                 const std::string& output_file);
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    // Kills it if it still runs.
    ~ChildProcess();

    // The exit code; 128 + signal number if a signal ended it. Called once.
    asio::awaitable<int> wait();
    void kill();

private:
    int reap();

    pid_t pid_ = -1;
    asio::posix::stream_descriptor end_;  // becomes readable when the process ends
    bool running_ = true;
};

}  // namespace proxmox_simulator
