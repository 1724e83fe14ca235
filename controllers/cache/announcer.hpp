// Emits an Event about an object once, and again only when its content changes. It prevents repeated Events
// about decisions that are taken again in each round. It does not outlive the process.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "kube/event_recorder.hpp"

namespace controllers {

class Announcer {
public:
    explicit Announcer(kube::EventRecorder& events) : events_(events) {}

    void say(const kube::EventTarget& about, kube::EventType type, const std::string& reason,
             const std::string& message) {
        auto& last = said_[about.uid];
        if (last == std::pair(reason, message)) return;
        last = {reason, message};
        events_.event(about, type, reason, message);
    }
    // Forgets the last Event about the object. The next one is emitted even if it is the same.
    void settle(const std::string& uid) { said_.erase(uid); }
    // Keeps only the entries of these objects.
    void keep(const std::set<std::string>& uids) {
        std::erase_if(said_, [&](const auto& entry) { return !uids.contains(entry.first); });
    }

private:
    kube::EventRecorder& events_;
    std::map<std::string, std::pair<std::string, std::string>> said_;  // by UID: reason, message
};

}  // namespace controllers
