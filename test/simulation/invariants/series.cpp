// Invariant: no series of replacements is endless. At most two machines in a row are replaced for drift from
// a configuration that has not changed since their creation. The same holds for an age that they had from the
// start. No Node is patched again and again. The judge looks at the history of claims and Nodes, not at the
// operator's memory.
#include <algorithm>
#include <boost/json/serialize.hpp>
#include <deque>
#include <map>
#include <set>

#include "api/json.hpp"
#include "test/simulation/forgers.hpp"
#include "test/simulation/invariants/invariant.hpp"

namespace simulation {
namespace {

constexpr std::size_t kMostReplacements = 2;
constexpr std::chrono::minutes kWindow{10};
// The operator puts each contested value back after 10, 20, 40 s and so on. Joining and leaving take further
// patches, and so do conflicts with heartbeats.
constexpr std::size_t kMostPatches = 60;
constexpr std::size_t kMostPatchesOfAProcess = 20;

class SeriesEnd final : public Invariant {
public:
    explicit SeriesEnd(const Stage& stage) : Invariant(stage) {
        world_.view.subscribe<NodeSmithClaim>(
            [this](const NodeSmithClaim* before, const NodeSmithClaim* after) {
                if (after && !before) note_created(*after);
                if (after) look_at(before, *after);
            });
        world_.view.subscribe<NodeSmithPool>([this](const NodeSmithPool* before, const NodeSmithPool* after) {
            if (before && after && before->spec != after->spec) changed_[after->metadata.name] = world_.now();
        });
        world_.view.subscribe<NodeSmithProvider>(
            [this](const NodeSmithProvider* before, const NodeSmithProvider* after) {
                const bool is_same = before && after && before->spec == after->spec &&
                                     before->status.templates == after->status.templates &&
                                     before->status.bootDiskGiB == after->status.bootDiskGiB;
                if (!is_same) provider_changed_ = world_.now();
            });
        world_.view.subscribe<NodeSmithControlPlane>(
            [this](const NodeSmithControlPlane* before, const NodeSmithControlPlane* after) {
                if (!before || !after || before->spec != after->spec) provider_changed_ = world_.now();
            });
        world_.observe([this](const Process& process, const base::HttpRequest& request,
                              const base::HttpResponse&) { note(process, request); });
    }

private:
    using Series = std::pair<std::string, std::string>;  // pool and reason

    static bool is_decided(const NodeSmithClaim* claim, std::string_view reason) {
        const auto* disrupted =
            claim ? api::find_condition(claim->status.conditions, api::conditions::kDisrupted) : nullptr;
        return disrupted && disrupted->status == api::ConditionStatus::True && disrupted->reason == reason;
    }

    // Reports whether the claim is removed without a replacement because its pods fit elsewhere.
    static bool is_spare(const NodeSmithClaim& claim) {
        const auto* disrupted = api::find_condition(claim.status.conditions, api::conditions::kDisrupted);
        return disrupted && disrupted->message.find("its pods fit on other nodes") != std::string::npos;
    }

    static bool is_replaced(const NodeSmithClaim* claim, std::string_view reason) {
        return is_decided(claim, reason) && claim->metadata.deletionTimestamp;
    }

    // Assigns a new claim to the open replacement with the shortest series. A pool may replace many machines
    // of one age, each of them once.
    void note_created(const NodeSmithClaim& claim) {
        created_[claim.metadata.uid] = world_.now();
        for (auto& [series, lengths] : open_) {
            if (series.first != claim.spec.poolRef || lengths.empty()) continue;
            length_[{claim.metadata.uid, series.second}] = *lengths.begin() + 1;
            lengths.erase(lengths.begin());
        }
    }

    void note_decision(const NodeSmithClaim* before, const NodeSmithClaim& after, std::string_view reason) {
        const bool was = is_decided(before, reason), is = is_decided(&after, reason);
        if (was == is || (is && is_spare(after))) return;
        auto& lengths = open_[{after.spec.poolRef, std::string(reason)}];
        const auto length = length_of(after, reason);
        const auto found = lengths.find(length);
        if (is) {
            lengths.insert(length);
        } else if (found != lengths.end()) {
            lengths.erase(found);
        }
    }

    std::size_t length_of(const NodeSmithClaim& claim, std::string_view reason) const {
        const auto found = length_.find({claim.metadata.uid, std::string(reason)});
        return found == length_.end() ? 0 : found->second;
    }

    void look_at(const NodeSmithClaim* before, const NodeSmithClaim& after) {
        if (is_forged(after)) return;
        for (const auto reason : {api::reasons::kDrifted, api::reasons::kExpired}) {
            note_decision(before, after, reason);
            if (is_replaced(before, reason) || !is_replaced(&after, reason)) continue;
            const bool is_vain =
                reason == api::reasons::kDrifted ? is_as_configured(after) : was_old_from_the_start(after);
            if (is_vain && !is_spare(after)) count(after, reason);
        }
    }

    // Reports whether the settings that the machine was made from are unchanged since its creation.
    bool is_as_configured(const NodeSmithClaim& claim) const {
        const auto created = created_.at(claim.metadata.uid);
        const auto changed = changed_.find(claim.spec.poolRef);
        return provider_changed_ < created && (changed == changed_.end() || changed->second < created);
    }

    static bool was_old_from_the_start(const NodeSmithClaim& claim) {
        const auto since = api::true_since(claim.status.conditions, api::conditions::kInitialized);
        const auto* disrupted = api::find_condition(claim.status.conditions, api::conditions::kDisrupted);
        const auto& created = claim.metadata.creationTimestamp;
        return since && created && disrupted->lastTransitionTime &&
               disrupted->lastTransitionTime->at - since->at < since->at - created->at;
    }

    void count(const NodeSmithClaim& claim, std::string_view reason) {
        const auto number = length_of(claim, reason) + 1;
        world_.happenings.count("replacement without effect: " + std::string(reason));
        if (number <= kMostReplacements) return;
        stage_.violate("no series without an end", "pool " + claim.spec.poolRef + " replaces " +
                                                       claim.metadata.name + " as " + std::string(reason) +
                                                       ", number " + std::to_string(number) +
                                                       " of a series though nothing has changed");
    }

    void note(const Process& process, const base::HttpRequest& request) {
        static const std::string nodes = "/api/v1/nodes/";
        const auto at = request.target.find(nodes);
        if (request.method != "PATCH" || at == std::string::npos) return;
        const auto name =
            request.target.substr(at + nodes.size(), request.target.find('?') - at - nodes.size());
        auto& patches = patches_[name];
        patches.push_back(world_.now());
        while (patches.front() + kWindow < world_.now()) patches.pop_front();
        processes_.insert(process.name());
        if (patches.size() <= kMostPatches + kMostPatchesOfAProcess * processes_.size()) return;
        stage_.violate(
            "no series without an end",
            "Node " + name + " was patched " + std::to_string(patches.size()) + " times in ten minutes");
        patches.clear();
    }

    std::map<std::string, base::TimePoint> created_;     // by claim UID
    std::map<std::string, base::TimePoint> changed_;     // last change of the spec, by pool
    base::TimePoint provider_changed_;                   // last change of provider or control plane
    std::map<Series, std::multiset<std::size_t>> open_;  // lengths of series that wait for a replacement
    std::map<std::pair<std::string, std::string>, std::size_t> length_;  // by claim UID and reason
    std::map<std::string, std::deque<base::TimePoint>> patches_;         // by Node
    std::set<std::string> processes_;
};

}  // namespace

std::unique_ptr<Invariant> series_end(const Stage& stage) {
    return std::make_unique<SeriesEnd>(stage);
}

}  // namespace simulation
