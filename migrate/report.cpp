#include "migrate/report.hpp"

#include <algorithm>

namespace kubenodesmith::migrate {
namespace {

std::string_view name_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::mapped:
            return "mapped";
        case Outcome::different:
            return "different";
        case Outcome::none:
            return "none";
    }
    return "";
}

std::string padded(std::string text, std::size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
}

}  // namespace

std::string text_of(const Report& report) {
    std::size_t width = 0;
    for (const auto& line : report.lines) width = std::max(width, line.key.size());
    std::string text;
    for (const auto& line : report.lines) {
        text += padded(line.key, width) + "  " + padded(std::string(name_of(line.outcome)), 9) + "  ";
        text += line.target;
        if (!line.target.empty() && !line.note.empty()) text += ": ";
        text += line.note + "\n";
    }
    if (!report.notes.empty()) text += "\nWhat is left to do:\n";
    for (const auto& note : report.notes) text += "- " + note + "\n";
    return text;
}

}  // namespace kubenodesmith::migrate
