#include "operator/command_line/formats.hpp"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "bootstrap/yaml_writer.hpp"
#include "operator/command_line/client_options.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;

std::string number_of(double value) {
    if (!std::isfinite(value)) return "null";
    std::array<char, 64> buffer{};
    constexpr double kLargestPlain = 1e15;
    const bool is_plain = std::abs(value) < kLargestPlain;
    const auto format = is_plain ? std::chars_format::fixed : std::chars_format::scientific;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format).ptr;
    return {buffer.data(), end};
}

void write(std::string& out, const json::value& value, std::size_t depth);

// Writes the members between brackets, each on a separate line.
template <class Range, class Write>
void write_all(std::string& out, const Range& range, const char* brackets, std::size_t depth,
               const Write& write_one) {
    out += brackets[0];
    bool is_first = true;
    for (const auto& member : range) {
        out += is_first ? "\n" : ",\n";
        out.append(2 * (depth + 1), ' ');
        write_one(member);
        is_first = false;
    }
    if (!is_first) {
        out += "\n";
        out.append(2 * depth, ' ');
    }
    out += brackets[1];
}

void write(std::string& out, const json::value& value, std::size_t depth) {
    if (const auto* object = value.if_object()) {
        write_all(out, *object, "{}", depth, [&](const auto& member) {
            out += json::serialize(json::string(member.key())) + ": ";
            write(out, member.value(), depth + 1);
        });
    } else if (const auto* array = value.if_array()) {
        write_all(out, *array, "[]", depth, [&](const auto& element) { write(out, element, depth + 1); });
    } else if (const auto* number = value.if_double()) {
        out += number_of(*number);
    } else {
        out += json::serialize(value);
    }
}

}  // namespace

void add_output_flag(CLI::App& command, std::string& output) {
    if (output.empty()) output = "table";
    add_choice(command, "-o,--output", output, {output, "json", "yaml"}, "Output format");
}

std::string printed(const std::string& output, const std::function<std::string()>& for_people,
                    const std::function<json::object()>& document) {
    if (output == "json") return to_pretty_json(document()) + "\n";
    if (output == "yaml") return bootstrap::to_yaml(document());
    return base::for_terminal(for_people());
}

json::object document_of_kind(const char* kind) {
    return {{"apiVersion", kOutputVersion}, {"kind", kind}};
}

std::string to_pretty_json(const json::value& value) {
    std::string out;
    write(out, value, 0);
    return out;
}

}  // namespace kubenodesmith
