#include "test/simulation/contract/proxmox/driver.hpp"

#include "test/simulators/proxmox/core/world_file.hpp"
#include "test/support/catch.hpp"

namespace contract::proxmox {

Server& server() {
    static const auto instance = make_server();
    return *instance;
}

base::HttpRequest request(const std::string& method, const std::string& path, const std::string& form) {
    base::HttpRequest result;
    result.method = method;
    result.target = "/api2/json" + path;
    result.body = form;
    result.headers.set("Authorization", std::string("PVEAPIToken=automation@pve!kubenodesmith=") +
                                            proxmox_simulator::kDefaultTokenSecret);
    return result;
}

Answer call(const std::string& method, const std::string& path, const std::string& form) {
    return server().send(request(method, path, form));
}

std::string finish(const std::string& method, const std::string& path, const std::string& form) {
    auto answer = call(method, path, form);
    INFO(method << " " << path << ": " << answer.reason);
    REQUIRE(answer.status == 200);
    return server().finish(std::string(answer.data().as_string()));
}

std::string fresh_vmid() {
    static int last = 1000;
    return std::to_string(++last);
}

}  // namespace contract::proxmox
