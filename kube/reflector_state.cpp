#include "kube/reflector_state.hpp"

#include <utility>

namespace kube {

ReflectorState::Action ReflectorState::next() const {
    if (must_pause_) return Pause{failures_};
    if (listing_) return ListPage{continue_token_};
    return Watch{resource_version_};
}

void ReflectorState::page_received(const api::ListMeta& page) {
    continue_token_ = page.continue_;
    resource_version_ = page.resourceVersion;
    listing_ = !continue_token_.empty();
}

void ReflectorState::event_received(std::string resource_version) {
    resource_version_ = std::move(resource_version);
    failures_ = 0;
}

void ReflectorState::watch_ended(bool at_once) {
    if (at_once) return failed();
    failures_ = 0;
}

void ReflectorState::expired() {
    listing_ = true;
    continue_token_.clear();
    // The first time is not a failure; a second one before anything was heard is.
    must_pause_ = failures_++ > 0;
}

void ReflectorState::failed() {
    ++failures_;
    must_pause_ = true;
}

}  // namespace kube
