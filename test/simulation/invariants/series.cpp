// Invariant: no series of replacements is endless. For one cause at most two machines in a row are replaced.
// A series begins anew with what explains another replacement: a change of the settings, another try that a
// person asked for, or a day of service. No Node is patched again and again. The judge looks at the history
// of claims and Nodes, not at the operator's memory.
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
// A machine that served for so long was worth its creation (docs/disruption.md).
constexpr std::chrono::hours kServedLong{24};
// A claim that comes later takes nobody's place.
constexpr std::chrono::hours kAwaited{1};
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
            if (!before || !after) return;
            const bool is_same = before->spec == after->spec && tries_of(*before) == tries_of(*after);
            if (!is_same) changed_[after->metadata.name] = world_.now();
        });
        world_.view.subscribe<NodeSmithHost>([this](const NodeSmithHost* before, const NodeSmithHost* after) {
            if (!before || !after || before->spec != after->spec) provider_changed_ = world_.now();
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
    using Series = std::pair<std::string, std::string>;  // pool and cause

    struct Decision {
        Series series;
        std::size_t number = 0;  // of the replacement in its series
        bool is_vain = false;    // nothing explains it
        base::TimePoint at{};
    };

    static std::string tries_of(const NodeSmithPool& pool) {
        const auto* asked = api::find(pool.metadata.annotations, api::annotations::kRetryReplacement);
        return asked ? *asked : std::string();
    }

    // Returns the condition that says that the claim's machine is to be replaced. Returns null if it is only
    // removed, because it is empty, lost, or its pods fit elsewhere.
    static const api::Condition* replacement_of(const NodeSmithClaim* claim) {
        static constexpr std::string_view kReasons[] = {api::reasons::kDrifted, api::reasons::kExpired,
                                                        api::reasons::kUnhealthy, api::reasons::kEvacuation,
                                                        api::reasons::kUnderutilized};
        const auto* disrupted =
            claim ? api::find_condition(claim->status.conditions, api::conditions::kDisrupted) : nullptr;
        if (!disrupted || disrupted->status != api::ConditionStatus::True) return nullptr;
        if (std::ranges::find(kReasons, disrupted->reason) == std::end(kReasons)) return nullptr;
        const bool is_spare = disrupted->message.find("its pods fit on other nodes") != std::string::npos;
        return is_spare ? nullptr : disrupted;
    }

    // Assigns a new claim to the replacement that it names. A claim that names none is assigned to the open
    // replacement with the shortest series. A pool may replace many machines of one age, each of them once.
    void note_created(const NodeSmithClaim& claim) {
        if (!created_.emplace(claim.metadata.uid, world_.now()).second) return;
        const auto* replaced = api::find(claim.metadata.annotations, api::annotations::kReplaces);
        const auto decided = replaced ? decided_.find(*replaced) : decided_.end();
        if (decided != decided_.end()) {
            const auto& decision = decided->second;
            if (!has_changed_since(claim.spec.poolRef, decision.at))
                length_[{claim.metadata.uid, decision.series.second}] = decision.number;
            return forget_open(decision);
        }
        for (auto& [series, numbers] : open_) {
            std::erase_if(numbers,
                          [this](const auto& open) { return open.second + kAwaited < world_.now(); });
            if (series.first != claim.spec.poolRef || numbers.empty()) continue;
            if (!has_changed_since(claim.spec.poolRef, numbers.begin()->second))
                length_[{claim.metadata.uid, series.second}] = numbers.begin()->first;
            numbers.erase(numbers.begin());
        }
    }

    void forget_open(const Decision& decision) {
        auto& numbers = open_[decision.series];
        const auto found = numbers.find(decision.number);
        if (found != numbers.end()) numbers.erase(found);
    }

    std::size_t length_of(const NodeSmithClaim& claim, const std::string& cause) const {
        const auto found = length_.find({claim.metadata.uid, cause});
        return found == length_.end() ? 0 : found->second;
    }

    // Returns the cause as the world shows it. All repairs are one series, however the nodes fail.
    static std::string cause_of(const NodeSmithClaim& claim, const api::Condition& disrupted) {
        const bool is_of_host = disrupted.reason == api::reasons::kEvacuation;
        return disrupted.reason + (is_of_host ? "/" + claim.status.host : "");
    }

    void look_at(const NodeSmithClaim* before, const NodeSmithClaim& after) {
        if (is_forged(after)) return;
        const auto *was = replacement_of(before), *is = replacement_of(&after);
        if (was && (!is || is->reason != was->reason)) withdraw(after.metadata.name);
        if (is && (!was || is->reason != was->reason)) decide(after, *is);
        const bool was_replaced =
            was && is && is->reason == was->reason && before->metadata.deletionTimestamp;
        if (is && after.metadata.deletionTimestamp && !was_replaced) judge(after);
    }

    void decide(const NodeSmithClaim& claim, const api::Condition& disrupted) {
        Decision decision{
            {claim.spec.poolRef, cause_of(claim, disrupted)}, 1, is_vain(claim, disrupted), world_.now()};
        if (decision.is_vain) decision.number += length_of(claim, decision.series.second);
        open_[decision.series].emplace(decision.number, world_.now());
        decided_[claim.metadata.name] = std::move(decision);
    }

    void withdraw(const std::string& claim) {
        const auto found = decided_.find(claim);
        if (found == decided_.end()) return;
        forget_open(found->second);
        decided_.erase(found);
    }

    bool is_vain(const NodeSmithClaim& claim, const api::Condition& disrupted) const {
        if (disrupted.reason == api::reasons::kExpired) return was_old_from_the_start(claim);
        if (!is_as_configured(claim)) return false;
        const auto since = api::true_since(claim.status.conditions, api::conditions::kInitialized);
        return disrupted.reason == api::reasons::kDrifted || !since || !disrupted.lastTransitionTime ||
               disrupted.lastTransitionTime->at - since->at < kServedLong;
    }

    // Reports whether the settings that the machine was made from are unchanged since its creation.
    bool is_as_configured(const NodeSmithClaim& claim) const {
        return !has_changed_since(claim.spec.poolRef, created_.at(claim.metadata.uid));
    }

    bool has_changed_since(const std::string& pool, base::TimePoint time) const {
        const auto changed = changed_.find(pool);
        return time <= provider_changed_ || (changed != changed_.end() && time <= changed->second);
    }

    static bool was_old_from_the_start(const NodeSmithClaim& claim) {
        const auto since = api::true_since(claim.status.conditions, api::conditions::kInitialized);
        const auto* disrupted = api::find_condition(claim.status.conditions, api::conditions::kDisrupted);
        const auto& created = claim.metadata.creationTimestamp;
        return since && created && disrupted->lastTransitionTime &&
               disrupted->lastTransitionTime->at - since->at < since->at - created->at;
    }

    void judge(const NodeSmithClaim& claim) {
        const auto found = decided_.find(claim.metadata.name);
        if (found == decided_.end() || !found->second.is_vain) return;
        const auto& cause = found->second.series.second;
        const auto number = found->second.number;
        world_.happenings.count("replacement without effect: " + cause.substr(0, cause.find('/')));
        if (number <= kMostReplacements) return;
        stage_.violate("no series without an end",
                       "pool " + claim.spec.poolRef + " replaces " + claim.metadata.name + " as " + cause +
                           ", number " + std::to_string(number) + " of a series though nothing has changed");
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

    std::map<std::string, base::TimePoint> created_;  // by claim UID
    std::map<std::string, base::TimePoint> changed_;  // last change of the settings, by pool
    base::TimePoint provider_changed_;                // last change of provider, host or control plane
    // Numbers of replacements whose claims are to come, and the times of their decisions.
    std::map<Series, std::multimap<std::size_t, base::TimePoint>> open_;
    std::map<std::string, Decision> decided_;                            // by claim name
    std::map<std::pair<std::string, std::string>, std::size_t> length_;  // by claim UID and cause
    std::map<std::string, std::deque<base::TimePoint>> patches_;         // by Node
    std::set<std::string> processes_;
};

}  // namespace

std::unique_ptr<Invariant> series_end(const Stage& stage) {
    return std::make_unique<SeriesEnd>(stage);
}

}  // namespace simulation
