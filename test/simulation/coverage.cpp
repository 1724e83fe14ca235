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
        case ClaimPhase::Unrecognized:
            break;
    }
    return "?";
}

// Returns a number of at most four characters, such as "12", "3k" or "4M".
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

template <class T>
void Coverage::watch_conditions(World& world) {
    world.view.subscribe<T>([this](const T* before, const T* after) {
        if (!after) return;
        for (const auto& condition : after->status.conditions) {
            const auto* old =
                before ? api::find_condition(before->status.conditions, condition.type) : nullptr;
            if (old && old->status == condition.status && old->reason == condition.reason) continue;
            reasons_.count(std::string(T::kResource.kind) + " " + condition.type + "=" +
                           std::string(to_string(condition.status)) + " " + condition.reason);
        }
    });
}

void Coverage::watch(World& world) {
    watch_conditions<NodeSmithClaim>(world);
    watch_conditions<NodeSmithPool>(world);
    watch_conditions<NodeSmithProvider>(world);
    watch_conditions<NodeSmithControlPlane>(world);
    watch_conditions<NodeSmithHost>(world);
    world.view.subscribe<api::Event>([this](const api::Event* before, const api::Event* after) {
        if (after && !before) reasons_.count("Event " + after->involvedObject.kind + " " + after->reason);
    });
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
    reasons_.add(other.reasons_);
    for (const auto& [transition, row] : other.rows_) {
        auto& mine = rows_[transition];
        mine.seen += row.seen;
        for (std::size_t i = 0; i < kFaults; ++i) mine.with[i] += row.with[i];
    }
}

std::string Coverage::reasons() const {
    std::ostringstream text;
    for (const auto& [reason, times] : reasons_.counts())
        text << padded(std::to_string(times), 8) << "  " << reason << "\n";
    return text.str();
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
