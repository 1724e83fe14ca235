#include "base/log_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace base::log {
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
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
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
        // JSON has no NaN and no infinity.
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
