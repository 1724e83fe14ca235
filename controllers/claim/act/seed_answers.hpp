// Serves boot data to machines that fetch it. Any replica can answer, because only the claim
// and its token are needed. The data is available from the token's creation until the Node
// is registered or the attempt ends.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "base/gate.hpp"
#include "base/sha256.hpp"
#include "bootstrap/seed_server.hpp"
#include "controllers/claim/act/boot_data.hpp"

namespace controllers::claim {

// SeedAnswers rejects wrong keys without a request to the API server. It occasionally reads the right key of
// each claim whose machine may join, and remembers a digest.
class SeedAnswers final : public bootstrap::SeedSource {
public:
    // All arguments must outlive this object.
    SeedAnswers(const Informers& informers, BootData& boot_data, base::Clock& clock,
                asio::any_io_executor executor)
        : informers_(informers),
          boot_data_(boot_data),
          clock_(clock),
          readers_(executor, 1),
          machines_(std::move(executor), kMostOfMachine) {}

    asio::awaitable<std::optional<bootstrap::Seed>> seed(std::string key) override;
    bool may_be_right(std::string_view key) const override;

private:
    static constexpr std::size_t kMostOfMachine = 2;  // simultaneous answers

    struct KnownKey {
        std::optional<std::array<unsigned char, 32>> digest;  // none: no such token, or it could not be read
        std::string failure;                                  // why it could not be read
        base::TimePoint until;
    };
    // Returns the claim with that token; null: no claim whose machine may still join has it.
    ClaimPointer claim_with(const std::string& token_id) const;
    // Returns null if the key is unknown or was read too long ago.
    const KnownKey* known(const std::string& token_id) const;
    // Throws if the token cannot be read now, or could not be read recently.
    asio::awaitable<bool> is_right(std::string token_id, std::string key);
    asio::awaitable<void> learn(std::string token_id);

    const Informers& informers_;
    BootData& boot_data_;
    base::Clock& clock_;
    base::Gate readers_;                    // by token ID
    base::Gate machines_;                   // by token ID
    std::map<std::string, KnownKey> keys_;  // by token ID
};

}  // namespace controllers::claim
