#include "providers/proxmox/config/settings.hpp"

#include <boost/json/parse.hpp>
#include <regex>

#include "providers/proxmox/cloning.hpp"
#include "providers/proxmox/cluster/grant_commands.hpp"
#include "providers/proxmox/cluster/needed_rights.hpp"
#include "providers/proxmox/config/creation.hpp"
#include "providers/proxmox/config/vm_options.hpp"
#include "providers/proxmox_setup.hpp"
#include "test/support/catch.hpp"

using namespace providers;
using namespace providers::proxmox;
using Catch::Contains;

namespace {

ProviderConfig config() {
    ProviderConfig config;
    config.namespace_ = "default";
    config.name = "lab";
    config.spec.proxmox.emplace();
    config.spec.proxmox->endpoint = "https://pve1:8006/api2/json";
    config.credentials = {{"PROXMOX_TOKEN_ID", "a@pve!k"}, {"PROXMOX_SECRET", "s3cret\n"}};
    return config;
}

std::string complaint(const ProviderConfig& config) {
    try {
        make_settings(config);
        make_client_options(config);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

std::map<std::string, std::string> parameters(const ProviderConfig& config) {
    MachineSpec spec;
    spec.identity = {
        "cluster", "provider", "default", "workers-1", "claim", 1, "AAAAAAAA-0000-5000-8000-000000000001"};
    spec.name = "workers-1";
    spec.cpu_cores = 2;
    spec.memory_mib = 2048;
    spec.record.machine_id = "105";
    const auto fields = blank_vm_parameters(make_settings(config), spec, "");
    return {fields.begin(), fields.end()};
}

}  // namespace

TEST_CASE("A good configuration gives endpoints, TLS and credentials for the client") {
    auto good = config();
    good.spec.proxmox->endpoints = {"https://pve2:8006", "https://pve1:8006/api2/json/"};
    good.credentials["PROXMOX_SKIP_TLS_VERIFY"] = "true";
    CHECK(complaint(good) == "");
    const auto options = make_client_options(good);
    CHECK(options.endpoints == std::vector<std::string>{"https://pve1:8006", "https://pve2:8006"});
    CHECK(options.tls.insecure_skip_verify);
    CHECK(options.credentials.token_secret == "s3cret");
}

TEST_CASE("What is wrong in a configuration is named by its field") {
    struct Row {
        const char* field;
        void (*spoil)(ProviderConfig&);
    };
    const Row rows[] = {
        {"spec.proxmox.endpoint", [](ProviderConfig& c) { c.spec.proxmox->endpoint = ""; }},
        {"spec.proxmox.endpoint", [](ProviderConfig& c) { c.spec.proxmox->endpoint = "pve1:8006"; }},
        {"/api2/json", [](ProviderConfig& c) { c.spec.proxmox->endpoint = "https://pve1:8006/api"; }},
        {"managedNodeTag", [](ProviderConfig& c) { c.spec.proxmox->managedNodeTag = ""; }},
        {"managedNodeTag", [](ProviderConfig& c) { c.spec.proxmox->managedNodeTag = "a b"; }},
        {"vmIDRange",
         [](ProviderConfig& c) { c.spec.proxmox->vmIDRange = api::v1alpha1::VMIDRange{200, 100}; }},
        {"PROXMOX_SECRET is missing", [](ProviderConfig& c) { c.credentials.erase("PROXMOX_SECRET"); }},
        {"PROXMOX_TOKEN_ID is missing", [](ProviderConfig& c) { c.credentials.clear(); }},
        {"user@realm!name", [](ProviderConfig& c) { c.credentials["PROXMOX_TOKEN_ID"] = "a@pve"; }},
        {"ostpye is not known", [](ProviderConfig& c) { c.spec.proxmox->vmOptions = {{"ostpye", "l26"}}; }},
        {"vmOptions: option storage is only for blank VMs; use template.storage",
         [](ProviderConfig& c) {
             c.spec.proxmox->template_.emplace().vmid = 9000;
             c.spec.proxmox->vmOptions = {{"storage", "ceph"}};
         }},
        {"vmOptions: option ha-managed is only for blank VMs",
         [](ProviderConfig& c) {
             c.spec.proxmox->template_.emplace().vmid = 9000;
             c.spec.proxmox->vmOptions = {{"ha-managed", "1"}};
         }},
        {"net32",
         [](ProviderConfig& c) {
             c.spec.proxmox->networkInterfaces = {{"net32", "virtio", "vmbr0", {}, ""}};
         }},
        {"macPrefix",
         [](ProviderConfig& c) {
             c.spec.proxmox->networkInterfaces = {{"net0", "virtio", "vmbr0", {}, "01:00"}};
         }},
        {"spec.proxmox.region",
         [](ProviderConfig& c) {
             c.spec.proxmox->providerIDFormat = api::v1alpha1::ProviderIDFormat::Region;
         }},
        {"bridge",
         [](ProviderConfig& c) { c.spec.proxmox->networkInterfaces = {{"net0", "virtio", "", {}, ""}}; }},
    };
    for (const auto& row : rows) {
        INFO(row.field);
        auto wrong = config();
        row.spoil(wrong);
        CHECK_THAT(complaint(wrong), Contains(row.field) && !Contains("s3cret"));
    }
}

TEST_CASE("A providerID is ours, or one that Proxmox' cloud controller manager reads") {
    auto by_region = config();
    by_region.spec.proxmox->region = "home-1";
    CHECK(make_settings(by_region).provider_id("lab", "105") == "proxmox://lab/vms/105");
    by_region.spec.proxmox->providerIDFormat = api::v1alpha1::ProviderIDFormat::Region;
    const auto id = make_settings(by_region).provider_id("lab", "105");
    CHECK(id == "proxmox://home-1/105");
    // The source is providerIDRegexp in pkg/provider/provider.go of
    // github.com/sergelogvinov/proxmox-cloud-controller-manager. The part after the region must be a number.
    const std::regex theirs("^proxmox://([^/]*)/([^/]+)$");
    std::smatch parts;
    REQUIRE(std::regex_match(id, parts, theirs));
    CHECK(parts[1] == "home-1");
    CHECK(std::stoi(parts[2]) == 105);
    CHECK_FALSE(std::regex_match(make_settings(config()).provider_id("lab", "105"), theirs));
}

TEST_CASE("Options are known by name and index") {
    for (const auto* name :
         {"scsi0", "scsi30", "net31", "ide3", "agent", "efidisk0", "serial0", "virtiofs9"}) {
        INFO(name);
        CHECK(is_vm_option(name));
    }
    for (const auto* name : {"scsi31", "scsi", "net01", "ide4", "disk0", "", "scsi0x"}) {
        INFO(name);
        CHECK_FALSE(is_vm_option(name));
    }
}

TEST_CASE("Values of options become what Proxmox' forms want") {
    const auto fields =
        checked_vm_options({{"onboot", true}, {"balloon", 0}, {"cpu", "host"}, {"name", "x"}});
    CHECK(fields == base::FormFields{{"balloon", "0"}, {"cpu", "host"}, {"onboot", "1"}});
    CHECK_THROWS_WITH(checked_vm_options({{"cpu", "a"}, {"cpu", "b"}}), Contains("twice"));
    CHECK_THROWS_WITH(checked_vm_options({{"lock", "backup"}}), Contains("lock"));
    CHECK_THROWS_WITH(checked_vm_options({{"cpu", boost::json::array{}}}),
                      Contains("a string, a number or a boolean"));
}

TEST_CASE("A blank VM has the user's options and, above them, ours") {
    auto with = config();
    with.spec.proxmox->vmOptions = {{"tags", "mine"}, {"smbios1", "manufacturer=x"}, {"memory", 1},
                                    {"cores", 99},    {"description", "note"},       {"net0", "e1000"},
                                    {"start", 1}};
    with.spec.proxmox->vmMemOverheadMiB = 100;
    with.spec.proxmox->networkInterfaces = {{"net0", "virtio", "vmbr1", 7, ""},
                                            {"net1", "virtio", "vmbr2", {}, "02:AA"}};
    const auto made = parameters(with);
    CHECK(made.at("vmid") == "105");
    CHECK(made.at("name") == "workers-1");
    CHECK(made.at("tags") == "kubenodesmith-managed;mine");
    CHECK(made.at("smbios1") == "manufacturer=x,uuid=aaaaaaaa-0000-5000-8000-000000000001");
    CHECK(made.at("memory") == "2148");
    CHECK(made.at("cores") == "2");
    CHECK(made.at("net0") == "virtio,bridge=vmbr1,tag=7");
    CHECK_THAT(made.at("net1"), Catch::Matches("virtio=02:AA(:[0-9A-F]{2}){4},bridge=vmbr2"));
    CHECK_THAT(made.at("description"), Catch::StartsWith("{\"kubenodesmith\":") && Catch::EndsWith("\nnote"));
    CHECK_FALSE(made.contains("start"));
}

TEST_CASE("A blank VM that is to join a resource pool gets its tags, and the mark that needs them, later") {
    auto with = config();
    with.spec.proxmox->vmOptions = {{"tags", "mine"}, {"description", "note"}};
    with.spec.proxmox->resourcePool = "kube";
    const auto made = parameters(with);
    CHECK(made.at("pool") == "kube");
    CHECK_FALSE(made.contains("tags"));
    CHECK(unfinished_vmid(made.at("description")) == 105);
    CHECK(parse_mark(made.at("description"))->claim_uid == "claim");
    const auto settings = make_settings(with);
    const auto finished = finishing_parameters(settings, VmConfig(), "local:iso/a.iso");
    CHECK(finished ==
          base::FormFields{{"ide2", "local:iso/a.iso,media=cdrom"}, {"tags", "kubenodesmith-managed;mine"}});
    CHECK_THAT(finished_description(settings, MachineIdentity(), 105, {}), Catch::EndsWith("\nnote"));
}

TEST_CASE(
    "MAC addresses that were chosen are given to interfaces of the settings, of options and of templates") {
    auto with = config();
    with.spec.proxmox->networkInterfaces = {{"net0", "virtio", "vmbr0", 12, ""}};
    with.spec.proxmox->vmOptions = {{"net1", "e1000,bridge=vmbr1"}, {"net2", "model=virtio,bridge=vmbr2"}};
    const auto settings = make_settings(with);
    std::map<std::string, std::string> options(settings.vm_options.begin(), settings.vm_options.end());
    MachineSpec spec;
    for (const auto* name : {"net0", "net1", "net2", "net3"})
        spec.mac_addresses[name] = std::string("02:00:00:00:00:0") + name[3];
    const std::map<std::string, std::string> inherited{
        {"net3", "virtio=BC:24:11:AA:BB:CC,bridge=vmbr3,firewall=1"}};
    set_network_interfaces(options, settings, spec, inherited);
    CHECK(options["net0"] == "virtio=02:00:00:00:00:00,bridge=vmbr0,tag=12");
    CHECK(options["net1"] == "e1000=02:00:00:00:00:01,bridge=vmbr1");
    CHECK(options["net2"] == "model=virtio,bridge=vmbr2,macaddr=02:00:00:00:00:02");
    CHECK(options["net3"] == "virtio=02:00:00:00:00:03,bridge=vmbr3,firewall=1");
    spec.mac_addresses["net4"] = "02:00:00:00:00:04";
    CHECK_THROWS_WITH(set_network_interfaces(options, settings, spec, inherited),
                      Catch::Contains("has no interface net4"));
}

TEST_CASE("The name of a boot image tells whose it is") {
    MachineIdentity identity;
    identity.system_uuid = "AAAA-1";
    CHECK(boot_image_name(identity) == "kubenodesmith-aaaa-1.iso");
}

TEST_CASE("Rights on a deeper path replace those from above") {
    const auto permissions = Permissions::parse(boost::json::parse(
        R"({"/": {"Sys.Audit": 1, "Sys.Console": 0}, "/vms": {"VM.Audit": 1}, "/vms/100": {"VM.PowerMgmt": 1}})"));
    CHECK(permissions.has("/nodes/pve1", "Sys.Audit"));
    CHECK_FALSE(permissions.has("/nodes/pve1", "Sys.Console"));
    CHECK(permissions.has("/", "Sys.Console"));
    CHECK(permissions.has("/vms/101", "VM.Audit"));
    CHECK_FALSE(permissions.has("/vms/100", "VM.Audit"));
    CHECK_FALSE(permissions.has("/vms/101", "Sys.Audit"));
}

TEST_CASE("Commands that grant rights repeat what is there, and hold nothing that a shell would obey") {
    const auto permissions =
        Permissions::parse(boost::json::parse(R"({"/": {"Datastore.Audit": 1, "Sys.Console": 0}})"));
    CHECK(
        grant_commands("kube@pve!node", permissions,
                       {{"/storage/nas.lan", "Datastore.Allocate", "to delete"}}) ==
        "pveum role add KubeNodeSmith-kube-pve-node-storage-nas-lan 2>/dev/null; pveum role modify "
        "KubeNodeSmith-kube-pve-node-storage-nas-lan --append 1 -privs 'Datastore.Allocate Datastore.Audit' "
        "&& pveum acl modify /storage/nas.lan --roles KubeNodeSmith-kube-pve-node-storage-nas-lan --tokens "
        "'kube@pve!node' (for a token that was made with --privsep 0, see pveum user token list kube@pve: "
        "--users kube@pve instead of --tokens 'kube@pve!node'; for any other, kube@pve must have these "
        "rights, "
        "too)");
    // A user who logs in with a password has all rights that are visible.
    CHECK_THAT(grant_commands("kube@pve", permissions, {{"/vms", "VM.Audit", ""}}),
               Catch::EndsWith("--roles KubeNodeSmith-kube-pve-vms --users kube@pve"));
    CHECK(grant_commands("kube@pve!node", permissions, {{"/storage/x;reboot", "Datastore.Allocate", ""}})
              .empty());
    CHECK(grant_commands("kube@pve'`", permissions, {{"/vms", "VM.Audit", ""}}).empty());
    CHECK(grant_commands("kube@pve!node", permissions, {}).empty());
    std::vector<MissingPrivilege> many;
    for (int i = 0; i < 6; ++i) many.push_back({"/vms/" + std::to_string(i), "VM.Clone", ""});
    CHECK_THAT(grant_commands("kube@pve!node", permissions, many),
               Contains("; and the same for 2 more paths"));
}

TEST_CASE("No role of granting commands is shared by two users, whose rights it would join") {
    const auto of_alice = Permissions::parse(boost::json::parse(R"({"/vms": {"Permissions.Modify": 1}})"));
    const std::vector<MissingPrivilege> missing{{"/vms", "VM.Audit", ""}};
    CHECK_THAT(grant_commands("alice@pam!kns", of_alice, missing),
               Contains("--roles KubeNodeSmith-alice-pam-kns-vms "));
    CHECK_THAT(grant_commands("bob@pve!kns", Permissions(), missing),
               Contains("--roles KubeNodeSmith-bob-pve-kns-vms ") && !Contains("KubeNodeSmith-vms"));
}

TEST_CASE("Boot images for clones of a template with a cloud-init drive need the right to take that away") {
    const auto settings = make_settings(config());
    TemplateParts parts;
    CHECK_THAT(list_text(missing_image_privileges(settings, Permissions(), "local", {parts})),
               !Contains("VM.Config.Cloudinit"));
    parts.has_cloud_init_drive = true;
    CHECK_THAT(list_text(missing_image_privileges(settings, Permissions(), "local", {parts})),
               Contains("VM.Config.Cloudinit on /vms (to take the template's cloud-init drive away)"));
}

TEST_CASE("Before Proxmox VE 9 guest agents need VM.Monitor, which later versions do not know") {
    const auto settings = make_settings(config());
    CHECK(list_text(missing_agent_privileges(settings, Permissions(), 8)) ==
          "VM.Monitor on /vms (to join machines through their guest agents)");
    for (const int version : {0, 9})
        CHECK_THAT(list_text(missing_agent_privileges(settings, Permissions(), version)),
                   Contains("VM.GuestAgent.Audit") && !Contains("VM.Monitor"));
}

TEST_CASE("What a configuration needs decides which privileges are missed") {
    auto with = config();
    with.spec.proxmox->vmOptions = {{"scsi0", "ceph:10"}, {"ciuser", "x"}};
    with.spec.proxmox->networkInterfaces = {{"net0", "virtio", "vmbr0", {}, ""}};
    const auto missing =
        list_text(missing_privileges(make_settings(with), Permissions(), {.major_version = 9}));
    for (const auto* part :
         {"VM.Allocate on /vms", "Datastore.AllocateSpace on /storage/ceph", "VM.Config.Cloudinit on /vms",
          "VM.Config.Network on /vms", "SDN.Use on /sdn/zones/localnetwork/vmbr0", "Sys.Audit on /nodes"}) {
        CHECK_THAT(missing, Contains(part));
    }
    CHECK_THAT(list_text(missing_privileges(make_settings(with), Permissions(), {.major_version = 7})),
               !Contains("SDN.Use"));
    with.spec.proxmox->vmOptions = {{"startup", "order=1"},
                                    {"hostpci0", "mapping=gpu,pcie=1"},
                                    {"usb1", "mapping=key"},
                                    {"usb2", "spice"}};
    CHECK_THAT(list_text(missing_privileges(make_settings(with), Permissions(), {.major_version = 9})),
               Contains("Sys.Modify on / (for startup in vmOptions)") &&
                   Contains("Mapping.Use on /mapping/pci/gpu") &&
                   Contains("Mapping.Use on /mapping/usb/key"));
    with.spec.proxmox->resourcePool = "kube";
    CHECK_THAT(list_text(missing_privileges(make_settings(with), Permissions(), {.major_version = 9})),
               Contains("VM.Allocate on /pool/kube"));
}

namespace {

// The rights that the commands give, as Proxmox then answers for the token.
Permissions given_by(const std::string& commands) {
    std::map<std::string, std::vector<std::string>> roles;
    boost::json::object paths;
    std::istringstream lines(commands);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string pveum, kind, verb, name, flag;
        words >> pveum >> kind >> verb >> name >> flag;
        if (kind == "role") {
            const auto list = line.substr(line.find('\'') + 1, line.rfind('\'') - line.find('\'') - 1);
            std::istringstream privileges(list);
            for (std::string privilege; privileges >> privilege;) roles[name].push_back(privilege);
        } else if (kind == "acl") {
            std::string role;
            words >> role;
            boost::json::object rights;
            for (const auto& privilege : roles.at(role)) rights[privilege] = 1;
            paths[name] = std::move(rights);
        }
    }
    return Permissions::parse(paths);
}

}  // namespace

TEST_CASE("The commands of setup give a token what its machines need, and it lacks nothing then") {
    ProxmoxSetup wish;
    wish.disk_storages = {"local-lvm", "nas"};
    wish.image_storages = {"local"};
    wish.bridges = {"vmbr0"};
    wish.templates = {9000};
    wish.through_guest_agent = GENERATE(false, true);
    const auto commands = proxmox_setup_commands(wish);
    CHECK_THAT(commands,
               Catch::Contains("pveum pool add kubernetes\n") &&
                   Catch::Contains("pveum user add kubenodesmith@pve\n") &&
                   Catch::EndsWith("pveum user token add kubenodesmith@pve operator --privsep 0\n"));
    CHECK_THAT(commands, !Catch::Contains("Sys.Modify") && !Catch::Contains("Permissions.Modify") &&
                             !Catch::Contains("acl modify / "));
    const auto permissions = given_by(commands);
    auto with = config();
    with.spec.proxmox->resourcePool = "kubernetes";
    with.spec.proxmox->networkInterfaces = {{"net0", "virtio", "vmbr0", 12, ""}};
    with.spec.proxmox->template_.emplace().vmid = 9000;
    with.spec.proxmox->cloudInit.emplace();
    const auto settings = make_settings(with);
    Surroundings surroundings;
    surroundings.major_version = 9;
    TemplateParts parts;
    parts.vmid = 9000;
    parts.disk_storages = {"nas"};
    surroundings.templates = {parts};
    surroundings.hosts = {"pve1"};
    CHECK(missing_privileges(settings, permissions, surroundings).empty());
    CHECK(missing_image_privileges(settings, permissions, "local").empty());
    CHECK(missing_agent_privileges(settings, permissions, 9).empty() == wish.through_guest_agent);
}

TEST_CASE("Setup writes no command with a name that a shell would obey, or that is not enough") {
    ProxmoxSetup wish;
    CHECK_THROWS_WITH(proxmox_setup_commands(wish), Catch::Contains("no storage"));
    wish.disk_storages = {"local"};
    CHECK_THROWS_WITH(proxmox_setup_commands(wish), Catch::Contains("name a template"));
    wish.templates = {9000};
    CHECK_NOTHROW(proxmox_setup_commands(wish));
    wish.bridges = {"vmbr0; reboot"};
    CHECK_THROWS_WITH(proxmox_setup_commands(wish), Catch::Contains("is no name in Proxmox"));
    wish.bridges = {};
    wish.user = "root";
    CHECK_THROWS_WITH(proxmox_setup_commands(wish), Catch::Contains("names no realm"));
}
