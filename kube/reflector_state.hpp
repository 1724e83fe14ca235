// What a reflector does next, without I/O: list page by page, then watch from there; resume a watch that
// ended, list again when the server no longer has that version, wait after failures.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
#pragma once

#include <string>
#include <variant>

#include "api/meta.hpp"

namespace kube {

class ReflectorState {
public:
    struct ListPage {
        std::string continue_token;  // empty: the first page of a new list
        bool operator==(const ListPage&) const = default;
    };
    struct Watch {
        std::string resource_version;
        bool operator==(const Watch&) const = default;
    };
    struct Pause {
        int failures = 0;  // in a row
        bool operator==(const Pause&) const = default;
    };
    using Action = std::variant<ListPage, Watch, Pause>;

    Action next() const;

    // What came of it:
    void paused() { must_pause_ = false; }
    void page_received(const api::ListMeta& page);
    // An object's change or a bookmark.
    void event_received(std::string resource_version);
    // In good order. One that told nothing and ended at once counts as a failure, else we would spin.
    void watch_ended(bool at_once);
    // 410: the continue token or the version to watch from is too old.
    void expired();
    void failed();

    int failures() const { return failures_; }

private:
    bool listing_ = true;
    bool must_pause_ = false;
    std::string continue_token_;
    std::string resource_version_;
    // Only a watch that works forgets them: a list that succeeds may be followed by a watch that never does.
    int failures_ = 0;
};

}  // namespace kube
