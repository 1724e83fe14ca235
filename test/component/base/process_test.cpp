#include "base/process.hpp"

#include "test/component/base/loop.hpp"

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

// Returns the output, or the message of the failure.
std::string outcome(base::ProcessCommand command, int* exit_code = nullptr) {
    test::Loop loop;
    std::string result;
    loop.run([&]() -> asio::awaitable<void> {
        try {
            auto ended = co_await base::run_process(*loop.clock, command);
            if (exit_code) *exit_code = ended.exit_code;
            result = ended.output;
        } catch (const std::runtime_error& error) {
            result = error.what();
        }
    });
    return result;
}

base::ProcessCommand shell(std::string script) {
    base::ProcessCommand command;
    command.program = "sh";
    command.arguments = {"-c", std::move(script)};
    return command;
}

}  // namespace

TEST_CASE("a program's output and exit code come back, its environment is ours and more") {
    auto command = shell("printf '%s %s' \"$GREETING\" \"${PATH:+path}\"; exit 3");
    command.environment = {{"GREETING", "hello"}};
    int exit_code = 0;
    CHECK(outcome(command, &exit_code) == "hello path");
    CHECK(exit_code == 3);
}

TEST_CASE("a program that closes its output first is waited for") {
    int exit_code = 0;
    CHECK(outcome(shell("exec >&-; sleep 0.1; exit 4"), &exit_code).empty());
    CHECK(exit_code == 4);
}

TEST_CASE("a program that is not there, does not end or talks without end is a failure") {
    base::ProcessCommand missing;
    missing.program = "/no/such/program";
    CHECK(outcome(missing) == "running /no/such/program: No such file or directory");
    auto slow = shell("exec sleep 100");
    slow.timeout = 50ms;
    CHECK(outcome(slow) == "running sh: did not end in time");
    CHECK(outcome(shell("exec yes")) == "running sh: printed more than 1048576 bytes");
}
