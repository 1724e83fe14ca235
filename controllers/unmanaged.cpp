#include "controllers/unmanaged.hpp"

#include <boost/system/system_error.hpp>
#include <exception>

#include "base/log.hpp"
#include "controllers/state/course.hpp"

namespace controllers {

namespace {

constexpr base::Duration kTellingPace = std::chrono::seconds{1};
constexpr base::Duration kAfterFailure = std::chrono::seconds{30};

// Reports whether a repeated request would be refused again.
bool is_final(const kube::ApiError& error) {
    static constexpr int kTooManyRequests = 429;
    static constexpr int kServerError = 500;
    return error.code < kServerError && error.code != kTooManyRequests && !error.is_conflict();
}

// This key represents all objects of a kind in its queue.
const kube::ObjectKey kEveryUnmanaged{"", "unmanaged"};

}  // namespace

void WaitingObjects::add(const api::ObjectKey& key) {
    if (size_ >= kMost) return;
    auto& names = names_[key.namespace_];
    if (names.size() < kMostOfNamespace && names.insert(key.name).second) ++size_;
}

void WaitingObjects::remove(const api::ObjectKey& key) {
    const auto found = names_.find(key.namespace_);
    if (found == names_.end()) return;
    size_ -= found->second.erase(key.name);
    if (found->second.empty()) names_.erase(found);
}

std::optional<api::ObjectKey> WaitingObjects::take() {
    if (names_.empty()) return std::nullopt;
    auto turn = names_.upper_bound(last_);
    if (turn == names_.end()) turn = names_.begin();
    last_ = turn->first;
    api::ObjectKey key{turn->first, *turn->second.begin()};
    remove(key);
    return key;
}

template <api::Kind T>
std::optional<T> told_unmanaged(const T& object, const ManagedNamespaces& managed, api::Time now) {
    auto after = object;
    conclude_unmanaged(after.status.conditions, object.metadata.generation,
                       managed.why_unmanaged(object.metadata.namespace_), now);
    after.status.observedGeneration = object.metadata.generation;
    if (after.status == object.status) return std::nullopt;
    return after;
}

template <api::Kind T>
UnmanagedReconciler<T>::UnmanagedReconciler(kube::Informer<T>& informer, const ManagedNamespaces& managed,
                                            kube::Client& client, base::Clock& clock)
    : informer_(informer), managed_(managed), client_(client), clock_(clock) {}

template <api::Kind T>
void UnmanagedReconciler<T>::subscribe(kube::WorkQueue& queue) {
    informer_.on_refusal([this, &queue](const T& object) {
        if (!told_unmanaged(object, managed_, api::Time(clock_.wall_now())))
            return waiting_.remove(api::key_of(object));
        waiting_.add(api::key_of(object));
        queue.add_after(kEveryUnmanaged, kTellingPace);
    });
}

// Handles one waiting object per call. The key only stands for the kind, so that one object is written at a
// time.
template <api::Kind T>
asio::awaitable<kube::Result> UnmanagedReconciler<T>::reconcile(kube::ObjectKey) {
    const auto next = waiting_.take();
    if (!next) co_return kube::Result{};
    std::string failure;
    bool is_refused = false;
    try {
        co_await tell(*next);
    } catch (const boost::system::system_error&) {
        throw;  // this process itself is being cancelled
    } catch (const kube::ApiError& error) {
        failure = error.what();
        is_refused = is_final(error);
    } catch (const std::exception& error) {
        failure = error.what();
    }
    if (!failure.empty())
        base::log::warning("Cannot report on an object that its namespace is not managed",
                           {{"kind", T::kResource.kind}, {"object", next->str()}, {"error", failure}});
    // An object that can never be written must not take the others' turns. It is retried when it changes.
    const bool is_tried_again = !failure.empty() && !is_refused;
    if (is_tried_again) waiting_.add(*next);
    kube::Result result;
    if (waiting_.size() > 0) result.requeue_after = is_tried_again ? kAfterFailure : kTellingPace;
    co_return result;
}

// Reads the object live, because no part of it was stored.
template <api::Kind T>
asio::awaitable<void> UnmanagedReconciler<T>::tell(kube::ObjectKey key) {
    const auto found = co_await client_.list<T>(kube::only(key));
    for (const auto& object : found.objects) {
        const auto after = told_unmanaged(object, managed_, api::Time(clock_.wall_now()));
        if (!after) continue;
        auto patch = kube::difference(object, *after, kube::Lock::resource_version);
        if (patch) co_await client_.patch_status<T>(api::key_of(object), std::move(*patch));
    }
}

UnmanagedReconcilers::UnmanagedReconcilers(Informers& informers, kube::Client& client, base::Clock& clock)
    : providers(informers.providers, informers.managed, client, clock),
      pools(informers.pools, informers.managed, client, clock),
      claims(informers.claims, informers.managed, client, clock),
      control_planes(informers.control_planes, informers.managed, client, clock),
      hosts(informers.hosts, informers.managed, client, clock) {}

template class UnmanagedReconciler<NodeSmithProvider>;
template class UnmanagedReconciler<NodeSmithPool>;
template class UnmanagedReconciler<NodeSmithClaim>;
template class UnmanagedReconciler<NodeSmithControlPlane>;
template class UnmanagedReconciler<NodeSmithHost>;

}  // namespace controllers
