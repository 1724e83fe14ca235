// Suggestions for mistyped words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kubenodesmith {

// Returns the candidate with the fewest wrong, missing, extra or swapped letters; empty if no candidate is
// close.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
// Returns, for example, "; did you mean plan?"; empty if no candidate is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace kubenodesmith
