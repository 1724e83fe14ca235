#include "test/simulation/images.hpp"

#include "base/hex.hpp"
#include "base/sha256.hpp"

namespace simulation {
namespace {

std::string data_of(int number) {
    return "debian " + std::to_string(number);
}

std::string url_of(int number) {
    std::string url = kImageUrl;
    return url.insert(url.rfind('.'), "-" + std::to_string(number));
}

}  // namespace

void publish_image(proxmox_simulator::World& world, int number) {
    world.web[url_of(number)] = {data_of(number),
                                 static_cast<std::uint64_t>(kImageGib) * proxmox_simulator::kGiB};
}

void use_image(api::v1alpha1::Template& wish, int number) {
    if (!wish.image) wish.image.emplace();
    wish.image->url = url_of(number);
    const auto digest = base::sha256(data_of(number));
    wish.image->checksum = "sha256:" + base::hex(digest);
}

std::string content_of(const proxmox_simulator::World& world, const api::v1alpha1::TemplateImage& image) {
    return world.web.at(image.url).data;
}

}  // namespace simulation
