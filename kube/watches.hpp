// Declares which changes of objects wake which reconciler:
//   watch(informers.hosts).changed(is_free).after(1s).enqueue(queue, pools_of_host);
// Each filter narrows the declaration, and a change must pass all of them; enqueue() or call() ends it.
// Without a filter each change wakes. A declaration is a value, so several may have the same beginning.
// Declare them before the informer runs. The functions' referents must outlive its run, and they must not
// throw.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/informer.hpp"
#include "kube/work_queue.hpp"

namespace kube {

// Members of all objects, for changed().
inline constexpr auto kGeneration = [](const auto& object) { return object.metadata.generation; };
inline constexpr auto kUid = [](const auto& object) -> const auto& { return object.metadata.uid; };
inline constexpr auto kDeletion = [](const auto& object) { return object.metadata.deletionTimestamp; };
inline constexpr auto kLabels = [](const auto& object) -> const auto& { return object.metadata.labels; };

// Result of one change: one key, an optional key, or several.
using Keys = std::vector<ObjectKey>;
void enqueue(WorkQueue& queue, base::Duration delay, const ObjectKey& key);
void enqueue(WorkQueue& queue, base::Duration delay, const std::optional<ObjectKey>& key);
void enqueue(WorkQueue& queue, base::Duration delay, const Keys& keys);

template <api::Kind T>
Keys keys_of(const std::vector<std::shared_ptr<const T>>& objects) {
    Keys keys;
    for (const auto& object : objects) keys.push_back(api::key_of(*object));
    return keys;
}
// Returns the keys of the objects for which the predicate holds.
template <api::Kind T, class Predicate>
Keys keys_of(const Store<T>& store, Predicate holds) {
    Keys keys;
    for (const auto& [key, object] : store.all())
        if (holds(*object)) keys.push_back(key);
    return keys;
}
template <api::Kind T>
Keys keys_of(const Store<T>& store) {
    return keys_of(store, [](const T&) { return true; });
}
inline auto in_namespace(std::string name) {
    return [name = std::move(name)](const auto& object) { return object.metadata.namespace_ == name; };
}

template <api::Kind T>
class Watch {
public:
    explicit Watch(Informer<T>& informer) : informer_(&informer) {}

    // ---- filters
    // Passes if the object appeared or disappeared, or if one of these members or functions changed its
    // value.
    template <class... Projections>
    Watch changed(Projections... projections) const {
        static_assert(sizeof...(Projections) > 0);
        return only([projections...](const T* before, const T* after) {
            return !before || !after ||
                   ((std::invoke(projections, *before) != std::invoke(projections, *after)) || ...);
        });
    }
    // Passes if the predicate holds now and did not before. It never holds for a missing object.
    template <class Predicate>
    Watch became(Predicate predicate) const {
        return only([predicate](const T* before, const T* after) {
            return after && std::invoke(predicate, *after) && !(before && std::invoke(predicate, *before));
        });
    }
    // Passes if the predicate held and no longer does, or the object disappeared.
    template <class Predicate>
    Watch ceased(Predicate predicate) const {
        return only([predicate](const T* before, const T* after) {
            return before && std::invoke(predicate, *before) && !(after && std::invoke(predicate, *after));
        });
    }
    // Passes in both cases.
    template <class Predicate>
    Watch flipped(Predicate predicate) const {
        return only([predicate](const T* before, const T* after) {
            return (before && std::invoke(predicate, *before)) != (after && std::invoke(predicate, *after));
        });
    }
    // Passes if the predicate holds for the current object, or for the last version of a deleted one.
    template <class Predicate>
    Watch when(Predicate predicate) const {
        return only([predicate](const T* before, const T* after) {
            return static_cast<bool>(std::invoke(predicate, after ? *after : *before));
        });
    }
    // Passes if the object exists.
    Watch present() const {
        return only([](const T*, const T* after) { return after != nullptr; });
    }
    // Passes if the object no longer exists.
    Watch gone() const {
        return only([](const T*, const T* after) { return after == nullptr; });
    }
    Watch appeared_or_gone() const {
        return only([](const T* before, const T* after) { return !before || !after; });
    }

    // ---- modifiers
    // Delays the keys, so that a burst of changes is handled together.
    Watch after(base::Duration delay) const {
        auto result = *this;
        result.delay_ = delay;
        return result;
    }
    // Asks the previous version of the object for keys as well, as it may have referred to others.
    Watch before_too() const {
        auto result = *this;
        result.before_too_ = true;
        return result;
    }

    // ---- ends
    // Passes the result of `keys_of` to kube::enqueue(). It is a function of the current object, or of the
    // last version of a deleted one.
    template <class KeysOf>
    void enqueue(WorkQueue& queue, KeysOf keys_of) const {
        call([&queue, keys_of, delay = delay_](const T& object) {
            kube::enqueue(queue, delay, std::invoke(keys_of, object));
        });
    }
    // Enqueues the object's own key.
    void enqueue(WorkQueue& queue) const {
        enqueue(queue, [](const T& object) { return api::key_of(object); });
    }
    // Calls a function immediately, for anything else.
    template <class Function>
    void call(Function function) const {
        informer_->on_change(
            [filters = filters_, before_too = before_too_, function](const T* before, const T* after) {
                for (const auto& passes : filters)
                    if (!passes(before, after)) return;
                if (before_too && before && after) function(*before);
                function(after ? *after : *before);
            });
    }

private:
    using Filter = std::function<bool(const T* before, const T* after)>;

    Watch only(Filter filter) const {
        auto result = *this;
        result.filters_.push_back(std::move(filter));
        return result;
    }

    Informer<T>* informer_;
    std::vector<Filter> filters_;
    base::Duration delay_{};  // zero: immediately
    bool before_too_ = false;
};

template <api::Kind T>
Watch<T> watch(Informer<T>& informer) {
    return Watch<T>(informer);
}

}  // namespace kube
