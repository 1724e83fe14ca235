// Tells which writes the API server answered late or not at all, mostly because an admission webhook hangs.
#pragma once

#include "kube/api_error.hpp"

namespace kube {

// Reports whether the API server or one of its webhooks did not answer in time. The request may have been
// done.
bool is_unanswered(const ApiError& error);
// Reports whether the write failed after a long wait: it was not answered in time, or the API server gave up
// waiting for a webhook. Further writes may take as long.
bool took_long(const ApiError& error);

}  // namespace kube
