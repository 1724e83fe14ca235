#include <boost/json/object.hpp>
#include <charconv>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

#include "migrate/source.hpp"

namespace kubenodesmith::migrate {
namespace {

namespace json = boost::json;

// Returns the text of a line before its comment. A # inside quotes starts no comment.
std::string without_comment(const std::string& line) {
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote != 0) {
            if (c == quote) quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '#') {
            return line.substr(0, i);
        }
    }
    return line;
}

class Module {
public:
    explicit Module(const json::object& environment) : environment_(environment) {}

    void read_line(const std::string& line, int number) {
        static const std::regex assignment(R"(^\s*([A-Za-z_]\w*)\s*=\s*(.*?)\s*$)");
        static const std::regex structure(R"(^\s*(import\s.*|from\s.*|try\s*:|except\b.*:|)\s*$)");
        if (line.size() > kLongestLine) {
            throw std::invalid_argument("line " + std::to_string(number) + ": more than " +
                                        std::to_string(kLongestLine) + " characters");
        }
        const auto code = without_comment(line);
        std::smatch parts;
        if (std::regex_match(code, structure)) return;
        if (!std::regex_match(code, parts, assignment)) {
            throw std::invalid_argument("line " + std::to_string(number) +
                                        ": expected NAME = value; write the value down as text or a number");
        }
        assign(parts[1].str(), parts[2].str(), number);
    }

    json::object take() { return std::move(values_); }

private:
    void assign(const std::string& name, const std::string& expression, int number) {
        static const std::regex variable(
            R"re(^os\.(?:environ\[|environ\.get\(|getenv\()\s*["'](\w+)["']\s*(?:,\s*(.+?))?\s*[\])]$)re");
        std::smatch parts;
        if (!std::regex_match(expression, parts, variable)) {
            if (!from_environment_.contains(name)) values_[name] = literal(name, expression, number);
            return;
        }
        if (const auto* value = environment_.if_contains(parts[1].str())) {
            values_[name] = *value;
            from_environment_.insert(name);
        } else if (parts[2].matched) {
            values_[name] = literal(name, parts[2].str(), number);
        } else if (!values_.contains(name)) {
            values_[name] = nullptr;
        }
    }

    static json::value literal(const std::string& name, const std::string& expression, int number) {
        if (expression == "True") return true;
        if (expression == "False") return false;
        if (expression == "None") return nullptr;
        if (expression.size() >= 2 && (expression.front() == '"' || expression.front() == '\'') &&
            expression.find(expression.front(), 1) == expression.size() - 1) {
            return json::value(expression.substr(1, expression.size() - 2));
        }
        std::int64_t integer = 0;
        const char* last = expression.data() + expression.size();
        if (auto [end, error] = std::from_chars(expression.data(), last, integer);
            error == std::errc{} && end == last) {
            return integer;
        }
        double real = 0;
        if (auto [end, error] = std::from_chars(expression.data(), last, real);
            error == std::errc{} && end == last) {
            return real;
        }
        throw std::invalid_argument("line " + std::to_string(number) + ": " + name +
                                    " is an expression; write its value down as text or a number");
    }

    const json::object& environment_;
    json::object values_;
    std::set<std::string> from_environment_;
};

}  // namespace

json::object read_python_settings(std::string_view text, const json::object& environment) {
    Module module(environment);
    std::istringstream stream{std::string(text)};
    int number = 0;
    for (std::string line; std::getline(stream, line);) module.read_line(line, ++number);
    return module.take();
}

}  // namespace kubenodesmith::migrate
