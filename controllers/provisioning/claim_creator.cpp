#include "controllers/provisioning/claim_creator.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "api/v1alpha1/common.hpp"
#include "base/backoff.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "controllers/provisioning/gates.hpp"

namespace controllers::provisioning {

namespace {

// A batch that takes longer is no longer waited for.
constexpr base::Duration kAtOnce = std::chrono::seconds{2};
constexpr base::Backoff kInterruptedPause{std::chrono::seconds{1}, std::chrono::seconds{4}};

std::string size_of(const PlannedClaim& planned_claim) {
    return base::counted(planned_claim.size.cpuCores, "CPU") + " and " +
           std::to_string(planned_claim.size.memoryMiB) + " MiB";
}

// Removes the name from the message. Each attempt has another name, so the same refusal would look new.
std::string without_name(std::string message, const std::string& name) {
    const auto quoted = '"' + name + "\" ";
    for (auto at = message.find(quoted); at != std::string::npos; at = message.find(quoted))
        message.erase(at, quoted.size());
    return message;
}

}  // namespace

ClaimCreator::ClaimCreator(const Context& context, Reservations& reservations,
                           std::function<bool()> may_mutate, Created created, std::function<void()> ended)
    : InContext(context),
      reservations_(reservations),
      may_mutate_(std::move(may_mutate)),
      created_(std::move(created)),
      ended_(std::move(ended)) {}

asio::awaitable<std::optional<limits::LimitHit>> ClaimCreator::reserve(
    PoolPointer pool, std::vector<PlannedClaim> planned_claims) {
    std::vector<api::v1alpha1::Size> sizes;
    sizes.reserve(planned_claims.size());
    for (const auto& planned_claim : planned_claims) sizes.push_back(planned_claim.size);
    Reservation reservation;
    try {
        reservation = co_await reservations_.reserve(api::key_of(*pool), sizes);
    } catch (const kube::ApiError& error) {
        if (!is_refusal(error) && !is_unanswered(error)) throw;
        for (const auto& size : sizes) note_refusal(*pool, size, error.message);
        co_return std::nullopt;
    }
    auto hit = reservation.limit_hit;

    auto& batch = batches_.emplace_back();
    batch.pool = pool;
    batch.reservation = std::move(reservation);
    std::vector<std::size_t> granted;
    for (std::size_t i = 0; i < planned_claims.size() && i < batch.reservation.granted.size(); ++i)
        if (batch.reservation.granted[i]) granted.push_back(i);
    // Hosts are chosen in the order of the claims. Small ones would take hosts that only large ones
    // need, so large ones come first.
    std::ranges::sort(granted, {}, [&](std::size_t i) {
        const auto& size = planned_claims[i].size;
        return std::pair(-api::v1alpha1::cost_in_mib(size.cpuCores, size.memoryMiB), i);
    });
    auto sequence = batch.reservation.first_sequence;
    for (const auto i : granted) batch.left.push_back({sequence++, std::move(planned_claims[i])});
    co_return hit;
}

asio::awaitable<void> ClaimCreator::begin() {
    if (!group_) {
        const auto executor = co_await asio::this_coro::executor;
        progress_.emplace(executor);
        group_.emplace(executor);
    }
    const auto now = clock_.now();
    for (auto& batch : batches_) {
        if (batch.is_in_work || batch.left.empty() || now < batch.continues_at) continue;
        batch.is_in_work = true;
        batch.is_slow = false;
        batch.began = now;
        group_->spawn(create_all_of(batch));
    }
}

asio::awaitable<void> ClaimCreator::work_off() {
    co_await begin();
    for (;;) {
        std::optional<base::TimePoint> patience;
        for (auto& batch : batches_) {
            if (!batch.is_in_work || batch.is_slow) continue;
            const auto end = batch.began + kAtOnce;
            batch.is_slow = end <= clock_.now();
            if (!batch.is_slow) patience = patience ? std::max(*patience, end) : end;
        }
        if (!patience) break;
        co_await progress_->wait_until(clock_, *patience);
    }
    std::erase_if(batches_, [](const Batch& batch) { return !batch.is_in_work && batch.left.empty(); });
}

ClaimPointers ClaimCreator::under_way() const {
    ClaimPointers claims;
    for (const auto& batch : batches_) {
        for (const auto& line : batch.left) {
            auto claim = make_claim(*batch.pool, line.sequence, line.planned_claim);
            if (informers_.claims.store().get(api::key_of(claim))) continue;
            claims.push_back(std::make_shared<const NodeSmithClaim>(std::move(claim)));
        }
    }
    return claims;
}

std::optional<base::TimePoint> ClaimCreator::next_try() const {
    std::optional<base::TimePoint> next;
    for (const auto& batch : batches_) {
        if (batch.is_in_work || batch.left.empty()) continue;
        next = next ? std::min(*next, batch.continues_at) : batch.continues_at;
    }
    return next;
}

asio::awaitable<void> ClaimCreator::end() {
    if (!group_) co_return;
    group_->stop();
    co_await group_->join();
}

// Creates a batch's claims and catches its failure, so that the other pools continue.
asio::awaitable<void> ClaimCreator::create_all_of(Batch& batch) {
    try {
        co_await create_all(batch);
    } catch (const boost::system::system_error& error) {
        if (error.code() == asio::error::operation_aborted) throw;
        note_failure(batch, error.what());
    } catch (const std::exception& error) {
        note_failure(batch, error.what());
    }
    batch.is_in_work = false;
    progress_->notify_all();
    if (batch.is_slow) ended_();
}

void ClaimCreator::note_failure(Batch& batch, const std::string& error) {
    batch.continues_at = clock_.now() + kInterruptedPause.after(++batch.failures);
    base::log::warning("Creating claims was interrupted, trying again",
                       {{"pool", api::key_of(*batch.pool).str()}, {"error", error}});
}

asio::awaitable<void> ClaimCreator::create_all(Batch& batch) {
    while (!batch.left.empty()) {
        if (clock_.now() >= batch.reservation.usable_until) {
            base::log::warning("Gave up creating claims: their reservation is too old",
                               {{"pool", api::key_of(*batch.pool).str()}, {"claims", batch.left.size()}});
            batch.left.clear();
            co_return;
        }
        if (!may_mutate_()) throw std::runtime_error("creating claims: this process may no longer lead");
        co_await create(batch, batch.left.front());
        batch.left.pop_front();
    }
    batch.reservation.complete();
}

asio::awaitable<void> ClaimCreator::create(Batch& batch, Line line) {
    const auto& pool = *batch.pool;
    const auto& size = line.planned_claim.size;
    if (std::ranges::find(batch.refused, size) != batch.refused.end()) co_return;
    // A webhook that hangs takes long. Other decisions must not wait for this answer too.
    reservations_.refusals().note_probe(pool, size);
    const auto wanted = make_claim(pool, line.sequence, line.planned_claim);
    std::optional<NodeSmithClaim> made;
    bool is_taken = false;
    const auto before = informers_.claims.before_creation();
    try {
        made = co_await client_.create<NodeSmithClaim>(wanted);
        informers_.claims.check_answer(*made, before);
    } catch (const kube::ApiError& error) {
        is_taken = error.is_already_exists();
        const bool is_refused = is_refusal(error) || error.is_not_found();
        // The claim may exist all the same, so its reservation is kept.
        if (is_unanswered(error)) note_refusal(pool, size, error.message);
        if (!is_taken && !is_refused) throw;
        if (!is_taken) {
            batch.refused.push_back(size);
            note_refusal(pool, size, without_name(error.message, wanted.metadata.name));
            co_return;
        }
    }
    reservations_.refusals().note_success(pool, size);
    // Our earlier attempt succeeded but its answer was lost. Very rarely another claim has that name.
    if (is_taken) made = co_await client_.get<NodeSmithClaim>(api::key_of(wanted));
    if (!made || made->spec.idempotencyKey != wanted.spec.idempotencyKey) {
        base::log::warning("Skipped a claim: its name belongs to another claim",
                           {{"claim", api::key_of(wanted).str()}});
        co_return;
    }
    const auto about = kube::target_of(*made);
    created_(*made, line.planned_claim);
    informers_.claims.observe(std::move(*made));
    events_.event(
        about, kube::EventType::normal, "Created",
        "a machine with " + size_of(line.planned_claim) + " is created " + explain(line.planned_claim));
    tell_pods(about, line.planned_claim);
}

// Tells each pod where to look: the claim says how far its machine is.
void ClaimCreator::tell_pods(const kube::EventTarget& claim, const PlannedClaim& planned_claim) {
    for (const auto& key : planned_claim.pods) {
        const auto pod = informers_.pods.store().get(key);
        if (!pod) continue;
        events_.normal(
            *pod, "ClaimCreated",
            "a node is being created for the pod: NodeSmithClaim " + claim.namespace_ + "/" + claim.name);
    }
}

void ClaimCreator::note_refusal(const NodeSmithPool& pool, const api::v1alpha1::Size& size,
                                std::string message) {
    base::log::warning("A claim was refused", {{"pool", api::key_of(pool).str()}, {"error", message}});
    const bool is_news = std::ranges::none_of(
        reservations_.refusals().of(pool),
        [&](const ClaimRefusal& known) { return known.size == size && known.message == message; });
    reservations_.refusals().note(pool, size, message);
    if (is_news)
        events_.event(kube::target_of(pool), kube::EventType::warning, std::string(reasons::kClaimsRefused),
                      refusal_text({size, message, 0, {}}));
}

}  // namespace controllers::provisioning
