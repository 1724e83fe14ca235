// Records what happened, for people: one line per event with its virtual time. Recording costs time, so a
// seed runs without it. A seed that failed runs again with it, because the same seed gives the same run.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"

namespace simulation {

// Recording says whether lines are kept or printed immediately. Kept lines are lost if a seed does not end.
enum class Recording { off, on, live };

class Trace {
public:
    Trace(const base::Clock& clock, Recording recording) : clock_(clock), recording_(recording) {}

    template <class... Parts>
    void line(std::string_view actor, const Parts&... parts) {
        if (recording_ == Recording::off) return;
        std::ostringstream text;
        (text << ... << parts);
        add(actor, text.str());
    }
    bool recording() const { return recording_ != Recording::off; }
    const std::vector<std::string>& lines() const { return lines_; }

private:
    void add(std::string_view actor, const std::string& text);

    const base::Clock& clock_;
    Recording recording_;
    std::vector<std::string> lines_;
};

// Returns the time since the start of the clock, such as "1h02m03.456s".
std::string time_text(base::TimePoint time);

}  // namespace simulation
