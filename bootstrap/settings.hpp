// What a pool or control plane says about joining, judged before any machine is made.
#pragma once

#include <string>

#include "api/v1alpha1/bootstrap.hpp"

namespace bootstrap {

// Why no machine can join in this way, naming the field; empty: nothing speaks against it. Pure.
std::string contradiction(const api::v1alpha1::Bootstrap& settings);

}  // namespace bootstrap
