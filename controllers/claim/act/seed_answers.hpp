// Boot data for machines that fetch theirs: any replica can answer, as nothing but the claim and its token is
// needed. It is there from when the machine's token is made until the Node is registered or the attempt ends.
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

// A wrong key costs no request to the API server: once in a while the right one is learned for each claim
// whose machine may join, and remembered as a digest.
class SeedAnswers final : public bootstrap::SeedSource {
public:
    // All must outlive this.
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
    static constexpr std::size_t kMostOfMachine = 2;  // answers that are made at a time

    struct KnownKey {
        std::optional<std::array<unsigned char, 32>>
            digest;           // none: there is no such token, or it could not be read
        std::string failure;  // why it could not
        base::TimePoint until;
    };
    // Whose token that is; null: no claim whose machine may still join.
    ClaimPointer claim_with(const std::string& token_id) const;
    // Null: unknown, or for too long.
    const KnownKey* known(const std::string& token_id) const;
    // Throws if the token cannot be read now, or could not a moment ago.
    asio::awaitable<bool> is_right(std::string token_id, std::string key);
    asio::awaitable<void> learn(std::string token_id);

    const Informers& informers_;
    BootData& boot_data_;
    base::Clock& clock_;
    base::Gate readers_;                    // of a token, by its ID
    base::Gate machines_;                   // by the ID of their token
    std::map<std::string, KnownKey> keys_;  // by the ID of the token
};

}  // namespace controllers::claim
