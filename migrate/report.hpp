// What became of each key of a configuration that is migrated.
#pragma once

#include <string>
#include <vector>

namespace kubenodesmith::migrate {

enum class Outcome {
    mapped,     // means the same here
    different,  // has a counterpart that differs, the note says how
    none        // has no counterpart, the note says why
};

struct ReportLine {
    std::string key;  // as it stands in the source
    Outcome outcome = Outcome::none;
    std::string target;  // field of ours; "" for Outcome::none
    std::string note;
};

struct Report {
    std::vector<ReportLine> lines;
    std::vector<std::string> notes;  // what is left to be done, in sentences
};

// For people: one line per key, then the notes. Holds no value of the source, as values may be secrets.
std::string text_of(const Report& report);

}  // namespace kubenodesmith::migrate
