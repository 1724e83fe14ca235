// Declares which changes of objects wake whom:
//   watch(informers.hosts).changed(is_free).after(1s).enqueue(queue, pools_of_host);
// Each filter narrows the declaration down, all of them must let a change pass; enqueue() or call() ends it.
// Without a filter each change wakes. A declaration is a value: several may begin alike. Only before the
// informer runs; what the functions refer to must outlive its run, and they must not throw.
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

// For changed(): members that all objects have.
inline constexpr auto kGeneration = [](const auto& object) { return object.metadata.generation; };
inline constexpr auto kUid = [](const auto& object) -> const auto& { return object.metadata.uid; };
inline constexpr auto kDeletion = [](const auto& object) { return object.metadata.deletionTimestamp; };
inline constexpr auto kLabels = [](const auto& object) -> const auto& { return object.metadata.labels; };

// What may follow from one change: a key, perhaps one, or several.
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
// Of the objects for which the predicate holds.
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
    // It appeared, disappeared, or one of these members or functions of it gives something else than before.
    template <class... Projections>
    Watch changed(Projections... projections) const {
        static_assert(sizeof...(Projections) > 0);
        return only([projections...](const T* before, const T* after) {
            return !before || !after ||
                   ((std::invoke(projections, *before) != std::invoke(projections, *after)) || ...);
        });
    }
    // The predicate holds now and did not before. It holds for no object that is not there.
    template <class Predicate>
    Watch became(Predicate predicate) const {
        return only([predicate](const T* before, const T* after) {
            return after && std::invoke(predicate, *after) && !(before && std::invoke(predicate, *before));
        });
    }
    // The predicate held and does not any more, or the object disappeared.
    template <class Predicate>
    Watch ceased(Predicate predicate) const {
        return only([predicate](const T* before, const T* after) {
            return before && std::invoke(predicate, *before) && !(after && std::invoke(predicate, *after));
        });
    }
    // Either of both.
    template <class Predicate>
    Watch flipped(Predicate predicate) const {
        return only([predicate](const T* before, const T* after) {
            return (before && std::invoke(predicate, *before)) != (after && std::invoke(predicate, *after));
        });
    }
    // The predicate holds for it as it is, or as it was last.
    template <class Predicate>
    Watch when(Predicate predicate) const {
        return only([predicate](const T* before, const T* after) {
            return static_cast<bool>(std::invoke(predicate, after ? *after : *before));
        });
    }
    // It is there.
    Watch present() const {
        return only([](const T*, const T* after) { return after != nullptr; });
    }
    // It is there no more.
    Watch gone() const {
        return only([](const T*, const T* after) { return after == nullptr; });
    }
    Watch appeared_or_gone() const {
        return only([](const T* before, const T* after) { return !before || !after; });
    }

    // ---- how
    // The keys come so much later: a burst of changes is looked at once.
    Watch after(base::Duration delay) const {
        auto result = *this;
        result.delay_ = delay;
        return result;
    }
    // The object as it was is asked for keys too: it may have pointed elsewhere.
    Watch before_too() const {
        auto result = *this;
        result.before_too_ = true;
        return result;
    }

    // ---- ends
    // `keys_of` is a function of the object as it is, or as it was last: its result goes to kube::enqueue().
    template <class KeysOf>
    void enqueue(WorkQueue& queue, KeysOf keys_of) const {
        call([&queue, keys_of, delay = delay_](const T& object) {
            kube::enqueue(queue, delay, std::invoke(keys_of, object));
        });
    }
    // The object's own key.
    void enqueue(WorkQueue& queue) const {
        enqueue(queue, [](const T& object) { return api::key_of(object); });
    }
    // For what has to happen besides, at once.
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
    base::Duration delay_{};  // zero: at once
    bool before_too_ = false;
};

template <api::Kind T>
Watch<T> watch(Informer<T>& informer) {
    return Watch<T>(informer);
}

}  // namespace kube
