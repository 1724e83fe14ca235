// Tries the rights that docs/proxmox.md lists one by one. With all of them machines are made and removed. If
// one is missing, the Provider names it and nothing is made. This test produces the table in the docs;
// KUBENODESMITH_WRITE_DOCS=1 writes it anew.
#include <cstdlib>
#include <fstream>

#include "base/file.hpp"
#include "providers/launch.hpp"
#include "test/component/proxmox/image_lab.hpp"

using namespace providers;
using Catch::Contains;
using test::Lab;

namespace {

using namespace std::chrono_literals;

enum class Use { blank, image, clone, cloud_init, agent, from_image };
using Uses = std::set<Use>;
const Uses kAll{Use::blank, Use::image, Use::clone, Use::cloud_init, Use::agent, Use::from_image};
const Uses kClones{Use::clone, Use::cloud_init, Use::agent};

struct Right {
    std::string privilege;
    std::string path;   // path in the test's world
    std::string where;  // path in the table
    std::string purpose;
    Uses uses;
};

const std::string kMachines = "/pool/kubernetes";
const std::string kImagesText = "the storage with boot images, or with downloaded images of templates";
const std::string kMachinesText = "the resource pool, or `/vms` without one";

std::vector<Right> rights() {
    const auto on_machines = [](std::string privilege, std::string purpose, Uses uses) {
        return Right{std::move(privilege), kMachines, kMachinesText, std::move(purpose), std::move(uses)};
    };
    return {
        on_machines("VM.Allocate", "make and remove machines", kAll),
        on_machines("VM.Audit", "read back whose machine it is before anything is done to it", kAll),
        on_machines("VM.PowerMgmt", "start and stop", kAll),
        on_machines("VM.Config.CPU", "the size", kAll),
        on_machines("VM.Config.Memory", "the size", kAll),
        on_machines("VM.Config.Options", "name, tags, description (the mark), guest agent", kAll),
        on_machines("VM.Config.HWType", "the SMBIOS UUID by which a Node is recognised", kAll),
        on_machines("VM.Config.Network",
                    "with `networkInterfaces` or `net…` options; clones with a `network` that asks for more "
                    "than DHCP; `template.image`",
                    {Use::blank, Use::image, Use::from_image}),
        on_machines("VM.Config.Disk",
                    "with drives or `boot` in `vmOptions`, `bootDisk.sizeGiB` or `template.image`",
                    {Use::blank, Use::image, Use::cloud_init, Use::from_image}),
        on_machines("VM.Config.CDROM",
                    "boot images; clones with `cloudInit` of a template without a cloud-init drive",
                    {Use::image, Use::cloud_init}),
        on_machines("VM.Config.Cloudinit",
                    "clones with `cloudInit`; cloud-init options or drives in `vmOptions`",
                    {Use::cloud_init}),
        on_machines("VM.GuestAgent.Audit",
                    "`bootstrap.method: GuestAgent`: ask whether the agent answers (Proxmox VE 7 and 8: "
                    "`VM.Monitor`)",
                    {Use::agent}),
        on_machines("VM.GuestAgent.Unrestricted",
                    "`bootstrap.method: GuestAgent`: run the join script (Proxmox VE 7 and 8: `VM.Monitor`)",
                    {Use::agent}),
        {"VM.Audit", "/vms/9000", "the template", "find it", kClones},
        {"VM.Clone", "/vms/9000", "the template", "clone it", kClones},
        on_machines("VM.Clone", "`template.image`: clone the template that is made of it", {Use::from_image}),
        {"Datastore.AllocateSpace", "/storage/local",
         "each storage with disks of machines; for linked clones the template's", "allocate them", kAll},
        {"Datastore.Audit",
         "/storage/local",
         "`template.image.storage`",
         "see whether hosts share it",
         {Use::from_image}},
        {"Datastore.Audit", "/storage/shared", kImagesText, "find it", {Use::image, Use::from_image}},
        {"Datastore.AllocateTemplate",
         "/storage/shared",
         kImagesText,
         "upload or download",
         {Use::image, Use::from_image}},
        {"Datastore.Allocate",
         "/storage/shared",
         kImagesText,
         "delete them again: a boot image holds a join token",
         {Use::image, Use::from_image}},
        {"Sys.AccessNetwork",
         "/nodes",
         "`/nodes`; or `Sys.Audit` and `Sys.Modify` on `/`",
         "`template.image`: hosts download it",
         {Use::from_image}},
        {"SDN.Use", "/sdn/zones/localnetwork/vmbr0",
         "each bridge of `networkInterfaces`, `net…` options and the template's interfaces, from Proxmox VE "
         "8 on",
         "connect machines to it", kAll},
        {"Sys.Audit", "/nodes", "`/nodes`", "the hosts' memory and CPUs, without which no machine is placed",
         kAll},
    };
}

// Returns a world whose token has exactly the rights that the use needs. `without` takes one of them away.
proxmox_simulator::World world_for(Use use, const Right* without) {
    auto world = test::world_with_template("local");
    world.web = test::world_with_image().web;
    world.custom_roles.clear();
    world.acl.clear();
    world.machines.at(9000).config["net0"] = "virtio=BC:24:11:00:00:01,bridge=vmbr0";
    if (use == Use::cloud_init) world.machines.at(9000).config.erase("ide2");
    for (const auto& right : rights()) {
        const bool is_taken = without && right.privilege == without->privilege && right.path == without->path;
        if (!right.uses.contains(use) || is_taken) continue;
        auto role = right.path;
        std::ranges::replace(role, '/', '-');
        world.custom_roles[role].insert(right.privilege);
    }
    for (const auto& [role, privileges] : world.custom_roles) {
        auto path = role;
        std::ranges::replace(path, '-', '/');
        world.acl.push_back({path, "user", "automation@pve", role, true});
    }
    return world;
}

class Join final : public GuestJoin {
public:
    asio::awaitable<JoinScript> script(MachineRecord) override {
        JoinScript result;
        result.script = "join\n";
        co_return result;
    }
};

// Site is a cluster whose Provider makes machines of that use.
struct Site {
    explicit Site(Use site_use, const Right* without = nullptr)
        : use(site_use), lab(world_for(site_use, without)) {
        auto& proxmox = *lab.config.spec.proxmox;
        proxmox.resourcePool = "kubernetes";
        proxmox.cloudInit.reset();
        if (kClones.contains(use)) {
            proxmox.template_ = test::named("debian");
            proxmox.vmOptions.clear();
            proxmox.networkInterfaces.clear();
        }
        if (use == Use::from_image) {
            const api::v1alpha1::TemplateImage image{test::kImageUrl, test::sha256_of("debian 12.8"), "local",
                                                     "shared"};
            proxmox.template_.emplace().image = image;
            proxmox.vmOptions.clear();
            proxmox.networkInterfaces.clear();
        }
        if (use == Use::image) proxmox.cloudInit.emplace().isoStorage = "shared";
        if (use == Use::cloud_init) {
            proxmox.cloudInit.emplace();
            proxmox.template_->bootDisk.sizeGiB = 20;
        }
        lab.restart();
        spec = lab.machine(1);
        if (use == Use::image) spec.boot_image = &lab.images;
        if (use == Use::cloud_init) spec.guest = &guest;
        if (use == Use::agent) spec.join = &join;
    }

    // Checks the Provider's health until its templates exist, if the use needs any.
    Health settle() {
        auto health = lab.run(lab.provider->check());
        for (int looks = 0; looks < 60 && health.look_again_after > 0s; ++looks) {
            lab.wait(health.look_again_after);
            health = lab.run(lab.provider->check());
        }
        return health;
    }
    bool makes_and_removes() {
        settle();
        for (int calls = 0; calls < 60; ++calls) {
            const auto result = lab.ensure(spec);
            const auto* machine = std::get_if<Machine>(&result);
            if (!machine) return false;
            spec.record = machine->record;
            if (machine->state == MachineState::running) return removes();
            lab.wait(machine->retry_after);
        }
        return false;
    }
    bool removes() {
        const bool has_image = spec.boot_image != nullptr;
        for (int calls = 0; has_image && calls < 20; ++calls) {
            if (lab.run(lab.provider->discard_boot_image(spec.identity, spec.record))) break;
            lab.wait(1s);
        }
        if (!std::holds_alternative<Gone>(lab.destroy(spec))) return false;
        const auto& volumes = lab.simulator.cluster().world.storages.at("shared").volumes;
        const bool is_left =
            std::ranges::any_of(volumes, [](const auto& entry) { return !entry.second.empty(); });
        return lab.vm(spec) == nullptr && !is_left;
    }

    Use use;
    Lab lab;
    Join join;
    test::GuestSettings guest;
    MachineSpec spec;
};

std::size_t changes(const Lab& lab) {
    return lab.count("POST", ".*") + lab.count("PUT", ".*") + lab.count("DELETE", ".*");
}

// Returns the condition that reports the missing right and so prevents launches; "" if there is none.
std::string told_by(Site& site, const Right& right) {
    const auto health = site.lab.run(site.lab.provider->check());
    CHECK(changes(site.lab) == 0);
    const auto text = right.privilege + " on " + right.path + " (";
    const auto names_it = Contains(text);
    if (!health.credentials_ok && names_it.match(health.message)) return "Ready";
    const auto is_used = site.use == Use::image || site.use == Use::agent;
    if (is_used && names_it.match(health.boot_image_obstacle)) return "BootImagesUsable";
    if (is_used && names_it.match(health.guest_agent_obstacle)) return "GuestAgentUsable";
    const bool is_found = health.template_reason.empty();
    return !is_found && Contains(right.privilege).match(health.template_message) ? "TemplateResolved" : "";
}

std::string table() {
    std::string text = "| privilege | path | what for | without it |\n|---|---|---|---|\n";
    for (const auto& right : rights()) {
        std::set<std::string> told;
        for (const auto use : right.uses) {
            INFO(right.privilege << " on " << right.path << ", use " << static_cast<int>(use));
            Site site(use, &right);
            const auto condition = told_by(site, right);
            CHECK_FALSE(condition.empty());
            told.insert(condition);
            // A right that is required is really needed.
            CHECK_FALSE(site.makes_and_removes());
        }
        std::string conditions;
        for (const auto& condition : told)
            conditions += (conditions.empty() ? "`" : ", `") + condition + "=False`";
        text += "| `" + right.privilege + "` | " + right.where + " | " + right.purpose + " | " + conditions +
                " |\n";
    }
    return text;
}

}  // namespace

TEST_CASE("With the rights of the table, and none besides, machines are made and removed") {
    for (const auto use : kAll) {
        INFO(static_cast<int>(use));
        Site site(use);
        const auto health = site.settle();
        CHECK(health.message == "");
        CHECK(health.template_message == "");
        if (use == Use::image) CHECK(health.boot_image_obstacle == "");
        if (use == Use::agent) CHECK(health.guest_agent_obstacle == "");
        CHECK(site.makes_and_removes());
    }
}

TEST_CASE("A resource pool with a mistyped name is told of before the rights that are missing on it") {
    Site site(Use::image);
    site.lab.config.spec.proxmox->resourcePool = "kube";
    site.lab.restart();
    const auto health = site.settle();
    CHECK(health.reason == "MissingPrivileges");
    CHECK_THAT(health.message,
               Contains("no resource pool kube is among those that it has rights on (kubernetes): "
                        "check the name in spec.proxmox.resourcePool"));
}

TEST_CASE("Without any one right of the table the Provider says which, and the docs have what came out") {
    const auto generated = table();
    const std::string path = KUBENODESMITH_SOURCE "/docs/proxmox.md";
    const std::string begin = "<!-- rights: written by component-proxmox -->\n";
    const std::string end = "<!-- end of rights -->\n";
    const auto docs = base::read_file(path);
    const auto first = docs.find(begin);
    const auto last = docs.find(end);
    REQUIRE(first != std::string::npos);
    REQUIRE(last != std::string::npos);
    const auto start = first + begin.size();
    if (std::getenv("KUBENODESMITH_WRITE_DOCS"))
        std::ofstream(path) << docs.substr(0, start) << generated << docs.substr(last);
    else
        CHECK(docs.substr(start, last - start) == generated);
}
