// Disk images on the web, that providers make templates of.
#pragma once

#include <string>

#include "api/v1alpha1/provider.hpp"
#include "test/simulators/proxmox/core/world.hpp"

namespace simulation {

inline constexpr const char* kImageUrl = "https://images.example/debian.qcow2";
inline constexpr std::int64_t kImageGib = 8;

// The image with that number is there from now on, beside the others.
void publish_image(proxmox_simulator::World& world, int number);
// The provider's templates shall be made of it; its storage stays, if it has one already.
void use_image(api::v1alpha1::Template& wish, int number);
// What its disk holds.
std::string content_of(const proxmox_simulator::World& world, const api::v1alpha1::TemplateImage& image);

}  // namespace simulation
