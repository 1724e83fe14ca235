// Tests machines that are cloned from a template.
#include "providers/proxmox/wire/property_string.hpp"
#include "test/component/proxmox/template_world.hpp"

using namespace providers;
using namespace test;
using Catch::Contains;
using proxmox::parse_tags;

namespace {

std::string property(const proxmox_simulator::Machine& vm, const std::string& option,
                     const std::string& key) {
    return proxmox::PropertyString::parse(vm.config.at(option)).find(key).value_or("");
}

InsufficientCapacity refused(Lab& lab) {
    auto spec = lab.machine(1);
    const auto result = lab.ensure(spec);
    REQUIRE(std::holds_alternative<InsufficientCapacity>(result));
    return std::get<InsufficientCapacity>(result);
}

Health health(Lab& lab) {
    return lab.run(lab.provider->check());
}

// Makes the clones get a larger disk and our image.
void use_enlarging_template(Lab& lab) {
    auto wish = named("debian");
    wish.bootDisk.sizeGiB = 20;
    use_template(lab, wish);
    lab.config.spec.proxmox->cloudInit.emplace();
    lab.restart();
}

}  // namespace

TEST_CASE("A clone gets its own identity, size and tags, and none of what its template must not hand on") {
    Lab lab(world_with_template("shared"));
    auto wish = named("debian");
    wish.matchTags.clear();
    use_template(lab, wish);
    CHECK(health(lab).message == "");
    auto spec = lab.machine(1);
    const auto machine = lab.launch(spec);
    const auto* vm = lab.vm(spec);
    REQUIRE(vm);
    CHECK(vm->node == spec.record.host);
    CHECK(machine.provider_id == "proxmox://lab/vms/" + spec.record.machine_id);
    const auto& config = vm->config;
    CHECK(config.at("name") == "workers-1");
    CHECK(config.at("cores") == "2");
    CHECK(config.at("sockets") == "1");
    CHECK(config.at("memory") == "4096");
    CHECK(property(*vm, "smbios1", "uuid") == spec.identity.system_uuid);
    CHECK(parse_tags(config.at("tags")) == parse_tags("debian;k8s;kubenodesmith-managed"));
    CHECK(config.at("onboot") == "0");
    CHECK(config.at("protection") == "0");
    CHECK(config.at("balloon") == "0");
    CHECK(config.at("agent") == "1");
    CHECK_THAT(config.at("net0"), Contains("BC:24:11") && !Contains("BC:24:11:00:00:01"));
    CHECK_FALSE(config.contains("template"));
    CHECK_THAT(config.at("scsi0"), Contains("base-9000"));  // the clone is linked
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.vm(spec) == nullptr);
}

TEST_CASE("A clone costs at most 13 requests beside those that follow tasks") {
    Lab lab(world_with_template("shared"));
    use_enlarging_template(lab);
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    lab.launch(spec);
    auto second = lab.machine(2);
    second.boot_image = &lab.images;
    lab.wait(11s);  // the cached state of the cluster is outdated then
    lab.requests();
    lab.launch(second);
    const auto requests = lab.requests();
    INFO(Catch::Detail::stringify(requests));
    CHECK(requests.size() <= 13);
}

TEST_CASE("The boot disk is enlarged, and one that is large enough is left as it is") {
    for (const auto& [wanted, expected] : {std::pair{20, "20G"}, {4, "8G"}}) {
        Lab lab(world_with_template("shared"));
        auto wish = named("debian");
        wish.bootDisk.sizeGiB = wanted;
        use_template(lab, wish);
        auto spec = lab.machine(1);
        lab.launch(spec);
        CHECK(property(*lab.vm(spec), "scsi0", "size") == expected);
    }
}

TEST_CASE("A template is found by VMID and by tags, and tags that only find it are not handed on") {
    Lab lab(world_with_template("shared"));
    api::v1alpha1::Template by_id;
    by_id.vmid = 9000;
    use_template(lab, by_id);
    auto first = lab.machine(1);
    lab.launch(first);
    api::v1alpha1::Template by_tags;
    by_tags.matchTags = {"k8s", "debian"};
    use_template(lab, by_tags);
    auto second = lab.machine(2);
    lab.launch(second);
    CHECK(lab.vm(second)->config.at("tags") == "kubenodesmith-managed");
}

TEST_CASE("A template that is missing or ambiguous is a condition, and no machine is tried") {
    auto world = world_with_template("shared");
    world.machines[9001] = world.machines[9000];
    world.machines[9001].vmid = 9001;
    Lab lab(world);
    use_template(lab, named("ubuntu"));
    CHECK(health(lab).template_reason == "TemplateNotFound");
    CHECK_THAT(health(lab).template_message, Contains("ubuntu") && Contains("VM.Audit"));
    CHECK_THAT(refused(lab).message, Contains("ubuntu"));
    use_template(lab, named("debian"));
    CHECK(health(lab).template_reason == "TemplateAmbiguous");
    CHECK_THAT(health(lab).template_message, Contains("9000 on alfaromeo, 9001 on alfaromeo"));
    CHECK_THAT(refused(lab).message, Contains("9001"));
    api::v1alpha1::Template first;
    first.vmid = 9000;
    use_template(lab, first);
    CHECK(health(lab).template_reason == "");
}

TEST_CASE("A machine knows the template that it is made from, and another one or other content is told") {
    Lab lab(world_with_template("shared"));
    use_template(lab, named("debian"));
    const auto revision = [&] {
        lab.wait(11min);
        return health(lab).template_revisions;
    };
    const auto first = revision().at("*");
    CHECK_THAT(first, Catch::StartsWith("9000-"));
    auto spec = lab.machine(1);
    const auto placed = lab.ensure(spec);
    REQUIRE(std::holds_alternative<Machine>(placed));
    CHECK(std::get<Machine>(placed).template_revision == first);

    auto& source = *lab.vm("9000");
    const auto before = source.config;
    source.config["description"] = "for the nodes";
    source.config["tags"] = "debian;k8s;new";
    source.config["memory"] = "4096";
    CHECK(revision().at("*") == first);  // a clone inherits no changed option
    source.config["meta"] = "creation-qemu=10.1.2,ctime=1900000000";
    CHECK(revision().at("*") != first);
    source.config = before;
    CHECK(revision().at("*") == first);

    source.config["name"] = "old";
    CHECK(revision().empty());  // a missing template proves nothing
    lab.plant(9001, "alfaromeo", before);
    CHECK_THAT(revision().at("*"), Catch::StartsWith("9001-"));
}

TEST_CASE("A template on local storage is cloned on its own host only, unless each host has one") {
    auto world = world_with_template("local");
    Lab lab(world);
    use_template(lab, named("debian"));
    for (int i = 1; i <= 2; ++i) {
        auto spec = lab.machine(i);
        lab.launch(spec);
        CHECK(spec.record.host == "alfaromeo");
    }
    const auto offerings = lab.run(lab.provider->offerings());
    CHECK(offerings[0].usable);
    CHECK_THAT(offerings[1].why_not, Contains("storage local is local"));
    CHECK_THAT(offerings[1].remedy, Contains("template.localStorage"));
}

TEST_CASE("With local templates each host's machines come from its own, and hosts without one get none") {
    auto world = proxmox_simulator::world_from_json(boost::json::parse(R"({"machines": [
        {"vmid": 9000, "node": "alfaromeo", "config": {"name": "debian", "template": "1", "scsi0": "local:8"}},
        {"vmid": 9001, "node": "porsche", "config": {"name": "debian", "template": "1", "scsi0": "local:8"}}]})"));
    Lab lab(world);
    auto wish = named("debian");
    wish.localStorage = true;
    use_template(lab, wish);
    std::set<std::string> hosts;
    for (int i = 1; i <= 4; ++i) {
        auto spec = lab.machine(i);
        lab.launch(spec);
        hosts.insert(spec.record.host);
        const auto source = spec.record.host == "alfaromeo" ? "base-9000" : "base-9001";
        CHECK_THAT(lab.vm(spec)->config.at("scsi0"), Contains(source));
        lab.wait(11s);
    }
    CHECK(hosts == std::set<std::string>{"alfaromeo", "porsche"});
}

TEST_CASE("A full clone goes to the storage that is asked for") {
    Lab lab(world_with_template("shared"));
    auto wish = named("debian");
    wish.cloneMode = api::v1alpha1::CloneMode::Full;
    wish.storage = "local";
    use_template(lab, wish);
    auto spec = lab.machine(1);
    lab.launch(spec);
    CHECK(spec.record.host == "alfaromeo");  // a local storage needs the template's host
    CHECK_THAT(lab.vm(spec)->config.at("scsi0"), Contains("local:"));
}

TEST_CASE("Clones keep to the slots of the template's host") {
    Lab lab(world_with_template("shared"));
    use_template(lab, named("debian"));
    std::vector<MachineSpec> specs;
    for (int i = 1; i <= 5; ++i) specs.push_back(lab.machine(i));
    for (auto& spec : specs) lab.place(spec);
    std::size_t most = 0;
    for (int round = 0; round < 200; ++round) {
        std::size_t running = 0;
        for (auto& spec : specs) running += lab.step(spec).state == MachineState::running;
        std::size_t cloning = 0;
        for (const auto& spec : specs) {
            const auto* vm = lab.vm(spec);
            cloning += vm && vm->config.contains("lock") && vm->config.at("lock") == "clone";
        }
        most = std::max(most, cloning);
        if (running == specs.size()) break;
        lab.wait(500ms);
    }
    CHECK(most == 2);
    for (auto& spec : specs) CHECK(lab.vm(spec)->running);
}

TEST_CASE("A lock that times out is tried again and reaches nobody") {
    Lab lab(world_with_template("shared"));
    use_template(lab, named("debian"));
    for (const auto* text : {"can't lock file '/var/lock/pve-manager/pve-storage-shared' - got timeout",
                             "can't lock file '/var/lock/qemu-server/lock-1000.conf' - got timeout"}) {
        lab.simulator.faults().add_task("qmclone", ".*",
                                        {proxmox_simulator::TaskTrouble::fail_at_once, text});
        auto spec = lab.machine(static_cast<int>(std::string(text).size()));
        lab.launch(spec);
        CHECK(lab.vm(spec)->running);
    }
}

TEST_CASE("A clone that fails ends the attempt with the task's own words, and another host is wished for") {
    Lab lab(world_with_template("shared"));
    use_template(lab, named("debian"));
    lab.simulator.faults().add_task(
        "qmclone", ".*",
        {proxmox_simulator::TaskTrouble::fail_at_end, "unable to create image: no space left"});
    auto spec = lab.machine(1);
    lab.place(spec);
    lab.step(spec);
    lab.wait(5s);
    const auto result = lab.ensure(spec);
    REQUIRE(std::holds_alternative<AttemptFailed>(result));
    const auto& failed = std::get<AttemptFailed>(result);
    CHECK(failed.reason == "CloneFailed");
    CHECK_FALSE(failed.is_refused);  // it may have copied a large disk
    CHECK_THAT(failed.message, Contains("no space left"));
    CHECK(failed.avoid_host);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE(
    "An unfinished clone is removed by its mark, listed with its claim, and a copy of it is left alone") {
    Lab lab(world_with_template("shared"));
    use_template(lab, named("debian"));
    auto spec = lab.machine(1);
    lab.place(spec);
    lab.step(spec);
    lab.wait(5s);  // cloned, but not configured
    const auto copied = *lab.vm(spec);
    CHECK_FALSE(parse_tags(copied.config.at("tags")).contains("kubenodesmith-managed"));
    auto options = copied.config;
    options["smbios1"] = "uuid=77777777-0000-4000-8000-000000000001";
    lab.plant(1500, "zagato", options);
    lab.wait(15s);
    const auto machines = lab.run(lab.provider->list());
    REQUIRE(machines.size() == 2);  // both claim to be ours; only the first one proves it
    for (const auto& machine : machines)
        CHECK(machine.is_unfinished == (machine.record.machine_id == spec.record.machine_id));
    auto elsewhere = spec;
    elsewhere.record.machine_id = "1500";
    elsewhere.record.host = "zagato";
    elsewhere.record.task.clear();
    CHECK(std::holds_alternative<RemovalBlocked>(lab.remove(elsewhere)));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(lab.vm("1500") != nullptr);
}

TEST_CASE("Proxmox' own cloud-init gets user, keys, addresses and names, readable by the guest") {
    Lab lab(world_with_template("shared"));
    use_template(lab, named("debian"));
    lab.config.spec.proxmox->cloudInit.emplace();
    lab.restart();
    test::GuestSettings guest;
    guest.settings.user = "ops";
    guest.settings.ssh_authorized_keys = {
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB0s7Yv5m0mG+1vYk6m4q1v3l5m0mG+1vYk6m4q1v3l5 first key",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB0s7Yv5m0mG+1vYk6m4q1v3l5m0mG+1vYk6m4q1v3l6 second=key"};
    guest.settings.interfaces = {{"net0", false, {{"10.0.4.50/24", "10.0.4.1"}, {"fd00::50/64", "fd00::1"}}},
                                 {"net1", true, {}}};
    guest.settings.nameservers = {"10.0.4.2", "10.0.4.3"};
    guest.settings.search_domains = {"example.com"};
    auto spec = lab.machine(1);
    spec.guest = &guest;
    lab.launch(spec);
    const auto& config = lab.vm(spec)->config;
    CHECK(config.at("ipconfig0") == "ip=10.0.4.50/24,gw=10.0.4.1,ip6=fd00::50/64,gw6=fd00::1");
    CHECK(config.at("ipconfig1") == "ip=dhcp");
    CHECK(config.at("nameserver") == "10.0.4.2 10.0.4.3");
    CHECK(config.at("searchdomain") == "example.com");
    CHECK(config.at("ciuser") == "ops");
    CHECK(config.at("ciupgrade") == "0");
    const auto seed = lab.simulator.cluster().view(*lab.vm(spec)).cloudinit_drive;
    REQUIRE(seed);
    for (const auto& key : guest.settings.ssh_authorized_keys) CHECK_THAT(seed->user_data, Contains(key));
    CHECK_THAT(seed->network_config, Contains("10.0.4.50"));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
}

TEST_CASE("A template's interface gets the MAC address that the guest is told of, and keeps all else") {
    Lab lab(world_with_template("shared"));
    use_template(lab, named("debian"));
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    spec.mac_addresses["net0"] = "02:11:22:33:44:55";
    lab.launch(spec);
    const auto net = lab.vm(spec)->config.at("net0");
    CHECK_THAT(net, Contains("=02:11:22:33:44:55") && Contains("bridge="));
    auto second = lab.machine(2);
    second.boot_image = &lab.images;
    second.mac_addresses["net7"] = "02:11:22:33:44:56";
    CHECK_THROWS_WITH(lab.launch(second), Contains("has no interface net7"));
}

TEST_CASE("A template without a cloud-init drive gets one when there is something to tell the guest") {
    auto world = world_with_template("shared");
    world.machines[9000].config.erase("ide2");
    auto& volumes = world.storages.at("shared").volumes[""];
    volumes["snippets/user.yaml"] = {
        .name = "snippets/user.yaml", .content = "snippets", .format = "snippet"};
    Lab lab(world);
    use_template(lab, named("debian"));
    lab.config.spec.proxmox->cloudInit.emplace();
    lab.config.spec.proxmox->cloudInit->custom.emplace().user = "shared:snippets/user.yaml";
    lab.restart();
    test::GuestSettings guest;
    auto spec = lab.machine(1);
    spec.guest = &guest;
    lab.launch(spec);
    CHECK_THAT(lab.vm(spec)->config.at("ide2"), Contains("cloudinit"));
    CHECK(lab.vm(spec)->config.at("ipconfig0") == "ip=dhcp");
    CHECK(lab.vm(spec)->config.at("cicustom") == "user=shared:snippets/user.yaml");
}

TEST_CASE("With a boot image of ours the template's cloud-init drive goes") {
    Lab lab(world_with_template("shared"));
    use_template(lab, named("debian"));
    lab.config.spec.proxmox->cloudInit.emplace();
    lab.restart();
    auto spec = lab.machine(1);
    spec.boot_image = &lab.images;
    lab.launch(spec);
    const auto view = lab.simulator.cluster().view(*lab.vm(spec));
    CHECK_THAT(view.cdrom, Contains("image of"));
    CHECK_FALSE(view.cloudinit_drive);
    CHECK_FALSE(lab.vm(spec)->config.contains("ide2"));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    for (const auto& [host, volumes] : lab.simulator.cluster().world.storages.at("local").volumes)
        CHECK(volumes.empty());
}

TEST_CASE("A clone survives a restart after any step, with or without that step recorded") {
    for (const auto& death : deaths(12)) {
        INFO(death.str());
        Lab lab(world_with_template("shared"));
        use_enlarging_template(lab);
        auto spec = lab.machine(1);
        spec.boot_image = &lab.images;
        lab.launch_through(spec, death);
        CHECK(lab.vm(spec)->running);
        CHECK(property(*lab.vm(spec), "scsi0", "size") == "20G");
        CHECK_THAT(lab.simulator.cluster().view(*lab.vm(spec)).cdrom, Contains("image of"));
        CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
        CHECK(lab.simulator.cluster().world.machines.size() == 1);
    }
}
