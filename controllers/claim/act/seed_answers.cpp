#include "controllers/claim/act/seed_answers.hpp"

#include <stdexcept>

#include "base/log.hpp"

namespace controllers::claim {

namespace {

// Limits how long a key is remembered: another replica may recreate the token. A
// missing token is read again much sooner.
constexpr base::Duration kRemembered = std::chrono::minutes{1};
constexpr base::Duration kMissing = std::chrono::seconds{5};

}  // namespace

asio::awaitable<std::optional<bootstrap::Seed>> SeedAnswers::seed(std::string key) {
    const auto token_id = bootstrap::token_id_of_key(key);
    if (token_id.empty() || !claim_with(token_id)) co_return std::nullopt;
    const bool right = co_await is_right(token_id, key);
    if (!right) co_return std::nullopt;
    const auto pass = co_await machines_.enter(token_id);
    const auto token = co_await boot_data_.valid_token(token_id);
    const auto claim = claim_with(token_id);
    if (!claim || !token || !bootstrap::is_seed_key_of(key, *token)) co_return std::nullopt;
    const auto observation = observe(informers_, claim, api::Time(clock_.wall_now()));
    auto seed = co_await boot_data_.seed(observation, claim->status.host, *token);
    boot_data_.note_fetched(token_id);
    base::log::debug("Served boot data", {{"claim", api::key_of(*claim).str()}});
    co_return seed;
}

bool SeedAnswers::may_be_right(std::string_view key) const {
    const auto token_id = bootstrap::token_id_of_key(key);
    if (token_id.empty() || !claim_with(token_id)) return false;
    const auto* right = known(token_id);
    return !right || right->digest == base::sha256(key);
}

asio::awaitable<bool> SeedAnswers::is_right(std::string token_id, std::string key) {
    if (!known(token_id)) {
        const auto pass = co_await readers_.enter(token_id);
        // Another request may have read the key meanwhile.
        if (!known(token_id)) co_await learn(token_id);
    }
    const auto* right = known(token_id);
    if (right && !right->failure.empty()) throw std::runtime_error(right->failure);
    co_return right && right->digest == base::sha256(key);
}

asio::awaitable<void> SeedAnswers::learn(std::string token_id) {
    KnownKey learned;
    try {
        const auto token = co_await boot_data_.valid_token(token_id);
        if (token) learned.digest = base::sha256(bootstrap::seed_key(*token));
    } catch (const boost::system::system_error&) {
        throw;  // cancelled
    } catch (const std::exception& error) {
        learned.failure = error.what();
    }
    const auto now = clock_.now();
    std::erase_if(keys_, [now](const auto& entry) { return entry.second.until <= now; });
    learned.until = now + (learned.digest ? kRemembered : kMissing);
    keys_[token_id] = std::move(learned);
}

const SeedAnswers::KnownKey* SeedAnswers::known(const std::string& token_id) const {
    const auto found = keys_.find(token_id);
    return found == keys_.end() || found->second.until <= clock_.now() ? nullptr : &found->second;
}

ClaimPointer SeedAnswers::claim_with(const std::string& token_id) const {
    for (const auto& claim : informers_.claims.store().by_index(kClaimsByToken, token_id)) {
        const bool is_joining =
            claim->status.bootstrapTokenID == token_id && !claim->metadata.deletionTimestamp &&
            !is_true(*claim, conditions::kRegistered) && !is_true(*claim, conditions::kFailed);
        if (is_joining) return claim;
    }
    return nullptr;
}

}  // namespace controllers::claim
