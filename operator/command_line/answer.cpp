#include "operator/command_line/answer.hpp"

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "base/log.hpp"
#include "base/text.hpp"

namespace kubenodesmith {
namespace {

void complain(std::string_view command, std::string_view why) {
    const auto text = std::string(command) + ": " + base::for_terminal(why) + "\n";
    std::fputs(text.c_str(), stderr);
}

}  // namespace

std::string write_out(std::string_view text) {
    errno = 0;
    const bool is_written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (is_written) return {};
    return "cannot write the output: " + std::error_code(errno, std::generic_category()).message();
}

int answer(std::string_view command, const std::function<Answer()>& ask) {
    base::log::configure(base::log::Level::warning, base::log::Format::text);
    try {
        const auto given = ask();
        const auto failure = write_out(given.text);
        if (failure.empty()) return given.code;
        complain(command, failure);
    } catch (const std::exception& error) {
        complain(command, error.what());
    }
    return kFailure;
}

}  // namespace kubenodesmith
