#include "providers/proxmox/vm/releaser.hpp"

#include "test/support/catch.hpp"

using namespace providers::proxmox;

namespace {

VmConfig marked(const std::string& description, const std::string& tags) {
    providers::MachineIdentity identity;
    identity.cluster_id = "2f1c4c0e-0c62-4a4b-9d8e-6d2f3c1a7b90";
    identity.provider_uid = "7a9f6a1e-55c8-4d0b-8f57-0f4f0d1d2c11";
    identity.claim_uid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
    identity.claim_namespace = "default";
    identity.claim_name = "workers-1";
    VmConfig config;
    config.options = {{"description", describe_mark(identity) + description}, {"tags", tags}};
    return config;
}

using Changes = std::vector<base::FormFields>;

}  // namespace

TEST_CASE("Releasing takes mark and tag away and keeps what the user wrote beside them") {
    const auto config = marked("\nBackup on Sundays\nAsk Ann", "a;kubenodesmith-managed");
    CHECK(release_changes(config, "kubenodesmith-managed") ==
          Changes{{{"description", "Backup on Sundays\nAsk Ann"}}, {{"tags", "a"}}});
}

TEST_CASE("What is left empty by a release is deleted") {
    CHECK(release_changes(marked("", "kubenodesmith-managed"), "kubenodesmith-managed") ==
          Changes{{{"delete", "description"}}, {{"delete", "tags"}}});
}

TEST_CASE("Releasing takes the operator's epoch away as well") {
    auto config = marked("\nAsk Ann", "kubenodesmith-managed");
    auto& description = config.options["description"];
    description = with_epoch(description, {"0123456789abcdef", ""});
    CHECK(release_changes(config, "kubenodesmith-managed").front() ==
          base::FormFields{{"description", "Ask Ann"}});
}

TEST_CASE("An epoch in a description replaces the last one and leaves the rest as it is") {
    const std::string others = marked("\nAsk Ann", "").option("description");
    CHECK_FALSE(parse_epoch(others));
    const auto once = with_epoch(others, {"aa", ""});
    CHECK(parse_epoch(once) == providers::EpochRecord{"aa", ""});
    const auto twice = with_epoch(once, {"bb", "cc"});
    CHECK(parse_epoch(twice) == providers::EpochRecord{"bb", "cc"});
    CHECK(without_epoch(twice) == others);
    CHECK(parse_mark(twice) == parse_mark(others));
    CHECK_FALSE(parse_epoch("{\"kubenodesmith-operator\":7}"));
    CHECK_FALSE(parse_epoch("{\"kubenodesmith-operator\":{\"epoch\":"));
}
