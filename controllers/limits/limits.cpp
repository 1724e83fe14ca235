#include "controllers/limits/limits.hpp"

#include <algorithm>
#include <tuple>

#include "base/text.hpp"
#include "controllers/claim/state/doubtful_machine.hpp"

namespace controllers::limits {

using api::v1alpha1::Size;

namespace {

bool bearable(std::int64_t limit, base::Saturating used, base::Saturating wanted) {
    return limit <= 0 || used + wanted <= limit;
}

std::string in_use(std::int64_t used, std::int64_t limit, const char* what) {
    return std::to_string(used) + " of " + std::to_string(limit) + " " + what + " " + base::is_or_are(used) +
           " in use";
}

std::string and_wanted(std::int64_t wanted) {
    return ", " + std::to_string(wanted) + " more " + base::is_or_are(wanted) + " needed";
}

}  // namespace

Usage& Usage::operator+=(const Usage& other) {
    nodes += other.nodes;
    cpuCores += other.cpuCores;
    memoryMiB += other.memoryMiB;
    return *this;
}

Usage usage_of(const api::v1alpha1::Reserved& reserved) {
    return {reserved.nodes, reserved.cpuCores, reserved.memoryMiB};
}

Usage one_machine(const Size& size) {
    return {1, size.cpuCores, size.memoryMiB};
}

Usage at_least(const Usage& a, const Usage& b) {
    return {std::max(a.nodes, b.nodes), std::max(a.cpuCores, b.cpuCores), std::max(a.memoryMiB, b.memoryMiB)};
}

Limits limits_of(const api::v1alpha1::PoolSpec& pool) {
    return {pool.limits.maxNodes, pool.limits.cpuCores, pool.limits.memoryMiB};
}

Limits limits_of(const api::v1alpha1::ControlPlaneSpec& control_plane) {
    return {control_plane.limits.maxNodes, control_plane.limits.cpuCores, control_plane.limits.memoryMiB};
}

Size smallest_size(const api::v1alpha1::MachineTemplate& machine) {
    if (machine.sizes.empty()) {
        const auto flexible = machine.flexible.value_or(api::v1alpha1::FlexibleSize{});
        return {flexible.cpuCores.min, flexible.memoryMiB.min};
    }
    const auto smaller = [](const auto& a, const auto& b) {
        return std::tie(a.cpuCores, a.memoryMiB) < std::tie(b.cpuCores, b.memoryMiB);
    };
    const auto& first = *std::ranges::min_element(machine.sizes, smaller);
    return {first.cpuCores, first.memoryMiB};
}

Size largest_size(const api::v1alpha1::MachineTemplate& machine) {
    if (machine.sizes.empty()) {
        const auto flexible = machine.flexible.value_or(api::v1alpha1::FlexibleSize{});
        return {flexible.cpuCores.max, flexible.memoryMiB.max};
    }
    Size largest;
    for (const auto& size : machine.sizes) {
        largest.cpuCores = std::max(largest.cpuCores, size.cpuCores);
        largest.memoryMiB = std::max(largest.memoryMiB, size.memoryMiB);
    }
    return largest;
}

bool is_offered(const api::v1alpha1::MachineTemplate& machine, const Size& size) {
    if (!machine.sizes.empty())
        return std::ranges::any_of(machine.sizes, [&](const auto& offered) {
            return offered.cpuCores == size.cpuCores && offered.memoryMiB == size.memoryMiB;
        });
    const auto flexible = machine.flexible.value_or(api::v1alpha1::FlexibleSize{});
    const auto is_in = [](std::int64_t amount, const auto& range) {
        return amount >= range.min && amount <= range.max;
    };
    return is_in(size.cpuCores, flexible.cpuCores) && is_in(size.memoryMiB, flexible.memoryMiB);
}

Size size_of(const api::v1alpha1::ClaimSpec& claim, const NodeSmithPool* pool) {
    auto size = claim.requirements;
    if (!pool || (size.cpuCores > 0 && size.memoryMiB > 0)) return size;
    const auto smallest = smallest_size(pool->spec.machineTemplate);
    if (size.cpuCores <= 0) size.cpuCores = smallest.cpuCores;
    if (size.memoryMiB <= 0) size.memoryMiB = smallest.memoryMiB;
    return size;
}

std::string idempotency_key(const std::string& pool_uid, std::int64_t sequence) {
    return pool_uid + "/" + std::to_string(sequence);
}

bool is_created_by_pool(const NodeSmithClaim& claim) {
    const auto* owner = api::controller_of(claim.metadata);
    if (!owner || owner->kind != NodeSmithPool::kResource.kind) return false;
    const auto& key = claim.spec.idempotencyKey;
    if (key.size() <= owner->uid.size() + 1 || !key.starts_with(owner->uid + "/")) return false;
    return std::all_of(key.begin() + static_cast<std::ptrdiff_t>(owner->uid.size()) + 1, key.end(),
                       [](char c) { return c >= '0' && c <= '9'; });
}

bool is_admitted(const NodeSmithClaim& claim) {
    const auto& status = claim.status;
    // A claim of the Go operator has no providerRef, but a machine.
    const bool has_machine =
        !status.providerID.empty() || !status.machineID.empty() || !status.nodeName.empty();
    return is_created_by_pool(claim) || !status.providerRef.empty() || has_machine;
}

bool counts(const NodeSmithClaim& claim) {
    const bool ends =
        claim.metadata.deletionTimestamp || api::is_true(claim.status.conditions, conditions::kFailed);
    const bool ended = ends && (api::is_true(claim.status.conditions, conditions::kMachineDeleted) ||
                                claim.status.keptSince);
    return (is_admitted(claim) || claim::has_doubtful_machine(claim.status)) && !ended;
}

std::optional<LimitHit> admits(const Limits& limits, const Usage& used, const Usage& wanted) {
    if (!bearable(limits.maxNodes, used.nodes, wanted.nodes))
        return LimitHit{std::string(reasons::kMaxNodesReached), in_use(used.nodes, limits.maxNodes, "nodes")};
    const std::string reason(reasons::kResourceLimitReached);
    if (!bearable(limits.cpuCores, used.cpuCores, wanted.cpuCores))
        return LimitHit{reason,
                        in_use(used.cpuCores, limits.cpuCores, "CPU cores") + and_wanted(wanted.cpuCores)};
    if (!bearable(limits.memoryMiB, used.memoryMiB, wanted.memoryMiB))
        return LimitHit{
            reason, in_use(used.memoryMiB, limits.memoryMiB, "MiB of memory") + and_wanted(wanted.memoryMiB)};
    return std::nullopt;
}

Grant grant(const std::vector<Size>& wanted, LimitUse pool, LimitUse control_plane) {
    Grant result;
    for (const auto& size : wanted) {
        const auto machine = one_machine(size);
        auto hit = admits(pool.limits, pool.used, machine);
        if (!hit) hit = admits(control_plane.limits, control_plane.used, machine);
        result.granted.push_back(!hit);
        if (hit) {
            if (!result.limit_hit) result.limit_hit = std::move(hit);
            continue;
        }
        pool.used += machine;
        control_plane.used += machine;
        result.total += machine;
    }
    return result;
}

base::Duration unsettled_for(const api::v1alpha1::Reserved& reserved, base::WallTime now) {
    if (!reserved.time) return base::Duration::zero();
    // Written times have whole seconds. One more second prevents that truncation shortens the wait.
    const auto settles = base::WallTime(reserved.time->at) + kReservationSettles + std::chrono::seconds{1};
    const auto left = std::chrono::duration_cast<base::Duration>(settles - now);
    // A time far in the future comes from a wrong clock, so waiting for it is pointless.
    if (left > std::chrono::minutes{10}) return base::Duration::zero();
    return std::max(left, base::Duration::zero());
}

}  // namespace controllers::limits
