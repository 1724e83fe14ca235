#include "controllers/disruption/rules/series.hpp"

#include "base/hex.hpp"
#include "base/sha256.hpp"
#include "controllers/claim/facts/claim_state.hpp"
#include "controllers/disruption/facts/replacements.hpp"

namespace controllers::disruption {

namespace {

std::optional<api::Duration> expiry_of(const NodeFacts& facts) {
    const auto& own = facts.claim.spec.expireAfter;
    const bool is_pools = claim::is_owned_by_pool(facts.claim) || !own;
    return (is_pools ? facts.pool.spec.disruption.expireAfter : *own).duration;
}

std::string detail_of(const NodeFacts& facts, Kind kind) {
    const auto& scale_down = facts.pool.spec.scaleDown;
    switch (kind) {
        case Kind::Drifted:
            return facts.drift_cause;
        case Kind::Expired: {
            const auto expiry = expiry_of(facts);
            return expiry ? expiry->str() : std::string();
        }
        case Kind::Unhealthy:
            // How a node fails may change with each machine, and its kubelet chooses the reason of Ready.
            return facts.template_hash;
        case Kind::Evacuation:
            return facts.claim.status.host;
        case Kind::Underutilized:
            return std::to_string(scale_down.utilizationThresholdPercent) + "/" +
                   std::to_string(scale_down.priceThresholdPercent) + "/" +
                   std::to_string(scale_down.headroomPercent);
        case Kind::Empty:
        case Kind::Unrecognized:  // only budgets of pools that are not understood have this reason
            break;
    }
    return {};
}

std::int32_t most_in_a_row(Kind kind) {
    constexpr std::int32_t kChanceAndOneMore = 2;
    return kind == Kind::Unhealthy || kind == Kind::Underutilized ? kChanceAndOneMore : 1;
}

// Reports whether a machine was nearly as old as permitted when it entered
// service. The next one would be too.
bool was_old_from_the_start(const NodeFacts& facts, api::Time in_service) {
    const auto expiry = expiry_of(facts);
    const auto& created = facts.claim.metadata.creationTimestamp;
    return expiry && created && 2 * (in_service.at - created->at) >= expiry->value;
}

// Reports whether the cause was present all the time, in contrast to a new event of the same kind.
bool shows_it_again(const NodeFacts& facts, Kind kind, api::Time now) {
    const auto in_service = api::true_since(facts.claim.status.conditions, conditions::kInitialized);
    if (kind == Kind::Drifted || !in_service) return true;
    if (kind == Kind::Expired) return was_old_from_the_start(facts, *in_service);
    const auto since =
        kind == Kind::Unhealthy ? not_ready_since(facts.node, facts.claim, now).value_or(now) : now;
    return since.at - in_service->at < kServedLong;
}

std::string what_shows(const NodeFacts& facts, Kind kind) {
    switch (kind) {
        case Kind::Drifted:
            return facts.drift;
        case Kind::Expired:
            return "disruption.expireAfter is too short for the time that machines take to come into service";
        case Kind::Unhealthy:
            return facts.machine_stopped ? "again its machine is switched off" : "again it is not Ready";
        case Kind::Evacuation:
            return facts.evacuated;
        default:
            return "again it is hardly used";
    }
}

}  // namespace

std::string cause_of(const NodeFacts& facts, Kind kind) {
    // A status holds 512 bytes, and others choose the texts: for example an annotation that asks for another
    // machine.
    constexpr std::size_t kLongestDetail = 400;
    if (kind == Kind::Empty) return {};
    auto detail = detail_of(facts, kind);
    if (detail.size() > kLongestDetail) detail = base::hex(base::sha256(detail));
    return std::string(name_of(kind)) + "/" + detail;
}

std::optional<Blocker> series_blocker(const NodeFacts& facts, Kind kind, api::Time now) {
    const auto lineage = lineage_of(facts.claim, facts.pool);
    if (lineage.cause.empty() || lineage.cause != cause_of(facts, kind)) return std::nullopt;
    if (lineage.count < most_in_a_row(kind) || !shows_it_again(facts, kind, now)) return std::nullopt;
    return Blocker{std::string(reasons::kReplacementDoesNotHelp),
                   "it replaced " + lineage.replaces + " for the same cause (" + std::string(name_of(kind)) +
                       ": " + what_shows(facts, kind) +
                       "), so another machine would not help. Change what causes it, or set the annotation " +
                       std::string(api::annotations::kRetryReplacement) + " of pool " +
                       facts.pool.metadata.name + " to a new value to try once more",
                   std::nullopt};
}

}  // namespace controllers::disruption
