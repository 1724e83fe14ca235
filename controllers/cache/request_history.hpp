// Remembers what pods requested when they were new. A pod that was resized in place is replaced by a new one
// after its eviction, which requests what its owner's template and the admission give it.
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

// RequestHistory remembers, for each owner, the first requests of its newest pod. An operator that has just
// started knows only the present ones.
class RequestHistory {
public:
    // The clock must outlive it.
    explicit RequestHistory(base::Clock& clock) : clock_(clock) {}

    // Handles a change of a pod; null: there is none before or after it.
    void observe(const api::Pod* before, const api::Pod* after);

    // Returns the pods that come back with more requests after an eviction, as they come back; by UID.
    std::map<std::string, std::shared_ptr<const api::Pod>> returning(const kube::Store<api::Pod>& pods) const;

private:
    struct Requests {
        api::Shared<std::vector<api::Container>> containers;
        api::Shared<std::vector<api::Container>> init_containers;
        api::Shared<api::ResourceRequirements> of_pod;
    };
    struct Owner {
        std::size_t pods = 0;
        api::Time created;    // the newest pod
        Requests first;       // of the newest pod
        bool varies = false;  // other pods have or had other requests
        std::optional<api::Time> shrunk;
        std::optional<api::Time> came_back;  // a new pod had the size that older ones had lost
        std::optional<api::Time> gone;       // its last pod
    };

    std::shared_ptr<const api::Pod> returning(const api::Pod& pod, const Owner& owner) const;
    void add(const api::Pod& pod);
    void remove(const api::Pod& pod);
    void note_variation(Owner& owner);
    void forget(std::map<std::string, Owner>::iterator owner);
    void forget_old();
    bool is_valid(const Owner& owner) const;
    api::Time now() const { return api::Time(clock_.wall_now()); }
    static void set_requests(api::PodSpec& spec, const Requests& requests);

    base::Clock& clock_;
    std::map<std::string, Owner> owners_;  // by UID
    std::size_t varying_ = 0;              // number of owners whose pods vary
    std::optional<api::Time> looked_;      // for owners to forget
};

}  // namespace controllers
