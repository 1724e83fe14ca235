// Checks the parameters of a request against their declaration.
#pragma once

#include <boost/json/object.hpp>

#include "test/simulators/proxmox/core/schema.hpp"

namespace proxmox_simulator {

// Takes parameters as they arrived: strings, arrays of strings, and from JSON bodies also booleans and
// numbers. Returns them normalised: each as a string (booleans "0" or "1"), arrays as arrays of strings.
// Throws ApiError 400 with one reason per wrong parameter.
json::object validate(const Schema& schema, const json::object& parameters);

}  // namespace proxmox_simulator
