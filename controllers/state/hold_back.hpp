// Provides the first check of each reconciler of our kinds.
#pragma once

#include "controllers/cache/context.hpp"
#include "controllers/cache/writes.hpp"
#include "controllers/state/acceptance.hpp"

namespace controllers {

// Returns whether the object must be left alone because it is not understood. Reports that
// in its conditions and in one Event.
template <api::Kind T>
asio::awaitable<bool> is_held_back(kube::Informer<T>& informer, kube::ObjectKey key, kube::Client& client,
                                   kube::EventRecorder& events, base::Clock& clock) {
    const auto object = informer.store().get(key);
    if (!object) co_return false;
    // The known state is outdated, so nothing could be written.
    if (object->metadata.isOutdated) co_return true;
    const auto why = why_not_understood(object->metadata);
    const auto* accepted = api::find_condition(object->status.conditions, conditions::kAccepted);
    if (why.empty() && !accepted) co_return false;
    const bool is_news = !why.empty() && (!accepted || accepted->message != why);
    auto after = *object;
    conclude_acceptance(after.status.conditions, object->metadata, api::Time(clock.wall_now()));
    // Nothing more will happen with it, so tools need not wait.
    if (!why.empty()) after.status.observedGeneration = object->metadata.generation;
    if (is_news) events.warning(*object, std::string(reasons::kUnknownValue), why);
    try {
        co_await write_status(client, informer, *object, std::move(after));
    } catch (const kube::ApiError& error) {
        // An API server without ratcheting (up to 1.29) refuses each write of an object whose spec violates
        // its CRD. The Event has reported it.
        constexpr int kInvalid = 422;
        if (error.code != kInvalid || why.empty()) throw;
    }
    co_return !why.empty();
}

}  // namespace controllers
