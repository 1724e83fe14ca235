#include "bootstrap/token.hpp"

#include "test/support/catch.hpp"
#include "test/support/seeded_random.hpp"

namespace {

using bootstrap::Token;

const std::string kClaimUID = "6f9d9a52-7a0e-4a54-9a6f-0d2b53a7c001";

api::Secret secret_of(const Token& token) {
    return bootstrap::token_secret(token, {"default", "workers-a1b2c", kClaimUID},
                                   "system:bootstrappers:some", api::Time::parse("2027-01-02T03:04:05Z"));
}

}  // namespace

TEST_CASE("A token's ID is the same for the same attempt and differs between attempts and claims") {
    CHECK(bootstrap::token_id(kClaimUID, 1) == bootstrap::token_id(kClaimUID, 1));
    CHECK(bootstrap::token_id(kClaimUID, 1) != bootstrap::token_id(kClaimUID, 2));
    CHECK(bootstrap::token_id(kClaimUID, 1) != bootstrap::token_id("another", 1));
    CHECK(bootstrap::token_id(kClaimUID, 1).size() == 6);
}

TEST_CASE("A token has kubeadm's form and a new secret each time") {
    auto random = fake::make_seeded_random(1);
    const auto first = bootstrap::make_token(kClaimUID, 1, *random);
    const auto second = bootstrap::make_token(kClaimUID, 1, *random);
    CHECK_THAT(first.text(), Catch::Matches("[a-z0-9]{6}\\.[a-z0-9]{16}"));
    CHECK(first.id == second.id);
    CHECK(first.secret != second.secret);
}

TEST_CASE("The token's Secret is one that the API server and the controller manager accept") {
    const auto secret = secret_of({"abcdef", "0123456789abcdef"});
    CHECK(secret.metadata.namespace_ == "kube-system");
    CHECK(secret.metadata.name == "bootstrap-token-abcdef");
    CHECK(secret.metadata.labels->at("kubenodesmith.io/nodeclaim") == "workers-a1b2c");
    CHECK(secret.metadata.labels->at("kubenodesmith.io/claim-uid") == kClaimUID);
    CHECK(secret.type == "bootstrap.kubernetes.io/token");
    CHECK(secret.data.at("token-id").value == "abcdef");
    CHECK(secret.data.at("token-secret").value == "0123456789abcdef");
    CHECK(secret.data.at("expiration").value == "2027-01-02T03:04:05Z");
    CHECK(secret.data.at("usage-bootstrap-authentication").value == "true");
    CHECK(secret.data.at("usage-bootstrap-signing").value == "true");
    CHECK(secret.data.at("auth-extra-groups").value == "system:bootstrappers:some");
}

TEST_CASE("A token is read back from its Secret") {
    const Token token{"abcdef", "0123456789abcdef"};
    CHECK(bootstrap::token_of(secret_of(token)) == token);

    auto other_type = secret_of(token);
    other_type.type = "Opaque";
    CHECK_THROWS_AS(bootstrap::token_of(other_type), std::invalid_argument);
    auto other_name = secret_of(token);
    other_name.metadata.name = "bootstrap-token-ghijkl";
    CHECK_THROWS_AS(bootstrap::token_of(other_name), std::invalid_argument);
    auto broken = secret_of(token);
    broken.data["token-secret"].value = "0123456789ABCDEF";
    CHECK_THROWS_WITH(bootstrap::token_of(broken), !Catch::Contains("0123456789"));
}

TEST_CASE("A token is expired from its expiration on, or if that cannot be read") {
    auto secret = secret_of({"abcdef", "0123456789abcdef"});
    CHECK_FALSE(bootstrap::token_expired(secret, api::Time::parse("2027-01-02T03:04:04Z")));
    CHECK(bootstrap::token_expired(secret, api::Time::parse("2027-01-02T03:04:05Z")));
    secret.data["expiration"].value = "soon";
    CHECK(bootstrap::token_expired(secret, api::Time::parse("2020-01-01T00:00:00Z")));
    secret.data.erase("expiration");
    CHECK(bootstrap::token_expired(secret, api::Time::parse("2020-01-01T00:00:00Z")));
}
