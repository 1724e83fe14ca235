#include "operator/command_line/suggestions.hpp"

#include <algorithm>
#include <cstddef>

namespace kubenodesmith {
namespace {

// Returns the Damerau-Levenshtein distance, where neighbours are swapped at most once.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) table[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
            auto& best = table[i][j];
            best = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + other});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) best = std::min(best, table[i - 2][j - 2] + 1);
        }
    }
    return table[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
    constexpr std::size_t kLongestWord = 64;
    if (word.empty() || word.size() > kLongestWord) return {};
    // Up to a third of the word may be wrong.
    std::size_t best = std::max<std::size_t>(1, word.size() / 3) + 1;
    std::string found;
    for (const auto& candidate : candidates) {
        const auto its = distance(word, candidate);
        if (its >= best) continue;
        best = its;
        found = candidate;
    }
    return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
    const auto found = nearest(word, candidates);
    return found.empty() ? std::string() : "; did you mean " + found + "?";
}

}  // namespace kubenodesmith
