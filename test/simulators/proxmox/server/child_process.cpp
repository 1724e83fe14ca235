#include "test/simulators/proxmox/server/child_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/use_awaitable.hpp>
#include <system_error>

extern char** environ;

namespace proxmox_simulator {
namespace {

struct FileActions {
    posix_spawn_file_actions_t actions;
    FileActions() { posix_spawn_file_actions_init(&actions); }
    ~FileActions() { posix_spawn_file_actions_destroy(&actions); }
};

pid_t spawn(const std::vector<std::string>& arguments, const std::string& output_file) {
    FileActions files;
    posix_spawn_file_actions_addopen(&files.actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files.actions, 1, output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                     0600);
    posix_spawn_file_actions_adddup2(&files.actions, 1, 2);
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_t pid = -1;
    int error = posix_spawnp(&pid, argv[0], &files.actions, nullptr, argv.data(), environ);
    if (error != 0) throw std::system_error(error, std::system_category(), "starting " + arguments.front());
    return pid;
}

int open_process(pid_t pid) {
    return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

}  // namespace

ChildProcess::ChildProcess(asio::any_io_executor executor, const std::vector<std::string>& arguments,
                           const std::string& output_file)
    : pid_(spawn(arguments, output_file)), end_(executor, open_process(pid_)) {}

ChildProcess::~ChildProcess() {
    if (!running_) return;
    kill();
    reap();
}

void ChildProcess::kill() {
    if (running_) ::kill(pid_, SIGKILL);
}

int ChildProcess::reap() {
    int status = 0;
    waitpid(pid_, &status, 0);
    running_ = false;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

asio::awaitable<int> ChildProcess::wait() {
    co_await end_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    co_return reap();
}

}  // namespace proxmox_simulator
