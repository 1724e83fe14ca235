// Tests names, marks and numbers of templates that are made from images.
#include "providers/proxmox/config/image.hpp"

#include <boost/json/parse.hpp>

#include "providers/proxmox/images/image_vm.hpp"
#include "providers/proxmox/images/template_remover.hpp"
#include "providers/proxmox/placement/image_sites.hpp"
#include "test/support/catch.hpp"

using namespace providers::proxmox;
using Catch::Contains;

namespace {

api::v1alpha1::Template wish_of(std::string url = "https://images.example/debian.qcow2",
                                const std::string& digits = std::string(64, 'a')) {
    api::v1alpha1::Template wish;
    wish.image = api::v1alpha1::TemplateImage{std::move(url), "sha256:" + digits, "local-lvm", ""};
    return wish;
}

Settings settings_with(api::v1alpha1::Template wish) {
    Settings settings;
    settings.cluster_id = "cluster";
    settings.provider_uid = "uid";
    wish.name = image_template_name("cluster", "uid", wish);
    settings.spec.template_ = std::move(wish);
    return settings;
}

StorageState storage(const std::string& name, const std::string& host, bool is_shared, bool takes_imports) {
    StorageState state;
    state.name = name;
    state.node = host;
    state.is_available = true;
    state.is_shared = is_shared;
    state.takes_imports = takes_imports;
    return state;
}

HostState host(const std::string& name) {
    HostState state;
    state.name = name;
    state.is_online = true;
    return state;
}

std::string described(const std::vector<ImageSite>& sites) {
    std::string text;
    for (const auto& site : sites)
        text += site.host + ":" + (site.download_storage.empty() ? "!" : site.download_storage) + " ";
    return text;
}

std::int64_t id_of(const Settings& settings, const std::set<std::int64_t>& taken) {
    return image_vmid(settings, {100, 999'999}, taken).value_or(0);
}

}  // namespace

TEST_CASE("an image is known by its checksum, its storage and its device") {
    const auto wish = wish_of();
    CHECK(image_id(wish_of("http://mirror.example/other-name.img")) == image_id(wish));
    CHECK(image_id(wish_of("https://images.example/debian.qcow2", std::string(64, 'b'))) != image_id(wish));
    auto other = wish;
    other.image->storage = "ceph";
    CHECK(image_id(other) != image_id(wish));
    other = wish;
    other.bootDisk.device = "virtio0";
    CHECK(image_id(other) != image_id(wish));
}

TEST_CASE("templates of two providers, and of one provider of two clusters, have different names") {
    const auto name = image_template_name("cluster", "uid", wish_of());
    CHECK(name.starts_with(image_template_prefix("cluster", "uid")));
    CHECK(name != image_template_name("cluster", "uid2", wish_of()));
    CHECK(name != image_template_name("cluster2", "uid", wish_of()));
    CHECK(name.size() <= 63);
    CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
}

TEST_CASE("a downloaded file has an extension that Proxmox takes") {
    const auto file = [](const std::string& url) {
        return image_file_name("cluster", "uid", *wish_of(url).image);
    };
    CHECK_THAT(file("https://images.example/a.qcow2"), Contains("-aaaaaaaaaaaa.qcow2"));
    CHECK_THAT(file("https://images.example/a.img"), Contains("-aaaaaaaaaaaa.qcow2"));
    CHECK_THAT(file("https://images.example/a.raw"), Contains("-aaaaaaaaaaaa.raw"));
}

TEST_CASE("the mark of a template is read back, among other lines, and no claim's mark is one") {
    const ImageMark mark{"cluster", "uid", "0123456789ab"};
    CHECK(parse_image_mark("mine\n" + describe_image_mark(mark) + "\nmore") == mark);
    CHECK_FALSE(parse_image_mark("mine"));
    providers::MachineIdentity identity;
    identity.cluster_id = "cluster";
    identity.provider_uid = "uid";
    identity.claim_uid = "claim";
    CHECK_FALSE(parse_image_mark(describe_mark(identity)));
    CHECK_FALSE(parse_mark(describe_image_mark(mark)));
}

TEST_CASE("a clone of a template has its mark, and is not taken for it") {
    const auto settings = settings_with(wish_of());
    const auto with = [&](std::int64_t vmid) {
        VmConfig config;
        config.options["description"] =
            describe_image_mark({"cluster", "uid", "0123456789ab", "scsi0", vmid});
        return config;
    };
    CHECK(has_image_mark(settings, with(9000), 9000));
    CHECK_FALSE(has_image_mark(settings, with(9000), 150));
    auto of_earlier_version = with(0);
    CHECK_FALSE(has_image_mark(settings, of_earlier_version, 150));
    of_earlier_version.options["template"] = "1";
    CHECK(has_image_mark(settings, of_earlier_version, 9000));
}

TEST_CASE("what is wrong with an image names its field") {
    const auto fault = [](auto change) {
        auto image = *wish_of().image;
        change(image);
        return image_fault(image);
    };
    CHECK(fault([](auto&) {}) == "");
    CHECK_THAT(fault([](auto& image) { image.url = "file:///root/a.qcow2"; }), Contains("url: "));
    CHECK_THAT(fault([](auto& image) { image.url = "https://me@images.example/a.qcow2"; }),
               Contains("without user"));
    CHECK_THAT(fault([](auto& image) { image.url = "https://images.example/a.qcow2.xz"; }),
               Contains("must end with"));
    CHECK_THAT(fault([](auto& image) { image.checksum = "md5:" + std::string(32, 'a'); }),
               Contains("checksum: "));
    CHECK_THAT(fault([](auto& image) { image.checksum = "sha512:" + std::string(64, 'a'); }),
               Contains("checksum: "));
    CHECK_THAT(fault([](auto& image) { image.storage.clear(); }), Contains("storage: "));
}

TEST_CASE("each host downloads for itself, the first that can for hosts that share the storage") {
    ClusterState state;
    state.hosts = {host("a"), host("b"), host("c")};
    for (const auto& each : state.hosts) {
        state.storages.push_back(storage("local-lvm", each.name, false, false));
        state.storages.push_back(storage("local", each.name, false, each.name != "b"));
        state.storages.push_back(storage("archive", each.name, false, each.name == "c"));
        state.storages.push_back(storage("ceph", each.name, true, false));
    }
    auto settings = settings_with(wish_of());
    CHECK(described(image_sites(settings, state)) == "a:local b:! c:archive ");
    settings.spec.template_->image->downloadStorage = "local";
    CHECK(described(image_sites(settings, state)) == "a:local b:! c:local ");
    settings.spec.nodeWhitelist = {"b", "c"};
    CHECK(described(image_sites(settings, state)) == "b:! c:local ");
    settings.spec.template_->image->storage = "ceph";
    CHECK(described(image_sites(settings, state)) == "c:local ");
    settings.spec.nodeWhitelist = {"b"};
    CHECK(described(image_sites(settings, state)) == "b:! ");
    CHECK_THAT(image_sites(settings, state).front().obstacle.remedy, Contains("downloadStorage"));
    settings.spec.nodeWhitelist.clear();
    settings.spec.placement.evacuateNodes = {"a"};
    state.hosts[2].is_online = false;
    CHECK(described(image_sites(settings, state)) == "b:! ");
}

TEST_CASE("A storage that imports VMs of ESXi takes no downloads") {
    const auto state = parse_cluster_state(boost::json::parse(R"([
        {"type": "node", "node": "a", "status": "online"},
        {"type": "storage", "storage": "esxi-old", "node": "a", "status": "available", "content": "import",
         "plugintype": "esxi", "shared": 1},
        {"type": "storage", "storage": "local", "node": "a", "status": "available", "content": "iso,import",
         "plugintype": "dir"},
        {"type": "storage", "storage": "local-lvm", "node": "a", "status": "available", "content": "images",
         "plugintype": "lvmthin"}])"));
    CHECK(described(image_sites(settings_with(wish_of()), state)) == "a:local ");
}

TEST_CASE("a template gets the highest VMID of the provider's range, or one from 9000 on") {
    auto settings = settings_with(wish_of());
    CHECK(id_of(settings, {}) == 9000);
    CHECK(id_of(settings, {9000, 9001, 9003}) == 9002);
    settings.ids = IDRange{500, 502};
    CHECK(id_of(settings, {}) == 502);
    CHECK(id_of(settings, {502}) == 501);
    CHECK(id_of(settings, {500, 501, 502}) == 0);
    settings.ids.reset();
    CHECK(image_vmid(settings, {100, 8000}, {8000}) == 100);
}

TEST_CASE("the VM of a template has the image as its disk, boots from it, and has an interface") {
    auto settings = settings_with(wish_of());
    const auto text_of_vm = [&](bool has_qcow2) {
        std::string text;
        for (const auto& [name, value] :
             image_vm_parameters(settings, 9000, "local:import/x.qcow2", has_qcow2))
            text += name + "=" + value + "\n";
        return text;
    };
    CHECK_THAT(text_of_vm(false), Contains("scsi0=local-lvm:0,import-from=local:import/x.qcow2\n") &&
                                      Contains("boot=order=scsi0\n") &&
                                      Contains("net0=virtio,bridge=vmbr0\n") && Contains(R"("image":")") &&
                                      !Contains("pool="));
    CHECK_THAT(text_of_vm(true), Contains("import-from=local:import/x.qcow2,format=qcow2\n"));
    settings.spec.networkInterfaces.push_back({"net0", "virtio", "vmbr9", std::nullopt, ""});
    settings.spec.resourcePool = "kubernetes";
    CHECK_THAT(text_of_vm(false), !Contains("net0=") && Contains("pool=kubernetes\n"));
}

TEST_CASE(
    "templates that are left over are those of other images and second ones, never a host's last hope") {
    const auto settings = settings_with(wish_of());
    const auto prefix = image_template_prefix("cluster", "uid");
    ClusterState state;
    state.hosts = {host("a"), host("b"), host("c")};
    state.hosts[2].is_online = false;
    for (const auto& each : state.hosts)
        state.storages.push_back(storage("local-lvm", each.name, false, false));
    const auto add = [&](std::int64_t vmid, const std::string& node, const std::string& name,
                         bool is_running) {
        Guest guest;
        guest.vmid = vmid;
        guest.node = node;
        guest.name = name;
        guest.is_template = !is_running;
        guest.is_running = is_running;
        state.guests.push_back(guest);
        return guest;
    };
    const auto wanted = add(101, "a", settings.spec.template_->name, false);
    add(102, "a", settings.spec.template_->name, false);
    add(103, "b", settings.spec.template_->name, false);
    add(104, "a", prefix + "0ld", false);
    add(105, "b", prefix + "0ld", false);
    add(106, "c", prefix + "0ld", false);
    add(107, "a", prefix + "run", true);
    add(108, "a", "debian", false);
    const auto ids = [&](const KeptTemplates& kept) {
        std::set<std::int64_t> found;
        for (const auto& guest : unwanted_templates(settings, state, kept)) found.insert(guest.vmid);
        return found;
    };
    CHECK(ids({{wanted}, {}}) == std::set<std::int64_t>{102, 104, 105});
    CHECK(ids({{wanted}, {"b"}}) == std::set<std::int64_t>{102, 104});
    CHECK(ids({{}, {"a", "b"}}).empty());
    CHECK(ids({}) == std::set<std::int64_t>{101, 102, 103, 104, 105});
}
