#include "providers/redfish/bmc/collection.hpp"

#include <set>

#include "providers/redfish/bmc/document.hpp"

namespace providers::redfish {

namespace {

constexpr std::size_t kMostMembers = 256;
constexpr std::size_t kMostPages = 16;
constexpr std::size_t kMostManagers = 4;

}  // namespace

asio::awaitable<std::vector<std::string>> members(Bmc& bmc, std::string collection, Asking asking) {
    std::vector<std::string> links;
    std::set<std::string> pages;
    for (std::size_t page = 0; page < kMostPages && !collection.empty(); ++page) {
        // A page that refers to itself would count its members again.
        if (!pages.insert(collection).second) break;
        RedfishResource resource;
        if (asking == Asking::once)
            resource = co_await bmc.get_once(collection);
        else
            resource = co_await bmc.get(collection);
        const auto more = links_at(resource.body, "Members");
        links.insert(links.end(), more.begin(), more.end());
        collection = text_at(resource.body, "Members@odata.nextLink");
        if (links.size() >= kMostMembers) break;
    }
    co_return links;
}

asio::awaitable<std::vector<std::string>> members_of(Bmc& bmc, std::string name, std::string collection,
                                                     std::vector<std::string>& flaws) {
    std::vector<std::string> links;
    if (collection.empty()) co_return links;
    bool is_missing = false;
    try {
        links = co_await members(bmc, collection, Asking::once);
    } catch (const RedfishError& error) {
        is_missing = is_absence(error.kind());
        if (!is_missing) throw;
    }
    if (is_missing) flaws.push_back(name + ": the system names it, but it cannot be read");
    co_return links;
}

asio::awaitable<std::optional<RedfishResource>> find_once(Bmc& bmc, std::string link) {
    if (link.empty()) co_return std::nullopt;
    try {
        co_return co_await bmc.get_once(std::move(link));
    } catch (const RedfishError& error) {
        if (!is_absence(error.kind())) throw;
    }
    co_return std::nullopt;
}

asio::awaitable<std::vector<std::string>> managers(Bmc& bmc, System system) {
    std::vector<std::string> links;
    if (!system.manager.empty()) {
        links.push_back(system.manager);
        co_return links;
    }
    const auto root = co_await bmc.root();
    std::vector<std::string> ignored;
    links = co_await members_of(bmc, "Managers", link_at(root, "Managers"), ignored);
    if (links.size() > kMostManagers) links.resize(kMostManagers);
    co_return links;
}

}  // namespace providers::redfish
