// Holds one round's view of a pool and its results, for the methods and the queue.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "controllers/cache/informers.hpp"
#include "controllers/disruption/methods/pool_view.hpp"
#include "controllers/disruption/methods/refusals.hpp"
#include "controllers/provisioning/world.hpp"
#include "scheduling/solver.hpp"

namespace controllers::disruption {

// Returns the cluster's state with which removals are judged.
using LookAtWorld = std::function<provisioning::World()>;

class Pass {
public:
    // All members must outlive the pass.
    struct Means {
        const Informers& informers;
        base::Clock& clock;
        scheduling::Solver& solver;
        Refusals& refusals;
        const LookAtWorld& look_at_world;
    };
    // Kept says why a removable node is kept.
    struct Kept {
        const Member* member = nullptr;
        Kind kind = Kind::Empty;
        Blocker blocker;
        bool is_news = true;
    };

    Pass(const Means& means, PoolView view) : means_(means), view_(std::move(view)) {}

    const PoolView& view() const { return *view_; }
    const Informers& informers() const { return means_.informers; }
    scheduling::Solver& solver() { return means_.solver; }
    // Replaces the view after something was changed.
    void renew(PoolView view);

    // Returns the cluster's state, built at the first call.
    const provisioning::World& world();
    // Returns its index in the snapshot; nullopt: the node is not in it.
    std::optional<std::size_t> place_of(const Member& member);

    // Examines the pool again after this time, or sooner; nullopt changes nothing.
    void look_again(std::optional<base::Duration> wait);
    void look_again_at(std::optional<api::Time> when);
    std::optional<base::Duration> again() const { return again_; }

    // Returns why the node was found irremovable; nullopt if that no longer holds. Schedules the next look.
    std::optional<std::string> refusal_of(const Member& member, Kind kind);
    void refuse(const Member& member, Kind kind, const std::string& why);

    // Notes that a write was not answered in time. The pass then makes no other, because each may take half
    // a minute.
    void note_unanswered() { is_unanswered_ = true; }
    bool is_unanswered() const { return is_unanswered_; }

    // Records why a node is kept. The first reason counts.
    void keep(const Member& member, Kind kind, Blocker why, bool is_news = true);
    const std::map<std::string, Kept>& kept() const { return kept_; }  // by name of the Node

private:
    Means means_;
    std::optional<PoolView> view_;
    std::optional<provisioning::World> world_;
    std::map<std::string, std::size_t> places_;
    std::optional<base::Duration> again_;
    bool is_unanswered_ = false;
    std::map<std::string, Kept> kept_;
};

}  // namespace controllers::disruption
