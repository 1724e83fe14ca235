// One look at a pool, and what comes of it: in the hands of the methods and of the queue.
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

// The cluster as removals are judged by it.
using LookAtWorld = std::function<provisioning::World()>;

class Pass {
public:
    // All must outlive the pass.
    struct Means {
        const Informers& informers;
        base::Clock& clock;
        scheduling::Solver& solver;
        Refusals& refusals;
        const LookAtWorld& look_at_world;
    };
    // Why a node stays although it could go.
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
    // Something was changed: from now on the pool is as the view says.
    void renew(PoolView view);

    // The world is looked at when it is first asked for.
    const provisioning::World& world();
    // In its snapshot; nullopt: the node is not there.
    std::optional<std::size_t> place_of(const Member& member);

    // The pool is to be looked at again then, or sooner; nullopt changes nothing.
    void look_again(std::optional<base::Duration> wait);
    void look_again_at(std::optional<api::Time> when);
    std::optional<base::Duration> again() const { return again_; }

    // Returns why the node was found not to be able to go; nullopt when that no longer holds. Sets when to
    // look again.
    std::optional<std::string> refusal_of(const Member& member, Kind kind);
    void refuse(const Member& member, Kind kind, const std::string& why);

    // The first thing that keeps a node is what is said of it.
    void keep(const Member& member, Kind kind, Blocker why, bool is_news = true);
    const std::map<std::string, Kept>& kept() const { return kept_; }  // by name of the Node

private:
    Means means_;
    std::optional<PoolView> view_;
    std::optional<provisioning::World> world_;
    std::map<std::string, std::size_t> places_;
    std::optional<base::Duration> again_;
    std::map<std::string, Kept> kept_;
};

}  // namespace controllers::disruption
