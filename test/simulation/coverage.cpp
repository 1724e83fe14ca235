#include "test/simulation/coverage.hpp"

#include <sstream>

namespace simulation {
namespace {

using api::v1alpha1::ClaimPhase;

const char* name_of(const NodeSmithClaim* claim, const char* absent) {
    if (!claim) return absent;
    if (!claim->status.phase) return "New";
    switch (*claim->status.phase) {
        case ClaimPhase::Pending:
            return "Pending";
        case ClaimPhase::Launching:
            return "Launching";
        case ClaimPhase::Registering:
            return "Registering";
        case ClaimPhase::Initializing:
            return "Initializing";
        case ClaimPhase::Ready:
            return "Ready";
        case ClaimPhase::Draining:
            return "Draining";
        case ClaimPhase::Terminating:
            return "Terminating";
        case ClaimPhase::Failed:
            return "Failed";
    }
    return "?";
}

// "12", "3k", "4M": at most four characters.
std::string short_number(std::uint64_t value) {
    if (value < 10'000) return std::to_string(value);
    if (value < 10'000'000) return std::to_string(value / 1000) + "k";
    return std::to_string(value / 1'000'000) + "M";
}

std::string padded(std::string text, std::size_t width) {
    if (text.size() < width) text.insert(0, width - text.size(), ' ');
    return text;
}

}  // namespace

void Coverage::watch(World& world) {
    world.view.subscribe<NodeSmithClaim>(
        [this, &world](const NodeSmithClaim* before, const NodeSmithClaim* after) {
            std::string from = name_of(before, "(none)"), to = name_of(after, "(gone)");
            if (from == to) return;
            auto& row = rows_[from + " -> " + to];
            ++row.seen;
            for (std::size_t i = 0; i < kFaults; ++i) {
                if (world.faults.recent(static_cast<Fault>(i))) ++row.with[i];
            }
        });
}

void Coverage::add(const Coverage& other) {
    for (const auto& [transition, row] : other.rows_) {
        auto& mine = rows_[transition];
        mine.seen += row.seen;
        for (std::size_t i = 0; i < kFaults; ++i) mine.with[i] += row.with[i];
    }
}

std::string Coverage::table() const {
    constexpr std::size_t kColumn = 5;
    std::ostringstream text;
    text << "columns:";
    for (std::size_t i = 0; i < kFaults; ++i)
        text << (i % 8 == 0 ? "\n  " : "  ") << i << "=" << simulation::name_of(static_cast<Fault>(i));
    text << "\n" << std::string(28, ' ') << padded("seen", 7);
    for (std::size_t i = 0; i < kFaults; ++i) text << padded(std::to_string(i), kColumn);
    text << "\n";
    for (const auto& [transition, row] : rows_) {
        text << transition << std::string(28 - std::min<std::size_t>(28, transition.size()), ' ')
             << padded(short_number(row.seen), 7);
        for (auto count : row.with) text << padded(count == 0 ? "." : short_number(count), kColumn);
        text << "\n";
    }
    return text.str();
}

}  // namespace simulation
