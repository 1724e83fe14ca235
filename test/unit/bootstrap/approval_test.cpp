#include "bootstrap/approval.hpp"

#include <functional>
#include <vector>

#include "base/random.hpp"
#include "bootstrap/signing_request.hpp"
#include "test/support/catch.hpp"
#include "test/support/seeded_random.hpp"
#include "test/unit/bootstrap/signing_requests.hpp"

namespace {

using bootstrap::CertificateSubject;
using bootstrap::Joiner;
using bootstrap::Stage;
using bootstrap::Verdict;

// Ask is a request with everything that the approver judges it by.
struct Ask {
    test::RequestParts parts;
    api::CertificateSigningRequest request;
    Joiner joiner;
    bool claim_lives = true;
    std::function<std::string(std::string)> spoil_pem;

    bootstrap::Approval judge() {
        auto pem = test::make_request(parts);
        request.spec.request.value = spoil_pem ? spoil_pem(pem) : pem;
        return bootstrap::judge_client(request, claim_lives ? &joiner : nullptr);
    }
};

std::string key_of(std::size_t key) {
    return bootstrap::parse_signing_request(test::make_request(test::kubelet_request("any", key))).key_sha256;
}

Ask good_ask(base::Random& random) {
    Ask ask;
    ask.joiner.node_name = "worker-" + random.text(5, "abcdefghijklmnopqrstuvwxyz0123456789");
    ask.joiner.token_id = random.text(6, "abcdefghijklmnopqrstuvwxyz0123456789");
    ask.joiner.stage = Stage::Joining;
    ask.parts = test::kubelet_request(ask.joiner.node_name, random.below(2));
    ask.parts.printable = random.below(2) == 0;
    if (random.below(2) == 0) ask.joiner.key_sha256 = key_of(ask.parts.key);
    ask.request.spec.signerName = bootstrap::kClientSigner;
    ask.request.spec.username = "system:bootstrap:" + ask.joiner.token_id;
    ask.request.spec.groups = {"system:bootstrappers", "system:bootstrappers:kubenodesmith",
                               "system:authenticated"};
    ask.request.spec.usages = {"digital signature", "client auth"};
    if (random.below(2) == 0) ask.request.spec.usages.emplace_back("key encipherment");
    return ask;
}

std::string other_name(base::Random& random, const std::string& own) {
    const std::vector<std::string> names{"control-plane-1",
                                         own + "x",
                                         own.substr(0, own.size() - 1),
                                         "W" + own.substr(1),
                                         own + " ",
                                         own + std::string(1, '\0'),
                                         own + std::string(1, '\0') + "x",
                                         own + ".example.com",
                                         "x" + own};
    return names[random.below(names.size())];
}

struct Forgery {
    const char* name;
    Verdict verdict;
    std::string reason;
    void (*apply)(Ask&, base::Random&);
};

std::string flip_a_bit(std::string pem, base::Random& random) {
    const std::string begin = "-----BEGIN CERTIFICATE REQUEST-----\n";
    const std::string end = "-----END CERTIFICATE REQUEST-----\n";
    auto base64 = pem.substr(begin.size(), pem.size() - begin.size() - end.size());
    std::erase(base64, '\n');
    auto der = api::Bytes::parse(base64);
    auto& byte = der.value[random.below(der.value.size())];
    byte = static_cast<char>(byte ^ (1 << random.below(8)));
    return begin + der.str() + "\n" + end;
}

const std::vector<Forgery> kForgeries{
    {"another Node's name", Verdict::Deny, "NotThisNode",
     [](Ask& ask, base::Random& random) {
         ask.parts.subject.back().second = "system:node:" + other_name(random, ask.joiner.node_name);
     }},
    {"a user's name", Verdict::Deny, "NotThisNode",
     [](Ask& ask, base::Random&) { ask.parts.subject.back().second = "kubernetes-admin"; }},
    {"another organization", Verdict::Deny, "NotThisNode",
     [](Ask& ask, base::Random& random) {
         const std::vector<std::string> others{"system:masters", "system:nodesx", "System:nodes",
                                               "system:node"};
         ask.parts.subject.front().second = others[random.below(others.size())];
     }},
    {"a second organization", Verdict::Deny, "NotAKubeletsRequest",
     [](Ask& ask, base::Random& random) {
         const auto at = static_cast<std::ptrdiff_t>(random.below(ask.parts.subject.size() + 1));
         ask.parts.subject.insert(ask.parts.subject.begin() + at, {"O", "system:masters"});
     }},
    {"a second common name", Verdict::Deny, "NotAKubeletsRequest",
     [](Ask& ask, base::Random&) { ask.parts.subject.emplace_back("CN", "kubernetes-admin"); }},
    {"another part of the subject", Verdict::Deny, "NotAKubeletsRequest",
     [](Ask& ask, base::Random&) { ask.parts.subject.emplace_back("OU", "authentication.kubernetes.io/x"); }},
    {"no organization", Verdict::Deny, "NotAKubeletsRequest",
     [](Ask& ask, base::Random&) {
         if (ask.parts.subject.size() == 2) ask.parts.subject.erase(ask.parts.subject.begin());
     }},
    {"no common name", Verdict::Deny, "NotAKubeletsRequest",
     [](Ask& ask, base::Random&) {
         if (ask.parts.subject.size() == 2) ask.parts.subject.pop_back();
     }},
    {"names and addresses", Verdict::Deny, "NotThisNode",
     [](Ask& ask, base::Random& random) {
         const std::vector<std::string> names{"DNS:kubernetes.default.svc", "IP:10.0.0.1", "IP:fd00::1",
                                              "DNS:" + ask.joiner.node_name};
         ask.parts.alternative_names = names[random.below(names.size())];
     }},
    {"names of other kinds", Verdict::Deny, "NotAKubeletsRequest",
     [](Ask& ask, base::Random& random) {
         ask.parts.alternative_names = random.below(2) ? "email:root@example.com" : "URI:spiffe://x/y";
     }},
    {"an extension", Verdict::Deny, "NotAKubeletsRequest",
     [](Ask& ask, base::Random& random) {
         if (random.below(2)) ask.parts.alternative_names = "DNS:" + ask.joiner.node_name;
         ask.parts.extensions.emplace_back("basicConstraints", "critical,CA:TRUE");
     }},
    {"an attribute", Verdict::Deny, "NotAKubeletsRequest",
     [](Ask& ask, base::Random&) { ask.parts.challenge_password = "password"; }},
    {"a signature of another key", Verdict::Deny, "NotAKubeletsRequest",
     [](Ask& ask, base::Random& random) {
         ask.parts.signed_with = (ask.parts.key + 1 + random.below(2)) % test::kRequestKeys;
     }},
    {"a flipped bit", Verdict::Deny, "NotAKubeletsRequest",
     [](Ask& ask, base::Random& random) {
         ask.spoil_pem = [&random](std::string pem) { return flip_a_bit(std::move(pem), random); };
     }},
    {"more or less than one block", Verdict::Deny, "NotAKubeletsRequest",
     [](Ask& ask, base::Random& random) {
         ask.spoil_pem = [form = random.below(6)](const std::string& pem) {
             if (form == 0) return pem + pem;
             if (form == 1) return "x\n" + pem;
             if (form == 2) return pem + "x";
             if (form == 3) return std::string();
             if (form == 4) return pem.substr(0, pem.size() / 2);
             return pem + std::string(bootstrap::kLargestSigningRequest, '\n');
         };
     }},
    {"other usages", Verdict::Deny, "NotThisNode",
     [](Ask& ask, base::Random& random) {
         auto& usages = ask.request.spec.usages;
         if (usages.size() < 2 || random.below(2)) {
             const std::vector<std::string> more{"server auth", "cert sign", "any", "code signing",
                                                 "crl sign"};
             usages.push_back(more[random.below(more.size())]);
         } else {
             usages.erase(usages.begin() + static_cast<std::ptrdiff_t>(random.below(2)));
         }
     }},
    {"another signer", Verdict::Deny, "OtherSigner",
     [](Ask& ask, base::Random& random) {
         const std::vector<std::string> others{"kubernetes.io/kube-apiserver-client",
                                               "kubernetes.io/kubelet-serving",
                                               "kubernetes.io/legacy-unknown", "example.com/signer", ""};
         ask.request.spec.signerName = others[random.below(others.size())];
     }},
    {"another claim's token", Verdict::Ignore, "",
     [](Ask& ask, base::Random& random) {
         ask.request.spec.username = "system:bootstrap:" + random.text(7, "abcdefghijklmnop");
     }},
    {"a token whose claim is gone", Verdict::Ignore, "",
     [](Ask& ask, base::Random&) { ask.claim_lives = false; }},
    {"a claim that has joined or leaves", Verdict::Deny, "NotJoining",
     [](Ask& ask, base::Random&) { ask.joiner.stage = Stage::Over; }},
    {"a claim whose machine does not run yet", Verdict::Wait, "NotLaunched",
     [](Ask& ask, base::Random&) {
         if (ask.joiner.stage == Stage::Joining) ask.joiner.stage = Stage::Coming;
     }},
    {"a second key", Verdict::Deny, "SecondKey",
     [](Ask& ask, base::Random&) { ask.joiner.key_sha256 = key_of(test::kRequestKeys - 1); }},
    {"a requester without a token", Verdict::Ignore, "",
     [](Ask& ask, base::Random& random) {
         const std::vector<std::string> others{"system:node:worker-1", "kubernetes-admin",
                                               "system:bootstrap:", "",
                                               "system:serviceaccount:default:default"};
         ask.request.spec.username = others[random.below(others.size())];
     }},
    {"a token of another group", Verdict::Ignore, "",
     [](Ask& ask, base::Random&) {
         ask.request.spec.groups = {"system:bootstrappers",
                                    "system:bootstrappers:kubeadm:default-node-token"};
     }},
    {"a request that is decided", Verdict::Ignore, "",
     [](Ask& ask, base::Random& random) {
         api::CertificateSigningRequestCondition condition;
         condition.type = random.below(2) ? "Denied" : "Failed";
         ask.request.status.conditions.push_back(condition);
     }},
};

}  // namespace

TEST_CASE("A claim's machine gets its client certificate, again with the same key") {
    auto random = fake::make_seeded_random(35);
    for (int i = 0; i < 500; ++i) {
        auto ask = good_ask(*random);
        const auto approval = ask.judge();
        INFO(approval.reason << ": " << approval.message);
        REQUIRE(approval.verdict == Verdict::Approve);
        REQUIRE(approval.key_sha256 == key_of(ask.parts.key));
    }
}

TEST_CASE("Each forgery of a client certificate's request is denied with its reason") {
    auto random = fake::make_seeded_random(36);
    for (const auto& forgery : kForgeries) {
        for (int i = 0; i < 30; ++i) {
            auto ask = good_ask(*random);
            forgery.apply(ask, *random);
            const auto approval = ask.judge();
            INFO(forgery.name << ": " << approval.reason << ": " << approval.message);
            REQUIRE(approval.verdict == forgery.verdict);
            REQUIRE(approval.reason == forgery.reason);
            REQUIRE(approval.message.empty() == (forgery.verdict == Verdict::Ignore));
            REQUIRE(approval.key_sha256.empty());
        }
    }
}

TEST_CASE("None of 10,000 forged requests is approved") {
    auto random = fake::make_seeded_random(37);
    for (int i = 0; i < 10'000; ++i) {
        auto ask = good_ask(*random);
        std::string names;
        // No forgery undoes another one.
        for (auto more = random->below(3) + 1; more > 0; --more) {
            const auto& forgery = kForgeries[random->below(kForgeries.size())];
            if (ask.parts.subject.size() < 2) break;
            forgery.apply(ask, *random);
            names += std::string(forgery.name) + ", ";
        }
        const auto approval = ask.judge();
        INFO(names << approval.reason << ": " << approval.message);
        REQUIRE(approval.verdict != Verdict::Approve);
    }
}

TEST_CASE("Keys that are weak or of other kinds are refused") {
    CHECK_THROWS_WITH(bootstrap::parse_signing_request(test::make_weak_request("worker-1")),
                      Catch::Contains("RSA key"));
}

namespace {

api::CertificateSigningRequest serving_request(const std::string& names) {
    auto parts = test::kubelet_request("worker-1", 0);
    parts.alternative_names = names;
    api::CertificateSigningRequest request;
    request.spec.request.value = test::make_request(parts);
    request.spec.signerName = bootstrap::kServingSigner;
    request.spec.username = "system:node:worker-1";
    request.spec.groups = {"system:nodes", "system:authenticated"};
    request.spec.usages = {"digital signature", "server auth"};
    return request;
}

const CertificateSubject kMachine{"worker-1", {"10.0.0.7", "fd00::7", "worker-1.example.com"}};

}  // namespace

TEST_CASE("A Node of ours gets a serving certificate for names and addresses that are its machine's") {
    for (const auto* names :
         {"DNS:worker-1,IP:10.0.0.7", "IP:fd00:0:0::7", "DNS:worker-1.example.com", "IP:10.0.0.7,IP:fd00::7"})
        CHECK(bootstrap::judge_serving(serving_request(names), &kMachine).verdict == Verdict::Approve);
}

TEST_CASE("A serving certificate with a name or address that is not known waits and says which") {
    for (const auto* name : {"10.0.0.8", "fd00::8", "::ffff:10.0.0.7"}) {
        const auto approval = bootstrap::judge_serving(
            serving_request("DNS:worker-1,IP:10.0.0.7,IP:" + std::string(name)), &kMachine);
        CHECK(approval.verdict == Verdict::Wait);
        CHECK(approval.reason == "UnknownAddress");
        CHECK_THAT(approval.message, Catch::StartsWith(name));
    }
    const auto approval = bootstrap::judge_serving(serving_request("DNS:kubernetes.default.svc"), &kMachine);
    CHECK_THAT(approval.message, Catch::StartsWith("kubernetes.default.svc is neither the Node's name nor"));
}

TEST_CASE("A serving certificate of other form waits, that of another's Node is left alone") {
    CHECK(bootstrap::judge_serving(serving_request(""), &kMachine).reason == "NoNames");
    CHECK(bootstrap::judge_serving(serving_request("DNS:worker-1,URI:spiffe://x"), &kMachine).reason ==
          "NotAKubeletsRequest");
    auto request = serving_request("DNS:worker-1");
    CHECK(bootstrap::judge_serving(request, nullptr).verdict == Verdict::Ignore);
    const CertificateSubject other{"worker-2", {"worker-1"}};
    CHECK(bootstrap::judge_serving(request, &other).verdict == Verdict::Ignore);
    request.spec.usages.emplace_back("client auth");
    CHECK(bootstrap::judge_serving(request, &kMachine).reason == "OtherUsages");
    request.spec.username = "system:node:worker-2";
    CHECK(bootstrap::judge_serving(request, &other).reason == "NotThisNode");
    request.spec.groups = {"system:authenticated"};
    CHECK(bootstrap::judge_serving(request, &other).verdict == Verdict::Ignore);
}
