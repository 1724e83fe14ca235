#include "bootstrap/token.hpp"

#include <stdexcept>

#include "base/sha256.hpp"

namespace bootstrap {

namespace {

const std::string kAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t kIDLength = 6;
constexpr std::size_t kSecretLength = 16;
constexpr std::string_view kSecretType = "bootstrap.kubernetes.io/token";

const std::string* find(const api::Secret& secret, const std::string& key) {
    const auto found = secret.data.find(key);
    return found == secret.data.end() ? nullptr : &found->second.value;
}

bool fits(const std::string& text, std::size_t length) {
    return text.size() == length && text.find_first_not_of(kAlphabet) == std::string::npos;
}

}  // namespace

std::string token_id(std::string_view claim_uid, std::int64_t attempt) {
    const auto key = std::string(claim_uid) + "/" + std::to_string(attempt);
    const auto digest = base::sha256(key);
    std::string id;
    for (std::size_t i = 0; i < kIDLength; ++i) {
        const auto number = static_cast<std::size_t>(digest[2 * i] << 8 | digest[2 * i + 1]);
        id += kAlphabet[number % kAlphabet.size()];
    }
    return id;
}

Token make_token(std::string_view claim_uid, std::int64_t attempt, base::Random& random) {
    Token token;
    token.id = token_id(claim_uid, attempt);
    token.secret = random.text(kSecretLength, kAlphabet);
    return token;
}

std::string token_secret_name(std::string_view token_id) {
    return "bootstrap-token-" + std::string(token_id);
}

api::Secret token_secret(const Token& token, const TokenOwner& owner, std::string_view group,
                         api::Time expiration) {
    api::Secret secret;
    secret.metadata.namespace_ = kTokenNamespace;
    secret.metadata.name = token_secret_name(token.id);
    secret.metadata.labels = {{"app.kubernetes.io/managed-by", std::string(api::kFieldManager)},
                              {std::string(api::labels::kClaim), owner.claim_name},
                              {std::string(api::labels::kClaimUID), owner.claim_uid}};
    secret.type = kSecretType;
    const auto set = [&](const std::string& key, std::string value) {
        secret.data[key].value = std::move(value);
    };
    set("description",
        "KubeNodeSmith: machine of NodeSmithClaim " + owner.claim_namespace + "/" + owner.claim_name);
    set("token-id", token.id);
    set("token-secret", token.secret);
    set("expiration", expiration.str());
    set("usage-bootstrap-authentication", "true");
    set("usage-bootstrap-signing", "true");
    set("auth-extra-groups", std::string(group));
    return secret;
}

Token token_of(const api::Secret& secret) {
    const auto* id = find(secret, "token-id");
    const auto* value = find(secret, "token-secret");
    if (secret.type != kSecretType || !id || !value || !fits(*id, kIDLength) ||
        !fits(*value, kSecretLength) || secret.metadata.name != token_secret_name(*id)) {
        throw std::invalid_argument("Secret " + secret.metadata.namespace_ + "/" + secret.metadata.name +
                                    " is not a bootstrap token");
    }
    Token token;
    token.id = *id;
    token.secret = *value;
    return token;
}

bool token_expired(const api::Secret& secret, api::Time now) {
    const auto* expiration = find(secret, "expiration");
    if (!expiration) return true;
    try {
        return api::Time::parse(*expiration) <= now;
    } catch (const std::invalid_argument&) {
        return true;
    }
}

}  // namespace bootstrap
