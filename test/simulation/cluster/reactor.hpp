// A controller of the modelled cluster. When something that it watches has changed, it waits a little, looks
// at everything once, and acts. Several changes during that wait cause one look.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.hpp"

namespace simulation {

class Reactor {
public:
    Reactor(base::Clock& clock, base::Duration reaction_time, std::function<void()> act)
        : clock_(clock), reaction_time_(reaction_time), act_(std::move(act)) {}

    void poke() { poke_after(reaction_time_); }
    // The earliest time wins.
    void poke_after(base::Duration wait) {
        auto due = clock_.now() + wait;
        if (alarm_ && due_ <= due) return;
        due_ = due;
        alarm_ = clock_.call_at(due, [this] {
            alarm_.reset();
            act_();
        });
    }

private:
    base::Clock& clock_;
    base::Duration reaction_time_;
    std::function<void()> act_;
    base::TimePoint due_{};
    std::unique_ptr<base::Alarm> alarm_;
};

}  // namespace simulation
