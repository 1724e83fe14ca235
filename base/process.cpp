#include "base/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "base/task_group.hpp"

extern char** environ;

namespace base {
namespace {

constexpr std::size_t kMaxOutput = 1024 * 1024;

// Returns a descriptor that becomes readable when the process has ended. It uses the number of the system
// call, as the header of glibc 2.36 does not work in C++.
int open_pidfd(pid_t pid) {
    return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

std::runtime_error failure(const std::string& program, const std::string& what) {
    return std::runtime_error("running " + program + ": " + what);
}

std::vector<std::string> merged_environment(const ProcessCommand& command) {
    std::vector<std::string> merged;
    merged.reserve(command.environment.size());
    for (const auto& [name, value] : command.environment) merged.push_back(name + '=' + value);
    for (char** entry = environ; *entry; ++entry) {
        std::string_view ours(*entry);
        const auto name = ours.substr(0, ours.find('='));
        bool replaced = false;
        for (const auto& [other, value] : command.environment) replaced = replaced || other == name;
        if (!replaced) merged.emplace_back(ours);
    }
    return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (auto& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

// Child is a started process. Its destructor kills and reaps it.
class Child {
public:
    Child(const ProcessCommand& command, int output) {
        std::vector<std::string> arguments{command.program};
        arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
        auto environment = merged_environment(command);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        const int error = posix_spawnp(&pid_, command.program.c_str(), &actions, nullptr,
                                       pointers(arguments).data(), pointers(environment).data());
        posix_spawn_file_actions_destroy(&actions);
        if (error != 0) throw failure(command.program, std::generic_category().message(error));
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        reap();
    }
    pid_t pid() const { return pid_; }
    int reap() {
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

private:
    pid_t pid_ = 0;
};

asio::awaitable<void> run_to_end(const ProcessCommand& command, ProcessResult& result) {
    auto executor = co_await asio::this_coro::executor;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw failure(command.program, std::generic_category().message(errno));
    asio::posix::stream_descriptor reading(executor, ends[0]);
    asio::posix::stream_descriptor writing(executor, ends[1]);
    Child child(command, writing.native_handle());
    writing.close();

    boost::system::error_code error;
    auto output = asio::dynamic_buffer(result.output, kMaxOutput);
    co_await asio::async_read(reading, output, asio::redirect_error(asio::use_awaitable, error));
    if (!error) throw failure(command.program, "printed more than " + std::to_string(kMaxOutput) + " bytes");
    // It may close its output long before it ends.
    asio::posix::stream_descriptor ended(executor, open_pidfd(child.pid()));
    co_await ended.async_wait(asio::posix::stream_descriptor::wait_read,
                              asio::redirect_error(asio::use_awaitable, error));
    if (error) throw failure(command.program, error.message());
    result.exit_code = child.reap();
}

}  // namespace

asio::awaitable<ProcessResult> run_process(Clock& clock, ProcessCommand command) {
    ProcessResult result;
    bool ended = co_await run_before(clock, clock.now() + command.timeout, run_to_end(command, result));
    if (!ended) throw failure(command.program, "did not end in time");
    co_return result;
}

std::string environment_variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace base
