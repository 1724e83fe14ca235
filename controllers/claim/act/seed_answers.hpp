// Boot data for machines that fetch theirs: any replica can answer, as nothing but the claim and its token is
// needed. It is there from when the machine's token is made until the Node is registered or the attempt ends.
#pragma once

#include "bootstrap/seed_server.hpp"
#include "controllers/claim/act/boot_data.hpp"

namespace controllers::claim {

class SeedAnswers final : public bootstrap::SeedSource {
public:
    SeedAnswers(const Informers& informers, BootData& boot_data, base::Clock& clock)
        : informers_(informers), boot_data_(boot_data), clock_(clock) {}

    asio::awaitable<std::optional<bootstrap::Seed>> seed(std::string key) override;

private:
    // Whose token that is; null: no claim whose machine may still join.
    ClaimPointer claim_with(std::string_view token_id) const;

    const Informers& informers_;
    BootData& boot_data_;
    base::Clock& clock_;
};

}  // namespace controllers::claim
