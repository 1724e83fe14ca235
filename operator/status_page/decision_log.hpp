// The latest decisions of this process, taken from its Events. It passes each Event on to the recorder that
// writes it.
#pragma once

#include <deque>

#include "api/time.hpp"
#include "base/clock.hpp"
#include "kube/event_recorder.hpp"

namespace kubenodesmith::status_page {

struct LoggedDecision {
    api::Time time;  // the last one, if repeated
    kube::EventType type = kube::EventType::normal;
    std::string about;  // for example "NodeSmithPool ours/tools"
    std::string reason;
    std::string message;
    std::int64_t count = 1;
};

class DecisionLog final : public kube::EventRecorder {
public:
    DecisionLog(kube::EventRecorder& next, base::Clock& clock) : next_(next), clock_(clock) {}
    void event(const kube::EventTarget& about, kube::EventType type, std::string reason,
               std::string message) override;

    // Returns a limited number of decisions, the latest first.
    const std::deque<LoggedDecision>& decisions() const { return decisions_; }

private:
    kube::EventRecorder& next_;
    base::Clock& clock_;
    std::deque<LoggedDecision> decisions_;
};

}  // namespace kubenodesmith::status_page
