// Asks guests through their providers which addresses they have, each provider in a key of its own: one that
// hangs holds up neither the others nor first certificates, which need no provider.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/cache/kinds.hpp"
#include "controllers/services/provider_instances.hpp"
#include "kube/controller.hpp"

namespace controllers {

// Keys are those of NodeSmithProviders.
class GuestAddresses final : public kube::Reconciler {
public:
    GuestAddresses(Informers& informers, base::Clock& clock, ProviderInstances& instances)
        : informers_(informers), clock_(clock), instances_(instances) {}

    void subscribe(kube::WorkQueue& queue);
    // Called with what ask() was given when there is an answer.
    void on_answer(std::function<void(const kube::ObjectKey&)> listener) { listener_ = std::move(listener); }
    void ask(const ClaimPointer& claim, const kube::ObjectKey& asked_for);
    // Returns what its guest said a moment ago; nullopt: it has to be asked.
    std::optional<std::vector<std::string>> of(const NodeSmithClaim& claim) const;

    asio::awaitable<kube::Result> reconcile(kube::ObjectKey provider) override;

private:
    struct Answer {
        std::vector<std::string> addresses;
        base::TimePoint at{};
    };
    struct Question {
        ClaimPointer claim;
        std::set<kube::ObjectKey> asked_for;
    };
    using Questions = std::map<std::string, Question>;  // by claim UID

    asio::awaitable<std::vector<std::string>> ask_guest(ClaimPointer claim);

    Informers& informers_;
    base::Clock& clock_;
    ProviderInstances& instances_;
    kube::WorkQueue* queue_ = nullptr;
    std::function<void(const kube::ObjectKey&)> listener_;
    std::map<kube::ObjectKey, Questions> questions_;  // by provider
    std::map<std::string, Answer> answers_;           // by claim UID
};

}  // namespace controllers
