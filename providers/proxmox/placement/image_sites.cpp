#include "providers/proxmox/placement/image_sites.hpp"

#include <algorithm>

#include "providers/proxmox/placement/templates.hpp"

namespace providers::proxmox {

namespace {

bool takes_downloads(const ClusterState& state, const std::string& name, const std::string& host) {
    const auto* storage = state.find_storage(name, host);
    return storage && storage->is_available && storage->takes_imports;
}

Obstacle no_download_storage(const api::v1alpha1::TemplateImage& image) {
    if (!image.downloadStorage.empty())
        return {"has no storage " + image.downloadStorage + " that takes downloads of disk images",
                "let that storage have the content type import, or name another in "
                "spec.proxmox.template.image.downloadStorage"};
    return {
        "has no storage that takes downloads of disk images",
        "let one have the content type import (Datacenter, Storage, Content; Proxmox VE 8.4 or later) and "
        "give the token Datastore.Audit on it"};
}

bool may_have_template(const Settings& settings, const ClusterState& state, const HostState& host) {
    const auto* storage = state.find_storage(settings.template_image()->storage, host.name);
    const auto& leaving = settings.spec.placement.evacuateNodes;
    const bool is_leaving = std::ranges::find(leaving, host.name) != leaving.end();
    return may_be_used(settings, host.name) && !is_leaving && host.is_online && !host.in_maintenance &&
           storage && storage->is_available;
}

}  // namespace

std::string download_storage(const api::v1alpha1::TemplateImage& image, const ClusterState& state,
                             const std::string& host) {
    if (!image.downloadStorage.empty())
        return takes_downloads(state, image.downloadStorage, host) ? image.downloadStorage : "";
    if (takes_downloads(state, image.storage, host)) return image.storage;
    std::string first;
    for (const auto& storage : state.storages) {
        if (storage.node != host || !takes_downloads(state, storage.name, host)) continue;
        if (first.empty() || storage.name < first) first = storage.name;
    }
    return first;
}

std::vector<ImageSite> image_sites(const Settings& settings, const ClusterState& state) {
    const auto& image = *settings.template_image();
    std::vector<ImageSite> sites;
    for (const auto& host : state.hosts) {
        if (!may_have_template(settings, state, host)) continue;
        ImageSite site{host.name, download_storage(image, state, host.name), {}};
        if (site.download_storage.empty()) site.obstacle = no_download_storage(image);
        sites.push_back(std::move(site));
    }
    if (has_local_templates(*settings.spec.template_, state) || sites.empty()) return sites;
    const auto able =
        std::ranges::find_if(sites, [](const ImageSite& site) { return !site.download_storage.empty(); });
    if (able == sites.end()) return {sites.front()};
    return {*able};
}

}  // namespace providers::proxmox
