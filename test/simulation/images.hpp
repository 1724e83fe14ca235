// Disk images on the web from which providers make templates.
#pragma once

#include <string>

#include "api/v1alpha1/provider.hpp"
#include "test/simulators/proxmox/core/world.hpp"

namespace simulation {

inline constexpr const char* kImageUrl = "https://images.example/debian.qcow2";
inline constexpr std::int64_t kImageGib = 8;

// Publishes the image with that number, beside the others.
void publish_image(proxmox_simulator::World& world, int number);
// Makes the provider build its templates from the image. The provider keeps its storage if it has one.
void use_image(api::v1alpha1::Template& wish, int number);
// Returns the content of the image's disk.
std::string content_of(const proxmox_simulator::World& world, const api::v1alpha1::TemplateImage& image);

}  // namespace simulation
