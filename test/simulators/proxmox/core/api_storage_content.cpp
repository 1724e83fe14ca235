// Endpoints for the content of a storage: listing, upload, download, deletion.
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>

#include "test/simulators/proxmox/core/access.hpp"
#include "test/simulators/proxmox/core/formats.hpp"
#include "test/simulators/proxmox/core/router.hpp"
#include "test/simulators/proxmox/core/text.hpp"
#include "test/simulators/proxmox/core/volumes.hpp"

namespace proxmox_simulator {
namespace {

constexpr Duration kDeletionPoll = std::chrono::seconds{1};

json::object describe(const std::string& storage, const Volume& volume) {
    json::object entry{{"volid", print_volume_id(storage, volume)},
                       {"content", volume.content},
                       {"format", volume.format},
                       {"size", volume.size},
                       {"ctime", volume.created}};
    if (volume.vmid) {
        entry["vmid"] = *volume.vmid;
        entry["used"] = volume.used;
        entry["parent"] = nullptr;
        if (!volume.parent.empty()) entry["parent"] = "../" + volume.parent;
    }
    return entry;
}

// Reports whether the caller may see the volume. A snippet may run as root on a host, so it needs more rights
// than an ISO. A disk is visible to each caller that may configure disks of the VM with its ID. That VM need
// not exist.
bool may_see(Call& call, const std::string& storage, const Volume& volume) {
    const auto& world = call.cluster.world;
    auto path = "/storage/" + storage;
    if (has_any(world, call.user, path, {"Datastore.Allocate"})) return true;
    if (volume.content == "images" && volume.vmid)
        return has_any(world, call.user, path, {"Datastore.Audit"}) &&
               has_any(world, call.user, "/vms/" + std::to_string(*volume.vmid), {"VM.Config.Disk"});
    if (volume.content == "snippets") return false;
    return has_any(world, call.user, path, {"Datastore.Audit", "Datastore.AllocateSpace"});
}

asio::awaitable<json::value> list_content(Call& call) {
    auto id = call.text("storage");
    auto& storage = usable_storage(call.cluster.world, id, call.node);
    json::array result;
    for (const auto& [name, volume] : volumes_on(storage, call.node)) {
        if (call.has("content") && volume.content != call.text("content")) continue;
        if (call.has("vmid") && volume.vmid != call.vmid()) continue;
        if (may_see(call, id, volume)) result.push_back(describe(id, volume));
    }
    co_return result;
}

std::string volume_id(const Call& call) {
    auto volume = call.text("volume");
    auto storage = call.text("storage");
    auto colon = volume.find(':');
    if (colon == std::string::npos) return storage + ":" + volume;
    if (volume.substr(0, colon) != storage) {
        throw parameter_error("volume",
                              "storage ID mismatch (" + volume.substr(0, colon) + " != " + storage + ")\n");
    }
    return volume;
}

asio::awaitable<json::value> get_volume(Call& call) {
    auto id = volume_id(call);
    auto* volume = find_volume(call.cluster.world, call.node, id);
    if (!volume) throw failure("volume_size_info on '" + id + "' failed - no format");
    if (!may_see(call, call.text("storage"), *volume))
        throw permission_denied("/storage/" + call.text("storage") + ", Datastore.Allocate");
    const auto& storage = find_storage(call.cluster.world, call.text("storage"));
    co_return json::object{{"path", volume_path(storage, *volume)},
                           {"size", volume->size},
                           {"used", volume->used},
                           {"format", volume->format}};
}

asio::awaitable<void> remove_volume(Cluster& cluster, Task& task, std::string node, std::string id) {
    auto lock = co_await cluster.locks.acquire(storage_lock(cluster.world, parse_volume_id(id).storage, node),
                                               LockMode::exclusive, kLockTimeout, [&task] { task.check(); });
    co_await task.spend(cluster.world.durations.of_task("imgdel"));
    if (!free_volume(cluster.world, node, id)) {
        throw failure("unlink '" + id + "' failed - No such file or directory");
    }
    task.log.push_back("Removed volume '" + id + "'");
}

asio::awaitable<json::value> delete_volume(Call& call) {
    auto id = volume_id(call);
    auto storage = call.text("storage");
    usable_storage(call.cluster.world, storage, call.node);
    call.require("/storage/" + storage, "Datastore.Allocate");
    const auto* volume = find_volume(call.cluster.world, call.node, id);
    auto owner = volume && volume->vmid ? std::to_string(*volume->vmid) + "@" : std::string();
    auto& task = call.cluster.create_task(call.node, "imgdel", owner + storage, call.user);
    auto upid = call.cluster.run_task(task, remove_volume(call.cluster, task, call.node, id));
    if (!call.has("delay")) co_return json::value(upid);
    const auto deadline = call.cluster.clock.now() + std::chrono::seconds{call.integer("delay")};
    while (task.is_running() && call.cluster.clock.now() < deadline) {
        co_await call.cluster.clock.sleep_for(kDeletionPoll);
    }
    if (task.is_running()) co_return json::value(upid);
    if (task.exit_status != "OK") throw failure(task.exit_status);
    co_return nullptr;
}

std::string checksum(const std::string& algorithm, const std::string& data) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    EVP_Digest(data.data(), data.size(), digest.data(), &size, EVP_get_digestbyname(algorithm.c_str()),
               nullptr);
    std::string result;
    for (unsigned int i = 0; i < size; ++i) result += lower(hex(digest[i], 2));
    return result;
}

// Returns the name in the storage, such as "iso/x.iso". Throws a parameter error for a wrong extension.
std::string content_name(const std::string& content, const std::string& filename) {
    std::string name;
    for (char c : filename.substr(filename.find_last_of("/\\") + 1)) {
        bool safe = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
                    c == '-' || c == '_';
        name += safe ? c : '_';
    }
    bool fits = (content == "iso" && matches(R"([^/]+\.(?i:iso|img))", name)) ||
                (content == "vztmpl" && matches(R"([^/]+\.tar\.(gz|xz|zst|bz2))", name)) ||
                (content == "import" && matches(R"([^/]+\.(ova|ovf|qcow2|raw|vmdk))", name));
    if (!fits)
        throw parameter_error(
            "filename", content == "import" ? "invalid filename or wrong extension" : "wrong file extension");
    return content + "/" + name;
}

Duration remote_shell(const Cluster& cluster) {
    const auto trouble = cluster.faults ? cluster.faults->on_remote_shell() : Duration::zero();
    return cluster.world.durations.remote_shell + trouble;
}

struct Arrival {
    std::string storage, host, name, content;
    UploadedFile file;
    std::string algorithm, expected_checksum;
    bool is_remote = false;  // goes from the host that was asked to another one
};

asio::awaitable<void> import_file(Cluster& cluster, Task& task, Arrival file) {
    auto& storage = find_storage(cluster.world, file.storage);
    auto temporary = "/var/tmp/pveupload-" + sha1_hex(task.upid).substr(0, 32);
    const auto size = file.file.data.size();
    Volume volume{
        file.name, file.content, file.name.substr(file.name.rfind('.') + 1), size, size, std::nullopt, "", 0,
        ""};
    if (file.content == "iso") volume.format = "iso";
    auto path = volume_path(storage, volume);
    task.log.push_back("starting file import from: " + temporary);
    if (!file.algorithm.empty()) {
        auto sum = checksum(file.algorithm, file.file.data);
        if (sum != lower(file.expected_checksum)) {
            throw failure("checksum mismatch: got '" + sum + "' != expect '" + file.expected_checksum + "'");
        }
        task.log.push_back("calculating checksum...OK, checksum verified");
    }
    task.log.push_back("target node: " + file.host);
    task.log.push_back("target file: " + path);
    task.log.push_back("file size is: " + std::to_string(size));
    const std::string copies = file.is_remote ? "/usr/bin/scp -p -- " : "cp -- ";
    const auto target = file.is_remote ? "[" + cluster.host(file.host).ip + "]:" + path : path;
    const auto command = copies + temporary + " " + target;
    task.log.push_back("command: " + command);
    co_await task.spend(cluster.world.durations.of_task("imgcopy"));
    if (file.is_remote) co_await task.spend(remote_shell(cluster));
    const auto complain = [&](const std::string& cause) {
        task.log.push_back(copies.substr(0, copies.find(' ')) + ": " + cause);
        throw failure("import failed: command '" + command + "' failed: exit code 1");
    };
    if (*file.file.is_gone) complain("cannot stat '" + temporary + "': No such file or directory");
    if (free_space(storage, file.host) < size)
        complain("error writing '" + path + "': No space left on device");
    volume.created = cluster.wall_seconds();
    volume.data = std::move(file.file.data);
    add_volume(storage, file.host, std::move(volume));
    task.log.push_back("finished file import successfully");
}

// The asked host activates the other host's storage and makes its folder by ssh, within the request.
asio::awaitable<void> prepare_other_host(Cluster& cluster, const Host& target, std::string storage) {
    constexpr int kCommands = 2;
    for (int i = 0; i < kCommands; ++i) {
        if (!target.powered_on)
            throw failure("can't activate storage '" + storage + "' on node '" + target.name +
                          "': No route to host");
        co_await cluster.clock.sleep_for(remote_shell(cluster));
    }
}

asio::awaitable<json::value> upload(Call& call) {
    auto node = call.text("node");
    if (node == "localhost") node = call.node;
    auto& cluster = call.cluster;
    auto* target = cluster.find_host(node);
    if (!target)
        throw failure("hostname lookup '" + node + "' failed - failed to get address info for: " + node);
    auto id = call.text("storage");
    auto& storage = usable_storage(cluster.world, id, node);
    if (!is_file_based(storage)) throw failure("can't upload to storage type '" + storage.type + "'");
    if (!call.file) throw failure("missing temporary file name");
    if (*call.file->is_gone) throw failure("temporary file '/var/tmp/pveupload-0' does not exist");
    auto content = call.text("content");
    auto name = content_name(content, call.text("filename"));
    if (!storage.content.contains(content))
        throw failure("storage '" + id + "' does not support '" + content + "' content");
    const bool is_remote = node != call.node;
    if (is_remote) co_await prepare_other_host(cluster, *target, id);
    Arrival file{
        id,       node, name, content, *call.file, call.text("checksum-algorithm"), call.text("checksum"),
        is_remote};
    auto& task = cluster.create_task(call.node, "imgcopy", "", call.user);
    co_return json::value(cluster.run_task(task, import_file(cluster, task, std::move(file))));
}

struct WantedFile {
    std::string storage, host, url, name, content, algorithm, expected_checksum;
};

std::string server_of(const std::string& url) {
    const auto begin = url.find("://") + 3;
    return url.substr(begin, url.find('/', begin) - begin);
}

// Returns the file, or fails with the words of wget.
const WebFile& fetched(const World& world, Task& task, const std::string& url) {
    const auto found = world.web.find(url);
    if (found != world.web.end()) return found->second;
    const bool is_known = std::any_of(world.web.begin(), world.web.end(), [&](const auto& entry) {
        return server_of(entry.first) == server_of(url);
    });
    if (!is_known)
        throw failure("download failed: Connecting to " + server_of(url) + "... failed: Connection refused.");
    task.log.push_back("HTTP request sent, awaiting response... 404 Not Found");
    throw failure("download failed: 2027-01-15 08:00:0" + std::to_string(task.pid % 10) +
                  " ERROR 404: Not Found.");
}

// Models download_file_from_url() of PVE::Tools. It compares a file that exists and never replaces it. A new
// file gets its name after it has been compared.
asio::awaitable<void> fetch_file(Cluster& cluster, Task& task, WantedFile wanted) {
    auto& storage = find_storage(cluster.world, wanted.storage);
    Volume volume;
    volume.name = wanted.name;
    volume.content = wanted.content;
    volume.format = wanted.content == "iso" ? "iso" : wanted.name.substr(wanted.name.rfind('.') + 1);
    const auto path = volume_path(storage, volume);
    const auto differs = [&](const std::string& data, const std::string& what_then) {
        if (wanted.algorithm.empty()) return;
        const auto sum = checksum(wanted.algorithm, data);
        if (sum == lower(wanted.expected_checksum)) return;
        throw failure("checksum mismatch: got '" + sum + "' != expect '" + wanted.expected_checksum + "'" +
                      what_then);
    };
    task.log.push_back("downloading " + wanted.url + " to " + path);
    const auto id = wanted.storage + ":" + wanted.name;
    if (const auto* known = find_volume(cluster.world, wanted.host, id)) {
        differs(known->data, ", aborting");
        task.log.push_back(
            "calculating checksum of existing file...OK, got correct file already, no need to "
            "download");
        co_return;
    }
    co_await task.spend(cluster.world.durations.of_task("download"));
    const auto file = fetched(cluster.world, task, wanted.url);
    if (free_space(storage, wanted.host) < file.data.size())
        throw failure("download failed: " + path + ".tmp: No space left on device");
    differs(file.data, "");
    volume.size = file.data.size();
    volume.used = file.data.size();
    volume.virtual_size = file.virtual_size;
    volume.created = cluster.wall_seconds();
    volume.data = file.data;
    add_volume(storage, wanted.host, std::move(volume));
    task.log.push_back("download of '" + wanted.url + "' to '" + path + "' finished");
}

asio::awaitable<json::value> download(Call& call) {
    auto& cluster = call.cluster;
    bool network = has_any(cluster.world, call.user, "/nodes/" + call.node, {"Sys.AccessNetwork"}) ||
                   (has_any(cluster.world, call.user, "/", {"Sys.Audit"}) &&
                    has_any(cluster.world, call.user, "/", {"Sys.Modify"}));
    if (!network) throw permission_denied();
    auto id = call.text("storage");
    auto& storage = usable_storage(cluster.world, id, call.node);
    if (!is_file_based(storage))
        throw failure("can't upload to storage type '" + storage.type + "', not a file based storage!");
    auto content = call.text("content");
    if (!storage.content.contains(content))
        throw failure("storage '" + id + "' is not configured for content-type '" + content + "'");
    auto name = content_name(content, call.text("filename"));
    WantedFile wanted{id,
                      call.node,
                      call.text("url"),
                      name,
                      content,
                      call.text("checksum-algorithm"),
                      call.text("checksum")};
    auto& task = cluster.create_task(call.node, "download", call.text("filename"), call.user);
    co_return json::value(cluster.run_task(task, fetch_file(cluster, task, std::move(wanted))));
}

asio::awaitable<json::value> allocate_volume(Call& call) {
    auto& cluster = call.cluster;
    auto id = call.text("storage");
    auto& storage = usable_storage(cluster.world, id, call.node);
    auto name = call.text("filename");
    auto text = call.text("size");
    auto size = parse_size(matches(R"(\d+)", text) ? text + "K" : text).value_or(0);
    auto format =
        call.text("format", name.find('.') == std::string::npos ? "raw" : name.substr(name.rfind('.') + 1));
    if (is_file_based(storage)) name = call.text("vmid") + "/" + name;
    if (volumes_on(storage, call.node).contains(name))
        throw failure("disk image '" + name + "' already exists");
    const auto& volume = add_volume(
        storage, call.node, {name, "images", format, size, 0, call.vmid(), "", cluster.wall_seconds(), ""});
    co_return json::value(print_volume_id(id, volume));
}

constexpr std::string_view kChecksum = R"(
    checksum requires=checksum-algorithm
    checksum-algorithm enum=md5|sha1|sha224|sha256|sha384|sha512 requires=checksum
    content! format=pve-storage-content enum=iso|vztmpl|import
    filename! maxlen=255
)";

Endpoint content_endpoint(std::string method, std::string path, Handler handler,
                          std::vector<std::string_view> privileges) {
    Endpoint endpoint{
        .method = std::move(method), .path = "/nodes/{node}/storage/{storage}/" + path, .handler = handler};
    endpoint.place = Place::node;
    endpoint.daemon = true;
    endpoint.access = Access::privilege;
    endpoint.permission_path = "/storage/{storage}";
    endpoint.privileges = std::move(privileges);
    return endpoint;
}

}  // namespace

void add_storage_content(Routes& routes) {
    auto list =
        content_endpoint("GET", "content", list_content, {"Datastore.Audit", "Datastore.AllocateSpace"});
    list.parameters = "content format=pve-storage-content\nvmid vmid";
    routes.add(std::move(list));
    auto allocate = content_endpoint("POST", "content", allocate_volume, {"Datastore.AllocateSpace"});
    allocate.parameters = R"(
        filename! string
        size! pattern=\d+[MG]?
        vmid! vmid
        format enum=raw|qcow2|subvol|vmdk requires=size)";
    routes.add(std::move(allocate));
    for (auto [method, handler] :
         {std::pair<const char*, Handler>{"GET", get_volume}, {"DELETE", delete_volume}}) {
        auto volume = content_endpoint(method, "content/{volume}", handler, {});
        volume.access = Access::user;
        // This endpoint also accepts a storage that is only in the volume's ID.
        volume.parameters = "storage format=pve-storage-id";
        if (volume.method == "DELETE") volume.parameters += "\ndelay integer min=1 max=30";
        routes.add(std::move(volume));
    }
    auto put = content_endpoint("POST", "upload", upload, {"Datastore.AllocateTemplate"});
    put.place = Place::anywhere;
    put.parameters = std::string(kChecksum) + "tmpfilename pattern=/var/tmp/pveupload-[0-9a-f]+";
    routes.add(std::move(put));
    auto fetch = content_endpoint("POST", "download-url", download, {"Datastore.AllocateTemplate"});
    fetch.parameters =
        std::string(kChecksum) + "url! pattern=https?://.*\ncompression string\nverify-certificates boolean";
    routes.add(std::move(fetch));
}

}  // namespace proxmox_simulator
