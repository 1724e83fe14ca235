// Tests volumes of others: disks that people kept or attached, volumes of a CSI plugin, and disks of another
// cluster on the same storage. They all survive the removal of a machine or a template.
#include "test/simulators/proxmox/core/volumes.hpp"

#include <functional>
#include <utility>

#include "test/component/proxmox/image_lab.hpp"

using namespace providers;
using namespace std::chrono_literals;
using Catch::Contains;
namespace asio = boost::asio;
using proxmox_simulator::Volume;
using test::ImageLab;
using test::Lab;

namespace {

proxmox_simulator::World& world_of(Lab& lab) {
    return lab.simulator.cluster().world;
}

// Adds a disk that somebody else made. Returns its volume ID.
std::string put_volume(Lab& lab, const std::string& storage, int vmid, const std::string& file,
                       const std::string& host = "alfaromeo") {
    auto& place = world_of(lab).storages.at(storage);
    Volume volume;
    volume.name = std::to_string(vmid) + "/" + file;
    volume.content = "images";
    volume.format = "raw";
    volume.size = proxmox_simulator::kGiB;
    volume.vmid = vmid;
    proxmox_simulator::add_volume(place, host, volume);
    return storage + ":" + volume.name;
}

bool exists(Lab& lab, const std::string& volume, const std::string& host = "alfaromeo") {
    return proxmox_simulator::find_volume(std::as_const(world_of(lab)), host, volume) != nullptr;
}

void use_disk(Lab& lab) {
    lab.config.spec.proxmox->vmOptions = {{"scsi0", boost::json::value("local:8")}};
    lab.restart();
}

RemovalBlocked held(Lab& lab, MachineSpec& spec) {
    auto result = lab.destroy(spec);
    REQUIRE(std::holds_alternative<RemovalBlocked>(result));
    return std::get<RemovalBlocked>(result);
}

// Runs an action once: just before a request with that end of its path is answered, or when the next one
// comes.
class AroundRequest final : public proxmox_simulator::FaultPlan {
public:
    enum class When { before, after };
    AroundRequest(When when, std::string end, std::function<void()> action)
        : when_(when), end_(std::move(end)), action_(std::move(action)) {}

    std::optional<proxmox_simulator::RequestFault> on_request(const std::string&,
                                                              const std::string& path) override {
        const bool is_it = path.ends_with(end_);
        const bool is_time = has_come_ || (is_it && when_ == When::before);
        if (is_time && action_) std::exchange(action_, nullptr)();
        has_come_ = has_come_ || is_it;
        return std::nullopt;
    }
    std::optional<proxmox_simulator::TaskFault> on_task(const std::string&, const std::string&) override {
        return std::nullopt;
    }

private:
    When when_;
    std::string end_;
    std::function<void()> action_;
    bool has_come_ = false;
};

// Attaches a volume of a CSI plugin as scsi9 and returns its name.
std::string attach_csi_volume(Lab& lab, const MachineSpec& spec) {
    auto volume = put_volume(lab, "shared", 9999, "vm-9999-pvc-7a1c2f30.raw");
    lab.vm(spec)->config["scsi9"] = volume + ",size=1G";
    return volume;
}

std::string free_option(const proxmox_simulator::Config& config) {
    return config.contains("scsi5") ? "scsi6" : "scsi5";
}

// Attaches a disk with the machine's own ID, which was not made with it, and returns its name.
std::string attach_own_disk(Lab& lab, const MachineSpec& spec) {
    const auto& id = spec.record.machine_id;
    auto disk = put_volume(lab, "local", std::stoi(id), "vm-" + id + "-disk-7.raw");
    auto& config = lab.vm(spec)->config;
    config[free_option(config)] = disk + ",size=1G";
    return disk;
}

}  // namespace

TEST_CASE("Templates and machines come and go, and the volumes of a CSI plugin stay") {
    ImageLab lab;
    lab.config.spec.proxmox->vmIDRange = api::v1alpha1::VMIDRange{9000, 9999};
    lab.restart();
    std::vector<std::string> volumes;
    for (const auto* storage : {"local", "shared"})
        for (const auto* name : {"vm-9999-pvc-7a1c2f30.raw", "vm-9999-pvc-7a1c2f31.raw"})
            volumes.push_back(put_volume(lab, storage, 9999, name));
    lab.settle();
    REQUIRE(lab.templates().size() == 3);
    for (const auto& [vmid, host] : lab.templates()) CHECK(vmid != 9999);
    auto spec = lab.machine(1);
    lab.launch(spec);
    CHECK(spec.record.machine_id != "9999");
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    auto* dismantler = lab.provider->capabilities().dismantler;
    for (int i = 0; i < 100 && !lab.run(dismantler->dismantle()).empty(); ++i) lab.wait(5s);
    CHECK(lab.templates().empty());
    for (const auto& volume : volumes) CHECK(exists(lab, volume));
    for (const auto& record : lab.log) CHECK_FALSE(record.parameters.contains("destroy-unreferenced-disks"));
}

TEST_CASE("VMID 9999 is never chosen, and the hosts say why no machine can be made") {
    Lab lab;
    lab.config.spec.proxmox->vmIDRange = api::v1alpha1::VMIDRange{9999, 9999};
    lab.restart();
    auto spec = lab.machine(1);
    const auto result = lab.ensure(spec);
    REQUIRE(std::holds_alternative<InsufficientCapacity>(result));
    CHECK_THAT(std::get<InsufficientCapacity>(result).message, Contains("9999 is never used"));
    for (const auto& host : lab.run(lab.provider->offerings())) {
        CHECK_FALSE(host.usable);
        CHECK_THAT(host.why_not, Contains("9999 is never used"));
        CHECK(host.remedy == "widen spec.proxmox.vmIDRange");
    }
}

TEST_CASE("An ID that a volume carries is not chosen, until the volume is gone") {
    for (const auto* storage : {"local", "shared"}) {
        Lab lab;
        lab.config.spec.proxmox->vmIDRange = api::v1alpha1::VMIDRange{1000, 1001};
        lab.config.spec.proxmox->nodeWhitelist = {"alfaromeo"};
        lab.restart();
        const auto kept = put_volume(lab, storage, 1000, "vm-1000-disk-0.raw");
        auto first = lab.machine(1);
        lab.place(first);
        CHECK(first.record.machine_id == "1001");
        lab.launch(first);
        lab.wait(11s);  // the cached state of the cluster is outdated then
        auto second = lab.machine(2);
        const auto full = lab.ensure(second);
        REQUIRE(std::holds_alternative<InsufficientCapacity>(full));
        CHECK_THAT(std::get<InsufficientCapacity>(full).message, Contains("1000: " + kept));
        proxmox_simulator::free_volume(world_of(lab), "alfaromeo", kept);
        lab.wait(2min);
        lab.place(second);
        CHECK(second.record.machine_id == "1000");
    }
}

TEST_CASE("A disk that somebody attached under the machine's ID holds its removal until it is given up") {
    const bool is_unused = GENERATE(false, true);
    const bool is_restarted = GENERATE(false, true);
    Lab lab;
    use_disk(lab);
    auto spec = lab.machine(1);
    lab.launch(spec);
    const auto vmid = std::stoi(spec.record.machine_id);
    const auto disk = put_volume(lab, "local", vmid, "vm-" + spec.record.machine_id + "-disk-7.raw");
    auto& config = lab.vm(spec)->config;
    const auto option = is_unused ? std::string("unused0") : free_option(config);
    config[option] = is_unused ? disk : disk + ",size=1G";
    if (is_restarted) lab.restart();
    const auto why = held(lab, spec);
    CHECK(why.reason == "UnknownVolumes");
    CHECK_THAT(why.message, Contains(option + " " + disk));
    CHECK_THAT(why.message, Contains("qm disk unlink " + spec.record.machine_id + " --idlist " + option));
    CHECK(exists(lab, disk));
    // The owner moves the disk to another VM, which gives it another name.
    lab.vm(spec)->config.erase(option);
    lab.wait(1min);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(exists(lab, disk));
}

TEST_CASE(
    "A disk that is attached while the operator looks at the volumes is not destroyed with the machine") {
    Lab lab;
    use_disk(lab);
    auto spec = lab.machine(1);
    lab.launch(spec);
    std::string disk;
    AroundRequest attach(AroundRequest::When::after, "/" + spec.record.machine_id + "/pending",
                         [&] { disk = attach_own_disk(lab, spec); });
    lab.simulator.cluster().faults = &attach;
    const auto why = held(lab, spec);
    lab.simulator.cluster().faults = nullptr;
    CHECK(why.reason == "UnknownVolumes");
    CHECK(exists(lab, disk));
}

TEST_CASE("No disk is taken off a machine whose mark a person removes while the operator looks at it") {
    Lab lab;
    use_disk(lab);
    auto spec = lab.machine(1);
    lab.launch(spec);
    const auto volume = attach_csi_volume(lab, spec);
    lab.log.clear();
    AroundRequest takes_over(AroundRequest::When::before, "/" + spec.record.machine_id + "/pending",
                             [&] { lab.vm(spec)->config["description"] = "mine now"; });
    lab.simulator.cluster().faults = &takes_over;
    const auto result = lab.destroy(spec);
    lab.simulator.cluster().faults = nullptr;
    CHECK_FALSE(std::holds_alternative<Gone>(result));
    REQUIRE(lab.vm(spec));
    CHECK(lab.vm(spec)->config["scsi9"] == volume + ",size=1G");
}

namespace {

// Answers late, whenever the configuration of the VM is read after its pending one; the first such read is
// followed by an action.
class LateLook final : public proxmox_simulator::FaultPlan {
public:
    LateLook(std::string vmid, std::function<void()> action)
        : vmid_(std::move(vmid)), action_(std::move(action)) {}

    std::optional<proxmox_simulator::RequestFault> on_request(const std::string& method,
                                                              const std::string& path) override {
        if (was_read_ && action_) std::exchange(action_, nullptr)();
        if (path.ends_with("/" + vmid_ + "/pending")) was_examined_ = true;
        const bool is_look = method == "GET" && path.ends_with("/" + vmid_ + "/config");
        if (!is_look || !was_examined_ || was_read_) return std::nullopt;
        was_read_ = true;
        return proxmox_simulator::RequestFault{
            .moment = proxmox_simulator::Moment::after_effect, .delay = 12s, .is_only_late = true};
    }
    std::optional<proxmox_simulator::TaskFault> on_task(const std::string&, const std::string&) override {
        return std::nullopt;
    }

private:
    std::string vmid_;
    std::function<void()> action_;
    bool was_examined_ = false;
    bool was_read_ = false;
};

}  // namespace

TEST_CASE("A disk that is attached while the answer to the last look comes late is not destroyed") {
    Lab lab;
    use_disk(lab);
    auto spec = lab.machine(1);
    lab.launch(spec);
    std::string disk;
    LateLook late(spec.record.machine_id, [&] { disk = attach_own_disk(lab, spec); });
    lab.simulator.cluster().faults = &late;
    const auto why = held(lab, spec);
    lab.simulator.cluster().faults = nullptr;
    CHECK(why.reason == "UnknownVolumes");
    CHECK(exists(lab, disk));
}

TEST_CASE("A disk with another ID is taken off the machine before it is destroyed") {
    Lab lab;
    use_disk(lab);
    auto spec = lab.machine(1);
    lab.launch(spec);
    const auto volume = attach_csi_volume(lab, spec);
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(exists(lab, volume));
    CHECK(lab.count("PUT", "/nodes/[a-z]+/qemu/[0-9]+/config") >= 1);
}

TEST_CASE("A machine without foreign volumes is removed with all its disks, however it was made") {
    Lab lab(test::world_with_template("shared"));
    lab.config.spec.proxmox->vmOptions = {{"scsi1", boost::json::value("local:4")},
                                          {"efidisk0", boost::json::value("local:1")}};
    api::v1alpha1::Template wish;
    wish.name = "debian";
    wish.bootDisk.sizeGiB = 20;
    test::use_template(lab, wish);
    auto spec = lab.machine(1);
    lab.launch(spec);
    const auto vmid = std::stoi(spec.record.machine_id);
    const auto host = spec.record.host;
    SECTION("as it was made") {}
    SECTION("its boot disk was detached by hand") {
        auto& config = lab.vm(spec)->config;
        config["unused0"] = config.at("scsi0").substr(0, config.at("scsi0").find(','));
        config.erase("scsi0");
    }
    SECTION("it was made by a version that recorded nothing") {
        auto& description = lab.vm(spec)->config["description"];
        const auto from = description.find(",\"volumes\":");
        REQUIRE(from != std::string::npos);
        description.erase(from, description.find(']', from) + 1 - from);
    }
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    CHECK(proxmox_simulator::owned_volumes(world_of(lab), host, vmid).empty());
}

TEST_CASE("A template that somebody attached a disk to stays, and the provider says why") {
    ImageLab lab;
    lab.settle();
    const auto [vmid, host] = *lab.templates().begin();
    const auto disk = put_volume(lab, "local", vmid, "vm-" + std::to_string(vmid) + "-disk-4.raw", host);
    world_of(lab).machines.at(vmid).config["scsi4"] = disk;
    auto* dismantler = lab.provider->capabilities().dismantler;
    std::string left = "?";
    for (int i = 0; i < 60 && lab.templates().size() > 1; ++i) {
        left = lab.run(dismantler->dismantle());
        lab.wait(5s);
    }
    for (int i = 0; i < 3; ++i) {
        left = lab.run(dismantler->dismantle());
        lab.wait(20s);
    }
    CHECK(lab.templates().size() == 1);
    CHECK_THAT(left, Contains("scsi4 " + disk));
    CHECK(exists(lab, disk, host));
}

TEST_CASE("Where volumes of others are hidden the provider says which right shows them") {
    Lab lab;
    auto& role = world_of(lab).custom_roles["KubeNodeSmith"];
    role.erase("Datastore.Allocate");
    const auto sees = lab.run(lab.provider->check());
    CHECK_THAT(sees.not_visible, !Contains("volumes of others"));
    role.erase("VM.Config.Disk");
    const auto blind = lab.run(lab.provider->check());
    CHECK_THAT(blind.not_visible, Contains("Datastore.Allocate") && Contains("VM.Config.Disk"));
}

TEST_CASE("A disk that could not be deleted with its machine is named with the command, until it is gone") {
    Lab lab;
    lab.config.spec.proxmox->vmOptions = {{"scsi0", boost::json::value("shared:8")}};
    lab.restart();
    auto spec = lab.machine(1);
    lab.launch(spec);
    auto& storage = world_of(lab).storages.at("shared");
    lab.run(lab.provider->switch_power(spec.identity, spec.record, Power::off, {}));
    lab.wait(1min);
    storage.active = false;
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    storage.active = true;
    const auto vmid = std::stoi(spec.record.machine_id);
    const auto left = proxmox_simulator::owned_volumes(world_of(lab), spec.record.host, vmid);
    REQUIRE(left.size() == 1);
    lab.restart();
    auto* finder = lab.provider->capabilities().leftover_finder;
    const auto found = lab.run(finder->leftovers()).found;
    REQUIRE(found.size() == 1);
    CHECK_THAT(found.front().message, Contains("pvesm free " + left.front()));
    proxmox_simulator::free_volume(world_of(lab), spec.record.host, left.front());
    lab.wait(1min);
    CHECK(lab.run(finder->leftovers()).found.empty());
}

TEST_CASE("A disk that an administrator moved to another storage goes with its machine") {
    Lab lab;
    use_disk(lab);
    auto spec = lab.machine(1);
    lab.launch(spec);
    auto& config = lab.vm(spec)->config;
    const auto old = config.at("scsi0").substr(0, config.at("scsi0").find(','));
    const auto vmid = std::stoi(spec.record.machine_id);
    const auto moved = put_volume(lab, "shared", vmid, "vm-" + spec.record.machine_id + "-disk-3.raw");
    config["scsi0"] = moved + ",size=8G";
    config["unused0"] = old;
    SECTION("as the task log shows") {
        auto& cluster = lab.simulator.cluster();
        auto& task = cluster.create_task(spec.record.host, "qmmove", spec.record.machine_id, "root@pam");
        task.log.push_back("create full clone of drive scsi0 (" + old + ")");
        cluster.run_task(task, [](proxmox_simulator::Task& at_work) -> asio::awaitable<void> {
            co_await at_work.spend(1s);
        }(task));
        lab.wait(5s);
        CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
        CHECK_FALSE(exists(lab, moved));
        CHECK_FALSE(exists(lab, old));
    }
    SECTION("and without a trace of the move it is somebody's") {
        CHECK(held(lab, spec).reason == "UnknownVolumes");
        CHECK(exists(lab, moved));
    }
}

TEST_CASE("A template that a person takes over while its removal is examined stays") {
    ImageLab lab;
    lab.settle();
    const auto vmid = std::to_string(lab.templates().begin()->first);
    AroundRequest takes_over(AroundRequest::When::before, "/" + vmid + "/pending",
                             [&] { lab.vm(vmid)->config["description"] = "mine now"; });
    lab.simulator.cluster().faults = &takes_over;
    auto* dismantler = lab.provider->capabilities().dismantler;
    for (int i = 0; i < 100; ++i) {
        lab.run(dismantler->dismantle());
        lab.wait(5s);
    }
    lab.simulator.cluster().faults = nullptr;
    CHECK(lab.vm(vmid));
}

TEST_CASE("A disk that somebody attaches to a template while its removal is examined stays") {
    ImageLab lab;
    lab.settle();
    const auto vmid = lab.templates().begin()->first;
    const auto id = std::to_string(vmid);
    const auto host = lab.vm(id)->node;
    const auto disk = put_volume(lab, "local", vmid, "vm-" + id + "-disk-7.raw", host);
    AroundRequest attach(AroundRequest::When::after, "/" + id + "/pending",
                         [&] { lab.vm(id)->config["scsi5"] = disk + ",size=1G"; });
    lab.simulator.cluster().faults = &attach;
    auto* dismantler = lab.provider->capabilities().dismantler;
    std::string left;
    for (int i = 0; i < 100; ++i) {
        left = lab.run(dismantler->dismantle());
        lab.wait(5s);
    }
    lab.simulator.cluster().faults = nullptr;
    CHECK(exists(lab, disk, host));
    CHECK(lab.vm(id));
    CHECK_THAT(left, Contains(disk));
}

namespace {

// Changes the first template VM that is about to be completed, after its volumes were looked at. It may have
// lost its boot disk, so that it is destroyed instead.
class HalfMadeTemplate final : public proxmox_simulator::FaultPlan {
public:
    HalfMadeTemplate(ImageLab& lab, bool has_disk, std::function<void(const std::string& vmid)> change)
        : lab_(lab), has_disk_(has_disk), change_(std::move(change)) {}

    std::optional<proxmox_simulator::RequestFault> on_request(const std::string&,
                                                              const std::string& path) override {
        if (!seen_.empty() && change_) std::exchange(change_, nullptr)(seen_);
        const auto end = path.rfind('/');
        const auto start = path.rfind('/', end - 1);
        const auto id = path.substr(start + 1, end - start - 1);
        if (path.ends_with("/config") && !has_disk_ && seen_.empty()) {
            auto& config = lab_.vm(id)->config;
            if (!config.contains("lock")) config.erase(lab_.config.spec.proxmox->template_->bootDisk.device);
        }
        if (path.ends_with("/pending") && seen_.empty()) seen_ = id;
        return std::nullopt;
    }
    std::optional<proxmox_simulator::TaskFault> on_task(const std::string&, const std::string&) override {
        return std::nullopt;
    }
    const std::string& seen() const { return seen_; }

private:
    ImageLab& lab_;
    bool has_disk_;
    std::function<void(const std::string&)> change_;
    std::string seen_;  // VMID
};

}  // namespace

TEST_CASE("A half-made template VM is looked at again before it is completed or destroyed") {
    ImageLab lab;
    std::string disk, host;
    const auto attach = [&](const std::string& id) {
        host = lab.vm(id)->node;
        disk = put_volume(lab, "local", std::stoi(id), "vm-" + id + "-disk-7.raw", host);
        lab.vm(id)->config["scsi5"] = disk + ",size=1G";
    };
    const auto take_over = [&](const std::string& id) { lab.vm(id)->config["description"] = "mine now"; };
    std::optional<HalfMadeTemplate> meanwhile;
    SECTION("a disk is attached to one that is about to be completed") {
        meanwhile.emplace(lab, true, attach);
    }
    SECTION("a disk is attached to one that is about to be destroyed") {
        meanwhile.emplace(lab, false, attach);
    }
    SECTION("a person takes over one that is about to be completed") {
        meanwhile.emplace(lab, true, take_over);
    }
    SECTION("a person takes over one that is about to be destroyed") {
        meanwhile.emplace(lab, false, take_over);
    }
    lab.simulator.cluster().faults = &*meanwhile;
    lab.settle();
    lab.simulator.cluster().faults = nullptr;
    REQUIRE_FALSE(meanwhile->seen().empty());
    const auto* vm = lab.vm(meanwhile->seen());
    REQUIRE(vm);
    CHECK_FALSE(vm->config.contains("template"));
    if (!disk.empty()) CHECK(exists(lab, disk, host));
}
