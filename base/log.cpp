#define SPDLOG_NO_THREAD_ID
#define SPDLOG_LEVEL_NAMES {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"}
#include "base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

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

// Returns the only instance, as the process has one standard error.
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

namespace {

void append_quoted(std::string& out, std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    out += '"';
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (byte < 0x20 || byte == 0x7f) {
            out += "\\u00";
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
        } else {
            out += c;
        }
    }
    out += '"';
}

bool is_plain(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return c > ' ' && c != '"' && c != '=' && c != '\\' && c != 0x7f;
    });
}

void append_number(std::string& out, auto number) {
    std::array<char, 32> digits;
    auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

struct Appender {
    std::string& out;
    bool quote_always;

    void operator()(const std::string& text) const {
        if (quote_always || !is_plain(text)) {
            append_quoted(out, text);
        } else {
            out += text;
        }
    }
    void operator()(std::int64_t number) const { append_number(out, number); }
    void operator()(double number) const {
        // JSON has neither NaN nor infinity.
        if (quote_always && !std::isfinite(number)) return append_quoted(out, std::to_string(number));
        append_number(out, number);
    }
    void operator()(bool value) const { out += value ? "true" : "false"; }
};

}  // namespace

std::string format_text(std::string_view message, Fields fields) {
    std::string out(message);
    for (const auto& field : fields) {
        out += ' ';
        out += field.key;
        out += '=';
        std::visit(Appender{out, false}, field.value);
    }
    return out;
}

std::string format_json(std::string_view message, Fields fields) {
    std::string out = "\"message\":";
    append_quoted(out, message);
    for (const auto& field : fields) {
        out += ',';
        append_quoted(out, field.key);
        out += ':';
        std::visit(Appender{out, true}, field.value);
    }
    return out;
}

}  // namespace base::log
