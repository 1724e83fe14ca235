#include "controllers/claim/act/seed_answers.hpp"

#include "base/log.hpp"

namespace controllers::claim {

asio::awaitable<std::optional<bootstrap::Seed>> SeedAnswers::seed(std::string key) {
    // Whoever guesses must not make us ask the API server.
    const auto token_id = bootstrap::token_id_of_key(key);
    const auto claim = token_id.empty() ? nullptr : claim_with(token_id);
    if (!claim) co_return std::nullopt;
    const auto token = co_await boot_data_.valid_token(token_id);
    if (!token || !bootstrap::is_seed_key_of(key, *token)) co_return std::nullopt;
    const auto observation = observe(informers_, claim, api::Time(clock_.wall_now()));
    auto seed = co_await boot_data_.seed(observation, claim->status.host, *token);
    boot_data_.note_fetched(token_id);
    base::log::debug("Served boot data", {{"claim", api::key_of(*claim).str()}});
    co_return seed;
}

ClaimPointer SeedAnswers::claim_with(std::string_view token_id) const {
    for (const auto& [key, claim] : informers_.claims.store().all()) {
        const bool is_joining =
            claim->status.bootstrapTokenID == token_id && !claim->metadata.deletionTimestamp &&
            !is_true(*claim, conditions::kRegistered) && !is_true(*claim, conditions::kFailed);
        if (is_joining) return claim;
    }
    return nullptr;
}

}  // namespace controllers::claim
