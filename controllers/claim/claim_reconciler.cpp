#include "controllers/claim/claim_reconciler.hpp"

#include <algorithm>

#include "controllers/claim/decide/cleanup.hpp"
#include "controllers/claim/wakes.hpp"
#include "controllers/services/claim_refusals.hpp"
#include "controllers/state/hold_back.hpp"
#include "providers/errors.hpp"

namespace controllers {

using claim::Observation;
using claim::Step;

ClaimReconciler::ClaimReconciler(const Context& context, ProviderInstances& instances,
                                 Reservations& reservations, Drainer& drainer, claim::BootData& boot_data,
                                 MachineReports& machine_reports, DisruptionReports& disruption_reports,
                                 asio::any_io_executor executor)
    : InContext(context),
      boot_data_(boot_data),
      machine_reports_(machine_reports),
      disruption_reports_(disruption_reports),
      writer_(context),
      means_{context, writer_, instances, boot_data},
      addresses_(context.informers, context.client),
      placements_(std::move(executor), context.informers),
      launcher_(means_, reservations, addresses_, placements_),
      nodes_(means_),
      remover_(means_, drainer, nodes_),
      power_cycler_(means_),
      starter_(means_),
      adoption_(means_, nodes_),
      recovery_(means_),
      watch_(means_) {
    reservations.count_also(
        [this](ClaimPointer claim) { return recovery_.may_have_unknown_machine(std::move(claim)); });
}

void ClaimReconciler::subscribe(kube::WorkQueue& queue) {
    nodes_.subscribe();
    recovery_.subscribe();
    lanes_.use(queue);
    claim::wake_claims(informers_, queue, writer_);
    machine_reports_.on_report([&queue](const kube::ObjectKey& claim) { queue.add(claim); });
    disruption_reports_.on_report([&queue](const kube::ObjectKey& claim) { queue.add(claim); });
}

// Returns how many claims of one provider may be reconciled simultaneously: an equal share of the workers.
std::size_t ClaimReconciler::most_of_provider() const {
    const auto providers = informers_.providers.store().size();
    return std::max<std::size_t>(1, workers_ / std::max<std::size_t>(1, providers));
}

kube::ObjectKey ClaimReconciler::lane_of(const kube::ObjectKey& key) const {
    const auto claim = informers_.claims.store().get(key);
    if (!claim) return {};
    if (!claim->status.providerRef.empty()) return claim::provider_of(*claim);
    const auto pool = informers_.pools.store().get({key.namespace_, claim->spec.poolRef});
    return {key.namespace_, pool ? pool->spec.providerRef : std::string()};
}

asio::awaitable<kube::Result> ClaimReconciler::reconcile(kube::ObjectKey key) {
    const auto place = lanes_.enter(lane_of(key), key, most_of_provider());
    if (!place) co_return kube::Result{};
    std::string message;
    std::string_view reason = reasons::kProviderError;
    std::exception_ptr failure;
    try {
        co_return co_await pass(key);
    } catch (const providers::FencedError&) {
        throw;  // this process is no longer the leader: it may write nothing
    } catch (const providers::OtherClusterError& error) {
        message = error.what();
        reason = reasons::kOtherCluster;
        failure = std::current_exception();
    } catch (const providers::ProviderError& error) {
        message = error.what();
        failure = std::current_exception();
    } catch (const claim::BootDataError& error) {
        message = error.what();
        reason = reasons::kBootDataMissing;
        failure = std::current_exception();
    } catch (const kube::ApiError& error) {
        if (!is_refusal(error) && !is_unanswered(error)) throw;
        message = error.what();
        reason = reasons::kRequestRefused;
        failure = std::current_exception();
    }
    const bool goes_on = co_await note_failure(key, reason, message);
    if (goes_on) co_return kube::Result{base::Duration::zero()};
    std::rethrow_exception(failure);
}

Observation ClaimReconciler::observe(ClaimPointer stored) {
    auto observation = claim::observe(informers_, std::move(stored), api::Time(clock_.wall_now()));
    if (!observation.launch_hold) observation.launch_hold = boot_data_.obstacle(observation);
    if (const auto* report = machine_reports_.of(*observation.claim)) observation.machine = *report;
    observation.certificate = machine_reports_.certificate_of(*observation.claim);
    if (observation.pool && observation.provider)
        observation.has_present_template = hashes_.of(*observation.pool, observation.provider.get()) ==
                                           observation.claim->status.templateHash;
    observation.use = disruption_reports_.use_of(*observation.claim);
    observation.permission = disruption_reports_.permission_of(*observation.claim);
    return recovery_.with_memories(watch_.with_sights(std::move(observation)));
}

asio::awaitable<kube::Result> ClaimReconciler::pass(kube::ObjectKey key) {
    auto stored = informers_.claims.store().get(key);
    if (!stored) {
        placements_.forget(key);
        watch_.forget(key);
        starter_.forget(key);
        machine_reports_.forget(key);
        disruption_reports_.forget(key);
        co_return kube::Result{};
    }
    const bool held_back = co_await is_held_back(informers_.claims, key, client_, events_, clock_);
    if (held_back) co_return kube::Result{};
    stored = informers_.claims.store().get(key);
    if (!stored) co_return kube::Result{};
    auto observation = observe(stored);
    if (const auto due = watch_.next_look(observation); due && *due <= observation.now) {
        co_await watch_.look(observation);
        co_return kube::Result{base::Duration::zero()};
    }
    if (claim::may_have_lost_status(observation.situation())) {
        const auto taken_up = co_await recovery_.take_up(observation);
        if (taken_up) co_return *taken_up;
    }
    const auto decision = claim::decide(observation.situation());
    if (decision.only_chooses) co_return co_await take(decision.step, observation.ahead(decision.status));
    const auto written = co_await writer_.record(observation, decision.status);
    if (decision.step != Step::nothing) co_return co_await take(decision.step, observation.with(written));
    if (written != stored) co_return kube::Result{base::Duration::zero()};
    const auto again = kube::sooner(decision.look_again, watch_.next_look(observation));
    if (!again) co_return kube::Result{};
    const auto wait = again->at - clock_.wall_now();
    co_return kube::Result{
        std::max(std::chrono::duration_cast<base::Duration>(wait), base::Duration::zero())};
}

asio::awaitable<kube::Result> ClaimReconciler::take(Step step, Observation observation) {
    const auto stored = observation.claim;
    switch (step) {
        case Step::nothing:
            break;
        case Step::add_finalizer:
            co_await writer_.add_finalizer(stored);
            break;
        case Step::forget_statements:
            co_await writer_.forget_statements(stored);
            break;
        case Step::adopt:
            co_return co_await adoption_.adopt(std::move(observation));
        case Step::admit:
            co_return co_await launcher_.admit(std::move(observation));
        case Step::launch:
            co_return co_await launcher_.launch(std::move(observation));
        case Step::register_node:
            co_return co_await nodes_.register_node(std::move(observation));
        case Step::put_back:
            co_return co_await nodes_.put_back(std::move(observation));
        case Step::discard_boot_data:
            co_return co_await nodes_.discard_boot_data(std::move(observation));
        case Step::confirm_node_gone:
            co_return co_await nodes_.confirm_gone(std::move(observation));
        case Step::look_for_node:
            co_return co_await nodes_.look(std::move(observation));
        case Step::taint_node:
            co_return co_await nodes_.taint(std::move(observation));
        case Step::untaint_node:
            co_return co_await nodes_.untaint(std::move(observation));
        case Step::drain:
            co_return co_await remover_.drain(std::move(observation));
        case Step::switch_power:
            co_return co_await power_cycler_.step(std::move(observation));
        case Step::start_machine:
            co_return co_await starter_.step(std::move(observation));
        case Step::remove_machine:
            writer_.warn_of_lost_volumes(observation);
            co_return co_await remover_.remove_machine(std::move(observation));
        case Step::stop_machine:
            co_return co_await remover_.stop_machine(std::move(observation));
        case Step::release_machine:
            co_return co_await remover_.release_machine(std::move(observation));
        case Step::release_node:
            co_return co_await nodes_.release(std::move(observation));
        case Step::delete_node:
            co_return co_await nodes_.remove(std::move(observation));
        case Step::revoke_token:
            co_return co_await remover_.revoke_token(std::move(observation));
        case Step::drop_finalizer:
            co_await writer_.drop_finalizer(stored);
            co_return kube::Result{};
        case Step::delete_claim:
            co_await writer_.remove(stored);
            co_return kube::Result{};
    }
    co_return kube::Result{base::Duration::zero()};
}

asio::awaitable<bool> ClaimReconciler::note_failure(kube::ObjectKey key, std::string_view reason,
                                                    std::string message) {
    const auto stored = informers_.claims.store().get(key);
    if (!stored) co_return false;
    const auto observation = claim::observe(informers_, stored, api::Time(clock_.wall_now()));
    const auto situation = observation.situation();
    auto status = reason == reasons::kRequestRefused ? claim::after_refusal(situation, message)
                                                     : claim::after_error(situation, reason, message);
    const auto written = co_await writer_.record(observation, std::move(status));
    co_return !claim::is_true(*stored, conditions::kMachineDeleted) &&
        claim::is_true(*written, conditions::kMachineDeleted);
}

}  // namespace controllers
