#include "test/simulation/trace.hpp"

#include <cstdio>

namespace simulation {

std::string time_text(base::TimePoint time) {
    auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
    char text[40];
    std::snprintf(text, sizeof text, "%lldh%02lldm%02lld.%03llds", static_cast<long long>(ms / 3'600'000),
                  static_cast<long long>(ms / 60'000 % 60), static_cast<long long>(ms / 1000 % 60),
                  static_cast<long long>(ms % 1000));
    return text;
}

void Trace::add(std::string_view actor, const std::string& text) {
    std::string padded(actor);
    padded.resize(std::max<std::size_t>(padded.size(), 12), ' ');
    auto line = time_text(clock_.now()) + " " + padded + " " + text;
    if (recording_ == Recording::live) {
        std::printf("%s\n", line.c_str());
    } else {
        lines_.push_back(std::move(line));
    }
}

}  // namespace simulation
