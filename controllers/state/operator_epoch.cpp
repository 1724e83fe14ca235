#include "controllers/state/operator_epoch.hpp"

#include <algorithm>
#include <utility>

#include "api/names.hpp"

namespace controllers {

namespace {

// A shorter record is nobody's.
constexpr std::size_t kShortestEpoch = 6;

bool is_in_chain(const kube::LeaderEpochs& leader, const std::string& epoch) {
    return std::ranges::find(leader.chain, epoch) != leader.chain.end();
}

// Returns the epoch of another operator in the record; empty: there is none.
std::string other_in(const std::optional<providers::EpochRecord>& record, const kube::LeaderEpochs& leader) {
    if (!record) return {};
    if (!is_in_chain(leader, record->epoch)) return record->epoch;
    if (record->rival.empty()) return {};
    // A copy has the epochs of the original's leaders up to the copy. The original then names the copy.
    return is_in_chain(leader, record->rival) ? record->epoch : record->rival;
}

// Decides while no machine can carry an epoch. There may still be halves of machines to remove.
EpochDecision without_machines(EpochState state, const EpochSight& sight) {
    const bool is_first = !state.waits;
    if (is_first || state.had_machines) state.waits = sight.now;
    state.had_machines = false;
    // A copy that is made later has claims or finds machines, and waits.
    if (is_first && sight.leads_from_nothing && sight.look.is_empty) state.is_alone = true;
    // A machine that a backup locks may carry the epoch of another operator.
    if (!sight.look.unread.empty()) {
        state.waits = sight.now;
        state.obstacle = sight.look.unread;
    }
    state.has_nothing_to_lose = sight.now >= *state.waits + kEpochSettles;
    return {.state = std::move(state)};
}

// Shortens the epochs of the leader to what the record keeps, as some places have room only for the
// beginning.
EpochSight as_recorded(EpochSight sight) {
    const auto& record = sight.look.slot->record;
    if (!record) return sight;
    const auto length = std::max(record->epoch.size(), kShortestEpoch);
    const auto shorten = [length](std::string& epoch) { epoch.resize(std::min(epoch.size(), length)); };
    shorten(sight.leader.own);
    std::ranges::for_each(sight.leader.chain, shorten);
    return sight;
}

EpochDecision with_machines(EpochState state, const EpochSight& sight) {
    const auto& record = sight.look.slot->record;
    const auto& own = sight.leader.own;
    const bool had_machines = std::exchange(state.had_machines, true);
    state.has_nothing_to_lose = false;
    const providers::EpochRecord ours{own, {}};

    const auto other = other_in(record, sight.leader);
    if (!other.empty()) state.other = other;
    if (!state.other.empty() && sight.ended.starts_with(state.other)) {
        // The person's word is good for this epoch. Any other one must show itself within the wait.
        state = EpochState{};
        state.had_machines = true;
        state.waits = sight.now;
        return {.state = std::move(state), .write = ours, .heeds_person = true};
    }
    if (!state.other.empty()) {
        state.is_alone = false;
        state.waits.reset();
        // Through the record both operators and their successors learn of each other.
        const bool is_told = record && !record->rival.empty();
        if (is_told) return {.state = std::move(state)};
        providers::EpochRecord of_both{own, state.other};
        return {.state = std::move(state), .write = std::move(of_both)};
    }
    // Another operator may have made the first machine, or written its record.
    const bool is_writable = !sight.look.slot->takes_none;
    const bool is_foreign = is_writable && record && *record != ours;
    if (!had_machines && (is_foreign || !sight.is_of_our_claim)) state.is_alone = false;
    if (!state.is_alone) {
        const bool begins = !state.waits || !had_machines || is_foreign;
        if (begins) state.waits = sight.now;
        // A record that cannot be replaced now shows at least that no other operator wrote it.
        state.is_alone = (record == ours || !is_writable) && sight.now >= *state.waits + kEpochSettles;
    }
    EpochDecision decision{.state = std::move(state)};
    if (record != ours) decision.write = ours;
    return decision;
}

}  // namespace

EpochDecision next_epoch(const EpochState& before, const EpochSight& sight) {
    auto state = before;
    state.obstacle.clear();
    if (!sight.look.slot) return without_machines(std::move(state), sight);
    auto decision = with_machines(std::move(state), as_recorded(sight));
    if (sight.look.slot->takes_none) decision.write.reset();
    return decision;
}

providers::RemovalHold why_not_destroy(const EpochState& state, const std::string& own) {
    if (!state.other.empty())
        return {
            "another operator with epoch " + state.other + " owns the same machines as this one with epoch " +
                own +
                ", most likely because the control plane was copied. Nothing is removed until a person "
                "decides. To continue with this operator, stop the other one permanently, then annotate the "
                "NodeSmithProvider with " +
                std::string(api::annotations::kOtherOperatorEnded) + "=" + state.other,
            true};
    if (state.is_alone || state.has_nothing_to_lose) return {};
    return {
        "after a change of the leader nothing is removed for about two minutes, in which another operator "
        "of the same machines would show itself" +
        (state.obstacle.empty() ? std::string() : "; they cannot be read now: " + state.obstacle)};
}

}  // namespace controllers
