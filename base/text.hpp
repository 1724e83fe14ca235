// Numbers in sentences, sentences of limited length, and texts in lower case.
#pragma once

#include <cstdint>
#include <functional>
#include <ranges>
#include <string>
#include <string_view>

namespace base {

// Returns, for example, "1 node" or "2 nodes".
std::string counted(std::int64_t count, const std::string& noun);
// Returns "is" for one, else "are".
std::string is_or_are(std::int64_t count);
// Returns the longest beginning of `text` with whole UTF-8 characters and at most `most` bytes. An API server
// rejects or changes half a character.
std::string_view beginning(std::string_view text, std::size_t most);
// Returns a text of more than `most` bytes with "..." for its middle, as programs usually name the cause at
// the end. It is cut between characters, to at most `most` bytes.
std::string shortened(std::string_view text, std::size_t most);

// Returns the text with A to Z in lower case. Other characters stay as they are, whatever the locale.
std::string lower_case(std::string_view text);

// Returns "a, b": the texts of a range, or the results of `text_of` for its elements.
template <class Range, class Projection = std::identity>
std::string joined(const Range& range, std::string_view between = ", ", Projection text_of = {}) {
    std::string all;
    for (const auto& element : range) {
        if (!all.empty()) all += between;
        all += std::invoke(text_of, element);
    }
    return all;
}

// Replaces every control character except the line feed by "?". Otherwise anybody who can write an Event or a
// condition could move the reader's cursor with escape sequences. Control characters of ISO 8859-1 are
// replaced in their UTF-8 form, as terminals obey them, too.
std::string for_terminal(std::string_view text);

// Returns only the first ones: "a, b and 3 more".
template <class Range>
std::string joined_first(const Range& range, std::size_t most) {
    const auto size = static_cast<std::size_t>(std::ranges::size(range));
    return joined(range | std::views::take(most)) +
           (size > most ? " and " + std::to_string(size - most) + " more" : "");
}

}  // namespace base
