#include "operator/commands/setup_objects.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <charconv>
#include <functional>
#include <string_view>

#include "api/names.hpp"
#include "base/text.hpp"
#include "operator/command_line/references.hpp"
#include "operator/command_line/suggestions.hpp"
#include "operator/command_line/table.hpp"

namespace kubenodesmith {
namespace {

namespace json = boost::json;
using providers::ProxmoxSetup;
using providers::ProxmoxSite;

constexpr const char* kDisks = "images";
constexpr std::int64_t kMiBPerGiB = 1024;

struct StorageNeed {
    const char* flag;
    const char* content;
    const char* purpose;
    bool prefers_local;  // "local" is where Proxmox itself puts such files
};

std::string text_of(const ProxmoxSite::SiteStorage& storage) {
    return storage.name + " (" + storage.type + ", " + std::to_string(storage.free_mib / kMiBPerGiB) +
           " GiB free)";
}

std::vector<const ProxmoxSite::SiteStorage*> storages_for(const ProxmoxSite& site, const char* content) {
    std::vector<const ProxmoxSite::SiteStorage*> all;
    for (const auto& storage : site.storages)
        if (storage.content.contains(content)) all.push_back(&storage);
    return all;
}

void check_storage(const std::string& name, const StorageNeed& need, const ProxmoxSite& site) {
    std::vector<std::string> known;
    for (const auto* storage : storages_for(site, need.content)) known.push_back(storage->name);
    if (std::ranges::find(known, name) != known.end()) return;
    throw UsageError(std::string(need.flag) + " " + name + ": no available storage of that name takes " +
                     need.purpose + " (content " + need.content + ")" +
                     (known.empty() ? "" : "; there are " + base::joined(known)) + did_you_mean(name, known));
}

void choose_storage(std::vector<std::string>& wanted, const StorageNeed& need, const ProxmoxSite& site) {
    for (const auto& name : wanted) check_storage(name, need, site);
    if (!wanted.empty()) return;
    const auto candidates = storages_for(site, need.content);
    if (candidates.empty())
        throw UsageError(std::string("no available storage takes ") + need.purpose + ": add " + need.content +
                         " to the contents of one, as root on a host: pvesm set STORAGE --content LIST");
    const auto local = std::ranges::find(candidates, "local", &ProxmoxSite::SiteStorage::name);
    if (candidates.size() > 1 && !(need.prefers_local && local != candidates.end()))
        throw UsageError(
            std::string("several storages take ") + need.purpose + ": choose one with " + need.flag + ": " +
            base::joined(candidates, ", ", [](const auto* storage) { return text_of(*storage); }));
    wanted = {candidates.size() == 1 ? candidates.front()->name : (*local)->name};
}

std::set<std::string> bridges_of_all_hosts(const ProxmoxSite& site) {
    std::set<std::string> common;
    bool is_first = true;
    for (const auto& host : site.hosts) {
        if (!host.is_online) continue;
        if (is_first) common = host.bridges;
        std::erase_if(common, [&](const std::string& bridge) { return !host.bridges.contains(bridge); });
        is_first = false;
    }
    return common;
}

// Clones have the interfaces of their template, so only machines of an image need a bridge.
void choose_bridge(ProxmoxSetup& wish, const ProxmoxSite& site, bool is_needed) {
    for (const auto& bridge : wish.bridges) {
        const auto has = [&](const ProxmoxSite::SiteHost& host) { return host.bridges.contains(bridge); };
        if (std::ranges::none_of(site.hosts, has))
            throw UsageError("--bridge " + bridge + ": no online host has it; all have " +
                             base::joined(bridges_of_all_hosts(site)));
    }
    if (!wish.bridges.empty() || !is_needed) return;
    const auto common = bridges_of_all_hosts(site);
    if (common.contains("vmbr0"))
        wish.bridges = {"vmbr0"};
    else if (common.size() == 1)
        wish.bridges = {*common.begin()};
    else
        throw UsageError(common.empty() ? "the hosts have no common bridge: choose with --bridge"
                                        : "choose a bridge with --bridge: " + base::joined(common));
}

std::string templates_text(const ProxmoxSite& site) {
    if (site.templates.empty()) return "there is no template";
    return "found " + base::joined(site.templates, ", ", [](const ProxmoxSite::SiteTemplate& each) {
               return std::to_string(each.vmid) + " " + each.name + " on " + each.host;
           });
}

json::object document(const char* api_version, const char* kind, const std::string& name,
                      const SetupObjects& objects) {
    return {{"apiVersion", api_version},
            {"kind", kind},
            {"metadata", json::object{{"name", name}, {"namespace", objects.namespace_}}}};
}

json::object ours(const char* kind, const std::string& name, const SetupObjects& objects) {
    static const std::string version = std::string(api::kGroup) + "/v1alpha1";
    return document(version.c_str(), kind, name, objects);
}

json::object range_of(const std::string& text) {
    const auto dash = text.find('-');
    const auto number = [](std::string_view part) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        return error == std::errc{} && end == part.data() + part.size() ? value : 0;
    };
    const auto lower = number(text.substr(0, dash));
    const auto upper = dash == std::string::npos ? 0 : number(text.substr(dash + 1));
    if (lower < 100 || upper < lower)
        throw UsageError("--vmid-range \"" + text +
                         "\" is not a range: give one such as 5000-5099, from 100 on");
    return {{"lower", lower}, {"upper", upper}};
}

json::object template_of(const SetupObjects& objects, const ProxmoxSetup& wish) {
    json::object source;
    if (!objects.image_url.empty()) {
        source["image"] = json::object{{"url", objects.image_url},
                                       {"checksum", objects.image_checksum},
                                       {"storage", wish.disk_storages.front()},
                                       {"downloadStorage", wish.download_storages.front()}};
        source["bootDisk"] = json::object{{"sizeGiB", objects.boot_disk_gib}};
        return source;
    }
    source["vmid"] = wish.templates.front();
    if (!wish.disk_storages.empty()) source["storage"] = wish.disk_storages.front();
    return source;
}

}  // namespace

ProxmoxSetup chosen_setup(ProxmoxSetup wish, const ProxmoxSite& site, const SetupObjects& objects) {
    const bool is_image = !objects.image_url.empty();
    if (is_image == !wish.templates.empty())
        throw UsageError("machines are made from a template or an image: give --template VMID (" +
                         templates_text(site) + "), or --image URL with --checksum");
    if (is_image && objects.image_checksum.empty())
        throw UsageError("--image needs --checksum, such as sha512:...: the hosts verify what they download");
    if (wish.templates.size() > 1)
        throw UsageError(
            "a provider can name only one template by VMID: give one --template; for several, name them in "
            "spec.proxmox.template by name or tags");
    wish.major_version = site.major_version;
    wish.through_guest_agent = objects.join == "GuestAgent";
    constexpr StorageNeed kDisk{"--storage", kDisks, "disks of machines", false};
    for (const auto& name : wish.disk_storages) check_storage(name, kDisk, site);
    // The clones of a template have their disks on its storage.
    if (is_image) choose_storage(wish.disk_storages, kDisk, site);
    if (is_image)
        choose_storage(wish.download_storages, {"--download-storage", "import", "downloaded images", true},
                       site);
    if (objects.join == "CloudInit")
        choose_storage(wish.image_storages, {"--image-storage", "iso", "boot images", true}, site);
    else
        wish.image_storages.clear();
    choose_bridge(wish, site, is_image);
    return wish;
}

std::string describe(const ProxmoxSite& site) {
    std::string text = "Proxmox VE " + site.version +
                       (site.cluster.empty() ? std::string() : " (" + site.cluster + ")") + "\n\n";
    Table hosts({"HOST", "STATUS", "CPUS", "MEMORY", "BRIDGES"});
    for (const auto& host : site.hosts)
        hosts.add({host.name, host.is_online ? "online" : "offline", std::to_string(host.cpus),
                   std::to_string(host.memory_mib / kMiBPerGiB) + " GiB", base::joined(host.bridges)});
    Table storages({"STORAGE", "TYPE", "SHARED", "CONTENT", "FREE"});
    for (const auto& storage : site.storages)
        storages.add({storage.name, storage.type, storage.is_shared ? "yes" : "no",
                      base::joined(storage.content, ","),
                      std::to_string(storage.free_mib / kMiBPerGiB) + " GiB"});
    text += hosts.str() + "\n" + storages.str() + "\n";
    if (site.templates.empty()) return text + "No template.\n";
    Table templates({"TEMPLATE", "NAME", "HOST"});
    for (const auto& each : site.templates) templates.add({std::to_string(each.vmid), each.name, each.host});
    return text + templates.str();
}

json::object secret_of(const SetupObjects& objects, const std::string& token_id,
                       const std::string& token_secret) {
    auto made = document("v1", "Secret", objects.secret, objects);
    made["stringData"] = json::object{{"PROXMOX_TOKEN_ID", token_id}, {"PROXMOX_SECRET", token_secret}};
    return made;
}

json::object provider_of(const SetupObjects& objects, const ProxmoxSetup& wish, const std::string& endpoint,
                         json::object tls) {
    json::object proxmox{{"endpoint", endpoint}};
    if (!tls.empty()) proxmox["tls"] = std::move(tls);
    if (!wish.resource_pool.empty()) proxmox["resourcePool"] = wish.resource_pool;
    if (!objects.vmid_range.empty()) proxmox["vmIDRange"] = range_of(objects.vmid_range);
    json::array interfaces;
    for (const auto& bridge : wish.bridges)
        interfaces.push_back(
            {{"name", "net" + std::to_string(interfaces.size())}, {"model", "virtio"}, {"bridge", bridge}});
    if (!interfaces.empty()) proxmox["networkInterfaces"] = std::move(interfaces);
    if (!objects.image_url.empty())
        proxmox["vmOptions"] = json::array{json::object{{"name", "agent"}, {"value", 1}}};
    proxmox["template"] = template_of(objects, wish);
    if (objects.join == "CloudInit") {
        json::object cloud_init{{"isoStorage", wish.image_storages.front()}};
        if (!objects.user_data_secret.empty())
            cloud_init["userDataSecretRef"] =
                json::object{{"name", objects.user_data_secret}, {"key", "user-data"}};
        proxmox["cloudInit"] = std::move(cloud_init);
    }
    auto made = ours("NodeSmithProvider", objects.provider, objects);
    made["spec"] = json::object{{"type", "proxmox"},
                                {"credentialsSecretRef", json::object{{"name", objects.secret}}},
                                {"proxmox", std::move(proxmox)}};
    return made;
}

json::object pool_of(const SetupObjects& objects) {
    json::object bootstrap{{"method", objects.join}};
    if (!objects.format.empty()) bootstrap["format"] = objects.format;
    if (!objects.api_server.empty()) bootstrap["apiServerEndpoint"] = objects.api_server;
    const json::object flexible{{"cpuCores", json::object{{"min", 2}, {"max", 4}}},
                                {"memoryMiB", json::object{{"min", 2048}, {"max", 8192}, {"step", 1024}}}};
    auto made = ours("NodeSmithPool", objects.pool, objects);
    made["spec"] = json::object{{"providerRef", objects.provider},
                                {"limits", json::object{{"maxNodes", objects.max_nodes}}},
                                {"machineTemplate", json::object{{"flexible", flexible}}},
                                {"bootstrap", std::move(bootstrap)}};
    return made;
}

}  // namespace kubenodesmith
