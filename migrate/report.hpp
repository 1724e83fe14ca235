// The outcome for each key of a migrated configuration.
#pragma once

#include <string>
#include <vector>

namespace kubenodesmith::migrate {

enum class Outcome {
    mapped,     // means the same here
    different,  // has a different counterpart, see the note
    none        // has no counterpart, see the note
};

struct ReportLine {
    std::string key;  // as in the source
    Outcome outcome = Outcome::none;
    std::string target;  // our field; "" for Outcome::none
    std::string note;
};

struct Report {
    std::vector<ReportLine> lines;
    std::vector<std::string> notes;  // remaining tasks, as sentences
};

// Returns one line per key, then the notes, for people. It has no value of the source, as values may be
// secrets.
std::string text_of(const Report& report);

}  // namespace kubenodesmith::migrate
