// Structured logging: a constant message and key=value fields, as text or JSON lines on standard error. Must
// be used on the loop's thread. Values must never be secrets.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace base::log {

enum class Level { debug, info, warning, error };
enum class Format { text, json };

struct Field {
    std::string_view key;
    std::variant<std::string, std::int64_t, double, bool> value;

    Field(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
    Field(std::string_view k, std::string_view v) : key(k), value(std::string(v)) {}
    Field(std::string_view k, const char* v) : key(k), value(std::string(v)) {}
    Field(std::string_view k, bool v) : key(k), value(v) {}
    Field(std::string_view k, std::floating_point auto v) : key(k), value(static_cast<double>(v)) {}
    Field(std::string_view k, std::integral auto v) : key(k), value(static_cast<std::int64_t>(v)) {}
};
using Fields = std::initializer_list<Field>;

void configure(Level level, Format format);
// Takes lines, without their time and level, instead of standard error. An empty function ends the
// redirection.
using Sink = std::function<void(Level, std::string_view line)>;
void redirect(Sink sink);
bool enabled(Level level);
void write(Level level, std::string_view message, Fields fields);

inline void debug(std::string_view message, Fields fields = {}) {
    write(Level::debug, message, fields);
}
inline void info(std::string_view message, Fields fields = {}) {
    write(Level::info, message, fields);
}
inline void warning(std::string_view message, Fields fields = {}) {
    write(Level::warning, message, fields);
}
inline void error(std::string_view message, Fields fields = {}) {
    write(Level::error, message, fields);
}

// Returns, for example, "Created machine node_claim=default/a took=1.5". Values with spaces, quotes or
// control characters are quoted.
std::string format_text(std::string_view message, Fields fields);
// Returns, for example, "message":"Created machine","node_claim":"default/a": the members of a JSON object,
// without its braces.
std::string format_json(std::string_view message, Fields fields);

}  // namespace base::log
