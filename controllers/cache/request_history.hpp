// Remembers what pods requested before they were shrunk in place. After an eviction, such a pod is replaced
// by a new one, which requests what its owner's template and the admission give it.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/pod.hpp"
#include "api/time.hpp"
#include "base/clock.hpp"
#include "kube/store.hpp"

namespace controllers {

// RequestHistory remembers, for each group of like pods, the first requests of the newest one. An operator
// that has just started knows only the present ones.
class RequestHistory {
public:
    // The clock must outlive it.
    explicit RequestHistory(base::Clock& clock) : clock_(clock) {}

    // Handles a change of a pod; null: there is none before or after it.
    void observe(const api::Pod* before, const api::Pod* after);

    // Returns the pods that come back with more requests after an eviction, as they come back; by UID.
    std::map<std::string, std::shared_ptr<const api::Pod>> returning(const kube::Store<api::Pod>& pods) const;

private:
    // Requests holds what a pod requests of the resources that a resize in place may change.
    struct Requests {
        std::map<std::string, api::ResourceList> of_containers;  // by name of the container
        api::ResourceList of_pod;
        bool operator==(const Requests&) const = default;
    };
    struct Group {
        std::size_t pods = 0;
        api::Time created;                   // the newest pod
        Requests first;                      // of the newest pod
        std::optional<api::Time> shrunk;     // a pod lost requests in place
        std::optional<api::Time> came_back;  // a new pod had the size that older ones had lost
        std::optional<api::Time> gone;       // its last pod
    };

    static Requests requests_of(const api::PodSpec& spec);
    static Requests granted(const api::Pod& pod);
    static std::shared_ptr<const api::Pod> with(const api::Pod& pod, const Requests& requests);
    void add(const api::Pod& pod);
    void remove(const api::Pod& pod);
    void forget_old();
    static bool is_valid(const Group& group, api::Time time);
    api::Time now() const { return api::Time(clock_.wall_now()); }

    base::Clock& clock_;
    std::map<std::string, Group> groups_;
    std::optional<api::Time> looked_;  // for groups to forget
};

}  // namespace controllers
