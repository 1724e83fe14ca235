// Numbers in sentences, and sentences that have to be short.
#pragma once

#include <cstdint>
#include <functional>
#include <ranges>
#include <string>
#include <string_view>

namespace base {

// "1 node", "2 nodes".
std::string counted(std::int64_t count, const std::string& noun);
// "is" for one, else "are".
std::string is_or_are(std::int64_t count);
// The whole characters of UTF-8 that `text` begins with, in at most `most` bytes. Half a character is no text
// that an API server takes as it is.
std::string_view beginning(std::string_view text, std::size_t most);
// Returns a text of more than `most` bytes with "..." for its middle, as programs mostly say the cause at the
// end. It is cut between characters, and is then at most `most` bytes long.
std::string shortened(std::string_view text, std::size_t most);

// "a, b": the texts of a range, or what `text_of` makes of its elements.
template <class Range, class Projection = std::identity>
std::string joined(const Range& range, std::string_view between = ", ", Projection text_of = {}) {
    std::string all;
    for (const auto& element : range) {
        if (!all.empty()) all += between;
        all += std::invoke(text_of, element);
    }
    return all;
}

// The text with every control character but the line feed as "?": escape sequences of whoever may write an
// Event or a condition must not move the reader's cursor. Control characters of ISO 8859-1 count in their
// form in UTF-8, as terminals obey these, too.
std::string for_terminal(std::string_view text);

// The same of the first ones: "a, b and 3 more".
template <class Range>
std::string joined_first(const Range& range, std::size_t most) {
    const auto size = static_cast<std::size_t>(std::ranges::size(range));
    return joined(range | std::views::take(most)) +
           (size > most ? " and " + std::to_string(size - most) + " more" : "");
}

}  // namespace base
