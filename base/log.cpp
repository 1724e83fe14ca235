#include "base/log.hpp"

#define SPDLOG_NO_THREAD_ID
#define SPDLOG_LEVEL_NAMES {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"}
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/log_format.hpp"

namespace base::log {
namespace {

spdlog::level::level_enum native(Level level) {
    switch (level) {
        case Level::debug:
            return spdlog::level::debug;
        case Level::info:
            return spdlog::level::info;
        case Level::warning:
            return spdlog::level::warn;
        case Level::error:
            return spdlog::level::err;
    }
    return spdlog::level::err;
}

struct Output {
    spdlog::logger logger{"", std::make_shared<spdlog::sinks::stderr_sink_mt>()};
    Format format = Format::text;
    Sink sink;

    Output() { set(Level::info, Format::text); }
    void set(Level level, Format wanted) {
        format = wanted;
        const char* pattern = wanted == Format::json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                                                     : "%Y-%m-%dT%H:%M:%S.%eZ %-5l %v";
        logger.set_formatter(
            std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
        logger.set_level(native(level));
        logger.flush_on(spdlog::level::trace);
    }
};

// The process has one standard error, so it has one of these.
Output& output() {
    static Output instance;
    return instance;
}

}  // namespace

void configure(Level level, Format format) {
    output().set(level, format);
}

void redirect(Sink sink) {
    output().sink = std::move(sink);
}

bool enabled(Level level) {
    return output().logger.should_log(native(level));
}

void write(Level level, std::string_view message, Fields fields) {
    if (!enabled(level)) return;
    auto& out = output();
    auto line = out.format == Format::json ? format_json(message, fields) : format_text(message, fields);
    if (out.sink) return out.sink(level, line);
    out.logger.log(native(level), spdlog::string_view_t(line));
}

}  // namespace base::log
