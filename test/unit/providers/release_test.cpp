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
