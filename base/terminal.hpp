// What others wrote, before it reaches a person's terminal.
#pragma once
#include <string>
#include <string_view>

namespace base {

// The text with every control character but the line feed as "?": escape sequences of whoever may write an
// Event or a condition must not move the reader's cursor. Control characters of ISO 8859-1 count in their
// form in UTF-8, as terminals obey these, too.
std::string for_terminal(std::string_view text);

}  // namespace base
