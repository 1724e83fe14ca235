#include "controllers/guest_addresses.hpp"

#include <exception>
#include <utility>

#include "base/log.hpp"
#include "controllers/state/claim_state.hpp"
#include "controllers/state/identity.hpp"
#include "kube/watches.hpp"
#include "providers/capabilities.hpp"
#include "providers/provider.hpp"

namespace controllers {

namespace {

constexpr base::Duration kAnswerLasts = std::chrono::seconds{30};
// After a provider could not be asked.
constexpr base::Duration kAskAgain = std::chrono::seconds{30};

}  // namespace

void GuestAddresses::subscribe(kube::WorkQueue& queue) {
    queue_ = &queue;
    kube::watch(informers_.claims).gone().call([this](const NodeSmithClaim& claim) {
        answers_.erase(claim.metadata.uid);
        for (auto& [provider, questions] : questions_) questions.erase(claim.metadata.uid);
    });
}

void GuestAddresses::ask(const ClaimPointer& claim, const kube::ObjectKey& asked_for) {
    const auto provider = claim::provider_of(*claim);
    auto& question = questions_[provider][claim->metadata.uid];
    question.claim = claim;
    question.asked_for.insert(asked_for);
    queue_->add(provider);
}

std::optional<std::vector<std::string>> GuestAddresses::of(const NodeSmithClaim& claim) const {
    const auto answer = answers_.find(claim.metadata.uid);
    if (answer == answers_.end() || answer->second.at + kAnswerLasts <= clock_.now()) return std::nullopt;
    return answer->second.addresses;
}

asio::awaitable<kube::Result> GuestAddresses::reconcile(kube::ObjectKey provider) {
    auto questions = std::exchange(questions_[provider], {});
    questions_.erase(provider);
    kube::Result result;
    for (auto& [uid, question] : questions) {
        std::string failure;
        try {
            auto addresses = co_await ask_guest(question.claim);
            answers_[uid] = {std::move(addresses), clock_.now()};
        } catch (const std::exception& error) {
            failure = error.what();
        }
        if (failure.empty()) {
            for (const auto& asked_for : question.asked_for) listener_(asked_for);
            continue;
        }
        // One guest that cannot be asked must not keep the others from their answers.
        base::log::warning("Could not ask a machine for its addresses",
                           {{"claim", api::key_of(*question.claim).str()}, {"error", failure}});
        if (informers_.claims.store().get(api::key_of(*question.claim)))
            questions_[provider].insert_or_assign(uid, std::move(question));
        result.requeue_after = kAskAgain;
    }
    co_return result;
}

asio::awaitable<std::vector<std::string>> GuestAddresses::ask_guest(ClaimPointer claim) {
    const auto lookup = co_await instances_.get(claim::provider_of(*claim));
    const auto* provider = std::get_if<std::shared_ptr<providers::Provider>>(&lookup);
    auto* observer = provider ? (*provider)->capabilities().guest_observer : nullptr;
    if (!observer) co_return std::vector<std::string>();
    auto sight = co_await observer->look_at_guest(claim::record_of(claim->status));
    co_return std::move(sight.addresses);
}

}  // namespace controllers
