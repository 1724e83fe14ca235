// Tests templates that are made from an image, without any manual work on the cluster.
#include "test/component/proxmox/image_lab.hpp"

using namespace providers;
using namespace std::chrono_literals;
using Catch::Contains;
using proxmox_simulator::Moment;
using proxmox_simulator::RequestFault;
using test::ImageLab;

namespace {

constexpr const char* kDownloads = "/nodes/[a-z]+/storage/[a-z]+/download-url";

std::vector<std::string> hosts_of(const std::map<int, std::string>& templates) {
    std::vector<std::string> hosts;
    hosts.reserve(templates.size());
    for (const auto& [vmid, host] : templates) hosts.push_back(host);
    std::ranges::sort(hosts);
    return hosts;
}

using Names = std::vector<std::string>;
const Names kAllHosts{"alfaromeo", "porsche", "zagato"};

void expect_one_template_per_host(ImageLab& lab) {
    CHECK(hosts_of(lab.templates()) == kAllHosts);
    CHECK(lab.unfinished() == 0);
    CHECK(lab.files().empty());
    CHECK(lab.usable_hosts() == "alfaromeo porsche zagato");
}

}  // namespace

TEST_CASE("Each host makes its own template of the image, and machines are cloned from it") {
    ImageLab lab;
    const auto first = lab.check();
    CHECK(first.template_reason == "ImagePreparing");
    CHECK_THAT(first.template_message, Contains(test::kImageUrl));
    CHECK(first.credentials_ok);
    CHECK(first.look_again_after > 0s);
    CHECK(lab.usable_hosts() == "");
    CHECK_THAT(lab.why_not("porsche"), Contains("is being downloaded"));

    const auto health = lab.settle();
    CHECK(health.template_reason == "");
    CHECK(health.boot_disk_gib == 3);
    CHECK(health.template_revisions.size() == 3);
    expect_one_template_per_host(lab);
    for (const auto& [vmid, host] : lab.templates()) {
        const auto& config = lab.world().machines.at(vmid).config;
        CHECK_THAT(config.at("description"), Contains(R"("image":")"));
        CHECK_THAT(config.at("scsi0"), Contains("base-") && Contains("size=3G"));
        CHECK(vmid >= 1000);
        CHECK(vmid <= 1999);
    }

    auto spec = lab.machine(1);
    CHECK(lab.step(spec).template_revision.starts_with("image-"));
    lab.launch(spec);
    CHECK_THAT(lab.vm(spec)->config.at("scsi0"), Contains("base-"));
    CHECK_THAT(lab.vm(spec)->config.at("description"), Contains(R"("claim":)"));
    CHECK_THAT(lab.vm(spec)->config.at("net0"), Contains("bridge=vmbr0"));
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    expect_one_template_per_host(lab);
}

TEST_CASE("Hosts that share the storage share one template") {
    ImageLab lab("shared");
    const auto health = lab.settle();
    CHECK(health.template_reason == "");
    CHECK(hosts_of(lab.templates()) == Names{"alfaromeo"});
    CHECK(lab.count("POST", kDownloads) == 1);
    CHECK(lab.usable_hosts() == "alfaromeo porsche zagato");
    lab.config.spec.proxmox->nodeWhitelist = {"porsche"};
    lab.restart();
    lab.settle();
    CHECK(hosts_of(lab.templates()) == Names{"alfaromeo"});
    auto spec = lab.machine(1);
    CHECK(lab.launch(spec).record.host == "porsche");
}

TEST_CASE(
    "The shared template of a host that stays away is made anew elsewhere, and one of the two goes later") {
    ImageLab lab("shared");
    lab.settle();
    lab.simulator.cluster().power_off_host("alfaromeo");
    lab.wait(1min);
    lab.check();
    lab.wait(5min);
    lab.check();
    CHECK(lab.templates().size() == 1);
    lab.wait(6min);
    lab.settle();
    CHECK(hosts_of(lab.templates()) == Names{"alfaromeo", "porsche"});
    CHECK(lab.usable_hosts() == "porsche zagato");
    lab.simulator.cluster().power_on_host("alfaromeo");
    lab.wait(1min);
    lab.settle();
    CHECK(lab.templates().size() == 1);
}

TEST_CASE("The operator dies after any look, and each host has one template in the end") {
    for (int death = 0; death < 14; ++death) {
        INFO("dies after look " << death);
        ImageLab lab;
        for (int look = 0; look <= death; ++look) {
            const auto health = lab.check();
            if (look < death) lab.wait(std::max<base::Duration>(health.look_again_after, 1ms));
        }
        lab.restart();
        INFO(lab.settle().template_message << ", " << lab.why_not("porsche"));
        expect_one_template_per_host(lab);
    }
}

TEST_CASE("An answer that is lost is read back, and no template is made twice") {
    for (const auto* path : {kDownloads, "/nodes/[^/]+/qemu", "/nodes/[^/]+/qemu/\\d+/template",
                             "/nodes/[^/]+/storage/local/content/.*"}) {
        for (const auto moment : {Moment::before_effect, Moment::after_effect}) {
            INFO(path << (moment == Moment::before_effect ? " before" : " after"));
            ImageLab lab;
            RequestFault fault;
            fault.moment = moment;
            fault.lose_connection = true;
            lab.simulator.faults().add("POST|DELETE", path, fault);
            lab.settle();
            expect_one_template_per_host(lab);
        }
    }
}

TEST_CASE("An image that is not there is told of, and made once it is") {
    ImageLab lab;
    const auto file = lab.world().web.extract(test::kImageUrl);
    const auto refused = lab.settle(1min);
    CHECK(refused.template_reason == "ImageFailed");
    CHECK_THAT(refused.template_message, Contains("porsche: ") && Contains("Connection refused"));
    CHECK_THAT(lab.why_not("zagato"), Contains("Connection refused"));

    lab.world().web["https://images.example/other.qcow2"] = {"other", 1};
    const auto missing = lab.settle(20min);
    CHECK_THAT(missing.template_message, Contains("ERROR 404: Not Found") && !Contains("2027"));
    CHECK(lab.count("POST", kDownloads) < 50);

    lab.world().web[test::kImageUrl] = file.mapped();
    CHECK(lab.settle(15min).template_reason == "");
    expect_one_template_per_host(lab);
}

TEST_CASE("A file with another checksum makes no template") {
    ImageLab lab;
    lab.world().web.at(test::kImageUrl).data = "somebody else's";
    const auto health = lab.settle(1min);
    CHECK(health.template_reason == "ImageFailed");
    CHECK_THAT(health.template_message, Contains("checksum mismatch"));
    CHECK(lab.templates().empty());
    CHECK(lab.unfinished() == 0);
    CHECK(lab.files().empty());
}

TEST_CASE("What lies there under the name of the image and is none is replaced") {
    ImageLab lab;
    lab.settle();
    const auto name = lab.templates().begin()->second;
    // The other lab shows the file's name while the file exists.
    ImageLab other;
    other.check();
    other.wait(1s);
    const auto files = other.files();
    REQUIRE(files.size() == 3);
    const auto file = files.front().substr(files.front().find("import/"));

    ImageLab spoiled;
    proxmox_simulator::Volume volume;
    volume.name = file;
    volume.content = "import";
    volume.format = "qcow2";
    volume.data = "half of it";
    spoiled.world().storages.at("local").volumes["porsche"][file] = volume;
    CHECK(spoiled.settle(5min).template_reason == "");
    expect_one_template_per_host(spoiled);
}

TEST_CASE("A host that cannot make its template keeps no other from being used, and says why") {
    auto world = test::world_with_image();
    auto& local = world.storages.at("local");
    local.foreign_used["porsche"] = local.total;
    ImageLab lab("local", std::move(world));
    const auto health = lab.settle(1min);
    CHECK(health.template_reason == "");
    CHECK(lab.usable_hosts() == "alfaromeo zagato");
    CHECK_THAT(lab.why_not("porsche"), Contains("No space left on device"));
    CHECK(health.look_again_after > 0s);
}

TEST_CASE("Without a storage for downloads the remedy is told, and nothing is changed") {
    auto world = test::world_with_image();
    for (auto& [id, storage] : world.storages) storage.content.erase("import");
    ImageLab lab("local", std::move(world));
    const auto health = lab.settle(1min);
    CHECK(health.template_reason == "ImageFailed");
    CHECK_THAT(health.template_message, Contains("content type import") && Contains("8.4"));
    CHECK(lab.count("POST", ".*") == 0);
}

TEST_CASE("What died out of sight on its way to a template is told of, also after a restart") {
    ImageLab lab("local", test::with_pool_rights_alone(test::world_with_image()));
    test::use_pool(lab);
    lab.simulator.faults().add_task("qmcreate", ".*", {proxmox_simulator::TaskTrouble::die, ""});
    lab.settle();
    CHECK(lab.templates().size() == 3);
    const bool is_restarted = GENERATE(false, true);
    if (is_restarted) lab.restart();
    const auto found = test::leftovers(lab);
    REQUIRE(found.size() == 1);
    const auto& record = found[0].record;
    CHECK(lab.world().machines.at(std::stoi(record.machine_id)).config.contains("lock"));
    CHECK_THAT(found[0].message, Contains("qm unlock " + record.machine_id));
}

TEST_CASE("Another checksum is another template; the old one goes when no machine is linked to it") {
    ImageLab lab;
    const auto before = lab.settle().template_revisions;
    const auto old = lab.templates();
    auto spec = lab.machine(1);
    const auto host = lab.launch(spec).record.host;
    lab.publish("debian 12.9");
    CHECK(lab.check().template_reason == "ImagePreparing");
    CHECK(lab.templates() == old);
    const auto after = lab.settle(3min);
    CHECK(after.template_reason == "");
    CHECK(after.template_revisions != before);
    // These are the template of the machine's linked disk, and the new ones.
    CHECK(lab.templates().size() == 4);
    CHECK(lab.vm(spec)->running);
    for (const auto& task : lab.simulator.cluster().tasks.all()) CHECK(task->exit_status == "OK");
    for (const auto& [vmid, node] : lab.templates()) {
        if (old.contains(vmid)) CHECK(node == host);
    }
    CHECK(std::holds_alternative<Gone>(lab.destroy(spec)));
    lab.settle(2h);
    expect_one_template_per_host(lab);
    for (const auto& [vmid, node] : lab.templates()) CHECK(!old.contains(vmid));
}

TEST_CASE("The old templates stay while the new image cannot be had") {
    ImageLab lab;
    lab.settle();
    const auto old = lab.templates();
    lab.image().checksum = test::sha256_of("not published yet");
    lab.restart();
    CHECK(lab.settle(2min).template_reason == "ImageFailed");
    CHECK(lab.templates() == old);
    lab.publish("debian 12.8");
    CHECK(lab.check().template_reason == "");
    CHECK(lab.templates() == old);
}

TEST_CASE("The same file at another place is the same image") {
    ImageLab lab;
    lab.settle();
    const auto old = lab.templates();
    lab.image().url = "https://mirror.example/debian-12.qcow2";
    lab.restart();
    CHECK(lab.settle().template_reason == "");
    CHECK(lab.templates() == old);
}
