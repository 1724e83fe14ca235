// Restores etcd from a backup while the operator goes on.
#include <algorithm>

#include "test/simulation/adversary.hpp"

namespace simulation {
namespace {

using namespace std::chrono_literals;

bool is_lease(const fake::Key& key) {
    return key.resource == "leases.coordination.k8s.io";
}

bool is_ours(const fake::Key& key) {
    return key.resource.ends_with(std::string(api::kGroup));
}

// Reports whether people wrote the same in both. The operator writes the spec of claims only.
bool is_same_to_people(const fake::Key& key, const fake::Document& a, const fake::Document& b) {
    const auto* spec = a.object().if_contains("spec");
    const auto* other = b.object().if_contains("spec");
    return key.resource.starts_with("nodesmithclaims.") || (spec && other ? *spec == *other : spec == other);
}

// The models of people, kubelets, schedulers and workloads know no restores. So a restore may only lose the
// Lease and what the operator wrote about its own objects.
bool loses_only_what_the_operator_wrote(const fake::Store::Backup& before, const fake::Store::Backup& now) {
    const auto is_kept = [](const auto& all) {
        return [&all](const auto& entry) {
            const auto found = all.find(entry.first);
            if (found == all.end()) return is_lease(entry.first);
            return found->second == entry.second || is_lease(entry.first) ||
                   (is_ours(entry.first) && is_same_to_people(entry.first, *found->second, *entry.second));
        };
    };
    return std::ranges::all_of(before.objects, is_kept(now.objects)) &&
           std::ranges::all_of(now.objects, is_kept(before.objects));
}

}  // namespace

void Adversary::restore_etcd(int tries) {
    // Without a Lease the operator reads no object often enough to notice the restore.
    if (!world_.scenario.leader_election || tries == 0) return;
    const auto in = world_.faults.duration(10s, 90s);
    auto restore = [this, tries, backup = world_.server.store().back_up()] {
        auto& store = world_.server.store();
        if (at_peace_) return;
        if (!loses_only_what_the_operator_wrote(backup, store.back_up())) return restore_etcd(tries - 1);
        world_.trace.line("etcd", "is restored from version ", store.version(), " to ", backup.version);
        world_.happenings.count("etcd: was restored from a backup");
        deeds_.last = world_.now();
        world_.server.restore(backup);
    };
    pending_.push_back(world_.clock.call_at(world_.now() + in, std::move(restore)));
}

}  // namespace simulation
