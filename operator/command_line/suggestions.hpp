// What a mistyped word was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kubenodesmith {

// The candidate that differs least from the word, by letters that are wrong, missing, too many or swapped;
// empty if none is close.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
// "; did you mean plan?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace kubenodesmith
