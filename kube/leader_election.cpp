#include "kube/leader_election.hpp"

#include <algorithm>
#include <boost/system/system_error.hpp>
#include <utility>

#include "api/core.hpp"
#include "api/names.hpp"
#include "base/log.hpp"
#include "base/task_group.hpp"
#include "base/text.hpp"
#include "kube/resource_version.hpp"

namespace kube {
namespace {

using base::Duration;
using base::TimePoint;

// client-go waits up to this factor longer between two tries, to spread the candidates.
constexpr double kJitter = 1.2;
constexpr std::size_t kEpochLength = 16;
// The provider's record is brought up to date by a look at it only. It must stay known while processes change
// without one, as in a crash loop of some days.
constexpr std::size_t kMostEpochs = 1000;
const std::string kEpochDigits = "0123456789abcdef";

std::int32_t whole_seconds(Duration duration) {
    return static_cast<std::int32_t>(std::chrono::duration_cast<std::chrono::seconds>(duration).count());
}

std::vector<std::string> epochs_in(const api::Lease& lease) {
    std::vector<std::string> epochs;
    const auto* text = api::find(lease.metadata.annotations, api::annotations::kEpochs);
    if (!text) return epochs;
    for (std::size_t at = 0; at < text->size();) {
        const auto end = std::min(text->find(',', at), text->size());
        if (end > at) epochs.push_back(text->substr(at, end - at));
        at = end + 1;
    }
    return epochs;
}

class LeaseElector final : public LeaderElector {
public:
    LeaseElector(Client& client, base::Clock& clock, base::Random& random, LeaderElectionOptions options)
        : client_(client), clock_(clock), random_(random), options_(std::move(options)) {
        epochs_.own = random_.text(kEpochLength, kEpochDigits);
        epochs_.chain = {epochs_.own};
    }

    asio::awaitable<void> acquire() override {
        for (;;) {
            co_await base::run_before(clock_, clock_.now() + options_.renew_deadline, attempt());
            if (leading_) co_return;
            const auto wait = options_.retry_period * (1 + kJitter * random_.unit());
            co_await clock_.sleep_for(std::chrono::duration_cast<Duration>(wait));
        }
    }

    asio::awaitable<void> hold() override {
        while (leading_ || released_) {
            co_await clock_.sleep_for(options_.retry_period);
            if (released_) continue;  // not lost but released: the caller cancels this
            const auto deadline = renewed_ + options_.renew_deadline;
            if (clock_.now() >= deadline) leading_ = false;
            if (leading_)
                co_await base::run_before(clock_, std::min(deadline, clock_.now() + longest_attempt()),
                                          attempt());
        }
    }

    asio::awaitable<void> release() override {
        if (!leading_) co_return;
        leading_ = false;
        released_ = true;
        co_await base::run_before(clock_, clock_.now() + options_.retry_period, give_up());
    }

    bool is_leader() const override { return leading_; }

    bool lease_outlives(Duration duration) const override {
        return leading_ && clock_.now() + duration < renewed_ + options_.lease_duration;
    }

    const LeaderEpochs& epochs() const override { return epochs_; }

private:
    // Acquires or renews once. A new failure is logged; the loops above retry until the deadline.
    asio::awaitable<void> attempt() {
        const bool unread = leading_ && is_certain_;
        bool was_wrong = false;
        std::string failure;
        try {
            co_await try_lease();
        } catch (const ApiError& error) {
            was_wrong = unread && (error.is_conflict() || error.is_not_found());
            // Another candidate wrote first, so there is nothing to report.
            if (!was_wrong && !error.is_conflict() && !error.is_already_exists()) failure = error.what();
        } catch (const boost::system::system_error&) {
            throw;  // cancelled
        } catch (const std::exception& error) {
            failure = error.what();
        }
        if (was_wrong) co_return co_await attempt();  // the second attempt reads the lease
        if (!failure.empty() && failure != said_) {
            base::log::warning("Cannot reach the lease",
                               {{"lease", options_.lease.str()}, {"error", failure}});
        }
        said_ = failure;
    }

    asio::awaitable<void> try_lease() {
        // The time before the request counts, as the lease cannot have been written earlier.
        const auto start = clock_.now();
        std::optional<api::Lease> found;
        // A leader renews its last write without reading it. The resourceVersion shows whether somebody else
        // wrote since.
        if (leading_ && std::exchange(is_certain_, false)) {
            found = seen_;
        } else {
            found = co_await client_.get<api::Lease>(options_.lease);
        }
        if (found) heed_version(*found);
        if (!found) {
            // A backup may lack the Lease. Its holder does not know yet that it is gone.
            if (!leading_ && seen_ && !is_free(*seen_)) co_return;
            api::Lease fresh;
            fresh.metadata.name = options_.lease.name;
            fresh.metadata.namespace_ = options_.lease.namespace_;
            claim(fresh, nullptr);
            heed_version(co_await client_.create<api::Lease>(std::move(fresh)));
            co_return won(start);
        }
        if (released_) co_return;  // released while we were reading
        observe(*found);
        const bool ours = found->spec.holderIdentity == options_.identity;
        // A backup may name no holder, or this process, while another one leads since.
        if (!leading_ && clock_.now() < may_be_led_until_) co_return;
        if (!ours && !is_free(*found)) {
            leading_ = false;
            co_return;
        }
        auto wanted = *found;
        claim(wanted, &*found);
        auto patch = difference(*found, wanted, Lock::resource_version);
        if (patch) {
            auto written = co_await client_.patch<api::Lease>(options_.lease, std::move(*patch));
            heed_version(written);
            observe(written);
            is_certain_ = true;
        }
        won(start);
    }

    void claim(api::Lease& lease, const api::Lease* before) {
        const api::MicroTime now(clock_.wall_now());
        const bool renewal = before && before->spec.holderIdentity == options_.identity;
        lease.spec.holderIdentity = options_.identity;
        lease.spec.leaseDurationSeconds = whole_seconds(options_.lease_duration);
        lease.spec.renewTime = now;
        if (!renewal) {
            lease.spec.acquireTime = now;
            auto& transitions = lease.spec.leaseTransitions;
            transitions = before ? before->spec.leaseTransitions.value_or(0) : 0;
            if (before) base::count_up(*transitions);
        }
        record_epochs(lease);
    }

    // Adds our epochs to those of the Lease. It may lack them at a renewal, after a restore of etcd.
    void record_epochs(api::Lease& lease) {
        auto chain = epochs_in(lease);
        for (const auto& epoch : epochs_.chain)
            if (std::ranges::find(chain, epoch) == chain.end()) chain.push_back(epoch);
        const auto excess = chain.size() - std::min(chain.size(), kMostEpochs);
        chain.erase(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(excess));
        (*lease.metadata.annotations)[std::string(api::annotations::kEpochs)] = base::joined(chain, ",");
        epochs_.chain = std::move(chain);
    }

    // As in client-go, a single call that hangs does not cost the lease.
    Duration longest_attempt() const {
        return std::max<Duration>(std::chrono::seconds{1}, options_.renew_deadline / 2);
    }

    void won(TimePoint start) {
        leading_ = !released_;
        renewed_ = start;
    }

    // Clocks of other machines are not trusted, so a lease counts from the time when this process saw it
    // change.
    void observe(const api::Lease& lease) {
        if (seen_ && seen_->spec == lease.spec) return;
        seen_ = lease;
        seen_at_ = clock_.now();
    }

    // Checks the version of an answer. Reads are consistent and follow each other, so each answer must be
    // newer.
    void heed_version(const api::Lease& lease) {
        const auto last = std::exchange(version_, lease.metadata.resourceVersion);
        if (!is_newer(last, version_)) return;
        if (!leading_) may_be_led_until_ = clock_.now() + options_.lease_duration;
        base::log::warning("The API server's data was restored from a backup: all objects are listed again",
                           {{"lease", options_.lease.str()}, {"version", version_}, {"before", last}});
        if (options_.on_restore) options_.on_restore();
    }

    bool is_free(const api::Lease& lease) const {
        if (lease.spec.holderIdentity.empty()) return true;
        const std::chrono::seconds duration(lease.spec.leaseDurationSeconds.value_or(0));
        return seen_at_ + duration < clock_.now();
    }

    asio::awaitable<void> give_up() {
        std::string failure;
        // A renewal that was in flight may interfere once.
        for (int tries = 0; tries < 2; ++tries) {
            try {
                co_await write_free();
                co_return;
            } catch (const boost::system::system_error&) {
                throw;  // cancelled
            } catch (const std::exception& error) {
                failure = error.what();
            }
        }
        // The lease expires by itself.
        base::log::warning("Cannot give up the lease", {{"lease", options_.lease.str()}, {"error", failure}});
    }

    asio::awaitable<void> write_free() {
        auto found = co_await client_.get<api::Lease>(options_.lease);
        if (!found || found->spec.holderIdentity != options_.identity) co_return;
        auto wanted = *found;
        wanted.spec.holderIdentity.clear();
        wanted.spec.leaseDurationSeconds = 1;
        wanted.spec.renewTime = api::MicroTime(clock_.wall_now());
        auto patch = difference(*found, wanted, Lock::resource_version);
        co_await client_.patch<api::Lease>(options_.lease, std::move(*patch));
    }

    Client& client_;
    base::Clock& clock_;
    base::Random& random_;
    LeaderElectionOptions options_;
    bool leading_ = false;
    bool released_ = false;  // for good: this process is ending
    TimePoint renewed_{};
    std::string version_;  // from the last answer
    std::optional<api::Lease> seen_;
    bool is_certain_ = false;  // `seen_` is the result of our last request
    TimePoint seen_at_{};
    TimePoint may_be_led_until_{};  // by a process that does not know of a restored backup yet
    std::string said_;
    LeaderEpochs epochs_;
};

}  // namespace

std::unique_ptr<LeaderElector> make_leader_elector(Client& client, base::Clock& clock, base::Random& random,
                                                   LeaderElectionOptions options) {
    return std::make_unique<LeaseElector>(client, clock, random, std::move(options));
}

}  // namespace kube
